// Keeps what passes on a wire in a capture file, each frame with a comment (--record of test and replay).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "capture/writer.h"
#include "replay/wire.h"

namespace rdmascope::cli {

class Recorder {
 public:
  static Result<std::unique_ptr<Recorder>> create(const std::string& path) {
    auto writer = capture::Writer::create(path);
    if (!writer) return Error{writer.error()};
    return std::unique_ptr<Recorder>(new Recorder(std::move(*writer)));
  }

  // All frames come from wires of one kind.
  Result<void> keep(const replay::Wire& wire, std::span<const std::uint8_t> bytes, std::int64_t time_ns,
                    std::string_view comment) {
    if (!described_) {
      capture::Interface interface;
      interface.name = wire.name();
      interface.link_type = wire.link_type();
      interface.units_per_second = 1'000'000'000;
      if (const Result<void> r = writer_->describe({interface}); !r) return r;
      described_ = true;
    }
    capture::Frame frame;
    frame.bytes = bytes;
    frame.time_ns = time_ns;
    frame.wire_bytes = static_cast<std::uint32_t>(bytes.size());
    frame.link_type = wire.link_type();
    return writer_->write(frame, comment);
  }

  Result<void> close() { return writer_->close(); }

 private:
  explicit Recorder(std::unique_ptr<capture::Writer> writer) : writer_(std::move(writer)) {}

  std::unique_ptr<capture::Writer> writer_;
  bool described_ = false;
};

}  // namespace rdmascope::cli
