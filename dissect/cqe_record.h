// A captured completion queue entry: header version 1 of dissector "rdma_cqe" (link type 252, or 147 without the tags),
// 32 bytes, big-endian; then the whole slot of the queue as it was in memory. cqe-sniffer.md 5.2.
#pragma once

#include <cstddef>

#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr std::string_view cqe_dissector = "rdma_cqe";

enum class CqeFormat : std::uint8_t {
  unknown,
  mlx4,
  mlx4_timestamp,
  mlx5,
  efa,
  bnxt_re,
  irdma,
  erdma,
  work_completion
};
inline constexpr ValueName cqe_formats[] = {{0, "unknown"}, {1, "mlx4"},  {2, "mlx4 timestamp"},
                                            {3, "mlx5"},    {4, "EFA"},   {5, "bnxt_re"},
                                            {6, "irdma"},   {7, "erdma"}, {8, "ib_uverbs_wc"}};
constexpr bool is_known_cqe_format(std::uint64_t format) { return format < std::size(cqe_formats) || format >= 0x80; }

inline constexpr ValueName cqe_qp_types[] = {{0, "unknown"},    {2, "RC"},       {3, "UC"},        {4, "UD"},
                                             {8, "RAW_PACKET"}, {9, "XRC_SEND"}, {10, "XRC_RECV"}, {0xff, "DRIVER"}};
inline constexpr std::uint8_t qpt_rc = 2, qpt_uc = 3, qpt_ud = 4, qpt_raw = 8, qpt_xrc_send = 9, qpt_xrc_recv = 10;

constexpr bool cqe_has_index(const std::uint8_t* record) { return record[3] & 4; }
constexpr bool cqe_knows_link(const std::uint8_t* record) { return record[3] & 1; }

struct CqeRecord {
  static constexpr std::string_view name = "cqe.record", title = "Completion queue entry record", protocol = "CQE";
  static constexpr std::uint32_t bytes = 32;
  static constexpr std::uint8_t this_version = 1;
  static constexpr auto fields =
      layout(bytes, {
                        {"version", 8, Show::dec, "Version"},
                        Field{"header_len", 8, Show::dec, "Header length"}.in("bytes"),
                        {"format", 8, Show::dec, "Format of the entry", cqe_formats},
                        {"flags.reserved", 2, Show::reserved, "Reserved"},
                        {"flags.tunnel", 1, Show::flag, "Tunnel offload is active"},
                        {"flags.simulated", 1, Show::flag, "Simulated source"},
                        {"flags.sniffer", 1, Show::flag, "Queue of a sniffer queue pair"},
                        {"flags.index_valid", 1, Show::flag, "Consumer index and queue size are valid"},
                        Field{"flags.ethernet", 1, Show::flag, "Link layer is Ethernet"}.only_if(cqe_knows_link),
                        {"flags.link_known", 1, Show::flag, "Link layer is known"},
                        Field{"stride", 16, Show::dec, "Slot size"}.in("bytes"),
                        {"cqe_off", 16, Show::dec, "Offset of the entry in its slot"},
                        {"cqn", 32, Show::hex, "Completion queue number"},
                        Field{"ci", 32, Show::dec, "Consumer index"}.only_if(cqe_has_index),
                        Field{"cqe_cnt", 32, Show::dec, "Slots of the queue"}.only_if(cqe_has_index),
                        {"port", 8, Show::dec, "Port"},  // 0: unknown
                        {"qp_type", 8, Show::dec, "Queue pair type", cqe_qp_types},
                        {"pci_device", 16, Show::hex, "PCI device"},
                        {"hw_clock", 64, Show::hex, "Device clock"},
                        rest("more", Show::bytes, "Header of a later version"),
                    });
};

// What of a slot is not the entry: the first half of a 64-byte mlx4 slot, inline data of mlx5.
struct CqeSlot {
  static constexpr std::string_view name = "cqe.slot", title = "Rest of the slot";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {rest("data", Show::bytes, "Data")});
};

}  // namespace rdmascope::dissect
