#include "check/tracker.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "dissect/cm.h"
#include "dissect/headers.h"

namespace rdmascope::check {
namespace {

using dissect::header;
using dissect::Layer;
using dissect::Packet;
using dissect::Transport;
using dissect::View;

constexpr std::size_t most_halves_searched = 256;  // one by one, when no half has sent just the PSN of a response
constexpr std::size_t most_open_requests = 65536, most_suspects = 1024;
constexpr std::uint8_t packets_that_prove_a_sender = 3;
constexpr std::uint32_t names_its_source = 0x80000000;  // in Key::source_qp: a datagram

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

dissect::Transport transport_of_service(std::uint64_t service, std::uint64_t extended) {
  return service == 1 ? Transport::uc : service == 3 && extended == 1 ? Transport::xrc : Transport::rc;
}

std::size_t sent_key(const Address& source, const Address& destination, std::uint32_t psn) {
  return absl::Hash<std::tuple<Address, Address, std::uint32_t>>{}({source, destination, psn});
}

bool less(const Address& a, const Address& b) {
  return a.kind != b.kind ? a.kind < b.kind : std::memcmp(a.bytes.data(), b.bytes.data(), 16) < 0;
}

}  // namespace

bool endpoints(const Packet& p, Address& source, Address& destination) {
  return endpoints(p, p.bth_layer, source, destination);
}

bool endpoints(const Packet& p, int before, Address& source, Address& destination) {
  for (int i = before - 1; i >= 0; --i) {
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
      source = lid_address(lrh.get<"slid">());
      destination = lid_address(lrh.get<"dlid">());
    } else {
      continue;
    }
    return true;
  }
  return false;
}

Tracker::Hosts Tracker::hosts(const Address& a, const Address& b) { return less(a, b) ? Hosts{a, b} : Hosts{b, a}; }

Tracker::Tracker(std::size_t most_connections) : most_connections_(most_connections) {}

Connection& Tracker::add_connection(const Key& key, const Packet& packet, Transport transport) {
  auto connection = std::make_unique<Connection>();
  connection->id = next_id_++;
  connection->transport = transport;
  connection->transport_known = true;
  connection->address = {key.source, key.destination};
  connection->qpn[1] = key.qp;
  if (transport == Transport::ud) connection->ud_source_qp = key.source_qp & psn_mask;
  connection->first_frame = packet.frame.number;
  connection->first_ns = packet.frame.time_ns;
  const std::uint32_t id = connection->id;
  return *(connections_[id] = std::move(connection));
}

Tracker::Key Tracker::key_of(const Connection& c, std::uint8_t side) {
  const std::uint32_t source_qp = c.ud_source_qp ? *c.ud_source_qp | names_its_source : 0;
  return {c.address[side], c.address[side ^ 1], c.qpn[side ^ 1].value_or(0), source_qp};
}

// The packets of that key are sent by that side of the connection.
Tracker::Stream& Tracker::add_stream(const Key& key, Connection& connection, std::uint8_t side) {
  return streams_[key] = {&connection, side, nullptr};
}

Tracker::Stream* Tracker::make(const Key& key, const Packet& packet, Transport transport) {
  if (connections_.size() >= most_connections_) {
    ++refused_;
    return nullptr;
  }
  const UserPair* const told = user_pairs_.empty() ? nullptr : user_pair(key);
  if (told && told->transport) transport = *told->transport;
  Connection& connection = add_connection(key, packet, transport);
  if (told) {
    connection.p_key = told->p_key;
    connection.pmtu = told->pmtu;
    connection.pmtu_told = told->pmtu != 0;
    const bool from_a = key.source == told->a && key.qp == told->qp_b;
    connection.facts[0].start_psn = from_a ? told->psn_a : told->psn_b;
    connection.facts[1].start_psn = from_a ? told->psn_b : told->psn_a;
  }
  Stream& stream = add_stream(key, connection, 0);
  if (transport == Transport::rc || transport == Transport::xrc || transport == Transport::uc) {
    stream.half = std::make_unique<Half>();
    stream.half->connection = stream.connection;
    std::vector<Half*>& halves = halves_[hosts(key.source, key.destination)];
    stream.half->position = halves.size();
    halves.push_back(stream.half.get());
    if (told) join_by_user(key, *told);
  }
  return &streams_.find(key)->second;
}

void Tracker::forget_half(Stream& stream) {
  if (!stream.half) return;
  const Half& half = *stream.half;
  for (std::size_t i = 0; i < half.indexed_count; ++i) unindex_psn(half, half.indexed[i]);
  const auto found = halves_.find(hosts(half.connection->address[0], half.connection->address[1]));
  std::vector<Half*>& halves = found->second;
  halves[half.position] = halves.back();
  halves[half.position]->position = half.position;
  halves.pop_back();
  if (halves.empty()) halves_.erase(found);
  stream.half.reset();
}

Tracker::Half* Tracker::half_of(std::uint32_t connection) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return nullptr;
  const auto stream = streams_.find(key_of(*found->second, 0));
  return stream == streams_.end() ? nullptr : stream->second.half.get();
}

// The connections are the two directions of one: the older stays, the younger one's requests move into it.
void Tracker::join(std::uint32_t first, std::uint32_t second, PairedBy by) {
  const auto a = connections_.find(std::min(first, second)), b = connections_.find(std::max(first, second));
  const Key key_a = key_of(*a->second, 0), key_b = key_of(*b->second, 0);
  forget_half(streams_.find(key_a)->second);
  forget_half(streams_.find(key_b)->second);
  Connection& older = *a->second;
  Connection& younger = *b->second;
  older.flow[1] = std::move(younger.flow[0]);
  older.qpn[0] = younger.qpn[1];
  older.packets[1] += younger.packets[0];
  older.bytes[1] += younger.bytes[0];
  older.good_icrc[1] += younger.good_icrc[0];
  older.bad_icrc[1] += younger.bad_icrc[0];
  older.unverified_icrc[1] += younger.unverified_icrc[0];
  older.ce_marks[1] += younger.ce_marks[0];
  older.cnps[1] += younger.cnps[0];
  older.reserved6[1] |= younger.reserved6[0];
  older.member[1] = younger.member[0];
  older.last_cnp_ns[1] = younger.last_cnp_ns[0];
  older.shortest_cnp_ns[1] = younger.shortest_cnp_ns[0];
  older.first_ce_frame[1] = younger.first_ce_frame[0];
  if (!older.p_key) older.p_key = younger.p_key;
  // Its sender goes on counting where it was.
  older.ip_id[1] = younger.ip_id[0];
  older.ip_id_run[1] = younger.ip_id_run[0];
  older.ip_id_changes[1] = younger.ip_id_changes[0];
  older.recent[1] = younger.recent[0];
  older.recent_at[1] = younger.recent_at[0];
  const auto add = [](std::uint32_t& count, std::uint64_t& first_frame, std::uint32_t more, std::uint64_t frame) {
    if (more > 0 && (count == 0 || frame < first_frame)) first_frame = frame;
    count += more;
  };
  add(older.twice, older.first_twice_frame, younger.twice, younger.first_twice_frame);
  add(older.cut, older.first_cut_frame, younger.cut, younger.first_cut_frame);
  older.not_judged += younger.not_judged;
  for (std::size_t i = 0; i < older.found.size(); ++i) older.found[i] += younger.found[i];
  older.last_frame = std::max(older.last_frame, younger.last_frame);
  older.last_ns = std::max(older.last_ns, younger.last_ns);
  if (older.pmtu == 0) {
    older.pmtu = younger.pmtu;
    older.pmtu_messages = younger.pmtu_messages;
  }
  older.paired = by;
  older.other_half_id = younger.id;
  younger.merged_into = &older;
  Stream& stream = streams_.find(key_b)->second;
  stream.connection = &older;
  stream.side = 1;
  gone_.push_back(std::move(b->second));
  connections_.erase(b);
}

const UserPair* Tracker::user_pair(const Key& key) const {
  const auto found = std::ranges::find_if(user_pairs_, [&key](const UserPair& pair) {
    return (key.source == pair.a && key.destination == pair.b && key.qp == pair.qp_b) ||
           (key.source == pair.b && key.destination == pair.a && key.qp == pair.qp_a);
  });
  return found == user_pairs_.end() ? nullptr : &*found;
}

void Tracker::join_by_user(const Key& key, const UserPair& pair) {
  const bool to_b = key.destination == pair.b && key.qp == pair.qp_b;
  const auto other = streams_.find(Key{key.destination, key.source, to_b ? pair.qp_a : pair.qp_b, 0});
  if (other != streams_.end() && other->second.half)
    join(streams_.find(key)->second.connection->id, other->second.connection->id, PairedBy::user);
}

void Tracker::end(std::uint32_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  for (std::uint8_t side = 0; side < 2; ++side) {
    const auto stream = streams_.find(key_of(*found->second, side));
    if (stream == streams_.end() || stream->second.connection != found->second.get()) continue;
    forget_half(stream->second);
    streams_.erase(stream);
  }
  gone_.push_back(std::move(found->second));
  connections_.erase(found);
}

// A queue pair number that is used again, without the CM exchange in the capture: a new message far from the PSNs
// before it, after a silence. Its last packets may not have been judged yet, so nearby PSNs say nothing.
bool Tracker::is_new_incarnation(const Stream& stream, const Packet& packet, std::uint8_t opcode,
                                 std::uint32_t psn) const {
  constexpr std::int32_t far = 1 << 17;
  constexpr std::int64_t silence_ns = 200'000'000;
  const dissect::Opcode& o = dissect::opcodes[opcode];
  if (o.response || (o.position != dissect::Position::first && o.position != dissect::Position::only)) return false;
  const Connection& c = *stream.connection;
  const Flow& flow = *c.flow[stream.side];
  if (!flow.started || !flow.next_known || packet.frame.time_ns - c.last_ns < silence_ns) return false;
  const std::int32_t distance = psn_diff(psn, flow.next_psn);
  return distance > far || distance < -far;
}

void Tracker::index_psn(Half& half, std::uint32_t psn) {
  const auto known_end = half.indexed.begin() + half.indexed_count;
  if (std::find(half.indexed.begin(), known_end, psn) != known_end) return;  // sent again: still one half
  if (half.indexed_count == half.indexed.size())
    unindex_psn(half, half.indexed[half.indexed_next]);
  else
    ++half.indexed_count;
  half.indexed[half.indexed_next] = psn;
  half.indexed_next = static_cast<std::uint8_t>((half.indexed_next + 1) % half.indexed.size());
  sent_[sent_key(half.connection->address[0], half.connection->address[1], psn)].push_back(&half);
}

void Tracker::unindex_psn(const Half& half, std::uint32_t psn) {
  const auto found = sent_.find(sent_key(half.connection->address[0], half.connection->address[1], psn));
  if (found == sent_.end()) return;
  auto& halves = found->second;
  if (const auto it = std::find(halves.begin(), halves.end(), &half); it != halves.end()) halves.erase(it);
  if (halves.empty()) sent_.erase(found);
}

// Halves of the opposite direction that sent this PSN or, for a READ response behind the first, may have asked for it.
std::vector<std::uint32_t> Tracker::halves_that_sent(const Half& half, std::uint32_t psn) {
  const Connection& c = *half.connection;
  const auto covers = [&](const Half* other) {
    return other && other != &half && other->any_request && other->connection->address[0] == c.address[1] &&
           other->connection->address[1] == c.address[0] && other->connection->transport == c.transport &&
           psn_diff(psn, other->first_psn) >= 0 && psn_diff(psn, other->end_psn) < 0;
  };
  std::vector<std::uint32_t> fitting;
  const auto take = [&](const Half* other) {
    if (covers(other)) fitting.push_back(other->connection->id);
  };
  if (half.asked) {
    for (std::uint32_t id : half.candidates) take(half_of(id));
    return fitting;
  }
  if (const auto exact = sent_.find(sent_key(c.address[1], c.address[0], psn)); exact != sent_.end())
    for (const Half* other : exact->second) take(other);
  if (!fitting.empty()) return fitting;
  const auto found = halves_.find(hosts(c.address[0], c.address[1]));
  if (found != halves_.end() && found->second.size() <= most_halves_searched)
    for (const Half* other : found->second) take(other);
  return fitting;
}

// What a packet of a half teaches: which PSNs it has sent, or, being a response, which half sent its requests.
void Tracker::learn(Half& half, const Packet& packet, std::uint8_t opcode, std::uint32_t psn) {
  if (!dissect::opcodes[opcode].response) {
    std::uint32_t end = psn_add(psn, 1);
    if ((opcode & 31) == 0x0c)
      if (const auto reth = packet.find<dissect::Reth>())
        end =
            psn_add(psn, static_cast<std::uint32_t>(std::min<std::uint64_t>(reth->get<"dmalen">() / 256 + 1, 1 << 22)));
    if (!half.any_request) {
      half.any_request = true;
      half.first_psn = psn;
      half.end_psn = end;
    }
    if (psn_diff(end, half.end_psn) > 0) half.end_psn = end;
    index_psn(half, psn);
    return;
  }
  half.candidates = halves_that_sent(half, psn);
  half.asked = !half.candidates.empty();  // none: about requests nobody has seen; ask anew at the next one
  if (half.candidates.size() == 1) join(half.connection->id, half.candidates.front(), PairedBy::inference);
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
    key.source_qp = deth ? static_cast<std::uint32_t>(deth->get<"srcqp">()) | names_its_source : 0;
  }
  auto found = streams_.find(key);
  if (bad_crc && found == streams_.end()) {
    // A damaged address or QP makes no connection. The same ones time and again are not damage.
    if (suspects_.size() >= most_suspects || ++suspects_[key] < packets_that_prove_a_sender) return {};
    suspects_.erase(key);
  }
  if (bad_crc && found != streams_.end()) return {found->second.connection, found->second.side};
  // Notifications and vendor packets go to queue pairs of any kind: they find a connection, but say nothing of its
  // kind.
  if (transport == Transport::cnp || transport >= Transport::vendor6) {
    if (found == streams_.end()) return {};
    return {found->second.connection, found->second.side};
  }
  const std::uint32_t psn = static_cast<std::uint32_t>(bth.get<"psn">());
  const bool reliable = transport == Transport::rc || transport == Transport::xrc;
  if (found != streams_.end() && (reliable || transport == Transport::uc) &&
      is_new_incarnation(found->second, packet, opcode, psn)) {
    end(found->second.connection->id);
    found = streams_.end();
  }
  Stream* stream = found != streams_.end() ? &found->second : make(key, packet, transport);
  if (!stream) return {};
  const Place place{stream->connection, stream->side};
  if (bad_crc) return place;
  // These may add streams, after which `stream` is gone; a half that was joined is followed through merged_into.
  if (stream->half && reliable) learn(*stream->half, packet, opcode, psn);
  if (transport == Transport::ud && key.qp == dissect::qp_gsi) read_cm(packet, key.source, key.destination);
  return place;
}

void Tracker::read_cm(const Packet& packet, const Address& source, const Address& destination) {
  if (const auto req = packet.find<dissect::CmReq>()) {
    if (requests_.size() >= most_open_requests) return;
    Request r;
    r.to = destination;
    r.transport = transport_of_service(req->get<"transpsvctype">(), req->get<"ext_transport">());
    r.qpn = static_cast<std::uint32_t>(req->get<"localqpn">());
    const std::uint64_t mtu = req->get<"pppmtu">();
    r.pmtu = mtu >= 1 && mtu <= 5 ? 128u << mtu : 0;
    r.p_key = static_cast<std::uint16_t>(req->get<"pkey">());
    // StartingPSN is where the other side begins to send (the captures say so; Linux cma sets rq_psn from it).
    r.passive.start_psn = static_cast<std::uint32_t>(req->get<"startpsn">());
    r.active.responder_resources = static_cast<std::uint8_t>(req->get<"responderres">());
    r.active.initiator_depth = static_cast<std::uint8_t>(req->get<"initdepth">());
    r.active.retry_count = static_cast<std::uint8_t>(req->get<"retrcount">());
    r.passive.rnr_retry_count = static_cast<std::uint8_t>(req->get<"rnrretrcount">());
    r.passive.retry_count = r.active.retry_count;  // Linux uses it on both sides
    r.passive.ack_timeout = static_cast<std::uint8_t>(req->get<"prim_localacktout">());
    requests_[{static_cast<std::uint32_t>(req->get<"localcommid">()), source}] = r;
    return;
  }
  if (const auto rej = packet.find<dissect::CmRej>()) {
    requests_.erase({static_cast<std::uint32_t>(rej->get<"remotecommid">()), destination});
    return;
  }
  const auto rep = packet.find<dissect::CmRep>();
  if (!rep) return;
  const auto request = requests_.find({static_cast<std::uint32_t>(rep->get<"remotecommid">()), destination});
  if (request == requests_.end() || !(request->second.to == source)) return;
  const Request r = request->second;  // stays: a REP may be sent again
  const std::uint32_t qpn = static_cast<std::uint32_t>(rep->get<"localqpn">());
  const std::uint32_t start_psn = static_cast<std::uint32_t>(rep->get<"startpsn">());
  const Key from_active{destination, source, qpn, 0}, from_passive{source, destination, r.qpn, 0};

  // A queue pair number in use so far belongs to a connection that is gone, unless this REP was seen before.
  for (const Key& key : {from_active, from_passive}) {
    const auto stream = streams_.find(key);
    if (stream == streams_.end()) continue;
    const Connection& c = *stream->second.connection;
    if (c.paired == PairedBy::cm && c.facts[0].start_psn == start_psn && c.facts[1].start_psn == r.passive.start_psn)
      return;
    end(c.id);
  }
  if (connections_.size() >= most_connections_) {
    ++refused_;
    return;
  }
  Connection& c = add_connection(from_active, packet, r.transport);
  c.qpn[0] = r.qpn;
  c.paired = PairedBy::cm;
  c.pmtu = r.pmtu;
  c.pmtu_told = r.pmtu != 0;
  c.p_key = r.p_key;
  c.facts = {r.active, r.passive};
  c.facts[0].rnr_retry_count = static_cast<std::uint8_t>(rep->get<"rnrretrcount">());
  c.facts[0].start_psn = start_psn;
  c.facts[1].responder_resources = static_cast<std::uint8_t>(rep->get<"respres">());
  c.facts[1].initiator_depth = static_cast<std::uint8_t>(rep->get<"initdepth">());
  add_stream(from_active, c, 0);
  add_stream(from_passive, c, 1);
}

std::vector<Connection*> Tracker::connections() {
  std::vector<Connection*> out;
  for (const auto& [id, connection] : connections_) out.push_back(connection.get());
  std::sort(out.begin(), out.end(), [](const Connection* a, const Connection* b) { return a->id < b->id; });
  return out;
}

std::vector<std::unique_ptr<Connection>> Tracker::take_gone() { return std::exchange(gone_, {}); }

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
      address = lid_address(std::strtoull(name.c_str() + 3, nullptr, 0));
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
