// Subnet administration, performance management, vendors' classes. mad.md 2.4, 4, 5, 9.5.
#include <bit>

#include "check/rules/mad.h"
#include "dissect/components.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr unsigned status_no_records = 3;

bool has_sa_header(const MadContext& c) {
  return to_judge(c) && c.sa() && c.size >= Mad::bytes + Rmpp::bytes + Sa::bytes;
}
View<Rmpp> rmpp(const MadContext& c) { return View<Rmpp>(c.bytes + Mad::bytes); }
View<Sa> sa(const MadContext& c) { return View<Sa>(c.bytes + Mad::bytes + Rmpp::bytes); }
bool is_segment(const MadContext& c) {
  return rmpp(c).get<"rmppflags.active">() && rmpp(c).get<"rmpptype">() == rmpp_data;
}

void offset(const MadContext& c, Findings& out) {
  if (!has_sa_header(c) || c.method() != mad_get_table_resp || c.status() != 0 || !is_segment(c)) return;
  const RuleInfo& rule = sa_offset.info;
  const auto value = static_cast<std::uint32_t>(sa(c).get<"attributeoffset">());
  const std::optional<MadStream>& stream = c.facts.stream;
  if (stream && stream->offset_known && !stream->ended && value != stream->offset)
    return out.mismatch_in(rule, c, "infiniband.sa.attributeoffset", stream->offset, value,
                           "as in the segments before");
  const std::uint32_t record = c.attribute ? c.attribute->bytes() : 0;
  if (record == 0 || rmpp(c).get<"segmentnumber">() != 1) return;
  // The length of all segments, where the first one tells it.
  const std::uint64_t length = rmpp(c).get<"payloadlength">();
  const bool several = length > Sa::bytes + record || (length == 0 && !rmpp(c).get<"rmppflags.last">());
  if (value * 8 < record && (value != 0 || several))
    out.mismatch_in(rule, c, "infiniband.sa.attributeoffset", (record + 7) / 8, value,
                    fmt::format("{} has {} bytes", attribute_name(c), record));
}

void no_records(const MadContext& c, Findings& out) {
  if (!has_sa_header(c) || c.method() != mad_get_table_resp || c.status() >> 8 != status_no_records || !is_segment(c))
    return;
  const auto length = rmpp(c).get<"payloadlength">();
  if (rmpp(c).get<"rmppflags.last">() && length > Sa::bytes)
    out.mismatch_in(sa_status.info, c, "infiniband.rmpp.payloadlength", std::uint64_t{Sa::bytes}, length,
                    "with status \"no records\"");
}

void mask_of_answer(const MadContext& c, Findings& out) {
  if (!has_sa_header(c) || !is_answer(c) || !c.facts.first_answer || c.status() != 0) return;
  if (const auto mask = sa(c).get<"componentmask">(); mask != c.facts.question->component_mask)
    out.mismatch_in(sa_compmask.info, c, "infiniband.sa.componentmask", c.facts.question->component_mask, mask,
                    fmt::format("as in frame {}", c.facts.question->frame));
}

void mask_of_question(const MadContext& c, Findings& out) {
  if (!has_sa_header(c) || c.facts.kind != MadFacts::Kind::request || !c.attribute || c.attribute->layers().empty())
    return;
  const std::uint64_t mask = sa(c).get<"componentmask">();
  if (mask == 0) return;
  const auto highest = static_cast<unsigned>(std::bit_width(mask)) - 1;
  Value title;
  if (!component_title(c.attribute->layers(), highest, title))
    out.wrong_in(sa_reservedmask.info, c, "infiniband.sa.componentmask", mask,
                 fmt::format("{} has no component {}", attribute_name(c), highest));
}

void vendor(const MadContext& c, Findings& out) {
  if (!to_judge(c) || c.class_code() < 0x30 || c.class_code() > 0x4f || c.facts.kind == MadFacts::Kind::rmpp) return;
  if (const auto header = c.packet.find<VendorMad>(); header && header->get<"oui">() == 0)
    out.wrong_in(vend_oui.info, c, "infiniband.vendor_mad.oui", 0, "so it is nobody's");
}

void port_select(const MadContext& c, Findings& out) {
  constexpr std::uint8_t all_ports = 255;
  if (!to_judge(c) || !is_success(c) || c.class_code() != mad_class_perf || !c.whole() || !c.facts.node) return;
  if (!c.attribute || c.attribute->group != MadGroup::perf) return;
  const MadNode& node = *c.facts.node;
  const std::uint8_t port = c.bytes[smp_data_at + 1];  // in all of them
  constexpr std::uint16_t samples_result = 0x11, samples_result_extended = 0x1e;
  if (c.attribute_id() == samples_result || c.attribute_id() == samples_result_extended) return;  // but these
  if (node.ports > 0 && port > node.ports && port != all_ports)
    out.wrong_in(pm_portsel.info, c, "infiniband.mad.status", c.mad.get<"status">(),
                 fmt::format("success for port {} of {}", port, node.ports));
}

}  // namespace

const Rule sa_offset{
    .info =
        {.id = "SA-OFFSET",
         .title = "Records of a table stand AttributeOffset apart",
         .source = "linux-rdma/opensm osm_sa.c; ib_types.h",
         .help =
             R"(AttributeOffset is the distance from one record to the next, in units of 8 bytes: at least what a record needs, and the
same in all segments of an answer. With a smaller one records overlap, and the asker reads rubbish from the second on.

Usual causes: a size in bytes divided by 4; a size rounded down (opensm does so for InformInfo, which is no table).

Look next at: the bytes of the first two records.)"},
    .mad = offset};

const Rule sa_status{
    .info =
        {.id = "SA-STATUS",
         .title = "A table without records is empty",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "rdma-core libibumad: umad_sa.h",
         .help =
             R"(Status "no records" means that nothing matches; a table with it has no more than its header of 20 bytes. An answer to
Get may bring back the record of the question.

Usual causes: a status that was left from an earlier answer.

Look next at: PayloadLength and the record behind the header.)"},
    .mad = no_records};

const Rule sa_compmask{
    .info =
        {.id = "SA-COMPMASK",
         .title = "An answer repeats the component mask",
         .kind = Class::anomaly,
         .severity = Severity::info,
         .source = "vectors captured from opensm",
         .help =
             R"(Answers of opensm have the ComponentMask of their question. Askers do not look at it, so this is a remark.

Usual causes: another subnet administration.

Look next at: whether the answer belongs to the question at all.)"},
    .mad = mask_of_answer};

const Rule sa_reservedmask{
    .info =
        {.id = "SA-RESERVEDMASK",
         .title = "The component mask names components of the record",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "linux-rdma/opensm ib_types.h: COMPMASK",
         .help =
             R"(Each bit of the ComponentMask stands for a component of the record, from bit 0 on. A bit behind the last component
selects nothing.

Usual causes: a mask of another record; a mask in the wrong byte order.

Look next at: the components by name in the tree of the packet.)"},
    .mad = mask_of_question};

const Rule vend_oui{
    .info =
        {.id = "VEND-OUI",
         .title = "A datagram of a vendor says whose it is",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core/mad.c: is_vendor_oui",
         .help =
             R"(Classes 0x30 to 0x4F belong to all vendors; bytes 37 to 39 hold the IEEE number of the one who defines the content. Linux
hands the datagram to the agent registered for it; 0 belongs to nobody.

Usual causes: a header that was not filled in.

Look next at: whether it is answered.)"},
    .mad = vendor};

const Rule pm_portsel{
    .info =
        {.id = "PM-PORTSEL",
         .title = "Counters are of a port that exists",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA vol. 1, section 16.1",
         .help =
             R"(PortSelect is a port of the node, or 255 for all of them. The answer reports success for a port beyond NumPorts, as
NodeInfo of that LID says.

Usual causes: an agent without a check; a LID that was given to another node, whose NodeInfo the capture lacks.

Look next at: NodeInfo of the LID.)"},
    .mad = port_select};

}  // namespace rdmascope::check
