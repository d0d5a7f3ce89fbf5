// The tables of dissect as Wireshark's fields, made in one loop when the plugin registers. Names are ours below
// "rdmascope.", so that the stock infiniband.* stay as they are.
#pragma once

#include <string>

#include "check/rule.h"
#include "dissect/packet.h"
#include "plugins/wireshark/compat.h"

namespace rdmascope::wireshark {

// Numbers that Wireshark gave to a header: one for each of its rows, and one for its subtree.
struct Registered {
  int* hf = nullptr;  // in the order of header->fields
  int ett = not_registered;
};

// "infiniband.xrceth", "xrcsrq" -> "rdmascope.xrceth.xrcsrq"
std::string filter_name(const dissect::Header& header, const dissect::Field& field);

// Registers all fields below `protocol`.
void register_fields(int protocol);
// nullptr: a header that the plugin leaves to Wireshark.
const Registered* registered(const dissect::Header& header);

// The few that are no row of a table.
struct OwnFields {
  int payload_len = not_registered, pad_len = not_registered;
  int tree = not_registered, finding_tree = not_registered;  // subtrees
};
const OwnFields& own_fields();

// Every rule is an expert info of its severity, "rdmascope.rule.q-02".
void register_experts(int protocol);
expert_field* expert_of(const check::RuleInfo& rule);

}  // namespace rdmascope::wireshark
