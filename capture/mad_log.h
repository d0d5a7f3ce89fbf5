// Management datagrams in what programs print about them: strace of a program that talks to /dev/infiniband/umad or to
// ibsim, the buffers that tools on libibmad print with -d -d (smpquery, perfquery), traces of ibsim. mad.md 10.2, 10.4.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/hex_text.h"

namespace rdmascope::capture {

// nullopt: none in the text. Lines that are none are left out, and so are the envelopes of umad and ibsim in front of a
// datagram.
std::optional<Result<std::vector<HexPacket>>> read_mad_log(std::string_view text);

}  // namespace rdmascope::capture
