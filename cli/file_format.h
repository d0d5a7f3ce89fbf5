// -F: what -w writes.
#pragma once

#include "capture/writer.h"
#include "cli/choice.h"

namespace rdmascope::cli {

inline constexpr Choice<capture::FileFormat> file_format_choices[] = {{"pcapng", capture::FileFormat::pcapng},
                                                                      {"pcap", capture::FileFormat::pcap}};

}  // namespace rdmascope::cli
