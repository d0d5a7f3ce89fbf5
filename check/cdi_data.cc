#include "check/cdi_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/tracker.h"
#include "dissect/headers.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr std::size_t most_ways = 65'536, most_open = 8, most_failed = 1024;
// Of a payload, whose places are remembered. SDKs reorder 5000.
constexpr std::size_t most_packets = 8192;
constexpr std::uint32_t probe_packets = 1000;
constexpr std::int64_t reset_after_failure = 1'000'000'000;

bool ends_connection(std::uint64_t status) {
  constexpr std::uint64_t bad_dest_qpn = 9, unresponsive = 13, unreachable = 15;
  return status == bad_dest_qpn || status == unresponsive || status == unreachable;
}

}  // namespace

CdiBroken& CdiData::broken(CdiBreach breach, const Packet& packet, std::string text) {
  CdiBroken& out = broken_.emplace_back();
  out.breach = breach;
  out.frame = packet.frame.number;
  out.time_ns = packet.frame.time_ns;
  out.text = std::move(text);
  return out;
}

void CdiData::frame(const Packet& packet) {
  broken_.clear();
  rdm(packet);
  if (const Layer* layer = packet.find(header<dissect::CdiData>)) data(packet, *layer);
  completion(packet);
}

// --- Packets of payloads ---------------------------------------------------------------------------------------------

void CdiData::data(const Packet& packet, const Layer& layer) {
  const View<dissect::CdiData> head(packet.data(layer));
  const std::uint64_t type = head.get<"payload_type">();
  const auto sequence = static_cast<std::uint16_t>(head.get<"packet_sequence_num">());
  const bool known_version = packet.find(header<EfaRecord>) != nullptr;
  if (type > cdi_data_keep_alive) {
    CdiBroken& b = broken(CdiBreach::data_header, packet, "types are 0 to 3");
    b.field = "cdi.data.payload_type";
    b.actual = type;
    return;
  }
  const auto v1 = packet.find<CdiDataV1>();
  const auto v2 = packet.find<CdiDataV2>();
  const auto first = packet.find<CdiDataFirst>();
  const auto offset = packet.find<CdiDataOffset>();
  if (first) {
    constexpr std::uint64_t second = 1'000'000'000;
    if (const std::uint64_t ns = first->get<"origination_ptp_timestamp.nanoseconds">(); ns >= second) {
      CdiBroken& b = broken(CdiBreach::data_header, packet, "less than a second");
      b.field = "cdi.data.first.origination_ptp_timestamp.nanoseconds";
      b.actual = ns;
    }
    const std::uint64_t extra = first->get<"extra_data_size">();
    if (extra != 0 && extra != CdiAvm::bytes && extra != CdiAvm::with_config_bytes) {
      CdiBroken& b = broken(CdiBreach::data_header, packet, "SDKs send 0, 2 or 1290 bytes");
      b.field = "cdi.data.first.extra_data_size";
      b.actual = extra;
    }
  }

  Key key;
  if (const auto record = packet.find<EfaRecord>()) {
    key.from_queue = static_cast<std::uint32_t>(record->get<"local_qpn">());
    key.to_queue = static_cast<std::uint32_t>(record->get<"remote_qpn">());
    key.direction = static_cast<std::uint8_t>(record->get<"direction">());
  } else if (const Layer* udp = packet.find(header<Udp>)) {
    endpoints(packet, static_cast<int>(udp - packet.layers().data()), key.from.address, key.to.address);
    const View<Udp> ports(packet.data(*udp));
    key.from.port = static_cast<std::uint16_t>(ports.get<"srcport">());
    key.to.port = static_cast<std::uint16_t>(ports.get<"dstport">());
  }
  auto found = ways_.find(key);
  if (found == ways_.end()) {
    if (ways_.size() == most_ways) return;
    found = ways_.try_emplace(key).first;
  }
  Way& way = found->second;

  // Which control flow it is of: the side that owns one of the queue pairs.
  constexpr std::uint8_t sent = 1, received = 2;
  CdiFlows::Owner owner = key.from_queue != 0 ? flows_.owner_of_queue(key.from_queue) : CdiFlows::Owner{};
  bool by_owner = key.direction == sent;
  if (!owner.flow && key.to_queue != 0) {
    owner = flows_.owner_of_queue(key.to_queue);
    by_owner = key.direction == received;
  }
  if (owner.flow && key.direction != 0) {
    CdiFlow& flow = *owner.flow;
    const CdiRole by = by_owner ? owner.role : other(owner.role);
    const bool connected = flow.cycle.connected, is_probe = type == cdi_data_probe;
    if (by == CdiRole::tx && flow.cycle.frame != 0 && connected == is_probe) {
      CdiBroken& b = broken(CdiBreach::probe_and_data, packet,
                            is_probe ? "a probe packet after Connected" : "data before Connected");
      b.flow = &flow;
      if (flow.cycle.doubt) b.kind = Class::artifact;
      // The last probe packets and Connected may pass each other.
      if (is_probe && packet.frame.time_ns - flow.connected_ns < reset_after_failure) broken_.pop_back();
    }
    if (by == CdiRole::tx && is_probe && !connected) ++probes_[&flow];
    if (flow.unanswered_pings >= 2 && ++flow.data_after_ping >= 2 && !flow.told_data) {
      flow.told_data = true;
      CdiBroken& b = broken(CdiBreach::pings_without_answer, packet,
                            fmt::format("{} Pings since frame {}", flow.unanswered_pings, flow.unanswered_frame));
      b.flow = &flow;
      b.by = CdiRole::rx;
    }
  }

  if (type == cdi_data_keep_alive) return;
  std::uint64_t number = 0;
  if (v2) number = v2->get<"payload_num">();
  if (v1) number = v1->get<"payload_num">();
  if (!v1 && !v2) return;
  if (v2 && (known_version || first || offset)) {
    const auto id = static_cast<std::uint32_t>(v2->get<"packet_id">());
    const std::uint32_t ahead = id - way.last_packet;
    constexpr std::uint32_t widest_gap = 1 << 20;
    if (way.any_packet && ahead > 1 && ahead < widest_gap)
      broken(CdiBreach::packet_id, packet,
             ahead == 2 ? "a packet is not in the capture before it"
                        : fmt::format("{} packets are not in the capture before it", ahead - 1));
    if (!way.any_packet || ahead < widest_gap) way.last_packet = id;
    way.any_packet = true;
  }
  if (type == cdi_data_probe) return;

  const auto payload = static_cast<std::uint16_t>(number);
  const auto ahead = v1 ? static_cast<std::uint8_t>(payload - way.last_payload)
                        : static_cast<std::uint16_t>(payload - way.last_payload);
  const int half = v1 ? 0x80 : 0x8000;
  if (way.any && ahead > 1 && ahead < half) {
    CdiBroken& b = broken(CdiBreach::payload_number, packet, "payloads are counted one by one");
    b.field = v1 ? "cdi.data.v1.payload_num" : "cdi.data.v2.payload_num";
    b.expected = static_cast<std::uint16_t>((way.last_payload + 1) & (v1 ? 0xff : 0xffff));
    b.actual = payload;
  }
  if (!way.any || ahead < half) way.last_payload = payload;
  way.any = true;

  const Layer* const content = packet.find(header<CdiPayload>);
  const std::uint32_t bytes = content ? content->bytes : 0;
  packet_of(way, packet, payload, sequence,
            offset ? static_cast<std::uint32_t>(offset->get<"payload_data_offset">()) : 0, offset.has_value(),
            first ? static_cast<std::uint32_t>(first->get<"total_payload_size">()) : 0, bytes);
}

// Its place in the payload.
void CdiData::packet_of(Way& way, const Packet& packet, std::uint16_t number, std::uint16_t sequence,
                        std::uint32_t offset, bool has_offset, std::uint32_t total, std::uint32_t bytes) {
  auto found = std::find_if(way.open.rbegin(), way.open.rend(), [&](const Payload& p) { return p.number == number; });
  Payload* payload = found == way.open.rend() ? nullptr : &*found;
  // Numbers come again; a whole payload is over when its first packet comes again.
  const auto has = [](const Payload& p, std::uint16_t n) {
    return n / 64u < p.seen.size() && (p.seen[n / 64u] >> n % 64 & 1) != 0;
  };
  if (payload && has(*payload, sequence) && payload->has_first && payload->bytes >= payload->total) payload = nullptr;
  if (!payload) {
    payload = &way.open.emplace_back();
    payload->number = number;
    payload->frame = packet.frame.number;
    if (way.open.size() > most_open) {
      way.open.pop_front();
      payload = &way.open.back();
    }
  }
  const auto wrong = [&](std::string text) {
    if (!std::exchange(payload->told, true)) broken(CdiBreach::data_sequence, packet, std::move(text));
  };
  if (has(*payload, sequence)) return wrong(fmt::format("packet {} of payload {} came before", sequence, number));
  if (payload->seen.size() <= sequence / 64u) payload->seen.resize(sequence / 64u + 1);
  payload->seen[sequence / 64u] |= std::uint64_t{1} << sequence % 64;
  ++payload->packets;
  payload->bytes += bytes;
  if (sequence == 0) {
    payload->has_first = true;
    payload->total = total;
    payload->first_bytes = bytes;
  }
  if (payload->has_first && payload->bytes > payload->total)
    return wrong(fmt::format("{} bytes in {} packets of payload {}, which has {}", payload->bytes, payload->packets,
                             number, payload->total));
  if (!has_offset) return;
  if (payload->has_first && std::uint64_t{offset} + bytes > payload->total)
    return wrong(fmt::format("{} bytes at {} of payload {}, which has {}", bytes, offset, number, payload->total));
  const auto at = std::ranges::lower_bound(payload->parts, offset, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
  const bool over_next = at != payload->parts.end() && std::uint64_t{offset} + bytes > at->first;
  const bool over_last =
      at != payload->parts.begin() && std::uint64_t{std::prev(at)->first} + std::prev(at)->second > offset;
  if (over_next || over_last || (payload->has_first && offset < payload->first_bytes))
    return wrong(fmt::format("{} bytes at {} of payload {} were in another packet", bytes, offset, number));
  if (payload->parts.size() < most_packets) payload->parts.insert(at, {offset, bytes});
}

// --- EFA -------------------------------------------------------------------------------------------------------------

void CdiData::rdm(const Packet& packet) {
  const auto record = packet.find<EfaRecord>();
  const auto rdm = packet.find<EfaRdm>();
  if (!record || !rdm) return;
  if (efa_has_version(record->bytes())) {
    constexpr std::uint8_t newest_old_libfabric[] = {2, 2};
    const std::pair agreed(record->get<"cdi_version">(), record->get<"cdi_major">());
    const bool is_new =
        agreed > std::pair<std::uint64_t, std::uint64_t>(newest_old_libfabric[0], newest_old_libfabric[1]);
    const std::uint64_t expected = is_new ? 4 : 3, version = rdm->get<"version">();
    if (version != expected) {
      CdiBroken& b =
          broken(CdiBreach::rdm_version, packet, fmt::format("as CDI {}.{} uses", agreed.first, agreed.second));
      b.field = "efa.rdm.version";
      b.expected = expected;
      b.actual = version;
      return;
    }
  }
  for (const Event& event : packet.events()) {
    if (event.where->name.substr(0, 7) != "efa.rdm" || event.problem == Problem::cut) continue;
    CdiBroken& b =
        broken(CdiBreach::rdm_length, packet,
               event.problem == Problem::truncated ? fmt::format("the message ends in {}", event.where->title)
                                                   : fmt::format("{} cannot be read", event.where->title));
    b.field = event.problem == Problem::bad_value && event.where == &header<EfaRdm> ? "efa.rdm.type" : "";
    if (!b.field.empty()) b.actual = event.actual;
    return;
  }
}

void CdiData::completion(const Packet& packet) {
  if (flows_.empty() || !packet.find(header<EfaCqe>)) return;
  const View<EfaCqe> entry = *packet.find<EfaCqe>();
  const std::uint64_t status = entry.get<"status">();
  if (!ends_connection(status)) return;
  const CdiFlows::Owner owner = flows_.owner_of_queue(static_cast<std::uint32_t>(entry.get<"qp_num">()));
  if (!owner.flow || owner.role != CdiRole::tx || failed_.size() == most_failed) return;
  failed_.push_back(
      {owner.flow, owner.role, packet.frame.number, packet.frame.time_ns, static_cast<std::uint8_t>(status)});
}

void CdiData::unnoticed(const Failed& f) {
  CdiBroken& b = broken_.emplace_back();
  b.breach = CdiBreach::failed_completion;
  b.flow = f.flow;
  b.by = f.by;
  b.frame = f.frame;
  b.time_ns = f.time_ns;
  b.field = "cqe.efa.status";
  b.actual = f.status;
  b.text = "and its owner sends no Reset within a second";
}

void CdiData::control(const CdiContext& c) {
  broken_.clear();
  const CdiMessage& m = c.message;
  if (c.followed && m.command == cdi_connected && c.by == CdiRole::rx) {
    const auto found = probes_.find(&c.flow);
    if (found != probes_.end() && found->second > 0 && found->second < probe_packets) {
      CdiBroken& b = broken_.emplace_back();
      b.breach = CdiBreach::probe_count;
      b.flow = const_cast<CdiFlow*>(&c.flow);
      b.frame = m.frame;
      b.time_ns = m.time_ns;
      b.text = fmt::format("{} of {} in the capture", found->second, probe_packets);
    }
    probes_.erase(&c.flow);
  }
  if (c.followed && m.is_reset() && c.by == CdiRole::tx) probes_.erase(&c.flow);
  if (failed_.empty()) return;
  std::erase_if(failed_, [&](const Failed& f) {
    if (f.flow == &c.flow && c.by == CdiRole::tx && m.is_reset() && m.time_ns - f.time_ns <= reset_after_failure)
      return true;
    if (m.time_ns - f.time_ns <= reset_after_failure) return false;
    unnoticed(f);
    return true;
  });
}

void CdiData::finish(std::int64_t end_ns) {
  broken_.clear();
  for (const Failed& f : failed_)
    if (end_ns - f.time_ns > reset_after_failure) unnoticed(f);
}

}  // namespace rdmascope::check
