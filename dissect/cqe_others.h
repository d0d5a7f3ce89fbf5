// Completion entries of erdma (32 bytes, big-endian) and ib_uverbs_wc, the software work completion of Soft-RoCE (48
// bytes, stored little-endian). cqe-sniffer.md 2.3.
#pragma once

#include "dissect/cqe_fault.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr ValueName erdma_queues[] = {{0, "send"}, {1, "receive"}};

struct ErdmaCqe {
  static constexpr std::string_view name = "cqe.erdma", title = "erdma completion queue entry", protocol = "CQE";
  static constexpr std::uint32_t bytes = 32;
  static constexpr auto fields = layout(bytes, {
                                                   {"owner", 1, Show::dec, "Owner"},
                                                   {"reserved0", 7, Show::reserved, "Reserved"},
                                                   {"opcode", 8, Show::hex, "Opcode"},
                                                   {"qtype", 8, Show::dec, "Queue", erdma_queues},
                                                   {"syndrome", 8, Show::hex, "Syndrome"},
                                                   {"qe_idx", 32, Show::dec, "Queue entry index"},
                                                   {"qpn", 32, Show::hex, "Queue pair number"},
                                                   Field{"imm", 32, Show::hex, "Immediate data"}.little(),
                                                   Field{"size", 32, Show::dec, "Byte count"}.in("bytes"),
                                                   {"reserved20", 96, Show::bytes, "Reserved"},
                                               });
};

inline constexpr ValueName wc_opcodes[] = {{0, "SEND"},      {1, "RDMA_WRITE"}, {2, "RDMA_READ"},
                                           {3, "COMP_SWAP"}, {4, "FETCH_ADD"},  {5, "BIND_MW"},
                                           {6, "LOCAL_INV"}, {128, "RECV"},     {129, "RECV_RDMA_WITH_IMM"}};
inline constexpr std::uint32_t wc_receive = 128;

struct WorkCompletion {
  static constexpr std::string_view name = "cqe.wc", title = "Work completion (ib_uverbs_wc)", protocol = "CQE";
  static constexpr std::uint32_t bytes = 48;
  static constexpr auto fields =
      layout(bytes, {
                        Field{"wr_id", 64, Show::hex, "Work request id"}.little(),
                        Field{"status", 32, Show::dec, "Status", wc_status_names}.little(),
                        Field{"opcode", 32, Show::dec, "Opcode", wc_opcodes}.little(),
                        Field{"vendor_err", 32, Show::hex, "Vendor error"}.little(),
                        Field{"byte_len", 32, Show::dec, "Byte count"}.little().in("bytes"),
                        {"imm", 32, Show::hex, "Immediate data or invalidated R_Key, as in memory"},
                        Field{"qp_num", 32, Show::hex, "Queue pair number"}.little(),
                        Field{"src_qp", 32, Show::hex, "Source queue pair"}.little(),
                        Field{"wc_flags", 32, Show::hex, "Flags"}.little(),
                        Field{"pkey_index", 16, Show::dec, "P_Key index"}.little(),
                        Field{"slid", 16, Show::hex, "Source LID"}.little(),
                        {"sl", 8, Show::dec, "Service level"},
                        {"dlid_path_bits", 8, Show::dec, "DLID path bits"},
                        {"port_num", 8, Show::dec, "Port"},
                        {"reserved", 8, Show::reserved, "Reserved"},
                    });
};

}  // namespace rdmascope::dissect
