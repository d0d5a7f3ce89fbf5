// The list of rules: one line each, in the order of the catalogue. A rule is defined in the file of its name.
#pragma once

#include "check/rule.h"

#define RDMASCOPE_RULES(RULE) \
  RULE(f01_icrc)              \
  RULE(f02_vcrc)              \
  RULE(f03_lengths)           \
  RULE(f04_lrh_reserved)      \
  RULE(f05_grh)               \
  RULE(f06_tver)              \
  RULE(f07_opcode)            \
  RULE(f08_complete)          \
  RULE(f09_padcnt)            \
  RULE(f10_no_pad)            \
  RULE(f11_pad_zero)          \
  RULE(f12_reserved)          \
  RULE(f13_p_key)             \
  RULE(f14_management_qp)     \
  RULE(f15_multicast_qp)      \
  RULE(f16_transport)         \
  RULE(f18_congestion_bits)   \
  RULE(f19_udp_checksum)      \
  RULE(l01_pmtu)              \
  RULE(l02_last)              \
  RULE(l03_only)              \
  RULE(l04_write_length)      \
  RULE(l05_read_length)       \
  RULE(l06_dmalen)            \
  RULE(l07_no_payload)        \
  RULE(l08_atomic_write)      \
  RULE(l09_zero_length)       \
  RULE(l10_ud_length)         \
  RULE(l11_alignment)         \
  RULE(q01_next_psn)          \
  RULE(q02_read_psns)         \
  RULE(q03_one_psn)           \
  RULE(q04_message_order)     \
  RULE(q05_no_read_inside)    \
  RULE(q06_same_content)      \
  RULE(q07_read_retry)        \
  RULE(q08_read_depth)        \
  RULE(q09_window)            \
  RULE(q10_resume)            \
  RULE(q11_rnr_wait)          \
  RULE(q14_solicited)         \
  RULE(q15_ack_request)       \
  RULE(q17_credits)           \
  RULE(q18_dead)              \
  RULE(r01_response_order)    \
  RULE(r02_read_psn)          \
  RULE(r03_read_aeth)         \
  RULE(r04_ack_sent)          \
  RULE(r06_implied_ack)       \
  RULE(r07_answer)            \
  RULE(r08_one_nak)           \
  RULE(r10_fatal_nak)         \
  RULE(r11_rnr_nak)           \
  RULE(r12_duplicate_ack)     \
  RULE(r13_ack_psn)           \
  RULE(r14_duplicate_read)    \
  RULE(r15_atomic_again)      \
  RULE(r16_answer_kind)       \
  RULE(r17_msn)               \
  RULE(r18_response_bth)      \
  RULE(r19_no_response)       \
  RULE(u01_dropped_message)   \
  RULE(u02_uc_write_length)   \
  RULE(u03_ud_psn)            \
  RULE(u04_q_key)             \
  RULE(h_timeout)             \
  RULE(h_implied_nak)         \
  RULE(h_go_back_n)           \
  RULE(h_loss)                \
  RULE(h_rnr)                 \
  RULE(h_slow_response)       \
  RULE(h_read_depth)          \
  RULE(h_duplicate)           \
  RULE(h_reordered)           \
  RULE(h_ecn)                 \
  RULE(h_credits)             \
  RULE(h_fatal_nak)           \
  RULE(h_no_response)         \
  RULE(h_missed)              \
  RULE(h_twice)               \
  RULE(h_midstream)           \
  RULE(h_cut)                 \
  RULE(cqe01_owner)           \
  RULE(cqe02_index)           \
  RULE(cqe03_unused)          \
  RULE(cqe04_send_counter)    \
  RULE(cqe05_receive_counter) \
  RULE(cqe06_after_failure)   \
  RULE(cqe07_flush_cause)     \
  RULE(cqe08_opcode)          \
  RULE(cqe09_qp_type)         \
  RULE(cqe10_syndrome)        \
  RULE(cqe11_syndrome_queue)  \
  RULE(cqe12_byte_count)      \
  RULE(cqe13_datagram_length) \
  RULE(cqe14_xrc_qpn)         \
  RULE(cqe15_addresses)       \
  RULE(cqe16_source_qp)       \
  RULE(cqe17_reserved)        \
  RULE(cqe18_d2s)             \
  RULE(cqe20_sniffer_loss)    \
  RULE(cqe21_dife)            \
  RULE(cqe22_immediate)       \
  RULE(cqe23_early_read)      \
  RULE(cqe24_one_completion)  \
  RULE(cqe25_timestamp)       \
  RULE(cqe26_resize)          \
  RULE(cqe27_compressed)      \
  RULE(cqe28_efa)             \
  RULE(cqe29_send_opcode)     \
  RULE(cqe30_stride)

namespace rdmascope::check {

#define RDMASCOPE_DECLARE(rule) extern const Rule rule;
RDMASCOPE_RULES(RDMASCOPE_DECLARE)
#undef RDMASCOPE_DECLARE

}  // namespace rdmascope::check
