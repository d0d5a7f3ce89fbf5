#include "replay/udp_frame.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "dissect/headers.h"
#include "replay/build.h"

namespace rdmascope::replay {
namespace {

using dissect::Ipv4;
using dissect::put;
using dissect::Udp;
using dissect::View;

constexpr std::size_t headers = Ipv4::bytes + Udp::bytes;

// Of a datagram whose checksum bytes are zero, with the pseudo header in front of it. RFC 768.
std::uint16_t udp_checksum(std::span<const std::uint8_t> frame) {
  std::vector<std::uint8_t> sum(frame.begin() + 12, frame.end());  // addresses, UDP, payload
  const std::size_t bytes = frame.size() - Ipv4::bytes;
  sum.insert(sum.end(), sum.size() % 2, 0);
  for (const std::size_t word : {std::size_t{dissect::ip_udp}, bytes}) {
    sum.push_back(static_cast<std::uint8_t>(word >> 8));
    sum.push_back(static_cast<std::uint8_t>(word));
  }
  const std::uint16_t checksum = internet_checksum(sum);
  return checksum == 0 ? 0xffff : checksum;
}

}  // namespace

std::string ip_text(std::uint32_t ip) {
  return fmt::format("{}.{}.{}.{}", ip >> 24, ip >> 16 & 0xff, ip >> 8 & 0xff, ip & 0xff);
}

std::string to_text(const UdpPlace& place) { return fmt::format("{}:{}", ip_text(place.ip), place.port); }

IpAddress mapped(std::uint32_t ip) {
  IpAddress out{};
  out[10] = out[11] = 0xff;
  for (unsigned i = 0; i < 4; ++i) out[12 + i] = static_cast<std::uint8_t>(ip >> (24 - 8 * i));
  return out;
}

std::uint32_t ipv4_of(const IpAddress& address) {
  std::uint32_t out = 0;
  for (unsigned i = 12; i < 16; ++i) out = out << 8 | address[i];
  return out;
}

Result<UdpPlace> parse_udp_place(const std::string& text, const std::string& what) {
  UdpPlace out;
  const std::size_t colon = text.rfind(':');
  const std::string host = text.substr(0, colon == std::string::npos ? text.size() : colon);
  in_addr address{};
  unsigned port = 0;
  const char* const begin = text.data() + (colon == std::string::npos ? text.size() : colon + 1);
  const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), port);
  if (inet_pton(AF_INET, host.c_str(), &address) != 1 || problem != std::errc() || end != text.data() + text.size() ||
      port > 0xffff)
    return Error{fmt::format("{}: write ADDRESS:PORT with an IPv4 address, as 10.0.0.1:2000", what)};
  out.ip = ntohl(address.s_addr);
  out.port = static_cast<std::uint16_t>(port);
  return out;
}

std::vector<std::uint8_t> udp_frame(const UdpPlace& from, const UdpPlace& to, std::span<const std::uint8_t> payload) {
  std::vector<std::uint8_t> frame(headers + payload.size());
  std::uint8_t* const ip = frame.data();
  std::uint8_t* const udp = ip + Ipv4::bytes;
  put<Ipv4, "version">(ip, 4);
  put<Ipv4, "hdr_len">(ip, Ipv4::bytes / 4);
  put<Ipv4, "len">(ip, frame.size());
  put<Ipv4, "flags.df">(ip, 1);
  put<Ipv4, "ttl">(ip, 64);
  put<Ipv4, "proto">(ip, dissect::ip_udp);
  put<Ipv4, "src">(ip, from.ip);
  put<Ipv4, "dst">(ip, to.ip);
  put<Ipv4, "checksum">(ip, internet_checksum({ip, Ipv4::bytes}));
  put<Udp, "srcport">(udp, from.port);
  put<Udp, "dstport">(udp, to.port);
  put<Udp, "length">(udp, frame.size() - Ipv4::bytes);
  if (!payload.empty()) std::memcpy(udp + Udp::bytes, payload.data(), payload.size());
  put<Udp, "checksum">(udp, udp_checksum(frame));
  return frame;
}

std::optional<UdpOfFrame> udp_of(std::span<const std::uint8_t> frame) {
  if (frame.size() < headers) return std::nullopt;
  const View<Ipv4> ip(frame.data());
  const View<Udp> udp(frame.data() + Ipv4::bytes);
  if (ip.get<"version">() != 4 || ip.get<"hdr_len">() * 4 != Ipv4::bytes || ip.get<"proto">() != dissect::ip_udp ||
      ip.get<"len">() != frame.size() || udp.get<"length">() != frame.size() - Ipv4::bytes)
    return std::nullopt;
  UdpOfFrame out;
  out.from = {static_cast<std::uint32_t>(ip.get<"src">()), static_cast<std::uint16_t>(udp.get<"srcport">())};
  out.to = {static_cast<std::uint32_t>(ip.get<"dst">()), static_cast<std::uint16_t>(udp.get<"dstport">())};
  out.payload = frame.subspan(headers);
  return out;
}

}  // namespace rdmascope::replay
