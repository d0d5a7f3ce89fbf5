// What both roles share: validation, sending, timers and what the local adapter takes its time for.
#include "replay/cdi_model.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace rdmascope::replay {
namespace {

using dissect::cdi_ack;

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
// How long all probe packets take where the data path is open.
constexpr std::int64_t data_path_ns = 100'000'000;

}  // namespace

CdiModel::CdiModel(const CdiModelOptions& options, Send send) : options_(options), send_(std::move(send)) {}

void CdiModel::datagram(const UdpPlace& from, std::span<const std::uint8_t> bytes, std::int64_t now_ns) {
  run(now_ns);
  CdiMessage message;
  const CdiFault fault = read_cdi(bytes, message);
  if (fault != CdiFault::none) {
    if (!ignores(fault)) return;
    // A mutant sees what would be there if it were right.
    std::vector<std::uint8_t> mended(bytes.begin(), bytes.end());
    if (mended.size() < dissect::Cdi::bytes) return;
    if (fault == CdiFault::refused_version) mended[1] = 1;
    const std::uint32_t size = dissect::cdi_control_bytes(mended.data());
    if (mended.size() < size) return;
    mended.resize(size);
    seal_cdi(mended);
    if (read_cdi(mended, message) != CdiFault::none) return;
  }
  take(from, message, now_ns);
  run(now_ns);
}

std::int64_t CdiModel::next_of(const Endpoint& endpoint) const {
  std::int64_t next = endpoint.due_ns;
  for (const std::int64_t at : endpoint.resets) next = std::min(next, at);
  for (const std::int64_t at : endpoint.starts) next = std::min(next, at);
  for (const auto& [at, ack] : endpoint.late_acks) next = std::min(next, at);
  return next;
}

std::optional<std::int64_t> CdiModel::next_event_ns() const {
  std::int64_t next = never;
  for (const std::unique_ptr<Endpoint>& e : endpoints_) next = std::min(next, next_of(*e));
  return next == never ? std::nullopt : std::optional(next);
}

void CdiModel::run(std::int64_t now_ns) {
  while (const std::optional<std::int64_t> next = next_event_ns()) {
    if (*next > now_ns) return;
    for (const std::unique_ptr<Endpoint>& e : endpoints_)
      if (next_of(*e) == *next) {
        run_endpoint(*e, *next);
        break;
      }
    std::erase_if(endpoints_, [](const std::unique_ptr<Endpoint>& e) { return e->state == State::destroy; });
  }
}

// The one thing that is due first. What the adapter has ended goes before a timer.
void CdiModel::run_endpoint(Endpoint& e, std::int64_t at_ns) {
  const auto take_from = [at_ns](std::vector<std::int64_t>& list) {
    const auto found = std::ranges::find(list, at_ns);
    if (found == list.end()) return false;
    list.erase(found);
    return true;
  };
  if (take_from(e.resets)) return reset_ended(e, at_ns);
  if (take_from(e.starts)) return start_ended(e, at_ns);
  for (auto late = e.late_acks.begin(); late != e.late_acks.end(); ++late)
    if (late->first == at_ns) {
      const Named named = late->second;
      e.late_acks.erase(late);
      return acknowledge(e, named, current(e));
    }
  if (e.state == State::efa_probe && options_.data_open && e.started && e.delivered == 0)
    return deliver(probe_packets, at_ns);
  step(e, at_ns);
}

std::int64_t CdiModel::scaled(std::int64_t ns) const {
  return static_cast<std::int64_t>(static_cast<double>(ns) * options_.scale);
}

void CdiModel::enter(Endpoint& e, State state, std::int64_t now_ns, std::int64_t timer_ns) {
  e.state = state;
  // A data path that is open lets Connected come as soon as all have arrived.
  const bool probes = state == State::efa_probe && options_.data_open && e.started && !options_.transmits;
  e.due_ns = now_ns + scaled(probes ? data_path_ns : timer_ns);
}

void CdiModel::begin_reset(Endpoint& e, std::int64_t now_ns) {
  e.started = false;
  e.resets.push_back(now_ns + scaled(options_.local_reset_ns));
}

void CdiModel::begin_start(Endpoint& e, std::int64_t now_ns) {
  e.starts.push_back(now_ns + scaled(options_.local_start_ns));
}

// Each start of the adapter gives it another address. Section 2.5.
void CdiModel::renew_address(Endpoint& e) {
  constexpr std::uint16_t first_qpn = 0x100;
  std::array<std::uint8_t, 16> gid = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, 0x55};
  gid[15] = options_.transmits ? 0x55 : 0x66;
  ++addresses_;
  e.own = efa_adapter(gid, static_cast<std::uint16_t>(first_qpn + addresses_), 0x12345678u + addresses_ * 0x01010101u);
}

// ---- sending

void CdiModel::transmit(Endpoint& e, CdiMessage message, const CdiVersion& version) {
  const bool is_ack = message.command == cdi_ack;
  const bool counts = !(is<"cdi-rx-acks-not-counted">() && is_ack && e.number > 0) &&
                      !(is<"cdi-tx-number-kept">() && e.open && e.open->command == message.command);
  if (counts) ++e.number;
  message.version = version;
  message.ip = ip_text(options_.own.ip);
  message.name = options_.name;
  message.adapter = is<"cdi-rx-zero-gid">() ? CdiAdapter{} : e.own;
  message.port = options_.own.port;
  message.number = e.number;
  if (is<"cdi-rx-number-stuck">()) message.number = 1;
  if (is<"cdi-rx-number-zero">() || is<"cdi-tx-number-zero">()) --message.number;
  if (is<"cdi-rx-port-in-header">() || is<"cdi-tx-port-in-header">()) ++message.port;
  if (is<"cdi-tx-no-ack-flag">()) message.requires_ack = 0;
  if (options_.transmits && message.requires_ack) e.open = Named{message.command, message.number};
  if (is<"cdi-tx-no-ack-flag">()) e.open = Named{message.command, message.number};
  std::vector<std::uint8_t> bytes = build(message);
  const std::uint32_t at = cdi_checksum_at(bytes.data());
  if (is<"cdi-rx-checksum-order">() || is<"cdi-tx-checksum-order">()) std::swap(bytes[at], bytes[at + 1]);
  if (is<"cdi-rx-checksum-place">() || is<"cdi-tx-checksum-place">()) {
    bytes[at + 2] = bytes[at + 1];
    bytes[at + 1] = std::exchange(bytes[at], std::uint8_t{0});
  }
  send_(e.peer, bytes, is<"cdi-rx-other-port">() && is_ack);
}

void CdiModel::request(Endpoint& e, std::uint32_t command, bool requires_ack, const CdiVersion& version) {
  CdiMessage message;
  message.command = command;
  message.requires_ack = requires_ack;
  transmit(e, std::move(message), version);
}

void CdiModel::acknowledge(Endpoint& e, const Named& named, const CdiVersion& version) {
  CdiMessage message;
  message.command = cdi_ack;
  message.ack_command = named.command;
  message.ack_number = named.number;
  if (is<"cdi-rx-ack-number">()) ++message.ack_number;
  if (is<"cdi-rx-ack-command">() && named.command == dissect::cdi_reset)
    message.ack_command = dissect::cdi_protocol_version;
  transmit(e, std::move(message), version);
}

}  // namespace rdmascope::replay
