#include "check/follow.h"

#include <libdeflate.h>

#include <algorithm>

#include "check/follower.h"

namespace rdmascope::check {

// Where the packet stands in the order of sending. Most stacks number their IP packets; in a row that goes up by small
// steps, one that steps back was overtaken, and one with a number and PSN seen just before is the same frame again.
void Follower::note_order() {
  const auto ip = c_.packet.find<dissect::Ipv4>();
  if (!ip) return;
  const std::uint16_t id = static_cast<std::uint16_t>(ip->get<"id">());
  ip_id_ = id;
  std::uint16_t& highest = connection_.ip_id[c_.side];
  std::uint8_t& run = connection_.ip_id_run[c_.side];
  const std::uint32_t mark = ((c_.psn << 8 | c_.opcode_byte) * 2654435761u ^ id * 40503u) | 1;
  auto& recent = connection_.recent[c_.side];
  constexpr std::uint8_t enough = 16;
  if (connection_.ip_id_changes[c_.side] >= 2 && std::find(recent.begin(), recent.end(), mark) != recent.end()) {
    twice_ = true;
    if (connection_.twice++ == 0) connection_.first_twice_frame = c_.packet.frame.number;
    return;
  }
  recent[connection_.recent_at[c_.side]++ % recent.size()] = mark;
  constexpr int small_step = 4096;
  const int step = static_cast<std::int16_t>(id - highest);
  follows_directly_ = step == 1;
  if (step != 0 && connection_.ip_id_changes[c_.side] < 255) ++connection_.ip_id_changes[c_.side];
  if (step < 0 && step > -small_step && run >= enough) {
    late_ = true;
    return;
  }
  run = step > 0 && step < small_step ? static_cast<std::uint8_t>(std::min(run + 1, 255)) : std::uint8_t{0};
  highest = id;
  order_known_ = run >= enough;
}

std::uint32_t content_crc(const dissect::Packet& p) {
  const dissect::Crc& icrc = p.icrc();
  if (icrc.status == dissect::CrcStatus::absent || icrc.at > p.bytes.size()) return 0;
  const std::uint32_t from = icrc.bth + static_cast<std::uint32_t>(dissect::Bth::bytes);
  if (icrc.at < from) return 0;
  return libdeflate_crc32(1, p.bytes.data() + from, icrc.at - from) | 1;  // never 0
}

void follow(Context& c, Facts& facts, MessageSink* messages) {
  Follower follower(c, facts, messages);
  if (c.opcode.response)
    follower.response();
  else
    follower.request();
}

void finish_messages(Connection& connection, MessageSink* messages) {
  for (std::uint8_t side = 0; side < 2; ++side) {
    if (!connection.flow[side]) continue;
    Flow& flow = connection.flow[side].write();
    if (messages)
      for (std::size_t i = 0; i < flow.messages.size(); ++i) messages->message(connection, side, flow.messages[i]);
    flow.messages.clear();
  }
}

}  // namespace rdmascope::check
