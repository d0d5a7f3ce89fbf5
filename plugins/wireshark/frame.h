// From Wireshark's idea of a frame to ours.
#pragma once

#include <optional>
#include <span>

#include "dissect/walk.h"
#include "plugins/wireshark/compat.h"

namespace rdmascope::wireshark {

// Plain data, so that Wireshark may jump over it.
struct Bytes {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
  operator std::span<const std::uint8_t>() const { return {data, size}; }
};

// All that was captured of `tvb`. Where its parts lie apart they are put together; nothing is read beyond what is
// there, so Wireshark has no reason to jump.
Bytes captured_bytes(tvbuff_t* tvb);

// What the frame says of itself. No value: it is no packet, or of a link type that says nothing to us.
std::optional<dissect::FrameInfo> frame_info(const packet_info* pinfo);

// ERF records of InfiniBand link packets have no link type of their own: nullptr, or where to start.
const dissect::Start* start_of(const packet_info* pinfo);

}  // namespace rdmascope::wireshark
