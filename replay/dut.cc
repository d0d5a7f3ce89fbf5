#include "replay/dut.h"

#include <array>

namespace rdmascope::replay {
namespace {

constexpr std::array<std::string_view, 22> status_names = {
    "success",          "loc_len_err",       "loc_qp_op_err",     "loc_eec_op_err",
    "loc_prot_err",     "wr_flush_err",      "mw_bind_err",       "bad_resp_err",
    "loc_access_err",   "rem_inv_req_err",   "rem_access_err",    "rem_op_err",
    "retry_exc_err",    "rnr_retry_exc_err", "loc_rdd_viol_err",  "rem_inv_rd_req_err",
    "rem_abort_err",    "inv_eecn_err",      "inv_eec_state_err", "fatal_err",
    "resp_timeout_err", "general_err"};
static_assert(status_names.size() == static_cast<std::size_t>(Status::general_err) + 1);

}  // namespace

std::string_view name(Status status) { return status_names[static_cast<std::size_t>(status)]; }

std::optional<Status> status_by_name(std::string_view name) {
  for (std::size_t i = 0; i < status_names.size(); ++i)
    if (status_names[i] == name) return static_cast<Status>(i);
  return std::nullopt;
}

}  // namespace rdmascope::replay
