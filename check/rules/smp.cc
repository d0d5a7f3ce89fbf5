// Attributes of subnet management: what a node may answer, as far as it has said what it is. mad.md 3, 9.3.
#include <algorithm>

#include "check/rules/mad.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr unsigned code_bad_value = 7, p_keys_in_block = 32;

void as(Findings& out, const RuleInfo& rule, const MadContext& c, Class kind, std::uint64_t expected,
        std::string text) {
  Finding f{&rule, kind, c.packet.frame.number, c.packet.frame.time_ns};
  f.side = c.transport.side;
  f.field = "infiniband.mad.status.code";
  f.expected = expected;
  f.actual = c.status_code();
  f.text = std::move(text);
  out.add(&c.transport.connection, std::move(f));
}

void wrong_key(const MadContext& c, Findings& out) {
  if (!c.facts.wrong_key) return;
  const MadKeySet& set = *c.facts.wrong_key;
  out.say(
      smp_mkey.info, c,
      fmt::format("the Set of frame {} came with M_Key 0x{:016x} and was carried out (frame {}); that of the node is "
                  "0x{:016x} before and after it",
                  set.question_frame, set.key, set.answer_frame, c.facts.key));
}

void port_state(const MadContext& c, Findings& out) {
  constexpr unsigned initialize = 2, armed = 3, active = 4;
  if (!to_judge(c) || !is_success(c) || !is_smp(c) || c.attribute_id() != smp_port_info) return;
  const MadQuestion& q = *c.facts.question;
  if (q.method != mad_set || !q.data) return;
  const auto asked = View<PortInfo>(q.data->data()).get<"portstate">();
  if (asked == initialize || asked > active)
    return as(out, smp_portstate.info, c, smp_portstate.info.kind, code_bad_value,
              fmt::format("success, and frame {} sets PortState to {}", q.frame, asked));
  if (asked != active || !c.facts.before) return;
  const auto was = View<PortInfo>(c.facts.before->data.data()).get<"portstate">();
  const auto is_now = smp_attribute<PortInfo>(c).get<"portstate">();
  if (was == initialize && is_now == active)
    as(out, smp_portstate.info, c, smp_portstate.info.kind, code_bad_value,
       fmt::format("from Initialize in frame {} to Active, without {}", c.facts.before->frame,
                   name_of(port_states, armed)));
}

// P_Keys that the table holds at that port.
std::optional<std::uint32_t> p_key_capacity(const MadNode& node, std::uint32_t port) {
  if (node.type == 0) return std::nullopt;
  if (!node.is_switch() || port == 0) return node.partition_cap;
  const auto info = node.switch_view();
  if (!info) return std::nullopt;
  return static_cast<std::uint32_t>(info->get<"partitionenforcementcap">());
}

void p_key_block(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !is_answer(c) || c.method() != mad_get_resp || !is_smp(c) ||
      c.attribute_id() != smp_p_key_table || c.modifier() != c.facts.question->modifier || !c.facts.node)
    return;
  const std::uint32_t port = c.modifier() >> 16, block = c.modifier() & 0xffff;
  const MadNode& node = *c.facts.node;
  const std::optional<std::uint32_t> capacity = p_key_capacity(node, port);
  if (!capacity || port > node.ports) return;
  const RuleInfo& rule = smp_pkblk.info;
  const std::string text = fmt::format("block {} of port {}, which has {} P_Keys", block, port, *capacity);
  const unsigned code = c.status_code();
  if (block * p_keys_in_block >= *capacity) {
    if (c.status() == 0) return as(out, rule, c, Class::violation, code_bad_value, text);
    if (code != code_bad_value && code != 0) as(out, rule, c, Class::anomaly, code_bad_value, text);
  } else if (code == code_bad_value && c.facts.question->method == mad_get) {
    as(out, rule, c, Class::violation, 0, text);
  }
}

void p_key_port(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !is_success(c) || !is_smp(c) || c.attribute_id() != smp_p_key_table || !c.facts.node) return;
  const std::uint32_t port = c.modifier() >> 16;
  if (port != 0 && c.facts.node->type != 0 && !c.facts.node->is_switch())
    as(out, smp_pkport.info, c, smp_pkport.info.kind, code_bad_value,
       fmt::format("port {} in the modifier; the node is no switch", port));
}

void vl_arbitration(const MadContext& c, Findings& out) {
  constexpr unsigned vl_management = 15;
  if (!to_judge(c) || !is_success(c) || !is_smp(c) || c.attribute_id() != smp_vl_arbitration) return;
  const std::uint32_t part = c.modifier() >> 16;
  if (part < 1 || part > 4)
    return as(out, smp_vlarb.info, c, Class::violation, code_bad_value,
              fmt::format("success with part {} of 1 to 4", part));
  for (unsigned i = 0; i < smp_data_bytes / 2; ++i) {
    const std::uint8_t vl = c.bytes[smp_data_at + 2 * i] & 0x0f, weight = c.bytes[smp_data_at + 2 * i + 1];
    if (vl == vl_management && weight != 0)
      return as(out, smp_vlarb.info, c, Class::anomaly, code_bad_value,
                fmt::format("success, and entry {} gives VL 15 a weight of {}", i, weight));
  }
}

void only_switches(const MadContext& c, Findings& out) {
  constexpr std::uint16_t theirs[] = {smp_switch_info, smp_linear_table, smp_random_table, smp_multicast_table};
  if (!to_judge(c) || !is_success(c) || !c.subn() || !c.facts.node) return;
  const MadNode& node = *c.facts.node;
  if (node.type == 0 || node.is_switch() || std::ranges::find(theirs, c.attribute_id()) == std::end(theirs)) return;
  constexpr unsigned code_bad_attribute = 3;
  as(out, smp_swonly.info, c, Class::violation, code_bad_attribute,
     fmt::format("{} of node 0x{:016x}, which is no switch", attribute_name(c), node.guid));
}

void sm_info(const MadContext& c, Findings& out) {
  constexpr unsigned last_state = 3, last_control = 5;
  if (!to_judge(c) || !is_smp(c) || c.attribute_id() != smp_sm_info) return;
  if (is_success(c)) {
    const auto state = smp_attribute<SmInfo>(c).get<"smstate">();
    if (state > last_state) out.wrong_in(smp_sminfo.info, c, "infiniband.sminfo.smstate", state, "0 to 3 are defined");
  } else if (c.method() == mad_set && (c.modifier() < 1 || c.modifier() > last_control)) {
    out.wrong_in(smp_sminfo.info, c, "infiniband.mad.attributemodifier", c.modifier(),
                 "1 to 5 tell another manager what to do");
  }
}

}  // namespace

const Rule smp_mkey{
    .info =
        {.id = "SMP-MKEY",
         .title = "A Set with a wrong M_Key is dropped",
         .source = "IBTA compliance tests C14_016_Set, C14_017",
         .help =
             R"(A node whose M_Key is not 0 drops Sets that come with another one, whatever its protection bits are. Here one was
carried out, while the node's key was the same before and after it; a change of the key that the capture lacks is
therefore ruled out. Gets with a wrong key may be answered, and an answer that is missing may have been lost, so neither
is judged. Adapters with several ports have a key for each and are not judged.

Usual causes: an agent that does not check M_Keys (ibsim); a check for some attributes only.

Look next at: M_KeyViolations in PortInfo: did the node count it?)"},
    .mad = wrong_key};

const Rule smp_portstate{
    .info =
        {.id = "SMP-PORTSTATE",
         .title = "A port becomes Active step by step",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA vol. 1, section 14.2.5.6",
         .help =
             R"(A Set may bring a port from Initialize to Armed and from Armed to Active, or down; Initialize cannot be set. A jump
that succeeds was done by an agent that does not check, or the step between is not in the capture.

Usual causes: a manager or a simulator that takes a short cut.

Look next at: Sets of PortInfo for this port before.)"},
    .mad = port_state};

const Rule smp_pkblk{
    .info =
        {.id = "SMP-PKBLK",
         .title = "Blocks of the P_KeyTable end at its capacity",
         .source = "IBTA compliance test C14_024_07_02",
         .help =
             R"(The P_KeyTable of a switch's outer port has PartitionEnforcementCap entries (SwitchInfo), all others PartitionCap
(NodeInfo), in blocks of 32. A block that begins behind the last entry gives status code 7, for Get and Set; with a
capacity of 0 every block does. Success there, or code 7 to a Get inside, is a violation; another code an anomaly. Judged
when the node has told its capacity in the capture.

Usual causes: an agent that checks against the wrong one of the two capacities, or compares blocks with entries.

Look next at: NodeInfo and SwitchInfo of the node; what the answer holds.)"},
    .mad = p_key_block};

const Rule smp_pkport{
    .info =
        {.id = "SMP-PKPORT",
         .title = "Only switches have P_Key tables by port",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA vol. 1, section 14.2.5.7",
         .help =
             R"(The upper half of the modifier is the port of a switch. Adapters and routers answer for the port at which the packet
came in, and the half is 0. This one reports success for another port.

Usual causes: an agent that ignores the upper half.

Look next at: whether the table is that of the port that was asked for.)"},
    .mad = p_key_port};

const Rule smp_vlarb{
    .info =
        {.id = "SMP-VLARB",
         .title = "VLArbitrationTable has parts 1 to 4",
         .source = "IBTA compliance test C14_024_09",
         .help =
             R"(The upper half of the modifier says which part: 1 and 2 low priority, 3 and 4 high priority. Others are refused with
status code 7. An entry for VL 15, which is not arbitrated, is an anomaly if it has a weight.

Usual causes: a part counted from 0; a missing check.

Look next at: VLArbitrationLowCap and VLArbitrationHighCap in PortInfo.)"},
    .mad = vl_arbitration};

const Rule smp_swonly{
    .info =
        {.id = "SMP-SWONLY",
         .title = "Only switches have SwitchInfo and forwarding tables",
         .source = "ibsim sim_mad.c; IBTA compliance tests C14_024_10 to _12",
         .help =
             R"(An adapter or a router, as NodeInfo says, answered for SwitchInfo or a forwarding table with success. Status code 3 is
due.

Usual causes: an agent that says yes to everything.

Look next at: NodeType in NodeInfo of the node.)"},
    .mad = only_switches};

const Rule smp_sminfo{
    .info =
        {.id = "SMP-SMINFO",
         .title = "SMInfo has states and controls that exist",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA compliance test C14_024_13; linux-rdma/opensm",
         .help =
             R"(Subnet managers find out by SMInfo who is master. States are 0 to 3; a Set says by its modifier what the other manager
is to do: 1 HANDOVER, 2 ACKNOWLEDGE, 3 DISABLE, 4 STANDBY, 5 DISCOVER. Whether a manager runs at the port at all may have
changed since PortInfo was read and is not judged.

Usual causes: a tool that sets SMInfo without a modifier.

Look next at: priorities and GUIDs of the managers: they decide.)"},
    .mad = sm_info};

}  // namespace rdmascope::check
