#include "dissect/cdi.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "dissect/headers.h"

namespace rdmascope::dissect {
namespace {

constexpr std::uint32_t ip_at = field<Cdi, "senders_ip_str">().at / 8,
                        ip_bytes = field<Cdi, "senders_ip_str">().width / 8;

constexpr std::uint32_t control_at(const std::uint8_t* message) {
  return Cdi::bytes + (cdi_has_v1_layout(message) ? CdiV1::bytes : 0);
}

std::uint32_t command_of(const std::uint8_t* message) {
  constexpr Field command = field<Cdi, "command">();
  return static_cast<std::uint32_t>(load(message, command));
}

bool is_digit(std::uint8_t c) { return c >= '0' && c <= '9'; }
bool is_printable(std::uint8_t c) { return c >= 0x20 && c < 0x7f; }

// How many bytes before a zero satisfy `wanted`; 0 when another byte or no zero stands there.
std::size_t text_length(std::span<const std::uint8_t> bytes, bool (*wanted)(std::uint8_t)) {
  const auto end = std::find_if_not(bytes.begin(), bytes.end(), wanted);
  return end != bytes.end() && *end == 0 ? static_cast<std::size_t>(end - bytes.begin()) : 0;
}

// The message a header belongs to: nullptr if the capture does not hold all of it.
const std::uint8_t* message_of(const Packet& p, const Layer& control) {
  const Layer* cdi = nullptr;
  for (const Layer& layer : p.layers())
    if (layer.header == &header<Cdi> && layer.at < control.at) cdi = &layer;
  if (!cdi) return nullptr;
  const std::uint8_t* message = p.data(*cdi);
  return control.at == cdi->at + control_at(message) && p.bytes.size() - cdi->at >= cdi_control_bytes(message)
             ? message
             : nullptr;
}

}  // namespace

std::uint32_t cdi_control_bytes(const std::uint8_t* message) {
  return control_at(message) + CdiControl::bytes + (command_of(message) == cdi_ack ? CdiAck::bytes : CdiRequest::bytes);
}

// The one's complement sum of little-endian words. The field stands at an odd offset, so it cannot be summed up along
// with the rest: it counts as 0.
std::uint16_t cdi_checksum(const std::uint8_t* message) {
  const std::uint32_t bytes = cdi_control_bytes(message);
  const std::uint32_t checksum_at = control_at(message) + field<CdiControl, "checksum">().at / 8;
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < bytes; ++i)
    if (i != checksum_at && i != checksum_at + 1) sum += std::uint32_t{message[i]} << (i % 2 * 8);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

bool is_cdi_control(std::span<const std::uint8_t> datagram) {
  // Most other datagrams end here.
  if (datagram.size() < 248 || datagram.size() > 257) return false;
  const std::uint8_t* p = datagram.data();
  if (p[0] != 1 && p[0] != 2) return false;
  const std::uint32_t command = command_of(p);
  if (command < cdi_reset || command > cdi_protocol_version || datagram.size() != cdi_control_bytes(p)) return false;
  return text_length(datagram.subspan(ip_at, ip_bytes), is_printable) > 0 &&
         View<CdiControl>(p + control_at(p)).get<"checksum">() == cdi_checksum(p);
}

bool resembles_cdi_control(std::span<const std::uint8_t> datagram) {
  if (datagram.size() < ip_at) return false;
  const std::uint32_t command = command_of(datagram.data());
  const std::span<const std::uint8_t> text =
      datagram.subspan(ip_at, std::min<std::size_t>(ip_bytes, datagram.size() - ip_at));
  const bool is_known = command >= cdi_reset && command <= cdi_protocol_version;
  if (is_known && (text.empty() || is_digit(text[0]) || datagram.size() == cdi_control_bytes(datagram.data())))
    return true;
  constexpr std::size_t shortest_address = 7;
  return text_length(text, [](std::uint8_t c) { return is_digit(c) || c == '.'; }) >= shortest_address;
}

bool is_first_cdi_packet(std::span<const std::uint8_t> packet, bool v2) {
  const std::uint32_t at = CdiData::bytes + (v2 ? CdiDataV2::bytes : CdiDataV1::bytes);
  const std::uint32_t bytes = at + CdiDataFirst::bytes + (v2 ? CdiDataStart::bytes : 0);
  if (packet.size() < bytes || packet[0] > cdi_data_keep_alive || packet[1] != 0 || packet[2] != 0) return false;
  const View<CdiDataFirst> first(packet.data() + at);
  const std::uint64_t extra = first.get<"extra_data_size">();
  if (extra != 0 && extra != CdiAvm::bytes && extra != CdiAvm::with_config_bytes) return false;
  if (packet.size() < bytes + extra || first.get<"origination_ptp_timestamp.nanoseconds">() >= 1'000'000'000)
    return false;
  if (!v2) return true;
  constexpr std::uint64_t year_2015 = 1'420'070'400'000'000, year_2100 = 4'102'444'800'000'000;
  const std::uint64_t start =
      View<CdiDataStart>(packet.data() + at + CdiDataFirst::bytes).get<"tx_start_time_microseconds">();
  return start >= year_2015 && start < year_2100;
}

bool cdi_version(const Packet& p, const Layer& layer, unsigned n, Value& out) {
  if (n > 0) return false;
  const View<Cdi> cdi(p.data(layer));
  const auto end = fmt::format_to_n(out.scratch.data(), out.scratch.size(), "{}.{}.{}", cdi.get<"version_num">(),
                                    cdi.get<"major_version_num">(), cdi.get<"probe_version_num">());
  out.kind = Value::Kind::text;
  out.text = {out.scratch.data(), end.out};
  return true;
}

bool cdi_checksum_status(const Packet& p, const Layer& layer, unsigned n, Value& out) {
  if (n > 0) return false;
  CrcStatus status = CrcStatus::unverified;
  if (const std::uint8_t* message = message_of(p, layer))
    status =
        View<CdiControl>(p.data(layer)).get<"checksum">() == cdi_checksum(message) ? CrcStatus::good : CrcStatus::bad;
  out.kind = Value::Kind::number;
  out.number = static_cast<std::uint64_t>(status);
  return true;
}

bool cdi_checksum_expected(const Packet& p, const Layer& layer, unsigned n, Value& out) {
  const std::uint8_t* message = n == 0 ? message_of(p, layer) : nullptr;
  if (!message) return false;
  out.kind = Value::Kind::number;
  out.number = cdi_checksum(message);
  return true;
}

bool efa_features(const Packet& p, const Layer& layer, unsigned n, Value& out) {
  static constexpr std::string_view names[] = {
      "RDMA read",  "delivery complete", "constant header length",  "connection id header", "runting read",
      "RDMA write", "read NACK",         "user receive queue pair", "unsolicited write",    "peer error"};
  constexpr Field info = field<EfaHandshake, "extra_info">();
  if (layer.bytes < EfaHandshake::bytes + info.width / 8u) return false;
  std::uint64_t bits = load(p.data(layer), info) & ((1u << std::size(names)) - 1);
  for (; n > 0 && bits != 0; --n) bits &= bits - 1;
  if (bits == 0) return false;
  out.kind = Value::Kind::text;
  out.text = names[std::countr_zero(bits)];
  return true;
}

}  // namespace rdmascope::dissect
