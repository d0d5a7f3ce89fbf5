// Conversations of the connection manager: which exchange a message belongs to, by the communication IDs both ends
// chose. IDs are an end's own, so they are looked up together with its address. mad.md 7, 9.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "check/connection.h"
#include "dissect/cm.h"
#include "dissect/packet.h"

namespace rdmascope::check {

// One exchange, from REQ on.
struct CmTalk {
  Address active, passive;  // who sent REQ, and to whom
  std::uint32_t active_id = 0;
  std::optional<std::uint32_t> passive_id;
  std::uint64_t tid = 0;
  std::uint64_t req_frame = 0, rep_frame = 0;
  std::int64_t req_ns = 0;      // of the last REQ
  std::uint32_t req_times = 1;  // sent
  bool answered = false;        // the last REQ: by REP, REJ or MRA
  bool dreq[2] = {};            // by the active side, by the passive side
  std::uint8_t responder_resources = 0, response_timeout = 0, most_retries = 0, ack_timeout = 0;  // of REQ
};

// How a message stands to those before it.
struct CmFacts {
  const CmTalk* talk = nullptr;  // nullptr: its REQ is not in the capture
  bool from_active = false;
  bool captured_again = false;
  bool both_ways = false;  // messages between the two were seen in both directions
  std::optional<std::uint32_t> expected_local, expected_remote;  // communication IDs, where this one has another
  // REP for none of the REQ in the capture, while this one waits for its REP.
  const CmTalk* waiting = nullptr;
  std::optional<std::int64_t> wait_ns;  // answers to REQ: since the last one
};

class CmTalks {
 public:
  CmFacts message(const dissect::Packet& packet, const std::uint8_t* mad, const Address& from, const Address& to);
  std::size_t size() const { return order_.size(); }

 private:
  using End = std::pair<Address, std::uint32_t>;
  CmTalk* find(const Address& address, std::uint32_t id);
  CmFacts request(const dissect::Packet& packet, const std::uint8_t* mad, const Address& from, const Address& to);
  void forget_oldest();

  absl::flat_hash_map<End, std::shared_ptr<CmTalk>> ends_;
  std::deque<std::shared_ptr<CmTalk>> order_;
  absl::flat_hash_set<std::pair<Address, Address>> ways_;  // from, to
  // The last REQ between two: its REP is due.
  absl::flat_hash_map<std::pair<Address, Address>, std::weak_ptr<CmTalk>> last_;
};

}  // namespace rdmascope::check
