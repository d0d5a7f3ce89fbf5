// The responder of a model queue pair: executes requests in the order of their PSNs and answers them. ib-wire.md 6.4
// and 6.6.
//
// A packet is checked whole before anything of it happens: order, operation, receive buffer, length, access. The first
// check that fails decides the answer: a NAK on reliable connections, silence on the others.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/result.h"
#include "replay/model_qp.h"

namespace rdmascope::replay {

class Responder {
 public:
  explicit Responder(QueuePair& qp);

  Result<void> post(const ReceiveRequest& request);
  void request(const InPacket& in);
  std::optional<std::int64_t> next_event_ns() const;
  void run();
  void flush();

 private:
  enum class Fault : std::uint8_t { none, invalid, too_long, no_receive, access };

  // The message whose packets are coming in.
  struct Incoming {
    bool active = false, is_send = false;
    std::optional<ReceiveRequest> receive;
    std::uint64_t va = 0;
    std::uint32_t length = 0, received = 0;
  };

  // An executed request that is answered by more than an ACK: it may be asked again.
  struct Remembered {
    std::uint8_t operation = 0;
    std::uint32_t psn = 0, psns = 1;
    std::uint64_t va = 0;
    std::uint32_t r_key = 0, length = 0;
    std::uint64_t original = 0;  // atomics
  };

  void reliable(const InPacket& in);
  void unreliable(const InPacket& in);
  void datagram(const InPacket& in);
  void duplicate(const InPacket& in);
  void duplicate_read(const InPacket& in);

  Fault check(const InPacket& in) const;
  bool in_sequence(const InPacket& in) const;
  bool permitted(const InPacket& in) const;
  bool lacks_receive(const InPacket& in) const;
  std::optional<ReceiveRequest> kept_receive() const;
  Fault check_length(const InPacket& in) const;
  bool accessible(const InPacket& in) const;
  bool in_region(std::uint64_t va, std::uint64_t length, std::uint32_t r_key) const;

  void execute(const InPacket& in);
  void execute_send(const InPacket& in);
  void execute_write(const InPacket& in);
  void execute_read(const InPacket& in);
  void execute_atomic(const InPacket& in);
  void execute_flush_or_atomic_write(const InPacket& in);
  std::uint64_t apply_atomic(const InPacket& in);
  void finish_message(const InPacket& in);
  void complete_receive(const InPacket& in, std::uint32_t bytes);
  void fail_receive(Status status);
  void remember(Remembered request);
  void write_remote(std::uint64_t va, std::span<const std::uint8_t> bytes);

  void acknowledge(std::uint32_t psn, std::uint8_t syndrome);
  void refuse(const InPacket& in, Fault fault);
  void answer_read(std::uint32_t psn, std::uint64_t va, std::uint32_t length);
  void answer_only(std::uint32_t psn);
  void answer_atomic(std::uint32_t psn, std::uint64_t original);
  void emit(OutPacket out);

  QueuePair& qp_;
  std::deque<ReceiveRequest> receives_;
  std::uint32_t expected_psn_;
  std::uint32_t msn_ = 0;    // messages completed
  std::uint32_t acked_psn_;  // of the latest SEND or WRITE packet executed
  bool gap_naked_ = false;   // the expected PSN was asked for; silent until it comes
  bool skipping_ = false;    // UC: until the next First or Only
  bool fatal_ = false;       // a fatal NAK was sent
  Incoming incoming_;
  std::deque<Remembered> remembered_;  // oldest first, as many as there are responder resources

  // Only the mutant that lets ACKs overtake READ responses uses these.
  struct Held {
    OutPacket out;
    std::vector<std::uint8_t> payload;
  };
  std::vector<Held> held_;
  std::int64_t held_until_ns_ = 0;
};

}  // namespace rdmascope::replay
