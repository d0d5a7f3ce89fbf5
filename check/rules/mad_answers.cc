// Questions and answers of management: does an answer belong to a question, repeat what it must, come in time, and say
// what the answerer has to say? mad.md 1.4, 9.2. What was lost by the capture is nobody's fault.
#include <algorithm>
#include <array>
#include <cstring>

#include "check/rules/mad.h"

namespace rdmascope::check {
namespace {

using namespace dissect;
using Kind = MadFacts::Kind;

constexpr unsigned code_bad_version = 1, code_bad_method = 2, code_bad_value = 7;

// A question of a class whose answers are laid down.
bool is_plain_answer(const MadContext& c) {
  return to_judge(c) && is_answer(c) && group_of(c) != MadGroup::other && group_of(c) != MadGroup::bm &&
         group_of(c) != MadGroup::snmp;
}

void transaction(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !c.facts.unpaired || !c.facts.near || c.facts.kind != Kind::response) return;
  out.mismatch_in(mad_tid.info, c, "infiniband.mad.transactionid", c.facts.near->tid, c.mad.get<"transactionid">(),
                  fmt::format("frame {} asks for the same and waits", c.facts.near->frame));
}

void same_transaction(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !c.facts.overlapping || !c.facts.question) return;
  out.wrong_in(mad_tiddup.info, c, "infiniband.mad.transactionid", c.mad.get<"transactionid">(),
               fmt::format("frames {} and {} ask different things with it, and this is the answer to the first one",
                           c.facts.question->frame, c.facts.overlapping->frame));
}

void echo(const MadContext& c, Findings& out) {
  if (!is_plain_answer(c) || c.facts.question->method == mad_trap) return;  // SMP-TRAPREP
  const MadQuestion& q = *c.facts.question;
  const std::string text = fmt::format("in answer to frame {}", q.frame);
  if (c.attribute_id() != q.attribute)
    out.mismatch_in(mad_echo.info, c, "infiniband.mad.attributeid", q.attribute, c.attribute_id(), text);
  else if (c.modifier() != q.modifier)
    out.mismatch_in(mad_echo.info, c, "infiniband.mad.attributemodifier", q.modifier, c.modifier(), text);
}

// 0: none is laid down.
std::uint8_t answer_to(std::uint8_t method) {
  switch (method) {
    case mad_get:
    case mad_set:
      return mad_get_resp;
    case mad_get_table:
    case 0x13:
      return mad_get_table_resp;
    case mad_get_multi:
      return mad_get_multi_resp;
    case 0x15:
      return 0x95;
    case mad_report:
      return mad_report_resp;
    case mad_trap:
      return mad_trap_repress;
    default:
      return 0;
  }
}

void answer_method(const MadContext& c, Findings& out) {
  if (!is_plain_answer(c)) return;
  const std::uint8_t asked = c.facts.question->method, expected = answer_to(asked);
  if (expected != 0 && c.method() != expected)
    out.mismatch_in(mad_respmethod.info, c, "infiniband.mad.method", expected, c.method(),
                    fmt::format("in answer to the {} of frame {}", method_name(asked), c.facts.question->frame));
}

void second_answer(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !is_answer(c) || !c.facts.second_answer) return;
  const MadQuestion& q = *c.facts.question;
  out.say(mad_unsol.info, c,
          fmt::format("frame {} answered the question of frame {} already, which was asked {}", q.answer_frame, q.frame,
                      q.times == 1 ? "once" : fmt::format("{} times", q.times)));
}

std::string milliseconds(std::int64_t ns) { return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6); }

void late(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !is_answer(c) || !c.facts.first_answer || !c.facts.allowed_ns) return;
  if (c.facts.wait_ns > *c.facts.allowed_ns)
    out.say(mad_timeout.info, c,
            fmt::format("{} after frame {}; RespTimeValue and SubnetTimeOut allow {}", milliseconds(c.facts.wait_ns),
                        c.facts.question->frame, milliseconds(*c.facts.allowed_ns)));
}

void never(const MadQuestion& q, Findings& out) {
  if (q.answered()) return;  // its answer has no end: RMPP-END
  Finding f{&mad_timeout.info, mad_timeout.info.kind, q.frame, q.first_ns};
  f.text = q.times == 1 ? "no answer in the capture" : fmt::format("asked {} times, no answer in the capture", q.times);
  out.add(nullptr, std::move(f));
}

void retry(const MadContext& c, Findings& out) {
  if (to_judge(c) && c.facts.retry && c.facts.retry_differs && c.facts.question)
    out.say(mad_retry.info, c,
            fmt::format("transaction ID, method, attribute and modifier are those of frame {}, other "
                        "bytes are not",
                        c.facts.question->frame));
}

// Class versions of 1 there are no others of.
bool asked_in_bad_version(const MadContext& c) {
  const MadQuestion& q = *c.facts.question;
  if (q.base_version == 0x80) return false;
  const MadGroup group = group_of(c);
  return q.base_version != 1 || ((group == MadGroup::subn || group == MadGroup::perf) && q.class_version != 1);
}

void bad_version(const MadContext& c, Findings& out) {
  if (!is_answer(c) || c.facts.captured_again || !asked_in_bad_version(c) || c.status_code() == code_bad_version)
    return;
  const MadQuestion& q = *c.facts.question;
  out.mismatch_in(
      mad_badver.info, c, "infiniband.mad.status.code", code_bad_version, c.status_code(),
      fmt::format("frame {} asks in BaseVersion {}, ClassVersion {}", q.frame, q.base_version, q.class_version));
}

void bad_method(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !is_answer(c) || asked_in_bad_version(c)) return;
  const MadQuestion& q = *c.facts.question;
  if (is_method_of(group_of(c), q.method) || c.status_code() != 0 || c.mad.get<"status.busy">()) return;
  out.mismatch_in(mad_badmethod.info, c, "infiniband.mad.status.code", code_bad_method, 0,
                  fmt::format("the method of frame {} is 0x{:02x}", q.frame, q.method));
}

void bad_attribute(const MadContext& c, Findings& out) {
  constexpr std::uint16_t first_of_vendors = 0xff00;
  if (!to_judge(c) || !is_success(c) || !c.subn() || c.attribute || c.attribute_id() >= first_of_vendors) return;
  if (c.attribute_id() != c.facts.question->attribute) return;
  out.wrong_in(mad_badattr.info, c, "infiniband.mad.attributeid", c.attribute_id(),
               "success, with an attribute that is not known; code 3 is due if it does not exist");
}

// The modifier names what this node has not: why; empty: nothing of the kind is known.
std::string why_bad_modifier(const MadContext& c, const MadNode& node) {
  const std::uint32_t modifier = c.modifier(), low = modifier & 0xffff;
  switch (c.attribute_id()) {
    case smp_port_info: {
      const std::uint32_t port = modifier & 0xff;
      if (node.ports > 0 && port > node.ports) return fmt::format("port {} of {}", port, node.ports);
      return {};
    }
    case smp_guid_info:
      return modifier > 31 ? fmt::format("block {} of 32", modifier) : std::string();
    case smp_linear_table:
      return modifier > 767 ? fmt::format("block {} of 768", modifier) : std::string();
    case smp_random_table:
      return modifier > 3071 ? fmt::format("block {} of 3072", modifier) : std::string();
    case smp_sl_to_vl: {
      const std::uint32_t in = low >> 8, port = low & 0xff;
      if (node.is_switch() && node.ports > 0 && modifier >> 16 == 0 && std::max(in, port) > node.ports)
        return fmt::format("port {} of {}", std::max(in, port), node.ports);
      return {};
    }
    default:
      return {};
  }
}

// The block is beyond the table, as SwitchInfo says.
std::string why_beyond_table(const MadContext& c, const MadNode& node) {
  const auto info = node.switch_view();
  if (!info) return {};
  if (c.attribute_id() == smp_linear_table) {
    const auto cap = info->get<"linearfdbcap">();
    return c.modifier() * 64 >= cap ? fmt::format("block {}, LinearFDBCap is {}", c.modifier(), cap) : std::string();
  }
  if (c.attribute_id() == smp_multicast_table) {
    const auto cap = info->get<"multicastfdbcap">();
    const std::uint32_t block = c.modifier() & 0x1ff;
    return block * 32 >= cap ? fmt::format("block {}, MulticastFDBCap is {}", block, cap) : std::string();
  }
  return {};
}

void bad_value(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !is_answer(c) || !is_smp(c) || !c.facts.node || c.method() != mad_get_resp) return;
  const MadNode& node = *c.facts.node;
  const unsigned code = c.status_code();
  if (code == code_bad_value || c.mad.get<"status.busy">()) return;
  const std::string why = why_bad_modifier(c, node), beyond = why.empty() ? why_beyond_table(c, node) : std::string();
  if (why.empty() && beyond.empty()) return;
  // Adapters may pass over the port.
  const bool sure = c.status() == 0 && beyond.empty() && c.attribute_id() != smp_sl_to_vl &&
                    (node.is_switch() || c.attribute_id() != smp_port_info);
  Finding f{&mad_badvalue.info, sure ? Class::violation : Class::anomaly, c.packet.frame.number,
            c.packet.frame.time_ns};
  f.side = c.transport.side;
  f.field = "infiniband.mad.status.code";
  f.expected = code_bad_value;
  f.actual = code;
  f.text = why.empty() ? beyond : why;
  out.add(&c.transport.connection, std::move(f));
}

struct ReadOnly {
  std::uint16_t attribute;
  Field field;
};
constexpr ReadOnly read_only[] = {
    {smp_switch_info, field<SwitchInfo, "linearfdbcap">()},
    {smp_switch_info, field<SwitchInfo, "randomfdbcap">()},
    {smp_switch_info, field<SwitchInfo, "multicastfdbcap">()},
    {smp_switch_info, field<SwitchInfo, "lidsperport">()},
    {smp_switch_info, field<SwitchInfo, "partitionenforcementcap">()},
    {smp_port_info, field<PortInfo, "linkwidthsupported">()},
    {smp_port_info, field<PortInfo, "linkspeedsupported">()},
    {smp_port_info, field<PortInfo, "vlcap">()},
    {smp_port_info, field<PortInfo, "vlarbitrationhighcap">()},
    {smp_port_info, field<PortInfo, "vlarbitrationlowcap">()},
    {smp_port_info, field<PortInfo, "mtucap">()},
    {smp_port_info, field<PortInfo, "guidcap">()},
    {smp_port_info, field<PortInfo, "resptimevalue">()},
};

void read_only_fields(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !is_success(c) || !is_smp(c) || c.facts.question->method != mad_set || !c.facts.question->data ||
      !c.facts.before)
    return;
  const std::uint8_t *now = c.bytes + smp_data_at, *asked = c.facts.question->data->data(),
                     *before = c.facts.before->data.data();
  for (const ReadOnly& r : read_only) {
    if (r.attribute != c.attribute_id()) continue;
    const std::uint64_t old = load(before, r.field), value = load(now, r.field);
    if (value == old || value != load(asked, r.field)) continue;  // it changed, and to what was asked for
    const std::string_view header = r.attribute == smp_switch_info ? "SwitchInfo" : "PortInfo";
    return out.say(mad_ronoset.info, c,
                   fmt::format("{}.{} was {} in frame {}, and is {} after the Set of frame {}", header, r.field.title,
                               old, c.facts.before->frame, value, c.facts.question->frame));
  }
}

// Tables: nothing in them changes by itself.
void set_stays(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !is_success(c) || !is_smp(c) || c.facts.question->method != mad_get || !c.facts.before ||
      !c.facts.before->to_set)
    return;
  constexpr std::uint16_t tables[] = {smp_p_key_table, smp_sl_to_vl, smp_vl_arbitration, smp_linear_table,
                                      smp_multicast_table};
  if (std::ranges::find(tables, c.attribute_id()) == std::end(tables)) return;
  const std::uint8_t* now = c.bytes + smp_data_at;
  const auto [there, said] = std::mismatch(now, now + smp_data_bytes, c.facts.before->data.begin());
  if (there == now + smp_data_bytes) return;
  out.say(mad_setecho.info, c,
          fmt::format("byte {} of {} is 0x{:02x}; the answer to Set in frame {} said 0x{:02x}", there - now,
                      attribute_name(c), *there, c.facts.before->frame, *said));
}

}  // namespace

const Rule mad_tid{
    .info =
        {.id = "MAD-TID",
         .title = "An answer has the transaction ID of its question",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core/mad.c; mad.h",
         .help =
             R"(The asker finds the question by the transaction ID of the answer, so an answer carries it unchanged. This answer
belongs to no question in the capture, while one for the same attribute at the same place waits. Either the ID was
changed, or the capture lacks both the question of this answer and the answer to that question; so it is no violation.

Usual causes: an agent that rewrites the ID and does not put it back; frames the capture lost; two askers at one port.

Look next at: whether the waiting question is answered later, and in which bits the IDs differ (Linux keeps the number
of the agent in the upper 32).)"},
    .mad = transaction};

const Rule mad_tiddup{
    .info =
        {.id = "MAD-TIDDUP",
         .title = "Open questions have different transaction IDs",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core/mad.c, how answers are found",
         .help =
             R"(Two questions of one asker to one place, in one class, were open at the same time with one transaction ID: the
first one was answered after the second was asked. The asker can tell their answers apart by their content only, and
Linux hands both to the first.

Usual causes: a tool with a constant ID that does not wait for answers.

Look next at: whether the asker asks again although it was answered.)"},
    .mad = same_transaction};

const Rule mad_echo{
    .info =
        {.id = "MAD-ECHO",
         .title = "An answer repeats attribute and modifier",
         .source = "IBTA compliance test C14_024_07_02, step 9",
         .help =
             R"(An answer has the AttributeID and the AttributeModifier of its question, also when it refuses it. Where an asker
uses its transaction IDs several times, an answer that does not fit is taken as one to a question that was not captured.

Usual causes: an agent that answers from a template; a modifier cut to 16 bits.

Look next at: the question, and whether the content is what was asked for.)"},
    .mad = echo};

const Rule mad_respmethod{
    .info =
        {.id = "MAD-RESPMETHOD",
         .title = "An answer has the method that belongs to the question's",
         .source = "rdma-core libibumad; linux-rdma/opensm ib_types.h",
         .help =
             R"(Get and Set are answered by GetResp (there is no SetResp), GetTable and GetTraceTable by GetTableResp, GetMulti by
GetMultiResp, Delete by DeleteResp, Report by ReportResp, a Trap by TrapRepress.

Usual causes: an agent that only sets the response bit of the method: 0x82 for a Set.

Look next at: whether the asker takes the answer, or asks again.)"},
    .mad = answer_method};

const Rule mad_unsol{
    .info =
        {.id = "MAD-UNSOL",
         .title = "A question is answered once",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA vol. 1, chapter 13",
         .help =
             R"(There are more answers to a question than times it was asked. Datagrams captured twice are left out, and so are
askers that use one transaction ID several times. A repeated question that the capture missed looks the same.

Usual causes: two agents for one class on a host, a retry that was not captured, a packet doubled on the way.

Look next at: whether the two answers differ.)"},
    .mad = second_answer};

const Rule mad_timeout{
    .info =
        {.id = "MAD-TIMEOUT",
         .title = "An answer comes in time",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA vol. 1, section 13.4.6.2",
         .help =
             R"(A manager says in RespTimeValue (PortInfo, ClassPortInfo) how long it takes to answer; the asker adds the time of
the way, SubnetTimeOut, twice. This answer came later, so its asker may have given up; told only where the capture has
these values. A question without any answer is told as well, where the same asker did get answers from there and two
seconds were left. It is not known whether the answer or its capture was lost.

Usual causes: a manager that is overloaded, an agent that is not running, a wrong M_Key (dropped without a word), a route
that does not lead back.

Look next at: retries of the question; the M_Key it came with (SMP-MKEY).)"},
    .mad = late,
    .unanswered = never};

const Rule mad_retry{
    .info =
        {.id = "MAD-RETRY",
         .title = "A question is asked again in the same words",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core/mad.c: retries send the same buffer",
         .help =
             R"(A question that was not answered is sent again as it was. With the same transaction ID but other content nobody can
tell which of the two an answer belongs to. Askers that use an ID for one question after the other are left out.

Usual causes: a tool with a constant transaction ID; a buffer that is changed while it waits to be sent again.

Look next at: the bytes that differ: rdmascope read -x of both frames.)"},
    .mad = retry};

const Rule mad_badver{
    .info =
        {.id = "MAD-BADVER",
         .title = "A version that is not supported is refused",
         .source = "Linux drivers/infiniband/hw: ipath_mad.c",
         .help =
             R"(A question with another BaseVersion than 1, or in subnet or performance management with another ClassVersion than 1,
is dropped, or answered with status code 1 and the versions that are supported. Here it got another answer.

Usual causes: an agent that does not look at the versions (ibsim takes ClassVersion 2).

Look next at: the question: who sends such versions (MAD-BASEVER, MAD-CLASSVER)?)"},
    .mad = bad_version};

const Rule mad_badmethod{
    .info =
        {.id = "MAD-BADMETHOD",
         .title = "A method that does not exist is refused",
         .source = "Linux drivers/infiniband/hw: ipath_mad.c",
         .help =
             R"(A question with a method that its class does not have is dropped, or answered with status code 2. Success means that
the answerer took it for something else.

Usual causes: an agent that looks at some bits of the method only.

Look next at: the question (MAD-METHOD), and what the answer holds.)"},
    .mad = bad_method};

const Rule mad_badattr{
    .info =
        {.id = "MAD-BADATTR",
         .title = "An attribute that does not exist is refused",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core/mad.c: generate_unmatched_resp",
         .help =
             R"(An attribute that the answerer does not have is refused with status code 3. This one is not in the tables of this
program, and the answer reports success: either the attribute is newer than the tables, or the answerer says yes to
everything; so it is no violation. Attributes of vendors (0xFF00 on) are passed over.

Usual causes: an optional or newer attribute; an agent without a default branch.

Look next at: the data of the answer: are they those of the question?)"},
    .mad = bad_attribute};

const Rule mad_badvalue{
    .info =
        {.id = "MAD-BADVALUE",
         .title = "A modifier that names nothing is refused",
         .source = "IBTA compliance tests C14_024_06, _10, _12; ibsim",
         .help =
             R"(A port, block or part that the node does not have gives status code 7, invalid value. Success with a port beyond
NumPorts, or a block beyond what any table has, is a violation. A block beyond the table that SwitchInfo tells, a port of
SLtoVLMappingTable or of an adapter, and another code than 7 are anomalies. P_KeyTable: SMP-PKBLK; VLArbitrationTable: SMP-VLARB.

Usual causes: no check of the bounds (ibsim has none for SLtoVL and multicast tables), which in software reads memory
that belongs to something else.

Look next at: what the answer holds, and NodeInfo and SwitchInfo of the node.)"},
    .mad = bad_value};

const Rule mad_ronoset{
    .info =
        {.id = "MAD-RONOSET",
         .title = "A Set does not change what is read only",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA compliance test C14_024_03; access rights as IBTA vol. 1 has them",
         .help =
             R"(Capabilities of a node (sizes of tables, supported widths and speeds, VLCap, MTUCap, GUIDCap, RespTimeValue) are
facts, which a Set passes over. This one had another value before, and after a Set has the one that was asked for.

Usual causes: an agent that stores the whole attribute.

Look next at: a Get of the same attribute after the Set.)"},
    .mad = read_only_fields};

const Rule mad_setecho{
    .info =
        {.id = "MAD-SETECHO",
         .title = "What a Set reported stays until the next one",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA vol. 1, section 14.2.4",
         .help =
             R"(The answer to a Set holds the values that are in force from then on. A Get of the same table, port and block gave
others, and no Set in between is in the capture. Only tables are compared, in which nothing changes by itself.

Usual causes: an agent that returns the data of the question instead of what it stored; a Set the capture lacks; a node
that restarted.

Look next at: other managers on the subnet, and traps of the node.)"},
    .mad = set_stays};

}  // namespace rdmascope::check
