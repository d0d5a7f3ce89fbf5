// The two probes by their messages: which state either is in, and what does not follow from what came before.
// cdi-probe.md 3.3 to 3.7 and 7.
#include <fmt/format.h>

#include <algorithm>

#include "check/cdi.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr std::int64_t ms = 1'000'000, s = 1'000 * ms;

// cdi-probe.md 3.2. Periods with the tolerance that schedulers need.
constexpr std::int64_t reset_shortest = 900 * ms, reset_longest = 2600 * ms, reset_answer = 2 * s,
                       retry_shortest = 450 * ms, retry_longest = 650 * ms, ping_answer = 500 * ms,
                       version_soon = 100 * ms, probe_longest = 3100 * ms, first_ping = 5500 * ms,
                       reset_after_reset = 3 * s;
constexpr std::uint8_t probe_with_version_request = 3, probe_with_acks = 4, probe_with_long_pings = 5;
constexpr unsigned version_requests_5 = 40, most_events = 64;
constexpr std::uint8_t unconfirmed_probe = 3;  // SDK 2.1: no public source

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

bool about(std::int64_t value, std::int64_t wanted) { return value >= wanted * 9 / 10 && value <= wanted * 11 / 10; }

// How often a Tx with this version asks before it resets.
unsigned most_pings(CdiVersion v) {
  constexpr unsigned probe_5 = 40, probe_4 = 5, older = 4;
  return v.probe >= probe_with_long_pings ? probe_5 : v.probe == probe_with_acks ? probe_4 : older;
}

}  // namespace

void CdiFlows::enter(CdiFlow& flow, CdiRole role, ProbeState state, std::int64_t now_ns) {
  CdiSide& side = flow.of(role);
  side.spent_ns[static_cast<std::size_t>(side.state)] += std::max<std::int64_t>(now_ns - side.state_ns, 0);
  side.state = state;
  side.state_ns = now_ns;
}

// A new event, or one more of the last kind.
CdiEvent& CdiFlows::tell(CdiFlow& flow, CdiEvent::Kind kind, const CdiMessage& m, bool join) {
  if (join && !flow.events.empty() && flow.events.back().kind == kind) {
    CdiEvent& last = flow.events.back();
    ++last.count;
    last.last_frame = m.frame;
    last.last_ns = m.time_ns;
    return last;
  }
  if (flow.events.size() == most_events) {
    // The latest says more than the middle: the one before it goes.
    flow.events.erase(flow.events.end() - 2);
    ++flow.events_left_out;
  }
  CdiEvent& event = flow.events.emplace_back();
  event.kind = kind;
  event.frame = event.last_frame = m.frame;
  event.time_ns = event.last_ns = m.time_ns;
  event.version = m.version;
  return event;
}

void CdiFlows::follow(CdiFlow& flow, CdiRole by, const CdiMessage& m, CdiContext& c) {
  const bool by_tx = by == CdiRole::tx;
  switch (m.command) {
    case cdi_reset:
      return by_tx ? tx_reset(flow, m) : rx_reset(flow, m);
    case cdi_protocol_version:
    case cdi_ping:
      if (by_tx) return m.command == cdi_ping ? tx_ping(flow, m) : tx_version(flow, m);
      broken(m.command == cdi_ping && flow.pings > 0 ? CdiBreach::both_ping : CdiBreach::direction, flow, by, m,
             "only a transmitter sends it");
      return;
    case cdi_connected:
      if (!by_tx) return rx_connected(flow, m);
      broken(CdiBreach::direction, flow, by, m, "only a receiver sends it");
      return;
    default:
      if (!by_tx) return acknowledge(flow, m, c);
      broken(flow.reset_by_rx != 0 && m.ack_command == cdi_reset ? CdiBreach::answer_to_rx_reset : CdiBreach::direction,
             flow, by, m, "only a receiver acknowledges");
  }
}

// What a side owed until now.
void CdiFlows::after_silence(CdiFlow& flow, CdiRole by, const CdiMessage& m, bool without_gap) {
  if (by == CdiRole::rx) return;
  if (flow.rx_reset_ns != 0) {
    const std::int64_t waited = m.time_ns - flow.rx_reset_ns;
    if (without_gap && (waited > reset_after_reset || m.command == cdi_ping))
      in_sequence(CdiBreach::answer_to_rx_reset, flow, by, m,
                  m.is_reset() ? fmt::format("{:.3f} s after the receiver's Reset", seconds(waited))
                               : "it goes on as if there had been none; it may not have arrived")
          .kind = Class::anomaly;
    flow.rx_reset_ns = 0;
  }
  flow.rx_resets = 0;
  if (flow.cycle.connected && !flow.cycle.pinged && without_gap && flow.connected_ns != 0 &&
      m.time_ns - flow.connected_ns > first_ping)
    in_sequence(CdiBreach::silent_after_connected, flow, by, m,
                fmt::format("the first word {:.3f} s after Connected", seconds(m.time_ns - flow.connected_ns)));
}

// --- Tx --------------------------------------------------------------------------------------------------------------

void CdiFlows::tx_reset(CdiFlow& flow, const CdiMessage& m) {
  CdiFlow::Cycle& cycle = flow.cycle;
  CdiSide& tx = flow.of(CdiRole::tx);
  const bool again = cycle.frame != 0 && !cycle.acked && cycle.version_frame == 0 && !cycle.connected;
  if (!previous_ && m.number <= 1 && (!m.version.has_v1_layout() || m.requires_ack != 1)) {
    broken(CdiBreach::opening, flow, CdiRole::tx, m,
           m.version.has_v1_layout()
               ? "its first Reset asks for no Ack"
               : fmt::format("its first Reset has version {}; SDKs begin with 1.0.x", to_text(m.version)))
        .kind = Class::anomaly;
  }
  // Its own timer, when nobody has spoken since the Reset before.
  const std::optional<CdiMessage>& heard = flow.rx().last;
  if (again && previous_ && previous_follows_ && previous_->is_reset() &&
      (!heard || heard->time_ns < previous_->time_ns)) {
    const std::int64_t period = m.time_ns - previous_->time_ns;
    if (period < reset_shortest || period > reset_longest)
      broken(CdiBreach::reset_period, flow, CdiRole::tx, m,
             fmt::format("{:.3f} s after the one before, instead of 2 s", seconds(period)));
  }
  if (!again && previous_ && previous_follows_ && flow.version_answer_missing()) {
    const std::uint32_t asked = cycle.version_requests;
    if (cycle.version_request.probe >= probe_with_long_pings && asked + 1 < version_requests_5 && flow.rx_resets == 0)
      in_sequence(
          CdiBreach::version_period, flow, CdiRole::tx, m,
          fmt::format("it gives up after {} ProtocolVersion without an Ack, not after {}", asked, version_requests_5));
  }
  const bool was_connected = cycle.connected;
  if (was_connected && cycle.pinged && previous_ && previous_follows_ && flow.reset_by_rx == 0) {
    const unsigned most = most_pings(flow.answers.agreed.value_or(m.version));
    const bool old = flow.answers.agreed.value_or(m.version).probe == probe_with_acks;
    if (flow.unanswered_pings == 0)
      in_sequence(CdiBreach::ping_retries, flow, CdiRole::tx, m,
                  "it gives up although every Ping was answered: its data path has failed, so look at EFA on its side");
    else if (flow.unanswered_pings + 1 < most && !(old && flow.unanswered_pings >= 2))
      in_sequence(
          CdiBreach::ping_retries, flow, CdiRole::tx, m,
          fmt::format("it gives up after {} Pings without an Ack, not after {}: its data path may have failed, too",
                      flow.unanswered_pings, most));
  }
  if (!again && !was_connected && flow.answers.version) gave_up_on_path(flow, m, CdiRole::tx);

  if (again) {
    ++cycle.resets;
  } else {
    if (cycle.frame != 0 || cycle.connected || cycle.version_frame != 0) {
      CdiEvent& event = tell(flow, CdiEvent::Kind::tx_reset, m);
      event.was_connected = was_connected;
      event.pinged = flow.unanswered_pings == 0;
      event.after_rx = flow.reset_by_rx != 0;
      event.count = std::max<std::uint32_t>(flow.unanswered_pings, 1);
    }
    cycle = {};
    cycle.frame = m.frame;
    cycle.resets = 1;
    flow.ping_ack_ns = 0;
  }
  tell(flow, CdiEvent::Kind::resets, m, true);
  cycle.reset_number = m.number;
  cycle.reset_ns = m.time_ns;
  cycle.reset_version = m.version;
  flow.unanswered_pings = 0;
  flow.reset_by_rx = 0;
  if (++flow.unanswered_resets == 1) flow.unanswered_reset_frame = m.frame;
  constexpr std::uint32_t too_many_resets = 4;
  if (flow.unanswered_resets == too_many_resets) no_answer(flow, m.time_ns);

  const ProbeState before = tx.state;
  const bool from_reset = before == ProbeState::resetting || before == ProbeState::wait_for_start;
  const bool from_work = before == ProbeState::efa_probe || before == ProbeState::efa_tx_probe_acks ||
                         before == ProbeState::efa_connected || before == ProbeState::efa_connected_ping ||
                         before == ProbeState::send_protocol_version;
  enter(flow, CdiRole::tx, from_work ? ProbeState::resetting : from_reset ? before : ProbeState::send_reset, m.time_ns);
  if (flow.rx().messages == 0) return;
  enter(flow, CdiRole::rx, flow.unanswered_resets > 1 ? ProbeState::unknown : ProbeState::resetting, m.time_ns);
}

// Three Resets and nothing came back.
void CdiFlows::no_answer(CdiFlow& flow, std::int64_t now_ns) {
  CdiMessage m;
  m.frame = flow.unanswered_reset_frame;
  m.time_ns = now_ns;
  broken(CdiBreach::no_answer, flow, CdiRole::rx, m,
         fmt::format("{} Resets since frame {}{}", flow.unanswered_resets, flow.unanswered_reset_frame,
                     flow.rx().messages == 0 ? " and not a word before" : ""));
}

void CdiFlows::tx_version(CdiFlow& flow, const CdiMessage& m) {
  CdiFlow::Cycle& cycle = flow.cycle;
  const auto wrong = [&](CdiBreach breach, std::string text) -> CdiBroken& {
    return in_sequence(breach, flow, CdiRole::tx, m, std::move(text));
  };
  if (!previous_ && m.number <= 1) {
    wrong(CdiBreach::opening, "it opens with ProtocolVersion, not with Reset");
  } else if (cycle.version_frame == 0 && cycle.frame != 0) {
    if (!cycle.acked && cycle.stale_ack)
      defer(flow, CdiRole::rx, CdiBreach::went_on_after_stale_ack, CdiRole::tx, m,
            fmt::format("the Ack was of a Reset before number {}", cycle.reset_number));
    else if (!cycle.acked)
      defer(flow, CdiRole::rx, CdiBreach::version_before_ack, CdiRole::tx, m,
            fmt::format("Reset #{} has no Ack yet", cycle.reset_number));
    else if (cycle.ack_version.probe < probe_with_version_request)
      wrong(CdiBreach::version_request,
            fmt::format("to a receiver of version {}, which has no such command", to_text(cycle.ack_version)));
    else if (m.time_ns - cycle.ack_ns > version_soon)
      wrong(CdiBreach::version_request, fmt::format("{:.3f} s after the Ack", seconds(m.time_ns - cycle.ack_ns))).kind =
          Class::anomaly;
    if (cycle.reset_version.has_v1_layout() && cycle.reset_version.probe != m.version.probe &&
        m.version.probe > unconfirmed_probe)
      wrong(CdiBreach::version_request, fmt::format("its Reset said probe version {}, this one says {}",
                                                    cycle.reset_version.probe, m.version.probe));
  } else if (previous_ && previous_follows_ && previous_->command == cdi_protocol_version) {
    const std::int64_t period = m.time_ns - previous_->time_ns;
    if (period < retry_shortest || period > retry_longest)
      wrong(CdiBreach::version_period, fmt::format("{:.3f} s after the one before, instead of 0.5 s", seconds(period)));
    if (cycle.version_requests == version_requests_5 + 1)
      wrong(CdiBreach::version_period, fmt::format("more than {} of them", version_requests_5));
  }
  if (cycle.version_frame == 0) cycle.version_frame = m.frame;
  ++cycle.version_requests;
  cycle.version_request = m.version;
  cycle.version_number = m.number;
  enter(flow, CdiRole::tx, ProbeState::send_protocol_version, m.time_ns);
  if (flow.rx().messages > 0 && m.version.probe >= probe_with_long_pings)
    enter(flow, CdiRole::rx, ProbeState::wait_for_start, m.time_ns);
}

void CdiFlows::tx_ping(CdiFlow& flow, const CdiMessage& m) {
  CdiFlow::Cycle& cycle = flow.cycle;
  const auto wrong = [&](CdiBreach breach, std::string text) -> CdiBroken& {
    return in_sequence(breach, flow, CdiRole::tx, m, std::move(text));
  };
  const CdiVersion version = flow.answers.agreed.value_or(m.version);
  if (!previous_ && m.number <= 1) {
    wrong(CdiBreach::opening, "it opens with Ping, not with Reset");
  } else if (cycle.frame != 0 && !cycle.connected) {
    defer(flow, CdiRole::rx, CdiBreach::ping_before_connected, CdiRole::tx, m,
          fmt::format("no Connected since the Reset in frame {}", cycle.frame));
  } else if (cycle.frame != 0 && !cycle.pinged) {
    if (cycle.acked && cycle.ack_version.probe >= probe_with_version_request && cycle.version_frame == 0)
      wrong(CdiBreach::no_renegotiation, fmt::format("no ProtocolVersion since the Reset in frame {}", cycle.frame));
  }
  if (cycle.connected && flow.answers.agreed && m.version != *flow.answers.agreed) {
    CdiBroken& b =
        wrong(CdiBreach::other_version,
              fmt::format("{} was agreed on in frame {}", to_text(*flow.answers.agreed), flow.answers.agreed_frame));
    b.field = "cdi.version_num";
  }
  if (previous_ && previous_follows_ && previous_->command == cdi_ping && cycle.pinged) {
    const std::int64_t since = m.time_ns - (flow.unanswered_pings == 0 ? flow.ping_ack_ns : previous_->time_ns);
    if (flow.unanswered_pings == 0) {
      const bool right =
          version.probe >= probe_with_long_pings ? about(since, 5 * s) : about(since, 3 * s) || about(since, s);
      if (!right)
        wrong(CdiBreach::ping_period, fmt::format("{:.3f} s after the Ack of the one before, instead of {} s",
                                                  seconds(since), version.probe >= probe_with_long_pings ? 5 : 3));
    } else {
      if (since < retry_shortest || since > retry_longest)
        wrong(CdiBreach::ping_retries,
              fmt::format("again {:.3f} s after the one before, instead of 0.5 s", seconds(since)));
      if (flow.unanswered_pings == most_pings(version))
        wrong(CdiBreach::ping_retries, fmt::format("Ping number {} without an Ack; it should have reset after {}",
                                                   flow.unanswered_pings + 1, most_pings(version)));
    }
  }
  cycle.pinged = true;
  ++flow.pings;
  if (++flow.unanswered_pings == 1) {
    flow.unanswered_frame = m.frame;
    flow.data_after_ping = 0;
    flow.told_data = false;
  }
  if (flow.unanswered_pings == 2) tell(flow, CdiEvent::Kind::pings_unanswered, m);
  if (flow.unanswered_pings > 2 && !flow.events.empty() &&
      flow.events.back().kind == CdiEvent::Kind::pings_unanswered) {
    flow.events.back().last_frame = m.frame;
    flow.events.back().last_ns = m.time_ns;
  }
  if (!flow.events.empty() && flow.events.back().kind == CdiEvent::Kind::pings_unanswered)
    flow.events.back().count = flow.unanswered_pings;
  enter(flow, CdiRole::tx, ProbeState::efa_connected_ping, m.time_ns);
}

// --- Rx --------------------------------------------------------------------------------------------------------------

// After the Ack of ProtocolVersion the probe packets should have come through: the control flow works, EFA does not.
void CdiFlows::gave_up_on_path(CdiFlow& flow, const CdiMessage& m, CdiRole by) {
  in_sequence(CdiBreach::no_connected, flow, by, m,
              fmt::format("{:.3f} s after the versions were agreed on, without a Connected",
                          seconds(m.time_ns - flow.answers.agreed_ns)));
  flow.answers = {};
  constexpr std::uint32_t too_many = 4;
  if (++flow.failed_cycles == too_many)
    broken(CdiBreach::no_path, flow, by, m, fmt::format("{} times in a row", too_many));
}

void CdiFlows::rx_reset(CdiFlow& flow, const CdiMessage& m) {
  const bool was_connected = flow.answers.connected;
  if (flow.answers.version && !was_connected) gave_up_on_path(flow, m, CdiRole::rx);
  if (m.requires_ack == 1)
    broken(CdiBreach::rx_reset_asks, flow, CdiRole::rx, m, "it asks for an Ack: its own reset took more than a second");
  constexpr std::uint32_t most = 2;
  if (++flow.rx_resets == most + 1 && m.version.probe >= probe_with_long_pings)
    broken(CdiBreach::rx_reset_count, flow, CdiRole::rx, m,
           fmt::format("{} in a row and no word of the transmitter", flow.rx_resets));
  CdiEvent& event = tell(flow, CdiEvent::Kind::rx_reset, m, true);
  event.was_connected |= was_connected;
  flow.answers = {};
  flow.rx_reset_ns = m.time_ns;
  flow.reset_by_rx = m.frame;
  flow.unanswered_resets = 0;
  enter(flow, CdiRole::rx, m.requires_ack == 1 ? ProbeState::resetting : ProbeState::send_reset, m.time_ns);
  enter(flow, CdiRole::tx, ProbeState::wait_for_start, m.time_ns);
}

void CdiFlows::rx_connected(CdiFlow& flow, const CdiMessage& m) {
  CdiFlow::Answers& a = flow.answers;
  const auto wrong = [&](CdiBreach breach, std::string text) -> CdiBroken& {
    return in_sequence(breach, flow, CdiRole::rx, m, std::move(text));
  };
  const bool agreed = a.agreed.has_value();
  if (a.connected) {
    wrong(CdiBreach::connected_again, "the transmitter will reset");
  } else if (!agreed && (a.reset || flow.rx().from_start)) {
    wrong(CdiBreach::early_connected, a.reset ? "the versions are not agreed on: ProtocolVersion has no Ack"
                                              : "no Reset of the transmitter has an Ack");
  } else if (agreed && m.time_ns - a.agreed_ns > probe_longest) {
    wrong(CdiBreach::no_connected,
          fmt::format("{:.3f} s after the versions were agreed on", seconds(m.time_ns - a.agreed_ns)));
  }
  if (agreed && m.version != *a.agreed)
    wrong(CdiBreach::other_version, fmt::format("{} was agreed on in frame {}", to_text(*a.agreed), a.agreed_frame))
        .field = "cdi.version_num";
  if (a.version && m.address != a.address)
    wrong(CdiBreach::address_changed, fmt::format("another than in the Ack of frame {}", a.agreed_frame));
  a.connected = true;
  flow.cycle.connected = true;
  flow.connected_ns = m.time_ns;
  flow.failed_cycles = 0;
  flow.unanswered_resets = 0;
  ++flow.times_connected;
  tell(flow, CdiEvent::Kind::connected, m);
  const bool waits_for_acks = a.agreed.value_or(m.version).probe >= probe_with_acks;
  const ProbeState tx = flow.tx().state;
  enter(flow, CdiRole::tx,
        tx != ProbeState::efa_probe && tx != ProbeState::unknown ? ProbeState::send_reset
        : waits_for_acks                                         ? ProbeState::efa_tx_probe_acks
                                                                 : ProbeState::efa_connected,
        m.time_ns);
  enter(flow, CdiRole::rx, ProbeState::efa_connected_ping, m.time_ns);
}

void CdiFlows::acknowledge(CdiFlow& flow, const CdiMessage& m, CdiContext& c) {
  const auto wrong = [&](CdiBreach breach, std::string text) -> CdiBroken& {
    CdiBroken& b = broken(breach, flow, CdiRole::rx, m, std::move(text));
    b.field = "cdi.ack.command";
    b.actual = m.ack_command;
    return b;
  };
  if (m.ack_command == cdi_connected || m.ack_command == cdi_ack) {
    wrong(CdiBreach::ack_of_answer, "nobody acknowledges that");
    return;
  }
  CdiSide& tx = flow.of(CdiRole::tx);
  const auto sent =
      std::find_if(tx.sent.rbegin(), tx.sent.rend(), [&](const CdiSent& known) { return known.number == m.ack_number; });
  // What it answers is not in the capture: its state goes on all the same.
  CdiSent* const answered = sent == tx.sent.rend() ? nullptr : &*sent;
  if (!answered) {
    // Ahead of all that was seen: the capture may lack it. Before all: it was before the capture.
    const auto ahead = tx.last ? static_cast<std::uint16_t>(m.ack_number - tx.last->number) : std::uint16_t{0};
    constexpr std::uint16_t half = 0x8000;
    if (tx.last && ahead > 0 && ahead < half)
      defer(flow, CdiRole::tx, CdiBreach::ack_of_nothing, CdiRole::rx, m,
            fmt::format("number {} was not sent; the last was {}", m.ack_number, tx.last->number));
  } else if (answered->command != m.ack_command) {
    wrong(CdiBreach::ack_of_nothing,
          fmt::format("number {} was {}", m.ack_number, name_of(cdi_commands, answered->command)))
        .expected = answered->command;
    return;
  } else {
    c.request_frame = answered->frame;
    if (answered->answer_frame != 0 && m.ack_command == cdi_ping) {
      broken(CdiBreach::ping_ack_count, flow, CdiRole::rx, m,
             fmt::format("Ping #{} has an Ack in frame {}", m.ack_number, answered->answer_frame));
      return;
    }
    if (answered->answer_frame == 0) answered->answer_frame = m.frame;
  }
  if (m.ack_command == cdi_reset) return ack_reset(flow, m, answered);
  if (m.ack_command == cdi_protocol_version) return ack_version(flow, m, answered);
  if (m.ack_command == cdi_ping) ack_ping(flow, m, answered);
}

void CdiFlows::ack_reset(CdiFlow& flow, const CdiMessage& m, const CdiSent* sent) {
  CdiFlow::Cycle& cycle = flow.cycle;
  CdiFlow::Answers& a = flow.answers;
  const std::int64_t took = sent ? m.time_ns - sent->time_ns : 0;
  if (took > reset_answer)
    broken(CdiBreach::late_reset_ack, flow, CdiRole::rx, m,
           fmt::format("{:.3f} s after it; the transmitter has sent another one", seconds(took)));
  const bool is_last = sent && cycle.frame != 0 && sent->number == cycle.reset_number;
  const bool has_request = m.version.probe >= probe_with_version_request;
  if (is_last) {
    const CdiVersion asked = cycle.reset_version;
    const auto wrong = [&](std::string text) {
      broken(CdiBreach::reset_ack_version, flow, CdiRole::rx, m, std::move(text)).field = "cdi.version_num";
    };
    if (asked.probe >= probe_with_version_request && has_request == m.version.has_v1_layout())
      wrong(fmt::format("{} in this layout", to_text(m.version)));
    else if (asked.probe < probe_with_version_request &&
             (has_request || m.version.version != asked.version || m.version.major != asked.major))
      wrong(fmt::format("the Reset said {}, and its sender has no ProtocolVersion to settle another", to_text(asked)));
  }
  a = {};
  a.reset = true;
  a.reset_version = m.version;
  flow.rx_resets = 0;
  flow.unanswered_resets = 0;
  if (!is_last) {
    cycle.stale_ack = cycle.frame != 0;
    enter(flow, CdiRole::rx, ProbeState::efa_probe, m.time_ns);
    return;
  }
  cycle.acked = true;
  cycle.ack_version = m.version;
  cycle.ack_ns = m.time_ns;
  tell(flow, CdiEvent::Kind::answered, m).longest_ns = took;
  if (!has_request) {
    a.agreed = m.version;
    a.agreed_ns = m.time_ns;
    a.agreed_frame = m.frame;
    tell(flow, CdiEvent::Kind::agreed_old, m);
  }
  enter(flow, CdiRole::tx, has_request ? ProbeState::send_protocol_version : ProbeState::efa_probe, m.time_ns);
  enter(flow, CdiRole::rx, ProbeState::efa_probe, m.time_ns);
}

void CdiFlows::ack_version(CdiFlow& flow, const CdiMessage& m, const CdiSent* sent) {
  CdiFlow::Answers& a = flow.answers;
  if (sent && flow.cycle.version_requests > 0 && sent->number == flow.cycle.version_number) {
    const CdiVersion asked = flow.cycle.version_request;
    const auto wrong = [&](std::string text) {
      broken(CdiBreach::version_ack_version, flow, CdiRole::rx, m, std::move(text)).field = "cdi.version_num";
    };
    if (a.reset) {
      const CdiVersion right = negotiate(a.reset_version, asked);
      if (m.version != right)
        wrong(fmt::format("{} and {} settle on {}, not on {}", to_text(a.reset_version), to_text(asked), to_text(right),
                          to_text(m.version)));
    } else if (std::pair(m.version.version, m.version.major) > std::pair(asked.version, asked.major)) {
      wrong(fmt::format("{} is more than the {} of the transmitter", to_text(m.version), to_text(asked)));
    }
  }
  a.version = true;
  flow.cycle.version_acked = true;
  a.agreed = m.version;
  a.agreed_ns = m.time_ns;
  a.agreed_frame = m.frame;
  a.address = m.address;
  tell(flow, CdiEvent::Kind::agreed, m);
  enter(flow, CdiRole::tx, ProbeState::efa_probe, m.time_ns);
  enter(flow, CdiRole::rx, ProbeState::efa_probe, m.time_ns);
}

void CdiFlows::ack_ping(CdiFlow& flow, const CdiMessage& m, const CdiSent* sent) {
  const CdiFlow::Answers& a = flow.answers;
  const std::int64_t took = sent ? m.time_ns - sent->time_ns : 0;
  if (took > ping_answer)
    broken(CdiBreach::late_ping_ack, flow, CdiRole::rx, m,
           fmt::format("{:.3f} s after it; the transmitter has sent another one", seconds(took)));
  for (CdiSent& earlier : flow.of(CdiRole::tx).sent) {
    if (!sent || &earlier == sent) break;
    if (earlier.command != cdi_ping || earlier.answer_frame != 0 || earlier.frame < flow.cycle.frame) continue;
    earlier.answer_frame = m.frame;  // told once
    if (previous_follows_)
      in_sequence(CdiBreach::ping_ack_count, flow, CdiRole::rx, m,
                  fmt::format("Ping #{} in frame {} has none", earlier.number, earlier.frame));
  }
  if (a.version && m.version != *a.agreed)
    in_sequence(CdiBreach::other_version, flow, CdiRole::rx, m,
                fmt::format("{} was agreed on in frame {}", to_text(*a.agreed), a.agreed_frame))
        .field = "cdi.version_num";
  if (a.version && m.address != a.address)
    in_sequence(CdiBreach::address_changed, flow, CdiRole::rx, m,
                fmt::format("another than in the Ack of frame {}", a.agreed_frame));
  const auto add = [took](std::int64_t& shortest, std::int64_t& longest, bool is_first) {
    shortest = is_first ? took : std::min(shortest, took);
    longest = is_first ? took : std::max(longest, took);
  };
  if (sent) {
    add(flow.shortest_ns, flow.longest_ns, flow.pongs++ == 0);
    flow.round_trip_ns += took;
    CdiEvent& event = tell(flow, CdiEvent::Kind::pings, m, true);
    add(event.shortest_ns, event.longest_ns, event.count == 1);
  }
  const std::optional<CdiMessage>& last = flow.tx().last;
  if (last && last->command == cdi_ping && last->number == m.ack_number) {
    flow.unanswered_pings = 0;
    flow.ping_ack_ns = m.time_ns;
    enter(flow, CdiRole::tx, ProbeState::efa_connected, m.time_ns);
  }
  enter(flow, CdiRole::rx, ProbeState::efa_connected_ping, m.time_ns);
}

// --- The end ---------------------------------------------------------------------------------------------------------

void CdiFlows::finish(std::int64_t end_ns) {
  broken_.clear();
  constexpr std::uint32_t enough_resets = 3;
  for (CdiFlow& flow : flows_) {
    if (flow.unanswered_resets == enough_resets && end_ns - flow.cycle.reset_ns > s) no_answer(flow, end_ns);
    CdiMessage m;
    m.time_ns = end_ns;
    if (flow.cycle.connected && !flow.cycle.pinged && flow.rx_reset_ns == 0 && flow.tx().messages > 0 &&
        end_ns - flow.connected_ns > first_ping)
      in_sequence(CdiBreach::silent_after_connected, flow, CdiRole::tx, m,
                  fmt::format("nothing in {:.3f} s after Connected, to the end of the capture",
                              seconds(end_ns - flow.connected_ns)))
          .kind = Class::anomaly;
    for (const CdiRole role : {CdiRole::tx, CdiRole::rx}) enter(flow, role, flow.of(role).state, end_ns);
  }
}

}  // namespace rdmascope::check
