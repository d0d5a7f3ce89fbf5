// The post-dissector: adds a tree "rdmascope" to frames with RDMA, and their findings as expert infos.
#pragma once

namespace rdmascope::wireshark {

void register_post_dissector(int protocol);

// Frames with RDMA come through this tap, without data.
inline constexpr const char* tap_name = "rdmascope";

}  // namespace rdmascope::wireshark
