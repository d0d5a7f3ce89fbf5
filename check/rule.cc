#include "check/rule.h"

#include <fmt/format.h>

#include "check/cdi.h"

namespace rdmascope::check {

std::string_view name(Class c) {
  constexpr std::string_view names[] = {"violation", "anomaly", "artifact"};
  return names[static_cast<std::size_t>(c)];
}

std::string_view name(Severity s) {
  constexpr std::string_view names[] = {"error", "warning", "info"};
  return names[static_cast<std::size_t>(s)];
}

void Findings::add(Connection* connection, Finding finding) {
  if (connection && connection->id != 0) {
    finding.connection = connection->id;
    finding.of = connection;
    ++connection->found[static_cast<std::size_t>(finding.kind)];
  }
  list_.push_back(std::move(finding));
}

void Findings::mismatch(const RuleInfo& rule, const Context& c, std::string_view field, std::uint64_t expected,
                        std::uint64_t actual, std::string text) {
  add(&c.connection, Finding{&rule, rule.kind, c.packet.frame.number, c.packet.frame.time_ns, 0, nullptr, c.side,
                             field, expected, actual, std::move(text)});
}

void Findings::mismatch_in(const RuleInfo& rule, const dissect::Packet& frame, std::string_view field,
                           std::uint64_t expected, std::uint64_t actual, std::string text) {
  add(nullptr, Finding{&rule, rule.kind, frame.frame.number, frame.frame.time_ns, 0, nullptr, 0, field, expected,
                       actual, std::move(text)});
}

void Findings::mismatch_in(const RuleInfo& rule, const CompletionContext& c, std::string_view field,
                           std::uint64_t expected, std::uint64_t actual, std::string text) {
  mismatch_in(rule, c.packet, field, expected, actual, std::move(text));
}

void Findings::wrong_in(const RuleInfo& rule, const CompletionContext& c, std::string_view field, std::uint64_t actual,
                        std::string text, Class kind) {
  add(nullptr, Finding{&rule, kind, c.packet.frame.number, c.packet.frame.time_ns, 0, nullptr, 0, field,
                       std::nullopt, actual, std::move(text)});
}

void Findings::mismatch_in(const RuleInfo& rule, const MadContext& c, std::string_view field, std::uint64_t expected,
                           std::uint64_t actual, std::string text) {
  mismatch(rule, c.transport, field, expected, actual, std::move(text));
}

void Findings::wrong_in(const RuleInfo& rule, const MadContext& c, std::string_view field, std::uint64_t actual,
                        std::string text, Class kind) {
  Finding f{&rule, kind, c.packet.frame.number, c.packet.frame.time_ns};
  f.side = c.transport.side;
  f.field = field;
  f.actual = actual;
  f.text = std::move(text);
  add(&c.transport.connection, std::move(f));
}

// Such a flow has no place among the connections: the text says whose it is.
void Findings::breach(const RuleInfo& rule, const CdiBroken& b) {
  Finding f{&rule, b.kind.value_or(rule.kind), b.frame, b.time_ns};
  f.side = static_cast<std::uint8_t>(b.by);
  f.field = b.field;
  f.expected = b.expected;
  f.actual = b.actual;
  f.text = b.text;
  if (b.flow) {
    ++b.flow->found[static_cast<std::size_t>(f.kind)];
    f.cdi_flow = b.flow->number;
    f.text = fmt::format("CDI {}, {} {}{}{}", b.flow->number, b.by == CdiRole::tx ? "transmitter" : "receiver",
                         to_text(b.flow->of(b.by).end), b.text.empty() ? "" : ": ", b.text);
  }
  add(nullptr, std::move(f));
}

void Findings::say(const RuleInfo& rule, const MadContext& c, std::string text) {
  say(rule, c.transport, std::move(text));
}

void Findings::say(const RuleInfo& rule, const Context& c, std::string text) {
  add(&c.connection, Finding{&rule,
                             rule.kind,
                             c.packet.frame.number,
                             c.packet.frame.time_ns,
                             0,
                             nullptr,
                             c.side,
                             {},
                             {},
                             {},
                             std::move(text)});
}

void Findings::say_of(const RuleInfo& rule, Connection& connection, std::uint8_t side, std::uint64_t frame,
                      std::int64_t time_ns, std::string text) {
  add(&connection, Finding{&rule, rule.kind, frame, time_ns, 0, nullptr, side, {}, {}, {}, std::move(text)});
}

const Rule* find_rule(std::string_view id) {
  for (const Rule* rule : all_rules())
    if (rule->info.id == id) return rule;
  return nullptr;
}

}  // namespace rdmascope::check
