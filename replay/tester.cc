#include "replay/tester.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dissect/headers.h"
#include "dissect/walk.h"
#include "replay/cdi_tester.h"
#include "replay/mad_tester.h"

namespace rdmascope::replay {
namespace {

using dissect::Packet;

// Bounds on what one script may take, however it is written.
constexpr std::size_t most_kept_bytes = 256 << 20, most_events = 200'000;
constexpr std::int64_t longest_script_ns = 3'600'000'000'000;
// How long frames may be on their way when a connection is closed.
constexpr std::int64_t settle_ns = 20'000'000;
constexpr std::int64_t slice_ns = 100'000'000;

std::string seconds(std::int64_t ns) {
  if (ns % 1'000'000'000 == 0) return fmt::format("{} s", ns / 1'000'000'000);
  return fmt::format("{:g} ms", static_cast<double>(ns) / 1e6);
}

std::string_view name(Work work) {
  static constexpr std::string_view names[] = {"SEND",         "SEND with immediate",  "SEND with invalidate",
                                               "WRITE",        "WRITE with immediate", "READ",
                                               "CMP and SWAP", "FETCH and ADD"};
  return names[static_cast<std::size_t>(work)];
}

bool brings_data(Work work) { return work == Work::read || work == Work::compare_swap || work == Work::fetch_add; }

}  // namespace

std::string_view name(Verdict verdict) {
  static constexpr std::string_view names[] = {"passed",  "failed", "not applicable",
                                               "skipped", "error",  "known deviation"};
  return names[static_cast<std::size_t>(verdict)];
}

Tester::Tester(Wire& wire, Dut& dut, TesterOptions options)
    : wire_(wire), dut_(dut), options_(options), random_(options.seed), start_ns_(wire.now_ns()) {}

Tester::~Tester() = default;

std::string Tester::place() const { return fmt::format("{}:{}", script_, line_); }

void Tester::fail(std::string message, std::vector<std::string> details) {
  throw Stop{Verdict::failed, std::move(message), std::move(details)};
}

void Tester::stop(Verdict verdict, std::string message) { throw Stop{verdict, std::move(message)}; }

void Tester::must(const Result<void>& result) {
  if (!result) stop(Verdict::error, result.error());
}

void Tester::tell(Event::Kind kind, std::string text, const Connection* connection, std::uint64_t frame) {
  if (events_.size() >= most_events) stop(Verdict::error, fmt::format("script does more than {} things", most_events));
  Event event;
  event.kind = kind;
  event.line = line_;
  event.time_ns = frame != 0 ? frame_time_ns(frame) : now_ns();
  event.connection = connection ? connection->id : 0;
  event.frame = frame;
  event.text = std::move(text);
  if (options_.heard) options_.heard(event);
  events_.push_back(std::move(event));
}

Connection& Tester::connection(std::uint32_t id) {
  Connection& c = *connections_[id - 1];
  if (!c.open) stop(Verdict::error, "the connection is closed");
  return c;
}

Connection& Tester::current() {
  for (std::size_t i = connections_.size(); i-- > 0;)
    if (connections_[i]->open) return *connections_[i];
  stop(Verdict::error, "no connection is open; call open_rc first");
}

Connection& Tester::open(ChannelOptions options, bool psns_given[2], bool depth_given) {
  if (!dut_.info().has_queue_pairs)
    stop(Verdict::not_applicable, fmt::format("{} is reached by {}, not through queue pairs", dut_.info().name,
                                              dut_.info().cdi ? "CDI control messages" : "MADs"));
  options.tester_address = wire_.address();
  // Queue pair numbers grow, so that one that was used is not used again and late packets are told apart.
  options.tester_qpn = 0x100000 + static_cast<std::uint32_t>(random_() & 0x7ff00) + last_connection();
  if (!psns_given[0]) options.dut_psn = static_cast<std::uint32_t>(random_() & 0xffffff);
  if (!psns_given[1]) options.tester_psn = static_cast<std::uint32_t>(random_() & 0xffffff);
  const DutInfo& info = dut_.info();
  if (options.pmtu > info.max_pmtu)
    stop(Verdict::not_applicable, fmt::format("path MTU {}: {} can do {}", options.pmtu, info.name, info.max_pmtu));

  auto c = std::make_unique<Connection>();
  c->id = last_connection() + 1;
  c->options = options;
  c->channel = must(dut_.open(options));
  if (depth_given && c->channel.initiator_depth < options.initiator_depth)
    stop(Verdict::not_applicable, fmt::format("initiator depth {}: {} grants {}", options.initiator_depth, info.name,
                                              c->channel.initiator_depth));
  c->starts = {options.dut_psn, options.tester_psn};
  c->path.wrap = options_.wrap;
  c->path.link_type = wire_.link_type();
  c->path.source = wire_.address();
  c->path.destination = info.address;
  c->path.source_mac = wire_.mac().value_or(MacAddress{});
  c->path.destination_mac = info.mac.value_or(MacAddress{});
  c->path.destination_qpn = c->channel.qpn;
  c->path.p_key = c->channel.p_key;
  static constexpr std::string_view services[] = {"RC", "UC", "UD"};
  connections_.push_back(std::move(c));
  Connection& opened = *connections_.back();
  tell(Event::Kind::note,
       fmt::format("open {}: QP 0x{:06x} at the DUT, 0x{:06x} at the tester; S is 0x{:06x}, T is 0x{:06x}; MTU {}",
                   services[static_cast<std::size_t>(options.service)], opened.channel.qpn, options.tester_qpn,
                   options.dut_psn, options.tester_psn, options.pmtu),
       &opened);
  return opened;
}

// ---- packets

void Tester::walk(std::uint64_t frame, Packet& packet) const {
  const KeptFrame& kept = frames_[frame - 1];
  packet.frame = {};
  packet.frame.number = frame;
  packet.frame.time_ns = kept.time_ns;
  packet.frame.wire_bytes = static_cast<std::uint32_t>(kept.bytes.size());
  packet.frame.link_type = wire_.link_type();
  dissect::WalkOptions options;
  for (const std::uint16_t port : cdi_ports_)
    if (!options.decode_as(port, dissect::find_start("cdi"))) break;
  dissect::walk(packet, kept.bytes, options);
}

Seen Tester::send(Connection& connection, const Draft& draft, std::optional<std::uint32_t> to_qpn) {
  Path path = connection.path;
  if (to_qpn) path.destination_qpn = *to_qpn;
  transmit(must(draft.build(path)), &connection, false);
  Packet packet;
  walk(frames_.size(), packet);
  std::string line = line_of(packet, connection.starts, true);
  frames_.back().step = place() + " send " + line;
  tell(Event::Kind::sent, std::move(line), &connection, frames_.size());
  return {frames_.size()};
}

std::uint64_t Tester::transmit(std::vector<std::uint8_t> bytes, const Connection* connection, bool is_mad) {
  KeptFrame frame;
  frame.bytes = std::move(bytes);
  frame.time_ns = wire_.now_ns();
  frame.from_tester = true;
  frame.is_mad = is_mad;
  frame.connection = connection ? connection->id : 0;
  if (const Result<void> able = wire_.carries(frame.bytes); !able) stop(Verdict::not_applicable, able.error());
  must(wire_.send(frame.bytes));
  if (kept_bytes_ += frame.bytes.size(); kept_bytes_ > most_kept_bytes)
    stop(Verdict::error, fmt::format("script sends and receives more than {} MB", most_kept_bytes >> 20));
  frames_.push_back(std::move(frame));
  return frames_.size();
}

MadTester& Tester::mads() {
  if (!dut_.info().mads) stop(Verdict::not_applicable, fmt::format("{} is not reached by MADs", dut_.info().name));
  if (!wire_.mads()) stop(Verdict::not_applicable, fmt::format("wire {} carries no MADs", wire_.name()));
  if (!mads_) mads_ = std::make_unique<MadTester>(*this);
  return *mads_;
}

std::uint64_t Tester::next_mad(std::int64_t deadline_ns) {
  while (arrived_mads_.empty())
    if (!pump(deadline_ns)) return 0;
  const std::size_t index = arrived_mads_.front();
  arrived_mads_.pop_front();
  return index + 1;
}

CdiTester& Tester::cdi() {
  if (!dut_.info().cdi) stop(Verdict::not_applicable, fmt::format("{} does not speak CDI", dut_.info().name));
  if (!wire_.has_ports())
    stop(Verdict::not_applicable, fmt::format("wire {} has no UDP ports to talk from", wire_.name()));
  if (!cdi_) cdi_ = std::make_unique<CdiTester>(*this);
  return *cdi_;
}

std::uint64_t Tester::next_datagram(std::int64_t deadline_ns) {
  while (arrived_datagrams_.empty())
    if (!pump(deadline_ns)) return 0;
  const std::size_t index = arrived_datagrams_.front();
  arrived_datagrams_.pop_front();
  return index + 1;
}

void Tester::read_as_cdi(std::uint16_t port) {
  if (std::ranges::find(cdi_ports_, port) == cdi_ports_.end()) cdi_ports_.push_back(port);
}

std::int64_t Tester::slice(std::int64_t deadline_ns) {
  if (options_.interrupted && *options_.interrupted) stop(Verdict::error, "interrupted");
  if (now_ns() > longest_script_ns) stop(Verdict::error, "script takes more than 1 h");
  return std::min(deadline_ns, wire_.now_ns() + slice_ns);
}

bool Tester::pump(std::int64_t deadline_ns) {
  std::optional<Received> received;
  do received = must(wire_.receive(slice(deadline_ns)));
  while (!received && wire_.now_ns() < deadline_ns);
  if (!received) return false;
  KeptFrame frame;
  frame.bytes = std::move(received->bytes);
  frame.time_ns = received->time_ns;
  if (kept_bytes_ += frame.bytes.size(); kept_bytes_ > most_kept_bytes)
    stop(Verdict::error, fmt::format("script sends and receives more than {} MB", most_kept_bytes >> 20));
  frames_.push_back(std::move(frame));
  const std::size_t index = frames_.size() - 1;
  if (wire_.has_ports()) {
    arrived_datagrams_.push_back(index);
    return true;
  }
  Packet packet;
  walk(index + 1, packet);
  const auto bth = packet.find<dissect::Bth>();
  if (!bth) return true;  // others talk on this wire, too
  const std::uint64_t qpn = bth->get<"destqp">();
  if (qpn <= 1 && wire_.mads()) {
    frames_[index].is_mad = true;
    arrived_mads_.push_back(index);
    return true;
  }
  for (const std::unique_ptr<Connection>& c : connections_)
    if (c->options.tester_qpn == qpn) {
      frames_[index].connection = c->id;
      tell(Event::Kind::received, line_of(packet, c->starts, false), c.get(), index + 1);
      if (c->open)
        c->arrived.push_back(index);
      else
        frames_[index].step = "after the connection was closed";
      return true;
    }
  tell(Event::Kind::note, fmt::format("a packet to QP 0x{:06x}, which nobody has opened", qpn));
  return true;
}

std::optional<std::size_t> Tester::next(Connection& connection, std::int64_t deadline_ns) {
  while (connection.arrived.empty())
    if (!pump(deadline_ns)) return std::nullopt;
  return connection.arrived.front();
}

void Tester::mark(std::size_t frame, const std::string& step) {
  if (frames_[frame].step.empty()) frames_[frame].step = place() + " " + step;
}

bool Tester::is_allowed(Connection& connection, const Packet& packet, std::size_t frame) {
  const bool fits = std::any_of(connection.allowed.begin(), connection.allowed.end(),
                                [&](const Expectation& e) { return e.differences(packet, connection.starts).empty(); });
  bool again = false;
  if (connection.allow_retransmissions && connection.next_request_psn)
    if (const auto bth = packet.find<dissect::Bth>())
      again = !dissect::opcodes[bth->get<"opcode">()].response &&
              check::psn_diff(static_cast<std::uint32_t>(bth->get<"psn">()), *connection.next_request_psn) < 0;
  if (fits || again) mark(frame, again ? "allowed: sent again" : "allowed");
  return fits || again;
}

namespace {

// One past the PSNs that a request takes.
std::uint32_t end_of_request(const Packet& packet, std::uint32_t pmtu) {
  const auto bth = packet.find<dissect::Bth>();
  std::uint64_t psns = 1;
  if ((bth->get<"opcode">() & 0x1f) == 0x0c)
    if (const auto reth = packet.find<dissect::Reth>())
      psns = std::max<std::uint64_t>(1, (reth->get<"dmalen">() + pmtu - 1) / pmtu);
  return check::psn_add(static_cast<std::uint32_t>(bth->get<"psn">()), static_cast<std::uint32_t>(psns));
}

}  // namespace

Seen Tester::expect(Connection& connection, const std::vector<Expectation>& any_of, std::int64_t within_ns) {
  std::string wanted = any_of.front().text();
  for (std::size_t i = 1; i < any_of.size(); ++i) wanted += ", or " + any_of[i].text();
  tell(Event::Kind::step, "expect " + wanted, &connection);
  const std::size_t step = events_.size() - 1;
  const std::int64_t deadline = wire_.now_ns() + patience(within_ns);
  for (;;) {
    const std::optional<std::size_t> frame = next(connection, deadline);
    if (!frame) {
      events_[step].good = false;
      fail(fmt::format("expected {}, but nothing came within {}", wanted, seconds(patience(within_ns))));
    }
    Packet packet;
    walk(*frame + 1, packet);
    std::vector<std::string> differences;
    for (std::size_t i = 0; i < any_of.size(); ++i) {
      std::vector<std::string> of_this = any_of[i].differences(packet, connection.starts);
      if (of_this.empty()) {
        connection.arrived.pop_front();
        mark(*frame, "expect " + wanted);
        if (const auto bth = packet.find<dissect::Bth>(); bth && !dissect::opcodes[bth->get<"opcode">()].response) {
          const std::uint32_t end = end_of_request(packet, connection.options.pmtu);
          std::optional<std::uint32_t>& furthest = connection.next_request_psn;
          if (!furthest || check::psn_diff(end, *furthest) > 0) furthest = end;
        }
        return {*frame + 1, i};
      }
      if (differences.empty() || of_this.size() < differences.size()) differences = std::move(of_this);
    }
    if (is_allowed(connection, packet, *frame)) {
      connection.arrived.pop_front();
      continue;
    }
    connection.arrived.pop_front();
    mark(*frame, "expect " + wanted + ": not as expected");
    events_[step].good = false;
    std::string message = std::move(differences.front());
    differences.erase(differences.begin());
    differences.push_back(fmt::format("got frame {}: {}", *frame + 1, line_of(packet, connection.starts, false)));
    fail(std::move(message), std::move(differences));
  }
}

std::vector<Seen> Tester::expect_any_order(Connection& connection, std::vector<Expectation> all,
                                           std::int64_t within_ns) {
  std::vector<Seen> seen(all.size());
  std::vector<std::size_t> places(all.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  while (!all.empty()) {
    const Seen one = expect(connection, all, within_ns);
    seen[places[one.alternative]] = {one.frame, places[one.alternative]};
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(one.alternative));
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(one.alternative));
  }
  return seen;
}

Seen Tester::maybe(Connection& connection, const Expectation& expectation, std::int64_t within_ns) {
  const std::optional<std::size_t> frame = next(connection, wire_.now_ns() + patience(within_ns));
  if (!frame) return {};
  Packet packet;
  walk(*frame + 1, packet);
  if (!expectation.differences(packet, connection.starts).empty()) return {};
  return expect(connection, {expectation}, within_ns);
}

void Tester::allow(Connection& connection, Expectation expectation) {
  tell(Event::Kind::step, "allow " + expectation.text(), &connection);
  connection.allowed.push_back(std::move(expectation));
}

void Tester::quiet(Connection& connection, std::int64_t within_ns) {
  tell(Event::Kind::step, "quiet for " + seconds(within_ns), &connection);
  const std::size_t step = events_.size() - 1;
  const std::int64_t deadline = wire_.now_ns() + within_ns;
  while (const std::optional<std::size_t> frame = next(connection, deadline)) {
    Packet packet;
    walk(*frame + 1, packet);
    connection.arrived.pop_front();
    if (is_allowed(connection, packet, *frame)) continue;
    events_[step].good = false;
    mark(*frame, "quiet: not as expected");
    fail(fmt::format("expected no packet for {}, got frame {}: {}", seconds(within_ns), *frame + 1,
                     line_of(packet, connection.starts, false)));
  }
}

void Tester::wait(std::int64_t ns) {
  tell(Event::Kind::step, "wait " + seconds(ns));
  const std::int64_t deadline = wire_.now_ns() + ns;
  while (wire_.now_ns() < deadline && pump(deadline)) {
  }
}

// ---- the device

std::uint32_t Tester::take_local(Connection& connection, std::uint32_t length) {
  const std::uint64_t end = connection.next_local + (std::uint64_t{length} + 7) / 8 * 8;
  if (end > connection.options.local_bytes)
    stop(Verdict::error, fmt::format("the DUT's local memory of {} bytes is used up; open with local_bytes = {}",
                                     connection.options.local_bytes, end));
  return std::exchange(connection.next_local, static_cast<std::uint32_t>(end));
}

void Tester::need_orders() {
  if (!dut_.info().takes_orders)
    stop(Verdict::not_applicable, fmt::format("--dut {}: nobody there can be told what to do", dut_.info().name));
}

std::vector<std::uint64_t> Tester::post(Connection& connection, WorkRequest request, std::uint32_t count,
                                        const std::optional<std::string>& data) {
  need_orders();
  if (data) request.length = static_cast<std::uint32_t>(data->size());
  const bool atomic = request.work == Work::compare_swap || request.work == Work::fetch_add;
  if (atomic) request.length = 8;
  const DutInfo& info = dut_.info();
  if (atomic && !info.atomics) stop(Verdict::not_applicable, fmt::format("{} has no atomics", info.name));
  if (request.work == Work::send_with_invalidate && !info.send_with_invalidate)
    stop(Verdict::not_applicable, fmt::format("{} has no SEND with invalidate", info.name));
  tell(Event::Kind::posted,
       fmt::format("post {}{} of {} bytes", count > 1 ? fmt::format("{} times ", count) : "", name(request.work),
                   request.length),
       &connection);
  std::vector<std::uint64_t> ids;
  for (std::uint32_t i = 0; i < count; ++i) {
    request.id = next_work_id_++;
    request.local_offset = take_local(connection, request.length);
    if (data) write_memory(connection, Region::local, request.local_offset, *data);
    must(dut_.post_send(connection.channel, request));
    connection.posted[request.id] = {request.work, false, request.signaled, request.local_offset, request.length};
    ids.push_back(request.id);
  }
  return ids;
}

std::vector<std::uint64_t> Tester::post_receive(Connection& connection, std::uint32_t count, std::uint32_t length) {
  need_orders();
  tell(Event::Kind::posted,
       fmt::format("post {}receive of {} bytes", count > 1 ? fmt::format("{} times ", count) : "", length),
       &connection);
  std::vector<std::uint64_t> ids;
  for (std::uint32_t i = 0; i < count; ++i) {
    ReceiveRequest request;
    request.id = next_work_id_++;
    request.length = length;
    request.local_offset = take_local(connection, length);
    must(dut_.post_receive(connection.channel, request));
    connection.posted[request.id] = {Work::send, true, true, request.local_offset, length};
    ids.push_back(request.id);
  }
  return ids;
}

void Tester::take_completions(Connection& connection, std::int64_t wait_ns) {
  const std::int64_t now = wire_.now_ns();
  wait_ns = std::max<std::int64_t>(0, slice(now + std::max<std::int64_t>(0, wait_ns)) - now);
  for (const Completion& completion : must(dut_.poll(connection.channel, wait_ns))) {
    const std::string said = describe(connection, completion);
    tell(Event::Kind::completion, said, &connection);
    const auto posted = connection.posted.find(completion.id);
    kept_completions_.push_back({completion, posted == connection.posted.end() ? Work::send : posted->second.work,
                                 connection.channel.qpn, connection.id, completion.time_ns.value_or(wire_.now_ns()),
                                 dut_.info().simulated, place() + " " + said});
    connection.completions.push_back(completion);
  }
}

std::string Tester::describe(const Connection& connection, const Completion& completion) const {
  const auto posted = connection.posted.find(completion.id);
  std::string out = fmt::format("{} completes: {}",
                                completion.is_receive               ? "receive"
                                : posted == connection.posted.end() ? "unknown request"
                                                                    : name(posted->second.work),
                                name(completion.status));
  if (completion.status == Status::success && (completion.is_receive || completion.bytes > 0))
    out += fmt::format(", {} bytes", completion.bytes);
  if (completion.immediate) out += fmt::format(", immediate 0x{:08x}", *completion.immediate);
  if (completion.invalidated_r_key) out += fmt::format(", invalidated 0x{:x}", *completion.invalidated_r_key);
  return out;
}

void Tester::check_completion(Connection& connection, const Completion& completion, const CompletionWanted& wanted) {
  const std::string got = describe(connection, completion);
  if (wanted.status && completion.status != *wanted.status)
    fail(fmt::format("completion status: expected {}, got {}", name(*wanted.status), name(completion.status)), {got});
  if (wanted.bytes && completion.bytes != *wanted.bytes)
    fail(fmt::format("completion bytes: expected {}, got {}", *wanted.bytes, completion.bytes), {got});
  const auto same = [&](std::string_view what, std::uint32_t expected, const std::optional<std::uint32_t>& actual) {
    if (actual != expected)
      fail(fmt::format("completion {}: expected 0x{:08x}, got {}", what, expected,
                       actual ? fmt::format("0x{:08x}", *actual) : "none"),
           {got});
  };
  if (wanted.immediate) same("immediate", *wanted.immediate, completion.immediate);
  if (wanted.invalidated_r_key) same("invalidated R_Key", *wanted.invalidated_r_key, completion.invalidated_r_key);
  if (!wanted.data && !wanted.original) return;

  const auto posted = connection.posted.find(completion.id);
  if (posted == connection.posted.end()) fail("completion of a request that was never posted", {got});
  const Connection::Posted& p = posted->second;
  if (!p.is_receive && !brings_data(p.work))
    stop(Verdict::error, fmt::format("a {} brings no data to look at", name(p.work)));
  // A datagram is received behind 40 bytes of room for a GRH.
  const std::uint32_t skip = p.is_receive && connection.options.service == Service::ud ? 40 : 0;
  if (wanted.original) {
    const std::string bytes = read_memory(connection, Region::local, p.offset, 8);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), std::min<std::size_t>(8, bytes.size()));
    if (value != *wanted.original)
      fail(fmt::format("original data: expected {}, got {}", *wanted.original, value), {got});
  }
  if (!wanted.data) return;
  if (p.is_receive && completion.bytes != wanted.data->size() + skip)
    fail(fmt::format("received data: expected {} bytes, got {}", wanted.data->size(), completion.bytes - skip), {got});
  if (wanted.data->size() + skip > p.length)
    stop(Verdict::error, fmt::format("data of {} bytes to look for in {}", wanted.data->size(), p.length));
  const std::string bytes =
      read_memory(connection, Region::local, p.offset + skip, static_cast<std::uint32_t>(wanted.data->size()));
  const auto span = [](const std::string& s) {
    return std::span(reinterpret_cast<const std::uint8_t*>(s.data()), s.size());
  };
  const std::string difference = byte_difference(span(*wanted.data), span(bytes));
  if (!difference.empty()) fail("data in the DUT's memory: " + difference, {got});
}

std::vector<Completion> Tester::expect_completion(Connection& connection, const CompletionWanted& wanted) {
  need_orders();
  tell(Event::Kind::step,
       fmt::format("{} {}completion{}", wanted.must_come ? "expect" : "maybe",
                   wanted.count > 1 ? fmt::format("{} times ", wanted.count) : "",
                   wanted.status ? fmt::format(" {}", name(*wanted.status)) : ""),
       &connection);
  const std::size_t step = events_.size() - 1;
  const std::int64_t deadline = wire_.now_ns() + patience(wanted.within_ns);
  std::vector<Completion> taken;
  const auto fits = [&](const Completion& c) { return !wanted.is_receive || c.is_receive == *wanted.is_receive; };
  events_[step].good = false;
  while (taken.size() < wanted.count) {
    std::deque<Completion>& queue = connection.completions;
    const auto first = std::find_if(queue.begin(), queue.end(), fits);
    if (first != queue.end()) {
      const Completion completion = *first;
      queue.erase(first);
      // Requests of one queue complete in the order they were posted, so this must be the next one.
      if (wanted.id && completion.id != *wanted.id)
        fail(fmt::format("completion of another request than expected: request {}, not {}", completion.id, *wanted.id),
             {describe(connection, completion)});
      check_completion(connection, completion, wanted);
      taken.push_back(completion);
      continue;
    }
    const std::int64_t left = deadline - wire_.now_ns();
    const std::size_t before = queue.size();
    take_completions(connection, left);
    if (queue.size() != before || left > 0) continue;
    if (!wanted.must_come) break;
    fail(fmt::format("expected {} completion{}, got {} within {}", wanted.count, wanted.count == 1 ? "" : "s",
                     taken.size(), seconds(patience(wanted.within_ns))));
  }
  events_[step].good = true;
  return taken;
}

void Tester::expect_no_completion(Connection& connection, std::int64_t within_ns) {
  need_orders();
  tell(Event::Kind::step, "expect no completion for " + seconds(within_ns), &connection);
  const std::size_t step = events_.size() - 1;
  const std::int64_t deadline = wire_.now_ns() + within_ns;
  do {
    take_completions(connection, deadline - wire_.now_ns());
    if (connection.completions.empty()) continue;
    const Completion completion = connection.completions.front();
    connection.completions.pop_front();
    events_[step].good = false;
    fail(fmt::format("expected no completion for {}, got one", seconds(within_ns)), {describe(connection, completion)});
  } while (wire_.now_ns() < deadline);
}

std::string Tester::read_memory(Connection& connection, Region region, std::uint32_t offset, std::uint32_t length) {
  need_orders();
  const std::vector<std::uint8_t> bytes = must(dut_.read_memory(connection.channel, region, offset, length));
  return std::string(bytes.begin(), bytes.end());
}

void Tester::write_memory(Connection& connection, Region region, std::uint32_t offset, std::string_view bytes) {
  need_orders();
  must(dut_.write_memory(connection.channel, region, offset,
                         {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
}

void Tester::expect_state(Connection& connection, QpState state, std::int64_t within_ns) {
  need_orders();
  static constexpr std::string_view names[] = {"ready", "error", "another"};
  tell(Event::Kind::step, fmt::format("expect state {}", names[static_cast<std::size_t>(state)]), &connection);
  const std::size_t step = events_.size() - 1;
  const std::int64_t deadline = wire_.now_ns() + patience(within_ns);
  for (;;) {
    const QpState now = must(dut_.state(connection.channel));
    if (now == state) return;
    if (wire_.now_ns() >= deadline) {
      events_[step].good = false;
      fail(fmt::format("state of the queue pair: expected {}, got {}", names[static_cast<std::size_t>(state)],
                       names[static_cast<std::size_t>(now)]));
    }
    pump(std::min(deadline, wire_.now_ns() + 1'000'000));
  }
}

void Tester::close(Connection& connection, std::optional<std::uint32_t> flushed,
                   std::optional<std::uint32_t> flushed_receives) {
  tell(Event::Kind::step, "close", &connection);
  const std::size_t step = events_.size() - 1;
  events_[step].good = false;
  take_completions(connection, 0);
  must(dut_.to_error(connection.channel));
  const std::int64_t deadline = wire_.now_ns() + settle_ns;
  while (wire_.now_ns() < deadline && pump(deadline)) {
  }
  take_completions(connection, 0);
  connection.open = false;
  must(dut_.close(connection.channel));

  std::uint32_t sends = 0, receives = 0;
  for (const Completion& c : connection.completions) {
    if (c.status != Status::wr_flush_err) fail("a completion nobody expected: " + describe(connection, c));
    ++(c.is_receive ? receives : sends);
  }
  const auto same = [&](std::string_view what, const std::optional<std::uint32_t>& expected, std::uint32_t actual) {
    if (expected && *expected != actual && dut_.info().takes_orders)
      fail(fmt::format("{} flushed at close: expected {}, got {}", what, *expected, actual));
  };
  same("send requests", flushed, sends);
  same("receive requests", flushed_receives, receives);
  for (; !connection.arrived.empty(); connection.arrived.pop_front()) {
    const std::size_t frame = connection.arrived.front();
    Packet packet;
    walk(frame + 1, packet);
    if (is_allowed(connection, packet, frame)) continue;
    fail(fmt::format("a packet nobody expected: frame {}: {}", frame + 1, line_of(packet, connection.starts, false)));
  }
  events_[step].good = true;
}

void Tester::close_all(std::uint32_t first) {
  for (std::size_t i = first; i < connections_.size(); ++i)
    if (connections_[i]->open) close(*connections_[i], std::nullopt, std::nullopt);
}

void Tester::abandon(std::uint32_t first) {
  for (std::size_t i = first; i < connections_.size(); ++i) {
    if (!connections_[i]->open) continue;
    connections_[i]->open = false;
    // What went wrong is known already; that closing fails, too, adds nothing.
    if (!dut_.to_error(connections_[i]->channel)) continue;
    if (!dut_.close(connections_[i]->channel)) continue;
  }
}

}  // namespace rdmascope::replay
