// Any bytes as a capture file: open, read all frames, touch each byte and option. The first byte tells how they arrive.
#include <cstdint>
#include <memory>
#include <vector>

#include "capture/open.h"
#include "capture/pcapng_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdmascope;
  using namespace rdmascope::capture;
  if (size == 0) return 0;
  constexpr std::size_t pieces[] = {0, 1, 7, 100, 4096};  // 0: all at once, in place
  // A copy of exactly that size, so that one byte too far is noticed.
  const std::vector<std::uint8_t> bytes(data + 1, data + size);
  Result<std::unique_ptr<Source>> source = open_memory(bytes, pieces[data[0] % std::size(pieces)]);
  if (!source) return 0;

  volatile std::uint64_t sum = 0;
  std::vector<Frame> frames(1 + data[0] / 16);
  // Small packed files can hold very much; enough is enough.
  for (int batch = 0; batch < 2000; ++batch) {
    const Result<std::size_t> got = (*source)->read(frames);
    if (!got || *got == 0) break;
    for (std::size_t i = 0; i < *got; ++i) {
      const Frame& frame = frames[i];
      for (const std::uint8_t byte : frame.bytes) sum = sum + byte;
      for_each_option(frame.options, frame.big_endian_options, [&](std::uint16_t, std::span<const std::uint8_t> value) {
        for (const std::uint8_t byte : value) sum = sum + byte;
      });
      if (frame.interface_id >= (*source)->interfaces().size()) __builtin_trap();
    }
  }
  sum = sum + (*source)->dropped().value_or(0) + (*source)->notes()->comments.size() + (*source)->progress().bytes;
  return 0;
}
