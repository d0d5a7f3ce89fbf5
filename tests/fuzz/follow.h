// What the fuzzers of followers share: frames through the checker, the annotations and the writers.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "check/annotate.h"
#include "check/cdi.h"
#include "check/checker.h"
#include "dissect/annotations.h"
#include "dissect/summary.h"
#include "dissect/tree.h"
#include "dissect/walk.h"

namespace rdmascope::fuzz {

class Everything final : public check::Listener {
 public:
  std::string seen;
  check::Annotator annotator{check::Annotator::Readings::two};
  void packet(const check::PacketFacts& f) override { annotator.packet(f); }
  void mad(const check::MadContext& c) override { annotator.mad(c); }
  void cdi(const check::CdiContext& c) override { annotator.cdi(c); }
  void ended(const check::Connection& c) override { annotator.ended(c); }
  void end_of_mads(const check::Mads& mads) override {
    for (const check::MadNode* n : mads.nodes()) seen += std::to_string(n->guid) + n->description;
    for (const auto& [a, b] : mads.links()) seen += std::to_string(a.guid) + '-' + std::to_string(b.guid) + ' ';
  }
  void end_of_cdi(const check::CdiFlows& flows, std::int64_t begin_ns, std::int64_t end_ns) override {
    for (const check::CdiFlow& flow : flows.flows())
      for (const std::string& line : story(flow, begin_ns, end_ns)) seen += line;
  }
  void finding(const check::Finding& f, const check::Connection* c) override {
    annotator.finding(f, c);
    seen += std::string(f.rule->id) + ' ' + std::to_string(f.frame) + ' ' + f.text + '\n';
  }
};

// All that is said of the frames.
inline std::string follow(const std::vector<check::Frame>& frames, unsigned workers, std::size_t batch_frames) {
  Everything listener;
  check::CheckOptions options;
  options.workers = workers;
  options.packets = true;
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
  dissect::Packet packet;
  dissect::Text text;
  for (const check::Frame& frame : frames) {
    packet.frame = frame.info;
    dissect::walk(packet, frame.bytes, {});
    const dissect::Annotations a = listener.annotator.of(frame.info.number);
    if (a.request_in >= frame.info.number || (a.response_in != 0 && a.response_in <= frame.info.number)) std::abort();
    dissect::annotate(packet, a);
    dissect::put_info(text, packet);
    dissect::put_tree(text, packet, "0");
    packet.drop_annotations();
  }
  return listener.seen + std::string(text.view());
}

// Two workers say the same as one, and single frames the same as batches. Only of some inputs, since threads cost more
// than all the rest.
inline void follow_twice(const std::vector<check::Frame>& frames, std::size_t input_bytes) {
  const std::string one = follow(frames, 1, 16);
  if (input_bytes % 8 == 0 && one != follow(frames, 2, 16)) std::abort();
  if (input_bytes % 8 == 4 && one != follow(frames, 1, 1)) std::abort();
}

}  // namespace rdmascope::fuzz
