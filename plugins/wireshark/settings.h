// The plugin's preferences, "rdmascope.*", and the options of dissect and check that they stand for.
#pragma once

#include "check/checker.h"

namespace rdmascope::wireshark {

void register_preferences(int protocol);

// Before a capture is read: as the preferences are now. Wireshark reads a capture anew when one changes.
void take_preferences();

// As they were then.
const dissect::WalkOptions& walk_options();
check::CheckOptions check_options();

}  // namespace rdmascope::wireshark
