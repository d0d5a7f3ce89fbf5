#include "replay/cdi_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace rdmascope::replay {
namespace {

using dissect::Cdi;
using dissect::CdiAck;
using dissect::CdiControl;
using dissect::CdiRequest;
using dissect::CdiV1;
using dissect::put;
using dissect::View;

constexpr std::uint32_t longest = 257;

std::uint32_t control_at(const std::uint8_t* message) {
  return Cdi::bytes + (dissect::cdi_has_v1_layout(message) ? CdiV1::bytes : 0);
}

// A text field: what fits, with a zero behind it.
template <dissect::Name field>
void put_text(std::uint8_t* message, const std::string& text) {
  constexpr dissect::Field f = dissect::field<Cdi, field>();
  std::memcpy(message + f.at / 8, text.data(), std::min<std::size_t>(text.size(), f.width / 8 - 1));
}

template <dissect::Name field>
std::string text_at(const std::uint8_t* message) {
  constexpr dissect::Field f = dissect::field<Cdi, field>();
  const char* const begin = reinterpret_cast<const char*>(message) + f.at / 8;
  return {begin, std::find(begin, begin + f.width / 8, '\0')};
}

}  // namespace

std::string to_text(const CdiVersion& v) { return fmt::format("{}.{}.{}", v.version, v.major, v.probe); }

std::optional<CdiVersion> parse_cdi_version(std::string_view text) {
  std::array<std::uint8_t, 3> parts{};
  const char *at = text.data(), *const end = text.data() + text.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return std::nullopt;
    const auto [behind, problem] = std::from_chars(at, end, parts[i]);
    if (problem != std::errc()) return std::nullopt;
    at = behind;
  }
  if (at != end) return std::nullopt;
  return CdiVersion{parts[0], parts[1], parts[2]};
}

CdiVersion negotiate(const CdiVersion& own, const CdiVersion& remote) {
  if (remote.version < own.version) return remote;
  if (remote.version == own.version && remote.major <= own.major) return remote;
  return own;
}

CdiAdapter efa_adapter(std::span<const std::uint8_t, 16> gid, std::uint16_t qpn, std::uint32_t qkey) {
  CdiMessage shell;
  shell.version = cdi_sdk_head;
  shell.command = dissect::cdi_reset;
  std::ranges::copy(gid, shell.adapter.begin());
  std::vector<std::uint8_t> message = build(shell);
  put<Cdi, "qpn">(message.data(), qpn);
  put<Cdi, "qkey">(message.data(), qkey);
  CdiAdapter out;
  std::copy_n(message.begin() + dissect::cdi_address_at, out.size(), out.begin());
  return out;
}

std::vector<std::uint8_t> build(const CdiMessage& m) {
  std::vector<std::uint8_t> out(longest);
  std::uint8_t* const to = out.data();
  put<Cdi, "version_num">(to, m.version.version);
  put<Cdi, "major_version_num">(to, m.version.major);
  put<Cdi, "probe_version_num">(to, m.version.probe);
  put<Cdi, "command">(to, m.command);
  put_text<"senders_ip_str">(to, m.ip);
  put_text<"senders_stream_name_str">(to, m.name);
  std::ranges::copy(m.adapter, to + dissect::cdi_address_at);
  if (m.version.is_v1()) put<CdiV1, "senders_stream_identifier">(to + Cdi::bytes, static_cast<std::uint32_t>(m.stream));
  std::uint8_t* const control = to + control_at(to);
  put<CdiControl, "senders_control_dest_port">(control, m.port);
  put<CdiControl, "control_packet_num">(control, m.number);
  std::uint8_t* const tail = control + CdiControl::bytes;
  if (m.command == dissect::cdi_ack) {
    put<CdiAck, "command">(tail, m.ack_command);
    put<CdiAck, "control_packet_num">(tail, m.ack_number);
  } else {
    put<CdiRequest, "requires_ack">(tail, m.requires_ack);
  }
  out.resize(dissect::cdi_control_bytes(to));
  seal_cdi(out);
  return out;
}

void seal_cdi(std::span<std::uint8_t> message) {
  put<CdiControl, "checksum">(message.data() + control_at(message.data()), dissect::cdi_checksum(message.data()));
}

std::uint32_t cdi_checksum_at(const std::uint8_t* message) {
  return control_at(message) + dissect::field<CdiControl, "checksum">().at / 8;
}

std::string_view cdi_command_name(std::uint32_t command) { return dissect::name_of(dissect::cdi_commands, command); }

std::string_view text(CdiFault fault) {
  static constexpr std::string_view texts[] = {"right", "too short for a control message",
                                               "of version 2.0.0, which is refused", "with a wrong checksum",
                                               "of a wrong length"};
  return texts[static_cast<std::size_t>(fault)];
}

CdiFault read_cdi(std::span<const std::uint8_t> datagram, CdiMessage& out) {
  // Shorter ones are looked at as if zeros stood behind them.
  std::array<std::uint8_t, longest> message{};
  std::copy_n(datagram.begin(), std::min(datagram.size(), message.size()), message.begin());
  const std::uint8_t* const from = message.data();
  if (datagram.size() < 3) return CdiFault::too_short;
  out.version = {from[0], from[1], from[2]};
  if (out.version == cdi_refused) return CdiFault::refused_version;
  const std::uint8_t* const behind = from + control_at(from);
  if (datagram.size() < control_at(from) + CdiControl::bytes) return CdiFault::too_short;
  const View<Cdi> cdi(from);
  const View<CdiControl> control(behind);
  out.command = static_cast<std::uint32_t>(cdi.get<"command">());
  if (control.get<"checksum">() != dissect::cdi_checksum(from)) return CdiFault::bad_checksum;
  const bool is_known = !cdi_command_name(out.command).empty();
  if (is_known && datagram.size() != dissect::cdi_control_bytes(from)) return CdiFault::bad_length;
  out.ip = text_at<"senders_ip_str">(from);
  out.name = text_at<"senders_stream_name_str">(from);
  std::copy_n(from + dissect::cdi_address_at, out.adapter.size(), out.adapter.begin());
  out.stream = out.version.is_v1()
                   ? static_cast<std::int32_t>(View<CdiV1>(from + Cdi::bytes).get<"senders_stream_identifier">())
                   : -1;
  out.port = static_cast<std::uint16_t>(control.get<"senders_control_dest_port">());
  out.number = static_cast<std::uint16_t>(control.get<"control_packet_num">());
  if (out.command == dissect::cdi_ack) {
    const View<CdiAck> ack(behind + CdiControl::bytes);
    out.ack_command = static_cast<std::uint32_t>(ack.get<"command">());
    out.ack_number = static_cast<std::uint16_t>(ack.get<"control_packet_num">());
  } else {
    out.requires_ack = behind[CdiControl::bytes];
  }
  return CdiFault::none;
}

}  // namespace rdmascope::replay
