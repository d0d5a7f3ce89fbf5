// What is known of a connection while its packets pass: two ends, for each the requests it sends and the responses they
// get. One object per connection; its worker alone touches it while packets are judged.
//
// A flow is one request stream (side s sends requests, the other side answers). Messages stay in the flow's queue from
// their first packet until they are answered and nothing before them is open.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/psn.h"
#include "dissect/opcodes.h"

namespace rdmascope::check {

// A queue on one vector: no memory until something is in it.
template <class T>
class Queue {
 public:
  bool empty() const { return head_ == items_.size(); }
  std::size_t size() const { return items_.size() - head_; }
  T& front() { return items_[head_]; }
  T& back() { return items_.back(); }
  const T& back() const { return items_.back(); }
  T& operator[](std::size_t i) { return items_[head_ + i]; }
  const T& operator[](std::size_t i) const { return items_[head_ + i]; }
  void push_back(T item) { items_.push_back(std::move(item)); }
  void pop_front() {
    if (++head_ == items_.size()) {
      items_.clear();
      head_ = 0;
    } else if (head_ >= 4 && head_ * 2 >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }
  void insert(std::size_t i, T item) {
    items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(head_ + i), std::move(item));
  }
  void erase(std::size_t i) { items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(head_ + i)); }
  void clear() {
    items_.clear();
    head_ = 0;
  }

 private:
  std::vector<T> items_;
  std::size_t head_ = 0;
};

struct Address {
  enum class Kind : std::uint8_t { none, ip, gid, lid };
  std::array<std::uint8_t, 16> bytes{};  // IPv4 as ::ffff:a.b.c.d; a LID in the last two
  Kind kind = Kind::none;
  bool operator==(const Address&) const = default;

  template <class H>
  friend H AbslHashValue(H h, const Address& a) {
    std::uint64_t words[2];
    std::memcpy(words, a.bytes.data(), sizeof words);
    return H::combine(std::move(h), words[0], words[1], a.kind);
  }
};
std::string to_text(const Address& address);
inline Address lid_address(std::uint64_t lid) {
  Address a;
  a.kind = Address::Kind::lid;
  a.bytes[14] = static_cast<std::uint8_t>(lid >> 8);
  a.bytes[15] = static_cast<std::uint8_t>(lid);
  return a;
}

enum class Operation : std::uint8_t { send, write, read, compare_swap, fetch_add, flush, atomic_write };
std::string_view name(Operation operation);
// Of a request opcode's low five bits.
Operation operation_of(std::uint8_t opcode);

enum class MessageState : std::uint8_t {
  open,        // not answered yet; at the end of the capture: incomplete
  complete,    // acknowledged, or all responses seen
  naked,       // refused with nak_code
  missed,      // answered, but packets of it are not in the capture
  unreliable,  // UC, UD: nobody answers
};
std::string_view name(MessageState state);

struct Message {
  std::uint32_t index = 0;  // in its flow, from 1
  Operation operation = Operation::send;
  MessageState state = MessageState::open;
  std::uint8_t nak_code = 0;  // NAK syndrome byte when naked
  bool has_first = false;     // its first packet is in the capture
  bool has_last = false;      // its last packet is (requests that are one packet: at once)
  bool has_hole = false;      // packets between are not (yet)
  bool has_immediate = false;
  bool has_reth = false;
  bool length_known = true;  // READ: how many PSNs it takes is known
  bool maybe_rest = false;   // READ: perhaps the retry of an earlier one that the capture lacks
  std::uint32_t first_psn = 0;
  std::uint32_t psns = 0;  // PSNs taken so far; READ: its response packets
  std::uint32_t r_key = 0, dma_length = 0, immediate = 0;
  std::uint32_t msn = 0;  // of the response that completed it
  std::uint64_t va = 0;
  std::uint64_t bytes = 0;  // payload seen, request or READ response
  std::uint64_t first_frame = 0, last_frame = 0, answer_frame = 0;
  std::int64_t start_ns = 0, sent_ns = 0, done_ns = 0;  // first and last request packet, completion
  std::uint32_t packets = 0;                            // distinct request packets seen
  std::uint32_t retransmitted = 0;                      // further ones
  std::uint32_t rnr_naks = 0, seq_naks = 0;
  // READ: next response wanted, how many were skipped, and where requests for it started (the original, then retries).
  std::uint32_t responses = 0, next_response_psn = 0, response_holes = 0;
  std::array<std::uint32_t, 4> request_psns{};
  std::uint8_t request_count = 0;

  std::uint32_t end_psn() const { return psn_add(first_psn, psns); }  // one past the last
  bool holds(std::uint32_t psn) const {
    const std::int32_t d = psn_diff(psn, first_psn);
    return d >= 0 && static_cast<std::uint32_t>(d) < psns;
  }
  bool answered_by_response() const { return operation >= Operation::read; }  // not by a plain ACK
};

// A request packet as it was first seen, to hold a retransmission against.
struct SentPacket {
  std::uint32_t psn;
  std::uint32_t content_crc;  // of everything between BTH and ICRC; 0: not known
  std::uint64_t frame;
  std::int64_t time_ns;
  std::uint8_t opcode;
};

// A request that is answered with more than an acknowledge: READ, atomics, FLUSH, ATOMIC WRITE. Kept for a while after
// its answer, since it may be asked again.
struct DataRequest {
  std::uint32_t psn, psns;
  std::uint32_t r_key, dma_length;
  std::uint64_t va;
  std::uint64_t original_data = 0;  // an atomic's first answer
  std::uint64_t frame;
  Operation operation;
  bool length_known = true;     // psns is exact
  bool answered = false;        // its last response was seen
  bool resent = false;          // it was asked again
  bool asked_too_much = false;  // a retry asked for what the request does not cover
};

// Request PSNs that were passed over.
struct Gap {
  std::uint32_t first, count;
  std::uint64_t frame;  // of the packet behind it
  std::int64_t time_ns;
  bool naked = false;                  // the responder missed them, too: lost on the wire
  bool tight = false;                  // by IP identification no packet of the sender is missing before it
  bool in_message = false;             // packets of a message that was seen in part must be among them
  Operation behind = Operation::send;  // what was sent before it
};

// What an MSN says is certain only if the capture has all requests the responder had got by then. The next request
// tells: it stands behind the last one, or there was something between.
struct MsnDoubt {
  bool any = false, too_high = false;
  std::uint32_t low = 0;  // Flow::msn_low by this MSN
  std::uint32_t most = 0, msn = 0;
  std::uint64_t frame = 0;
  std::int64_t time_ns = 0;
  bool repeated = false;
};

struct PendingNak {
  enum class Kind : std::uint8_t { none, sequence, rnr, fatal };
  Kind kind = Kind::none;
  std::uint8_t syndrome = 0;
  std::uint32_t psn = 0;
  std::uint64_t frame = 0;
  std::int64_t time_ns = 0;
  std::optional<std::uint16_t> ip_id;
};

// What a flow needs only when something goes wrong; most never do.
struct Trouble {
  Queue<Gap> gaps;
  PendingNak nak;     // the last one, until the requester reacts
  bool dead = false;  // fatal NAK: nothing new may be sent
  std::uint32_t dead_psn = 0;
  std::int64_t dead_ns = 0;
  // Responses passed over since the sender last went back, and when that was seen: to the requester an implied NAK.
  std::uint32_t holes = 0;
  std::int64_t hole_ns = 0;
  // After a sequence NAK the sender resumed behind the PSN that was wanted.
  std::optional<std::uint32_t> wanted_psn;
  std::uint32_t resumed_psn = 0;
  std::uint64_t resumed_frame = 0;
  std::int64_t resumed_ns = 0;
  // An acknowledge that came before the responses of an earlier READ or atomic.
  std::optional<std::uint32_t> overtaken_psn;
  std::uint32_t overtaking_psn = 0;
  std::uint64_t overtaking_frame = 0;
  std::int64_t overtaking_ns = 0;
  // A response ahead of every request seen, until requests show who is at fault.
  std::optional<std::uint32_t> ahead_psn;
  std::uint32_t ahead_last_psn = 0;  // and of the last of them
  bool ahead_is_ack = false;
  std::uint64_t ahead_frame = 0;
  std::int64_t ahead_ns = 0;
  std::uint64_t first_missed_frame = 0, first_lost_frame = 0;
  std::uint32_t go_backs = 0, resend_skips = 0;          // the sender went back; PSNs it passed over then
  std::uint32_t skip_psn = 0, skip_psns = 0;             // the first of these since it went back
  std::uint32_t lost_requests = 0;                       // packets asked for again, or passed over while sending again
  std::uint32_t lost_responses = 0, late_responses = 0;  // passed over; those that came later after all
  std::uint32_t timeouts_in_row = 0;                     // with no response between
  std::uint32_t rnr_in_row = 0;                          // RNR NAKs for one request, since
  std::int64_t rnr_start_ns = 0;
  std::uint32_t starved = 0;  // times the credits went down to none
};

// One object made when it is first written to; until then it reads as new.
template <class T>
class Rare {
 public:
  explicit operator bool() const { return object_ != nullptr; }
  const T& operator*() const { return object_ ? *object_ : nothing_; }
  const T* operator->() const { return &**this; }
  T& write() {
    if (!object_) object_ = std::make_unique<T>();
    return *object_;
  }

 private:
  static inline const T nothing_{};
  std::unique_ptr<T> object_;
};

struct Flow {
  // Requests.
  bool started = false;
  bool next_known = false;       // false: behind a READ whose number of responses is not known
  bool in_message = false;       // messages.back() waits for its Middle or Last
  std::uint32_t first_psn = 0;   // of the flow in this capture
  std::uint32_t next_psn = 0;    // of the next new request packet
  std::uint32_t cursor_psn = 0;  // where the next packet stands if the sender goes on as it does, new or repeating
  std::uint32_t message_count = 0;
  std::uint32_t broken_messages = 0;  // of these: ended by the start of another one, so never complete
  std::int64_t last_request_ns = 0, last_progress_ns = 0;
  std::uint64_t last_request_frame = 0;
  bool last_was_tight = false;  // no packet of the sender is missing before it
  bool last_was_new = false;    // and not sent again
  bool last_asked = false;      // the last packet wants an answer: AckReq, or READ or atomic
  Queue<Message> messages;      // oldest first
  Queue<SentPacket> sent;       // by PSN
  Queue<DataRequest> asked;     // by PSN

  // Responses.
  bool any_response = false;
  bool has_acked = false;
  bool began_inside = false;    // its first packet continues a message
  std::uint32_t acked_psn = 0;  // highest PSN a response was about
  std::uint32_t last_msn = 0, last_response_psn = 0;
  std::uint64_t last_response_frame = 0;
  std::int64_t last_response_ns = 0;
  std::optional<std::uint32_t> plain_acked_psn;  // highest PSN of a plain acknowledge
  // MSN minus message index lies in [msn_low, msn_high], modulo 2^24, as far as they are known.
  bool msn_low_known = false, msn_high_known = false;
  std::uint32_t msn_low = 0, msn_high = 0;
  std::uint32_t msn_from_psn = 0;                  // requests before are not counted the same way
  std::uint32_t settled_low = 0, settled_msn = 0;  // the last doubt that was settled
  std::uint8_t settled = 0;                        // so many in a row agree
  MsnDoubt msn_doubt;
  std::uint8_t credit_code = 31;
  // Where the next response stands if they come one after the other.
  std::uint32_t answer_psn = 0;
  bool answers_restart = false;  // the sender went back; responses on the way still continue the old run

  Rare<Trouble> trouble;

  // Counts for tables.
  std::uint64_t request_packets = 0, request_bytes = 0, response_packets = 0, response_bytes = 0;
  std::uint64_t completed = 0;
  std::uint32_t retransmitted = 0, gap_packets = 0, missed_packets = 0, seq_naks = 0, rnr_naks = 0, fatal_naks = 0;
  std::uint32_t timeouts = 0, reordered = 0;
  std::uint32_t outstanding = 0, most_outstanding = 0;  // READs and atomics not answered
  std::uint32_t waits = 0;
  std::int64_t usual_wait_ns = 0;  // from request to answer: moving average of so many
};

enum class PairedBy : std::uint8_t { nothing, cm, user, inference };
std::string_view name(PairedBy source);

// Of a partition, as the P_Key of an end's packets says.
enum class Membership : std::uint8_t { unknown, limited, full };

// What a CM exchange or the user tells about one end.
struct EndFacts {
  std::optional<std::uint32_t> start_psn;
  std::optional<std::uint8_t> responder_resources, initiator_depth;
  std::optional<std::uint8_t> ack_timeout;  // code: 4.096 us * 2^n, 0 none; of what this end sends
  std::optional<std::uint8_t> retry_count, rnr_retry_count;
};

struct Connection {
  std::uint32_t id = 0;             // from 1, in order of first packet
  std::uint32_t other_half_id = 0;  // the other direction went by this id until it was paired; 0: none
  PairedBy paired = PairedBy::nothing;
  bool waited_in_vain = false;  // for its other half; its responses wait no more
  dissect::Transport transport = dissect::Transport::rc;
  bool transport_known = false;
  std::array<Address, 2> address;                   // of side 0 and 1; side 0 sent the first packet
  std::array<std::optional<std::uint32_t>, 2> qpn;  // of each side: what the other one sends to
  std::optional<std::uint32_t> ud_source_qp;        // UD: its senders name themselves
  std::optional<std::uint32_t> ud_psn, ud_q_key;    // UD: of the last packet
  std::uint32_t pmtu = 0;                           // bytes; 0: unknown
  bool pmtu_told = false;                           // by CM or by the user
  std::uint8_t pmtu_messages = 0;                   // whose First packet agrees with it, where CM does not tell it
  std::optional<std::uint16_t> p_key;
  std::array<Membership, 2> member{};       // of each side
  std::array<std::uint8_t, 2> reserved6{};  // BTH bits seen set, from each side
  std::array<EndFacts, 2> facts;
  std::array<Rare<Flow>, 2> flow;  // flow[s]: requests of side s, responses of the other; many have one only
  std::array<std::uint64_t, 2> packets{}, bytes{};  // sent by each side, whole frames
  std::array<std::uint64_t, 2> good_icrc{}, bad_icrc{}, unverified_icrc{};
  std::array<std::uint64_t, 2> ce_marks{}, cnps{};  // ECN CE marks sent by; CNPs sent by
  // Order of sending, where the sender's stack counts its IP packets: highest identification so far, and how many in a
  // row went up. A step back after many says that the packet was overtaken.
  std::array<std::uint16_t, 2> ip_id{};
  std::array<std::uint8_t, 2> ip_id_run{}, ip_id_changes{};
  std::array<std::array<std::uint32_t, 8>, 2> recent{};  // fingerprints of each side's last packets
  std::array<std::uint8_t, 2> recent_at{};
  std::uint32_t twice = 0, cut = 0;  // frames captured twice; not kept whole
  std::uint64_t first_twice_frame = 0, first_cut_frame = 0;
  // Of CNPs from each side: the last one, and the shortest time between two; the first packet marked CE.
  std::array<std::int64_t, 2> last_cnp_ns{}, shortest_cnp_ns{};
  std::array<std::uint64_t, 2> first_ce_frame{};
  std::uint64_t first_frame = 0, last_frame = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  std::uint64_t not_judged = 0;          // responses without known requests, ambiguous pairing
  std::array<std::uint32_t, 3> found{};  // findings by class
  // Set when this half turned out to be the other direction of another connection; it takes no more packets.
  Connection* merged_into = nullptr;

  bool reliable() const { return transport == dissect::Transport::rc || transport == dissect::Transport::xrc; }
};

}  // namespace rdmascope::check
