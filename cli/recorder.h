// Keeps what passes on a wire in a capture file, each frame with a comment, and what the device completed beside it
// (--record of test and replay).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/writer.h"
#include "replay/script.h"
#include "replay/tester.h"
#include "replay/wire.h"

namespace rdmascope::cli {

class Recorder {
 public:
  static Result<std::unique_ptr<Recorder>> create(const std::string& path);

  // All frames come from wires of one kind.
  Result<void> keep(const replay::Wire& wire, std::span<const std::uint8_t> bytes, std::int64_t time_ns,
                    std::string_view comment);
  // The frames and completions of a script, each with its step, behind those of the scripts before it.
  Result<void> keep(const replay::Wire& wire, const replay::ScriptRun& run);

  Result<void> close() { return writer_->close(); }

 private:
  explicit Recorder(std::unique_ptr<capture::Writer> writer) : writer_(std::move(writer)) {}
  Result<void> describe(const replay::Wire& wire);
  Result<void> describe_completions();
  Result<void> keep(const replay::KeptCompletion& kept, std::int64_t time_ns);

  std::unique_ptr<capture::Writer> writer_;
  std::vector<capture::Interface> interfaces_;  // described so far
  std::int64_t last_ns_ = 0;                    // of the scripts before
  std::uint32_t queues_ = 0;                    // of the scripts before: each connection has a completion queue
};

}  // namespace rdmascope::cli
