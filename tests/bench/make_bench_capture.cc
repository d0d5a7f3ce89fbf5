// Writes the benchmark capture: N RoCEv2 frames on 16 QPs (or as many as asked), in the cycle WRITE First/Middle/Last, ACK, READ Request,
// READ Response First/Middle/Last, 1,024 bytes of payload each, right ICRCs. 1,000,000 frames are 847.5 MB.
//
//   make_bench_capture FRAMES [QPS] > FILE.pcap
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "dissect/crc.h"

namespace {

constexpr std::size_t payload_bytes = 1024;

void put16(std::uint8_t* p, std::uint32_t v) {
  p[0] = static_cast<std::uint8_t>(v >> 8), p[1] = static_cast<std::uint8_t>(v);
}
void put24(std::uint8_t* p, std::uint32_t v) { p[0] = static_cast<std::uint8_t>(v >> 16), put16(p + 1, v); }
void put32(std::uint8_t* p, std::uint32_t v) { put16(p, v >> 16), put16(p + 2, v); }

struct Step {
  std::uint8_t opcode;
  bool from_b, reth, aeth, payload;
};
constexpr Step cycle[] = {{0x06, false, true, false, true},  {0x07, false, false, false, true},
                          {0x08, false, false, false, true}, {0x11, true, false, true, false},
                          {0x0c, false, true, false, false}, {0x0d, true, false, true, true},
                          {0x0e, true, false, false, true},  {0x0f, true, false, true, true}};
constexpr unsigned steps = sizeof cycle / sizeof cycle[0];

struct Qp {
  std::uint32_t psn, msn;
};

}  // namespace

int main(int argc, char** argv) {
  using rdmascope::dissect::compute_icrc;
  using rdmascope::dissect::Envelope;
  const std::uint64_t frames = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const unsigned qps = argc > 2 ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)) : 16;
  if (frames == 0 || qps == 0 || qps > 0x400000) {
    std::fprintf(stderr, "usage: make_bench_capture FRAMES [QPS] > FILE.pcap\n");
    return 2;
  }
  static char buffer[1 << 20];
  std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  const std::uint32_t file_header[6] = {0xa1b23c4d, 0x00040002, 0, 0, 262144, 1};
  std::fwrite(file_header, sizeof file_header, 1, stdout);

  std::mt19937 random(7);
  std::vector<std::uint8_t> payload(payload_bytes);
  for (std::uint8_t& b : payload) b = static_cast<std::uint8_t>(random());
  std::vector<Qp> qp(qps);
  for (Qp& q : qp) q = {static_cast<std::uint32_t>(random()) & 0xffffff, 0};

  std::uint8_t f[14 + 20 + 8 + 12 + 16 + payload_bytes + 4];
  for (std::uint64_t n = 0; n < frames; ++n) {
    const Step& step = cycle[n / qps % steps];
    const unsigned index = static_cast<unsigned>(n % qps);
    Qp& q = qp[index];
    const unsigned position = static_cast<unsigned>(n / qps % steps);
    std::memset(f, 0, 70);
    f[0] = 2, f[5] = step.from_b ? 1 : 2, f[6] = 2, f[11] = step.from_b ? 2 : 1;
    put16(f + 12, 0x0800);
    std::uint8_t* const ip = f + 14;
    std::uint8_t* const udp = ip + 20;
    std::uint8_t* const bth = udp + 8;
    std::uint8_t* at = bth + 12;
    bth[0] = step.opcode;
    bth[1] = 0x40;
    put16(bth + 2, 0xffff);
    put24(bth + 5, (step.from_b ? 0x800000u : 0x100u) + index);
    if (position == 2 || position == 4) bth[8] = 0x80;
    // WRITE takes PSNs 0..2, the READ 3..5 of each round; responses echo.
    constexpr std::uint32_t psn_of[steps] = {0, 1, 2, 2, 3, 3, 4, 5};
    put24(bth + 9, (q.psn + psn_of[position]) & 0xffffff);
    if (step.reth) {
      put32(at, 0x7f00), put32(at + 4, 0x10000000 + index * 0x10000), put32(at + 8, 0x1234 + index);
      put32(at + 12, 3 * payload_bytes);
      at += 16;
    }
    if (step.aeth) {
      if (position == 3 || position == 5) ++q.msn;
      put32(at, 0x1f000000 | (q.msn & 0xffffff));
      at += 4;
    }
    if (step.payload) {
      std::memcpy(at, payload.data(), payload_bytes);
      put32(at, static_cast<std::uint32_t>(n));
      at += payload_bytes;
    }
    if (position == steps - 1) q.psn = (q.psn + 6) & 0xffffff;

    const std::uint32_t end = static_cast<std::uint32_t>(at - f) + 4;
    ip[0] = 0x45, ip[1] = 2, ip[6] = 0x40, ip[8] = 64, ip[9] = 17;
    put16(ip + 2, end - 14), put16(ip + 4, static_cast<std::uint32_t>(n));
    put32(ip + 12, step.from_b ? 0x0a000002 : 0x0a000001), put32(ip + 16, step.from_b ? 0x0a000001 : 0x0a000002);
    std::uint32_t sum = 0;
    for (int i = 0; i < 20; i += 2) sum += static_cast<std::uint32_t>(ip[i] << 8 | ip[i + 1]);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    put16(ip + 10, ~sum & 0xffff);
    put16(udp, 0xc000 + index % 0x4000), put16(udp + 2, 4791), put16(udp + 4, end - 34);
    std::uint32_t icrc = 0;
    compute_icrc(Envelope::roce_v2_ipv4, {ip, end - 14 - 4}, 28, icrc);
    put32(at, icrc);

    const std::uint64_t ns = 1700000000ull * 1000000000 + n * 700;
    const std::uint32_t record[4] = {static_cast<std::uint32_t>(ns / 1000000000),
                                     static_cast<std::uint32_t>(ns % 1000000000), end, end};
    std::fwrite(record, sizeof record, 1, stdout);
    std::fwrite(f, end, 1, stdout);
  }
  return std::fflush(stdout) == 0 ? 0 : 2;
}
