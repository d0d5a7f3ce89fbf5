// Any text -> packets within the promised bounds, or one sentence.
#include <cstdlib>
#include <string_view>

#include "capture/hex_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdmascope::capture;
  const auto result = read_hex_text({reinterpret_cast<const char*>(data), size});
  if (!result) {
    if (result.error().empty()) std::abort();
    return 0;
  }
  std::size_t total = 0, line = 0;
  for (const HexPacket& packet : *result) {
    if (packet.bytes.empty() || packet.bytes.size() > max_hex_packet_bytes || packet.line <= line) std::abort();
    total += packet.bytes.size();
    line = packet.line;
  }
  if (result->empty() || result->size() > max_hex_packets || total > max_hex_total_bytes) std::abort();
  return 0;
}
