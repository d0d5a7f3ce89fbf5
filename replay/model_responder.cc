#include "replay/model_responder.h"

#include <algorithm>

namespace rdmascope::replay {
namespace {

using namespace dissect;
namespace op = operation;

constexpr std::size_t most_receives = 4096;
constexpr std::uint32_t longest_dma = 1u << 31;  // C9-94
constexpr std::uint32_t grh_room = Grh::bytes;   // in front of each UD message, U-05
// No limit is given: a count would be out of date as soon as somebody posts a receive, and RNR NAKs do the same job.
constexpr std::uint8_t ack_syndrome = no_credit_limit;

bool is_send(const InPacket& in) {
  return in.operation <= op::send_only_immediate || in.operation == op::send_last_invalidate ||
         in.operation == op::send_only_invalidate;
}
bool is_write(const InPacket& in) {
  return in.operation >= op::write_first && in.operation <= op::write_only_immediate;
}
bool is_atomic(const InPacket& in) { return in.operation == op::compare_swap || in.operation == op::fetch_add; }
bool begins(const InPacket& in) {
  return in.opcode.position == Position::first || in.opcode.position == Position::only;
}
bool ends(const InPacket& in) { return in.opcode.position == Position::last || in.opcode.position == Position::only; }

struct Range {
  std::uint64_t va = 0;
  std::uint32_t r_key = 0, length = 0;
};
Range range_of(const InPacket& in) {
  if (const auto reth = in.packet.find<Reth>())
    return {reth->get<"va">(), static_cast<std::uint32_t>(reth->get<"r_key">()),
            static_cast<std::uint32_t>(reth->get<"dmalen">())};
  if (const auto atomic = in.packet.find<Atomiceth>())
    return {atomic->get<"va">(), static_cast<std::uint32_t>(atomic->get<"r_key">()), 8};
  return {};
}

}  // namespace

Responder::Responder(QueuePair& qp)
    : qp_(qp), expected_psn_(qp.options.tester_psn & psn_mask), acked_psn_(psn_add(expected_psn_, psn_mask)) {}

Result<void> Responder::post(const ReceiveRequest& request) {
  if (std::uint64_t{request.local_offset} + request.length > qp_.local.size())
    return Error{"the local region ends before the receive buffer's last byte"};
  if (receives_.size() >= most_receives || qp_.completions.size() >= most_receives)
    return Error{"the queues are full: poll completions first"};
  receives_.push_back(request);
  if (qp_.state != QpState::ready) flush();
  return {};
}

void Responder::request(const InPacket& in) {
  if (qp_.state != QpState::ready && !(fatal_ && qp_.is<"continue-after-own-nak">())) return;
  switch (qp_.options.service) {
    case Service::rc:
      return reliable(in);
    case Service::uc:
      return unreliable(in);
    case Service::ud:
      return datagram(in);
  }
}

// ---- Order

void Responder::reliable(const InPacket& in) {
  const std::int32_t ahead = psn_diff(in.psn, expected_psn_);
  if (ahead < 0) return duplicate(in);
  if (ahead > 0 && !qp_.is<"accept-gap">()) {
    if (gap_naked_ && !qp_.is<"nak-twice">()) return;
    gap_naked_ = true;
    if (!qp_.is<"no-nak-on-gap">()) acknowledge(qp_.is<"nak-wrong-psn">() ? in.psn : expected_psn_, nak_sequence);
    return;
  }
  expected_psn_ = in.psn;
  gap_naked_ = false;
  if (const Fault fault = check(in); fault != Fault::none) return refuse(in, fault);
  execute(in);
}

// Never executed again.
void Responder::duplicate(const InPacket& in) {
  if (!in.opcode.defined) return;
  if (qp_.is<"msn-counts-duplicates">() && ends(in)) msn_ = psn_add(msn_, 1);
  if (in.operation == op::read_request) return duplicate_read(in);
  if (is_send(in) || is_write(in)) {
    const std::uint32_t expected = expected_psn_;
    const bool again = (is_send(in) ? qp_.is<"execute-duplicate-send">() : qp_.is<"execute-duplicate-write">()) &&
                       !incoming_.active && check(in) == Fault::none;
    if (again) {
      execute(in);
      expected_psn_ = expected;
      return;
    }
    if (qp_.is<"no-reack-duplicate">()) return;
    return acknowledge(qp_.is<"reack-with-read-psn">() ? psn_add(expected_psn_, psn_mask) : acked_psn_, ack_syndrome);
  }
  for (const Remembered& r : remembered_) {
    if (r.psn != in.psn || r.operation != in.operation) continue;
    if (!is_atomic(in)) return answer_only(in.psn);
    if (qp_.is<"duplicate-atomic-dropped">()) return;
    return answer_atomic(in.psn, qp_.is<"execute-duplicate-atomic">() ? apply_atomic(in) : r.original);
  }
}

// Read again, from memory as it is now, if it asks for the whole or a part of what was asked before.
void Responder::duplicate_read(const InPacket& in) {
  if (qp_.is<"duplicate-read-dropped">()) return;
  const Range asked = range_of(in);
  for (const Remembered& r : remembered_) {
    const std::int32_t packets = psn_diff(in.psn, r.psn);
    if (r.operation != op::read_request || packets < 0 || static_cast<std::uint32_t>(packets) >= r.psns) continue;
    const std::uint32_t skipped = static_cast<std::uint32_t>(packets) * qp_.options.pmtu;
    const bool part = asked.r_key == r.r_key && asked.va == r.va + skipped && asked.length <= r.length - skipped &&
                      (asked.length > 0 || r.length == 0);
    const bool readable = asked.length == 0 || in_region(asked.va, asked.length, asked.r_key);
    if ((part || qp_.is<"duplicate-read-any-range">()) && readable) answer_read(in.psn, asked.va, asked.length);
    return;
  }
}

// A gap costs the message, and nobody is told (U-01).
void Responder::unreliable(const InPacket& in) {
  if (in.psn != expected_psn_ && !qp_.is<"uc-accept-gap">()) {
    if (qp_.is<"uc-no-resync">()) return;
    skipping_ = true;
  }
  expected_psn_ = in.psn;
  if (begins(in)) skipping_ = incoming_.active = false;
  if (!skipping_ && check(in) == Fault::none) {
    execute(in);
    if (qp_.is<"uc-answers">() && ends(in)) acknowledge(in.psn, ack_syndrome);
    return;
  }
  skipping_ = true;
  incoming_.active = false;
  expected_psn_ = psn_add(in.psn, 1);
}

void Responder::datagram(const InPacket& in) {
  const auto deth = in.packet.find<Deth>();
  if (!deth || !in.opcode.defined) return;
  if (deth->get<"q_key">() != qp_.options.q_key && !qp_.is<"ud-accept-bad-q-key">()) return;
  const std::uint32_t bytes = static_cast<std::uint32_t>(in.payload.size());
  if (receives_.empty() || receives_.front().length < bytes + grh_room || bytes > qp_.port_mtu) return;
  incoming_.receive = receives_.front();
  receives_.pop_front();
  // The last 20 bytes of the room hold the IPv4 header, or all of it the IPv6 header or GRH.
  std::uint8_t* to = qp_.local.data() + incoming_.receive->local_offset;
  std::fill_n(to, grh_room, std::uint8_t{0});
  for (const Header* h : {&header<Ipv4>, &header<Ipv6>, &header<Grh>})
    if (const Layer* layer = in.packet.find(*h))
      std::copy_n(in.packet.data(*layer), h->bytes, to + grh_room - h->bytes);
  std::copy(in.payload.begin(), in.payload.end(), to + grh_room);
  complete_receive(in, bytes + (qp_.is<"ud-length-without-grh">() ? 0 : grh_room));
}

// ---- Checks

Responder::Fault Responder::check(const InPacket& in) const {
  if (!in.opcode.defined) return qp_.is<"accept-undefined-opcode">() ? Fault::none : Fault::invalid;
  if (!in_sequence(in) || !permitted(in)) return Fault::invalid;
  if (lacks_receive(in)) return Fault::no_receive;
  if (const Fault fault = check_length(in); fault != Fault::none) return fault;
  return accessible(in) ? Fault::none : Fault::access;
}

// Messages are not interleaved.
bool Responder::in_sequence(const InPacket& in) const {
  if (begins(in)) return !incoming_.active || qp_.is<"accept-interleaved">();
  if (!incoming_.active) return qp_.is<"accept-stray-middle">() && is_send(in) && !receives_.empty();
  return incoming_.is_send == is_send(in);
}

bool Responder::permitted(const InPacket& in) const {
  const ChannelOptions& o = qp_.options;
  const bool invalidates = (in.opcode.extensions & ext_ieth) != 0;
  if (invalidates && !qp_.invalidate) return false;
  if (is_atomic(in) && !qp_.atomics) return false;
  if (in.operation == op::flush && !qp_.flush) return false;
  if (in.operation == op::atomic_write && !qp_.atomic_write) return false;
  if (qp_.is<"ignore-permissions">()) return true;
  if (is_write(in) || in.operation == op::atomic_write) return o.allow_remote_write;
  if (in.operation == op::read_request) return o.allow_remote_read && o.responder_resources > 0;
  if (is_atomic(in)) return o.allow_remote_atomic && o.responder_resources > 0;
  return true;
}

bool Responder::lacks_receive(const InPacket& in) const {
  if (!receives_.empty() || kept_receive()) return false;
  if (is_send(in)) return begins(in);
  if (in.operation == op::read_request && qp_.is<"rnr-nak-on-read">()) return true;
  return is_write(in) && in.opcode.extensions & ext_immdt;
}

// The receive buffer of a UC message that was dropped serves the next one.
std::optional<ReceiveRequest> Responder::kept_receive() const {
  return qp_.options.service == Service::uc ? incoming_.receive : std::nullopt;
}

Responder::Fault Responder::check_length(const InPacket& in) const {
  const std::uint32_t bytes = static_cast<std::uint32_t>(in.payload.size()), pmtu = qp_.options.pmtu;
  const auto fits = [&] {
    switch (in.opcode.payload) {
      case PayloadRule::none:
        return bytes == 0;
      case PayloadRule::pmtu:
        return bytes == pmtu && in.packet.pad_bytes == 0;
      case PayloadRule::one_to_pmtu:
        return bytes >= 1 && bytes <= pmtu;
      case PayloadRule::zero_to_pmtu:
        return bytes <= pmtu;
      case PayloadRule::eight:
        return bytes == 8;
    }
    return false;
  };
  if (!fits() && !qp_.is<"accept-wrong-length">()) return Fault::invalid;
  const std::uint32_t before = begins(in) ? 0 : incoming_.received;
  if (is_send(in)) {
    // The buffer of the message in progress, else the next one, which lacks_receive() has looked for.
    const std::optional<ReceiveRequest> own = begins(in) ? kept_receive() : incoming_.receive;
    const std::uint32_t room = own ? own->length : receives_.front().length;
    return before + bytes <= room || qp_.is<"accept-long-send">() ? Fault::none : Fault::too_long;
  }
  const Range range = range_of(in);
  if (range.length > longest_dma) return Fault::invalid;
  if (is_write(in)) {
    const std::uint32_t total = begins(in) ? range.length : incoming_.length;
    const bool right = ends(in) ? before + bytes == total : before + bytes < total;
    return right || qp_.is<"accept-short-write">() || qp_.is<"accept-wrong-length">() ? Fault::none : Fault::invalid;
  }
  const bool aligned = range.va % 8 == 0 || qp_.is<"accept-misaligned-atomic">();
  if (is_atomic(in)) return aligned ? Fault::none : Fault::invalid;
  if (in.operation == op::atomic_write) return aligned && range.length == 8 ? Fault::none : Fault::invalid;
  return Fault::none;
}

bool Responder::accessible(const InPacket& in) const {
  if (const auto ieth = in.packet.find<Ieth>(); ieth && (in.opcode.extensions & ext_ieth))
    return qp_.remote_key_valid && ieth->get<"r_key">() == qp_.channel.remote_r_key;
  if (!(in.opcode.extensions & (ext_reth | ext_atomiceth))) return true;
  Range range = range_of(in);
  if (const auto feth = in.packet.find<Feth>(); feth && feth->get<"sel">() == 1) {  // the whole region
    range.va = qp_.channel.remote_va;
    range.length = 1;
  }
  if (range.length == 0 && !qp_.is<"zero-length-checks-key">()) return true;  // C9-88
  return in_region(range.va, range.length, range.r_key);
}

bool Responder::in_region(std::uint64_t va, std::uint64_t length, std::uint32_t r_key) const {
  const bool key = qp_.remote_key_valid && r_key == qp_.channel.remote_r_key;
  if (!key && !qp_.is<"accept-bad-r-key">()) return false;
  const std::uint64_t size = qp_.remote.size(), offset = va - qp_.channel.remote_va;
  if (qp_.is<"no-access-check">()) return length <= size;
  return offset <= size && length <= size - offset;
}

// ---- Execution

void Responder::execute(const InPacket& in) {
  const std::uint32_t psn = in.psn;
  expected_psn_ = psn_add(psn, 1);
  if (qp_.is<"msn-counts-packets">() && !ends(in)) msn_ = psn_add(msn_, 1);
  if (!in.opcode.defined) return acknowledge(psn, ack_syndrome);
  if (in.operation == op::read_request) return execute_read(in);
  if (is_atomic(in)) return execute_atomic(in);
  if (in.operation == op::flush || in.operation == op::atomic_write) return execute_flush_or_atomic_write(in);
  is_send(in) ? execute_send(in) : execute_write(in);
  acked_psn_ = psn;
  if (ends(in)) finish_message(in);
  if (in.ack_request && qp_.options.service == Service::rc && !qp_.is<"no-ack">())
    acknowledge(qp_.is<"ack-psn-ahead">() ? psn_add(psn, 1) : psn, ack_syndrome);
}

void Responder::execute_send(const InPacket& in) {
  if (begins(in) || !incoming_.active) {
    std::optional<ReceiveRequest> receive = kept_receive();
    if (!receive) {
      receive = receives_.front();
      receives_.pop_front();
    }
    incoming_ = {};
    incoming_.active = incoming_.is_send = true;
    incoming_.receive = receive;
  }
  const ReceiveRequest& receive = *incoming_.receive;
  const std::uint32_t room = receive.length - std::min(incoming_.received, receive.length);
  const std::uint32_t take = std::min(static_cast<std::uint32_t>(in.payload.size()), room);
  std::uint8_t* to = qp_.local.data() + receive.local_offset + (receive.length - room);
  std::copy_n(in.payload.data(), take, to);
  if (qp_.is<"send-wrong-data">() && take > 0 && begins(in)) to[0] ^= 0xff;
  incoming_.received += take;
}

void Responder::execute_write(const InPacket& in) {
  if (begins(in)) {
    const std::optional<ReceiveRequest> receive = incoming_.receive;
    const Range range = range_of(in);
    incoming_ = {};
    incoming_.active = true;
    incoming_.receive = receive;
    incoming_.va = range.va;
    incoming_.length = range.length;
  }
  write_remote(incoming_.va + incoming_.received + (qp_.is<"write-wrong-place">() ? 4 : 0), in.payload);
  incoming_.received += static_cast<std::uint32_t>(in.payload.size());
}

// Access was checked; only mutants get here with bytes outside the region, and those are lost.
void Responder::write_remote(std::uint64_t va, std::span<const std::uint8_t> bytes) {
  const std::uint64_t offset = va - qp_.channel.remote_va;
  if (offset > qp_.remote.size() || bytes.size() > qp_.remote.size() - offset) return;
  std::copy(bytes.begin(), bytes.end(), qp_.remote.begin() + static_cast<std::ptrdiff_t>(offset));
}

// The last packet of a SEND or WRITE was executed.
void Responder::finish_message(const InPacket& in) {
  msn_ = psn_add(msn_, 1);
  const bool immediate = (in.opcode.extensions & ext_immdt) != 0;
  if (in.opcode.extensions & ext_ieth) qp_.remote_key_valid = qp_.is<"invalidate-ignored">();
  if (is_write(in) && immediate && !incoming_.receive) {
    incoming_.receive = receives_.front();
    receives_.pop_front();
  }
  if (is_send(in) || immediate) {
    const bool last_only = qp_.is<"receive-length-wrong">();
    complete_receive(in, last_only ? static_cast<std::uint32_t>(in.payload.size()) : incoming_.received);
  }
  incoming_.active = false;
}

void Responder::complete_receive(const InPacket& in, std::uint32_t bytes) {
  Completion completion;
  completion.id = incoming_.receive->id;
  completion.is_receive = true;
  completion.bytes = bytes;
  completion.by_write = is_write(in);
  if (const auto immediate = in.packet.find<Immdt>(); immediate && !qp_.is<"immediate-not-delivered">())
    completion.immediate = static_cast<std::uint32_t>(immediate->get<"data">());
  if (const auto ieth = in.packet.find<Ieth>())
    completion.invalidated_r_key = static_cast<std::uint32_t>(ieth->get<"r_key">());
  incoming_.receive.reset();
  if (qp_.is<"receive-completes-twice">()) qp_.complete(completion);
  qp_.complete(std::move(completion));
}

// The message counts before its data is sent (C9-148), so that a retry does not count it again.
void Responder::execute_read(const InPacket& in) {
  const Range range = range_of(in);
  if (!qp_.is<"msn-not-counted-read">()) msn_ = psn_add(msn_, 1);
  const std::uint32_t psns = qp_.psns_of(range.length);
  expected_psn_ = psn_add(in.psn, psns);
  remember({in.operation, in.psn, psns, range.va, range.r_key, range.length});
  if (range.length == 0 && qp_.is<"zero-length-read-no-answer">()) return;
  answer_read(in.psn, range.va, range.length);
}

void Responder::execute_atomic(const InPacket& in) {
  const Range range = range_of(in);
  const std::uint64_t original = apply_atomic(in);
  msn_ = psn_add(msn_, 1);
  remember({in.operation, in.psn, 1, range.va, range.r_key, range.length, original});
  answer_atomic(in.psn, original);
}

std::uint64_t Responder::apply_atomic(const InPacket& in) {
  const auto atomic = *in.packet.find<Atomiceth>();
  const std::uint64_t offset = atomic.get<"va">() - qp_.channel.remote_va;
  if (offset > qp_.remote.size() || qp_.remote.size() - offset < 8) return 0;  // let in by a mutant
  std::uint8_t* at = qp_.remote.data() + offset;
  const bool wire_order = qp_.is<"atomic-wire-order">();
  const std::uint64_t original = wire_order ? turned_around(load_host(at)) : load_host(at);
  std::uint64_t result = original;
  if (in.operation == op::fetch_add)
    result += atomic.get<"swapdt">() + (qp_.is<"atomic-wrong-sum">() ? 1 : 0);
  else if (original == atomic.get<"cmpdt">() || qp_.is<"atomic-compare-ignored">())
    result = atomic.get<"swapdt">();
  store_host(at, wire_order ? turned_around(result) : result);
  return qp_.is<"atomic-returns-new">() ? result : original;
}

// Memory here is persistent and visible as soon as it is written, so that FLUSH has nothing left to do.
void Responder::execute_flush_or_atomic_write(const InPacket& in) {
  const Range range = range_of(in);
  if (in.operation == op::atomic_write) write_remote(range.va, in.payload);
  msn_ = psn_add(msn_, 1);
  remember({in.operation, in.psn, 1, range.va, range.r_key, range.length});
  answer_only(in.psn);
}

void Responder::remember(Remembered request) {
  if (remembered_.size() >= std::max<std::size_t>(qp_.channel.responder_resources, 1)) remembered_.pop_front();
  remembered_.push_back(request);
}

// ---- Answers

void Responder::refuse(const InPacket& in, Fault fault) {
  if (fault == Fault::no_receive) {
    gap_naked_ = true;  // what follows this PSN is behind a gap that is known
    const std::uint8_t timer = qp_.is<"rnr-nak-short-timer">() ? 1 : qp_.options.min_rnr_timer;
    if (!qp_.is<"no-rnr-nak">()) acknowledge(in.psn, static_cast<std::uint8_t>(syndrome_rnr | (timer & 31)));
    if (qp_.is<"rnr-executes">()) {
      expected_psn_ = psn_add(in.psn, 1);
      msn_ = psn_add(msn_, 1);
      acked_psn_ = in.psn;
    }
    return;
  }
  const bool access = (fault == Fault::access) != qp_.is<"nak-wrong-code">();
  if (qp_.is<"msn-in-nak-counts-failed">()) msn_ = psn_add(msn_, 1);
  if (!qp_.is<"no-fatal-nak">()) acknowledge(in.psn, access ? nak_access : nak_invalid_request);
  fatal_ = true;
  if (fault == Fault::too_long && !incoming_.receive) {
    incoming_.receive = receives_.front();
    receives_.pop_front();
  }
  fail_receive(fault == Fault::too_long ? Status::loc_len_err
               : access                 ? Status::loc_access_err
                                        : Status::loc_qp_op_err);
  if (qp_.is<"continue-after-own-nak">()) expected_psn_ = psn_add(in.psn, 1);
  qp_.fail();
}

void Responder::fail_receive(Status status) {
  incoming_.active = false;
  if (!incoming_.receive) return;
  qp_.complete({.id = incoming_.receive->id, .status = status, .is_receive = true});
  incoming_.receive.reset();
}

void Responder::acknowledge(std::uint32_t psn, std::uint8_t syndrome) {
  OutPacket out;
  out.opcode = qp_.opcode(op::acknowledge);
  out.psn = psn;
  out.syndrome = syndrome;
  out.msn = msn_;
  if (!held_.empty()) return qp_.emit(out);  // overtakes what is held
  emit(out);
}

void Responder::answer_read(std::uint32_t psn, std::uint64_t va, std::uint32_t length) {
  const std::uint64_t offset = va - qp_.channel.remote_va;
  std::vector<std::uint8_t> data(length);
  if (offset <= qp_.remote.size() && length <= qp_.remote.size() - offset)
    std::copy_n(qp_.remote.begin() + static_cast<std::ptrdiff_t>(offset), length, data.begin());
  if (qp_.is<"read-response-wrong-data">() && length > 0) data.back() ^= 0xff;
  const std::uint32_t packets = qp_.psns_of(length), pmtu = qp_.options.pmtu;
  for (std::uint32_t i = 0; i < packets; ++i) {
    const bool first = i == 0, last = i + 1 == packets;
    OutPacket out;
    out.opcode = qp_.opcode(first ? (last ? op::read_response_only : op::read_response_first)
                                  : (last ? op::read_response_last : op::read_response_middle));
    out.psn = qp_.is<"read-response-same-psn">() ? psn : psn_add(psn, i);
    out.syndrome = qp_.is<"nak-in-read-response">() ? nak_sequence : ack_syndrome;
    out.msn = msn_;
    out.payload = std::span(data).subspan(std::size_t{i} * pmtu, last ? length - i * pmtu : pmtu);
    if (qp_.is<"read-response-short">() && last && out.payload.size() > 1)
      out.payload = out.payload.first(out.payload.size() - 1);
    if (qp_.is<"aeth-on-middle">() && !first && !last) out.extensions = ext_aeth;
    if (qp_.is<"no-aeth-on-last">() && !first && last) out.extensions = 0;
    emit(out);
  }
}

void Responder::answer_only(std::uint32_t psn) { answer_read(psn, qp_.channel.remote_va, 0); }

void Responder::answer_atomic(std::uint32_t psn, std::uint64_t original) {
  OutPacket out;
  out.opcode = qp_.opcode(qp_.is<"atomic-plain-ack">() ? op::acknowledge : op::atomic_acknowledge);
  out.psn = psn;
  out.syndrome = ack_syndrome;
  out.msn = msn_;
  out.original = original;
  emit(out);
}

void Responder::emit(OutPacket out) {
  if (qp_.is<"response-asks-ack">()) out.ack_request = true;
  const std::uint8_t operation = out.opcode & 31;
  if (qp_.is<"ack-before-read-response">() && operation != op::acknowledge) {
    constexpr std::int64_t hold_ns = 1'000'000;
    if (held_.empty()) held_until_ns_ = qp_.now_ns + hold_ns;
    std::vector<std::uint8_t> payload(out.payload.begin(), out.payload.end());
    out.payload = {};
    held_.push_back({out, std::move(payload)});
    return;
  }
  qp_.emit(out);
}

std::optional<std::int64_t> Responder::next_event_ns() const {
  if (held_.empty()) return std::nullopt;
  return held_until_ns_;
}

void Responder::run() {
  if (held_.empty() || held_until_ns_ > qp_.now_ns) return;
  for (Held& h : held_) {
    h.out.payload = h.payload;
    qp_.emit(h.out);
  }
  held_.clear();
}

void Responder::flush() {
  const bool silent = qp_.is<"no-flush-completion">();
  const Status status = qp_.is<"flush-as-success">() ? Status::success : Status::wr_flush_err;
  if (incoming_.receive) receives_.push_front(*incoming_.receive);
  incoming_ = {};
  for (const ReceiveRequest& receive : receives_)
    if (!silent) qp_.complete({.id = receive.id, .status = status, .is_receive = true});
  receives_.clear();
}

}  // namespace rdmascope::replay
