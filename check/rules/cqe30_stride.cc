// CQE-30: slot size and offset fit the format. cqe-sniffer.md 5.2, 1.5, 2.1 and 6.1.
#include "check/rules/cqe.h"

namespace rdmascope::check {
namespace {

// By format: where in a slot of that size the entry stands; -1: no such slot.
int right_offset(CqeFormat format, std::uint64_t stride) {
  switch (format) {
    case CqeFormat::mlx4:
    case CqeFormat::mlx4_timestamp:
      return stride == 64 ? 32 : stride == 32 || stride == 128 || stride == 256 ? 0 : -1;
    case CqeFormat::mlx5:
      return stride == 64 ? 0 : stride == 128 ? 64 : -1;
    case CqeFormat::efa:
      return stride == 16 || stride == 32 ? 0 : -1;
    case CqeFormat::irdma:
      return stride == 32 || stride == 64 ? 0 : -1;
    case CqeFormat::bnxt_re:
    case CqeFormat::erdma:
      return stride == 32 ? 0 : -1;
    case CqeFormat::work_completion:
      return stride == 48 || stride == 64 ? 0 : -1;
    default:
      return 0;
  }
}

void frame(const dissect::Packet& p, Findings& out) {
  const auto record = p.find<dissect::CqeRecord>();
  if (!record || record->get<"version">() != dissect::CqeRecord::this_version) return;
  const std::uint64_t format = record->get<"format">(), stride = record->get<"stride">(),
                      offset = record->get<"cqe_off">();
  if (format == 0 || format >= std::size(dissect::cqe_formats)) return;
  const int right = right_offset(static_cast<CqeFormat>(format), stride);
  if (right < 0) {
    Finding f{&cqe30_stride.info, Class::violation, p.frame.number, p.frame.time_ns};
    f.field = "cqe.record.stride";
    f.actual = stride;
    f.text = fmt::format("no slot size of {}", dissect::name_of(dissect::cqe_formats, format));
    out.add(nullptr, std::move(f));
  } else if (offset != static_cast<std::uint64_t>(right)) {
    out.mismatch_in(cqe30_stride.info, p, "cqe.record.cqe_off", static_cast<std::uint64_t>(right), offset);
  }
}

}  // namespace

const Rule cqe30_stride{
    .info =
        {.id = "CQE-30",
         .title = "Slot size and offset fit the format",
         .source = "linux mlx4 main.c and cq.c, rdma-core mlx5dv.h, efa_io_defs.h",
         .help =
             R"(How large the slots of a ring are depends on device and host, and where in a slot the entry stands depends on that: mlx4
in the second half of 64 bytes but in front of 128 and 256, mlx5 in the second half of 128. Read at the wrong place, stale
bytes look like completions.

Usual causes: a capture program that assumes a size instead of asking for it (cqe_size of the direct verbs).

Look next at: how the program got size and offset.)"},
    .frame = frame};

}  // namespace rdmascope::check
