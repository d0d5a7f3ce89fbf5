// Sends frames of a capture file on a network interface, over and over, at a steady rate: send_frames IF FILE COUNT PPS.
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <time.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "capture/open.h"

namespace {

using namespace rdmascope::capture;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

int fail(const char* what) {
  std::perror(what);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fputs("usage: send_frames IF FILE COUNT PPS\n", stderr), 2;
  const long count = std::atol(argv[3]), pps = std::atol(argv[4]);
  auto source = open_file(argv[2], Access::mapped);
  if (!source) return std::fputs(source.error().c_str(), stderr), 2;
  std::vector<std::span<const std::uint8_t>> frames;
  std::array<Frame, 256> some;
  for (;;) {
    const auto got = (*source)->read(some);
    if (!got || *got == 0) break;
    for (std::size_t i = 0; i < *got; ++i) frames.push_back(some[i].bytes);
  }
  if (frames.empty() || pps <= 0) return std::fputs("send_frames: nothing to send\n", stderr), 2;

  const int fd = ::socket(AF_PACKET, SOCK_RAW, 0);
  if (fd < 0) return fail("socket");
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = static_cast<int>(if_nametoindex(argv[1]));
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return fail(argv[1]);
  constexpr long batch = 64;
  std::array<mmsghdr, batch> messages{};
  std::array<iovec, batch> pieces{};
  const std::int64_t start_ns = now_ns();
  long sent = 0;
  while (sent < count) {
    const long n = count - sent < batch ? count - sent : batch;
    for (long i = 0; i < n; ++i) {
      const std::span<const std::uint8_t> frame = frames[static_cast<std::size_t>(sent + i) % frames.size()];
      pieces[static_cast<std::size_t>(i)] = {const_cast<std::uint8_t*>(frame.data()), frame.size()};
      messages[static_cast<std::size_t>(i)].msg_hdr.msg_iov = &pieces[static_cast<std::size_t>(i)];
      messages[static_cast<std::size_t>(i)].msg_hdr.msg_iovlen = 1;
    }
    const int done = ::sendmmsg(fd, messages.data(), static_cast<unsigned>(n), 0);
    if (done <= 0) return fail("send");
    sent += done;
    while (now_ns() - start_ns < sent * 1'000'000'000 / pps) {
    }
  }
  return 0;
}
