// A MAD as a frame of an InfiniBand link: LRH, BTH, DETH, 256 bytes, ICRC, VCRC. Wires that hand over bare MADs (umad,
// ibsim) make such a frame of what they get, so that every record of a test opens as a capture. mad.md section 1.5.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dissect/mad.h"

namespace rdmascope::replay {

inline constexpr std::uint16_t link_infiniband = 247;  // LINKTYPE_INFINIBAND
inline constexpr std::uint16_t permissive_lid = 0xffff;
inline constexpr std::uint32_t gsi_q_key = 0x80010000;
inline constexpr std::uint8_t class_subn_lid = 0x01, class_subn_directed = 0x81, class_sa = 0x03, class_perf = 0x04;

using MadBytes = std::array<std::uint8_t, dissect::mad_bytes>;

constexpr bool is_smp(std::uint8_t mgmt_class) {
  return mgmt_class == class_subn_lid || mgmt_class == class_subn_directed;
}

inline std::uint8_t class_of(std::span<const std::uint8_t> mad) {
  return static_cast<std::uint8_t>(dissect::View<dissect::Mad>(mad.data()).get<"mgmtclass">());
}
// An answer, or what ends a trap: no receiver answers it.
inline bool is_response(std::span<const std::uint8_t> mad) {
  constexpr std::uint64_t trap_repress = 0x07;
  const std::uint64_t method = dissect::View<dissect::Mad>(mad.data()).get<"method">();
  return (method & 0x80) != 0 || method == trap_repress;
}

// What stands around a MAD.
struct MadAddress {
  std::uint16_t source_lid = 0, destination_lid = 0;
  std::uint32_t source_qp = 0, destination_qp = 0;
  std::uint32_t q_key = 0;
  std::uint16_t p_key = 0xffff;
  std::uint8_t sl = 0, vl = 15;
  std::uint32_t psn = 0;  // the sender's, one more each time

  // Queue pair, Q_Key and VL as MADs of that class have them. A directed route starts and ends at the permissive LID.
  static MadAddress of_class(std::uint8_t mgmt_class, std::uint16_t source_lid, std::uint16_t destination_lid);
  MadAddress turned_round() const;  // of the answer
};

std::vector<std::uint8_t> mad_frame(std::span<const std::uint8_t> mad, const MadAddress& address);
// Writes the right ICRC and VCRC behind the headers of a frame that was changed, or the VCRC alone.
void seal_mad_frame(std::span<std::uint8_t> frame, bool with_icrc = true);

struct MadOfFrame {
  MadAddress address;
  std::span<const std::uint8_t> mad;  // of the frame; at least a header
};
// A datagram in a frame that starts with LRH; nullopt: it is something else.
std::optional<MadOfFrame> mad_of(std::span<const std::uint8_t> frame);

}  // namespace rdmascope::replay
