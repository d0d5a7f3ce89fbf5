// AWS CDI: the connections that control messages speak of, the state of both probes as far as it shows, and where a
// side breaks the sequence. There is no queue pair here: a flow is two UDP ends. cdi-probe.md 1.1, 3 and 7.
//
// The transmitter (Tx) is the client, the receiver (Rx) the server. A rule that needs a message to be absent waits
// until the next number of its sender proves that the capture lacks none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "check/connection.h"
#include "check/finding.h"
#include "dissect/cdi.h"

namespace rdmascope::check {

using dissect::ProbeState;

enum class CdiRole : std::uint8_t { tx, rx };
constexpr CdiRole other(CdiRole role) { return role == CdiRole::tx ? CdiRole::rx : CdiRole::tx; }

struct CdiVersion {
  std::uint8_t version = 0, major = 0, probe = 0;
  auto operator<=>(const CdiVersion&) const = default;
  bool has_v1_layout() const { return version <= 1; }
};
std::string to_text(CdiVersion version);  // "2.3.5"
// What a side with version `own` agrees to when its peer has `remote`. cdi-probe.md 3.6.
CdiVersion negotiate(CdiVersion own, CdiVersion remote);

struct UdpEnd {
  Address address;
  std::uint16_t port = 0;
  bool operator==(const UdpEnd&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const UdpEnd& e) {
    return H::combine(std::move(h), e.address, e.port);
  }
};
std::string to_text(const UdpEnd& end);  // "10.0.0.1:49599", "[fe80::1]:2000"

// A control message that is whole.
struct CdiMessage {
  std::uint64_t frame = 0;
  std::int64_t time_ns = 0;
  std::uint8_t command = 0;  // 0: none of the five
  std::uint16_t number = 0;
  CdiVersion version;
  std::uint8_t ack_command = 0;  // of Ack; 255: beyond a byte
  std::uint16_t ack_number = 0;
  std::uint8_t requires_ack = 0;
  std::uint16_t control_port = 0, checksum = 0;
  std::array<std::uint8_t, dissect::cdi_address_bytes> address{};

  bool is_reset() const { return command == dissect::cdi_reset; }
  bool is_ack_of(std::uint8_t what) const { return command == dissect::cdi_ack && ack_command == what; }
};

// A numbered message that the capture has, for the Ack that names it.
struct CdiSent {
  std::uint64_t frame = 0;
  std::int64_t time_ns = 0;
  std::uint16_t number = 0, checksum = 0;
  std::uint8_t command = 0;
  std::uint64_t answer_frame = 0;  // its first Ack; 0: none
};

// One end of a flow.
struct CdiSide {
  UdpEnd end;
  std::uint64_t messages = 0, missing = 0;  // missing: numbers that were passed over
  std::uint64_t good = 0;                   // with a right checksum
  std::optional<CdiMessage> last;
  std::deque<CdiSent> sent;  // the latest
  ProbeState state = ProbeState::unknown;
  std::int64_t state_ns = 0;  // since then
  std::array<std::int64_t, dissect::probe_state_count> spent_ns{};
  bool from_start = false;   // its first number was 1
};

// What happened to a flow, for people. `count` says how many of a kind followed each other.
struct CdiEvent {
  enum class Kind : std::uint8_t {
    resets,            // Tx asks; nobody has answered yet
    answered,          // Rx acknowledges the Reset
    agreed,            // on a version
    agreed_old,        // by the Ack of the Reset, as SDKs without ProtocolVersion do
    connected,         // Rx says so
    pings,             // that were answered
    pings_unanswered,  // until the next event
    tx_reset,          // Tx gives up: connected before, or in the middle of the handshake
    rx_reset,          // Rx gives up
    lost,              // numbers that the capture does not have
  };
  Kind kind = Kind::resets;
  std::uint64_t frame = 0, last_frame = 0;
  std::int64_t time_ns = 0, last_ns = 0;
  std::uint32_t count = 1;
  std::int64_t shortest_ns = 0, longest_ns = 0;  // of answers
  CdiVersion version;
  // Of resets: the connection was there before, all Pings were answered, Rx had reset just before.
  bool was_connected = false, pinged = false, after_rx = false;
};

struct CdiFlow;

// What a message, or its absence, breaks. Each is the one of a rule: check/rules/cdi_*.cc.
enum class CdiBreach : std::uint8_t {
  length,
  checksum,
  command,
  requires_ack_value,
  ip_text,
  ip_differs,
  port_differs,
  stream_id,
  refused_version,
  early_version_request,
  stream_name,
  direction,
  both_ping,
  number,
  first_number,
  number_again,
  ack_of_nothing,
  ack_of_answer,
  late_ping_ack,
  late_reset_ack,
  went_on_after_stale_ack,
  ping_ack_count,
  reset_ack_version,
  version_ack_version,
  opening,
  reset_period,
  version_request,
  version_before_ack,
  version_period,
  early_connected,
  no_connected,
  connected_again,
  silent_after_connected,
  ping_period,
  ping_retries,
  ping_before_connected,
  answer_to_rx_reset,
  rx_reset_count,
  rx_reset_asks,
  no_path,
  no_answer,
  pings_without_answer,
  other_version,
  no_renegotiation,
  address_changed,
  address_zero,
  address_form,
  data_header,
  data_sequence,
  payload_number,
  packet_id,
  probe_and_data,
  probe_count,
  rdm_version,
  rdm_length,
  failed_completion,
};
inline constexpr std::size_t cdi_breaches = static_cast<std::size_t>(CdiBreach::failed_completion) + 1;

struct CdiBroken {
  CdiBreach breach;
  CdiFlow* flow = nullptr;  // nullptr: of data that belongs to no flow
  CdiRole by = CdiRole::tx;
  std::uint64_t frame = 0;
  std::int64_t time_ns = 0;
  std::optional<Class> kind;  // instead of the rule's
  std::string_view field;     // in static storage; empty: none
  std::optional<std::uint64_t> expected, actual;
  std::string text;
};

// Something that holds only if the capture lacks no message of `of` until then.
struct CdiDeferred {
  CdiRole of;
  CdiBroken broken;
};

struct CdiFlow {
  std::uint32_t number = 0;  // from 1, in order of appearance
  std::array<CdiSide, 2> side;
  bool first_is_tx = true;    // who sent its first message
  bool role_certain = false;  // else taken from a Reset, which both sides send
  std::string stream_name;
  std::uint64_t first_frame = 0, last_frame = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  std::array<std::uint32_t, 3> found{};  // findings by class

  // Since the last Reset of Tx.
  struct Cycle {
    std::uint64_t frame = 0;  // of its first Reset; 0: it was before the capture
    std::uint32_t resets = 0, version_requests = 0;
    std::uint16_t reset_number = 0, version_number = 0;  // of the last one
    std::int64_t reset_ns = 0;
    CdiVersion reset_version;
    bool acked = false;      // that one
    bool stale_ack = false;  // an earlier one
    bool version_acked = false;
    std::uint64_t version_frame = 0;
    std::int64_t ack_ns = 0;
    CdiVersion ack_version, version_request;
    bool connected = false, pinged = false;
    bool doubt = false;  // a number is missing since
  } cycle;
  // As Rx has answered since it last acknowledged a Reset.
  struct Answers {
    bool reset = false, version = false, connected = false;
    CdiVersion reset_version;
    std::optional<CdiVersion> agreed;  // by both
    std::int64_t agreed_ns = 0;
    std::uint64_t agreed_frame = 0;
    std::array<std::uint8_t, dissect::cdi_address_bytes> address{};
  } answers;
  // Pings since the last one that was answered.
  std::uint32_t unanswered_pings = 0;
  std::uint64_t unanswered_frame = 0;
  std::int64_t ping_ack_ns = 0;   // of the last answer; 0: none in this connection
  std::int64_t connected_ns = 0;  // when Rx said so last
  std::uint64_t reset_by_rx = 0;  // frame of a Reset of Rx since the last one of Tx
  std::uint32_t rx_resets = 0;    // in a row, without a word of Tx
  std::int64_t rx_reset_ns = 0;   // of the last one, while Tx has not answered it
  std::uint32_t failed_cycles = 0, unanswered_resets = 0;
  std::uint64_t unanswered_reset_frame = 0;
  bool told_data = false;
  std::uint64_t data_after_ping = 0;  // messages over EFA since the first Ping without an answer

  std::uint64_t pings = 0, pongs = 0, times_connected = 0;
  std::int64_t round_trip_ns = 0, shortest_ns = 0, longest_ns = 0;  // sum, of Pings
  std::vector<CdiDeferred> deferred;                                // one of a kind
  std::vector<CdiEvent> events;
  std::uint64_t events_left_out = 0;

  CdiSide& of(CdiRole role) { return side[static_cast<std::size_t>(role)]; }
  const CdiSide& of(CdiRole role) const { return side[static_cast<std::size_t>(role)]; }
  const CdiSide& tx() const { return of(CdiRole::tx); }
  const CdiSide& rx() const { return of(CdiRole::rx); }
  // The version in force, as far as the capture has it.
  std::optional<CdiVersion> version() const { return answers.agreed; }
  // ProtocolVersion is out and has no Ack.
  bool version_answer_missing() const { return cycle.version_frame != 0 && !cycle.version_acked; }
};

// How a message stands to those before it.
struct CdiContext {
  CdiMessage message;
  const CdiFlow& flow;
  CdiRole by;
  bool followed = false;            // a receiver takes it, and it was not captured before
  std::uint64_t request_frame = 0;  // of an Ack: what it answers
  std::uint64_t first_frame = 0;    // captured again: the first time
};

class CdiFlows {
 public:
  // A frame without BTH that the capture kept whole: nullopt if it is no control message of a flow. What it breaks is
  // in broken() until the next call.
  std::optional<CdiContext> frame(const dissect::Packet& packet);
  // After the last frame: what never came.
  void finish(std::int64_t end_ns);

  std::vector<CdiBroken>& broken() { return broken_; }
  bool empty() const { return flows_.empty(); }
  std::uint64_t refused() const { return refused_; }  // messages of flows beyond the limit
  std::deque<CdiFlow>& flows() { return flows_; }
  const std::deque<CdiFlow>& flows() const { return flows_; }

  // The side that said it has this queue pair on EFA; nullptr: none, or several.
  struct Owner {
    CdiFlow* flow = nullptr;
    CdiRole role = CdiRole::tx;
  };
  Owner owner_of_queue(std::uint32_t qpn) const;

 private:
  struct Stream {
    UdpEnd from, to;
    bool operator==(const Stream&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Stream& s) {
      return H::combine(std::move(h), s.from, s.to);
    }
  };
  // The end that sends; `first` is the one that the flow's first message came from, whatever its role.
  struct Place {
    CdiFlow* flow = nullptr;
    bool first = true;
    CdiRole role() const { return first == flow->first_is_tx ? CdiRole::tx : CdiRole::rx; }
  };

  Place place(const Stream& stream, const CdiMessage& message);
  Place known(const Stream& stream) const;
  void settle_role(CdiFlow& flow, Place place, const CdiMessage& message);
  void judge_damage(CdiFlow& flow, CdiRole by, const dissect::Packet& packet, std::span<const std::uint8_t> datagram);
  void judge_alone(const dissect::Packet& packet, std::span<const std::uint8_t> datagram);
  void judge_fields(CdiFlow& flow, CdiRole by, const CdiMessage& m, std::span<const std::uint8_t> datagram,
                    const Stream& stream);
  bool count(CdiFlow& flow, CdiRole by, const CdiMessage& m, CdiContext& c);
  void settle_deferred(CdiFlow& flow, CdiRole by, std::int64_t now_ns, bool without_gap);
  void follow(CdiFlow& flow, CdiRole by, const CdiMessage& m, CdiContext& c);
  void tx_reset(CdiFlow& flow, const CdiMessage& m);
  void tx_version(CdiFlow& flow, const CdiMessage& m);
  void tx_ping(CdiFlow& flow, const CdiMessage& m);
  void rx_reset(CdiFlow& flow, const CdiMessage& m);
  void rx_connected(CdiFlow& flow, const CdiMessage& m);
  void acknowledge(CdiFlow& flow, const CdiMessage& m, CdiContext& c);
  void ack_reset(CdiFlow& flow, const CdiMessage& m, const CdiSent* sent);
  void ack_version(CdiFlow& flow, const CdiMessage& m, const CdiSent* sent);
  void ack_ping(CdiFlow& flow, const CdiMessage& m, const CdiSent* sent);
  void after_silence(CdiFlow& flow, CdiRole by, const CdiMessage& m, bool without_gap);
  void gave_up_on_path(CdiFlow& flow, const CdiMessage& m, CdiRole by);
  void no_answer(CdiFlow& flow, std::int64_t now_ns);
  static void enter(CdiFlow& flow, CdiRole role, ProbeState state, std::int64_t now_ns);
  static CdiEvent& tell(CdiFlow& flow, CdiEvent::Kind kind, const CdiMessage& m, bool join = false);
  CdiBroken& broken(CdiBreach breach, CdiFlow& flow, CdiRole by, const CdiMessage& m, std::string text = {});
  CdiBroken& in_sequence(CdiBreach breach, CdiFlow& flow, CdiRole by, const CdiMessage& m, std::string text);
  void defer(CdiFlow& flow, CdiRole of, CdiBreach breach, CdiRole by, const CdiMessage& m, std::string text);

  std::deque<CdiFlow> flows_;  // they keep their places
  absl::flat_hash_map<Stream, Place> streams_;
  absl::flat_hash_map<std::uint32_t, Owner> queues_;  // by QP number of an EFA address
  std::vector<CdiBroken> broken_;
  std::uint64_t refused_ = 0;
  std::optional<std::int64_t> begin_ns_;
  // The message of the same sender before the one at hand, and whether nothing is missing between them.
  std::optional<CdiMessage> previous_;
  bool previous_follows_ = false;
};

// The course of a flow in sentences, one each: "4.024 Rx answers Reset #3 after 0.024 s". Times count from `begin_ns`.
std::vector<std::string> story(const CdiFlow& flow, std::int64_t begin_ns, std::int64_t end_ns);

}  // namespace rdmascope::check
