// Traps: repeats, what ends them, and what they may say. mad.md 3.14, 9.3.
#include <algorithm>

#include "check/rules/mad.h"

namespace rdmascope::check {
namespace {

using namespace dissect;
using Kind = MadFacts::Kind;

std::uint16_t trap_number(const std::uint8_t* notice) {
  return static_cast<std::uint16_t>(View<Notice>(notice).get<"trapnumberdeviceid">());
}

void repeated(const MadContext& c, Findings& out) {
  // Values beyond are templates: a repeat after hours helps nobody.
  constexpr std::uint64_t largest_believed = 24;
  if (!to_judge(c) || c.facts.kind != Kind::notice || !c.facts.retry || !c.subn()) return;
  // The port is the sender's.
  if (!c.facts.asker || c.facts.asker->port.empty()) return;
  const auto timeout = c.facts.asker->port.begin()->second.view().get<"subnettimeout">();
  const std::int64_t least_ns = std::int64_t{4096} << timeout;
  if (timeout <= largest_believed && c.facts.since_last_ns < least_ns)
    out.say(
        smp_traprate.info, c,
        fmt::format("{:.3f} ms after the last time; SubnetTimeOut {} asks for {:.3f} ms",
                    static_cast<double>(c.facts.since_last_ns) / 1e6, timeout, static_cast<double>(least_ns) / 1e6));
}

void repress(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !is_answer(c) || c.facts.question->method != mad_trap || !is_smp(c) || !c.facts.first_answer)
    return;
  const MadQuestion& q = *c.facts.question;
  const std::string text = fmt::format("of the Trap in frame {}", q.frame);
  if (c.method() == mad_trap_repress && c.attribute_id() != mad_notice)
    return out.mismatch_in(smp_traprep.info, c, "infiniband.mad.attributeid", mad_notice, c.attribute_id(), text);
  if (!q.data || c.method() != mad_trap_repress) return;
  const auto theirs = trap_number(q.data->data()), ours = trap_number(c.bytes + smp_data_at);
  if (theirs != ours)
    return out.mismatch_in(smp_traprep.info, c, "infiniband.notice.trapnumberdeviceid", theirs, ours, text);
  const std::uint8_t* notice = c.bytes + smp_data_at;
  const auto [there, asked] = std::mismatch(notice, notice + smp_data_bytes, q.data->begin());
  if (there != notice + smp_data_bytes)
    out.say(smp_traprep.info, c,
            fmt::format("byte {} of the notice is 0x{:02x}, 0x{:02x} in frame {}", there - notice, *there, *asked,
                        q.frame));
}

void goes_on(const MadContext& c, Findings& out) {
  if (to_judge(c) && c.facts.kind == Kind::notice && c.facts.after_answer && c.subn() && c.facts.question->tid != 0)
    out.say(smp_trapstop.info, c, fmt::format("frame {} repressed it", c.facts.question->answer_frame));
}

struct KnownTrap {
  std::uint16_t number;
  std::uint8_t type;
  bool only_switch;
};
constexpr KnownTrap known_traps[] = {{64, 4, false},  {65, 4, false},  {66, 4, false},  {67, 4, false},
                                     {68, 4, false},  {69, 4, false},  {128, 1, true},  {129, 1, false},
                                     {130, 1, false}, {131, 1, false}, {144, 4, false}, {145, 4, false},
                                     {256, 2, false}, {257, 2, false}, {258, 2, false}, {259, 2, true}};

void known_number(const MadContext& c, Findings& out) {
  constexpr std::uint64_t producer_switch = 2, type_empty = 0x7f;
  if (!to_judge(c) || c.facts.kind != Kind::notice || c.facts.retry || !is_smp(c) || c.attribute_id() != mad_notice)
    return;
  const auto notice = smp_attribute<Notice>(c);
  if (!notice.get<"isgeneric">() || notice.get<"type">() == type_empty) return;
  const std::uint16_t number = trap_number(c.bytes + smp_data_at);
  const auto known = std::ranges::find(known_traps, number, &KnownTrap::number);
  if (known == std::end(known_traps))
    return out.wrong_in(smp_trapnum.info, c, "infiniband.notice.trapnumber", number, "a generic trap nobody knows");
  if (const auto type = notice.get<"type">(); type != known->type && number != 68 && number != 69)
    return out.mismatch_in(smp_trapnum.info, c, "infiniband.notice.type", known->type, type,
                           fmt::format("of trap {}", number));
  if (const auto producer = notice.get<"producertypevendorid">(); known->only_switch && producer != producer_switch)
    out.mismatch_in(smp_trapnum.info, c, "infiniband.notice.producertype", producer_switch, producer,
                    fmt::format("only switches send trap {}", number));
}

}  // namespace

const Rule smp_traprate{
    .info =
        {.id = "SMP-TRAPRATE",
         .title = "A Trap is not repeated faster than SubnetTimeOut",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA vol. 1, section 14.2.5.6, PortInfo.SubnetTimeOut",
         .help =
             R"(A port sends a Trap again until it is repressed, but not sooner than 4.096 us * 2^SubnetTimeOut after the last one, so
that a flood of errors does not flood the manager. Told where the capture has the port's PortInfo.

Usual causes: an agent that does not know its SubnetTimeOut; a manager that changed it in between.

Look next at: whether the manager represses the Trap at all.)"},
    .mad = repeated};

const Rule smp_traprep{
    .info =
        {.id = "SMP-TRAPREP",
         .title = "TrapRepress repeats the notice of its Trap",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "vectors captured from opensm",
         .help =
             R"(TrapRepress returns the Notice that the Trap brought, with its transaction ID; by these the sender knows which Trap to
stop. This one differs.

Usual causes: a manager that builds the notice anew.

Look next at: whether the Trap goes on (SMP-TRAPSTOP).)"},
    .mad = repress};

const Rule smp_trapstop{
    .info =
        {.id = "SMP-TRAPSTOP",
         .title = "A Trap ends when it is repressed",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA vol. 1, section 13.4.9",
         .help =
             R"(The same Trap, with the same transaction ID, came again after its TrapRepress. The TrapRepress was lost behind the point
of capture or dropped (it needs the right M_Key), or the port does not heed it. Traps with transaction ID 0 are not
judged: they cannot be told from new ones.

Usual causes: a wrong M_Key in the TrapRepress; an agent without TrapRepress (ibsim).

Look next at: M_KeyViolations of the port, the notice in the TrapRepress (SMP-TRAPREP).)"},
    .mad = goes_on};

const Rule smp_trapnum{
    .info =
        {.id = "SMP-TRAPNUM",
         .title = "A generic Trap is one that is known",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "jgunthorpe/python-rdma codegen; linux-rdma/opensm ib_types.h",
         .help =
             R"(Generic notices have laid down numbers, each with its type (urgent, security, informational); some come from switches
only. Managers pass over what they do not know. Notices of vendors are not judged.

Usual causes: a notice in the wrong byte order; a trap newer than this list.

Look next at: the bytes of the notice.)"},
    .mad = known_number};

}  // namespace rdmascope::check
