#include "replay/mad_tester.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dissect/headers.h"
#include "dissect/walk.h"
#include "replay/mad_attributes.h"

namespace rdmascope::replay {
namespace {

using dissect::Mad;
using dissect::View;

constexpr std::uint8_t method_get = 0x01, method_set = 0x02, method_get_response = 0x81, method_trap = 0x05;
constexpr std::uint16_t status_busy = 0x0001, directed_d = 0x8000;
// How long an answer that nobody wants may be on its way at the end of a test.
constexpr std::int64_t settle_ns = 20'000'000, busy_pause_ns = 50'000'000;
constexpr std::size_t progress_step = 256;

View<Mad> mad_view(std::span<const std::uint8_t> mad) { return View<Mad>(mad.data()); }

std::string difference(std::string_view field, std::string_view format_of, std::uint64_t wanted, std::uint64_t got) {
  return fmt::format("infiniband.mad.{}: expected {}, got {}", field, fmt::format(fmt::runtime(format_of), wanted),
                     fmt::format(fmt::runtime(format_of), got));
}

}  // namespace

std::string_view node_type(std::uint64_t type) {
  static constexpr std::string_view names[] = {"node of unknown type", "ca", "switch", "router"};
  return names[type < std::size(names) ? type : 0];
}

MadTester::MadTester(Tester& tester)
    : tester_(tester),
      target_(*tester.dut().info().mads),
      carriage_(*tester.wire().mads()),
      // Of each script others, so that what is late is told apart.
      next_tid_(tester.random() & 0x3fffff00) {}

std::span<const std::uint8_t> MadTester::mad(std::uint64_t frame) const {
  dissect::Packet packet;
  tester_.walk(frame, packet);
  return payload_of(packet);
}

unsigned MadTester::status_word(std::span<const std::uint8_t> mad) {
  const auto word = static_cast<unsigned>(mad_view(mad).get<"status">());
  return class_of(mad) == class_subn_directed ? word & ~unsigned{directed_d} : word;
}

unsigned MadTester::status_code(std::span<const std::uint8_t> mad) { return status_word(mad) >> 2 & 7; }

std::string MadTester::line(std::uint64_t frame) const {
  const std::span<const std::uint8_t> bytes = mad(frame);
  if (bytes.size() < Mad::bytes) return fmt::format("a datagram of {} bytes", bytes.size());
  const View<Mad> view = mad_view(bytes);
  const auto named = [](std::span<const dissect::ValueName> names, std::uint64_t value) {
    const std::string_view name = dissect::name_of(names, value);
    return name.empty() ? fmt::format("0x{:02x}", value) : std::string(name);
  };
  std::string out = fmt::format("{} {} {}, modifier 0x{:x}", named(dissect::mad_classes, view.get<"mgmtclass">()),
                                named(dissect::mad_methods, view.get<"method">()), attribute_text(bytes),
                                view.get<"attributemodifier">());
  if (is_response(bytes)) out += fmt::format(", status 0x{:04x} (code {})", view.get<"status">(), status_code(bytes));
  return out;
}

// ---- requests

std::vector<std::uint8_t> MadTester::build(const MadRequest& request) {
  const bool by_lid = request.lid || (!request.route && target_.lid);
  const std::uint8_t mgmt_class = request.mgmt_class.value_or(by_lid ? class_subn_lid : class_subn_directed);
  MadBytes mad{};
  std::uint8_t* const at = mad.data();
  dissect::put<Mad, "baseversion">(at, 1);
  dissect::put<Mad, "mgmtclass">(at, mgmt_class);
  dissect::put<Mad, "classversion">(at, mgmt_class == class_sa ? 2 : 1);
  dissect::put<Mad, "method">(at, request.method);
  dissect::put<Mad, "transactionid">(at, request.tid.value_or(++next_tid_ & 0x3fffffff));
  dissect::put<Mad, "attributeid">(at, request.attribute);
  dissect::put<Mad, "attributemodifier">(at, request.modifier);
  std::uint16_t lid_to = 0;
  if (mgmt_class == class_subn_directed) {
    const std::vector<std::uint8_t>& route = request.route ? *request.route : target_.route;
    put_directed_route(mad, route, carriage_.on_link);
  } else {
    lid_to = request.lid ? *request.lid : target_.lid ? *target_.lid : lid();
    if (lid_to == 0)
      tester_.stop(Verdict::not_applicable,
                   "the device has no LID: let a subnet manager run, or name it with --dut node:lid=N");
  }
  if (is_smp(mgmt_class)) put_m_key(mad, request.m_key.value_or(target_.m_key));
  const std::span<std::uint8_t> data = attribute_data(std::span<std::uint8_t>(mad));
  if (request.data.size() > data.size())
    tester_.stop(Verdict::error,
                 fmt::format("data of {} bytes; attributes of this class have {}", request.data.size(), data.size()));
  std::memcpy(data.data(), request.data.data(), request.data.size());

  MadAddress address = MadAddress::of_class(mgmt_class, carriage_.own_lid, lid_to);
  address.psn = next_psn_++ & 0xffffff;
  std::vector<std::uint8_t> frame =
      mad_frame(std::span(mad).first(std::min<std::size_t>(mad.size(), request.bytes.value_or(mad.size()))), address);
  if (request.settings.empty()) return frame;

  // Fields by hand. The common header goes last, since it decides what the rest is.
  dissect::Packet packet;
  packet.frame.link_type = link_infiniband;
  packet.frame.wire_bytes = static_cast<std::uint32_t>(frame.size());
  dissect::walk(packet, frame, {});
  const auto apply = [&](const auto& wanted) {
    for (const MadSetting& setting : request.settings) {
      if (!wanted(*setting.header)) continue;
      const dissect::Layer* const layer = packet.find(*setting.header);
      if (!layer)
        tester_.stop(Verdict::error, fmt::format("{}: a MAD of this class and attribute has no such header",
                                                 dissect::full_name(*setting.header, *setting.field)));
      std::uint8_t* const to = frame.data() + layer->at;
      if (setting.bytes.empty())
        dissect::store(to, *setting.field, setting.number, setting.index);
      else
        std::memcpy(to + setting.field->at / 8, setting.bytes.data(), setting.bytes.size());
    }
  };
  const auto is = [](const dissect::Header& wanted) {
    return [&wanted](const dissect::Header& h) { return &h == &wanted; };
  };
  const auto common = is(dissect::header<Mad>), icrc = is(dissect::header<dissect::Icrc>),
             vcrc = is(dissect::header<dissect::Vcrc>);
  apply([&](const dissect::Header& h) { return !common(h) && !icrc(h) && !vcrc(h); });
  apply(common);
  seal_mad_frame(frame);
  apply(icrc);
  seal_mad_frame(frame, false);
  apply(vcrc);
  return frame;
}

// The same MAD in another packet.
std::uint64_t MadTester::send_again(const MadSent& sent) {
  const std::vector<std::uint8_t> before = tester_.frames()[sent.frame - 1].bytes;
  std::vector<std::uint8_t> frame = before;
  if (const std::optional<MadOfFrame> in = mad_of(before)) {
    MadAddress address = in->address;
    address.psn = next_psn_++ & 0xffffff;
    if (const std::vector<std::uint8_t> anew = mad_frame(in->mad, address); anew.size() == before.size()) frame = anew;
  }
  ++requests_[sent.tid].sent;
  return tester_.transmit(std::move(frame), nullptr, true);
}

void MadTester::keep_from_harm(std::span<const std::uint8_t> bytes) {
  if (asking_ || tester_.options().destructive || bytes.size() < Mad::bytes || is_response(bytes)) return;
  const std::optional<std::uint32_t> port = highest_port(bytes);
  if (!port || *port <= node().ports) return;
  tester_.stop(Verdict::not_applicable,
               fmt::format("{} names port {}, and the device has {}: it may crash; --destructive sends it",
                           attribute_text(bytes), *port, node().ports));
}

MadSent MadTester::send(const MadRequest& request, bool told) {
  std::vector<std::uint8_t> frame = build(request);
  {
    // The frame as built may be none that could be read back: then there is nothing to keep the device from.
    dissect::Packet packet;
    packet.frame.link_type = link_infiniband;
    packet.frame.wire_bytes = static_cast<std::uint32_t>(frame.size());
    dissect::walk(packet, frame, {});
    keep_from_harm(payload_of(packet));
  }
  MadSent sent;
  sent.frame = tester_.transmit(std::move(frame), nullptr, true);
  const std::span<const std::uint8_t> bytes = mad(sent.frame);
  if (bytes.size() >= Mad::bytes) sent.tid = mad_view(bytes).get<"transactionid">();
  const std::uint64_t tids = carriage_.tid_bits >= 64 ? ~0ULL : (1ULL << carriage_.tid_bits) - 1;
  if (sent.tid > tids)
    tester_.stop(Verdict::not_applicable, fmt::format("wire {} leaves {} bits of a transaction ID to the tester",
                                                      tester_.wire().name(), carriage_.tid_bits));
  answers_.erase(sent.tid);
  requests_[sent.tid] = {sent.frame, 1, 0};
  if (!asking_) last_ = sent;
  if (told) {
    const std::string text = line(sent.frame);
    tester_.tell(Event::Kind::sent, text, nullptr, sent.frame);
    tester_.set_step(sent.frame, "send " + text);
  }
  return sent;
}

const MadSent& MadTester::last() const {
  if (last_.frame == 0) tester_.stop(Verdict::error, "no MAD was sent yet");
  return last_;
}

// ---- answers

bool MadTester::take(std::int64_t deadline_ns) {
  const std::uint64_t frame = tester_.next_mad(deadline_ns);
  if (frame == 0) return false;
  const std::span<const std::uint8_t> bytes = mad(frame);
  if (bytes.size() < Mad::bytes) {
    unexpected_.emplace_back(frame, "a datagram too short for a MAD");
    return true;
  }
  const std::uint64_t tid = mad_view(bytes).get<"transactionid">();
  const auto known = requests_.find(tid);
  const bool is_trap = mad_view(bytes).get<"method">() == method_trap;
  if (known != requests_.end() && !is_trap) {
    if (++known->second.answered <= known->second.sent)
      answers_[tid] = frame;
    else
      unexpected_.emplace_back(frame, "a second answer to one request");
  } else if (is_response(bytes)) {
    unexpected_.emplace_back(frame, fmt::format("an answer with transaction ID 0x{:x}, which no request has", tid));
  } else {
    // Traps, and what others ask the tester's port.
    tester_.tell(Event::Kind::note, "passed over: " + line(frame), nullptr, frame);
  }
  return true;
}

std::uint64_t MadTester::wait_for(std::uint64_t tid, std::int64_t within_ns) {
  const std::int64_t deadline = tester_.wire().now_ns() + tester_.patience(within_ns);
  do {
    if (const auto arrived = answers_.find(tid); arrived != answers_.end()) {
      const std::uint64_t frame = arrived->second;
      answers_.erase(arrived);
      return frame;
    }
  } while (take(deadline));
  return 0;
}

void MadTester::show(std::uint64_t answer) {
  if (!tester_.frames()[answer - 1].step.empty()) return;
  tester_.tell(Event::Kind::received, line(answer), nullptr, answer);
  tester_.set_step(answer, "answer");
}

void MadTester::tell_exchange(const MadSent& request, std::uint64_t answer) {
  if (tester_.frames()[request.frame - 1].step.empty()) {
    tester_.tell(Event::Kind::sent, line(request.frame), nullptr, request.frame);
    tester_.set_step(request.frame, "send " + line(request.frame));
  }
  if (answer != 0) show(answer);
}

std::uint64_t MadTester::exchange(const MadRequest& request, const MadWanted& wanted) {
  MadSent sent = send(request);
  std::uint64_t answer = 0;
  for (unsigned attempt = 1;; ++attempt) {
    answer = wait_for(sent.tid, wanted.within_ns);
    const bool busy = answer != 0 && status_word(mad(answer)) == status_busy;
    if ((answer != 0 && !busy) || attempt >= wanted.tries) break;
    if (busy) tester_.wait(busy_pause_ns);
    sent.frame = send_again(sent);
    tester_.tell(Event::Kind::sent, line(sent.frame) + ", again", nullptr, sent.frame);
    tester_.set_step(sent.frame, "send again");
  }
  if (answer != 0) tell_exchange(sent, answer);
  return answer;
}

std::vector<std::string> MadTester::differences(std::uint64_t request_frame, std::uint64_t answer_frame,
                                                const MadWanted& wanted) const {
  std::vector<std::string> out;
  const std::span<const std::uint8_t> request = mad(request_frame), answer = mad(answer_frame);
  if (answer.size() != dissect::mad_bytes) return {fmt::format("the MAD has {} bytes, not 256", answer.size())};
  const View<Mad> asked = mad_view(request), got = mad_view(answer);
  if (wanted.echo) {
    const auto same = [&](std::string_view field, std::string_view form, std::uint64_t expected, std::uint64_t actual) {
      if (expected != actual) out.push_back(difference(field, form, expected, actual));
    };
    same("baseversion", "0x{:02x}", 1, got.get<"baseversion">());
    same("mgmtclass", "0x{:02x}", asked.get<"mgmtclass">(), got.get<"mgmtclass">());
    const std::uint64_t method = asked.get<"method">();
    same("method", "0x{:02x}", method == method_get || method == method_set ? method_get_response : method | 0x80,
         got.get<"method">());
    same("attributeid", "0x{:04x}", asked.get<"attributeid">(), got.get<"attributeid">());
    same("attributemodifier", "0x{:08x}", asked.get<"attributemodifier">(), got.get<"attributemodifier">());
    if (class_of(answer) == class_subn_directed && (got.get<"status">() & directed_d) == 0)
      out.push_back("infiniband.smpdirected.d: expected 1, got 0");
  }
  const unsigned code = status_code(answer);
  const bool status_fits = wanted.status.empty()
                               ? code == 0
                               : std::ranges::any_of(wanted.status, [&](const Allowed& a) { return a.holds(code); });
  if (!status_fits) {
    std::vector<std::string> codes;
    for (const Allowed& a : wanted.status)
      for (const Allowed::Range& r : a.ranges)
        codes.push_back(r.low == r.high ? fmt::format("{}", r.low) : fmt::format("{} to {}", r.low, r.high));
    if (codes.empty()) codes.emplace_back("0");
    out.push_back(fmt::format("status code: expected {}, got {} (status 0x{:04x})", fmt::join(codes, " or "), code,
                              got.get<"status">()));
  }
  if (wanted.fields) {
    dissect::Packet packet;
    tester_.walk(answer_frame, packet);
    for (std::string& d : wanted.fields->differences(packet, {})) out.push_back(std::move(d));
  }
  return out;
}

void MadTester::check(const MadSent& request, std::uint64_t answer, const MadWanted& wanted) {
  if (answer == 0) {
    tell_exchange(request, 0);
    tester_.fail(fmt::format("no answer to {} within {:g} ms{}", line(request.frame),
                             static_cast<double>(tester_.patience(wanted.within_ns)) / 1e6,
                             wanted.tries > 1 ? fmt::format(", sent {} times", requests_[request.tid].sent) : ""));
  }
  std::vector<std::string> found = differences(request.frame, answer, wanted);
  if (found.empty()) return;
  tell_exchange(request, answer);
  tester_.events().back().good = false;
  std::string message = fmt::format("{}: {}", line(request.frame), found.front());
  found.erase(found.begin());
  found.push_back(fmt::format("got frame {}: {}", answer, line(answer)));
  tester_.fail(std::move(message), std::move(found));
}

void MadTester::expect_no_answer(const MadSent& request, std::int64_t within_ns) {
  tester_.tell(Event::Kind::step, "expect no answer");
  const std::size_t step = tester_.events().size() - 1;
  const std::uint64_t answer = wait_for(request.tid, within_ns);
  if (answer == 0) return;
  tester_.events()[step].good = false;
  tell_exchange(request, answer);
  tester_.fail(fmt::format("expected no answer to {}, got frame {}: {}", line(request.frame), answer, line(answer)));
}

// ---- many at a time

void MadTester::run(const Pipeline& pipeline) {
  struct Flying {
    std::uint64_t index;
    MadSent sent;
    MadWanted wanted;
    std::int64_t deadline_ns;
    unsigned attempt = 1;
  };
  std::deque<Flying> flying;
  const std::size_t window = pipeline.window > 0 ? pipeline.window : carriage_.window;
  std::uint64_t next = 0, done = 0;
  Wire& wire = tester_.wire();
  const auto due = [&](const MadWanted& wanted) { return wire.now_ns() + tester_.patience(wanted.within_ns); };
  while (done < pipeline.count) {
    while (next < pipeline.count && flying.size() < window) {
      auto [request, wanted] = pipeline.request(next);
      const MadSent sent = send(request, false);
      const std::int64_t deadline_ns = due(wanted);
      flying.push_back({next++, sent, std::move(wanted), deadline_ns});
    }
    const auto soonest = std::ranges::min_element(flying, {}, &Flying::deadline_ns);
    if (!take(soonest->deadline_ns)) {
      if (soonest->attempt >= soonest->wanted.tries) check(soonest->sent, 0, soonest->wanted);
      ++soonest->attempt;
      soonest->sent.frame = send_again(soonest->sent);
      soonest->deadline_ns = due(soonest->wanted);
      continue;
    }
    for (auto one = flying.begin(); one != flying.end();) {
      const auto arrived = answers_.find(one->sent.tid);
      if (arrived == answers_.end()) {
        ++one;
        continue;
      }
      const std::uint64_t answer = arrived->second;
      answers_.erase(arrived);
      const Flying finished = std::move(*one);
      one = flying.erase(one);
      check(finished.sent, answer, finished.wanted);
      if (pipeline.answer) pipeline.answer(finished.index, answer);
      if (++done % progress_step == 0 && tester_.options().progress) tester_.options().progress(done, pipeline.count);
    }
  }
}

// ---- the device

const MadTester::Node& MadTester::node() {
  if (node_) return *node_;
  MadRequest request;
  request.attribute = attribute_node_info;
  asking_ = true;
  const std::uint64_t answer = exchange(request, {});
  asking_ = false;
  if (answer == 0 && !unexpected_.empty())
    tester_.fail(fmt::format("no answer to Get NodeInfo, but frame {} is {}", unexpected_.front().first,
                             unexpected_.front().second));
  if (answer == 0)
    tester_.stop(Verdict::error,
                 fmt::format("{} does not answer Get NodeInfo: is that the way to it?", tester_.dut().info().name));
  const View<dissect::NodeInfo> info(attribute_data(mad(answer)).data());
  node_ = Node{info.get<"nodetype">(), info.get<"numports">(), info.get<"localportnum">()};
  return *node_;
}

std::uint16_t MadTester::lid() {
  if (target_.lid) return *target_.lid;
  if (lid_) return *lid_;
  asking_ = true;
  MadRequest request;
  request.attribute = attribute_port_info;
  const std::uint64_t answer = exchange(request, {});
  asking_ = false;
  lid_ = answer == 0
             ? std::uint16_t{0}
             : static_cast<std::uint16_t>(View<dissect::PortInfo>(attribute_data(mad(answer)).data()).get<"lid">());
  return *lid_;
}

void MadTester::finish() {
  const std::int64_t deadline = tester_.wire().now_ns() + settle_ns;
  while (take(deadline)) {
  }
  const auto left = std::exchange(unexpected_, {});
  for (const auto& [tid, frame] : answers_)
    tester_.tell(Event::Kind::note, "an answer nobody waited for: " + line(frame), nullptr, frame);
  abandon();
  if (left.empty()) return;
  tester_.fail(fmt::format("{}: frame {}: {}", left.front().second, left.front().first, line(left.front().first)));
}

void MadTester::abandon() {
  answers_.clear();
  unexpected_.clear();
}

}  // namespace rdmascope::replay
