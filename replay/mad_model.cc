#include "replay/mad_model.h"

#include <algorithm>
#include <utility>

#include "dissect/headers.h"
#include "dissect/walk.h"
#include "replay/expectation.h"
#include "replay/mad_attributes.h"

namespace rdmascope::replay {
namespace {

using dissect::Mad;
using dissect::PortInfo;
using dissect::put;
using dissect::SmpDirected;
using dissect::View;

constexpr std::uint16_t p_key_base = 0x7fff;
constexpr std::uint64_t most_hops = 63, most_violations = 0xffff;
constexpr std::int64_t second_ns = 1'000'000'000;

View<Mad> mad_view(std::span<const std::uint8_t> mad) { return View<Mad>(mad.data()); }

}  // namespace

bool MadModel::Request::is_set() const { return method == dissect::mad_set; }

MadModel::MadModel(const MadModelOptions& options, Send send)
    : is_switch_(options.is_switch), mutant_(options.mutant), send_(std::move(send)), tester_lid_(options.tester_lid) {
  ports_.resize(std::size_t{is_switch_ ? options.ports : std::uint8_t{2}} + 1);
  furnish();
  put<PortInfo, "lid">(own_port().info.data(), options.lid);
  put<PortInfo, "mastersmlid">(own_port().info.data(), options.tester_lid);
  if (!is_switch_) return;
  put<dissect::SwitchInfo, "partitionenforcementcap">(switch_info_.data(), options.partition_enforcement_cap);
  for (std::size_t i = 1; i < ports_.size(); ++i) ports_[i].p_keys.resize(options.partition_enforcement_cap);
}

// Whether a frame is a MAD for us that a link and a queue pair let through. Section 1.5.
bool MadModel::takes(std::span<const std::uint8_t> bytes, MadOfFrame& in) const {
  dissect::Packet packet;
  packet.frame.link_type = link_infiniband;
  packet.frame.wire_bytes = static_cast<std::uint32_t>(bytes.size());
  dissect::walk(packet, bytes, {});
  const auto lrh = packet.find<dissect::Lrh>();
  const auto bth = packet.find<dissect::Bth>();
  const std::optional<MadOfFrame> mad = mad_of(bytes);
  if (!lrh || !bth || !mad) return false;
  if (lrh->get<"lver">() != 0 && !is<"mad-link-version">()) return false;
  if (mad->mad.size() != dissect::mad_bytes && !(is<"mad-wrong-length">() && mad->mad.size() > Mad::bytes))
    return false;
  if (packet.icrc().status == dissect::CrcStatus::bad && !is<"mad-bad-icrc">()) return false;
  if (packet.vcrc().status == dissect::CrcStatus::bad && !is<"mad-bad-vcrc">()) return false;
  if (bth->get<"tver">() != 0) return false;
  const MadAddress& to = mad->address;
  const bool smp = is_smp(class_of(mad->mad));
  if (to.destination_qp > 1) return false;
  if (to.destination_qp == 0) {
    if (!smp && !is<"mad-gmp-on-qp0">()) return false;
    if (smp && to.vl != 15 && !is<"mad-smp-any-vl">()) return false;
  } else {
    if (smp) {
      if (!is<"mad-smp-on-qp1">()) return false;
    } else {
      if (to.q_key != gsi_q_key && !is<"mad-q-key-ignored">()) return false;
      const std::vector<std::uint16_t>& keys = own_port().p_keys;
      const bool has_key = std::ranges::any_of(keys, [&](std::uint16_t key) {
        return (key & p_key_base) != 0 && (key & p_key_base) == (to.p_key & p_key_base);
      });
      if (!has_key && !is<"mad-p-key-ignored">()) return false;
    }
  }
  const View<PortInfo> own(own_port().info.data());
  const std::uint64_t covered = ~((1ULL << own.get<"lmc">()) - 1);
  const bool to_us = to.destination_lid == permissive_lid ? smp : (to.destination_lid & covered) == own.get<"lid">();
  if (!to_us && !is<"mad-other-lid">()) return false;
  in = *mad;
  return true;
}

void MadModel::frame(std::span<const std::uint8_t> bytes, std::int64_t now_ns) {
  MadOfFrame in;
  if (!takes(bytes, in)) return;
  if (in.address.vl != 15) count(true);
  MadBytes mad{};
  std::ranges::copy(in.mad, mad.begin());
  if (class_of(mad) == class_subn_directed && !walk_route(mad, in.address)) return;
  if (is_response(mad) && !is<"mad-answers-responses">()) return;
  answer(mad, in.address, now_ns);
}

// ---- directed routes: section 2.2, rules C14-9 and C14-13

void MadModel::send_on(const MadBytes& mad, std::uint8_t port) {
  // What leaves by another port reaches nobody.
  if (port != tester_port) return;
  MadAddress address = MadAddress::of_class(class_subn_directed, 0, 0);
  address.psn = psn_++ & 0xffffff;
  send_(mad_frame(mad, address));
}

bool MadModel::walk_route(MadBytes& mad, const MadAddress&) {
  const View<Mad> view = mad_view(mad);
  const std::uint64_t hops = view.get<"hopcount">(), pointer = view.get<"hoppointer">();
  const bool back = view.get<"d">() != 0;
  if (hops > most_hops && !is<"mad-long-route">()) return false;
  if (back && is_response(mad)) {  // C14-13
    if (pointer < 2 || pointer > hops || !is_switch_ || is<"mad-no-return">()) return false;
    if (!is<"mad-return-hop-pointer">()) put<Mad, "hoppointer">(mad.data(), pointer - 1);
    send_on(mad, return_path(mad)[pointer]);
    return false;
  }
  if (back) return is<"mad-d-request-taken">();
  if (is_response(mad) && !is<"mad-answers-responses">()) return false;
  if (pointer > hops + 1) return is<"mad-hop-pointer-beyond">();
  if (pointer == 0) return hops == 0;
  if (pointer == hops + 1) return true;
  if (pointer < hops && (is_switch_ || is<"mad-ca-forwards">())) {
    if (is<"mad-no-forward">()) return false;
    if (!is<"mad-forward-return-path">()) return_path(mad)[pointer] = tester_port;
    if (!is<"mad-forward-hop-pointer">()) put<Mad, "hoppointer">(mad.data(), pointer + 1);
    send_on(mad, initial_path(mad)[pointer]);
    return false;
  }
  if (pointer < hops) return false;
  if (!is<"mad-return-path-missing">()) return_path(mad)[pointer & most_hops] = tester_port;
  put<Mad, "hoppointer">(mad.data(), hops + 1);
  return true;
}

// ---- header

MadModel::Code MadModel::judge_header(const MadBytes& mad) const {
  const View<Mad> view = mad_view(mad);
  const Code version = is<"mad-version-status">() ? Code::attribute : Code::version;
  if (view.get<"baseversion">() != 1 && !is<"mad-base-version">()) return version;
  if (view.get<"classversion">() != 1 && !is<"mad-class-version">()) return version;
  if (!is_smp(class_of(mad)) && class_of(mad) != class_perf) return Code::version;
  const std::uint64_t method = view.get<"method">();
  if (method != dissect::mad_get && method != dissect::mad_set && method != dissect::mad_get_resp) {
    if (is<"mad-method-unknown">()) return Code::ok;
    return is<"mad-method-status">() ? Code::value : Code::method;
  }
  return Code::ok;
}

// Section 9.4. `fits`: the key is the port's, or it has none.
bool MadModel::m_key_opens(const MadBytes& mad, std::int64_t now_ns, bool& fits) {
  std::uint8_t* const info = own_port().info.data();
  const View<PortInfo> port(info);
  if (lease_ends_ns_ && now_ns >= *lease_ends_ns_) {
    lease_ends_ns_.reset();
    put<PortInfo, "m_keyprotectbits">(info, 0);
  }
  const std::uint64_t key = port.get<"m_key">(), protect = port.get<"m_keyprotectbits">();
  fits = m_key_of(mad) == key;
  if (key == 0) {
    const bool checked = is<"mad-m-key-zero-checked">() && !fits && mad_view(mad).get<"method">() == dissect::mad_set;
    fits = true;
    return !checked;
  }
  if (fits) {
    if (!is<"mad-lease-not-stopped">()) lease_ends_ns_.reset();
    return protect != 3 || !is<"mad-m-key-own-refused">();
  }
  bool opens = false;
  if (mad_view(mad).get<"method">() == dissect::mad_get) {
    opens = protect <= 1;
    if (is<"mad-m-key-get-open">()) opens = true;
    if (is<"mad-m-key-get-closed">()) opens = false;
  } else if (is<"mad-m-key-set-open">()) {
    opens = true;
  }
  if (opens) return true;
  std::uint64_t violations = port.get<"m_keyviolations">() + (is<"mad-violations-twice">() ? 2 : 1);
  if (!is<"mad-violations-wrap">()) violations = std::min(violations, most_violations);
  if (!is<"mad-violations-not-counted">()) put<PortInfo, "m_keyviolations">(info, violations & most_violations);
  std::uint64_t period = port.get<"m_keyleaseperiod">();
  if (period == 0 && is<"mad-lease-zero-ends">()) period = 1;
  if (period != 0 && !is<"mad-lease-never-ends">() && (!lease_ends_ns_ || is<"mad-lease-restarts">()))
    lease_ends_ns_ = now_ns + static_cast<std::int64_t>(period) * second_ns;
  return false;
}

// ---- answers

void MadModel::answer(MadBytes mad, const MadAddress& address, std::int64_t now_ns) {
  const MadBytes asked = mad;
  const View<Mad> view = mad_view(asked);
  const std::uint8_t mgmt_class = class_of(asked);
  if (view.get<"reserved16">() != 0 && is<"mad-reserved-refused">()) return;
  Code code = judge_header(asked);
  Request request{};
  request.mgmt_class = mgmt_class;
  request.method = static_cast<std::uint8_t>(view.get<"method">());
  if (request.method != dissect::mad_set) request.method = dissect::mad_get;
  request.attribute = static_cast<std::uint16_t>(view.get<"attributeid">());
  request.modifier = static_cast<std::uint32_t>(view.get<"attributemodifier">());
  request.data = attribute_data(std::span<std::uint8_t>(mad));
  request.m_key_fits = true;
  if (code == Code::ok && is_smp(mgmt_class) && !m_key_opens(asked, now_ns, request.m_key_fits)) return;
  if (code == Code::ok) code = is_smp(mgmt_class) ? subnet_attribute(request) : performance_attribute(request);
  if (code == Code::dropped) return;

  std::uint8_t* const to = mad.data();
  put<Mad, "method">(to, request.is_set() && is<"mad-response-method">() ? 0x82 : dissect::mad_get_resp);
  put<Mad, "status">(to, 0);
  put<Mad, "status.code">(to, static_cast<std::uint64_t>(code));
  if (is<"mad-p-key-raw-7">() && code == Code::value) put<Mad, "status">(to, 7);
  if (is<"mad-status-reserved">()) put<Mad, "status.reserved">(to, 1);
  if (is<"mad-answer-base-version">()) put<Mad, "baseversion">(to, 2);
  if (is<"mad-tid-wrong">()) put<Mad, "transactionid">(to, view.get<"transactionid">() + 1);
  if (is<"mad-tid-cut">()) put<Mad, "transactionid">(to, view.get<"transactionid">() & 0xffffff);
  if (is<"mad-attribute-id-wrong">()) put<Mad, "attributeid">(to, view.get<"attributeid">() + 1);
  if (is<"mad-modifier-not-echoed">()) put<Mad, "attributemodifier">(to, 0);
  if (is<"mad-modifier-port-not-echoed">()) put<Mad, "attributemodifier">(to, view.get<"attributemodifier">() & 0xffff);

  MadAddress back = MadAddress::of_class(mgmt_class, address.destination_lid, address.source_lid);
  back.destination_qp = address.source_qp;
  back.source_qp = address.destination_qp;
  back.p_key = address.p_key;
  back.sl = address.sl;
  if (mgmt_class == class_subn_directed) {
    const std::uint64_t hops = view.get<"hopcount">();
    put<Mad, "d">(to, !is<"mad-d-bit-clear">());
    // C14-13:1: it leaves by the port it came in by.
    if (hops > 0 && !is<"mad-hop-pointer-kept">()) put<Mad, "hoppointer">(to, hops);
    if (is<"mad-hop-count-changed">()) put<Mad, "hopcount">(to, hops + 1);
    if (is<"mad-initial-path-changed">()) std::ranges::fill(initial_path(mad), std::uint8_t{0});
    if (is<"mad-dr-lids-changed">()) put_directed_lids(mad, 0, 0);
    if (is<"mad-class-changed">()) put<Mad, "mgmtclass">(to, class_subn_lid);
  }
  if (is_smp(mgmt_class) && is<"mad-answers-on-vl0">()) back.vl = 0;
  if (!is_smp(mgmt_class) && is<"mad-answers-no-q-key">()) back.q_key = 0;
  if (back.vl != 15) count(false);
  for (int times = is<"mad-answers-twice">() ? 2 : 1; times > 0; --times) {
    back.psn = psn_++ & 0xffffff;
    send_(mad_frame(mad, back));
  }
}

}  // namespace rdmascope::replay
