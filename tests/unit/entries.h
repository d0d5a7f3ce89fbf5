// Completion queue entries from short descriptions, as a capture has them: exported PDU, record, entry.
#pragma once

#include <cstdint>
#include <vector>

#include "dissect/headers.h"

namespace rdmascope::test {

using dissect::CqeRecord;
using dissect::Mlx4Cqe;
using dissect::put;

// mlx4 in slots of 32 bytes, on Ethernet, of RC queue pairs.
struct Entry {
  std::uint32_t ci = 0;
  std::uint16_t wqe = 0;
  std::uint8_t opcode = 0x0a;
  bool send = true;
  std::uint8_t syndrome = 0;  // of errors
  std::uint32_t cqn = 0x85, qpn = 0x4a, slots = 4, interface = 0, dw1 = 0, bytes = 0;
  bool simulated = false;  // by a model, which has one clock for entries and packets
};

inline std::vector<std::uint8_t> bytes_of(const Entry& e) {
  std::vector<std::uint8_t> out = {0, 12, 0, 8, 'r', 'd', 'm', 'a', '_', 'c', 'q', 'e', 0, 0, 0, 0};
  const std::size_t at = out.size();
  out.resize(at + CqeRecord::bytes + Mlx4Cqe::bytes);
  std::uint8_t* record = out.data() + at;
  put<CqeRecord, "version">(record, 1);
  put<CqeRecord, "header_len">(record, CqeRecord::bytes);
  put<CqeRecord, "format">(record, 1);
  put<CqeRecord, "flags.link_known">(record, 1);
  put<CqeRecord, "flags.ethernet">(record, 1);
  put<CqeRecord, "flags.index_valid">(record, 1);
  put<CqeRecord, "flags.simulated">(record, e.simulated);
  put<CqeRecord, "stride">(record, Mlx4Cqe::bytes);
  put<CqeRecord, "cqn">(record, e.cqn);
  put<CqeRecord, "ci">(record, e.ci);
  put<CqeRecord, "cqe_cnt">(record, e.slots);
  put<CqeRecord, "qp_type">(record, dissect::qpt_rc);
  std::uint8_t* cqe = record + CqeRecord::bytes;
  put<Mlx4Cqe, "qpn">(cqe, e.qpn);
  put<Mlx4Cqe, "immediate_rssvalue_invalidatekey">(cqe, e.dw1);
  put<Mlx4Cqe, "byte_cnt">(cqe, e.bytes);
  put<Mlx4Cqe, "wqe_counter">(cqe, e.wqe);
  put<Mlx4Cqe, "syndrome">(cqe, e.syndrome);
  put<Mlx4Cqe, "owner">(cqe, e.ci / e.slots % 2);
  put<Mlx4Cqe, "s_r">(cqe, e.send);
  put<Mlx4Cqe, "opcode">(cqe, e.syndrome != 0 ? dissect::mlx4_error : e.opcode);
  return out;
}

}  // namespace rdmascope::test
