// Completion descriptor of EFA (AWS): 16 bytes, 32 in queues with the extended form; little-endian. cqe-sniffer.md 2.2.
#pragma once

#include "dissect/cqe_fault.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr ValueName efa_queue_types[] = {{1, "send"}, {2, "receive"}};
inline constexpr ValueName efa_operations[] = {{0, "SEND"}, {1, "RDMA_READ"}, {2, "RDMA_WRITE"}};
inline constexpr std::uint8_t efa_send_queue = 1, efa_receive_queue = 2, efa_write = 2;
inline constexpr std::uint16_t efa_ah_unknown = 0xffff;

constexpr std::uint8_t efa_queue(const std::uint8_t* cqe) { return cqe[3] >> 1 & 3; }
constexpr std::uint8_t efa_operation(const std::uint8_t* cqe) { return cqe[3] >> 4 & 7; }
constexpr bool is_efa_tx(const std::uint8_t* cqe) { return efa_queue(cqe) == efa_send_queue; }
constexpr bool is_efa_rx(const std::uint8_t* cqe) { return efa_queue(cqe) != efa_send_queue; }
constexpr bool has_efa_immediate(const std::uint8_t* cqe) { return is_efa_rx(cqe) && (cqe[3] & 8); }

// Of the extended form: bits 31 to 16 of an RDMA write's length, or the sender's GID.
bool efa_whole_length(const Packet&, const Layer&, unsigned n, Value&);
bool efa_source_gid(const Packet&, const Layer&, unsigned n, Value&);

struct EfaCqe {
  static constexpr std::string_view name = "cqe.efa", title = "EFA completion descriptor", protocol = "CQE";
  static constexpr std::uint32_t bytes = 16, extended_bytes = 32;
  static constexpr auto fields =
      layout(bytes, {
                        Field{"req_id", 16, Show::dec, "Request id"}.little(),
                        {"status", 8, Show::dec, "Status", efa_status_names},
                        {"unsolicited", 1, Show::flag, "Unsolicited"},
                        {"op_type", 3, Show::dec, "Operation", efa_operations},
                        {"has_imm", 1, Show::flag, "Has immediate data"},
                        {"q_type", 2, Show::dec, "Queue", efa_queue_types},
                        {"phase", 1, Show::dec, "Phase"},
                        Field{"qp_num", 16, Show::hex, "Queue pair number"}.little(),
                        view("req_id_ex", 48, Show::hex, "Request id, upper part").little().only_if(is_efa_tx),
                        Field{"length", 16, Show::dec, "Length, bits 15 to 0"}.little().only_if(is_efa_rx).in("bytes"),
                        Field{"ah", 16, Show::hex, "Address handle"}.little().only_if(is_efa_rx),
                        Field{"src_qp_num", 16, Show::hex, "Source queue pair"}.little().only_if(is_efa_rx),
                        view("reserved12", 32, Show::reserved, "Reserved").little().only_if(is_efa_tx),
                        Field{"imm", 32, Show::hex, "Immediate data"}.little().only_if(has_efa_immediate),
                        rest("extension", Show::bytes, "Extended form"),
                        generated("whole_length", Show::dec, "Length", efa_whole_length).in("bytes"),
                        generated("src_gid", Show::ipv6, "Source GID", efa_source_gid),
                    });
};

}  // namespace rdmascope::dissect
