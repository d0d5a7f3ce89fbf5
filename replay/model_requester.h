// The requester of a model queue pair: turns work requests into request packets, sends them again when it must, and
// completes them in order. ib-wire.md 6.3 and 6.5.
//
// A task has its PSNs from the moment it is posted. Two PSNs tell where the requester stands: the oldest one that is
// not answered (first task, `done`), and the cursor, which is sent next. Going back is setting the cursor.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/result.h"
#include "replay/model_qp.h"

namespace rdmascope::replay {

class Requester {
 public:
  explicit Requester(QueuePair& qp);

  Result<void> post(const WorkRequest& request);
  void response(const InPacket& in);
  std::optional<std::int64_t> next_event_ns() const;
  void run();    // timers that are due
  void flush();  // the queue pair is in the error state
  std::size_t open() const { return tasks_.size(); }

 private:
  struct Task {
    WorkRequest request;
    std::uint32_t first_psn = 0, psns = 1;
    std::uint32_t done = 0;        // PSNs acknowledged, or READ responses received
    std::uint32_t asked_from = 0;  // READ: where the latest request starts
    std::uint32_t number = 0;      // SSN of ib-wire.md 4.2: from 1
    bool sent = false;             // some packet of it is out
    bool has_response = false;     // answered by more than an ACK: READ, atomics, FLUSH, ATOMIC WRITE
    bool needs_receive = false;    // at the responder
    std::uint32_t end() const { return psn_add(first_psn, psns); }
  };

  Task make_task(const WorkRequest& request) const;
  Task* at_cursor();
  bool may_send(const Task& task) const;
  void pump();
  void send(Task& task);
  void send_read_or_atomic(Task& task, OutPacket out);
  void send_segment(Task& task, OutPacket out);
  void send_datagram(Task& task, OutPacket out);
  std::uint8_t operation_of(const Task& task, bool first, bool last) const;
  std::uint32_t in_flight() const;

  void plain_acknowledge(const InPacket& in);
  void negative_acknowledge(const InPacket& in, std::uint8_t code);
  void receiver_not_ready(const InPacket& in, std::uint8_t timer);
  void data_response(const InPacket& in);
  bool response_fits(const Task& task, const InPacket& in);
  void take_response(Task& task, const InPacket& in);
  void implied_nak();
  bool acknowledge(std::uint32_t end);
  Task* first_unanswered();

  std::uint32_t oldest() const {
    return tasks_.empty() ? next_psn_ : psn_add(tasks_.front().first_psn, tasks_.front().done);
  }
  void progress();
  void arm_timer();
  bool spend_retry();
  void go_back(std::uint32_t psn);
  void finish_front(Status status);
  void fail_front(Status status);
  void complete(const Task& task, Status status);

  QueuePair& qp_;
  std::deque<Task> tasks_;
  std::uint32_t next_psn_;              // of the next task
  std::uint32_t cursor_;                // next to send
  std::uint32_t sent_end_;              // one past the highest PSN ever sent
  std::uint32_t next_number_ = 1;       // of the next task
  std::optional<std::uint32_t> limit_;  // number of the last task the responder has a buffer for
  std::uint8_t retries_left_, rnr_retries_left_;
  bool implied_retry_done_ = false;  // one retry for an implied NAK, until there is progress
  std::optional<std::int64_t> timer_ns_, rnr_until_ns_;
};

}  // namespace rdmascope::replay
