// The transmitter: one endpoint, which asks for its connection until it has one. cdi-probe.md 3.3.
#include <utility>

#include "replay/cdi_model_roles.h"

namespace rdmascope::replay {

using dissect::cdi_ack;
using dissect::cdi_connected;
using dissect::cdi_ping;
using dissect::cdi_protocol_version;
using dissect::cdi_reset;
using namespace cdi_time;

namespace {

constexpr std::uint32_t most_sends = 40, most_waits = 5;  // of ProtocolVersion and Ping; for probe packets
constexpr std::uint8_t first_with_version = 3, first_with_one_port = 4, first_with_slow_ping = 5;
constexpr std::int64_t for_ever = std::int64_t{1} << 50;

}  // namespace

CdiTxModel::CdiTxModel(const CdiModelOptions& options, Send send) : CdiModel(options, std::move(send)) {
  Endpoint& e = *endpoints_.emplace_back(std::make_unique<Endpoint>());
  e.peer = options_.remote;
  renew_address(e);  // T1: Idle, and its timer is due
}

bool CdiTxModel::ignores(CdiFault fault) const {
  return (fault == CdiFault::bad_checksum && is<"cdi-tx-bad-checksum">()) ||
         (fault == CdiFault::bad_length && is<"cdi-tx-wrong-length">()) ||
         (fault == CdiFault::refused_version && is<"cdi-tx-takes-2-0-0">());
}

// Section 1.1.
bool CdiTxModel::is_of_receiver(const UdpPlace& from, const CdiMessage& m) const {
  if (is<"cdi-tx-any-source">()) return from.ip == options_.remote.ip;
  const bool old = m.version.probe < first_with_one_port && !is<"cdi-tx-legacy-source">();
  return UdpPlace{from.ip, old ? m.port : from.port} == options_.remote;
}

CdiVersion CdiTxModel::agreed(const CdiVersion& remote) const {
  if (is<"cdi-tx-negotiates-own">()) return options_.version;
  if (is<"cdi-tx-negotiates-remote">()) return remote;
  return negotiate(options_.version, remote);
}

void CdiTxModel::take(const UdpPlace& from, const CdiMessage& m, std::int64_t now_ns) {
  if (!is_of_receiver(from, m)) return;
  Endpoint& e = *endpoints_.front();
  e.remote = m.adapter;
  switch (m.command) {
    case cdi_ack:
      return take_ack(e, m, now_ns);
    case cdi_connected:
      if (e.state == State::efa_probe) {  // T12
        waits_ = 0;
        return enter(e, State::efa_tx_probe_acks, now_ns, 0);
      }
      if (is<"cdi-tx-connected-ignored">()) return;
      return enter(e, State::send_reset, now_ns, 0);  // T14
    case cdi_reset:                                   // T26
      if (is<"cdi-tx-reset-ignored">()) return;
      if (is<"cdi-tx-acks-reset">()) acknowledge(e, {m.command, m.number}, current(e));
      if (is<"cdi-tx-reset-at-once">()) return enter(e, State::send_reset, now_ns, 0);
      begin_reset(e, now_ns);
      if (!e.negotiated) e.negotiated = m.version;
      return enter(e, State::resetting, now_ns, 1000 * ms);
    default:  // T28
      return;
  }
}

// Does this Ack name the message that waits for one?
bool CdiTxModel::answers(const Endpoint& e, const CdiMessage& ack) const {
  if (!e.open) return false;
  const bool command = ack.ack_command == e.open->command || is<"cdi-tx-any-command">();
  const bool number = ack.ack_number == e.open->number || is<"cdi-tx-any-number">() ||
                      (is<"cdi-tx-stale-number">() && ack.ack_number < e.open->number);
  return command && number;
}

void CdiTxModel::take_ack(Endpoint& e, const CdiMessage& ack, std::int64_t now_ns) {
  if (!answers(e, ack)) {  // T27
    if (is<"cdi-tx-ignored-restarts">()) enter(e, e.state, now_ns, 2000 * ms);
    return;
  }
  switch (std::exchange(e.open, std::nullopt)->command) {
    case cdi_reset:
      first_target_ = ack.adapter;
      resets_ = 0;
      if (ack.version.probe < first_with_version && !is<"cdi-tx-legacy-version">()) {  // T3
        e.negotiated = is<"cdi-tx-legacy-own">() ? CdiVersion{1, 0, options_.version.probe} : ack.version;
        begin_start(e, now_ns);
        return enter(e, State::wait_for_start, now_ns, 1000 * ms);
      }
      e.negotiated.reset();  // T4
      e.count = 0;
      if (is<"cdi-tx-no-version">()) {
        e.negotiated = agreed(ack.version);
        begin_start(e, now_ns);
        return enter(e, State::wait_for_start, now_ns, 1000 * ms);
      }
      return enter(e, State::send_protocol_version, now_ns, is<"cdi-tx-version-late">() ? 1000 * ms : 0);
    case cdi_protocol_version:  // T7
      e.negotiated = agreed(ack.version);
      begin_start(e, now_ns);
      return enter(e, State::wait_for_start, now_ns, 1000 * ms);
    case cdi_ping: {  // T21
      const bool slow = current(e).probe >= first_with_slow_ping || is<"cdi-tx-ping-period-old">();
      return enter(e, State::efa_connected, now_ns, (is<"cdi-tx-ping-period">() ? 1000 : slow ? 5000 : 3000) * ms);
    }
    default:
      return;
  }
}

// T24, T25: whatever it was doing meanwhile.
void CdiTxModel::reset_ended(Endpoint& e, std::int64_t now_ns) { enter(e, State::wait_for_start, now_ns, 1000 * ms); }

// T8.
void CdiTxModel::start_ended(Endpoint& e, std::int64_t now_ns) {
  if (e.state == State::wait_for_start) enter(e, State::efa_start, now_ns, 0);
}

// T10, T11.
void CdiTxModel::probe(Endpoint& e, std::int64_t now_ns) {
  if (e.remote == CdiAdapter{}) return enter(e, State::efa_reset, now_ns, 2000 * ms);
  renew_address(e);
  target_ = is<"cdi-tx-stale-gid">() && first_target_ ? *first_target_ : e.remote;
  e.started = true;
  e.delivered = options_.data_open ? probe_packets : 0;
  if (is<"cdi-tx-ping-before-connected">()) request(e, cdi_ping, true, current(e));
  enter(e, State::efa_probe, now_ns, is<"cdi-tx-no-probe-timeout">() ? for_ever : 3000 * ms);
}

void CdiTxModel::deliver(std::uint32_t packets, std::int64_t now_ns) {
  Endpoint& e = *endpoints_.front();
  if (!e.started) return;
  e.delivered += packets;
  if (e.state == State::efa_tx_probe_acks && e.delivered >= probe_packets) enter(e, e.state, now_ns, 0);
}

void CdiTxModel::send_reset(Endpoint& e, State next, std::int64_t now_ns, std::int64_t timer_ns) {
  const bool silent = (is<"cdi-tx-no-resend">() && resets_ >= 1) || (is<"cdi-tx-gives-up">() && resets_ >= 4);
  if (!silent) request(e, cdi_reset, true, is<"cdi-tx-reset-version">() ? options_.version : current(e));
  ++resets_;
  if (is<"cdi-tx-version-early">()) {
    const std::optional<Named> reset = e.open;
    request(e, cdi_protocol_version, true, options_.version);
    e.open = reset;
  }
  enter(e, next, now_ns, timer_ns);
}

// T5, T6, T19, T20.
void CdiTxModel::repeat(Endpoint& e, std::uint32_t command, std::int64_t now_ns) {
  const bool ping = command == cdi_ping;
  const std::uint32_t most = is<"cdi-tx-version-retries">() && !ping    ? 5
                             : is<"cdi-tx-ping-retries">() && ping      ? 4
                             : is<"cdi-tx-ping-not-repeated">() && ping ? 1
                                                                        : most_sends;
  const bool endless = ping ? is<"cdi-tx-ping-for-ever">() : is<"cdi-tx-version-for-ever">();
  if (++e.count > most && !endless) return efa_reset(e, now_ns);
  const CdiVersion own = is<"cdi-tx-version-of-ack">() ? CdiVersion{1, 0, options_.version.probe} : options_.version;
  if (!(ping && is<"cdi-tx-no-ping">())) request(e, command, true, ping ? current(e) : own);
  const bool slow = ping ? is<"cdi-tx-ping-cadence">() : is<"cdi-tx-version-cadence">();
  enter(e, e.state, now_ns, (slow ? 1000 : 500) * ms);
}

// T23.
void CdiTxModel::efa_reset(Endpoint& e, std::int64_t now_ns) {
  e.remote = CdiAdapter{};
  begin_reset(e, now_ns);
  send_reset(e, State::resetting, now_ns, 1000 * ms);
}

void CdiTxModel::step(Endpoint& e, std::int64_t now_ns) {
  const std::int64_t again_ns = (is<"cdi-tx-reset-cadence">() ? 1000 : 2000) * ms;
  switch (e.state) {
    case State::idle:
    case State::send_reset:
      return send_reset(e, State::send_reset, now_ns, again_ns);  // T2
    case State::wait_for_start:
    case State::resetting:
      return send_reset(e, e.state, now_ns, again_ns);  // T9
    case State::send_protocol_version:
      return repeat(e, cdi_protocol_version, now_ns);
    case State::efa_start:
      return probe(e, now_ns);
    case State::efa_tx_probe_acks:
      if (e.delivered >= probe_packets || is<"cdi-tx-probe-not-counted">())  // T15
        return enter(e, State::efa_connected, now_ns, is<"cdi-tx-ping-late">() ? 1000 * ms : 0);
      if (++waits_ >= most_waits) return efa_reset(e, now_ns);  // T17
      return enter(e, e.state, now_ns, 100 * ms);               // T16
    case State::efa_connected:                                  // T18
      e.count = 0;
      return enter(e, State::efa_connected_ping, now_ns, 0);
    case State::efa_connected_ping:
      return repeat(e, cdi_ping, now_ns);
    case State::efa_probe:  // T13
    case State::efa_reset:
    default:
      return efa_reset(e, now_ns);
  }
}

CdiAdapter CdiTxModel::data_address() const { return target_; }

// ---- either

std::unique_ptr<CdiModel> make_cdi_model(const CdiModelOptions& options, CdiModel::Send send) {
  CdiModelOptions own = options;
  const std::string_view role = options.transmits ? "cdi-tx-" : "cdi-rx-";
  if (own.mutant != 0 && !cdi_mutants[own.mutant - 1].name.starts_with(role)) own.mutant = 0;
  if (options.transmits) return std::make_unique<CdiTxModel>(own, std::move(send));
  return std::make_unique<CdiRxModel>(own, std::move(send));
}

}  // namespace rdmascope::replay
