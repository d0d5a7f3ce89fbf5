// The receiver: one endpoint for each transmitter, at most five. cdi-probe.md 3.4.
#include <algorithm>
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

constexpr std::size_t most_endpoints = 5;
constexpr std::uint32_t most_resets = 3;  // the last of them is not sent
constexpr std::uint8_t first_with_version = 3, first_with_one_port = 4;

}  // namespace

// How long a connection lives without a Ping.
std::int64_t CdiRxModel::ping_monitor() const { return (is<"cdi-rx-monitor-short">() ? 6'000 : 20'000) * ms; }

bool CdiRxModel::ignores(CdiFault fault) const {
  return (fault == CdiFault::bad_checksum && is<"cdi-rx-bad-checksum">()) ||
         (fault == CdiFault::bad_length && is<"cdi-rx-wrong-length">()) ||
         (fault == CdiFault::refused_version && is<"cdi-rx-takes-2-0-0">());
}

CdiModel::Endpoint* CdiRxModel::endpoint_of(const UdpPlace& peer, std::int64_t now_ns) {
  if (is<"cdi-rx-one-endpoint">() && !endpoints_.empty()) {
    endpoints_.front()->peer = peer;
    return endpoints_.front().get();
  }
  for (const std::unique_ptr<Endpoint>& e : endpoints_)
    if (e->peer == peer) return e.get();
  if (endpoints_.size() >= most_endpoints && !is<"cdi-rx-sixth-endpoint">()) return nullptr;
  Endpoint& e = *endpoints_.emplace_back(std::make_unique<Endpoint>());
  e.peer = peer;
  renew_address(e);
  enter(e, State::send_reset, now_ns, 0);  // R1
  return &e;
}

void CdiRxModel::take(const UdpPlace& from, const CdiMessage& m, std::int64_t now_ns) {
  UdpPlace peer = from;
  const bool old = m.version.probe < first_with_one_port;
  if ((old && !is<"cdi-rx-legacy-source-port">()) || is<"cdi-rx-header-port">()) peer.port = m.port;
  const std::size_t before = endpoints_.size();
  Endpoint* const found = endpoint_of(peer, now_ns);
  if (!found) return;
  Endpoint& e = *found;
  e.remote = m.adapter;
  const Named named{m.command, m.number};
  switch (m.command) {
    case cdi_reset:
      if (is<"cdi-rx-ignores-reset-connected">() && e.state == State::efa_connected_ping) return;
      if (is<"cdi-rx-number-restarts">()) e.number = 0;
      e.negotiated.reset();
      if (m.version.probe < first_with_version) e.negotiated = m.version;  // R5
      e.open = named;
      begin_reset(e, now_ns);  // R4, R6
      enter(e, State::resetting, now_ns, 1000 * ms);
      return;
    case cdi_protocol_version:
      e.negotiated = is<"cdi-rx-negotiates-own">()      ? options_.version
                     : is<"cdi-rx-negotiates-remote">() ? m.version
                                                        : negotiate(options_.version, m.version);
      e.open = named;
      begin_start(e, now_ns);
      enter(e, State::wait_for_start, now_ns, 1000 * ms);  // R12
      return;
    case cdi_ping:
      take_ping(e, named, endpoints_.size() > before, now_ns);
      return;
    default:  // R21
      if ((is<"cdi-rx-acks-acks">() && m.command == cdi_ack) ||
          (is<"cdi-rx-acks-connected">() && m.command == cdi_connected) ||
          (is<"cdi-rx-unknown-acked">() && cdi_command_name(m.command).empty()))
        acknowledge(e, named, current(e));
  }
}

// R17.
void CdiRxModel::take_ping(Endpoint& e, const Named& named, bool is_new, std::int64_t now_ns) {
  const bool connected = e.state == State::efa_connected_ping && e.delivered >= probe_packets;
  enter(e, State::efa_connected_ping, now_ns, ping_monitor());
  if (is<"cdi-rx-ping-not-acked">() || (is<"cdi-rx-ping-needs-connection">() && !connected)) return;
  if (is<"cdi-rx-ping-connects">() && is_new) return request(e, cdi_connected, false, current(e));
  if (is<"cdi-rx-ping-late">()) {
    e.late_acks.emplace_back(now_ns + scaled(700 * ms), named);
    return;
  }
  for (int times = is<"cdi-rx-ping-twice">() ? 2 : 1; times > 0; --times)
    acknowledge(e, named, is<"cdi-rx-ping-version">() ? options_.version : current(e));
}

// R8: whatever it was doing meanwhile.
void CdiRxModel::reset_ended(Endpoint& e, std::int64_t now_ns) {
  if (e.negotiated) {  // R9
    begin_start(e, now_ns);
    return enter(e, State::wait_for_start, now_ns, 1000 * ms);
  }
  if (!e.open) {  // R11
    e.count = 0;
    return enter(e, State::send_reset, now_ns, 0);
  }
  const Named named = *e.open;  // R10
  e.open.reset();
  for (int times = is<"cdi-rx-reset-not-acked">() ? 0 : is<"cdi-rx-reset-acked-twice">() ? 2 : 1; times > 0; --times)
    acknowledge(e, named, is<"cdi-rx-ack-v1">() ? current(e) : options_.version);
  enter(e, State::efa_probe, now_ns, (is<"cdi-rx-reset-early">() ? 2000 : 3000) * ms);
}

void CdiRxModel::start_ended(Endpoint& e, std::int64_t now_ns) {
  if (e.state == State::wait_for_start) start(e, now_ns);
}

// R13.
void CdiRxModel::start(Endpoint& e, std::int64_t now_ns) {
  if (!(is<"cdi-rx-stale-gid">() && e.open && e.open->command == cdi_protocol_version)) renew_address(e);
  e.started = true;
  e.delivered = 0;
  std::int64_t timer_ns = 2000 * ms;
  if (const std::optional<Named> named = std::exchange(e.open, std::nullopt)) {
    const bool of_reset = named->command == cdi_reset;
    if (of_reset ? !is<"cdi-rx-reset-not-acked">() : !is<"cdi-rx-version-not-acked">())
      acknowledge(e, *named, of_reset && is<"cdi-rx-legacy-version">() ? options_.version : current(e));
    if (of_reset && is<"cdi-rx-legacy-timer">()) timer_ns = 3000 * ms;
    if (!of_reset && is<"cdi-rx-version-timer">()) timer_ns = 4000 * ms;
  }
  enter(e, State::efa_probe, now_ns, timer_ns);
}

void CdiRxModel::deliver(std::uint32_t packets, std::int64_t now_ns) {
  for (const std::unique_ptr<Endpoint>& e : endpoints_) {
    if (!e->started) continue;
    e->delivered += packets;
    if (e->state == State::efa_probe && e->delivered >= (is<"cdi-rx-connected-early">() ? 1 : probe_packets))
      connect(*e, now_ns);  // R14
  }
}

// R16.
void CdiRxModel::connect(Endpoint& e, std::int64_t now_ns) {
  const CdiVersion version = is<"cdi-rx-connected-version">() ? options_.version : current(e);
  for (int times = is<"cdi-rx-connected-missing">() ? 0 : is<"cdi-rx-connected-twice">() ? 2 : 1; times > 0; --times)
    request(e, cdi_connected, is<"cdi-rx-connected-flag">(), version);
  enter(e, State::efa_connected_ping, now_ns, ping_monitor());
}

void CdiRxModel::step(Endpoint& e, std::int64_t now_ns) {
  switch (e.state) {
    case State::send_reset: {
      if (++e.count >= most_resets && !is<"cdi-rx-resets-for-ever">()) {  // R3
        e.state = State::destroy;
        return;
      }
      request(e, cdi_reset, is<"cdi-rx-reset-flag">(), is<"cdi-rx-reset-version">() ? options_.version : current(e));
      return enter(e, State::send_reset, now_ns, (is<"cdi-rx-reset-cadence">() ? 1000 : 2000) * ms);  // R2
    }
    case State::resetting:  // R7
      request(e, cdi_reset, true, current(e));
      return enter(e, State::resetting, now_ns, 2000 * ms);
    case State::wait_for_start:
      return start(e, now_ns);
    case State::efa_probe:  // R15
      e.count = is<"cdi-rx-silent-timeout">() ? most_resets : 0;
      return enter(e, State::send_reset, now_ns, 0);
    case State::efa_connected_ping:
      return look_for_life(e, now_ns);
    default:
      e.state = State::destroy;
  }
}

// R19. Payload over EFA would keep it alive (R18), but there is none.
void CdiRxModel::look_for_life(Endpoint& e, std::int64_t now_ns) {
  if (is<"cdi-rx-monitor-connected">()) request(e, cdi_connected, false, current(e));
  if (is<"cdi-rx-monitor-connected">() || is<"cdi-rx-monitor-never">())
    return enter(e, State::efa_connected_ping, now_ns, ping_monitor());
  e.state = State::destroy;
}

CdiAdapter CdiRxModel::data_address() const { return endpoints_.empty() ? CdiAdapter{} : endpoints_.back()->own; }

}  // namespace rdmascope::replay
