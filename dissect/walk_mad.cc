// Steps of management datagrams: from the common header to the attribute.
#include <algorithm>

#include "dissect/headers.h"
#include "dissect/walk_state.h"

namespace rdmascope::dissect {
namespace {

// The message of a connection manager's attribute; nullptr: none, or none whose layout is known.
const Header* cm_message(std::uint16_t attribute) {
  static constexpr const Header* from_0x10[] = {
      &header<CmReq>,  &header<CmMra>,     &header<CmRej>,     &header<CmRep>, &header<CmRtu>, &header<CmDreq>,
      &header<CmDrep>, &header<CmSidrReq>, &header<CmSidrRep>, &header<CmLap>, &header<CmApr>};
  return attribute >= 0x10 && attribute - 0x10u < std::size(from_0x10) ? from_0x10[attribute - 0x10] : nullptr;
}

}  // namespace

Next step_mad(Walk& w) {
  const std::uint32_t end = w.pos + mad_bytes;
  const std::uint8_t* mad = w.take<Mad>();
  if (!mad) return {};
  const Header* last = is_cm_message(mad) ? cm_message(u16(mad + 16)) : nullptr;
  if (last) {
    const std::uint8_t* message = w.here();
    const bool asks_for_service = last == &header<CmReq> || last == &header<CmSidrReq>;
    if (!w.take(*last, last->bytes)) return {};
    if (asks_for_service && is_ip_cm(message)) {
      last = &header<IpCm>;
      if (!w.take<IpCm>()) return {};
    }
    if (w.end < end) w.event(w.claimed >= end ? Problem::cut : Problem::truncated, *last, w.pos, end - w.pos, w.left());
  }
  w.extend<Mad>(std::min(w.left(), end - w.pos));  // what there is: the last layer's private data, or class data
  return w.rest(header<Payload>);
}

}  // namespace rdmascope::dissect
