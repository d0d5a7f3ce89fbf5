#include "check/lists.h"

#include <fmt/format.h>

#include <algorithm>

namespace rdmascope::check {

ConnectionRow row_of(const Connection& c) {
  ConnectionRow row;
  row.id = c.id;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::optional<std::uint32_t> qp = side == 0 && !c.qpn[0] ? c.ud_source_qp : c.qpn[side];
    row.end[side] = to_text(c.address[side]) + (qp ? fmt::format(" 0x{:06x}", *qp) : "");
  }
  row.ends = ends_of(c);
  row.transport = c.transport;
  row.paired = c.paired != PairedBy::nothing;
  row.paired_by = row.paired ? name(c.paired) : "";
  row.pmtu = c.pmtu;
  row.packets = c.packets;
  row.bytes = c.bytes;
  for (const auto& flow : c.flow) {
    row.messages += flow->message_count;
    row.completed += flow->completed;
    row.retransmitted += flow->retransmitted;
  }
  row.not_judged = c.not_judged;
  row.first_frame = c.first_frame;
  row.last_frame = c.last_frame;
  row.first_ns = c.first_ns;
  row.last_ns = c.last_ns;
  row.found = c.found;
  return row;
}

void Lists::finding(const Finding& f, const Connection* c) {
  while (c && c->merged_into) c = c->merged_into;
  tallies.add(f, c);
  if (findings.size() == most_findings)
    ++left_out;
  else
    findings.push_back({f.rule, f.kind, f.frame, c ? c->id : f.connection, f.cdi_flow, f.field, sentence(f, c)});
}

void Lists::ended(const Connection& c) {
  if (c.other_half_id != 0) {
    tallies.joined(c.other_half_id, c.id);
    halves_.emplace(c.other_half_id, c.id);
  }
  connections.push_back(row_of(c));
}

std::optional<std::uint32_t> Lists::whole_of(std::uint32_t id) const {
  const auto found = halves_.find(id);
  return found == halves_.end() ? std::nullopt : std::optional(found->second);
}

void Lists::settle() {
  std::ranges::sort(connections, {}, &ConnectionRow::id);
  for (FoundRow& f : findings) f.connection = whole_of(f.connection).value_or(f.connection);
}

}  // namespace rdmascope::check
