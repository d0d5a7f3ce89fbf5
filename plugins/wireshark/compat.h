// Wireshark's headers, and what differs between its versions. Nothing else of the plugin asks for a version.
//
// Built and tested with 4.0. Known of later ones: they want plugin_describe (plugin.cc has it; 4.0 does not look at it), and
// heuristics return bool where 4.0 returns gboolean, so that type is taken from the header's own declaration.
#pragma once

#include <cstdint>
#include <type_traits>

#include <wireshark.h>

#include <epan/conversation_filter.h>
#include <epan/expert.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/proto.h>
#include <epan/range.h>
#include <epan/stat_tap_ui.h>
#include <epan/tap.h>
#include <wiretap/pcap-encap.h>
#include <wiretap/wtap.h>
#include <ws_version.h>
#include <wsutil/report_message.h>

namespace rdmascope::wireshark {

using HeuristicResult = std::invoke_result_t<heur_dissector_t, tvbuff_t*, packet_info*, proto_tree*, void*>;

// A field or subtree that is not registered yet. Later versions take 0 for it, too, but -1 stays good.
inline constexpr int not_registered = -1;

}  // namespace rdmascope::wireshark
