#include "replay/mad_frame.h"

#include <cstring>
#include <utility>

#include "dissect/bth.h"
#include "dissect/crc.h"
#include "dissect/deth.h"
#include "dissect/headers.h"
#include "dissect/lrh.h"
#include "dissect/walk.h"
#include "replay/expectation.h"

namespace rdmascope::replay {
namespace {

using dissect::Bth;
using dissect::Deth;
using dissect::Icrc;
using dissect::Lrh;
using dissect::put;
using dissect::Vcrc;

constexpr std::uint8_t ud_send_only = 0x64;
constexpr std::size_t bth_at = Lrh::bytes, deth_at = bth_at + Bth::bytes, mad_at = deth_at + Deth::bytes;

}  // namespace

MadAddress MadAddress::of_class(std::uint8_t mgmt_class, std::uint16_t source_lid, std::uint16_t destination_lid) {
  MadAddress out;
  out.source_lid = mgmt_class == class_subn_directed ? permissive_lid : source_lid;
  out.destination_lid = mgmt_class == class_subn_directed ? permissive_lid : destination_lid;
  if (is_smp(mgmt_class)) return out;
  out.source_qp = out.destination_qp = 1;
  out.q_key = gsi_q_key;
  out.vl = 0;
  return out;
}

MadAddress MadAddress::turned_round() const {
  MadAddress out = *this;
  std::swap(out.source_lid, out.destination_lid);
  std::swap(out.source_qp, out.destination_qp);
  return out;
}

std::vector<std::uint8_t> mad_frame(std::span<const std::uint8_t> mad, const MadAddress& address) {
  std::vector<std::uint8_t> frame(mad_at + mad.size() + Icrc::bytes + Vcrc::bytes);
  std::uint8_t* const lrh = frame.data();
  put<Lrh, "vl">(lrh, address.vl);
  put<Lrh, "sl">(lrh, address.sl);
  put<Lrh, "lnh">(lrh, 2);
  put<Lrh, "dlid">(lrh, address.destination_lid);
  put<Lrh, "pktlen">(lrh, (mad_at + mad.size() + Icrc::bytes) / 4);
  put<Lrh, "slid">(lrh, address.source_lid);
  put<Bth, "opcode">(lrh + bth_at, ud_send_only);
  put<Bth, "p_key">(lrh + bth_at, address.p_key);
  put<Bth, "destqp">(lrh + bth_at, address.destination_qp);
  put<Bth, "psn">(lrh + bth_at, address.psn);
  put<Deth, "q_key">(lrh + deth_at, address.q_key);
  put<Deth, "srcqp">(lrh + deth_at, address.source_qp);
  std::memcpy(lrh + mad_at, mad.data(), mad.size());
  seal_mad_frame(frame);
  return frame;
}

void seal_mad_frame(std::span<std::uint8_t> frame, bool with_icrc) {
  const std::size_t icrc_at = frame.size() - Vcrc::bytes - Icrc::bytes;
  if (with_icrc) {
    std::uint32_t icrc = 0;
    dissect::compute_icrc(dissect::Envelope::ib_local, frame.first(icrc_at), bth_at, icrc);
    put<Icrc, "crc">(frame.data() + icrc_at, icrc);
  }
  put<Vcrc, "crc">(frame.data() + icrc_at + Icrc::bytes, dissect::compute_vcrc(frame.first(icrc_at + Icrc::bytes)));
}

std::optional<MadOfFrame> mad_of(std::span<const std::uint8_t> frame) {
  dissect::Packet packet;
  packet.frame.link_type = link_infiniband;
  packet.frame.wire_bytes = static_cast<std::uint32_t>(frame.size());
  dissect::walk(packet, frame, {});
  const auto lrh = packet.find<Lrh>();
  const auto bth = packet.find<Bth>();
  const auto deth = packet.find<Deth>();
  const std::span<const std::uint8_t> payload = payload_of(packet);
  if (!lrh || !bth || !deth || payload.size() < dissect::Mad::bytes) return std::nullopt;
  MadOfFrame out;
  out.mad = payload;
  out.address.source_lid = static_cast<std::uint16_t>(lrh->get<"slid">());
  out.address.destination_lid = static_cast<std::uint16_t>(lrh->get<"dlid">());
  out.address.sl = static_cast<std::uint8_t>(lrh->get<"sl">());
  out.address.vl = static_cast<std::uint8_t>(lrh->get<"vl">());
  out.address.p_key = static_cast<std::uint16_t>(bth->get<"p_key">());
  out.address.destination_qp = static_cast<std::uint32_t>(bth->get<"destqp">());
  out.address.psn = static_cast<std::uint32_t>(bth->get<"psn">());
  out.address.q_key = static_cast<std::uint32_t>(deth->get<"q_key">());
  out.address.source_qp = static_cast<std::uint32_t>(deth->get<"srcqp">());
  return out;
}

}  // namespace rdmascope::replay
