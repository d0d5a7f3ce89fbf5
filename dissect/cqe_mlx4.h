// Completion queue entry of hermon and mlx4 devices (MT25408, ConnectX to ConnectX-3 Pro): 32 bytes, big-endian words.
// Field names are those of the programmer's reference manual. cqe-sniffer.md 1.2, 1.4, 1.8, 1.9.
#pragma once

#include "dissect/cqe_fault.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr std::uint8_t mlx4_error = 0x1e, mlx4_resize = 0x16, mlx4_config = 0x1f;

inline constexpr ValueName mlx4_send_opcodes[] = {{0x00, "NOP"},
                                                  {0x01, "SEND_INVAL"},
                                                  {0x08, "RDMA_WRITE"},
                                                  {0x09, "RDMA_WRITE_IMM"},
                                                  {0x0a, "SEND"},
                                                  {0x0b, "SEND_IMM"},
                                                  {0x0e, "LSO"},
                                                  {0x10, "RDMA_READ"},
                                                  {0x11, "ATOMIC_CS"},
                                                  {0x12, "ATOMIC_FA"},
                                                  {0x14, "MASKED_ATOMIC_CS"},
                                                  {0x15, "MASKED_ATOMIC_FA"},
                                                  {0x16, "RESIZE"},
                                                  {0x18, "BIND_MW"},
                                                  {0x19, "FMR"},
                                                  {0x1b, "LOCAL_INVAL"},
                                                  {mlx4_error, "ERROR"},
                                                  {mlx4_config, "CONFIG_CMD"}};

inline constexpr ValueName mlx4_receive_opcodes[] = {{0x00, "RDMA_WRITE_IMM"}, {0x01, "SEND"},   {0x02, "SEND_IMM"},
                                                     {0x03, "SEND_INVAL"},     {0x16, "RESIZE"}, {mlx4_error, "ERROR"}};

inline constexpr ValueName mlx4_vlan_kinds[] = {{0, "none"}, {1, "C-VLAN"}, {2, "S-VLAN"}, {3, "undefined"}};

constexpr std::uint8_t mlx4_opcode(const std::uint8_t* cqe) { return cqe[31] & 0x1f; }
constexpr bool is_mlx4_error(const std::uint8_t* cqe) { return mlx4_opcode(cqe) == mlx4_error; }
constexpr bool is_no_mlx4_error(const std::uint8_t* cqe) { return !is_mlx4_error(cqe); }
constexpr bool is_mlx4_send(const std::uint8_t* cqe) { return cqe[31] & 0x40; }
constexpr bool is_mlx4_receive(const std::uint8_t* cqe) { return !is_mlx4_send(cqe); }

// What both variants have, one after the other. An error entry defines but some of it.
namespace mlx4_row {
inline constexpr Field dife = Field{"dife", 1, Show::flag, "Data integrity field error"}.only_if(is_no_mlx4_error);
inline constexpr Field vlan = Field{"vlan", 2, Show::dec, "VLAN tag", mlx4_vlan_kinds}.only_if(is_no_mlx4_error);
inline constexpr Field fl = Field{"fl", 1, Show::flag, "Force loopback"}.only_if(is_no_mlx4_error);
inline constexpr Field fcrc_sd =
    Field{"fcrc_sd", 1, Show::flag, "FC CRC good; sniffer: packets were skipped"}.only_if(is_no_mlx4_error);
inline constexpr Field d2s = Field{"d2s", 1, Show::flag, "Duplicate to sniffer"}.only_if(is_no_mlx4_error);
inline constexpr Field reserved0 = Field{"reserved0", 2, Show::reserved, "Reserved"}.only_if(is_no_mlx4_error);
inline constexpr Field qpn{"qpn", 24, Show::hex, "Queue pair number"};
inline constexpr Field immediate = Field{"immediate_rssvalue_invalidatekey", 32, Show::hex,
                                         "Immediate data, invalidated R_Key, P_Key index or RSS hash"}
                                       .only_if(is_no_mlx4_error);
inline constexpr Field g = Field{"g", 1, Show::flag, "GRH present; on Ethernet: IPv6"}.only_if(is_no_mlx4_error);
inline constexpr Field path =
    Field{"ml_path_mac_index", 7, Show::dec, "DLID path bits; on Ethernet: MAC table index"}.only_if(is_no_mlx4_error);
inline constexpr Field srq_rqpn =
    Field{"srq_rqpn", 24, Show::hex, "Source queue pair; XRC: shared receive queue"}.only_if(is_no_mlx4_error);
inline constexpr Field byte_cnt = Field{"byte_cnt", 32, Show::dec, "Byte count"}.only_if(is_no_mlx4_error).in("bytes");
inline constexpr Field wqe_counter{"wqe_counter", 16, Show::dec, "Work queue entry counter"};
inline constexpr Field checksum = [] {
  Field f = view("checksum", 16, Show::hex, "IP payload checksum");
  return f.only_if(is_no_mlx4_error);
}();
inline constexpr Field vendor =
    Field{"vendor_error_syndrome", 8, Show::hex, "Vendor error syndrome"}.only_if(is_mlx4_error);
inline constexpr Field syndrome = Field{"syndrome", 8, Show::hex, "Syndrome", syndrome_names}.only_if(is_mlx4_error);
inline constexpr Field reserved2 = Field{"reserved2", 8, Show::reserved, "Reserved"}.only_if(is_no_mlx4_error);
inline constexpr Field owner{"owner", 1, Show::dec, "Owner"};
inline constexpr Field s_r{"s_r", 1, Show::flag, "Send queue"};
inline constexpr Field is = Field{"is", 1, Show::flag, "Inline scatter"}.only_if(is_no_mlx4_error);
inline constexpr Field send_opcode =
    view("opcode.send", 5, Show::hex, "Send operation", mlx4_send_opcodes).only_if(is_mlx4_send);
inline constexpr Field receive_opcode =
    view("opcode.receive", 5, Show::hex, "Receive operation", mlx4_receive_opcodes).only_if(is_mlx4_receive);
inline constexpr Field opcode{"opcode", 5, Show::hex, "Opcode"};
}  // namespace mlx4_row

struct Mlx4Cqe {
  static constexpr std::string_view name = "cqe.mlx4", title = "mlx4 completion queue entry", protocol = "CQE";
  static constexpr std::uint32_t bytes = 32;
  static constexpr auto fields = layout(
      bytes,
      {
          mlx4_row::dife,
          mlx4_row::vlan,
          mlx4_row::fl,
          mlx4_row::fcrc_sd,
          mlx4_row::d2s,
          mlx4_row::reserved0,
          mlx4_row::qpn,
          mlx4_row::immediate,
          mlx4_row::g,
          mlx4_row::path,
          mlx4_row::srq_rqpn,
          Field{"sl", 4, Show::dec, "Service level; on Ethernet: PCP and DEI"}.only_if(is_no_mlx4_error),
          Field{"vid", 12, Show::dec, "VLAN id"}.only_if(is_no_mlx4_error),
          Field{"slid_smac47_32", 16, Show::hex, "Source LID; on Ethernet: source MAC, first two bytes"}.only_if(
              is_no_mlx4_error),
          Field{"smac31_0_rawether_ipoib_status", 32, Show::hex, "Source MAC, last four bytes; or checksum status"}
              .only_if(is_no_mlx4_error),
          mlx4_row::byte_cnt,
          mlx4_row::wqe_counter,
          mlx4_row::checksum,
          mlx4_row::vendor,
          mlx4_row::syndrome,
          mlx4_row::reserved2,
          Field{"reserved1", 16, Show::reserved, "Reserved"}.only_if(is_no_mlx4_error),
          mlx4_row::owner,
          mlx4_row::s_r,
          mlx4_row::is,
          mlx4_row::send_opcode,
          mlx4_row::receive_opcode,
          mlx4_row::opcode,
      });
};
static_assert(field<Mlx4Cqe, "opcode">().at == 31 * 8 + 3);
static_assert(field<Mlx4Cqe, "syndrome">().at == 27 * 8);

bool mlx4_timestamp(const Packet&, const Layer&, unsigned n, Value&);

// The same of a queue that was created with time stamps. The entry itself does not tell.
struct Mlx4TimestampCqe {
  static constexpr std::string_view name = "cqe.mlx4_ts", title = "mlx4 completion queue entry with time stamp",
                                    protocol = "CQE";
  static constexpr std::uint32_t bytes = 32;
  static constexpr auto fields =
      layout(bytes, {
                        mlx4_row::dife,
                        mlx4_row::vlan,
                        mlx4_row::fl,
                        mlx4_row::fcrc_sd,
                        mlx4_row::d2s,
                        mlx4_row::reserved0,
                        mlx4_row::qpn,
                        mlx4_row::immediate,
                        mlx4_row::g,
                        mlx4_row::path,
                        mlx4_row::srq_rqpn,
                        Field{"timestamp47_16", 32, Show::hex, "Time stamp, bits 47 to 16"}.only_if(is_no_mlx4_error),
                        Field{"status", 32, Show::hex, "Checksum status"}.only_if(is_no_mlx4_error),
                        mlx4_row::byte_cnt,
                        mlx4_row::wqe_counter,
                        mlx4_row::checksum,
                        mlx4_row::vendor,
                        mlx4_row::syndrome,
                        mlx4_row::reserved2,
                        Field{"timestamp15_0", 16, Show::hex, "Time stamp, bits 15 to 0"}.only_if(is_no_mlx4_error),
                        mlx4_row::owner,
                        mlx4_row::s_r,
                        mlx4_row::is,
                        mlx4_row::send_opcode,
                        mlx4_row::receive_opcode,
                        mlx4_row::opcode,
                        generated("timestamp", Show::dec, "Time stamp in ticks of the device", mlx4_timestamp),
                    });
};

}  // namespace rdmascope::dissect
