// Any datagrams into the model of the CDI probe, with time between them: no crash, and a transmitter that goes on.
// Input: a byte for role and data path, one for the mutant, then steps: a byte of time, one of the source port and what
// is mended, a length byte, so many bytes. Mended are length and checksum, so that the fuzzer gets past them; the
// number of an Ack is that of the message sent last.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "replay/cdi_model.h"

using namespace rdmascope;
using namespace rdmascope::replay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  CdiModelOptions options;
  options.transmits = data[0] & 1;
  options.data_open = data[0] & 2;
  options.remote = {0x7f000001, 5000};
  options.mutant = static_cast<Mutant>(data[1] % (std::size(cdi_mutants) + 1));
  CdiMessage last;
  std::uint64_t sent = 0;
  const auto model = make_cdi_model(options, [&](const UdpPlace&, std::span<const std::uint8_t> bytes, bool) {
    ++sent;
    if (read_cdi(bytes, last) != CdiFault::none && options.mutant == 0) std::abort();
  });
  std::int64_t now_ns = 0;
  for (std::size_t at = 2; at + 3 <= size;) {
    constexpr std::int64_t unit_ns = 30'000'000;
    now_ns += data[at] * unit_ns;
    model->run(now_ns);
    const std::uint8_t how = data[at + 1];
    const std::size_t take = std::min<std::size_t>(data[at + 2], size - at - 3);
    std::vector<std::uint8_t> bytes(data + at + 3, data + at + 3 + take);
    at += 3 + take;
    if (how & 0x80) {  // a message by command and version, and the rest as it falls
      CdiMessage m;
      bytes.resize(8);
      m.version = {bytes[0], bytes[1], bytes[2]};
      m.command = bytes[3];
      m.number = bytes[4];
      m.port = 5000;
      m.ack_command = how & 0x40 ? last.command : bytes[5];
      m.ack_number = how & 0x40 ? last.number : bytes[6];
      m.adapter[0] = bytes[7];
      bytes = build(m);
    }
    model->datagram({0x7f000001, static_cast<std::uint16_t>(5000 + (how & 7))}, bytes, now_ns);
    if (how & 8) model->deliver(how & 16 ? 1000 : 1, now_ns);
  }
  constexpr std::int64_t minute_ns = 60'000'000'000;
  const std::uint64_t before = sent;
  model->run(now_ns + minute_ns);
  if (options.transmits && options.mutant == 0 && sent == before) std::abort();
  return 0;
}
