// What a single core needs, in one run over one capture in page cache. Rounds alternate, so that a change of the
// machine's speed hits all alike; ratios are taken round by round.
//
// Over frames that are in memory already (the mapped file, every page touched before):
//   crc          libdeflate's crc32 over the bytes each ICRC covers, and nothing else
//   walk         the walker alone
//   verify       walker and every ICRC
// From the file, opened anew each time:
//   read         the reader alone, first bytes of each frame touched
//   read+crc     the reader, and crc32 over each frame's covered bytes
//   read+verify  reader, walker and every ICRC
//
//   walk_bench FILE [ROUNDS]
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "capture/open.h"
#include "dissect/crc.h"
#include "dissect/walk.h"

namespace {

using namespace rdmascope;
using Clock = std::chrono::steady_clock;

volatile std::uint64_t sink;

// Calls each(frame) for all frames of a capture that opens anew.
template <class Each>
void for_each_frame(const std::string& path, Each each) {
  auto source = capture::open_file(path);
  if (!source) {
    std::fprintf(stderr, "%s\n", source.error().c_str());
    std::exit(2);
  }
  std::array<capture::Frame, 256> frames;
  while (true) {
    const auto n = (*source)->read(frames);
    if (!n || *n == 0) break;
    for (std::size_t i = 0; i < *n; ++i) each(frames[i]);
  }
}

void fill(dissect::Packet& packet, const capture::Frame& frame) {
  packet.frame.wire_bytes = frame.wire_bytes;
  packet.frame.link_type = frame.link_type;
}

// All frames of the file, resident.
struct Resident {
  std::unique_ptr<capture::Source> source;
  std::vector<capture::Frame> frames;
} resident;

void make_resident(const std::string& path) {
  resident.source = std::move(*capture::open_file(path, capture::Access::mapped));
  std::array<capture::Frame, 256> frames;
  while (true) {
    const auto n = resident.source->read(frames);
    if (!n || *n == 0) break;
    resident.frames.insert(resident.frames.end(), frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(*n));
  }
}

// On the generated capture: Ethernet header before, ICRC behind.
std::span<const std::uint8_t> covered(const capture::Frame& f) { return f.bytes.subspan(14, f.bytes.size() - 18); }

struct Walker {
  dissect::WalkOptions options;
  dissect::Packet packet;
  std::uint64_t good = 0;
  void walk(const capture::Frame& f) {
    fill(packet, f);
    dissect::walk(packet, f.bytes, options);
  }
  void verify(const capture::Frame& f) {
    walk(f);
    good += packet.icrc().status == dissect::CrcStatus::good;
  }
};

void crc_only(const std::string&) {
  std::uint32_t sum = 0;
  for (const capture::Frame& f : resident.frames) sum ^= libdeflate_crc32(0, covered(f).data(), covered(f).size());
  sink = sum;
}
void walk_only(const std::string&) {
  Walker w;
  for (const capture::Frame& f : resident.frames) w.walk(f);
  sink = w.packet.layers().size();
}
std::uint64_t good_icrcs;
void verify(const std::string&) {
  Walker w;
  for (const capture::Frame& f : resident.frames) w.verify(f);
  good_icrcs = w.good;
}
void read_only(const std::string& path) {
  std::uint64_t sum = 0;
  for_each_frame(path, [&](const capture::Frame& f) { sum += f.bytes[12] + f.bytes[64 % f.bytes.size()]; });
  sink = sum;
}
void read_crc(const std::string& path) {
  std::uint32_t sum = 0;
  for_each_frame(path,
                 [&](const capture::Frame& f) { sum ^= libdeflate_crc32(0, covered(f).data(), covered(f).size()); });
  sink = sum;
}
void read_verify(const std::string& path) {
  Walker w;
  for_each_frame(path, [&](const capture::Frame& f) { w.verify(f); });
  sink = w.good;
}

struct Mode {
  const char* name;
  void (*run)(const std::string& path);
  std::vector<double> seconds = {};
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void print_ratio(const char* what, const Mode& a, const Mode& b, const char* note) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.seconds.size(); ++i) ratios.push_back(a.seconds[i] / b.seconds[i]);
  std::printf("  %-26s %5.2f  (%.2f to %.2f)  %s\n", what, median(ratios),
              *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()), note);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: walk_bench FILE [ROUNDS]\n");
    return 2;
  }
  const std::string path = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  if (auto source = capture::open_file(path); !source) {
    std::fprintf(stderr, "%s\n", source.error().c_str());
    return 2;
  }
  make_resident(path);
  enum { m_crc, m_walk, m_verify, m_read, m_read_crc, m_read_verify };
  Mode modes[] = {{"crc", crc_only},   {"walk", walk_only},    {"verify", verify},
                  {"read", read_only}, {"read+crc", read_crc}, {"read+verify", read_verify}};
  for (int round = 0; round <= rounds; ++round)
    for (Mode& mode : modes) {
      const Clock::time_point start = Clock::now();
      mode.run(path);
      if (round > 0) mode.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  const double frames = static_cast<double>(resident.frames.size());
  std::printf("%.0f frames, %.0f with a good ICRC, median of %d rounds\n", frames, static_cast<double>(good_icrcs),
              rounds);
  for (const Mode& mode : modes)
    std::printf("  %-12s %8.1f ms  %6.1f ns/frame\n", mode.name, median(mode.seconds) * 1e3,
                median(mode.seconds) * 1e9 / frames);
  print_ratio("verify / crc", modes[m_verify], modes[m_crc], "target: at most 2");
  print_ratio("read+verify / read+crc", modes[m_read_verify], modes[m_read_crc], "both from the file");
  print_ratio("read+verify / crc", modes[m_read_verify], modes[m_crc],
              "file against memory: the reader counts on one side only");
}
