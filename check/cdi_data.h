// AWS CDI: packets with data, on UDP or as records of messages over EFA, one way each; and failed completions that must
// end a connection. What they have to do with a control flow shows by the queue pair that its messages name.
// cdi-probe.md 4, 5.3, 6 and 7.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "check/cdi.h"

namespace rdmascope::check {

class CdiData {
 public:
  explicit CdiData(CdiFlows& flows) : flows_(flows) {}

  // A frame without BTH that the capture kept whole. What it breaks is in broken() until the next call.
  void frame(const dissect::Packet& packet);
  // A control message, after CdiFlows has followed it.
  void control(const CdiContext& c);
  void finish(std::int64_t end_ns);

  std::vector<CdiBroken>& broken() { return broken_; }

 private:
  // Whose packets: two UDP ends, or the two queue pairs of a record and its direction.
  struct Key {
    UdpEnd from, to;
    std::uint32_t from_queue = 0, to_queue = 0;
    std::uint8_t direction = 0;
    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.from, k.to, k.from_queue, k.to_queue, k.direction);
    }
  };
  // A payload of which packets are on their way. SRD may deliver in any order.
  struct Payload {
    std::uint16_t number = 0;
    std::uint64_t frame = 0;  // of its first packet here
    std::uint32_t total = 0, bytes = 0, packets = 0;
    bool has_first = false, told = false;
    std::vector<std::uint64_t> seen;                             // bit per packet
    std::vector<std::pair<std::uint32_t, std::uint32_t>> parts;  // offset and length of packets behind the first
    std::uint32_t first_bytes = 0;
  };
  struct Way {
    std::deque<Payload> open;  // the latest
    std::uint16_t last_payload = 0;
    std::uint32_t last_packet = 0;
    bool any = false, any_packet = false;
    std::uint32_t probes = 0;
    bool probe_gap = false;
  };
  struct Failed {
    CdiFlow* flow;
    CdiRole by;
    std::uint64_t frame;
    std::int64_t time_ns;
    std::uint8_t status;
  };

  void data(const dissect::Packet& packet, const dissect::Layer& layer);
  void rdm(const dissect::Packet& packet);
  void completion(const dissect::Packet& packet);
  void unnoticed(const Failed& failed);
  void packet_of(Way& way, const dissect::Packet& packet, std::uint16_t payload, std::uint16_t sequence,
                 std::uint32_t offset, bool has_offset, std::uint32_t total, std::uint32_t bytes);
  CdiBroken& broken(CdiBreach breach, const dissect::Packet& packet, std::string text);

  CdiFlows& flows_;
  absl::flat_hash_map<Key, Way> ways_;
  absl::flat_hash_map<const CdiFlow*, std::uint32_t> probes_;  // of the present cycle, from Tx
  std::vector<Failed> failed_;
  std::vector<CdiBroken> broken_;
};

}  // namespace rdmascope::check
