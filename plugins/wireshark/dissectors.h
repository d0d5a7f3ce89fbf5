// Dissectors for what Wireshark does not know: completion queue entries, EFA messages, and the control protocol of CDI.
#pragma once

namespace rdmascope::wireshark {

void register_dissectors();
// Names and ports by which Wireshark finds them.
void hand_off_dissectors();

}  // namespace rdmascope::wireshark
