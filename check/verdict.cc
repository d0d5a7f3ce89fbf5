#include "check/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace rdmascope::check {
namespace {

constexpr std::size_t named_connections = 4;

std::size_t place_in_catalogue(const RuleInfo* info) {
  const auto rules = all_rules();
  return static_cast<std::size_t>(
      std::find_if(rules.begin(), rules.end(), [info](const Rule* rule) { return &rule->info == info; }) -
      rules.begin());
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}{}", count, count == 1 || plural.empty() ? singular : plural,
                     count != 1 && plural.empty() ? "s" : "");
}

std::string sentence(const Finding& f, const Connection* connection) {
  std::string out;
  if (f.frame != 0) {
    out = fmt::format("frame {}", f.frame);
    if (connection) out += fmt::format(", from {}", to_text(connection->address[f.side]));
    out += ": ";
  }
  out += words(f);
  return out;
}

std::string_view transport_name(dissect::Transport transport) {
  constexpr std::string_view names[] = {"RC", "UC", "RD", "UD", "CNP", "XRC", "vendor", "vendor"};
  return names[static_cast<std::size_t>(transport)];
}

std::string ends_of(const Connection& c) {
  const auto end = [&c](std::size_t side) {
    const std::optional<std::uint32_t> qp = side == 0 && !c.qpn[0] ? c.ud_source_qp : c.qpn[side];
    return to_text(c.address[side]) + (qp ? fmt::format(" 0x{:06x}", *qp) : "");
  };
  const bool both = c.paired != PairedBy::nothing || (c.packets[0] > 0 && c.packets[1] > 0);
  return fmt::format("{} {} {}", end(0), both ? "<->" : "->", end(1));
}

std::string verdict(const Totals& totals, const Tallies& tallies) {
  const auto ids = [&tallies](Class kind, bool remarks) {
    std::vector<std::string_view> out;
    for (const Tally* t : tallies.of(kind))
      if (remarks || t->rule->severity != Severity::info) out.push_back(t->rule->id);
    return fmt::format("{}", fmt::join(out, ", "));
  };
  std::string out;
  std::string packets;
  if (totals.rdma > 0 || totals.completions + totals.cdi == 0)
    packets = fmt::format("{} on {}", counted(totals.rdma, "RDMA packet"), counted(totals.connections, "connection"));
  if (totals.completions > 0)
    packets += fmt::format("{}{}", packets.empty() ? "" : " and in ",
                           counted(totals.completions, "completion queue entry", "completion queue entries"));
  if (totals.cdi > 0)
    packets += fmt::format("{}{}", packets.empty() ? "" : " and in ", counted(totals.cdi, "CDI control message"));
  if (totals.mads > 0) packets += fmt::format(" and in {}", counted(totals.mads, "management datagram"));
  const std::uint64_t violations = tallies.count(Class::violation), anomalies = tallies.count(Class::anomaly);
  if (violations > 0) {
    const std::size_t rules = tallies.rules(Class::violation);
    out = fmt::format(
        "VIOLATIONS: {} broken, {}; first {}", rules == 1 ? "1 rule was" : fmt::format("{} rules were", rules),
        violations == 1 ? "once" : fmt::format("{} times in all", violations), *tallies.first_violation());
  } else if (totals.nothing_to_judge()) {
    out = fmt::format("Nothing to judge: no RDMA packet in {}", counted(totals.frames, "frame"));
  } else if (tallies.unhealthy()) {
    out = fmt::format("No violation in {}, but not healthy: {}", packets, ids(Class::anomaly, false));
  } else if (anomalies > 0) {
    out = fmt::format("Clean: no violation in {}; {}", packets, counted(anomalies, "remark"));
  } else {
    out = fmt::format("Clean: no violation and no anomaly in {}", packets);
  }
  if (tallies.count(Class::artifact) > 0)
    out += fmt::format("; the capture itself has faults: {}", ids(Class::artifact, true));
  return out + '.';
}

// --- Counting --------------------------------------------------------------------------------------------------------

void Tallies::add(const Finding& f, const Connection* connection) {
  ++counts_[static_cast<std::size_t>(f.kind)];
  auto tally = std::find_if(tallies_.begin(), tallies_.end(),
                            [&f](const Tally& t) { return t.rule == f.rule && t.kind == f.kind; });
  if (tally == tallies_.end()) {
    Tally fresh;
    fresh.rule = f.rule;
    fresh.kind = f.kind;
    tally = tallies_.insert(tallies_.end(), std::move(fresh));
  }
  if (tally->examples.size() < examples_) tally->examples.push_back(sentence(f, connection));
  ++tally->count;
  if (f.frame != 0) {
    if (tally->first_frame == 0 || f.frame < tally->first_frame) tally->first_frame = f.frame;
    tally->last_frame = std::max(tally->last_frame, f.frame);
  }
  if (f.kind == Class::violation && !first_violation_)
    first_violation_ = f.frame != 0 ? fmt::format("in frame {} ({}, {})", f.frame, f.rule->id, f.rule->title)
                                    : fmt::format("on connection {} ({}, {})", f.connection, f.rule->id, f.rule->title);
  if (f.connection == 0 || tally->more_connections) return;
  std::vector<std::uint32_t>& on = tally->connections;
  if (std::find(on.begin(), on.end(), f.connection) != on.end()) return;
  if (on.size() < named_connections)
    on.push_back(f.connection);
  else
    tally->more_connections = true;
}

void Tallies::joined(std::uint32_t half, std::uint32_t id) {
  for (Tally& tally : tallies_) {
    std::vector<std::uint32_t>& on = tally.connections;
    const auto stale = std::find(on.begin(), on.end(), half);
    if (stale == on.end()) continue;
    if (std::find(on.begin(), on.end(), id) == on.end())
      *stale = id;
    else
      on.erase(stale);
  }
}

bool Tallies::unhealthy() const {
  return std::any_of(tallies_.begin(), tallies_.end(),
                     [](const Tally& t) { return t.kind == Class::anomaly && t.rule->severity != Severity::info; });
}

std::vector<const Tally*> Tallies::of(Class kind) const {
  std::vector<const Tally*> out;
  for (const Tally& t : tallies_)
    if (t.kind == kind) out.push_back(&t);
  std::sort(out.begin(), out.end(),
            [](const Tally* a, const Tally* b) { return place_in_catalogue(a->rule) < place_in_catalogue(b->rule); });
  return out;
}

}  // namespace rdmascope::check
