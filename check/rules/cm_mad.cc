// Messages of the connection manager: each by itself, and in its exchange (check/cm.h). mad.md 7, 9.5.
#include "check/rules/mad.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr std::uint16_t attribute_req = 0x10, attribute_mra = 0x11, attribute_rep = 0x13, attribute_rtu = 0x14,
                        attribute_drep = 0x16, last_attribute = 0x1c;
constexpr std::uint8_t cm_class_version = 2;
constexpr std::uint64_t most_info = 72;  // bytes of additional information

bool is_cm(const MadContext& c) { return to_judge(c) && c.class_code() == mad_class_cm; }
bool is_message(const MadContext& c) { return is_cm(c) && c.method() == mad_method_send; }
// In an exchange that the capture has.
const CmFacts* cm_facts(const MadContext& c) {
  return is_message(c) && c.facts.cm && !c.facts.cm->captured_again ? &*c.facts.cm : nullptr;
}

void only_sent(const MadContext& c, Findings& out) {
  if (!is_cm(c) || c.method() == mad_method_send || c.status() != 0) return;
  if (c.attribute_id() >= attribute_req && c.attribute_id() <= last_attribute)
    out.mismatch_in(cm_send.info, c, "infiniband.mad.method", mad_method_send, c.method(),
                    fmt::format("of {}", name_of(cm_attributes, c.attribute_id())));
}

void version(const MadContext& c, Findings& out) {
  if (is_cm(c) && c.mad.get<"classversion">() != cm_class_version)
    out.mismatch_in(cm_ver.info, c, "infiniband.mad.classversion", cm_class_version, c.mad.get<"classversion">());
}

// "infiniband.cm.rep" "localcommid": the rows of all messages are called the same.
std::string_view id_field(std::uint16_t attribute, bool local) {
  switch (attribute) {
    case attribute_mra:
      return local ? "infiniband.cm.mra.localcommid" : "infiniband.cm.mra.remotecommid";
    case 0x12:
      return local ? "infiniband.cm.rej.localcommid" : "infiniband.cm.rej.remotecommid";
    case attribute_rep:
      return local ? "infiniband.cm.rep.localcommid" : "infiniband.cm.rep.remotecommid";
    case attribute_rtu:
      return local ? "infiniband.cm.rtu.localcommid" : "infiniband.cm.rtu.remotecommid";
    case 0x15:
      return local ? "infiniband.cm.dreq.localcommid" : "infiniband.cm.dreq.remotecommid";
    default:
      return local ? "infiniband.cm.drsp.localcommid" : "infiniband.cm.drsp.remotecommid";
  }
}

void ids(const MadContext& c, Findings& out) {
  const CmFacts* f = cm_facts(c);
  if (!f || !c.whole()) return;
  const View<CmRtu> message(c.bytes + Mad::bytes);
  const RuleInfo& rule = cm_commid.info;
  if (f->expected_local)
    return out.mismatch_in(rule, c, id_field(c.attribute_id(), true), *f->expected_local, message.get<"localcommid">(),
                           fmt::format("of the exchange that frame {} began", f->talk->req_frame));
  if (f->expected_remote)
    return out.mismatch_in(rule, c, id_field(c.attribute_id(), false), *f->expected_remote,
                           message.get<"remotecommid">(),
                           fmt::format("of the exchange that frame {} began", f->talk->req_frame));
  if (f->waiting)
    out.mismatch_in(
        rule, c, id_field(c.attribute_id(), false), f->waiting->active_id, message.get<"remotecommid">(),
        fmt::format("the REQ of frame {} waits, and none in the capture has this ID", f->waiting->req_frame));
}

void order(const MadContext& c, Findings& out) {
  const CmFacts* f = cm_facts(c);
  if (!f || !f->talk || !f->both_ways || f->expected_local || f->expected_remote) return;
  if (c.attribute_id() == attribute_rtu && f->from_active && f->talk->rep_frame == 0)
    out.say(cm_order.info, c, fmt::format("no REP to the REQ of frame {} is in the capture", f->talk->req_frame));
  if (c.attribute_id() == attribute_drep && !f->talk->dreq[f->from_active ? 1 : 0])
    out.say(cm_order.info, c,
            fmt::format("no DREQ for the connection of frame {} is in the capture", f->talk->req_frame));
}

void mtu(const MadContext& c, Findings& out) {
  if (!is_message(c)) return;
  const auto req = c.packet.find<CmReq>();
  if (req && (req->get<"pppmtu">() < 1 || req->get<"pppmtu">() > 5))
    out.wrong_in(cm_mtu.info, c, "infiniband.cm.req.pppmtu", req->get<"pppmtu">(), "1 to 5 are 256 to 4096 bytes");
}

void read_depth(const MadContext& c, Findings& out) {
  const CmFacts* f = cm_facts(c);
  if (!f || !f->talk || f->from_active) return;
  const auto rep = c.packet.find<CmRep>();
  if (rep && rep->get<"initdepth">() > f->talk->responder_resources)
    out.wrong_in(cm_reprr.info, c, "infiniband.cm.rep.initdepth", rep->get<"initdepth">(),
                 fmt::format("the REQ of frame {} offers {} responder resources", f->talk->req_frame,
                             f->talk->responder_resources));
}

void timeout(const MadContext& c, Findings& out) {
  const CmFacts* f = cm_facts(c);
  if (!f || !f->talk) return;
  const CmTalk& t = *f->talk;
  if (c.attribute_id() == attribute_req) {
    if (t.req_times > t.most_retries + 1u)
      out.say(
          cm_timeout.info, c,
          fmt::format("asked {} times since frame {}; MaxCMRetries is {}", t.req_times, t.req_frame, t.most_retries));
    return;
  }
  if (!f->wait_ns || t.response_timeout == 0) return;  // 0: not told
  // What the answerer may take, and the way there and back, which the ACK timeout covers.
  const std::int64_t allowed = (std::int64_t{4096} << t.response_timeout) + (std::int64_t{4096} << t.ack_timeout);
  if (*f->wait_ns > allowed)
    out.say(
        cm_timeout.info, c,
        fmt::format("{:.3f} ms after the last REQ; RemoteCMResponseTimeout {} and the way allow {:.3f} ms",
                    static_cast<double>(*f->wait_ns) / 1e6, t.response_timeout, static_cast<double>(allowed) / 1e6));
}

void information(const MadContext& c, Findings& out) {
  if (!is_message(c)) return;
  const auto judge = [&](std::string_view field, std::uint64_t length) {
    if (length > most_info) out.wrong_in(cm_rejlen.info, c, field, length, "there is room for 72 bytes");
  };
  if (const auto rej = c.packet.find<CmRej>()) judge("infiniband.cm.rej.rejinfolen", rej->get<"rejinfolen">());
  if (const auto apr = c.packet.find<CmApr>()) judge("infiniband.cm.apr.addinfolen", apr->get<"addinfolen">());
  if (const auto rep = c.packet.find<CmSidrRep>()) judge("infiniband.cm.sidr_rep.addinfolen", rep->get<"addinfolen">());
}

void ip_header(const MadContext& c, Findings& out) {
  if (!is_message(c)) return;
  const auto ip = c.packet.find<IpCm>();
  if (!ip) return;
  if (const auto major = ip->get<"majv">(); major != 0)
    return out.mismatch_in(cm_ipver.info, c, "infiniband.cm.req.ip_cm.majv", 0, major);
  if (const auto version = ip->get<"ipv">(); version != 4 && version != 6)
    out.wrong_in(cm_ipver.info, c, "infiniband.cm.req.ip_cm.ipv", version, "4 or 6");
}

}  // namespace

const Rule cm_send{
    .info =
        {.id = "CM-SEND",
         .title = "Messages of the connection manager are sent",
         .source = "Linux drivers/infiniband/core/mad.c: validate_mad",
         .help =
             R"(REQ, REP and the others are attributes 0x10 to 0x1C of class 0x07, with method Send; nobody answers them as a MAD, the
answer is another message. Get and Set of this class are about ClassPortInfo. Linux drops what breaks this.

Usual causes: a tool that makes its own messages with the wrong method.

Look next at: whether the other side reacts.)"},
    .mad = only_sent};

const Rule cm_ver{
    .info =
        {.id = "CM-VER",
         .title = "The connection manager has class version 2",
         .source = "Linux include/rdma/ib_cm.h: IB_CM_CLASS_VERSION",
         .help =
             R"(Messages of the connection manager are at class version 2 since IBTA 1.2. A receiver answers another one with REJ, reason
31, or drops it.

Usual causes: very old software; a header made for another class.

Look next at: the REJ that follows.)"},
    .mad = version};

const Rule cm_commid{
    .info =
        {.id = "CM-COMMID",
         .title = "Messages name their exchange by both communication IDs",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux include/rdma/ibta_vol1_c12.h",
         .help =
             R"(Each side chooses a communication ID and puts it in LocalCommID; the other side repeats it in RemoteCommID. Here one of the
two is not what the exchange has. The receiver will not find the connection, and answers with REJ or not at all. REQs
that the capture lacks are the other reason, where none of the IDs is known.

Usual causes: an ID in the wrong byte order; a message of an earlier connection; loss in the capture.

Look next at: REQ and REP of the exchange, and a REJ with reason 6.)"},
    .mad = ids};

const Rule cm_order{
    .info =
        {.id = "CM-ORDER",
         .title = "RTU follows REP, DREP follows DREQ",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core/cm.c, states",
         .help =
             R"(A connection is made by REQ, REP and RTU (MRA may stand between), and ended by DREQ and DREP. The message before this one
is not in the capture, although messages of both directions are. It was lost by the capture, or never sent.

Usual causes: loss in the capture; a peer that gave up waiting.

Look next at: data of the connection: if it flows, the exchange was complete.)"},
    .mad = order};

const Rule cm_mtu{
    .info =
        {.id = "CM-MTU",
         .title = "REQ names a path MTU that exists",
         .source = "Linux include/rdma/ibta_vol1_c12.h; ib_verbs.h: ib_mtu",
         .help =
             R"(PathPacketPayloadMTU is a code from 1 (256 bytes) to 5 (4096 bytes). With another one no queue pair can be set up.

Usual causes: the MTU in bytes instead of its code; a field that was not filled in.

Look next at: the REJ, reason 26.)"},
    .mad = mtu};

const Rule cm_reprr{
    .info =
        {.id = "CM-REPRR",
         .title = "REP asks for no more READs than REQ offers",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core/cma.c; cm.c",
         .help =
             R"(ResponderResources in REQ says how many READs and atomics its sender takes at a time; InitiatorDepth in REP says how many
the other side means to have under way. With more the responder refuses the one too many (NAK, invalid request).

Usual causes: a server that sets its depth without looking at the request.

Look next at: what both programs ask of rdma_connect and rdma_accept; NAKs of READs (R-10, Q-08).)"},
    .mad = read_depth};

const Rule cm_timeout{
    .info =
        {.id = "CM-TIMEOUT",
         .title = "A connection request is answered in time",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core/cm.c",
         .help =
             R"(REQ says how long it waits for an answer (RemoteCMResponseTimeout, and the way there and back) and how often it is
repeated (MaxCMRetries). The answer came later, or REQ was repeated more often. A server that needs longer sends MRA.

Usual causes: a server that is busy in accept; a listener that is not there; loss.

Look next at: the messages before the answer, and whether a second connection was made.)"},
    .mad = timeout};

const Rule cm_rejlen{
    .info =
        {.id = "CM-REJLEN",
         .title = "Additional information has at most 72 bytes",
         .source = "Linux include/rdma/ibta_vol1_c12.h",
         .help =
             R"(REJ, APR and SIDR_REP have room for 72 bytes of additional information and say how many of them count. Who trusts a larger
number reads private data as information.

Usual causes: the length of the private data written there; a length not shifted by one bit (REJ).

Look next at: the reason: it says what the information is.)"},
    .mad = information};

const Rule cm_ipver{
    .info =
        {.id = "CM-IPVER",
         .title = "RDMA CM says which IP it uses",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core/cma.c: cma_hdr",
         .help =
             R"(A REQ or SIDR_REQ for a service of RDMA CM begins its private data with a header of 36 bytes: version 0, IP version 4
or 6, source port, both addresses. The passive side takes the addresses of the connection from it.

Usual causes: a service ID of RDMA CM used without RDMA CM.

Look next at: the service ID and the addresses behind.)"},
    .mad = ip_header};

}  // namespace rdmascope::check
