#include "replay/model_requester.h"

#include <algorithm>
#include <array>

namespace rdmascope::replay {
namespace {

using namespace dissect;
namespace op = operation;

constexpr std::size_t most_tasks = 4096;
// An acknowledge is asked for at least this often, and no more than the window is sent without one: a message of
// megabytes does not overrun the buffers of a socket.
constexpr std::uint32_t ack_request_every = 64, window_packets = 128;
constexpr std::uint32_t most_psns = 1u << 23;  // outstanding, ib-wire.md 6.0

constexpr bool is_send(Work work) { return work <= Work::send_with_invalidate; }
constexpr bool is_atomic(Work work) { return work == Work::compare_swap || work == Work::fetch_add; }

}  // namespace

Requester::Requester(QueuePair& qp)
    : qp_(qp),
      next_psn_(qp.options.dut_psn & psn_mask),
      cursor_(next_psn_),
      sent_end_(next_psn_),
      retries_left_(qp.options.retry_count),
      rnr_retries_left_(qp.options.rnr_retry) {}

Result<void> Requester::post(const WorkRequest& request) {
  if (qp_.options.service != Service::rc && request.work >= Work::read)
    return Error{"this work needs a reliable connection"};
  if (qp_.options.service != Service::rc && request.work == Work::send_with_invalidate)
    return Error{"SEND with Invalidate needs a reliable connection"};
  if (qp_.options.service == Service::ud && request.work > Work::send_with_immediate)
    return Error{"UD queue pairs can SEND only"};
  const std::uint32_t length = is_atomic(request.work) || request.work == Work::atomic_write ? 8 : request.length;
  if (request.work != Work::flush && std::uint64_t{request.local_offset} + length > qp_.local.size())
    return Error{"the local region ends before the request's last byte"};
  if (request.work >= Work::read && request.work != Work::flush && qp_.options.initiator_depth == 0)
    return Error{"the initiator depth is 0: no READ or atomic can be sent"};
  if (tasks_.size() >= most_tasks || qp_.completions.size() >= most_tasks)
    return Error{"the queues are full: poll completions first"};
  if (qp_.state != QpState::ready) {
    tasks_.push_back(make_task(request));
    flush();
    return {};
  }
  Task task = make_task(request);
  if (psn_diff(task.end(), oldest()) < 0 || task.psns >= most_psns)
    return Error{"more than 2^23 PSNs would be outstanding: poll completions first"};
  next_psn_ = task.end();
  ++next_number_;
  tasks_.push_back(std::move(task));
  pump();
  return {};
}

Requester::Task Requester::make_task(const WorkRequest& request) const {
  Task task;
  task.request = request;
  if (is_atomic(request.work) || request.work == Work::atomic_write) task.request.length = 8;
  task.first_psn = next_psn_;
  task.number = next_number_;
  task.has_response = request.work >= Work::read;
  task.needs_receive = is_send(request.work) || request.work == Work::write_with_immediate;
  if (request.work <= Work::read && qp_.options.service != Service::ud) task.psns = qp_.psns_of(request.length);
  if (qp_.is<"read-takes-one-psn">() && request.work == Work::read) task.psns = 1;
  if (qp_.is<"atomic-takes-two-psns">() && is_atomic(request.work)) task.psns = 2;
  if (qp_.is<"short-first">() && request.work < Work::read && request.length > qp_.options.pmtu)
    task.psns = (request.length + qp_.options.pmtu - 5) / (qp_.options.pmtu - 4);
  return task;
}

// ---- Sending

Requester::Task* Requester::at_cursor() {
  for (Task& task : tasks_)
    if (psn_diff(cursor_, task.end()) < 0) return &task;
  return nullptr;
}

std::uint32_t Requester::in_flight() const {
  std::uint32_t packets = 0;
  for (const Task& task : tasks_) {
    const std::int32_t sent = psn_diff(cursor_, task.first_psn);
    if (sent <= 0) break;
    if (!task.has_response) packets += std::min(static_cast<std::uint32_t>(sent), task.psns) - task.done;
  }
  return packets;
}

bool Requester::may_send(const Task& task) const {
  if (qp_.options.service != Service::rc) return true;
  if (in_flight() >= window_packets) return false;
  const bool begins = cursor_ == task.first_psn;
  if (task.needs_receive && begins && limit_ && !qp_.is<"ignore-credits">() &&
      psn_diff(task.number, psn_add(*limit_, 1)) > 0)
    return false;  // one beyond the limit may probe
  std::uint32_t unanswered = 0;
  for (const Task& earlier : tasks_) {
    if (&earlier == &task) break;
    if (earlier.has_response) ++unanswered;
  }
  if (task.request.fence && begins && unanswered > 0 && !qp_.is<"ignore-fence">()) return false;
  return !task.has_response || unanswered < qp_.channel.initiator_depth || qp_.is<"exceed-initiator-depth">();
}

void Requester::pump() {
  while (qp_.state == QpState::ready && !rnr_until_ns_) {
    Task* task = at_cursor();
    if (!task || !may_send(*task)) break;
    send(*task);
    if (psn_diff(cursor_, sent_end_) > 0) sent_end_ = cursor_;
    const bool unreliable = qp_.options.service != Service::rc;
    if (unreliable && cursor_ == task->end()) finish_front(Status::success);  // nobody answers
    if (qp_.is<"complete-at-once">() && !unreliable && !task->has_response && cursor_ == task->end() &&
        task == &tasks_.front())
      finish_front(Status::success);
  }
  if (!timer_ns_) arm_timer();
}

// One packet at the cursor, which moves behind it.
void Requester::send(Task& task) {
  if (task.has_response) cursor_ = psn_add(task.first_psn, task.done);
  if (psn_diff(cursor_, task.first_psn) < 0) cursor_ = task.first_psn;  // a mutant completed what was before it
  OutPacket out;
  out.psn = cursor_;
  if (qp_.is<"psn-no-wrap">() && psn_diff(cursor_, qp_.options.dut_psn) >= 0 && cursor_ < qp_.options.dut_psn)
    out.psn = psn_mask;
  task.sent = true;
  if (qp_.options.service == Service::ud) return send_datagram(task, out);
  if (task.has_response) return send_read_or_atomic(task, out);
  send_segment(task, out);
}

void Requester::send_read_or_atomic(Task& task, OutPacket out) {
  const WorkRequest& request = task.request;
  // A READ answered in part asks for the rest only: PSN, VA and length move together.
  const std::uint32_t skipped = task.done * qp_.options.pmtu;
  out.opcode = qp_.opcode(operation_of(task, true, true));
  out.ack_request = !qp_.is<"no-ack-request">();
  out.va = request.va + skipped;
  out.r_key = request.r_key;
  out.dma_length = request.length - (qp_.is<"read-retry-whole-length">() ? 0 : skipped);
  if (qp_.is<"dmalen-off-by-one">()) ++out.dma_length;
  out.swap_or_add = request.operand;
  out.compare = request.work == Work::compare_swap ? request.compare : 0;
  if (qp_.is<"atomic-operands-swapped">()) std::swap(out.swap_or_add, out.compare);
  out.placement = request.flush_placement;
  out.selectivity = request.flush_whole_region;
  if (request.work == Work::atomic_write) out.payload = std::span(qp_.local).subspan(request.local_offset, 8);
  task.asked_from = task.done;
  cursor_ = task.end();
  qp_.emit(out);
}

void Requester::send_segment(Task& task, OutPacket out) {
  const WorkRequest& request = task.request;
  const std::uint32_t index = static_cast<std::uint32_t>(psn_diff(cursor_, task.first_psn));
  const bool first = index == 0, last = index + 1 == task.psns;
  const std::uint32_t step = qp_.options.pmtu - (qp_.is<"short-first">() && task.psns > 1 ? 4 : 0);
  const std::uint32_t offset = index * step;
  out.opcode = qp_.opcode(operation_of(task, first, last));
  out.ack_request = qp_.options.service == Service::rc && (last || (index + 1) % ack_request_every == 0);
  if (qp_.is<"no-ack-request">()) out.ack_request = false;
  out.solicited = request.solicited && task.needs_receive && (last || qp_.is<"solicited-everywhere">());
  out.va = request.va;
  out.r_key = request.r_key;
  out.dma_length = request.length + (qp_.is<"dmalen-off-by-one">() ? 1 : 0);
  out.immediate = request.immediate;
  if (qp_.is<"wrong-immediate">()) out.immediate = static_cast<std::uint32_t>(turned_around(out.immediate) >> 32);
  out.invalidate = request.immediate;
  out.payload = std::span(qp_.local).subspan(request.local_offset + offset, std::min(step, request.length - offset));
  std::vector<std::uint8_t> other;
  if (qp_.is<"retry-new-content">() && psn_diff(cursor_, sent_end_) < 0) {
    other.assign(out.payload.begin(), out.payload.end());
    for (std::uint8_t& byte : other) byte ^= 0xff;
    out.payload = other;
  }
  const bool again = psn_diff(cursor_, sent_end_) < 0;
  cursor_ = psn_add(cursor_, 1);
  if (again && qp_.is<"retry-only-first">()) cursor_ = sent_end_;
  qp_.emit(out);
}

void Requester::send_datagram(Task& task, OutPacket out) {
  const WorkRequest& request = task.request;
  // C10-93.1.1: a message larger than the port's MTU is not sent, and that is no error.
  const bool fits = request.length <= qp_.port_mtu;
  cursor_ = psn_add(cursor_, 1);
  if (!fits && !qp_.is<"ud-oversize-sent">()) return;
  out.opcode = qp_.opcode(request.work == Work::send ? op::send_only : op::send_only_immediate);
  out.solicited = request.solicited;
  // A Q_Key with bit 31 set is privileged: it stands for the queue pair's own (U-04).
  const bool own = request.remote_q_key >> 31 && !qp_.is<"ud-privileged-q-key">();
  out.q_key = own ? qp_.options.q_key : request.remote_q_key;
  out.source_qpn = qp_.channel.qpn;
  out.immediate = request.immediate;
  out.payload = std::span(qp_.local).subspan(request.local_offset, std::min(request.length, qp_.port_mtu));
  const std::uint32_t tester_qpn = qp_.path.destination_qpn;
  if (request.remote_qpn != 0) qp_.path.destination_qpn = request.remote_qpn;
  qp_.emit(out);
  qp_.path.destination_qpn = tester_qpn;
}

std::uint8_t Requester::operation_of(const Task& task, bool first, bool last) const {
  struct Codes {
    std::uint8_t first, middle, last, only;
  };
  constexpr Codes send{op::send_first, op::send_middle, op::send_last, op::send_only};
  constexpr Codes write{op::write_first, op::write_middle, op::write_last, op::write_only};
  const auto pick = [first, last](Codes c) { return first ? (last ? c.only : c.first) : (last ? c.last : c.middle); };
  switch (task.request.work) {
    case Work::send:
      return pick(send);
    case Work::send_with_immediate:
      return pick({send.first, send.middle, op::send_last_immediate, op::send_only_immediate});
    case Work::send_with_invalidate:
      return pick({send.first, send.middle, op::send_last_invalidate, op::send_only_invalidate});
    case Work::write:
      return pick(write);
    case Work::write_with_immediate:
      return pick({write.first, write.middle, op::write_last_immediate, op::write_only_immediate});
    case Work::read:
      return op::read_request;
    case Work::compare_swap:
      return op::compare_swap;
    case Work::fetch_add:
      return op::fetch_add;
    case Work::flush:
      return op::flush;
    case Work::atomic_write:
      return op::atomic_write;
  }
  return op::send_only;
}

// ---- Responses

void Requester::response(const InPacket& in) {
  if (qp_.state != QpState::ready || qp_.options.service != Service::rc) return;
  if (psn_diff(in.psn, sent_end_) >= 0) {  // nothing of the sort was sent
    if (!qp_.is<"accept-ack-ahead">()) return;
    while (!tasks_.empty() && tasks_.front().sent) finish_front(Status::success);
    return;
  }
  if (psn_diff(in.psn, oldest()) < 0 && !qp_.is<"accept-repeated-psn">()) return;  // heard before
  if (in.operation != op::acknowledge) return data_response(in);
  const Syndrome syndrome = decode_syndrome(static_cast<std::uint8_t>(in.packet.find<Aeth>()->get<"syndrome">()));
  switch (syndrome.kind) {
    case SyndromeKind::ack:
      return plain_acknowledge(in);
    case SyndromeKind::rnr_nak:
      return receiver_not_ready(in, syndrome.value);
    case SyndromeKind::nak:
      return negative_acknowledge(in, syndrome.value);
    case SyndromeKind::reserved:
      return;
  }
}

void Requester::plain_acknowledge(const InPacket& in) {
  const auto aeth = *in.packet.find<Aeth>();
  const std::uint8_t credit = aeth.get<"syndrome">() & 31;
  limit_.reset();
  if (credit != no_credit_limit)
    limit_ = psn_add(static_cast<std::uint32_t>(aeth.get<"msn">()), credits_by_code[credit]);
  if (!acknowledge(psn_add(in.psn, 1))) implied_nak();
  pump();
}

// All SENDs and WRITEs before PSN `end` are acknowledged. False: a READ or atomic before it lacks its response.
bool Requester::acknowledge(std::uint32_t end) {
  while (!tasks_.empty()) {
    Task& task = tasks_.front();
    const std::int32_t covered = psn_diff(end, task.first_psn);
    if (covered <= 0) return true;
    if (task.has_response) {
      if (static_cast<std::uint32_t>(covered) < task.psns) return true;
      const bool is_read = task.request.work == Work::read;
      if (!(is_read ? qp_.is<"complete-read-on-plain-ack">() : qp_.is<"complete-atomic-on-plain-ack">())) return false;
      finish_front(Status::success);
      continue;
    }
    const std::uint32_t done = std::min(static_cast<std::uint32_t>(covered), task.psns);
    if (done > task.done) {
      task.done = done;
      progress();
    }
    if (done < task.psns && !qp_.is<"complete-on-partial-ack">()) return true;
    finish_front(Status::success);
  }
  return true;
}

Requester::Task* Requester::first_unanswered() {
  for (Task& task : tasks_)
    if (task.has_response) return task.sent ? &task : nullptr;
  return nullptr;
}

// A response tells that an earlier one is lost: ask for that again, once until something new comes.
void Requester::implied_nak() {
  const Task* task = first_unanswered();
  if (!task || implied_retry_done_ || qp_.is<"ignore-implied-nak">()) return;
  if (!spend_retry()) return;
  implied_retry_done_ = true;
  go_back(psn_add(task->first_psn, task->done));
}

void Requester::data_response(const InPacket& in) {
  // Its AETH acknowledges the SENDs and WRITEs before; a Middle has none.
  if (in.operation != op::read_response_middle)
    for (const Task& task : tasks_) {
      if (psn_diff(in.psn, task.end()) >= 0) continue;
      const bool has_response = task.has_response;
      if (!acknowledge(task.first_psn) && !qp_.is<"complete-out-of-order">()) return implied_nak();
      if (!has_response) return fail_front(Status::bad_resp_err);  // no SEND or WRITE is answered like this
      break;
    }
  Task* task = first_unanswered();
  if (qp_.is<"complete-out-of-order">())
    for (Task& later : tasks_)
      if (later.sent && later.has_response && psn_diff(in.psn, later.first_psn) >= 0) task = &later;
  if (!task) return;
  const std::uint32_t wanted = psn_add(task->first_psn, task->done);
  const std::int32_t ahead = psn_diff(in.psn, wanted);
  if (ahead < 0 && !qp_.is<"accept-repeated-psn">()) return;
  if (ahead > 0 && psn_diff(in.psn, task->end()) < 0 && qp_.is<"ignore-missing-middle">())
    task->done += static_cast<std::uint32_t>(ahead);
  else if (ahead > 0)
    return implied_nak();
  if (!response_fits(*task, in)) return;
  take_response(*task, in);
  pump();
}

// Kind, place and length are what was asked for; else the queue pair fails.
bool Requester::response_fits(const Task& task, const InPacket& in) {
  const auto fail = [this](Status status) {
    fail_front(status);
    return false;
  };
  const bool is_read = task.request.work == Work::read;
  const bool last = task.done + 1 >= task.psns;
  if (const auto aeth = in.packet.find<Aeth>(); aeth && !qp_.is<"accept-nak-in-response">())
    if (decode_syndrome(static_cast<std::uint8_t>(aeth->get<"syndrome">())).kind != SyndromeKind::ack)
      return fail(Status::bad_resp_err);
  if (is_atomic(task.request.work)) return in.operation == op::atomic_acknowledge || fail(Status::bad_resp_err);
  if (in.operation == op::atomic_acknowledge) return fail(Status::bad_resp_err);
  if (!is_read) {
    if (in.operation != op::read_response_only) return fail(Status::bad_resp_err);
    return in.payload.empty() || fail(Status::loc_len_err);
  }
  // The response to a retry begins with First or Only where the retry begins; one to the original goes on with Middle
  // or Last there.
  const bool begins = in.operation == op::read_response_first || in.operation == op::read_response_only;
  const bool ends = in.operation == op::read_response_last || in.operation == op::read_response_only;
  const bool may_begin = task.done == task.asked_from, may_go_on = task.done > 0;
  const bool position_fits = ends == last && (begins ? may_begin : may_go_on);
  if (!position_fits && !qp_.is<"accept-response-position">() && !qp_.is<"accept-repeated-psn">() &&
      !qp_.is<"ignore-missing-middle">())
    return fail(Status::bad_resp_err);
  const std::uint32_t offset = task.done * qp_.options.pmtu;
  const std::uint32_t wanted = last ? task.request.length - offset : qp_.options.pmtu;
  if (in.payload.size() == wanted || qp_.is<"accept-short-response">()) return true;
  return fail(Status::loc_len_err);
}

void Requester::take_response(Task& task, const InPacket& in) {
  std::uint8_t* to = qp_.local.data() + task.request.local_offset;
  if (is_atomic(task.request.work)) {
    const std::uint64_t original = in.packet.find<Atomicacketh>()->get<"origremdt">();
    store_host(to, qp_.is<"atomic-result-wire-order">() ? turned_around(original) : original);
    task.done = task.psns;
  } else if (task.request.work == Work::read) {
    const std::uint32_t offset = std::min(task.done * qp_.options.pmtu, task.request.length);
    const std::uint32_t take = std::min(static_cast<std::uint32_t>(in.payload.size()), task.request.length - offset);
    const std::uint32_t shift =
        qp_.is<"response-wrong-place">() && task.request.local_offset + offset + take + 4 <= qp_.local.size() ? 4 : 0;
    std::copy_n(in.payload.data(), take, to + offset + shift);
    ++task.done;
  } else {
    task.done = task.psns;
  }
  progress();
  const bool done = task.done >= task.psns || qp_.is<"complete-early">() ||
                    (qp_.is<"accept-response-position">() && in.operation == op::read_response_last);
  if (!done) return;
  if (&task == &tasks_.front()) return finish_front(Status::success);
  complete(task, Status::success);  // only a mutant gets here
  const std::ptrdiff_t index =
      std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& t) { return &t == &task; }) - tasks_.begin();
  tasks_.erase(tasks_.begin() + index);
}

void Requester::negative_acknowledge(const InPacket& in, std::uint8_t code) {
  constexpr std::array statuses = {Status::success, Status::rem_inv_req_err, Status::rem_access_err,
                                   Status::rem_op_err};
  if (code >= statuses.size()) return;  // reserved
  if (!acknowledge(in.psn)) return implied_nak();
  if (code == 0) {
    if (qp_.is<"ignore-sequence-nak">() || !spend_retry()) return;
    const std::uint32_t from = psn_diff(in.psn, oldest()) > 0 ? in.psn : oldest();
    return go_back(qp_.is<"resume-after-nak-plus-one">() ? psn_add(from, 1) : from);
  }
  const bool wrong = qp_.is<"nak-wrong-status">() && statuses[code] == Status::rem_access_err;
  if (qp_.is<"continue-after-fatal-nak">()) {
    finish_front(statuses[code]);
    return pump();
  }
  fail_front(wrong ? Status::rem_op_err : statuses[code]);
}

void Requester::receiver_not_ready(const InPacket& in, std::uint8_t timer) {
  acknowledge(in.psn);  // a READ before it that lacks its response waits with it
  constexpr std::uint8_t endless = 7;
  if (qp_.options.rnr_retry != endless || qp_.is<"rnr-gives-up">()) {
    if ((rnr_retries_left_ == 0 && !qp_.is<"rnr-retry-endless">()) || qp_.is<"rnr-gives-up">())
      return fail_front(Status::rnr_retry_exc_err);
    if (rnr_retries_left_ > 0) --rnr_retries_left_;
  }
  std::int64_t wait_ns = std::int64_t{rnr_timer_10us[timer]} * 10'000;
  if (qp_.is<"rnr-timer-wrong">()) wait_ns /= 2;
  if (qp_.is<"rnr-no-wait">()) wait_ns = 0;
  timer_ns_.reset();
  rnr_until_ns_ = qp_.now_ns + wait_ns;
  cursor_ = oldest();
}

// ---- Time

std::optional<std::int64_t> Requester::next_event_ns() const {
  if (rnr_until_ns_ && timer_ns_) return std::min(*rnr_until_ns_, *timer_ns_);
  return rnr_until_ns_ ? rnr_until_ns_ : timer_ns_;
}

void Requester::run() {
  if (rnr_until_ns_ && *rnr_until_ns_ <= qp_.now_ns) {
    rnr_until_ns_.reset();
    pump();
  }
  if (timer_ns_ && *timer_ns_ <= qp_.now_ns) {
    timer_ns_.reset();
    if (qp_.is<"no-retransmit">() || !spend_retry()) return;
    implied_retry_done_ = false;
    go_back(oldest());
  }
}

void Requester::arm_timer() {
  timer_ns_.reset();
  const bool waiting = psn_diff(cursor_, oldest()) > 0;
  if (!waiting || rnr_until_ns_ || qp_.options.service != Service::rc || qp_.state != QpState::ready) return;
  if (qp_.options.ack_timeout == 0) {
    if (qp_.is<"retransmit-although-timeout-0">()) timer_ns_ = qp_.now_ns + 1'000'000;
    return;
  }
  const std::int64_t wait_ns = 4096LL << (qp_.options.ack_timeout & 31);
  timer_ns_ = qp_.now_ns + (qp_.is<"timer-too-early">() ? wait_ns / 4 : wait_ns);
}

void Requester::progress() {
  retries_left_ = qp_.options.retry_count;
  rnr_retries_left_ = qp_.options.rnr_retry;
  implied_retry_done_ = false;
  if (psn_diff(cursor_, oldest()) < 0) cursor_ = oldest();
  arm_timer();
}

// False when there is none left; the queue pair has failed then.
bool Requester::spend_retry() {
  if (qp_.is<"retry-endless">()) return true;
  if (retries_left_ == 0) {
    fail_front(Status::retry_exc_err);
    return false;
  }
  --retries_left_;
  return true;
}

void Requester::go_back(std::uint32_t psn) {
  cursor_ = psn;
  timer_ns_.reset();
  pump();
}

// ---- Completions

void Requester::complete(const Task& task, Status status) {
  const bool failed = status != Status::success;
  const bool silent = failed ? !task.request.signaled && qp_.is<"unsignaled-error-silent">()
                             : !task.request.signaled && !qp_.is<"unsignaled-completes">();
  if (silent) return;
  Completion completion;
  completion.id = task.request.id;
  completion.status = status;
  if (!failed && (task.request.work == Work::read || is_atomic(task.request.work)))
    completion.bytes = task.request.length;
  qp_.complete(std::move(completion));
}

void Requester::finish_front(Status status) {
  const Task task = std::move(tasks_.front());
  tasks_.pop_front();
  if (psn_diff(cursor_, oldest()) < 0) cursor_ = oldest();
  complete(task, status);
  arm_timer();
}

// The oldest task fails with that status, and all behind it are flushed.
void Requester::fail_front(Status status) {
  qp_.state = QpState::error;
  if (!tasks_.empty()) finish_front(status);
  qp_.fail();
}

void Requester::flush() {
  timer_ns_.reset();
  rnr_until_ns_.reset();
  while (!tasks_.empty()) {
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    if (!qp_.is<"no-flush-completion">())
      complete(task, qp_.is<"flush-as-success">() ? Status::success : Status::wr_flush_err);
  }
}

}  // namespace rdmascope::replay
