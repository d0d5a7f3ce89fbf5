#include "cli/recorder.h"

#include <algorithm>
#include <array>
#include <limits>

#include "capture/cqe_record.h"
#include "dissect/cqe_others.h"

namespace rdmascope::cli {
namespace {

using dissect::put;
using dissect::WorkCompletion;
using replay::Work;

constexpr std::uint32_t frames_interface = 0, completions_interface = 1;

// Numbers of ibv_wc_opcode. Those newer than this list are told as plain sends; their bytes say no more.
std::uint32_t opcode_of(const replay::KeptCompletion& kept) {
  if (kept.completion.is_receive) return dissect::wc_receive + (kept.completion.by_write ? 1 : 0);
  switch (kept.work) {
    case Work::send:
    case Work::send_with_immediate:
    case Work::send_with_invalidate:
      return 0;
    case Work::write:
    case Work::write_with_immediate:
      return 1;
    case Work::read:
      return 2;
    case Work::compare_swap:
      return 3;
    case Work::fetch_add:
      return 4;
    case Work::flush:
      return 8;
    case Work::atomic_write:
      return 9;
  }
  return 0;
}

// As ib_uverbs_wc stands in memory.
void put_work_completion(std::uint8_t* to, const replay::KeptCompletion& kept) {
  const replay::Completion& c = kept.completion;
  constexpr std::uint32_t with_immediate = 2, with_invalidate = 8;
  put<WorkCompletion, "wr_id">(to, c.id);
  put<WorkCompletion, "status">(to, static_cast<std::uint64_t>(c.status));
  put<WorkCompletion, "opcode">(to, opcode_of(kept));
  put<WorkCompletion, "byte_len">(to, c.bytes);
  put<WorkCompletion, "qp_num">(to, kept.qpn);
  if (c.immediate) put<WorkCompletion, "imm">(to, *c.immediate);
  if (c.invalidated_r_key) put<WorkCompletion, "imm">(to, __builtin_bswap32(*c.invalidated_r_key));
  put<WorkCompletion, "wc_flags">(to, (c.immediate ? with_immediate : 0) | (c.invalidated_r_key ? with_invalidate : 0));
}

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::create(const std::string& path) {
  auto writer = capture::Writer::create(path);
  if (!writer) return Error{writer.error()};
  return std::unique_ptr<Recorder>(new Recorder(std::move(*writer)));
}

// The interface of the frames comes first, that of completions once there is one.
Result<void> Recorder::describe(const replay::Wire& wire) {
  if (interfaces_.size() > frames_interface) return {};
  capture::Interface& frames = interfaces_.emplace_back();
  frames.name = wire.name();
  frames.link_type = wire.link_type();
  frames.units_per_second = 1'000'000'000;
  return writer_->describe(interfaces_);
}

Result<void> Recorder::describe_completions() {
  if (interfaces_.size() > completions_interface) return {};
  capture::Interface& completions = interfaces_.emplace_back();
  completions.name = "completions";
  completions.description = "What the device under test completed";
  completions.link_type = capture::link_type_upper_pdu;
  completions.units_per_second = 1'000'000'000;
  return writer_->describe(interfaces_);
}

Result<void> Recorder::keep(const replay::Wire& wire, std::span<const std::uint8_t> bytes, std::int64_t time_ns,
                            std::string_view comment) {
  if (const Result<void> described = describe(wire); !described) return described;
  capture::Frame frame;
  frame.bytes = bytes;
  frame.time_ns = time_ns;
  frame.wire_bytes = static_cast<std::uint32_t>(bytes.size());
  frame.interface_id = frames_interface;
  frame.link_type = wire.link_type();
  return writer_->write(frame, comment);
}

Result<void> Recorder::keep(const replay::KeptCompletion& kept, std::int64_t time_ns) {
  if (const Result<void> described = describe_completions(); !described) return described;
  capture::CqeFront front;
  front.set<"format">(static_cast<std::uint64_t>(dissect::CqeFormat::work_completion));
  front.set<"stride">(WorkCompletion::bytes);
  front.set<"cqn">(queues_ + kept.connection);
  front.set<"flags.simulated">(kept.simulated);
  std::array<std::uint8_t, capture::cqe_front_bytes + WorkCompletion::bytes> bytes{};
  std::ranges::copy(front.bytes(), bytes.begin());
  put_work_completion(bytes.data() + capture::cqe_front_bytes, kept);

  capture::Frame frame;
  frame.bytes = bytes;
  frame.time_ns = time_ns;
  frame.wire_bytes = bytes.size();
  frame.interface_id = completions_interface;
  frame.link_type = capture::link_type_upper_pdu;
  return writer_->write(frame, kept.step);
}

Result<void> Recorder::keep(const replay::Wire& wire, const replay::ScriptRun& run) {
  if (const Result<void> described = describe(wire); !described) return described;
  // A clock that starts anew for each script goes on behind the last one.
  const std::int64_t first_ns = run.frames.empty() ? 0 : run.frames.front().time_ns;
  const std::int64_t shift_ns = first_ns < last_ns_ ? last_ns_ + 1'000'000'000 - first_ns : 0;
  std::uint32_t queues = queues_;
  auto completion = run.completions.begin();
  const auto keep_completions_before = [&](std::int64_t time_ns) -> Result<void> {
    for (; completion != run.completions.end() && completion->time_ns < time_ns; ++completion) {
      last_ns_ = std::max(last_ns_, completion->time_ns + shift_ns);
      queues = std::max(queues, queues_ + completion->connection);
      if (const Result<void> r = keep(*completion, completion->time_ns + shift_ns); !r) return r;
    }
    return {};
  };
  for (const replay::KeptFrame& kept : run.frames) {
    if (const Result<void> r = keep_completions_before(kept.time_ns); !r) return r;
    last_ns_ = std::max(last_ns_, kept.time_ns + shift_ns);
    const std::string comment = kept.step.empty() ? run.report.script + " nobody asked for it" : kept.step;
    if (const Result<void> r = keep(wire, kept.bytes, kept.time_ns + shift_ns, comment); !r) return r;
  }
  if (const Result<void> r = keep_completions_before(std::numeric_limits<std::int64_t>::max()); !r) return r;
  queues_ = queues;
  return {};
}

}  // namespace rdmascope::cli
