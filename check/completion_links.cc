#include "check/completion_links.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace rdmascope::check {
namespace {

using dissect::Completion;
using dissect::CqeFormat;

// What the names that devices give to operations mean on the wire.
struct Meaning {
  std::string_view name;
  Operation operation;
  bool immediate;
};
constexpr Meaning meanings[] = {
    {"SEND", Operation::send, false},
    {"SEND_IMM", Operation::send, true},
    {"SEND_INVAL", Operation::send, false},
    {"RDMA_WRITE", Operation::write, false},
    {"RDMA_WRITE_IMM", Operation::write, true},
    {"RDMA_READ", Operation::read, false},
    {"ATOMIC_CS", Operation::compare_swap, false},
    {"ATOMIC_FA", Operation::fetch_add, false},
    {"COMP_SWAP", Operation::compare_swap, false},
    {"FETCH_ADD", Operation::fetch_add, false},
    {"RESP_WR_IMM", Operation::write, true},
    {"RESP_SEND", Operation::send, false},
    {"RESP_SEND_IMM", Operation::send, true},
    {"RESP_SEND_INV", Operation::send, false},
    {"RECV", Operation::send, false},
    {"RECV_RDMA_WITH_IMM", Operation::write, true},
};

}  // namespace

void CompletionLinker::entry(const CompletionContext& c) {
  using Kind = Completion::Kind;
  const Completion& from = c.entry;
  Entry e;
  e.frame = c.packet.frame.number;
  // EFA and eRDMA have numbers of their own, and packets of their own.
  if (from.format != CqeFormat::efa && from.format != CqeFormat::erdma) e.qpn = from.qpn;
  if (e.qpn) {
    const std::uint32_t interface = c.packet.frame.interface_id.value_or(0);
    std::optional<std::uint32_t>& known_interface = interface_of_.try_emplace(*e.qpn, interface).first->second;
    if (known_interface != interface) known_interface.reset();
  }
  e.bytes = from.byte_count;
  e.send = from.send;
  e.failed = from.failed();
  e.ends_message = from.kind == Kind::completion || (from.failed() && from.fault != dissect::Fault::flushed);
  e.one_clock = c.record.get<"flags.simulated">();
  const auto known = std::ranges::find(meanings, from.operation, &Meaning::name);
  if (known != std::end(meanings)) {
    e.operation = known->operation;
    // Verbs has the same operation with and without it.
    if (from.format != CqeFormat::work_completion) e.immediate = known->immediate;
  } else if (!from.operation.empty()) {
    e.ends_message = false;  // nothing that goes over the wire
  }
  entries_.push_back(e);
}

void CompletionLinker::connection(const Connection& c) {
  if (c.merged_into) return;
  for (std::uint8_t side = 0; side < 2; ++side)
    if (c.qpn[side])
      ends_.push_back({c.id, side, c.address[side], *c.qpn[side], c.first_frame,
                       c.transport == dissect::Transport::ud || c.transport == dissect::Transport::rd});
}

// A number that two hosts or two devices have tells nothing; of a host that used it again the connection of that time
// counts.
const CompletionLinker::End* CompletionLinker::end_of(const Entry& e, std::span<const End> ends) const {
  if (!interface_of_.at(*e.qpn)) return nullptr;
  const End* found = nullptr;
  const auto begin = std::ranges::lower_bound(ends, *e.qpn, {}, &End::qpn);
  const auto end = std::ranges::upper_bound(ends, *e.qpn, {}, &End::qpn);
  for (auto at = begin; at != end; ++at) {
    if (at->address != begin->address || (at->datagrams && end - begin > 1)) return nullptr;
    if (end - begin == 1 || at->first_frame < e.frame) found = &*at;
  }
  return found;
}

std::uint64_t CompletionLinker::ending_frame(const Entry& e, const Message& m) {
  return e.send && m.answer_frame != 0 ? m.answer_frame : m.last_frame;
}

bool CompletionLinker::fits(const Entry& e, const Message& m, bool in_order) {
  if (in_order && ending_frame(e, m) >= e.frame) return false;
  if (e.operation && *e.operation != m.operation) return false;
  if (e.immediate && *e.immediate != m.has_immediate) return false;
  if (e.failed) return m.state != MessageState::complete || !e.send;
  if (e.send && (m.state == MessageState::open || m.state == MessageState::naked)) return false;
  const bool whole = m.has_first && m.has_last && !m.has_hole && m.state != MessageState::missed;
  const bool has_length = m.operation <= Operation::read;
  return !e.bytes || !whole || !has_length || *e.bytes == m.bytes;
}

// Both run the same way. The first message each entry may have, then the last one: where these are the same there is no
// other. Nothing if an entry has none: then the capture lacks some, and any may be shifted.
CompletionLinker::Match CompletionLinker::match(const Places& entries, const Places& messages,
                                                std::span<const MessageOf> list, bool in_order) const {
  Match out(entries.size());
  std::vector<std::size_t> first(entries.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    while (at < messages.size() && !fits(entries_[entries[i]], list[messages[at]].message, in_order)) ++at;
    if (at == messages.size()) return out;
    first[i] = at++;
  }
  at = messages.size();
  for (std::size_t i = entries.size(); i-- > 0;) {
    // There is one: the first.
    while (!fits(entries_[entries[i]], list[messages[at - 1]].message, in_order)) --at;
    if (--at == first[i]) out[i] = messages[at];
  }
  return out;
}

std::vector<CompletionLink> CompletionLinker::link(std::span<const MessageOf> messages) const {
  std::vector<End> ends = ends_;
  std::ranges::stable_sort(ends, {}, [](const End& e) { return std::pair(e.qpn, e.first_frame); });
  std::vector<CompletionLink> out(entries_.size());
  using Key = std::tuple<std::uint32_t, std::uint8_t, bool>;  // connection, side, send queue
  std::map<Key, Places> entries, ended;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    out[i].frame = e.frame;
    const End* const end = e.qpn ? end_of(e, ends) : nullptr;
    if (!end) continue;
    out[i].connection = end->connection;
    out[i].side = end->side;
    if (e.ends_message && !end->datagrams) entries[{end->connection, end->side, e.send}].push_back(i);
  }
  if (entries.empty()) return out;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const MessageOf& m = messages[i];
    const std::uint8_t other = m.side ^ 1;
    if (const auto own = entries.find({m.connection, m.side, true}); own != entries.end())
      ended[own->first].push_back(i);
    const bool is_received =
        m.message.operation == Operation::send || (m.message.operation == Operation::write && m.message.has_immediate);
    if (const auto theirs = entries.find({m.connection, other, false}); is_received && theirs != entries.end())
      ended[theirs->first].push_back(i);
  }
  for (const auto& [key, places] : entries) {
    Places& of = ended[key];
    std::ranges::sort(of, {}, [&](std::size_t i) { return std::pair(messages[i].message.first_frame, i); });
    const bool one_clock = std::ranges::all_of(places, [this](std::size_t i) { return entries_[i].one_clock; });
    const Match likely = match(places, of, messages, true);
    const Match certain = one_clock ? likely : match(places, of, messages, false);
    for (std::size_t i = 0; i < places.size(); ++i) {
      CompletionLink& link = out[places[i]];
      link.message = certain[i] ? certain[i] : likely[i];
      link.certain = certain[i].has_value();
      if (link.message) link.caused_by = ending_frame(entries_[places[i]], messages[*link.message].message);
    }
  }
  return out;
}

}  // namespace rdmascope::check
