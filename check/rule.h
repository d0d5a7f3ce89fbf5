// A rule: one file in check/rules, one line in all.h. It looks at a packet in its context, or at a connection when it
// ends, and reports findings. Whatever it must remember lives in the connection.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/completions.h"
#include "check/context.h"
#include "check/finding.h"
#include "check/mads.h"

namespace rdmascope::check {

// Of check/cdi.h.
enum class CdiBreach : std::uint8_t;
struct CdiBroken;

// Collects what the rules of one worker find.
class Findings {
 public:
  // About the packet of the context. `field` is a full field name in static storage ("infiniband.bth.psn").
  void mismatch(const RuleInfo& rule, const Context& c, std::string_view field, std::uint64_t expected,
                std::uint64_t actual, std::string text = {});
  void say(const RuleInfo& rule, const Context& c, std::string text);
  // About a frame in which no BTH was reached, so that it belongs to no connection.
  void mismatch_in(const RuleInfo& rule, const dissect::Packet& frame, std::string_view field, std::uint64_t expected,
                   std::uint64_t actual, std::string text = {});
  // About a completion queue entry.
  void mismatch_in(const RuleInfo& rule, const CompletionContext& c, std::string_view field, std::uint64_t expected,
                   std::uint64_t actual, std::string text = {});
  // The same of a value where many others would be right; the rule may know better which class it is.
  void wrong_in(const RuleInfo& rule, const CompletionContext& c, std::string_view field, std::uint64_t actual,
                std::string text, Class kind);
  void wrong_in(const RuleInfo& rule, const CompletionContext& c, std::string_view field, std::uint64_t actual,
                std::string text) {
    wrong_in(rule, c, field, actual, std::move(text), rule.kind);
  }
  // About a management datagram; the rule may know better which class it is. Without one right value: wrong_in.
  void mismatch_in(const RuleInfo& rule, const MadContext& c, std::string_view field, std::uint64_t expected,
                   std::uint64_t actual, std::string text = {});
  void wrong_in(const RuleInfo& rule, const MadContext& c, std::string_view field, std::uint64_t actual,
                std::string text, Class kind);
  void wrong_in(const RuleInfo& rule, const MadContext& c, std::string_view field, std::uint64_t actual,
                std::string text) {
    wrong_in(rule, c, field, actual, std::move(text), rule.kind);
  }
  void say(const RuleInfo& rule, const MadContext& c, std::string text);
  // Something that CDI's flow does not allow.
  void breach(const RuleInfo& rule, const CdiBroken& broken);
  // For an earlier packet, or the connection as a whole (frame 0).
  void say_of(const RuleInfo& rule, Connection& connection, std::uint8_t side, std::uint64_t frame,
              std::int64_t time_ns, std::string text);
  // Any finding, complete; counts it in its connection.
  void add(Connection* connection, Finding finding);

  std::vector<Finding>& list() { return list_; }

 private:
  std::vector<Finding> list_;
};

// Which packets a rule wants to see.
enum On : std::uint16_t {
  on_any = 1 << 0,       // every packet with BTH, also with a bad CRC
  on_request = 1 << 1,   // connected requests that a receiver would take
  on_response = 1 << 2,  // connected responses that a receiver would take
  on_datagram = 1 << 3,  // UD
  on_cnp = 1 << 4,
  on_good = 1 << 5,  // every packet with BTH that a receiver would take
};

struct Rule {
  RuleInfo info;
  std::uint16_t on = 0;
  void (*packet)(const Context&, Findings&) = nullptr;
  void (*end)(Connection&, Findings&) = nullptr;  // the connection's last call
  // Frames without BTH that the capture kept whole. Most are no RDMA at all: judge what is surely meant as such.
  void (*frame)(const dissect::Packet&, Findings&) = nullptr;
  // Completion queue entries whose layout is known, and READs that completed too early.
  void (*completion)(const CompletionContext&, Findings&) = nullptr;
  void (*early)(const EarlyCompletion&, Findings&) = nullptr;
  // Management datagrams that a receiver would take, and questions that were never answered.
  void (*mad)(const MadContext&, Findings&) = nullptr;
  void (*unanswered)(const MadQuestion&, Findings&) = nullptr;
  // What CDI's control flow and data may break is found where they are followed; this says which of it is this rule's.
  std::optional<CdiBreach> cdi{};
};

// Every rule, in the order of the catalogue.
std::span<const Rule* const> all_rules();
const Rule* find_rule(std::string_view id);

}  // namespace rdmascope::check
