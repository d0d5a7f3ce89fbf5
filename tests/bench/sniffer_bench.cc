// Measures the sniffer on the double of libibverbs: packets of 128 bytes into a pcapng file. One thread polls (and
// plays the adapter), one reads and writes the file. Find the double with
// LD_LIBRARY_PATH=build/release/tests/verbs_double/lib.
//
//   sniffer_bench DEVICE PACKETS FILE.pcapng [BUFFERS]       FILE "none": read only; put it on tmpfs
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/sniffer.h"
#include "capture/writer.h"

using namespace rdmascope;
using namespace rdmascope::capture;

namespace {

constexpr std::size_t packet_bytes = 128, different = 1000;

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error());
  std::exit(1);
}
void must(const Result<void>& result) {
  if (result) return;
  fmt::print(stderr, "{}\n", result.error());
  std::exit(1);
}

double seconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

void make_packets(const std::string& path) {
  Interface ethernet;
  ethernet.link_type = 1;
  auto writer = must(Writer::create(path, {FileFormat::pcap}));
  must(writer->describe({ethernet}));
  std::array<std::uint8_t, packet_bytes> packet{};
  Frame frame;
  frame.bytes = packet;
  frame.wire_bytes = packet_bytes;
  frame.link_type = 1;
  for (std::size_t i = 0; i < different; ++i) {
    packet[20] = static_cast<std::uint8_t>(i), packet[21] = static_cast<std::uint8_t>(i >> 8);
    must(writer->write(frame));
  }
  must(writer->close());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: sniffer_bench DEVICE PACKETS FILE.pcapng|none [BUFFERS]\n");
    return 2;
  }
  const std::string output = argv[3];
  const std::uint64_t wanted = std::strtoull(argv[2], nullptr, 0) / different * different;
  const std::string packets = fmt::format("/tmp/sniffer_bench.{}.pcap", ::getpid());
  make_packets(packets);
  ::setenv("VERBS_DOUBLE_PACKETS", packets.c_str(), 1);
  ::setenv("VERBS_DOUBLE_REPEAT", std::to_string(wanted / different).c_str(), 1);
  ::setenv("VERBS_DOUBLE_CHECK", "0", 1);

  SnifferOptions options;
  options.device = argv[1];
  if (argc > 4) options.buffers = static_cast<std::uint32_t>(std::strtoul(argv[4], nullptr, 0));
  auto source = must(open_sniffer(options));
  std::unique_ptr<Writer> writer;
  if (output != "none") {
    writer = must(Writer::create(output));
    must(writer->describe(source->interfaces()));
  }
  std::array<Frame, 256> frames;
  const auto begin = std::chrono::steady_clock::now();
  const double process = seconds(RUSAGE_SELF), thread = seconds(RUSAGE_THREAD);
  std::uint64_t count = 0, bytes = 0, empty = 0;
  while (count < wanted) {
    const std::size_t got = must(source->read(frames));
    for (std::size_t i = 0; i < got; ++i) {
      bytes += frames[i].bytes.size();
      if (writer) must(writer->write(frames[i]));
    }
    count += got;
    empty += got == 0 ? 1 : 0;
    if (empty > 50) break;
  }
  if (writer) must(writer->close());
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double reader = seconds(RUSAGE_THREAD) - thread, poller = seconds(RUSAGE_SELF) - process - reader;
  const double n = static_cast<double>(count);
  fmt::print(
      "{}: {} packets, {} bytes in {:.3f} s: {:.2f} M packets/s; processor time per packet: reader {:.0f} ns, poller "
      "with the adapter it plays {:.0f} ns\n",
      argv[1], count, bytes, took, n / took / 1e6, reader / n * 1e9, poller / n * 1e9);
  source.reset();
  ::unlink(packets.c_str());
  return count == wanted ? 0 : 1;
}
