// Any sequence of CDI control messages, datagrams to their ports and messages over EFA through the followers, every
// rule, the annotations and the writers: no crash, no endless memory, and the same findings from two workers. Control
// messages have a right checksum, else nothing would take them.
//
// Input: frames, each a byte of choices (bit 0 direction, bits 2:1 port, bits 5:3 kind), a step of time in units of
// 16 ms, then by kind. 0 to 4: a control message of command 1 to 5: version, step of the number, what an Ack names.
// 5: the last message of that way with a byte changed. 6: a datagram of the bytes that follow their count. 7: a record
// of a message over EFA, likewise.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "dissect/cdi.h"
#include "dissect/headers.h"
#include "tests/fuzz/follow.h"

namespace {

using namespace rdmascope;
using namespace rdmascope::dissect;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint16_t link_ipv4 = 228, link_record = 148, rx_port = 2000, first_tx_port = 50000;

class Reader {
 public:
  Reader(const std::uint8_t* data, std::size_t size) : data_(data, size) {}
  bool empty() const { return data_.empty(); }
  std::uint8_t byte() {
    if (data_.empty()) return 0;
    const std::uint8_t out = data_[0];
    data_ = data_.subspan(1);
    return out;
  }
  Bytes counted() {
    const std::size_t count = std::min<std::size_t>(byte() * std::size_t{2}, data_.size());
    const Bytes out(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(count));
    data_ = data_.subspan(count);
    return out;
  }

 private:
  std::span<const std::uint8_t> data_;
};

Bytes datagram(const Bytes& payload, std::uint16_t from, std::uint16_t to, bool back) {
  Bytes out(20 + 8 + payload.size());
  out[0] = 0x45;
  out[2] = static_cast<std::uint8_t>(out.size() >> 8);
  out[3] = static_cast<std::uint8_t>(out.size());
  out[8] = 64;
  out[9] = 17;
  out[12] = out[16] = 10;
  out[15] = back ? 2 : 1;
  out[19] = back ? 1 : 2;
  std::uint8_t* const udp = out.data() + 20;
  put<Udp, "srcport">(udp, from);
  put<Udp, "dstport">(udp, to);
  put<Udp, "length">(udp, 8 + payload.size());
  std::copy(payload.begin(), payload.end(), out.begin() + 28);
  return out;
}

struct Way {
  std::uint16_t number = 0;
  Bytes last;
};

void seal(Bytes& message) {
  if (message.size() < 248 || message.size() < cdi_control_bytes(message.data())) return;
  const std::size_t at = Cdi::bytes + (cdi_has_v1_layout(message.data()) ? CdiV1::bytes : 0) + 4;
  const std::uint16_t sum = cdi_checksum(message.data());
  message[at] = static_cast<std::uint8_t>(sum);
  message[at + 1] = static_cast<std::uint8_t>(sum >> 8);
}

Bytes control(Reader& in, unsigned command, bool back, std::uint16_t port, Way& way) {
  constexpr std::array<std::array<std::uint8_t, 3>, 8> versions{
      {{1, 0, 5}, {2, 3, 5}, {2, 3, 5}, {2, 1, 4}, {2, 2, 5}, {1, 0, 0}, {1, 0, 2}, {2, 0, 0}}};
  const std::uint8_t choices = in.byte();
  const auto& version = versions[choices & 7];
  constexpr std::array<std::int8_t, 8> steps{1, 1, 1, 1, 2, 0, -1, 127};
  way.number = static_cast<std::uint16_t>(way.number + steps[choices >> 3 & 7]);
  Bytes out(251 + 6);
  std::copy(version.begin(), version.end(), out.begin());
  out[3] = static_cast<std::uint8_t>(command);
  const std::string_view ip = back ? "10.0.0.2" : "10.0.0.1";
  std::copy(ip.begin(), ip.end(), out.begin() + 7);
  out[71] = 0xfe, out[72] = 0x80;
  out[71 + 16] = static_cast<std::uint8_t>(0x10 + (choices >> 6) + 4 * back);
  std::size_t at = version[0] <= 1 ? 245 : 241;
  if (version[0] <= 1) std::fill_n(out.begin() + 241, 4, 0xff);
  out[at] = static_cast<std::uint8_t>(port);
  out[at + 1] = static_cast<std::uint8_t>(port >> 8);
  out[at + 2] = static_cast<std::uint8_t>(way.number);
  out[at + 3] = static_cast<std::uint8_t>(way.number >> 8);
  at += 6;
  if (command == cdi_ack) {
    out[at] = in.byte();
    const std::uint8_t number = in.byte();
    out[at + 4] = number;
    out.resize(at + 6);
  } else {
    out[at] = choices >> 7;
    out.resize(at + 1);
  }
  seal(out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Reader in(data, size);
  std::vector<Bytes> packets;
  std::vector<check::Frame> frames;
  std::array<Way, 8> ways;
  std::int64_t now_ns = 0;
  while (!in.empty() && packets.size() < 128) {
    const std::uint8_t choices = in.byte();
    now_ns += in.byte() * std::int64_t{16'000'000};
    const bool back = choices & 1;
    const auto tx_port = static_cast<std::uint16_t>(first_tx_port + (choices >> 1 & 3));
    const std::uint16_t from = back ? rx_port : tx_port, to = back ? tx_port : rx_port;
    Way& way = ways[choices & 7];
    const unsigned kind = choices >> 3 & 7;
    constexpr unsigned changed = 5, raw = 6;
    check::Frame frame;
    frame.info.link_type = link_ipv4;
    if (kind < changed) {
      way.last = control(in, kind + 1, back, from, way);
      packets.push_back(datagram(way.last, from, to, back));
    } else if (kind == changed) {
      Bytes copy = way.last;
      const std::uint8_t at = in.byte(), value = in.byte();
      if (at < copy.size()) copy[at] = value;
      if (choices & 0x40) seal(copy);
      if (choices & 0x80) copy.resize(copy.size() + value % 4);
      packets.push_back(datagram(copy, from, to, back));
    } else if (kind == raw) {
      packets.push_back(datagram(in.counted(), from, to, back));
    } else {
      frame.info.link_type = link_record;
      Bytes record(EfaRecord::bytes);
      record[0] = 1, record[1] = EfaRecord::bytes, record[2] = in.byte(), record[3] = in.byte();
      record[5] = 2, record[6] = 3, record[7] = 5;
      record[11] = static_cast<std::uint8_t>(0x10 + (choices & 7));
      record[15] = static_cast<std::uint8_t>(0x14 + (choices & 7));
      const Bytes message = in.counted();
      record[22] = static_cast<std::uint8_t>(message.size() >> 8);
      record[23] = static_cast<std::uint8_t>(message.size());
      record.insert(record.end(), message.begin(), message.end());
      packets.push_back(std::move(record));
    }
    frame.info.number = packets.size();
    frame.info.time_ns = now_ns;
    frame.info.wire_bytes = static_cast<std::uint32_t>(packets.back().size());
    frames.push_back(frame);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i].bytes = packets[i];
  fuzz::follow_twice(frames, size);
  return 0;
}
