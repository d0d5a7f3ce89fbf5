#include "replay/cdi_tester.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dissect/headers.h"

namespace rdmascope::replay {
namespace {

constexpr std::int64_t ms = 1'000'000, least_tolerance_ns = 50 * ms, settle_ns = 20 * ms;
// A receiver holds five endpoints. One that was reset and hears no more is gone after 3 + 2 + 2 s. cdi-probe.md 3.4.
constexpr std::size_t most_endpoints = 5;
constexpr std::int64_t forgotten_ns = 7'200 * ms;
// Whatever state a transmitter is in, it sends something within 5 s, and a Reset within 1 s of one. Section 3.3.
constexpr std::int64_t longest_silence_ns = 6'000 * ms, reset_answer_ns = 1'500 * ms;

std::string milliseconds(std::int64_t ns) { return fmt::format("{:g} ms", static_cast<double>(ns) / 1e6); }

}  // namespace

CdiTester::CdiTester(Tester& tester) : tester_(tester), target_(*tester.dut().info().cdi) {
  tester_.read_as_cdi(target_.port);
}

std::int64_t CdiTester::scaled(std::int64_t ns) const {
  return static_cast<std::int64_t>(static_cast<double>(ns) * target_.scale);
}

CdiTester::Peer& CdiTester::open(bool transmits, std::optional<std::uint16_t> port, std::string name,
                                 std::uint32_t ports) {
  if (transmits == target_.transmits)
    tester_.stop(Verdict::not_applicable,
                 fmt::format("{} is a {}, too", tester_.dut().info().name, transmits ? "transmitter" : "receiver"));
  if (transmits) wait_for_room(ports);
  const Result<std::uint16_t> opened =
      tester_.wire().open_port(port.value_or(transmits ? std::uint16_t{0} : target_.port));
  if (!opened) tester_.stop(Verdict::error, opened.error());
  Peer& out = *peers_.emplace_back(std::make_unique<Peer>());
  out.id = peers();
  out.transmits = transmits;
  out.own = {ipv4_of(tester_.wire().address()), *opened};
  if (transmits) out.device = UdpPlace{target_.ip, target_.port};
  out.name = std::move(name);
  constexpr std::array<std::uint8_t, 16> gid = {0xfe, 0x80, 0,    0,    0,    0,    0,    0,
                                                0x02, 0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, 0x77};
  out.adapter =
      efa_adapter(gid, static_cast<std::uint16_t>(0x200 + out.id), static_cast<std::uint32_t>(tester_.random()) | 1);
  tester_.tell(Event::Kind::note,
               fmt::format("open UDP port {} as {}", *opened, transmits ? "transmitter" : "receiver"));
  return out;
}

// What earlier tests left at the receiver would make it refuse the next port.
void CdiTester::wait_for_room(std::uint32_t ports) {
  if (!target_.left) return;
  std::vector<std::int64_t>& left = *target_.left;
  const std::size_t own = static_cast<std::size_t>(
      std::ranges::count(peers_, true, [](const auto& p) { return p->transmits && p->answered; }));
  while (true) {
    std::erase_if(left, [&](std::int64_t gone_ns) { return gone_ns <= tester_.wire().now_ns(); });
    if (left.empty() || left.size() + own + ports <= most_endpoints) return;
    tester_.wait(*std::ranges::min_element(left) - tester_.wire().now_ns());
  }
}

// ---- frames

UdpOfFrame CdiTester::datagram(std::uint64_t frame) const {
  return udp_of(tester_.frames()[frame - 1].bytes).value_or(UdpOfFrame{});
}

CdiFault CdiTester::message(std::uint64_t frame, CdiMessage& out) const {
  return read_cdi(datagram(frame).payload, out);
}

std::string CdiTester::line(std::uint64_t frame) const {
  CdiMessage m;
  const CdiFault fault = message(frame, m);
  if (fault == CdiFault::too_short || fault == CdiFault::refused_version)
    return fmt::format("{} bytes, {}", datagram(frame).payload.size(), text(fault));
  const auto named = [](std::uint32_t command) {
    const std::string_view name = cdi_command_name(command);
    return name.empty() ? fmt::format("command {}", command) : std::string(name);
  };
  std::string out = fmt::format("{} #{}", named(m.command), m.number);
  if (fault != CdiFault::none) return fmt::format("{}, {}", named(m.command), text(fault));
  if (m.command == dissect::cdi_ack) out += fmt::format(" of {} #{}", named(m.ack_command), m.ack_number);
  out += ", " + to_text(m.version);
  return m.requires_ack ? out + ", asks for Ack" : out;
}

std::optional<std::uint64_t> CdiTester::next(Peer& peer, std::int64_t deadline_ns) {
  while (peer.arrived.empty()) {
    const std::uint64_t frame = tester_.next_datagram(deadline_ns);
    if (frame == 0) return std::nullopt;
    const UdpOfFrame udp = datagram(frame);
    const auto to = std::ranges::find_if(peers_, [&](const auto& p) { return p->own.port == udp.to.port; });
    if (to == peers_.end()) {
      tester_.tell(Event::Kind::note, "passed over: " + line(frame), nullptr, frame);
      continue;
    }
    Peer& of = **to;
    of.answered = true;
    of.own.ip = udp.to.ip;
    if (!of.device) of.device = udp.from;
    of.arrived.push_back(frame);
    tester_.tell(Event::Kind::received, line(frame), nullptr, frame);
  }
  return peer.arrived.front();
}

std::uint64_t CdiTester::take(Peer& peer, std::uint64_t frame, const std::string& step) {
  peer.arrived.pop_front();
  tester_.set_step(frame, step);
  return frame;
}

// ---- sending

// Debug builds of the SDK abort when they get a message of their own role, or an unknown one. Some transmitters crash
// when nobody is at the adapter that an Ack names, if it is one they take. cdi-probe.md 3.3 row T28, 3.4 row R21, 8.
void CdiTester::keep_from_harm(const Peer& peer, const CdiDraft& draft) const {
  using namespace dissect;
  if (tester_.options().destructive || target_.data) return;
  const CdiMessage& m = draft.message;
  const bool of_tx = m.command == cdi_reset || m.command == cdi_ping || m.command == cdi_protocol_version;
  const bool of_rx = m.command == cdi_reset || m.command == cdi_connected || m.command == cdi_ack;
  if (peer.transmits ? !of_tx : !of_rx)
    tester_.stop(Verdict::not_applicable, "this message may crash the device; --destructive sends it");
  const bool damaged = draft.cut > 0 || draft.extend > 0 || draft.checksum_xor != 0 || m.version == cdi_refused ||
                       peer.own.port != target_.port || draft.port.value_or(peer.own.port) != peer.own.port;
  CdiMessage answered;
  if (m.command != cdi_ack || damaged || !draft.to || message(*draft.to, answered) != CdiFault::none) return;
  if (answered.command != m.ack_command || answered.number != m.ack_number) return;
  constexpr std::uint8_t first_with_version = 3;
  if (m.ack_command == cdi_protocol_version || (m.ack_command == cdi_reset && m.version.probe < first_with_version))
    tester_.stop(Verdict::not_applicable,
                 "this Ack names an adapter where nobody is, which may crash the device; --destructive sends it");
}

std::uint64_t CdiTester::send(Peer& peer, const CdiDraft& draft) {
  keep_from_harm(peer, draft);
  std::optional<UdpPlace> to = peer.device;
  if (draft.to) {
    const UdpOfFrame answered = datagram(*draft.to);
    to = answered.from;
    peer.own.ip = answered.to.ip;
  }
  if (!to) tester_.stop(Verdict::error, "nobody knows yet where the device sends from: expect a message of it first");
  CdiMessage m = draft.message;
  peer.number = draft.number.value_or(static_cast<std::uint16_t>(peer.number + 1));
  m.number = peer.number;
  m.port = draft.port.value_or(peer.own.port);
  m.ip = draft.ip.value_or(ip_text(peer.own.ip));
  if (m.name.empty()) m.name = peer.name;
  m.adapter = draft.adapter.value_or(peer.adapter);
  std::vector<std::uint8_t> bytes = build(m);
  const std::uint32_t at = cdi_checksum_at(bytes.data());
  bytes[at] ^= static_cast<std::uint8_t>(draft.checksum_xor);
  bytes[at + 1] ^= static_cast<std::uint8_t>(draft.checksum_xor >> 8);
  bytes.resize(bytes.size() + draft.extend);
  bytes.resize(bytes.size() - std::min<std::size_t>(draft.cut, bytes.size()));
  const std::uint64_t frame = tester_.transmit(udp_frame(peer.own, *to, bytes), nullptr, false);
  const std::string text = line(frame);
  tester_.tell(Event::Kind::sent, text, nullptr, frame);
  tester_.set_step(frame, "send " + text);
  peer.last = frame;
  return frame;
}

// ---- expecting

std::int64_t CdiTester::since_ns(const Peer& peer, const CdiWanted& wanted) const {
  const std::uint64_t frame = wanted.since.value_or(peer.last);
  if (frame == 0) tester_.stop(Verdict::error, "`at` counts from a message, and none was sent or expected yet");
  return tester_.frames()[frame - 1].time_ns;
}

std::int64_t CdiTester::tolerance(const CdiWanted& wanted) const {
  return std::max(scaled(wanted.tolerance_ns.value_or(*wanted.at_ns / 10)), least_tolerance_ns);
}

std::int64_t CdiTester::deadline_of(const Peer& peer, const CdiWanted& wanted) const {
  if (!wanted.at_ns) return tester_.wire().now_ns() + tester_.patience(wanted.within_ns);
  return since_ns(peer, wanted) + scaled(*wanted.at_ns) + tester_.patience(tolerance(wanted));
}

std::vector<std::string> CdiTester::differences(const Peer& peer, std::uint64_t frame, const CdiWanted& wanted) const {
  CdiMessage m;
  if (const CdiFault fault = message(frame, m); fault != CdiFault::none)
    return {fmt::format("a message {}", text(fault))};
  std::vector<std::string> out;
  dissect::Packet packet;
  tester_.walk(frame, packet);
  out = wanted.fields.differences(packet, {});
  if (const UdpPlace from = datagram(frame).from; peer.device && from != *peer.device)
    out.push_back(fmt::format("it comes from {}, not from {}", to_text(from), to_text(*peer.device)));
  if (!wanted.at_ns) return out;
  const std::int64_t late = tester_.frames()[frame - 1].time_ns - since_ns(peer, wanted), due = scaled(*wanted.at_ns),
                     tolerated = tolerance(wanted);
  if (late < due - tolerated || late > due + tester_.patience(tolerated))
    out.push_back(fmt::format("it comes after {}, expected after {}, give or take {}", milliseconds(late),
                              milliseconds(due), milliseconds(tolerated)));
  return out;
}

bool CdiTester::is_allowed(const Peer& peer, std::uint64_t frame) const {
  return std::ranges::any_of(peer.allowed, [&](const CdiWanted& w) { return differences(peer, frame, w).empty(); });
}

std::uint64_t CdiTester::expect(Peer& peer, const CdiWanted& wanted) {
  tester_.tell(Event::Kind::step, "expect " + wanted.text);
  const std::size_t step = tester_.events().size() - 1;
  const std::int64_t begin_ns = tester_.wire().now_ns(), deadline_ns = deadline_of(peer, wanted);
  while (const std::optional<std::uint64_t> frame = next(peer, deadline_ns)) {
    std::vector<std::string> found = differences(peer, *frame, wanted);
    if (found.empty()) return peer.last = take(peer, *frame, "expect " + wanted.text);
    if (is_allowed(peer, *frame)) {
      take(peer, *frame, "allowed");
      continue;
    }
    take(peer, *frame, "expect " + wanted.text + ": not as expected");
    tester_.events()[step].good = false;
    std::string message = fmt::format("expected {}: {}", wanted.text, found.front());
    found.erase(found.begin());
    found.push_back(fmt::format("got frame {}: {}", *frame, line(*frame)));
    tester_.fail(std::move(message), std::move(found));
  }
  tester_.events()[step].good = false;
  tester_.fail(fmt::format("expected {}, but nothing came within {}", wanted.text,
                           milliseconds(std::max(deadline_ns - begin_ns, std::int64_t{0}))));
}

std::uint64_t CdiTester::maybe(Peer& peer, const CdiWanted& wanted) {
  const std::int64_t deadline_ns = deadline_of(peer, wanted);
  while (const std::optional<std::uint64_t> frame = next(peer, deadline_ns)) {
    if (differences(peer, *frame, wanted).empty()) return expect(peer, wanted);
    if (!is_allowed(peer, *frame)) return 0;
    take(peer, *frame, "allowed");
  }
  return 0;
}

std::uint64_t CdiTester::await(Peer& peer, const CdiWanted& wanted) {
  const std::int64_t deadline_ns = deadline_of(peer, wanted);
  while (const std::optional<std::uint64_t> frame = next(peer, deadline_ns)) {
    if (differences(peer, *frame, wanted).empty()) return expect(peer, wanted);
    take(peer, *frame, "passed over");
  }
  return expect(peer, wanted);  // says that nothing came
}

std::uint64_t CdiTester::begin(Peer& peer) {
  CdiWanted reset;
  reset.text = "Reset, to begin with";
  if (const Result<void> r =
          reset.fields.field("cdi.command", Allowed{{{dissect::cdi_reset, dissect::cdi_reset}}, {}, {}});
      !r)
    tester_.stop(Verdict::error, r.error());
  const std::optional<std::uint64_t> first =
      next(peer, tester_.wire().now_ns() + tester_.patience(scaled(longest_silence_ns) + least_tolerance_ns));
  if (!first && peer.device)
    tester_.fail(fmt::format("no message came within {}: a transmitter never gives up",
                             milliseconds(scaled(longest_silence_ns))));
  if (!first)
    tester_.stop(Verdict::error,
                 fmt::format("no message of {} within {}: is it started, and told to send to port {} of "
                             "this machine?",
                             tester_.dut().info().name, milliseconds(scaled(longest_silence_ns)), peer.own.port));
  if (differences(peer, *first, reset).empty()) return expect(peer, reset);
  CdiMessage m;
  if (message(*first, m) != CdiFault::none) return expect(peer, reset);  // says what is wrong with it
  // It is further than that. A Reset of its receiver brings it back from everywhere: row T26.
  take(peer, *first, "passed over");
  CdiDraft draft;
  draft.message.version = m.version;
  draft.message.command = dissect::cdi_reset;
  send(peer, draft);
  reset.within_ns = scaled(reset_answer_ns) + least_tolerance_ns;
  return await(peer, reset);
}

void CdiTester::allow(Peer& peer, CdiWanted wanted) {
  tester_.tell(Event::Kind::step, "allow " + wanted.text);
  peer.allowed.push_back(std::move(wanted));
}

void CdiTester::quiet(Peer& peer, std::int64_t for_ns) {
  tester_.tell(Event::Kind::step, "quiet for " + milliseconds(scaled(for_ns)));
  const std::size_t step = tester_.events().size() - 1;
  const std::int64_t deadline_ns = tester_.wire().now_ns() + scaled(for_ns);
  while (const std::optional<std::uint64_t> frame = next(peer, deadline_ns)) {
    const bool allowed = is_allowed(peer, *frame);
    take(peer, *frame, allowed ? "allowed" : "quiet: not as expected");
    if (allowed) continue;
    tester_.events()[step].good = false;
    tester_.fail(fmt::format("expected no message for {}, got frame {}: {}", milliseconds(scaled(for_ns)), *frame,
                             line(*frame)));
  }
}

void CdiTester::wait(std::int64_t ns) { tester_.wait(scaled(ns)); }

CdiDataPath& CdiTester::data_path() {
  if (!target_.data)
    tester_.stop(Verdict::not_applicable,
                 fmt::format("{}: its data path is EFA, where the tester has nothing", tester_.dut().info().name));
  return *target_.data;
}

// ---- the end

void CdiTester::close(std::uint32_t first_peer) {
  for (std::size_t i = first_peer; i < peers_.size(); ++i) {
    Peer& peer = *peers_[i];
    if (peer.own.port == 0) continue;
    // A connected receiver would wait 20 s for a Ping; after a Reset it forgets the port sooner.
    if (peer.transmits && peer.answered && target_.left) {
      CdiDraft draft;
      draft.message.version = {1, 0, cdi_sdk_head.probe};
      draft.message.command = dissect::cdi_reset;
      draft.message.requires_ack = 1;
      try {
        send(peer, draft);
        tester_.wait(settle_ns);
      } catch (const Stop&) {
        // The verdict is there already; the next test waits all the same.
      }
      target_.left->push_back(tester_.wire().now_ns() + scaled(forgotten_ns));
    }
    tester_.wire().close_port(peer.own.port);
    peer.own.port = 0;
    peer.arrived.clear();
  }
}

}  // namespace rdmascope::replay
