#include "replay/dut.h"

#include <array>
#include <utility>

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

class DutWithoutQueuePairs final : public Dut {
 public:
  DutWithoutQueuePairs(DutInfo info, std::string why) : info_(std::move(info)), why_(std::move(why)) {
    info_.takes_orders = false;
    info_.has_queue_pairs = false;
  }
  const DutInfo& info() const override { return info_; }
  Result<Channel> open(const ChannelOptions&) override { return none(); }
  Result<void> post_send(const Channel&, const WorkRequest&) override { return none(); }
  Result<void> post_receive(const Channel&, const ReceiveRequest&) override { return none(); }
  Result<std::vector<Completion>> poll(const Channel&, std::int64_t) override { return none(); }
  Result<std::vector<std::uint8_t>> read_memory(const Channel&, Region, std::uint32_t, std::uint32_t) override {
    return none();
  }
  Result<void> write_memory(const Channel&, Region, std::uint32_t, std::span<const std::uint8_t>) override {
    return none();
  }
  Result<QpState> state(const Channel&) override { return none(); }
  Result<void> to_error(const Channel&) override { return none(); }
  Result<void> close(const Channel&) override { return none(); }

 private:
  Error none() const { return Error{info_.name + ": " + why_}; }
  DutInfo info_;
  std::string why_;
};

}  // namespace

std::unique_ptr<Dut> make_dut_without_queue_pairs(DutInfo info, std::string why) {
  return std::make_unique<DutWithoutQueuePairs>(std::move(info), std::move(why));
}

std::string_view name(Status status) { return status_names[static_cast<std::size_t>(status)]; }

std::optional<Status> status_by_name(std::string_view name) {
  for (std::size_t i = 0; i < status_names.size(); ++i)
    if (status_names[i] == name) return static_cast<Status>(i);
  return std::nullopt;
}

}  // namespace rdmascope::replay
