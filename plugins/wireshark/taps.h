// tshark -z rdmascope,connections and -z rdmascope,findings: lists at the end of the capture. Each takes a display
// filter behind another comma: only connections and findings with a frame that passes are listed.
#pragma once

namespace rdmascope::wireshark {

void register_taps();

}  // namespace rdmascope::wireshark
