// Finds the connection of each packet, and pairs the two one-way packet streams of a connection: by the CM exchange in
// the capture, by what the user says, or because responses of one stream name PSNs that only the other has sent.
//
// BTH names the receiver's queue pair only, so a stream is (source, destination, destination QP). Until it is paired a
// stream is half a connection; its requests are followed from the start, its responses wait for evidence.
#pragma once

#include <absl/container/flat_hash_map.h>

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
};
Result<UserPair> parse_pair(const std::string& text);

struct Place {
  Connection* connection = nullptr;  // nullptr: no InfiniBand transport, or the table is full
  std::uint8_t side = 0;             // who sent it
};

class Tracker {
 public:
  // Live connections at most; packets of further ones are counted as refused.
  explicit Tracker(std::size_t most_connections = 1'000'000);

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

  // In order of id; halves that were merged away are gone.
  std::vector<Connection*> connections();
  // Connections that ended since the last call: their queue pair was used anew.
  std::vector<std::unique_ptr<Connection>> take_ended();

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
  // What pairing needs to know of a half: the PSNs its requests have had.
  struct Stream {
    Connection* connection = nullptr;
    std::uint8_t side = 0;
    bool half = true;
    bool any_request = false;
    std::uint32_t first_psn = 0, end_psn = 0;
    std::vector<Stream*> candidates;  // halves that fit all responses so far; empty: none asked yet
    bool asked = false;
  };
  // A REQ waiting for its REP.
  struct Request {
    Address from, to;
    std::uint32_t qpn, start_psn;
    std::uint32_t pmtu;
    dissect::Transport transport;
    EndFacts facts;          // of the active side
    EndFacts passive_facts;  // what the REQ sets for the other side
    std::optional<std::uint16_t> p_key;
  };

  Stream* find_or_make(const Key& key, const dissect::Packet& packet, dissect::Transport transport);
  Stream* make(const Key& key, const dissect::Packet& packet, dissect::Transport transport);
  void learn(Stream& stream, const dissect::Packet& packet, std::uint8_t opcode, std::uint32_t psn);
  void join(Stream& a, Stream& b, PairedBy by);
  void join_by_user(Stream& stream, const Key& key);
  void read_cm(const dissect::Packet& packet);
  void connect(const Request& request, const Address& passive, std::uint32_t passive_qpn, std::uint32_t passive_psn,
               const EndFacts& passive_facts, std::uint8_t passive_responder_resources, const dissect::Packet& packet);
  void end(Connection* connection);

  std::size_t most_connections_;
  std::uint32_t next_id_ = 1;
  std::uint64_t refused_ = 0;
  absl::flat_hash_map<Key, std::unique_ptr<Stream>> streams_;
  absl::flat_hash_map<Hosts, std::vector<Stream*>> halves_;
  std::vector<std::unique_ptr<Connection>> connections_, ended_;
  absl::flat_hash_map<std::uint64_t, Request> requests_;  // by (sender's communication id, place in the pair)
  std::vector<UserPair> user_pairs_;
};

}  // namespace rdmascope::check
