// Any sequence of frames through the tracker, the follower and every rule, with one and with two workers, and in
// batches of several sizes: no crash, and the same findings and annotations. Input: frames, each a length byte, a step
// of time in microseconds, then so many bytes. A length of 0xff repeats an earlier frame with one byte changed, so that
// connections grow out of few bytes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "check/annotate.h"
#include "check/checker.h"

namespace {

using namespace rdmascope;

class Listener final : public check::Listener {
 public:
  std::string seen;
  check::Annotator annotator{check::Annotator::Readings::two};
  void packet(const check::PacketFacts& f) override { annotator.packet(f); }
  void ended(const check::Connection& c) override { annotator.ended(c); }
  void finding(const check::Finding& f, const check::Connection* c) override {
    annotator.finding(f, c);
    seen += f.rule->id;
    seen += ' ';
    seen += std::to_string(f.frame) + ' ' + std::to_string(f.connection) + ' ' + f.text + '\n';
  }
  void message(const check::Connection& c, std::uint8_t side, const check::Message& m) override {
    annotator.message(c, side, m);
    seen += std::to_string(c.id) + '/' + std::to_string(side) + '/' + std::to_string(m.index) + ' ';
  }
};

std::string run(const std::vector<check::Frame>& frames, unsigned workers, std::size_t batch_frames) {
  Listener listener;
  check::CheckOptions options;
  options.workers = workers;
  options.messages = options.packets = true;
  options.most_connections = 64;
  check::Checker checker(options, listener);
  const std::span<const check::Frame> all(frames);
  std::size_t at = 0;
  checker.run([&](check::Batch& batch) {
    const std::span<const check::Frame> next = all.subspan(at, std::min(batch_frames, all.size() - at));
    batch.frames.assign(next.begin(), next.end());
    at += next.size();
    return !next.empty();
  });
  checker.finish();
  listener.annotator.settle();
  for (const check::Frame& frame : frames) {
    const dissect::Annotations a = listener.annotator.of(frame.info.number);
    if (a.request_in >= frame.info.number || (a.response_in != 0 && a.response_in <= frame.info.number)) std::abort();
    for (std::uint64_t n : {std::uint64_t{a.flow}, std::uint64_t{a.message}, a.request_in, a.response_in,
                            a.retransmission_of, std::uint64_t{a.retransmission}, std::uint64_t{a.notes.size()}})
      listener.seen += std::to_string(n) + ' ';
  }
  return listener.seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<std::int64_t> times;
  std::int64_t now = 0;
  for (std::size_t at = 0; at + 4 <= size && bytes.size() < 256;) {
    const std::uint8_t length = data[at];
    now += data[at + 1] * 1000;
    if (length == 0xff) {
      if (!bytes.empty()) {
        std::vector<std::uint8_t> copy = bytes[data[at + 2] % bytes.size()];
        if (!copy.empty())
          copy[(data[at + 3] >> 2) % copy.size()] ^= static_cast<std::uint8_t>(1 << (data[at + 3] & 3));
        bytes.push_back(std::move(copy));
        times.push_back(now);
      }
      at += 4;
      continue;
    }
    at += 2;
    const std::size_t take = std::min<std::size_t>(length, size - at);
    bytes.emplace_back(data + at, data + at + take);
    times.push_back(now);
    at += take;
  }
  std::vector<check::Frame> frames(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    frames[i].bytes = bytes[i];
    frames[i].info.number = i + 1;
    frames[i].info.time_ns = times[i];
    frames[i].info.wire_bytes = static_cast<std::uint32_t>(bytes[i].size());
    frames[i].info.link_type = 1;
    if (!bytes[i].empty() && bytes[i][0] >> 4 == 4) frames[i].info.link_type = 101;  // shorter than Ethernet
    if (bytes[i].size() > 16 && bytes[i][0] == 0 && bytes[i][1] == 12) frames[i].info.link_type = 252;  // a CQE record
  }
  const std::string seen = run(frames, 1, 16);
  if (run(frames, 2, 16) != seen || run(frames, 1, 1) != seen) std::abort();
  return 0;
}
