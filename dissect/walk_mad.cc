// Steps of management datagrams: common header, header of the class, attribute. What follows what is in the tables of
// mad_attributes.cc; here is only how it follows. Nothing is an error that merely is not known: it stays bytes of the
// header before it. A segment of a long answer of the SA is read by itself: AttributeOffset and the segment's number
// say where its first whole record begins. mad.md 2, 10.5.
#include <algorithm>

#include "dissect/headers.h"
#include "dissect/mad_attributes.h"
#include "dissect/walk_state.h"

namespace rdmascope::dissect {
namespace {

// One MAD on its way through the walk.
struct MadWalk {
  Walk& w;
  const std::uint8_t* mad;
  std::uint32_t at, end;  // in the frame
  const Header* last = &header<Mad>;
  bool failed = false;  // a header does not fit; what is left is data

  bool take(const Header& h, std::uint32_t bytes) {
    failed = failed || !w.take(h, bytes);
    if (failed) return false;
    last = &h;
    return true;
  }
  bool take(const Header& h) { return take(h, h.bytes); }
  bool take_all(std::span<const Header* const> headers) {
    for (const Header* h : headers)
      if (!take(*h)) return false;
    return true;
  }

  // Bytes of the MAD that are there, from pos up to `to`.
  std::uint32_t there(std::uint32_t to) const { return std::min(w.end, to) > w.pos ? std::min(w.end, to) - w.pos : 0; }
  // What is left up to `to` goes to the last layer, whose rest it is.
  void extend(std::uint32_t to) {
    const std::uint32_t bytes = there(to);
    if (bytes == 0) return;
    w.p.extend_last(bytes);
    w.pos += bytes;
  }
  // What is left up to `to` means nothing.
  void reserved(std::uint32_t to) {
    if (const std::uint32_t bytes = there(to); bytes > 0 && !failed) take(header<MadReserved>, bytes);
  }
  bool all_zero(std::uint32_t bytes) const {
    return std::all_of(w.here(), w.here() + bytes, [](std::uint8_t b) { return b == 0; });
  }
};

// A message of the connection manager; its private data fill the MAD.
void take_cm_message(MadWalk& m, const MadAttribute& message) {
  Walk& w = m.w;
  const std::uint8_t* bytes = w.here();
  if (!m.take_all(message.layers())) return;
  const bool asks_for_service = m.last == &header<CmReq> || m.last == &header<CmSidrReq>;
  if (asks_for_service && is_ip_cm(bytes) && !m.take(header<IpCm>)) return;
  if (w.end < m.end)
    w.event(w.claimed >= m.end ? Problem::cut : Problem::truncated, *m.last, w.pos, m.end - w.pos, w.left());
  m.extend(m.end);
}

// The layout of a trap's details; nullptr: not known.
const Header* trap_details(std::uint64_t number) {
  switch (number) {
    case 64:
    case 65:
    case 66:
    case 67:
      return &header<Trap64>;
    case 128:
      return &header<Trap128>;
    case 129:
    case 130:
    case 131:
      return &header<Trap129>;
    case 144:
      return &header<Trap144>;
    case 145:
      return &header<Trap145>;
    case 256:
      return &header<Trap256>;
    case 257:
    case 258:
      return &header<Trap257>;
    case 259:
      return &header<Trap259>;
    default:
      return nullptr;
  }
}

bool take_notice(MadWalk& m) {
  const std::uint8_t* bytes = m.w.here();
  if (!m.take(header<Notice>)) return false;
  const Header* details = is_generic_notice(bytes) ? trap_details(View<Notice>(bytes).get<"trapnumber">()) : nullptr;
  m.failed = m.failed || (details ? !m.take(*details) : !m.w.extend<Notice>(notice_details_bytes));
  if (m.failed) return false;
  return !is_sa(m.mad) || m.take(header<NoticeIssuer>);
}

bool take_attribute(MadWalk& m, const MadAttribute& attribute) {
  return attribute.parts[0] == &header<Notice> ? take_notice(m) : m.take_all(attribute.layers());
}

void take_subn(MadWalk& m, const MadAttribute* attribute) {
  const std::uint32_t data_end = m.at + smp_data_at + smp_data_bytes;
  if (!attribute || attribute->layers().empty())
    m.extend(data_end);
  else if (!take_attribute(m, *attribute))
    return;
  if (!is_directed(m.mad)) return m.reserved(m.end);
  m.reserved(data_end);
  if (m.w.pos == data_end) m.take(header<SmpPaths>);
}

// Records one after the other, `stride` bytes each, of which the first `skip` of the first one are in the segment
// before. Stops where a record is nothing but zeros.
void take_records(MadWalk& m, std::span<const Header* const> record, std::uint32_t record_bytes, std::uint32_t stride,
                  std::uint32_t skip, std::uint32_t data_end) {
  Walk& w = m.w;
  if (skip > 0) {
    const std::uint32_t part = std::min(m.there(data_end), stride - skip);
    if (part > 0 && !m.take(header<SaRecordPart>, part)) return;
  }
  while (const std::uint32_t left = m.there(data_end)) {
    if (m.all_zero(std::min(left, record_bytes))) return;
    if (left < record_bytes) {
      m.take(header<SaRecordPart>, left);
      return;
    }
    const std::uint32_t next = w.pos + stride;
    if (!m.take_all(record)) return;
    m.reserved(std::min(next, data_end));
    if (!w.has_room()) return;
  }
}

void take_sa(MadWalk& m, const MadAttribute* attribute) {
  Walk& w = m.w;
  const View<Rmpp> rmpp(m.mad + Mad::bytes);
  const View<Sa> sa(m.mad + Mad::bytes + Rmpp::bytes);
  const std::uint8_t method = m.mad[3];
  const std::uint64_t type = rmpp.get<"rmpptype">();
  const bool active = rmpp.get<"rmppflags.active">() && type != 0;
  if (active && type != rmpp_data) return;  // acknowledges, stops or aborts: no record
  if (!attribute || attribute->layers().empty()) return m.extend(m.end);

  // The answer to GetMulti(MultiPathRecord) are paths.
  if (attribute->parts[0] == &header<MultiPathRecord> && method == mad_get_multi_resp)
    attribute = mad_attribute(MadGroup::sa, 0x0035);
  const std::span<const Header* const> record = attribute->layers();
  const std::uint32_t record_bytes = attribute->bytes();

  std::uint32_t data_end = m.end;
  std::uint64_t before = 0;  // bytes of the answer in earlier segments
  if (active) {
    before = (std::max<std::uint64_t>(rmpp.get<"segmentnumber">(), 1) - 1) * sa_data_bytes;
    if (rmpp.get<"rmppflags.last">()) {
      const std::uint64_t length = std::max<std::uint64_t>(rmpp.get<"payloadlength">(), Sa::bytes) - Sa::bytes;
      data_end = w.pos + static_cast<std::uint32_t>(std::min<std::uint64_t>(length, sa_data_bytes));
    }
  }
  if (method == mad_get_table_resp || method == mad_get_multi_resp) {
    const auto stride = static_cast<std::uint32_t>(sa.get<"attributeoffset">()) * 8;
    if (stride >= record_bytes)
      return take_records(m, record, record_bytes, stride, static_cast<std::uint32_t>(before % stride), data_end);
    // The distance of the records is not known: none, or the first one.
    if (before == 0 && m.there(data_end) >= record_bytes && !m.all_zero(record_bytes)) m.take_all(record);
    return;
  }
  if (before > 0) {
    if (const std::uint32_t part = m.there(data_end); part > 0) m.take(header<SaRecordPart>, part);
    return;
  }
  if (!take_attribute(m, *attribute)) return;
  if (m.last == &header<MultiPathRecord>) {
    const View<MultiPathRecord> paths(w.data + w.pos - MultiPathRecord::bytes);
    const auto gids = static_cast<std::uint32_t>(paths.get<"sgidcount">() + paths.get<"dgidcount">());
    m.extend(std::min(w.pos + gids * 16, data_end));
  }
}

}  // namespace

Next step_mad(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* mad = w.take<Mad>();
  if (!mad) return {};
  MadWalk m{w, mad, at, at + mad_bytes};
  const MadClass* c = mad_class(mad[1]);
  const MadAttribute* attribute = mad_attribute(mad);
  if (is_cm_message(mad) && attribute && !attribute->layers().empty()) {
    take_cm_message(m, *attribute);
    return m.failed ? Next{} : w.rest(header<Payload>);
  }
  for (const Header* h : c ? c->headers : decltype(c->headers){})
    if (h && !m.take(*h)) return {};
  const MadGroup group = c ? c->group : MadGroup::other;
  if (group == MadGroup::subn) {
    take_subn(m, attribute);
  } else if (group == MadGroup::sa) {
    take_sa(m, attribute);
  } else {
    const bool log = group == MadGroup::congestion && attribute && attribute->name == "CongestionLog";
    if (group == MadGroup::congestion && !log && !m.take(header<CongestionMgtMad>)) return {};
    if (attribute && !attribute->layers().empty())
      take_attribute(m, *attribute);
    else
      m.extend(m.end);
  }
  m.reserved(m.end);
  if (m.failed) return {};
  if (w.end < m.end && m.last != &header<Mad>)
    w.event(w.claimed >= m.end ? Problem::cut : Problem::truncated, *m.last, w.end, m.end - w.end, 0);
  return w.rest(header<Payload>);
}

}  // namespace rdmascope::dissect
