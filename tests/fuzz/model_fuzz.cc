// Any sequence of frames into the model, with work and receives posted between: no crash. Input: one byte for service
// and mutant each, then steps: a length byte, a byte of time, then so many bytes, which are a whole packet from BTH on;
// IP, UDP and ICRC are put around it, so that the fuzzer gets past them. A length of 0xff posts work instead.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "dissect/crc.h"
#include "replay/model.h"
#include "replay/model_frame.h"

using namespace rdmascope;
using namespace rdmascope::replay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  ModelOptions model_options;
  model_options.mutant = static_cast<Mutant>(data[1] % (std::size(mutants) + 1));
  Model model(model_options, [](std::span<const std::uint8_t>) {});
  ChannelOptions options;
  options.service = static_cast<Service>(data[0] % 3);
  options.tester_address = model_options.address;
  options.tester_address[15] = 1;
  options.ack_timeout = 2;
  options.local_bytes = options.remote_bytes = 4096;
  const Channel channel = *model.open(options);
  std::int64_t now_ns = 0;
  for (std::size_t at = 2; at + 8 <= size;) {
    now_ns += data[at + 1] * 1000;
    model.run(now_ns);
    if (data[at] == 0xff) {
      WorkRequest work;
      work.work = static_cast<Work>(data[at + 2] % 10);
      work.length = data[at + 3] * 8;
      work.fence = data[at + 4] & 1;
      (void)model.post_send(channel, work, now_ns);
      (void)model.post_receive(channel, {0, data[at + 5], data[at + 6] * 8u});
      at += 8;
      continue;
    }
    const std::size_t take = std::min<std::size_t>(data[at], size - at - 2);
    Path path;
    path.source = options.tester_address;
    path.destination = model_options.address;
    path.destination_qpn = channel.qpn;
    // A frame with as many bytes behind BTH, which are then replaced.
    std::vector<std::uint8_t> payload(take > 12 ? take - 12 & ~std::size_t{3} : 0);
    OutPacket shell;
    shell.opcode = 0x04;
    shell.payload = payload;
    std::vector<std::uint8_t> frame = write_frame(shell, path, 0);
    constexpr std::size_t bth = 28;
    std::copy_n(data + at + 2, std::min(take, frame.size() - bth - 4), frame.data() + bth);
    frame[bth + 1] &= 0x70;                  // TVer 0
    frame[bth + 2] = frame[bth + 3] = 0xff;  // P_Key
    frame[bth + 5] = frame[bth + 6] = 0;     // DestQP
    frame[bth + 7] = static_cast<std::uint8_t>(channel.qpn);
    std::uint32_t icrc = 0;
    dissect::compute_icrc(dissect::Envelope::roce_v2_ipv4, std::span(frame).first(frame.size() - 4), bth, icrc);
    for (unsigned i = 0; i < 4; ++i) frame[frame.size() - 4 + i] = static_cast<std::uint8_t>(icrc >> (24 - 8 * i));
    model.frame(frame, now_ns);
    at += 2 + take;
  }
  (void)model.to_error(channel, now_ns);
  return 0;
}
