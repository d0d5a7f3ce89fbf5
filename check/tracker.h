// Finds the connection of each packet, and pairs the two one-way packet streams of a connection: by the CM exchange in
// the capture, by what the user says, or because responses of one stream name PSNs that only the other has sent.
//
// BTH names the receiver's queue pair only, so a stream is (source, destination, destination QP). Until it is paired a
// stream is half a connection; its requests are followed from the start, its responses wait for evidence.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "check/connection.h"
#include "dissect/packet.h"

namespace rdmascope::check {

// Which two ends belong together, as the user says: --pair ADDRESS,QP=ADDRESS,QP
struct UserPair {
  Address a, b;
  std::uint32_t qp_a = 0, qp_b = 0;
  // What is known of it beforehand, so that no forged packet can set it. A tester knows; --pair does not say.
  std::optional<dissect::Transport> transport;
  std::optional<std::uint16_t> p_key;
  std::uint32_t pmtu = 0;                     // bytes; 0: unknown
  std::optional<std::uint32_t> psn_a, psn_b;  // first ones that a and b send
};
Result<UserPair> parse_pair(const std::string& text);

// The addresses of the layer that carries BTH: IP, GRH or LRH. False: there is none.
bool endpoints(const dissect::Packet& packet, Address& source, Address& destination);
// Those of the network header nearest before layer number `before`.
bool endpoints(const dissect::Packet& packet, int before, Address& source, Address& destination);

struct Place {
  Connection* connection = nullptr;  // nullptr: no InfiniBand transport, or the table is full
  std::uint8_t side = 0;             // who sent it
};

class Tracker {
 public:
  // Live connections at most; packets of further ones are counted as refused.
  explicit Tracker(std::size_t most_connections);

  void pair(const UserPair& pair) { user_pairs_.push_back(pair); }

  // One look-up. Packets in capture order; `bad_crc` ones find their connection but teach nothing.
  Place place(const dissect::Packet& packet, bool bad_crc);

  // Follows pointers to where a half went when it was paired.
  static Place resolve(Place place) {
    while (place.connection && place.connection->merged_into) {
      place.connection = place.connection->merged_into;
      place.side ^= 1;
    }
    return place;
  }

  // In order of id; halves that were merged away are not among them.
  std::vector<Connection*> connections();

  // Connections that no packet finds any more, since the last call, in the order in which they went: they ended,
  // because their queue pair was made anew, or were halves and have merged_into set. What place() returned before still
  // points to them.
  bool any_gone() const { return !gone_.empty(); }
  std::vector<std::unique_ptr<Connection>> take_gone();

  std::uint64_t refused() const { return refused_; }

 private:
  struct Key {
    Address source, destination;
    std::uint32_t qp, source_qp;  // source_qp: of datagrams
    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.source, k.destination, k.qp, k.source_qp);
    }
  };
  struct Hosts {
    Address low, high;
    bool operator==(const Hosts&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Hosts& k) {
      return H::combine(std::move(h), k.low, k.high);
    }
  };
  // What pairing needs to know of a stream whose other direction is not known: the PSNs its requests have had.
  struct Half {
    Connection* connection;
    bool any_request = false;
    std::uint32_t first_psn = 0, end_psn = 0;
    std::vector<std::uint32_t> candidates;  // connections that fit all responses so far
    bool asked = false;
    std::array<std::uint32_t, 4> indexed{};  // PSNs under which sent_ knows this half, the last ones
    std::uint8_t indexed_count = 0, indexed_next = 0;
    std::size_t position = 0;  // in its list of halves_
  };
  struct Stream {
    Connection* connection = nullptr;
    std::uint8_t side = 0;
    std::unique_ptr<Half> half;  // nullptr: paired, or never to be
  };
  // A REQ waiting for its REP, by the communication id and address of its sender.
  struct RequestKey {
    std::uint32_t communication_id;
    Address from;
    bool operator==(const RequestKey&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const RequestKey& k) {
      return H::combine(std::move(h), k.communication_id, k.from);
    }
  };
  struct Request {
    Address to;
    dissect::Transport transport;
    std::uint32_t qpn, pmtu;
    EndFacts active, passive;  // what the REQ says of either side
    std::uint16_t p_key;
  };

  static Key key_of(const Connection& connection, std::uint8_t side);  // of the packets that side sends
  static Hosts hosts(const Address& a, const Address& b);
  Stream* make(const Key& key, const dissect::Packet& packet, dissect::Transport transport);
  Stream& add_stream(const Key& key, Connection& connection, std::uint8_t side);
  Connection& add_connection(const Key& key, const dissect::Packet& packet, dissect::Transport transport);
  bool is_new_incarnation(const Stream& stream, const dissect::Packet& packet, std::uint8_t opcode,
                          std::uint32_t psn) const;
  void index_psn(Half& half, std::uint32_t psn);
  void unindex_psn(const Half& half, std::uint32_t psn);
  std::vector<std::uint32_t> halves_that_sent(const Half& half, std::uint32_t psn);
  void learn(Half& half, const dissect::Packet& packet, std::uint8_t opcode, std::uint32_t psn);
  Half* half_of(std::uint32_t connection);
  void join(std::uint32_t a, std::uint32_t b, PairedBy by);
  const UserPair* user_pair(const Key& key) const;  // that the stream belongs to
  void join_by_user(const Key& key, const UserPair& pair);
  void forget_half(Stream& stream);
  void read_cm(const dissect::Packet& packet, const Address& source, const Address& destination);
  void end(std::uint32_t id);

  std::size_t most_connections_;
  std::uint32_t next_id_ = 1;
  std::uint64_t refused_ = 0;
  absl::flat_hash_map<Key, Stream> streams_;
  absl::flat_hash_map<Hosts, std::vector<Half*>> halves_;
  // Halves by a hash of (source, destination, request PSN): where a response looks for whom it answers.
  absl::flat_hash_map<std::size_t, absl::InlinedVector<Half*, 1>> sent_;
  absl::flat_hash_map<std::uint32_t, std::unique_ptr<Connection>> connections_;  // by id
  std::vector<std::unique_ptr<Connection>> gone_;
  absl::flat_hash_map<RequestKey, Request> requests_;
  absl::flat_hash_map<Key, std::uint8_t> suspects_;  // streams of which only packets with a wrong CRC were seen
  std::vector<UserPair> user_pairs_;
};

}  // namespace rdmascope::check
