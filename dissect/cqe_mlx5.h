// Completion queue entry of mlx5 devices (ConnectX-4 and later): CQE64, its error forms, and the compressed mini entry.
// Big-endian. cqe-sniffer.md 2.1.
#pragma once

#include "dissect/cqe_fault.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr std::uint8_t mlx5_req = 0, mlx5_resp_send = 2, mlx5_resp_send_inv = 4, mlx5_resize = 5,
                              mlx5_sig_err = 12, mlx5_req_err = 13, mlx5_resp_err = 14, mlx5_invalid = 15;
inline constexpr ValueName mlx5_opcodes[] = {{0, "REQ"},           {1, "RESP_WR_IMM"},   {2, "RESP_SEND"},
                                             {3, "RESP_SEND_IMM"}, {4, "RESP_SEND_INV"}, {5, "RESIZE_CQ"},
                                             {6, "NO_PACKET"},     {12, "SIG_ERR"},      {13, "REQ_ERR"},
                                             {14, "RESP_ERR"},     {15, "INVALID"}};
inline constexpr ValueName mlx5_send_opcodes[] = {{0x00, "NOP"},
                                                  {0x01, "SEND_INVAL"},
                                                  {0x08, "RDMA_WRITE"},
                                                  {0x09, "RDMA_WRITE_IMM"},
                                                  {0x0a, "SEND"},
                                                  {0x0b, "SEND_IMM"},
                                                  {0x0e, "TSO"},
                                                  {0x10, "RDMA_READ"},
                                                  {0x11, "ATOMIC_CS"},
                                                  {0x12, "ATOMIC_FA"},
                                                  {0x14, "MASKED_ATOMIC_CS"},
                                                  {0x15, "MASKED_ATOMIC_FA"},
                                                  {0x18, "BIND_MW"},
                                                  {0x19, "FMR"},
                                                  {0x1b, "LOCAL_INVAL"},
                                                  {0x1f, "CONFIG_CMD"},
                                                  {0x20, "SET_PSV"},
                                                  {0x25, "UMR"},
                                                  {0x28, "TAG_MATCHING"},
                                                  {0x2c, "FLOW_TBL_ACCESS"},
                                                  {0x2f, "MMO"}};
inline constexpr ValueName mlx5_entry_formats[] = {
    {0, "none"}, {1, "inline data, 32 bytes"}, {2, "inline data, 64 bytes"}, {3, "compressed"}};
inline constexpr ValueName mlx5_l3_types[] = {{0, "none or GRH"}, {1, "IPv6"}, {2, "IPv4"}};
inline constexpr ValueName mlx5_tls_states[] = {{0, "not decrypted"}, {1, "decrypted"}, {2, "resync"}, {3, "error"}};
inline constexpr ValueName mlx5_l4_kinds[] = {
    {0, "none"}, {1, "TCP, no ACK"}, {2, "UDP"}, {3, "TCP, ACK, no data"}, {4, "TCP, ACK, data"}};
inline constexpr ValueName mlx5_hash_ip[] = {{0, "none"}, {1, "IPv4"}, {2, "IPv6"}};
inline constexpr ValueName mlx5_hash_l4[] = {{0, "none"}, {1, "TCP"}, {2, "UDP"}, {3, "SPI"}};

constexpr std::uint8_t mlx5_opcode(const std::uint8_t* cqe) { return cqe[63] >> 4; }
constexpr bool is_mlx5_error(const std::uint8_t* cqe) {
  return mlx5_opcode(cqe) == mlx5_req_err || mlx5_opcode(cqe) == mlx5_resp_err;
}
constexpr bool is_mlx5_signature_error(const std::uint8_t* cqe) { return mlx5_opcode(cqe) == mlx5_sig_err; }
constexpr bool is_mlx5_plain(const std::uint8_t* cqe) { return mlx5_opcode(cqe) < mlx5_sig_err; }
constexpr bool has_mlx5_inline(const std::uint8_t* cqe) { return is_mlx5_plain(cqe) && (cqe[63] >> 2 & 3) == 1; }
constexpr bool is_mlx5_head(const std::uint8_t* cqe) { return is_mlx5_plain(cqe) && (cqe[63] >> 2 & 3) != 1; }
constexpr bool has_mlx5_qpn(const std::uint8_t* cqe) { return !is_mlx5_signature_error(cqe); }
constexpr bool has_mlx5_send_opcode(const std::uint8_t* cqe) {
  return mlx5_opcode(cqe) == mlx5_req || mlx5_opcode(cqe) == mlx5_req_err;
}
constexpr bool has_mlx5_drop_counter(const std::uint8_t* cqe) {
  return has_mlx5_qpn(cqe) && !has_mlx5_send_opcode(cqe);
}

struct Mlx5Cqe {
  static constexpr std::string_view name = "cqe.mlx5", title = "mlx5 completion queue entry", protocol = "CQE";
  static constexpr std::uint32_t bytes = 64;
  static constexpr auto fields = layout(
      bytes,
      {
          view("inline_data", 256, Show::bytes, "Inline data").only_if(has_mlx5_inline),
          Field{"reserved0", 3, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          Field{"tls_offload", 2, Show::dec, "TLS offload", mlx5_tls_states}.only_if(is_mlx5_head),
          Field{"reserved0_2", 2, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          Field{"tunneled", 1, Show::flag, "Tunneled"}.only_if(is_mlx5_head),
          Field{"reserved1", 8, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          Field{"wqe_id", 16, Show::dec, "Work queue entry id"}.only_if(is_mlx5_head),
          Field{"lro", 64, Show::hex, "LRO or header data split"}.only_if(is_mlx5_head),
          Field{"rss_hash_result", 32, Show::hex, "RSS hash"}.only_if(is_mlx5_head),
          view("sig.expected_trans_sig", 32, Show::hex, "Expected transport signature")
              .only_if(is_mlx5_signature_error),
          Field{"rss_hash_type.l4", 2, Show::dec, "RSS hash over L4", mlx5_hash_l4}.only_if(is_mlx5_head),
          Field{"rss_hash_type.reserved5", 2, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          Field{"rss_hash_type.ip", 2, Show::dec, "RSS hash over IP", mlx5_hash_ip}.only_if(is_mlx5_head),
          Field{"rss_hash_type.reserved1", 2, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          Field{"reserved17", 1, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          Field{"ml_path", 7, Show::dec, "DLID path bits"}.only_if(is_mlx5_head),
          Field{"reserved18", 16, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          view("sig.actual_trans_sig", 32, Show::hex, "Actual transport signature").only_if(is_mlx5_signature_error),
          Field{"check_sum", 16, Show::hex, "Checksum"}.only_if(is_mlx5_head),
          Field{"slid", 16, Show::hex, "Source LID"}.only_if(is_mlx5_head),
          view("sig.expected_ref_tag", 32, Show::hex, "Expected reference tag").only_if(is_mlx5_signature_error),
          Field{"reserved24", 2, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          Field{"l3_type", 2, Show::dec, "Network header", mlx5_l3_types}.only_if(is_mlx5_head),
          Field{"sl", 4, Show::dec, "Service level"}.only_if(is_mlx5_head),
          Field{"rqpn", 24, Show::hex, "Source queue pair"}.only_if(is_mlx5_head),
          view("sig.actual_ref_tag", 32, Show::hex, "Actual reference tag").only_if(is_mlx5_signature_error),
          Field{"hds_ip_ext.reserved", 5, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          Field{"hds_ip_ext.l4_ok", 1, Show::flag, "L4 checksum good"}.only_if(is_mlx5_head),
          Field{"hds_ip_ext.l3_ok", 1, Show::flag, "L3 checksum good"}.only_if(is_mlx5_head),
          Field{"hds_ip_ext.l2_ok", 1, Show::flag, "L2 good"}.only_if(is_mlx5_head),
          Field{"l4_l3_hdr_type.reserved7", 1, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          Field{"l4_l3_hdr_type.l4", 3, Show::dec, "L4 header", mlx5_l4_kinds}.only_if(is_mlx5_head),
          Field{"l4_l3_hdr_type.l3", 2, Show::dec, "L3 header", mlx5_hash_ip}.only_if(is_mlx5_head),
          Field{"l4_l3_hdr_type.reserved1", 1, Show::reserved, "Reserved"}.only_if(is_mlx5_head),
          Field{"l4_l3_hdr_type.vlan", 1, Show::flag, "VLAN tag present"}.only_if(is_mlx5_head),
          Field{"vlan_info", 16, Show::hex, "VLAN tag"}.only_if(is_mlx5_head),
          view("sig.syndrome", 16, Show::hex, "Signature syndrome").only_if(is_mlx5_signature_error),
          Field{"lro_num_seg", 8, Show::dec, "LRO segments"}.only_if(has_mlx5_qpn),
          Field{"srqn", 24, Show::hex, "Shared receive queue or user index"}.only_if(has_mlx5_qpn),
          view("sig.mkey", 32, Show::hex, "Memory key").only_if(is_mlx5_signature_error),
          Field{"imm_inval_pkey", 32, Show::hex, "Immediate data, invalidated R_Key or P_Key index"}.only_if(
              is_mlx5_plain),
          view("sig.offset", 64, Show::hex, "Offset of the signature error").only_if(is_mlx5_signature_error),
          Field{"app", 8, Show::dec, "Application"}.only_if(is_mlx5_plain),
          Field{"app_op", 8, Show::dec, "Application operation"}.only_if(is_mlx5_plain),
          Field{"app_info", 16, Show::hex, "Application information"}.only_if(is_mlx5_plain),
          Field{"byte_cnt", 32, Show::dec, "Byte count"}.only_if(is_mlx5_plain).in("bytes"),
          view("timestamp", 64, Show::dec, "Time stamp in ticks of the device").only_if(is_mlx5_plain),
          Field{"reserved48", 32, Show::reserved, "Reserved"}.only_if(is_mlx5_error),
          Field{"hw_error_syndrome", 8, Show::hex, "Hardware error syndrome"}.only_if(is_mlx5_error),
          Field{"hw_syndrome_type", 8, Show::hex, "Hardware syndrome type"}.only_if(is_mlx5_error),
          Field{"vendor_error_syndrome", 8, Show::hex, "Vendor error syndrome"}.only_if(is_mlx5_error),
          Field{"syndrome", 8, Show::hex, "Syndrome", syndrome_names}.only_if(is_mlx5_error),
          view("send_opcode", 8, Show::hex, "Send operation", mlx5_send_opcodes).only_if(has_mlx5_send_opcode),
          Field{"rx_drop_counter", 8, Show::dec, "Receive drop counter"}.only_if(has_mlx5_drop_counter),
          Field{"qpn", 24, Show::hex, "Queue pair number"}.only_if(has_mlx5_qpn),
          Field{"wqe_counter", 16, Show::dec, "Work queue entry counter"}.only_if(has_mlx5_qpn),
          {"signature", 8, Show::hex, "Signature or validity count"},
          {"opcode", 4, Show::dec, "Opcode", mlx5_opcodes},
          {"format", 2, Show::dec, "Format", mlx5_entry_formats},
          {"se", 1, Show::flag, "Solicited event"},
          {"owner", 1, Show::dec, "Owner"},
      });
};
static_assert(field<Mlx5Cqe, "slid">().at == 22 * 8);
static_assert(field<Mlx5Cqe, "vlan_info">().at == 30 * 8);
static_assert(field<Mlx5Cqe, "byte_cnt">().at == 44 * 8);
static_assert(field<Mlx5Cqe, "syndrome">().at == 55 * 8);
static_assert(field<Mlx5Cqe, "qpn">().at == 57 * 8);

// One of the eight in a slot behind a compressed title. Which reading of the first half holds was chosen at creation.
struct Mlx5MiniCqe {
  static constexpr std::string_view name = "cqe.mlx5_mini", title = "mlx5 compressed entry", protocol = "CQE";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {
                                                   view("rss_hash", 32, Show::hex, "RSS hash"),
                                                   view("checksum", 16, Show::hex, "Checksum"),
                                                   {"wqe_counter", 16, Show::dec, "Work queue entry counter"},
                                                   view("stride_index", 16, Show::dec, "Stride index"),
                                                   {"send_opcode", 8, Show::hex, "Send operation", mlx5_send_opcodes},
                                                   {"reserved", 8, Show::reserved, "Reserved"},
                                                   Field{"byte_cnt", 32, Show::dec, "Byte count"}.in("bytes"),
                                               });
};

}  // namespace rdmascope::dissect
