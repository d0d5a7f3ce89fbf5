// What Wireshark finds in the plugin: for which version it was built, and what it registers.
#define WS_BUILD_DLL  // marks what is exported

#include "plugins/wireshark/dissectors.h"
#include "plugins/wireshark/fields.h"
#include "plugins/wireshark/post.h"
#include "plugins/wireshark/session.h"
#include "plugins/wireshark/settings.h"
#include "plugins/wireshark/taps.h"

extern "C" {
WS_DLL_PUBLIC const char plugin_version[];
WS_DLL_PUBLIC const int plugin_want_major, plugin_want_minor;
// Wireshark refuses a plugin of another major or minor version, and says so.
const char plugin_version[] = RDMASCOPE_VERSION;
const int plugin_want_major = WIRESHARK_VERSION_MAJOR, plugin_want_minor = WIRESHARK_VERSION_MINOR;
WS_DLL_PUBLIC void plugin_register(void);
WS_DLL_PUBLIC std::uint32_t plugin_describe(void);  // asked for since 4.4 at the latest
}

namespace rdmascope::wireshark {
namespace {

// Without memory while starting there is nothing to save: Wireshark itself ends then, too.
extern "C" void register_protocol() noexcept {
  const int protocol = proto_register_protocol("RDMA analysis (rdmascope)", "rdmascope", "rdmascope");
  register_fields(protocol);
  register_experts(protocol);
  register_preferences(protocol);
  register_session_routines();
  register_post_dissector(protocol);
  register_dissectors();
  register_taps();
}

extern "C" void hand_off() noexcept { hand_off_dissectors(); }

}  // namespace
}  // namespace rdmascope::wireshark

void plugin_register(void) {
  static proto_plugin plugin;
  plugin.register_protoinfo = rdmascope::wireshark::register_protocol;
  plugin.register_handoff = rdmascope::wireshark::hand_off;
  proto_register_plugin(&plugin);
}

std::uint32_t plugin_describe(void) { return 1u << 0; }  // it dissects
