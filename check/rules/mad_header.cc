// Management datagrams one by one: header, class, method, carriage, status. mad.md 1 and 9.1. Length, opcode and VL are
// F-14, the Q_Key of QP 1 is U-04, the P_Key is F-13.
#include <algorithm>
#include <array>

#include "check/rules/mad.h"

namespace rdmascope::check {
namespace {

using namespace dissect;
using Kind = MadFacts::Kind;

constexpr std::uint8_t omni_path_version = 0x80;

void base_version(const MadContext& c, Findings& out) {
  const auto version = c.mad.get<"baseversion">();
  if (version == 1 || c.facts.captured_again) return;
  if (version == omni_path_version) return;                                    // not InfiniBand
  if (!lrh_of(c.packet) && c.transport.bth.get<"destqp">() == qp_smi) return;  // on Ethernet: F-14
  if (is_answer(c) && c.facts.question->base_version == version) return;       // MAD-BADVER
  out.mismatch_in(mad_basever.info, c, "infiniband.mad.baseversion", 1, version);
}

void management_class(const MadContext& c, Findings& out) {
  if (to_judge(c) && !c.mad_class)
    out.wrong_in(mad_class_code.info, c, "infiniband.mad.mgmtclass", c.class_code(), "reserved");
}

// 0: the vendor's or the application's own.
std::uint64_t class_version_of(const MadContext& c) {
  switch (group_of(c)) {
    case MadGroup::sa:
    case MadGroup::congestion:
      return 2;
    case MadGroup::cm:  // CM-VER
    case MadGroup::other:
    case MadGroup::any:
      return 0;
    default:
      return 1;
  }
}

void class_version(const MadContext& c, Findings& out) {
  constexpr unsigned bad_version = 1;
  const std::uint64_t expected = class_version_of(c), actual = c.mad.get<"classversion">();
  if (!to_judge(c) || expected == 0 || actual == expected) return;
  if (c.facts.kind == Kind::response && c.status_code() == bad_version) return;  // says what it has
  if (is_answer(c) && c.facts.question->class_version == actual) return;         // the asker's: MAD-BADVER
  Finding f{&mad_classver.info, c.subn() ? Class::violation : Class::anomaly, c.packet.frame.number,
            c.packet.frame.time_ns};
  f.side = c.transport.side;
  f.field = "infiniband.mad.classversion";
  f.expected = expected;
  f.actual = actual;
  f.text = fmt::format("of class {}", c.mad_class->prefix);
  out.add(&c.transport.connection, std::move(f));
}

void method(const MadContext& c, Findings& out) {
  if (!to_judge(c) || is_method_of(group_of(c), c.method())) return;
  if (is_answer(c)) return;  // MAD-RESPMETHOD
  // The rest of the common ones may be there in revisions that nobody here has read.
  constexpr std::uint8_t common[] = {mad_get,  mad_set,    mad_get_resp,    mad_method_send,
                                     mad_trap, mad_report, mad_report_resp, mad_trap_repress};
  out.wrong_in(mad_method_code.info, c, "infiniband.mad.method", c.method(),
               fmt::format("{} has no such method", c.mad_class->prefix),
               std::ranges::find(common, c.method()) != std::end(common) ? Class::anomaly : Class::violation);
}

void method_of_attribute(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !c.attribute) return;
  const bool answer = is_answer(c);
  if (!answer && c.facts.kind != Kind::request && c.facts.kind != Kind::notice) return;
  const std::uint8_t asked = answer ? c.facts.question->method : c.method();
  if (takes_method(group_of(c), c.attribute_id(), asked) || (answer && !is_success(c))) return;
  const std::string text = fmt::format("{} of {}", method_name(asked), attribute_name(c));
  if (answer)
    out.wrong_in(mad_methattr.info, c, "infiniband.mad.status", c.mad.get<"status">(),
                 fmt::format("success, to the {} of frame {}", text, c.facts.question->frame));
  else
    out.wrong_in(mad_methattr.info, c, "infiniband.mad.method", asked, text, Class::anomaly);
}

void smp_queue_pair(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !c.subn()) return;
  const auto destination = c.transport.bth.get<"destqp">();
  if (destination != qp_smi)
    return out.mismatch_in(mad_qp0.info, c, "infiniband.bth.destqp", qp_smi, destination,
                           "of a subnet management packet");
  const auto deth = c.packet.find<Deth>();
  if (!deth || deth->get<"srcqp">() == qp_smi) return;
  Finding f{&mad_qp0.info, Class::anomaly, c.packet.frame.number, c.packet.frame.time_ns};
  f.side = c.transport.side;
  f.field = "infiniband.deth.srcqp";
  f.expected = qp_smi;
  f.actual = deth->get<"srcqp">();
  f.text = "of a subnet management packet";
  out.add(&c.transport.connection, std::move(f));
}

void gmp_queue_pair(const MadContext& c, Findings& out) {
  if (to_judge(c) && !c.subn() && c.mad_class && c.transport.bth.get<"destqp">() == qp_smi)
    out.mismatch_in(mad_qp1.info, c, "infiniband.bth.destqp", qp_gsi, qp_smi,
                    fmt::format("class {}", c.mad_class->prefix));
}

void smp_without_grh(const MadContext& c, Findings& out) {
  const Layer* lrh = lrh_of(c.packet);
  if (to_judge(c) && c.subn() && lrh && grh_of(c.packet))  // on Ethernet: F-14
    out.mismatch_in(mad_smpgrh.info, c, "infiniband.lrh.lnh", 2, View<Lrh>(c.packet.data(*lrh)).get<"lnh">(),
                    "a subnet management packet has no GRH");
}

void reserved_header(const MadContext& c, Findings& out) {
  if (!to_judge(c) || group_of(c) == MadGroup::other) return;
  // Answers repeat what the question has there.
  if (c.facts.kind == Kind::response && c.facts.question) return;
  if (const auto value = c.mad.get<"reserved16">(); value != 0)
    return out.mismatch_in(mad_rsvd.info, c, "infiniband.mad.reserved16", 0, value);
  if (const auto value = c.mad.get<"classspecific">(); value != 0 && !c.directed())
    out.mismatch_in(mad_rsvd.info, c, "infiniband.mad.classspecific", 0, value);
}

// Bytes of reserved layers that are not 0.
std::uint64_t reserved_bytes(const MadContext& c) {
  std::uint64_t count = 0;
  for (const Layer& layer : c.packet.layers()) {
    Value value;
    if (layer.header == &header<MadReserved> && mad_reserved_nonzero(c.packet, layer, 0, value)) count += value.number;
  }
  return count;
}

void reserved_data(const MadContext& c, Findings& out) {
  if (!to_judge(c) || c.facts.kind != Kind::request || c.facts.retry || c.class_code() == mad_class_subn) return;
  if (const std::uint64_t count = reserved_bytes(c); count > 0)
    out.mismatch_in(mad_rsvddata.info, c, "infiniband.mad.unused.nonzero", 0, count);
}

void smp_reserved(const MadContext& c, Findings& out) {
  if (!to_judge(c) || c.facts.kind != Kind::request || c.facts.retry || c.class_code() != mad_class_subn || !c.whole())
    return;
  const std::uint8_t* const key_end = c.bytes + Mad::bytes + 8;
  const auto in_header = std::count_if(key_end, c.bytes + smp_data_at, [](std::uint8_t b) { return b != 0; });
  const std::uint64_t count = reserved_bytes(c) + static_cast<std::uint64_t>(in_header);
  if (count > 0) out.mismatch_in(smp_lidrsvd.info, c, "infiniband.mad.unused.nonzero", 0, count);
}

void request_status(const MadContext& c, Findings& out) {
  if (to_judge(c) && c.facts.kind != Kind::response && c.facts.kind != Kind::rmpp && (c.method() & 0x80) == 0 &&
      c.status() != 0)
    out.mismatch_in(mad_reqstatus.info, c, "infiniband.mad.status", 0, c.status(), "a question has no status");
}

bool has_status(const MadContext& c) {
  return to_judge(c) && (c.method() & 0x80) != 0 && c.facts.kind == Kind::response;
}

void reserved_status(const MadContext& c, Findings& out) {
  if (!has_status(c) || group_of(c) == MadGroup::other) return;
  if (const auto bits = c.mad.get<"status.reserved">(); bits != 0)
    return out.mismatch_in(mad_statusrsvd.info, c, "infiniband.mad.status.reserved", 0, bits);
  if (const auto code = c.status_code(); code >= 4 && code <= 6)
    out.wrong_in(mad_statusrsvd.info, c, "infiniband.mad.status.code", code, "reserved");
}

void busy_status(const MadContext& c, Findings& out) {
  if (!has_status(c) || group_of(c) == MadGroup::other) return;
  const unsigned kinds = static_cast<unsigned>(c.mad.get<"status.busy">() + c.mad.get<"status.redirect">()) +
                         (c.status_code() != 0 ? 1 : 0);
  if (kinds > 1)
    out.wrong_in(mad_statusbusy.info, c, "infiniband.mad.status", c.mad.get<"status">(),
                 c.status() == 7 ? "perhaps code 7 that was not moved to bits 4:2" : "they exclude each other");
}

void class_status(const MadContext& c, Findings& out) {
  if (!has_status(c)) return;
  const unsigned bits = c.status() >> 8;
  std::string_view field = "infiniband.mad.status.class";
  bool defined = bits == 0;
  switch (group_of(c)) {
    case MadGroup::sa:
      defined = bits <= 8;
      field = "infiniband.mad.status.sa";
      break;
    case MadGroup::devmgt:
      defined = (bits & ~0x83u) == 0;
      field = "infiniband.mad.status.devmgt";
      break;
    case MadGroup::subn:
      if (c.directed()) field = "infiniband.mad.status.reserved_class";
      break;
    case MadGroup::perf:
    case MadGroup::cm:
      break;
    default:
      return;
  }
  if (!defined)
    out.wrong_in(mad_statusclass.info, c, field, bits, fmt::format("{} has no such status", c.mad_class->prefix));
}

}  // namespace

bool is_method_of(MadGroup group, std::uint8_t code) {
  const auto one_of = [code](std::initializer_list<std::uint8_t> methods) {
    return std::ranges::find(methods, code) != methods.end();
  };
  switch (group) {
    case MadGroup::subn:
    case MadGroup::devmgt:
    case MadGroup::congestion:
      return one_of({mad_get, mad_set, mad_get_resp, mad_trap, mad_trap_repress});
    case MadGroup::sa:
      return one_of({mad_get, mad_set, mad_get_resp, mad_report, mad_report_resp, mad_get_table, mad_get_table_resp,
                     0x13, mad_get_multi, mad_get_multi_resp, 0x15, 0x95});
    case MadGroup::perf:
      return one_of({mad_get, mad_set, mad_get_resp});
    case MadGroup::bm:
      return one_of({mad_get, mad_set, mad_get_resp, mad_method_send, mad_trap, mad_trap_repress});
    case MadGroup::cm:
    case MadGroup::snmp:
      return one_of({mad_get, mad_set, mad_get_resp, mad_method_send});
    default:
      return true;
  }
}

// Only what is known to have fewer methods than its class. mad.md sections 3 to 5.
bool takes_method(MadGroup group, std::uint16_t attribute, std::uint8_t method) {
  if (group == MadGroup::subn) {
    if (method == mad_trap) return attribute == mad_notice;
    return method != mad_set || (attribute != smp_node_info && attribute != smp_vendor_diag);
  }
  if (group == MadGroup::sa && (method == mad_set || method == 0x15)) {
    constexpr std::uint16_t only_read[] = {0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
                                           0x18, 0x20, 0x33, 0x35, 0x36, 0x39};
    return std::ranges::find(only_read, attribute) == std::end(only_read);
  }
  constexpr std::uint16_t samples_result = 0x11, samples_result_extended = 0x1e;
  return group != MadGroup::perf || method != mad_set ||
         (attribute != samples_result && attribute != samples_result_extended);
}

const Rule mad_basever{
    .info = {.id = "MAD-BASEVER",
             .title = "A management datagram has BaseVersion 1",
             .source = "Linux drivers/infiniband/core/mad.c: validate_mad",
             .help = R"(All management datagrams of InfiniBand have base version 1. Linux drops others unread; what they
would mean is not known, so no other rule judges them. 0x80 belongs to Omni-Path and is passed over.

Usual causes: a datagram that was not filled in, a payload to queue pair 0 or 1 that is none, a test of a receiver.

Look next at: whether anybody answers it (MAD-BADVER), and what else the sender sends.)"},
    .mad = base_version};

const Rule mad_class_code{
    .info = {.id = "MAD-CLASS",
             .title = "The management class is one that exists",
             .kind = Class::anomaly,
             .severity = Severity::warning,
             .source = "rdma-core libibumad: umad_types.h",
             .help =
                 R"(Management classes are subnet management (0x01, 0x81), the seven of 0x03 to 0x08, vendors' (0x09 to
0x0F, 0x30 to 0x4F) and applications' (0x10 to 0x2F). This one is none of them, so no agent can be registered for it.

Usual causes: a byte order or offset mistake in a tool that makes datagrams; a class newer than this list.

Look next at: the bytes of the datagram, and whether it is answered.)"},
    .mad = management_class};

const Rule mad_classver{
    .info = {.id = "MAD-CLASSVER",
             .title = "The class version is the one of its class",
             .source = "Linux drivers/infiniband; rdma-core; jgunthorpe/python-rdma codegen",
             .help = R"(Subnet management, performance, baseboard and device management are at class version 1, subnet
administration and congestion control at 2. A violation for subnet management; elsewhere old software is known to send
others, and some managers take them. An answer may name the version it has when it refuses a question (code 1), and is
not blamed for a version that the question had. Messages of the connection manager: CM-VER.

Usual causes: a tool that uses one header for all classes, old software.

Look next at: the answer: its status says whether the version was accepted (MAD-BADVER).)"},
    .mad = class_version};

const Rule mad_method_code{
    .info = {.id = "MAD-METHOD",
             .title = "The method is one of its class",
             .source = "rdma-core libibumad; linux-rdma/opensm ib_types.h",
             .help = R"(Each class has its methods: subnet management Get, Set, Trap and TrapRepress and their answers,
performance management Get and Set, only subnet administration GetTable, GetMulti, Delete and Report. Another method
cannot be understood. Methods that other classes have in common are told as an anomaly, since newer revisions may
define them. Classes of vendors and applications have methods of their own and are not judged.

Usual causes: the wrong class in a datagram, the response bit set or cleared by mistake, a test of a receiver.

Look next at: the answer: it should refuse (MAD-BADMETHOD).)"},
    .mad = method};

const Rule mad_methattr{
    .info =
        {.id = "MAD-METHATTR",
         .title = "The attribute takes the method",
         .source = "jgunthorpe/python-rdma codegen, methods of each attribute",
         .help =
             R"(Some attributes can be read only: NodeInfo and VendorDiag of subnet management, most records of subnet
administration, results of samples. A question that wants to set one is told as an anomaly; an answer that reports
success is the violation: nothing can have been set. Traps are Notices.

Usual causes: a tool that writes back a whole record, a test of the answerer.

Look next at: the status of the answer; code 3 (or 2) is right.)"},
    .mad = method_of_attribute};

const Rule mad_qp0{
    .info = {.id = "MAD-QP0",
             .title = "Subnet management goes from QP 0 to QP 0",
             .source = "Linux drivers/infiniband/core/mad.c: validate_mad",
             .help = R"(Packets of classes 0x01 and 0x81 are for queue pair 0, the subnet management interface. On any
other queue pair Linux drops them. Another source queue pair is an anomaly: an answer would not find its way.

Usual causes: a tool that opened the wrong queue pair, a simulator (ibsim answers on any).

Look next at: the VL and the Q_Key of the packet, and who sent it.)"},
    .mad = smp_queue_pair};

const Rule mad_qp1{
    .info =
        {.id = "MAD-QP1",
         .title = "Other classes do not go to QP 0",
         .source = "Linux drivers/infiniband/core/mad.c: validate_mad",
         .help =
             R"(Queue pair 0 takes subnet management packets only. All other classes go to queue pair 1, or to the one
a manager has redirected to.

Usual causes: a destination queue pair that was left at 0.

Look next at: the class: a damaged class byte has the same effect.)"},
    .mad = gmp_queue_pair};

const Rule mad_smpgrh{
    .info = {.id = "MAD-SMPGRH",
             .title = "Subnet management packets have no GRH",
             .source = "CATC IBTrainer manual, TD_17.1.2.1.1: LNH 2",
             .help = R"(Subnet management stays in the subnet: its packets are local ones, LNH 2, without a global route
header. A receiver may drop others. Packets of subnet management on Ethernet: F-14.

Usual causes: an address handle with the GRH flag set.

Look next at: other packets of the same sender to QP 1, where a GRH is allowed.)"},
    .mad = smp_without_grh};

const Rule mad_rsvd{
    .info =
        {.id = "MAD-RSVD",
         .title = "Reserved bytes of the common header are 0",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "jgunthorpe/python-rdma codegen; linux-rdma/opensm ib_types.h",
         .help =
             R"(Bytes 18 and 19 of the header are reserved, bytes 6 and 7 are used by directed routes only. Receivers ignore
them today; a later revision may give them a meaning. Answers that repeat the bytes of their question are not judged,
nor are classes of vendors.

Usual causes: a header that was not cleared before it was filled in; a wrong offset.

Look next at: the fields beside: a 16-bit attribute written as 32 bits lands here.)"},
    .mad = reserved_header};

const Rule mad_rsvddata{
    .info =
        {.id = "MAD-RSVDDATA",
         .title = "Reserved bytes behind the attribute are 0",
         .kind = Class::anomaly,
         .severity = Severity::info,
         .source = "vectors captured from opensm, which leaves other bytes there",
         .help =
             R"(Bytes that neither the class nor the attribute uses are sent as 0. Nobody reads them, and subnet managers are
known to send what was in their memory; so only questions are looked at, and it is a remark.

Usual causes: a buffer that is used again without being cleared.

Look next at: the bytes: they may be secrets of the sender's memory, or a field of a newer revision.)"},
    .mad = reserved_data};

const Rule smp_lidrsvd{
    .info =
        {.id = "SMP-LIDRSVD",
         .title = "Reserved bytes of a LID routed SMP are 0",
         .kind = Class::anomaly,
         .severity = Severity::info,
         .source = "jgunthorpe/python-rdma codegen",
         .help =
             R"(A LID routed SMP uses its M_Key and 64 bytes of data; bytes 32 to 63 and 128 to 255 are reserved. Where a
directed route SMP has its path, this one has nothing. Only questions are looked at, since opensm leaves stray bytes in
its answers.

Usual causes: a directed route SMP whose class was changed, a buffer that was not cleared.

Look next at: bytes 128 to 191: a path there says what the packet was meant to be.)"},
    .mad = smp_reserved};

const Rule mad_reqstatus{
    .info = {.id = "MAD-REQSTATUS",
             .title = "A question has status 0",
             .kind = Class::anomaly,
             .severity = Severity::warning,
             .source = "IBTA vol. 1, section 13.4.7",
             .help = R"(The status is for answers. In a Get, Set, Send, Trap or Report it is 0 and ignored.

Usual causes: a datagram made out of an answer, without clearing its status; a response bit that was lost.

Look next at: the answer with the same transaction ID before this datagram.)"},
    .mad = request_status};

const Rule mad_statusrsvd{
    .info =
        {.id = "MAD-STATUSRSVD",
         .title = "The status uses no reserved bit or code",
         .source = "rdma-core libibumad umad_types.h; linux ib_mad.h; opensm ib_types.h",
         .help =
             R"(Of the 16 bits of the status, bits 7:5 are reserved, and of the codes in bits 4:2 the values 4, 5 and 6. An
asker cannot know what they say.

Usual causes: a status word in the wrong byte order, a code that was shifted by the wrong number of bits.

Look next at: the status as a whole: 0x1c00 is code 7 with its bytes exchanged.)"},
    .mad = reserved_status};

const Rule mad_statusbusy{
    .info =
        {.id = "MAD-STATUSBUSY",
         .title = "A status says one thing",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "rdma-core libibumad umad_types.h, meaning of the bits",
         .help =
             R"(Busy (bit 0) means: not processed, ask again. Redirect (bit 1) means: ask somebody else. A code in bits 4:2
means: refused. Two of them together contradict each other.

Usual causes: the raw value 7 instead of code 7 in bits 4:2, which is 0x001c.

Look next at: what the answerer says to other questions.)"},
    .mad = busy_status};

const Rule mad_statusclass{
    .info =
        {.id = "MAD-STATUSCLASS",
         .title = "The class has that status",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "linux-rdma/opensm ib_types.h; jgunthorpe/python-rdma",
         .help =
             R"(The upper byte of the status belongs to the class. Subnet administration knows 1 to 8, device management three
bits; subnet and performance management and the connection manager have none.

Usual causes: a status word in the wrong byte order; a code of another class.

Look next at: the lower byte, and the status exchanged byte for byte.)"},
    .mad = class_status};

}  // namespace rdmascope::check
