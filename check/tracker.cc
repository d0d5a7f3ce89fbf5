#include "check/tracker.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dissect/headers.h"

namespace rdmascope::check {
namespace {

using dissect::header;
using dissect::Layer;
using dissect::Packet;
using dissect::Transport;
using dissect::View;

constexpr std::size_t most_halves_of_a_pair = 4096;  // looked through when a response wants its requests
constexpr std::size_t most_open_requests = 65536;

Address ipv4(const std::uint8_t* bytes) {
  Address a;
  a.kind = Address::Kind::ip;
  a.bytes[10] = a.bytes[11] = 0xff;
  std::memcpy(a.bytes.data() + 12, bytes, 4);
  return a;
}

Address wide(Address::Kind kind, const std::uint8_t* bytes) {
  Address a;
  a.kind = kind;
  std::memcpy(a.bytes.data(), bytes, 16);
  return a;
}

Address lid(std::uint64_t value) {
  Address a;
  a.kind = Address::Kind::lid;
  a.bytes[14] = static_cast<std::uint8_t>(value >> 8);
  a.bytes[15] = static_cast<std::uint8_t>(value);
  return a;
}

// The addresses of the layer that carries BTH: IP, GRH or LRH.
bool endpoints(const Packet& p, Address& source, Address& destination) {
  for (int i = p.bth_layer - 1; i >= 0; --i) {
    const Layer& layer = p.layers()[static_cast<std::size_t>(i)];
    const std::uint8_t* b = p.data(layer);
    if (layer.header == &header<dissect::Ipv4>) {
      source = ipv4(b + 12);
      destination = ipv4(b + 16);
    } else if (layer.header == &header<dissect::Ipv6>) {
      source = wide(Address::Kind::ip, b + 8);
      destination = wide(Address::Kind::ip, b + 24);
    } else if (layer.header == &header<dissect::Grh>) {
      source = wide(Address::Kind::gid, b + 8);
      destination = wide(Address::Kind::gid, b + 24);
    } else if (layer.header == &header<dissect::Lrh>) {
      const View<dissect::Lrh> lrh(b);
      source = lid(lrh.get<"slid">());
      destination = lid(lrh.get<"dlid">());
    } else {
      continue;
    }
    return true;
  }
  return false;
}

bool less(const Address& a, const Address& b) {
  return a.kind != b.kind ? a.kind < b.kind : std::memcmp(a.bytes.data(), b.bytes.data(), 16) < 0;
}

}  // namespace

Tracker::Tracker(std::size_t most_connections) : most_connections_(most_connections) {}

Tracker::Stream* Tracker::find_or_make(const Key& key, const Packet& packet, Transport transport) {
  const auto found = streams_.find(key);
  return found != streams_.end() ? found->second.get() : make(key, packet, transport);
}

Tracker::Stream* Tracker::make(const Key& key, const Packet& packet, Transport transport) {
  if (connections_.size() >= most_connections_) {
    ++refused_;
    return nullptr;
  }
  auto connection = std::make_unique<Connection>();
  connection->id = next_id_++;
  connection->transport = transport;
  connection->transport_known = true;
  connection->address = {key.source, key.destination};
  connection->qpn[1] = key.qp;
  if (transport == Transport::ud) connection->ud_source_qp = key.source_qp;
  connection->first_frame = packet.frame.number;
  connection->first_ns = packet.frame.time_ns;
  auto stream = std::make_unique<Stream>();
  stream->connection = connection.get();
  Stream* const raw = stream.get();
  connections_.push_back(std::move(connection));
  streams_.emplace(key, std::move(stream));
  if (transport == Transport::rc || transport == Transport::xrc) {
    const bool forward = less(key.source, key.destination);
    std::vector<Stream*>& halves =
        halves_[forward ? Hosts{key.source, key.destination} : Hosts{key.destination, key.source}];
    if (halves.size() < most_halves_of_a_pair) halves.push_back(raw);
    join_by_user(*raw, key);
  }
  return raw;
}

// b is the other direction of a: the older connection stays, the younger one's requests move into it.
void Tracker::join(Stream& first, Stream& second, PairedBy by) {
  Stream& a = first.connection->id < second.connection->id ? first : second;
  Stream& b = &a == &first ? second : first;
  Connection& older = *a.connection;
  Connection& younger = *b.connection;
  older.flow[1] = std::move(younger.flow[0]);
  older.qpn[0] = younger.qpn[1];
  older.packets[1] += younger.packets[0];
  older.bytes[1] += younger.bytes[0];
  older.good_icrc[1] += younger.good_icrc[0];
  older.bad_icrc[1] += younger.bad_icrc[0];
  older.unverified_icrc[1] += younger.unverified_icrc[0];
  older.ce_marks[1] += younger.ce_marks[0];
  older.cnps[1] += younger.cnps[0];
  older.not_judged += younger.not_judged;
  for (std::size_t i = 0; i < older.found.size(); ++i) older.found[i] += younger.found[i];
  older.last_frame = std::max(older.last_frame, younger.last_frame);
  older.last_ns = std::max(older.last_ns, younger.last_ns);
  if (older.pmtu == 0) older.pmtu = younger.pmtu;
  older.paired = by;
  younger.merged_into = &older;
  b.connection = &older;
  b.side = 1;
  a.half = b.half = false;
  const auto forget = [this](const Address& x, const Address& y, Stream* stream) {
    const auto found = halves_.find(less(x, y) ? Hosts{x, y} : Hosts{y, x});
    if (found == halves_.end()) return;
    std::vector<Stream*>& halves = found->second;
    halves.erase(std::remove(halves.begin(), halves.end(), stream), halves.end());
    for (Stream* other : halves)
      other->candidates.erase(std::remove(other->candidates.begin(), other->candidates.end(), stream),
                              other->candidates.end());
    if (halves.empty()) halves_.erase(found);
  };
  forget(older.address[0], older.address[1], &a);
  forget(older.address[0], older.address[1], &b);
}

void Tracker::join_by_user(Stream& stream, const Key& key) {
  for (const UserPair& pair : user_pairs_) {
    const bool to_b = key.source == pair.a && key.destination == pair.b && key.qp == pair.qp_b;
    const bool to_a = key.source == pair.b && key.destination == pair.a && key.qp == pair.qp_a;
    if (!to_b && !to_a) continue;
    const Key other{key.destination, key.source, to_b ? pair.qp_a : pair.qp_b, 0};
    const auto found = streams_.find(other);
    if (found != streams_.end() && found->second->half && found->second.get() != &stream)
      join(stream, *found->second, PairedBy::user);
    return;
  }
}

// What a packet of a half teaches: which PSNs it has sent, or, being a response, which half sent its requests.
void Tracker::learn(Stream& stream, const Packet& packet, std::uint8_t opcode, std::uint32_t psn) {
  if (!dissect::opcodes[opcode].response) {
    std::uint32_t end = psn_add(psn, 1);
    if ((opcode & 31) == 0x0c)
      if (const auto reth = packet.find<dissect::Reth>())
        end =
            psn_add(psn, static_cast<std::uint32_t>(std::min<std::uint64_t>(reth->get<"dmalen">() / 256 + 1, 1 << 22)));
    if (!stream.any_request) {
      stream.any_request = true;
      stream.first_psn = psn;
      stream.end_psn = end;
    }
    if (psn_diff(end, stream.end_psn) > 0) stream.end_psn = end;
    return;
  }
  const Connection& c = *stream.connection;
  const auto covers = [&](const Stream& other) {
    return other.half && other.any_request && other.connection->address[0] == c.address[1] &&
           other.connection->address[1] == c.address[0] && other.connection->transport == c.transport &&
           psn_diff(psn, other.first_psn) >= 0 && psn_diff(psn, other.end_psn) < 0;
  };
  std::vector<Stream*> fitting;
  if (!stream.asked) {
    const auto found = halves_.find(less(c.address[0], c.address[1]) ? Hosts{c.address[0], c.address[1]}
                                                                     : Hosts{c.address[1], c.address[0]});
    if (found == halves_.end()) return;
    for (Stream* other : found->second)
      if (other != &stream && covers(*other)) fitting.push_back(other);
  } else {
    for (Stream* other : stream.candidates)
      if (covers(*other)) fitting.push_back(other);
  }
  if (fitting.empty()) {  // about requests nobody has seen: ask anew at the next one
    stream.asked = false;
    stream.candidates.clear();
    return;
  }
  stream.asked = true;
  stream.candidates = std::move(fitting);
  if (stream.candidates.size() == 1) join(stream, *stream.candidates.front(), PairedBy::inference);
}

Place Tracker::place(const Packet& packet, bool bad_crc) {
  if (packet.bth_layer < 0) return {};
  Key key{};
  if (!endpoints(packet, key.source, key.destination)) return {};
  const View<dissect::Bth> bth(packet.data(packet.layers()[static_cast<std::size_t>(packet.bth_layer)]));
  const std::uint8_t opcode = static_cast<std::uint8_t>(bth.get<"opcode">());
  const Transport transport = dissect::opcodes[opcode].transport;
  key.qp = static_cast<std::uint32_t>(bth.get<"destqp">());
  if (transport == Transport::ud || transport == Transport::rd) {
    const auto deth = packet.find<dissect::Deth>();
    key.source_qp = deth ? static_cast<std::uint32_t>(deth->get<"srcqp">()) | 0x80000000 : 0;
  }
  const auto found = streams_.find(key);
  if (found == streams_.end() && bad_crc) return {};  // a damaged address or QP makes no connection
  Stream* stream = found != streams_.end() ? found->second.get() : make(key, packet, transport);
  if (!stream) return {};
  if (!bad_crc) {
    if (stream->half && (transport == Transport::rc || transport == Transport::xrc))
      learn(*stream, packet, opcode, static_cast<std::uint32_t>(bth.get<"psn">()));
    if (transport == Transport::ud && key.qp == dissect::qp_gsi) read_cm(packet);
  }
  return {stream->connection, stream->side};
}

void Tracker::read_cm(const Packet&) {}

std::vector<Connection*> Tracker::connections() {
  std::vector<Connection*> out;
  for (const std::unique_ptr<Connection>& c : connections_)
    if (!c->merged_into) out.push_back(c.get());
  return out;
}

std::vector<std::unique_ptr<Connection>> Tracker::take_ended() { return std::move(ended_); }

Result<UserPair> parse_pair(const std::string& text) {
  const auto bad = [&text]() -> Error {
    return Error{
        fmt::format("--pair {}: give it as ADDRESS,QP=ADDRESS,QP, for example 10.0.0.1,0x11=10.0.0.2,0x22", text)};
  };
  UserPair pair;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return bad();
  const auto parse_end = [](const std::string& end, Address& address, std::uint32_t& qp) {
    const std::size_t comma = end.rfind(',');
    if (comma == std::string::npos) return false;
    const std::string name = end.substr(0, comma), number = end.substr(comma + 1);
    std::uint8_t bytes[16];
    if (inet_pton(AF_INET, name.c_str(), bytes) == 1)
      address = ipv4(bytes);
    else if (inet_pton(AF_INET6, name.c_str(), bytes) == 1)
      address = wide(Address::Kind::ip, bytes);
    else if (name.starts_with("lid") && name.size() > 3)
      address = lid(std::strtoull(name.c_str() + 3, nullptr, 0));
    else
      return false;
    char* rest = nullptr;
    const unsigned long value = std::strtoul(number.c_str(), &rest, 0);
    if (number.empty() || *rest || value > psn_mask) return false;
    qp = static_cast<std::uint32_t>(value);
    return true;
  };
  if (!parse_end(text.substr(0, equals), pair.a, pair.qp_a) || !parse_end(text.substr(equals + 1), pair.b, pair.qp_b))
    return bad();
  return pair;
}

}  // namespace rdmascope::check
