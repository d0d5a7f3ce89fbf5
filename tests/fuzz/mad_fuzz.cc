// Any sequence of management datagrams through the follower, every rule, the annotations and the writers, with one and
// with two workers: no crash, and the same findings and text. Long answers (RMPP) grow out of few bytes: a datagram is
// an earlier one with some bytes changed. The packets around them are right, so that a receiver would take them.
//
// Input: datagrams, each a byte of choices (bit 0 direction, bit 1 QP 0, bits 4:2 which earlier one, bits 7:5 changes),
// a step of time in milliseconds, then the changes: a place and a value. For the seventh earlier one: all its bytes
// instead.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "dissect/crc.h"
#include "dissect/headers.h"
#include "tests/fuzz/follow.h"

namespace {

using namespace rdmascope;
using namespace rdmascope::dissect;

constexpr std::size_t front = Lrh::bytes + Bth::bytes + Deth::bytes, packet_bytes = front + mad_bytes + Icrc::bytes;
using Datagram = std::array<std::uint8_t, mad_bytes>;
using Bytes = std::array<std::uint8_t, packet_bytes>;

Bytes packet_of(const Datagram& mad, bool back, bool smi) {
  Bytes out{};
  put<Lrh, "vl">(out.data(), smi ? 15 : 0);
  put<Lrh, "lnh">(out.data(), 2);
  put<Lrh, "dlid">(out.data(), back ? 1 : 2);
  put<Lrh, "slid">(out.data(), back ? 2 : 1);
  put<Lrh, "pktlen">(out.data(), packet_bytes / 4);
  std::uint8_t* const bth = out.data() + Lrh::bytes;
  put<Bth, "opcode">(bth, 0x64);
  put<Bth, "p_key">(bth, 0xffff);
  put<Bth, "destqp">(bth, smi ? 0 : 1);
  std::uint8_t* const deth = bth + Bth::bytes;
  put<Deth, "q_key">(deth, smi ? 0 : 0x80010000);
  put<Deth, "srcqp">(deth, smi ? 0 : 1);
  std::copy(mad.begin(), mad.end(), out.begin() + front);
  std::uint32_t icrc = 0;
  compute_icrc(Envelope::ib_local, std::span(out).first(packet_bytes - Icrc::bytes), Lrh::bytes, icrc);
  put<Icrc, "crc">(out.data() + packet_bytes - Icrc::bytes, icrc);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<Datagram> mads;
  std::vector<Bytes> packets;
  std::vector<std::int64_t> times;
  std::int64_t now_ns = 0;
  for (std::size_t at = 0; at + 2 <= size && packets.size() < 128;) {
    const std::uint8_t choices = data[at];
    now_ns += data[at + 1] * std::int64_t{1'000'000};
    at += 2;
    const std::size_t back = choices >> 2 & 7;
    Datagram mad{};
    mad[0] = 1;  // BaseVersion
    constexpr std::size_t spelled_out = 7;
    if (back == spelled_out) {
      const std::size_t take = std::min(mad.size(), size - at);
      std::copy_n(data + at, take, mad.begin());
      at += take;
    } else if (back > 0 && back <= mads.size()) {
      mad = mads[mads.size() - back];
    }
    for (unsigned changes = choices >> 5; changes > 0 && at + 2 <= size; --changes, at += 2)
      mad[data[at]] = data[at + 1];
    mads.push_back(mad);
    packets.push_back(packet_of(mad, choices & 1, choices & 2));
    times.push_back(now_ns);
  }
  std::vector<check::Frame> frames(packets.size());
  for (std::size_t i = 0; i < packets.size(); ++i) {
    frames[i].bytes = packets[i];
    frames[i].info.number = i + 1;
    frames[i].info.time_ns = times[i];
    frames[i].info.wire_bytes = packet_bytes;
    frames[i].info.link_type = 247;
  }
  fuzz::follow_twice(frames, size);
  return 0;
}
