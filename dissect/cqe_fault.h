// Why a work request failed, in words: one table for all families of completion entries, whose codes map to it.
// cqe-sniffer.md 1.8 and 2.2; InfiniBand vol. 1 chapter 10 for the meaning.
#pragma once

#include <array>
#include <cstddef>

#include "dissect/field.h"

namespace rdmascope::dissect {

enum class Fault : std::uint8_t {
  none,
  local_length,
  local_qp_operation,
  local_ee_operation,
  local_protection,
  flushed,
  memory_window_bind,
  bad_response,
  local_access,
  remote_invalid_request,
  remote_access,
  remote_operation,
  transport_retry,
  rnr_retry,
  local_rdd,
  remote_invalid_rd,
  remote_aborted,
  invalid_ee_number,
  invalid_ee_state,
  fatal,
  response_timeout,
  general,
  // EFA.
  unsupported_operation,
  invalid_address_handle,
  remote_destination,
  unknown_peer,
  unreachable,
  feature_mismatch,
};

struct FaultWords {
  Fault fault;
  std::string_view name, status;  // the status of verbs
  std::string_view meaning, cause, look_at;
};

inline constexpr FaultWords faults[] = {
    {Fault::none, "success", "SUCCESS", {}, {}, {}},
    {Fault::local_length, "local length error", "LOC_LEN_ERR",
     "a message does not fit: it is longer than the posted buffers, than the port's limit or than the path MTU allows",
     "a receive buffer smaller than the message that came, or a UD send above the MTU",
     "byte lengths of the posted work request, and the length of the message in the capture"},
    {Fault::local_qp_operation, "local QP operation error", "LOC_QP_OP_ERR",
     "the queue pair met an inconsistency of its own while it processed the work request",
     "a work request the queue pair does not support, or a damaged work queue entry",
     "opcode and flags of the work request, limits the queue pair was created with, vendor syndrome"},
    {Fault::local_ee_operation, "local EE context operation error", "LOC_EEC_OP_ERR",
     "the end-to-end context of reliable datagrams met an inconsistency", "none today: RD is not implemented",
     "whether these bytes are a completion entry at all"},
    {Fault::local_protection, "local protection error", "LOC_PROT_ERR",
     "a local buffer of the work request is not inside a memory region that may be used so",
     "a wrong L_Key, an address outside the region, a region that was deregistered too early, or another protection "
     "domain",
     "L_Key, address and length of each scatter or gather entry against the registered regions"},
    {Fault::flushed, "work request flushed", "WR_FLUSH_ERR",
     "the work request was not carried out, since the queue pair had gone to the error state before",
     "an earlier error on this queue pair, a disconnect, or the program itself",
     "the first completion of this queue pair that failed otherwise: that one is the cause"},
    {Fault::memory_window_bind, "memory window bind error", "MW_BIND_ERR", "a memory window could not be bound",
     "a region without the right to bind windows, or a range outside of it",
     "access flags of the region, and the range of the window"},
    {Fault::bad_response, "bad response", "BAD_RESP_ERR",
     "the responder answered with a packet that does not fit the request",
     "a peer that breaks the protocol, or packets of an earlier connection with the same QP number",
     "the last responses in a capture of both directions; `rdmascope check` judges them"},
    {Fault::local_access, "local access error", "LOC_ACCESS_ERR",
     "the responder could not write the incoming data to its own memory",
     "a region without the right for local or remote writes, or one that went away",
     "access flags and life time of the regions on this side"},
    {Fault::remote_invalid_request, "remote invalid request", "REM_INV_REQ_ERR",
     "the responder refused the request as invalid (NAK Invalid Request)",
     "an operation the peer did not enable, a message longer than its receive buffer, or a bad length",
     "access flags of the peer's queue pair, length of its posted receives, NAK code 1 in the capture"},
    {Fault::remote_access, "remote access error", "REM_ACCESS_ERR",
     "the responder refused access to its memory (NAK Remote Access Error)",
     "a wrong or outdated R_Key, an address outside the peer's region, or a region without that right",
     "R_Key, address and length in the RETH of the request against the peer's registered region"},
    {Fault::remote_operation, "remote operation error", "REM_OP_ERR",
     "the responder could not complete the request (NAK Remote Operational Error)",
     "a failure inside the peer, often a local error of its own queue pair", "completions and logs of the peer"},
    {Fault::transport_retry, "transport retry counter exceeded", "RETRY_EXC_ERR",
     "the peer never acknowledged: the request was sent again as often as allowed and no answer came",
     "the peer is gone or its queue pair is not ready, packets are lost on the way, the path or GID is wrong, or the "
     "acknowledge timeout is too short",
     "a capture on both sides: does the request arrive, is it answered; state of the peer's queue pair, PFC and drop "
     "counters"},
    {Fault::rnr_retry, "RNR retry counter exceeded", "RNR_RETRY_EXC_ERR",
     "the peer answered `receiver not ready` more often than allowed",
     "the peer does not post receive buffers fast enough",
     "posted receives of the peer, rnr_retry and min_rnr_timer, RNR NAKs in the capture"},
    {Fault::local_rdd, "local RDD violation", "LOC_RDD_VIOL_ERR", "the reliable datagram domains do not match",
     "none today: RD is not implemented", "whether these bytes are a completion entry at all"},
    {Fault::remote_invalid_rd, "remote invalid RD request", "REM_INV_RD_REQ_ERR",
     "the peer does not take the request for this destination", "a wrong destination queue pair or Q_Key",
     "destination queue pair number and Q_Key of the request"},
    {Fault::remote_aborted, "remote aborted", "REM_ABORT_ERR",
     "the operation was aborted; mlx5 reports page faults of on-demand paging so",
     "the peer closed or reset its queue pair, or a page could not be made present",
     "vendor syndrome (0x93: page fault), memory pressure, and what the peer did at that time"},
    {Fault::invalid_ee_number, "invalid EE context number", "INV_EECN_ERR", "no such end-to-end context",
     "none today: RD is not implemented", "whether these bytes are a completion entry at all"},
    {Fault::invalid_ee_state, "invalid EE context state", "INV_EEC_STATE_ERR",
     "the end-to-end context is in the wrong state", "none today: RD is not implemented",
     "whether these bytes are a completion entry at all"},
    {Fault::fatal, "fatal error", "FATAL_ERR", "the device gave up on the queue pair",
     "a failure of device or firmware", "log of the kernel driver, device health"},
    {Fault::response_timeout, "response timeout", "RESP_TIMEOUT_ERR", "the peer did not answer in time",
     "the peer is gone, overloaded, or its address is wrong",
     "whether the peer runs and is reachable; its load and the network between"},
    {Fault::general, "general error", "GENERAL_ERR", "the device reports an error that has no status of its own",
     "depends on the device", "vendor syndrome, log of the driver"},
    {Fault::unsupported_operation, "unsupported operation", "LOC_QP_OP_ERR",
     "the device does not support this operation", "a program that did not ask for the capabilities of the device",
     "device capabilities (RDMA read, RDMA write) against the work request"},
    {Fault::invalid_address_handle, "invalid address handle", "LOC_QP_OP_ERR",
     "the address handle of the work request is not valid",
     "an address handle that was destroyed before the send completed", "life time of address handles in the program"},
    {Fault::remote_destination, "remote bad destination QP number", "REM_INV_RD_REQ_ERR",
     "the peer has no such queue pair", "the peer restarted or closed its endpoint and the address is outdated",
     "address exchange between the two sides, restart of the peer"},
    {Fault::unknown_peer, "unknown peer", "REM_OP_ERR", "the peer was never connected or forgot about this side",
     "a restart of the peer", "life time of both processes"},
    {Fault::unreachable, "unreachable remote", "RESP_TIMEOUT_ERR", "the peer cannot be reached",
     "security group, subnet or address of the peer",
     "security groups (EFA traffic must be allowed both ways), GID of the peer, whether the instance runs"},
    {Fault::feature_mismatch, "feature mismatch", "REM_INV_REQ_ERR", "the two sides do not support the same features",
     "different generations of devices or firmware", "device capabilities of both sides"},
};

constexpr bool faults_are_in_order() {
  for (std::size_t i = 0; i < std::size(faults); ++i)
    if (faults[i].fault != static_cast<Fault>(i)) return false;
  return true;
}
static_assert(faults_are_in_order());
constexpr const FaultWords& words_of(Fault fault) { return faults[static_cast<std::size_t>(fault)]; }

// A code of one family.
struct FaultCode {
  std::uint8_t code;
  Fault fault;
};

template <std::size_t N>
consteval std::array<ValueName, N> names_of(const FaultCode (&codes)[N]) {
  std::array<ValueName, N> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = {codes[i].code, words_of(codes[i].fault).name};
  return out;
}

constexpr Fault fault_of(std::span<const FaultCode> codes, std::uint64_t code) {
  for (const FaultCode& c : codes)
    if (c.code == code) return c.fault;
  return Fault::general;
}

// Hermon, mlx4, mlx5.
inline constexpr FaultCode syndromes[] = {{0x01, Fault::local_length},
                                          {0x02, Fault::local_qp_operation},
                                          {0x03, Fault::local_ee_operation},
                                          {0x04, Fault::local_protection},
                                          {0x05, Fault::flushed},
                                          {0x06, Fault::memory_window_bind},
                                          {0x10, Fault::bad_response},
                                          {0x11, Fault::local_access},
                                          {0x12, Fault::remote_invalid_request},
                                          {0x13, Fault::remote_access},
                                          {0x14, Fault::remote_operation},
                                          {0x15, Fault::transport_retry},
                                          {0x16, Fault::rnr_retry},
                                          {0x20, Fault::local_rdd},
                                          {0x21, Fault::remote_invalid_rd},
                                          {0x22, Fault::remote_aborted},
                                          {0x23, Fault::invalid_ee_number},
                                          {0x24, Fault::invalid_ee_state}};
inline constexpr auto syndrome_names = names_of(syndromes);

// Of reliable datagrams, which no device has.
constexpr bool is_rd_syndrome(std::uint64_t s) { return s == 0x03 || s == 0x20 || s == 0x21 || s == 0x23 || s == 0x24; }

// ibv_wc_status.
inline constexpr FaultCode wc_statuses[] = {{0, Fault::none},
                                            {1, Fault::local_length},
                                            {2, Fault::local_qp_operation},
                                            {3, Fault::local_ee_operation},
                                            {4, Fault::local_protection},
                                            {5, Fault::flushed},
                                            {6, Fault::memory_window_bind},
                                            {7, Fault::bad_response},
                                            {8, Fault::local_access},
                                            {9, Fault::remote_invalid_request},
                                            {10, Fault::remote_access},
                                            {11, Fault::remote_operation},
                                            {12, Fault::transport_retry},
                                            {13, Fault::rnr_retry},
                                            {14, Fault::local_rdd},
                                            {15, Fault::remote_invalid_rd},
                                            {16, Fault::remote_aborted},
                                            {17, Fault::invalid_ee_number},
                                            {18, Fault::invalid_ee_state},
                                            {19, Fault::fatal},
                                            {20, Fault::response_timeout},
                                            {21, Fault::general}};
inline constexpr auto wc_status_names = names_of(wc_statuses);

// EFA; 16, 17 and 19 on are not defined.
inline constexpr FaultCode efa_statuses[] = {{0, Fault::none},
                                             {1, Fault::flushed},
                                             {2, Fault::local_qp_operation},
                                             {3, Fault::unsupported_operation},
                                             {4, Fault::invalid_address_handle},
                                             {5, Fault::local_protection},
                                             {6, Fault::local_length},
                                             {7, Fault::remote_access},
                                             {8, Fault::remote_aborted},
                                             {9, Fault::remote_destination},
                                             {10, Fault::rnr_retry},
                                             {11, Fault::remote_invalid_request},
                                             {12, Fault::bad_response},
                                             {13, Fault::response_timeout},
                                             {14, Fault::unknown_peer},
                                             {15, Fault::unreachable},
                                             {18, Fault::feature_mismatch}};
inline constexpr auto efa_status_names = names_of(efa_statuses);

}  // namespace rdmascope::dissect
