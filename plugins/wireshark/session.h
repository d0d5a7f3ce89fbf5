// The capture that Wireshark has open. Made new when Wireshark opens, reloads or dissects a capture again.
#pragma once

#include <optional>

#include "dissect/annotations.h"
#include "plugins/wireshark/analysis.h"
#include "plugins/wireshark/frame.h"

namespace rdmascope::wireshark {

void register_session_routines();

// nullptr: no capture is open, or memory ran out while it was read.
CaptureAnalysis* analysis();

// A frame as the post-dissector shows it; stays until the next call.
struct Look {
  dissect::Packet packet;
  dissect::Annotations annotations;
};

// Takes the frame in when Wireshark sees it for the first time, and says what is known of it. nullptr: nothing that
// anybody wants to see. `wanted`: somebody looks at more than findings.
const Look* look_at(const packet_info* pinfo, Bytes bytes, bool wanted) noexcept;

}  // namespace rdmascope::wireshark
