// Which flow a control message belongs to, who sent it, and whether the capture has all messages of its sender.
#include "check/cdi.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/tracker.h"
#include "dissect/headers.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr std::size_t most_flows = 16'384, most_sent = 64;
// A jump that far ahead is no gap. Messages come a few in a second.
constexpr std::uint16_t widest_gap = 1024;
// A sender speaks at least that often, so one that was there before the capture would have been heard by then.
constexpr std::int64_t longest_silence_ns = 25'000'000'000;
// A copy comes that soon after the first; later it is a new endpoint that says the same.
constexpr std::int64_t longest_delay_ns = 1'000'000'000;
// So close to each other, a capture of several receive queues may show messages of both sides in the wrong order.
constexpr std::int64_t mixed_up_ns = 1'000'000;
constexpr std::uint8_t first_with_one_socket = 4;  // probe version
constexpr CdiVersion refused_version{2, 0, 0};

std::uint16_t distance(std::uint16_t from, std::uint16_t to) { return static_cast<std::uint16_t>(to - from); }

bool is_known_command(std::uint64_t command) { return command >= cdi_reset && command <= cdi_protocol_version; }

std::string_view command_name(std::uint8_t command) {
  const std::string_view known = name_of(cdi_commands, command);
  return known.empty() ? "an unknown command" : known;
}

// The datagram of the innermost UDP header, as far as the frame has it.
const Layer* udp_of(const Packet& p) {
  const Layer* out = nullptr;
  for (const Layer& layer : p.layers())
    if (layer.header == &header<Udp>) out = &layer;
  return out;
}

std::span<const std::uint8_t> datagram_of(const Packet& p, const Layer& udp) {
  const std::uint64_t length = View<Udp>(p.data(udp)).get<"length">();
  const std::size_t at = udp.at + Udp::bytes;
  if (!udp.in_frame() || at > p.bytes.size() || length < Udp::bytes) return {};
  return p.bytes.subspan(at, std::min<std::size_t>(length - Udp::bytes, p.bytes.size() - at));
}

// Text up to its zero; nullopt: there is none.
std::optional<std::string_view> terminated(std::span<const std::uint8_t> bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = all.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return all.substr(0, end);
}

std::optional<std::array<std::uint8_t, 4>> dotted(std::string_view text) {
  std::array<std::uint8_t, 4> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    unsigned value = 0;
    std::size_t digits = 0;
    for (; digits < text.size() && digits < 3 && text[digits] >= '0' && text[digits] <= '9'; ++digits)
      value = value * 10 + static_cast<unsigned>(text[digits] - '0');
    if (digits == 0 || value > 255) return std::nullopt;
    out[i] = static_cast<std::uint8_t>(value);
    text.remove_prefix(digits);
    if (i + 1 == out.size()) return text.empty() ? std::optional(out) : std::nullopt;
    if (text.empty() || text[0] != '.') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

// Bytes of the headers that all commands share.
std::uint32_t header_bytes(const std::uint8_t* message) {
  return Cdi::bytes + (cdi_has_v1_layout(message) ? CdiV1::bytes : 0) + CdiControl::bytes;
}

// Of a message that is there as far as its layout and command say.
CdiMessage read_message(const Packet& p, const std::uint8_t* bytes) {
  const View<Cdi> cdi(bytes);
  const std::uint32_t end = header_bytes(bytes);
  const View<CdiControl> control(bytes + end - CdiControl::bytes);
  CdiMessage m;
  m.frame = p.frame.number;
  m.time_ns = p.frame.time_ns;
  const std::uint64_t command = cdi.get<"command">();
  m.command = is_known_command(command) ? static_cast<std::uint8_t>(command) : 0;
  m.number = static_cast<std::uint16_t>(control.get<"control_packet_num">());
  m.version = {bytes[0], bytes[1], bytes[2]};
  m.control_port = static_cast<std::uint16_t>(control.get<"senders_control_dest_port">());
  m.checksum = static_cast<std::uint16_t>(control.get<"checksum">());
  if (m.command == cdi_ack) {
    const View<CdiAck> ack(bytes + end);
    m.ack_command = static_cast<std::uint8_t>(std::min<std::uint64_t>(ack.get<"command">(), 255));
    m.ack_number = static_cast<std::uint16_t>(ack.get<"control_packet_num">());
  } else {
    m.requires_ack = bytes[end];
  }
  std::copy_n(bytes + cdi_address_at, cdi_address_bytes, m.address.begin());
  return m;
}

}  // namespace

std::string to_text(CdiVersion v) { return fmt::format("{}.{}.{}", v.version, v.major, v.probe); }

CdiVersion negotiate(CdiVersion own, CdiVersion remote) {
  if (remote.version < own.version) return remote;
  if (remote.version == own.version && remote.major <= own.major) return remote;
  return own;
}

std::string to_text(const UdpEnd& end) {
  const std::string address = to_text(end.address);
  return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, end.port)
                                                : fmt::format("[{}]:{}", address, end.port);
}

CdiFlows::Owner CdiFlows::owner_of_queue(std::uint32_t qpn) const {
  const auto found = queues_.find(qpn);
  return found == queues_.end() ? Owner{} : found->second;
}

// --- Breaches --------------------------------------------------------------------------------------------------------

CdiBroken& CdiFlows::broken(CdiBreach breach, CdiFlow& flow, CdiRole by, const CdiMessage& m, std::string text) {
  CdiBroken& out = broken_.emplace_back();
  out.breach = breach;
  out.flow = &flow;
  out.by = by;
  out.frame = m.frame;
  out.time_ns = m.time_ns;
  out.text = std::move(text);
  return out;
}

// Something that only holds if the capture has every message since the last Reset.
CdiBroken& CdiFlows::in_sequence(CdiBreach breach, CdiFlow& flow, CdiRole by, const CdiMessage& m, std::string text) {
  CdiBroken& out = broken(breach, flow, by, m, std::move(text));
  if (flow.cycle.doubt) out.kind = Class::artifact;
  return out;
}

// The same, where the next message of `of` will tell.
void CdiFlows::defer(CdiFlow& flow, CdiRole of, CdiBreach breach, CdiRole by, const CdiMessage& m, std::string text) {
  const auto is_known = [breach](const CdiDeferred& d) { return d.broken.breach == breach; };
  if (std::ranges::any_of(flow.deferred, is_known)) return;
  in_sequence(breach, flow, by, m, std::move(text));
  flow.deferred.push_back({of, std::move(broken_.back())});
  broken_.pop_back();
}

void CdiFlows::settle_deferred(CdiFlow& flow, CdiRole by, std::int64_t now_ns, bool without_gap) {
  std::erase_if(flow.deferred, [&](CdiDeferred& d) {
    if (d.of != by) return false;
    if (without_gap && now_ns - d.broken.time_ns > mixed_up_ns) broken_.push_back(std::move(d.broken));
    return true;
  });
}

// --- Flows -----------------------------------------------------------------------------------------------------------

CdiFlows::Place CdiFlows::known(const Stream& stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? Place{} : found->second;
}

CdiFlows::Place CdiFlows::place(const Stream& stream, const CdiMessage& m) {
  if (const Place place = known(stream); place.flow) return place;
  if (flows_.size() == most_flows) return {};
  CdiFlow& flow = flows_.emplace_back();
  flow.number = static_cast<std::uint32_t>(flows_.size());
  flow.first_frame = m.frame;
  flow.first_ns = m.time_ns;
  const bool by_rx = m.command == cdi_connected || m.command == cdi_ack || (m.is_reset() && m.requires_ack == 0);
  flow.first_is_tx = !by_rx;
  const Place place{&flow, true};
  flow.of(place.role()).end = stream.from;
  flow.of(other(place.role())).end = stream.to;
  for (CdiSide& side : flow.side) side.state_ns = m.time_ns;
  streams_[stream] = place;
  streams_[{stream.to, stream.from}] = {&flow, false};
  return place;
}

// Resets come from both sides; any other command says who is who.
void CdiFlows::settle_role(CdiFlow& flow, Place place, const CdiMessage& m) {
  if (flow.role_certain || m.is_reset() || m.command == 0) return;
  flow.role_certain = true;
  const CdiRole role = m.command == cdi_connected || m.command == cdi_ack ? CdiRole::rx : CdiRole::tx;
  if (role == place.role()) return;
  flow.first_is_tx = !flow.first_is_tx;
  std::swap(flow.side[0], flow.side[1]);
  for (CdiSide& side : flow.side) side.state = ProbeState::unknown;
  flow.cycle = {};
  flow.answers = {};
  flow.deferred.clear();
  flow.events.clear();
  flow.unanswered_resets = flow.rx_resets = 0;
  flow.rx_reset_ns = 0;
}

// --- One message -----------------------------------------------------------------------------------------------------

std::optional<CdiContext> CdiFlows::frame(const Packet& packet) {
  broken_.clear();
  if (!begin_ns_) begin_ns_ = packet.frame.time_ns;
  const Layer* const udp = udp_of(packet);
  const bool is_message = packet.find(header<Cdi>) != nullptr;
  if (!udp || (!is_message && flows_.empty()) || packet.find(header<CdiData>)) return std::nullopt;
  Stream stream;
  if (!endpoints(packet, static_cast<int>(udp - packet.layers().data()), stream.from.address, stream.to.address))
    return std::nullopt;
  const View<Udp> ports(packet.data(*udp));
  stream.from.port = static_cast<std::uint16_t>(ports.get<"srcport">());
  stream.to.port = static_cast<std::uint16_t>(ports.get<"dstport">());
  const std::span<const std::uint8_t> datagram = datagram_of(packet, *udp);
  const std::uint8_t* const bytes = datagram.data();
  const bool is_whole = datagram.size() >= Cdi::bytes && datagram.size() >= header_bytes(bytes) &&
                        datagram.size() >= cdi_control_bytes(bytes);
  const bool is_right = is_whole && datagram.size() == cdi_control_bytes(bytes) &&
                        read_message(packet, bytes).checksum == cdi_checksum(bytes);
  if (!is_right) {
    if (const Place place = known(stream); place.flow)
      judge_damage(*place.flow, place.role(), packet, datagram);
    else if (is_message && is_whole && is_known_command(View<Cdi>(bytes).get<"command">()))
      judge_alone(packet, datagram);
    return std::nullopt;
  }
  const CdiMessage m = read_message(packet, bytes);
  // An endpoint is where its answers go: SDKs with two sockets name that port, all others send from it.
  if (m.version.probe < first_with_one_socket && m.control_port != 0) stream.from.port = m.control_port;
  const Place place = this->place(stream, m);
  if (!place.flow) {
    ++refused_;
    return std::nullopt;
  }
  CdiFlow& flow = *place.flow;
  settle_role(flow, place, m);
  const CdiRole by = place.role();
  flow.last_frame = m.frame;
  flow.last_ns = m.time_ns;
  CdiContext c{m, flow, by, false, 0, 0};
  CdiSide& side = flow.of(by);
  ++side.messages;
  ++side.good;
  judge_fields(flow, by, m, datagram, stream);
  c.followed = count(flow, by, m, c) && m.command != 0 && m.version != refused_version;
  if (c.followed) follow(flow, by, m, c);
  return c;
}

// A message that is broken, or something else to the ports of the flow. Receivers drop it.
void CdiFlows::judge_damage(CdiFlow& flow, CdiRole by, const Packet& packet, std::span<const std::uint8_t> datagram) {
  CdiMessage m;
  m.frame = packet.frame.number;
  m.time_ns = packet.frame.time_ns;
  ++flow.of(by).messages;
  const std::uint8_t* const bytes = datagram.data();
  const bool has_header = datagram.size() >= Cdi::bytes && datagram.size() >= header_bytes(bytes);
  if (!has_header || datagram.size() < cdi_control_bytes(bytes)) {
    CdiBroken& b = broken(CdiBreach::length, flow, by, m, "too short for a control message");
    if (!resembles_cdi_control(datagram)) b.kind = Class::anomaly, b.text = "no control message, on its ports";
    b.field = "udp.length";
    b.actual = Udp::bytes + datagram.size();
    if (has_header) b.expected = Udp::bytes + cdi_control_bytes(bytes);
    return;
  }
  const std::uint16_t checksum = read_message(packet, bytes).checksum, right = cdi_checksum(bytes);
  if (checksum != right) {
    // One that computed it right before does so still: it was damaged on the way.
    CdiBroken& b = broken(CdiBreach::checksum, flow, by, m);
    if (flow.of(by).good > 0) b.kind = Class::anomaly;
    if (!resembles_cdi_control(datagram)) b.kind = Class::anomaly, b.text = "no control message, on its ports";
    b.field = "cdi.checksum";
    b.expected = right;
    b.actual = checksum;
    return;
  }
  CdiBroken& b = broken(
      CdiBreach::length, flow, by, m,
      fmt::format("{} has {} bytes", command_name(read_message(packet, bytes).command), cdi_control_bytes(bytes)));
  b.field = "udp.length";
  b.expected = Udp::bytes + cdi_control_bytes(bytes);
  b.actual = Udp::bytes + datagram.size();
}

// Of a flow that has no good message so far: the user says what it is (--decode-as).
void CdiFlows::judge_alone(const Packet& packet, std::span<const std::uint8_t> datagram) {
  const std::uint16_t checksum = read_message(packet, datagram.data()).checksum, right = cdi_checksum(datagram.data());
  CdiBroken& b = broken_.emplace_back();
  b.frame = packet.frame.number;
  b.time_ns = packet.frame.time_ns;
  b.breach = checksum != right ? CdiBreach::checksum : CdiBreach::length;
  b.field = checksum != right ? "cdi.checksum" : "udp.length";
  b.expected = checksum != right ? right : Udp::bytes + cdi_control_bytes(datagram.data());
  b.actual = checksum != right ? checksum : Udp::bytes + datagram.size();
}

void CdiFlows::judge_fields(CdiFlow& flow, CdiRole by, const CdiMessage& m, std::span<const std::uint8_t> datagram,
                            const Stream& stream) {
  constexpr std::uint8_t first_with_version_request = 3;
  const std::uint8_t* const bytes = datagram.data();
  const auto wrong = [&](CdiBreach breach, std::string_view field, std::optional<std::uint64_t> expected,
                         std::uint64_t actual, std::string text = {}) -> CdiBroken& {
    CdiBroken& b = broken(breach, flow, by, m, std::move(text));
    b.field = field;
    b.expected = expected;
    b.actual = actual;
    return b;
  };
  if (m.command == 0)
    wrong(CdiBreach::command, "cdi.command", {}, View<Cdi>(bytes).get<"command">(),
          "nobody knows it; SDK 2.4 and later make an endpoint for it all the same");
  if (m.command != cdi_ack && m.requires_ack > 1)
    wrong(CdiBreach::requires_ack_value, "cdi.requires_ack", {}, m.requires_ack, "it is true or false");

  constexpr Field ip = field<Cdi, "senders_ip_str">(), name = field<Cdi, "senders_stream_name_str">();
  const auto ip_text = terminated(datagram.subspan(ip.at / 8, ip.width / 8));
  const auto parts = ip_text ? dotted(*ip_text) : std::nullopt;
  if (!parts)
    broken(CdiBreach::ip_text, flow, by, m,
           ip_text ? fmt::format("\"{}\" is no IPv4 address", ip_text->substr(0, 40)) : "no zero ends it");
  else if (stream.from.address.kind == Address::Kind::ip &&
           !std::equal(parts->begin(), parts->end(), stream.from.address.bytes.begin() + 12))
    broken(CdiBreach::ip_differs, flow, by, m,
           fmt::format("it says {} and comes from {}{}", *ip_text, to_text(stream.from.address),
                       m.version.probe < first_with_one_socket
                           ? "; to a sender of this version, the peer answers at the address it says"
                           : ""));
  const auto stream_name = terminated(datagram.subspan(name.at / 8, name.width / 8));
  if (!stream_name)
    broken(CdiBreach::stream_name, flow, by, m, "no zero ends it");
  else if (by == CdiRole::tx && flow.stream_name.empty())
    flow.stream_name = *stream_name;
  if (m.version.probe >= first_with_one_socket && m.control_port != stream.from.port)
    wrong(CdiBreach::port_differs, "cdi.senders_control_dest_port", stream.from.port, m.control_port,
          "as the datagram's source port");
  if (cdi_has_v1_layout(bytes) && m.version.probe >= first_with_one_socket) {
    constexpr std::uint64_t none = 0xffffffff;
    const std::uint64_t id = View<CdiV1>(bytes + Cdi::bytes).get<"senders_stream_identifier">();
    if (id != none) wrong(CdiBreach::stream_id, "cdi.senders_stream_identifier", none, id);
  }
  if (m.version == refused_version)
    wrong(CdiBreach::refused_version, "cdi.version_num", {}, m.version.version,
          "2.0.0 is what SDK 2.0.0 said, and later ones drop its messages");
  if (m.command == cdi_protocol_version && m.version.probe < first_with_version_request)
    wrong(CdiBreach::early_version_request, "cdi.probe_version_num", {}, m.version.probe,
          "ProtocolVersion came with probe version 3");

  // The address of its adapter.
  const bool zero = cdi_address_is_zero(bytes, 0);
  if (zero && by == CdiRole::rx && (m.command == cdi_connected || m.is_ack_of(cdi_protocol_version)))
    broken(CdiBreach::address_zero, flow, by, m, "the transmitter is to connect to it");
  if (zero || cdi_has_sockaddr(bytes)) return;
  const std::uint8_t* const gid = m.address.data();
  const bool link_local =
      gid[0] == 0xfe && gid[1] == 0x80 && std::all_of(gid + 2, gid + 8, [](auto b) { return b == 0; });
  if (!link_local) broken(CdiBreach::address_form, flow, by, m, "neither a GID in fe80::/64 nor a socket address");
  const auto qpn = static_cast<std::uint32_t>(View<Cdi>(bytes).get<"qpn">());
  const auto [queue, is_new] = queues_.try_emplace(qpn, Owner{&flow, by});
  if (!is_new && (queue->second.flow != &flow || queue->second.role != by)) queue->second = {};
}

// Its number against those before it. False: it was captured before, or comes too late to be followed.
bool CdiFlows::count(CdiFlow& flow, CdiRole by, const CdiMessage& m, CdiContext& c) {
  CdiSide& side = flow.of(by);
  const std::optional<CdiMessage> last = side.last;
  bool without_gap = true, keep = true;
  const auto wrong = [&](std::string text) -> CdiBroken& {
    CdiBroken& b = broken(CdiBreach::number, flow, by, m, std::move(text));
    b.field = "cdi.control_packet_num";
    b.actual = m.number;
    if (last) b.expected = static_cast<std::uint16_t>(last->number + 1);
    return b;
  };
  const auto before = std::find_if(side.sent.rbegin(), side.sent.rend(), [&](const CdiSent& s) {
    return s.number == m.number && s.checksum == m.checksum && s.command == m.command &&
           m.time_ns - s.time_ns < longest_delay_ns;
  });
  const std::uint16_t ahead = last ? distance(last->number, m.number) : 1;
  const bool begins_anew = last && ahead != 1 && m.number == 1 &&
                           (ahead > widest_gap || (m.is_reset() && ahead > 64)) && before == side.sent.rend();
  if (!last) {
    side.from_start = m.number <= 1;
    without_gap = m.number == 1;
    if (m.number == 0 || (m.number != 1 && m.time_ns - *begin_ns_ > longest_silence_ns)) {
      CdiBroken& b = broken(CdiBreach::first_number, flow, by, m, "of the first message of its sender");
      b.field = "cdi.control_packet_num";
      b.expected = 1;
      b.actual = m.number;
    }
    if (!without_gap && flow.cycle.frame != 0) flow.cycle.doubt = true;  // the capture began before its first words
  } else if (before != side.sent.rend()) {
    wrong("captured twice, or doubled on its way").kind = Class::artifact;
    c.first_frame = before->frame;
    return false;
  } else if (begins_anew) {
    if (m.command == cdi_ping || m.command == cdi_protocol_version || m.command == cdi_connected) {
      CdiBroken& b = broken(CdiBreach::number_again, flow, by, m,
                            fmt::format("{} as the first message of a new endpoint", command_name(m.command)));
      b.field = "cdi.control_packet_num";
      b.actual = m.number;
    }
    side.sent.clear();
    side.from_start = true;
    if (by == CdiRole::tx) flow.cycle = {};
    if (by == CdiRole::rx) flow.answers = {};
  } else if (ahead > 1 && ahead <= widest_gap) {
    without_gap = false;
    side.missing += ahead - 1u;
    flow.cycle.doubt = true;
    wrong(ahead == 2 ? "a message is not in the capture" : fmt::format("{} messages are not in the capture", ahead - 1))
        .kind = Class::artifact;
    tell(flow, CdiEvent::Kind::lost, m).count = ahead - 1u;
  } else if (ahead > widest_gap) {
    const std::uint16_t behind = distance(m.number, last->number);
    const bool is_hole =
        behind <= widest_gap && side.missing > 0 &&
        std::none_of(side.sent.begin(), side.sent.end(), [&](const CdiSent& s) { return s.number == m.number; });
    constexpr std::uint16_t most_missed_at_start = 8;
    without_gap = false;
    if (is_hole) {
      --side.missing;
      keep = false;
      wrong("overtaken on its way").kind = Class::artifact;
    } else if (m.number <= most_missed_at_start && (m.is_reset() || m.command == cdi_ack)) {
      wrong("a new endpoint, whose beginning is not in the capture").kind = Class::artifact;
      side.sent.clear();
      if (by == CdiRole::tx) flow.cycle = {};
      if (by == CdiRole::rx) flow.answers = {};
      flow.cycle.doubt = true;
    } else {
      wrong(fmt::format("after number {}", last->number));
    }
  } else if (ahead == 0) {
    without_gap = false;
    wrong(fmt::format("another message had it, frame {}", last->frame));
  }
  side.sent.push_back({m.frame, m.time_ns, m.number, m.checksum, m.command});
  if (side.sent.size() > most_sent) side.sent.pop_front();
  if (!keep) return false;
  settle_deferred(flow, by, m.time_ns, without_gap);
  after_silence(flow, by, m, without_gap);
  side.last = m;
  previous_ = last;
  previous_follows_ = without_gap;
  return true;
}

}  // namespace rdmascope::check
