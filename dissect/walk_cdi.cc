// Steps of AWS CDI and of the EFA headers in front of its data. cdi-probe.md 2, 4 and 6.
#include <algorithm>

#include "dissect/walk_state.h"

namespace rdmascope::dissect {
namespace {

std::span<const std::uint8_t> what_is_left(const Walk& w) { return {w.here(), w.left()}; }

std::uint32_t little32(const std::uint8_t* p) {
  return p[0] | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 | std::uint32_t{p[3]} << 24;
}

}  // namespace

// --- Control messages ------------------------------------------------------------------------------------------------

Next step_cdi_control(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* message = w.take<Cdi>();
  if (!message) return {};
  if (cdi_has_v1_layout(message) && !w.take<CdiV1>()) return {};
  if (!w.take<CdiControl>()) return {};
  const bool is_ack = View<Cdi>(message).get<"command">() == cdi_ack;
  if (!(is_ack ? w.take<CdiAck>() : w.take<CdiRequest>())) return {};
  if (w.claimed > w.pos) w.event(Problem::bad_length, header<Cdi>, w.pos, w.claimed - at, w.pos - at);
  return w.rest(header<Data>);
}

bool is_cdi_here(const Walk& w) { return w.claimed == w.end && is_cdi_control(what_is_left(w)); }

Next step_cdi(Walk& w) {
  if (resembles_cdi_control(what_is_left(w))) return {step_cdi_control};
  return is_first_cdi_packet(what_is_left(w), true) ? Next{step_cdi_data_v2} : Next{step_cdi_data_v1};
}

// --- Data ------------------------------------------------------------------------------------------------------------

namespace {

// Of the size that packet 0 states.
bool take_extra(Walk& w, std::uint32_t bytes) {
  if (bytes == 0) return true;
  const bool with_config = bytes == CdiAvm::with_config_bytes;
  if (bytes != CdiAvm::bytes && !with_config) return w.take(header<CdiExtra>, bytes);
  return w.take<CdiAvm>() && (!with_config || w.take<CdiAvmConfig>());
}

template <class Numbers>
Next step_cdi_data(Walk& w) {
  constexpr bool is_v2 = std::is_same_v<Numbers, CdiDataV2>;
  const std::uint32_t at = w.pos;
  const std::uint8_t* bytes = w.take<CdiData>();
  if (!bytes || !w.take<Numbers>()) return {};
  const View<CdiData> data(bytes);
  const std::uint64_t type = data.get<"payload_type">();
  if (type > cdi_data_keep_alive) {
    w.event(Problem::bad_value, header<CdiData>, at, cdi_data_keep_alive, type);
    return w.rest(header<Data>);
  }
  if (data.get<"packet_sequence_num">() == 0) {
    const std::uint8_t* first = w.take<CdiDataFirst>();
    if (!first || (is_v2 && !w.take<CdiDataStart>())) return {};
    if (!take_extra(w, static_cast<std::uint32_t>(View<CdiDataFirst>(first).get<"extra_data_size">()))) return {};
  } else if (type == cdi_data_offset && !w.take<CdiDataOffset>()) {
    return {};
  }
  return w.rest(header<CdiPayload>);
}

}  // namespace

Next step_cdi_data_v1(Walk& w) { return step_cdi_data<CdiDataV1>(w); }
Next step_cdi_data_v2(Walk& w) { return step_cdi_data<CdiDataV2>(w); }

// --- EFA -------------------------------------------------------------------------------------------------------------

namespace {

// What a message carries is not said in it; the record may know.
Next efa_content(Walk& w, bool starts_message) {
  const auto record = w.p.find<EfaRecord>();
  if (!starts_message || !record || !efa_has_version(record->bytes()) || w.left() == 0) return {step_data};
  if (record->get<"cdi_version">() > 1) return {step_cdi_data_v2};
  constexpr std::uint32_t probe_header = CdiProbe::bytes + CdiData::bytes + CdiDataV1::bytes;
  if (w.claimed - w.pos != CdiProbe::message_bytes || w.left() < probe_header ||
      w.here()[CdiProbe::bytes] != cdi_data_probe)
    return {step_cdi_data_v1};
  w.take<CdiProbe>() && w.take<CdiData>() && w.take<CdiDataV1>();
  return w.rest(header<CdiPayload>);
}

// An address of `bytes`: that of an endpoint is 32 bytes, some senders pad it.
bool take_address(Walk& w, std::uint32_t bytes) {
  if (w.left() < bytes || bytes < EfaAddress::bytes) return bytes == 0 || w.take(header<EfaAddress>, bytes);
  return w.take<EfaAddress>() && w.extend<EfaAddress>(bytes - EfaAddress::bytes);
}

// What the flags of a request announce, in this order.
bool take_request_options(Walk& w, View<EfaRdm> rdm) {
  if (rdm.get<"flags.raw_addr">()) {
    const std::uint8_t* raw = w.take<EfaRawAddr>();
    if (!raw) return false;
    const std::uint32_t bytes = little32(raw);
    if (!(bytes < EfaAddress::bytes ? w.extend<EfaRawAddr>(bytes) : take_address(w, bytes))) return false;
  }
  if (rdm.get<"flags.cq_data">() && !w.take<EfaCqData>()) return false;
  return !rdm.get<"flags.connid">() || w.take<EfaConnection>();
}

bool take_handshake_options(Walk& w, View<EfaRdm> rdm, std::uint32_t at) {
  const std::uint32_t words = little32(w.data + at);
  if (words < EfaHandshake::nextra_base) {
    w.event(Problem::bad_value, header<EfaHandshake>, at, EfaHandshake::nextra_base, words);
    return false;
  }
  const std::uint64_t bytes = (std::uint64_t{words} - EfaHandshake::nextra_base) * 8;
  if (!w.extend<EfaHandshake>(static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX)))) return false;
  if (rdm.get<"flags.connid">() && !(w.take<EfaConnection>() && w.take<EfaPadding>())) return false;
  if (rdm.get<"flags.host_id">() && !w.take<EfaHostId>()) return false;
  if (rdm.get<"flags.device_version">() && !w.take<EfaDeviceVersion>()) return false;
  if (rdm.get<"flags.user_qp">() && !w.take<EfaUserQp>()) return false;
  return !rdm.get<"flags.p2p">() || w.take<EfaP2p>();
}

bool take_rts_options(Walk& w, View<EfaRdm> rdm, std::uint32_t at) {
  if (rdm.get<"flags.rts_cq_data">() && !w.take<EfaCqData>()) return false;
  return !rdm.get<"flags.source">() ||
         take_address(w, static_cast<std::uint32_t>(View<EfaRts>(w.data + at).get<"addrlen">()));
}

}  // namespace

Next step_efa_rdm(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* bytes = w.take<EfaRdm>();
  if (!bytes) return {};
  const View<EfaRdm> rdm(bytes);
  const std::uint64_t version = rdm.get<"version">();
  if (version != efa_rdm_v3 && version != efa_rdm_v4) {
    w.event(Problem::bad_value, header<EfaRdm>, at + 1, efa_rdm_v4, version);
    return {step_data};
  }
  const EfaRdmType* type = efa_rdm_type(bytes[0]);
  if (!type || (version == efa_rdm_v3 && type->type > efa_eor)) {
    w.event(Problem::bad_value, header<EfaRdm>, at);
    return {step_data};
  }
  const std::uint32_t parts_at = w.pos;
  std::uint64_t buffers = 0;
  for (const Header* part : type->parts) {
    if (!part) break;
    if (version == efa_rdm_v3 && type->type == efa_eor && part == &header<EfaConnection>) break;
    const std::uint8_t* p = w.here();
    if (!w.take(*part, part->bytes)) return {};
    if (part == &header<EfaRma>) buffers = View<EfaRma>(p).get<"rma_iov_count">();
    if (part == &header<EfaRta>) buffers = View<EfaRta>(p).get<"rma_iov_count">();
  }
  for (; buffers > 0; --buffers)
    if (!w.take<EfaIov>()) return {};
  if (version == efa_rdm_v3) {
    if (is_efa_rts(bytes) && !take_rts_options(w, rdm, parts_at)) return {};
  } else if (is_efa_request(bytes)) {
    if (!take_request_options(w, rdm)) return {};
  } else if (type->type == efa_handshake) {
    if (!take_handshake_options(w, rdm, parts_at)) return {};
  } else if (type->type == efa_ctsdata && rdm.get<"flags.connid">()) {
    if (!w.take<EfaConnection>() || !w.take<EfaPadding>()) return {};
  }
  return efa_content(w, type->starts_message);
}

Next step_efa_record(Walk& w) {
  const std::uint32_t at = w.pos;
  const std::uint8_t* bytes = w.take<EfaRecord>();
  if (!bytes) return {};
  const View<EfaRecord> record(bytes);
  if (record.get<"version">() != EfaRecord::this_version) {
    w.event(Problem::bad_value, header<EfaRecord>, at, EfaRecord::this_version, record.get<"version">());
    return {step_data};
  }
  const auto header_bytes = static_cast<std::uint32_t>(record.get<"header_len">());
  if (header_bytes < EfaRecord::bytes || header_bytes % 4 != 0)  // where the message begins is anybody's guess
    w.event(Problem::bad_length, header<EfaRecord>, at + 1, EfaRecord::bytes, header_bytes);
  if (header_bytes > EfaRecord::bytes && !w.extend<EfaRecord>(header_bytes - EfaRecord::bytes)) return {};
  w.leftover = &header<Data>;
  const std::uint64_t message = record.get<"msg_len">();
  if (message > w.claimed - w.pos)
    w.event(Problem::bad_length, header<EfaRecord>, w.pos, w.claimed - w.pos, message);
  else
    w.narrow(header<EfaRecord>, w.pos, static_cast<std::uint32_t>(message));
  return efa_has_rdm(bytes) ? Next{step_efa_rdm} : efa_content(w, true);
}

// A private link type may carry anything: what is no record by its own lengths is bytes.
Next step_user1(Walk& w) {
  if (w.left() < EfaRecord::bytes) return {step_data};
  const View<EfaRecord> record(w.here());
  const std::uint64_t header_bytes = record.get<"header_len">();
  const bool fits = record.get<"version">() == EfaRecord::this_version && header_bytes >= EfaRecord::bytes &&
                    header_bytes % 4 == 0 && record.get<"flags.reserved">() == 0 &&
                    !name_of(efa_directions, record.get<"direction">()).empty() &&
                    header_bytes + record.get<"msg_len">() == w.claimed - w.pos;
  return fits ? Next{step_efa_record} : Next{step_data};
}

}  // namespace rdmascope::dissect
