// RoCEv2 frames of two hosts from short descriptions, for tests of what is judged.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "dissect/cm.h"
#include "dissect/headers.h"
#include "dissect/walk.h"
#include "tests/unit/vectors.h"

namespace rdmascope::test {

// One packet. `from` is the host: 0 or 1; the destination QP is 0x22 on host 1 and 0x11 on host 0 unless told.
struct Sent {
  int from = 0;
  std::uint8_t opcode = 0;
  std::uint32_t psn = 0;
  std::uint32_t bytes = 0;  // payload, or DMALen of a READ
  std::uint32_t qp = 0;
  std::uint8_t syndrome = 0x1f;
  std::uint32_t msn = 0;
  std::uint64_t va = 0x10000;
  std::int64_t wait_us = 10;  // since the packet before
  int ip_id = -1;             // counted up by each host unless told
  std::uint32_t cut = 0;      // the capture keeps so many bytes
  std::uint8_t fill = 0x5a;   // payload
  std::vector<std::uint8_t> mad = {};

  Sent to(std::uint32_t number) const { return with(&Sent::qp, number); }
  Sent after_ms(std::int64_t ms) const { return with(&Sent::wait_us, ms * 1000); }
  Sent by(int host) const { return with(&Sent::from, host); }
  Sent numbered(int id) const { return with(&Sent::ip_id, id); }
  Sent kept(std::uint32_t count) const { return with(&Sent::cut, count); }
  Sent filled(std::uint8_t byte) const { return with(&Sent::fill, byte); }

 private:
  template <class T>
  Sent with(T Sent::*member, T value) const {
    Sent copy = *this;
    copy.*member = value;
    return copy;
  }
};

// Requests of host 0, answers of host 1; by() turns them round.
inline Sent only(std::uint32_t psn, std::uint32_t bytes = 8) { return {0, 0x04, psn, bytes}; }
inline Sent first(std::uint32_t psn, std::uint32_t bytes) { return {0, 0x00, psn, bytes}; }
inline Sent middle(std::uint32_t psn, std::uint32_t bytes) { return {0, 0x01, psn, bytes}; }
inline Sent last(std::uint32_t psn, std::uint32_t bytes) { return {0, 0x02, psn, bytes}; }
inline Sent read(std::uint32_t psn, std::uint32_t bytes, std::uint64_t va = 0x10000) {
  Sent s{0, 0x0c, psn, bytes};
  s.va = va;
  return s;
}
inline Sent uc_only(std::uint32_t psn, std::uint32_t bytes = 8) { return {0, 0x24, psn, bytes}; }
inline Sent uc_first(std::uint32_t psn, std::uint32_t bytes) { return {0, 0x20, psn, bytes}; }
inline Sent uc_last(std::uint32_t psn, std::uint32_t bytes) { return {0, 0x22, psn, bytes}; }
inline Sent ack(std::uint32_t psn, std::uint32_t msn, std::uint8_t syndrome = 0x1f) {
  return {1, 0x11, psn, 0, 0, syndrome, msn};
}
inline Sent nak(std::uint32_t psn, std::uint32_t msn, std::uint8_t syndrome = 0x60) { return ack(psn, msn, syndrome); }
inline Sent data_first(std::uint32_t psn, std::uint32_t msn, std::uint32_t bytes) {
  return {1, 0x0d, psn, bytes, 0, 0x1f, msn};
}
inline Sent data_middle(std::uint32_t psn, std::uint32_t bytes) { return {1, 0x0e, psn, bytes}; }
inline Sent data_last(std::uint32_t psn, std::uint32_t msn, std::uint32_t bytes) {
  return {1, 0x0f, psn, bytes, 0, 0x1f, msn};
}
inline Sent data_only(std::uint32_t psn, std::uint32_t msn, std::uint32_t bytes) {
  return {1, 0x10, psn, bytes, 0, 0x1f, msn};
}

// The exchange that makes a connection. StartingPSN is where the other side begins to send.
inline Sent cm_request(std::uint32_t qpn, std::uint32_t psn_of_other, std::uint8_t mtu, std::uint8_t transport = 0) {
  using namespace dissect;
  std::vector<std::uint8_t> mad(mad_bytes);
  mad[0] = 1, mad[1] = 7, mad[2] = 2, mad[3] = 3, mad[17] = 0x10;
  std::uint8_t* req = mad.data() + Mad::bytes;
  store(req, field<CmReq, "localcommid">(), 0x77);
  store(req, field<CmReq, "localqpn">(), qpn);
  store(req, field<CmReq, "startpsn">(), psn_of_other);
  store(req, field<CmReq, "pppmtu">(), mtu);
  store(req, field<CmReq, "pkey">(), 0xffff);
  store(req, field<CmReq, "transpsvctype">(), transport);
  Sent s{0, 0x64, 0, 0, 1};
  s.mad = mad;
  return s;
}
inline Sent cm_reply(std::uint32_t qpn, std::uint32_t psn_of_other) {
  using namespace dissect;
  std::vector<std::uint8_t> mad(mad_bytes);
  mad[0] = 1, mad[1] = 7, mad[2] = 2, mad[3] = 3, mad[17] = 0x13;
  std::uint8_t* rep = mad.data() + Mad::bytes;
  store(rep, field<CmRep, "localcommid">(), 0x88);
  store(rep, field<CmRep, "remotecommid">(), 0x77);
  store(rep, field<CmRep, "localqpn">(), qpn);
  store(rep, field<CmRep, "startpsn">(), psn_of_other);
  Sent s{1, 0x64, 0, 0, 1};
  s.mad = mad;
  return s;
}

// The bytes of the frame: Ethernet, IPv4, UDP, BTH, extension headers, payload, pad, ICRC.
inline std::vector<std::uint8_t> frame_of(const Sent& s, std::uint16_t ip_id) {
  using namespace dissect;
  std::vector<std::uint8_t> b;
  const auto put = [&b](std::uint64_t value, int bytes) {
    while (bytes-- > 0) b.push_back(static_cast<std::uint8_t>(value >> 8 * bytes));
  };
  const std::uint8_t operation = s.opcode & 31;
  const bool is_read = operation == 0x0c, responds = operation >= 0x0d && operation <= 0x12;
  const std::uint32_t payload = is_read ? 0 : s.mad.empty() ? s.bytes : static_cast<std::uint32_t>(s.mad.size());
  const std::uint32_t pad = (4 - payload % 4) % 4;
  const std::uint32_t host = s.from == 0 ? 0x0a000001 : 0x0a000002, peer = s.from == 0 ? 0x0a000002 : 0x0a000001;
  put(0x020000000002, 6), put(0x020000000001, 6), put(0x0800, 2);
  put(0x45, 1), put(2, 1), put(0, 2), put(ip_id, 2), put(0x4000, 2), put(64, 1), put(17, 1), put(0, 2);
  put(host, 4), put(peer, 4);
  put(0xc000, 2), put(4791, 2), put(0, 2), put(0, 2);
  const std::uint32_t qp = s.qp != 0 ? s.qp : s.from == 0 ? 0x22 : 0x11;
  const bool asks = !responds && (is_read || operation == 0x02 || operation == 0x04) && s.mad.empty();
  put(s.opcode, 1), put(0x40 | pad << 4, 1), put(0xffff, 2), put(0, 1), put(qp, 3), put(asks ? 0x80 : 0, 1);
  put(s.psn, 3);
  if (!s.mad.empty()) put(0x80010000, 4), put(0, 1), put(1, 3);  // DETH
  if (is_read) put(s.va, 8), put(0x1234, 4), put(s.bytes, 4);    // RETH
  if (responds && operation != 0x0e) put(s.syndrome, 1), put(s.msn, 3);
  if (s.mad.empty())
    b.insert(b.end(), payload, s.fill);
  else
    b.insert(b.end(), s.mad.begin(), s.mad.end());
  b.insert(b.end(), pad, 0);
  put(0, 4);  // ICRC
  const auto set = [&b](std::size_t at, std::size_t value) {
    b[at] = static_cast<std::uint8_t>(value >> 8);
    b[at + 1] = static_cast<std::uint8_t>(value);
  };
  set(16, b.size() - 14);
  set(38, b.size() - 34);
  Packet p;
  p.frame.link_type = link_ethernet;
  p.frame.wire_bytes = static_cast<std::uint32_t>(b.size());
  walk(p, b, {});
  const std::uint32_t crc = p.icrc().expected;
  set(b.size() - 4, crc >> 16);
  set(b.size() - 2, crc & 0xffff);
  return b;
}

}  // namespace rdmascope::test
