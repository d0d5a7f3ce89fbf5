// The device under test: something with queue pairs that is told what to post, and asked what completed. The model, a
// real device behind an agent, and nothing at all (wire only) look the same from here.
//
// A channel is one queue pair on the DUT, connected to a queue pair that exists only in the tester's mind, with two
// registered memory regions: `local` holds what the DUT sends and receives, `remote` is what packets may read and write
// with its R_Key.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/wire.h"

namespace rdmascope::replay {

enum class Service : std::uint8_t { rc, uc, ud };

// Where a device is that is managed by MADs.
struct MadTarget {
  std::vector<std::uint8_t> route;  // a directed route: the port to leave by at each node on the way, from the tester's
  std::optional<std::uint16_t> lid;  // instead of it
  std::uint64_t m_key = 0;           // that its ports ask for
};

// The data path of a model that speaks the CDI probe: nobody but the tester says what got through.
class CdiDataPath {
 public:
  virtual ~CdiDataPath() = default;
  virtual void deliver(std::uint32_t packets) = 0;       // so many probe packets got through
  virtual std::array<std::uint8_t, 32> address() = 0;  // of a transmitter: where its probe packets go
};

// A device that speaks the CDI probe, in one of its two roles.
struct CdiTarget {
  bool transmits = false;  // then the tester listens
  std::uint32_t ip = 0;    // of a receiver
  std::uint16_t port = 0;  // where the receiver listens, be it the device or the tester
  double scale = 1;        // its timers last that many times as long as those of the SDK
  std::shared_ptr<CdiDataPath> data;  // nullptr: the tester can't reach it
  // Of a receiver that outlives a test, when it will have forgotten what earlier tests left there; it holds few.
  std::shared_ptr<std::vector<std::int64_t>> left;
};

struct DutInfo {
  std::string name;  // "model", "rxe0 at 10.77.0.1:7471"
  IpAddress address{};
  std::optional<MacAddress> mac;  // where frames on an Ethernet wire go
  std::uint32_t max_pmtu = 4096;  // bytes
  std::uint8_t max_initiator_depth = 16, max_responder_resources = 16;
  bool takes_orders = true;       // false: packets can be sent to it, nothing more
  bool simulated = false;         // the model
  bool has_queue_pairs = true;    // false: connections make no sense
  std::optional<MadTarget> mads;  // it answers MADs
  std::optional<CdiTarget> cdi;   // it speaks the CDI probe
  bool atomics = true, send_with_invalidate = true, flush = false, atomic_write = false;
};

// How a queue pair is set up. Defaults are what most tests want: no timer interferes.
struct ChannelOptions {
  Service service = Service::rc;
  IpAddress tester_address{};
  std::uint32_t tester_qpn = 0;
  std::uint32_t dut_psn = 0;             // first PSN the DUT sends (its sq_psn)
  std::uint32_t tester_psn = 0;          // first PSN the tester sends (the DUT's rq_psn)
  std::uint32_t pmtu = 256;              // bytes
  std::uint8_t ack_timeout = 0;          // code: 4.096 us * 2^n, 0 never
  std::uint8_t retry_count = 7;          // 0 to 7
  std::uint8_t rnr_retry = 7;            // 7: without end
  std::uint8_t min_rnr_timer = 1;        // code, ib-wire.md 4.3: what the DUT asks for in its RNR NAKs
  std::uint8_t initiator_depth = 2;      // READs and atomics the DUT may have outstanding (max_rd_atomic)
  std::uint8_t responder_resources = 4;  // and the tester (max_dest_rd_atomic)
  std::uint32_t q_key = 0x11111111;      // UD
  bool allow_remote_read = true, allow_remote_write = true, allow_remote_atomic = true;
  std::uint32_t local_bytes = 1 << 16, remote_bytes = 1 << 16;
};

enum class Region : std::uint8_t { local, remote };

struct Channel {
  std::uint32_t id = 0;
  std::uint32_t qpn = 0;
  std::uint16_t p_key = 0xffff;
  std::uint64_t remote_va = 0;  // first byte of the remote region
  std::uint32_t remote_r_key = 0;
  std::uint8_t initiator_depth = 0, responder_resources = 0;  // as granted: at most as asked for
};

enum class Work : std::uint8_t {
  send,
  send_with_immediate,
  send_with_invalidate,
  write,
  write_with_immediate,
  read,
  compare_swap,
  fetch_add,
  flush,
  atomic_write,  // 8 bytes from the local region
};

struct WorkRequest {
  std::uint64_t id = 0;
  Work work = Work::send;
  std::uint32_t local_offset = 0, length = 0;  // bytes in the local region
  std::uint64_t va = 0;                        // at the tester; nobody needs to have it
  std::uint32_t r_key = 0;
  std::uint32_t immediate = 0;             // or the R_Key to invalidate
  std::uint64_t compare = 0, operand = 0;  // compare_swap: operand is the new value; fetch_add: what is added
  bool signaled = true, solicited = false, fence = false;
  std::uint8_t flush_placement = 1;  // FETH PLT bits: 1 global visibility, 2 persistence
  bool flush_whole_region = false;
  // UD
  std::uint32_t remote_qpn = 0, remote_q_key = 0;
};

// UD: a message is received behind 40 bytes of room for its GRH, which count in both lengths.
struct ReceiveRequest {
  std::uint64_t id = 0;
  std::uint32_t local_offset = 0, length = 0;
};

// Names as in the verbs interface, in lower case without IBV_WC_: "success", "wr_flush_err".
enum class Status : std::uint8_t {
  success,
  loc_len_err,
  loc_qp_op_err,
  loc_eec_op_err,
  loc_prot_err,
  wr_flush_err,
  mw_bind_err,
  bad_resp_err,
  loc_access_err,
  rem_inv_req_err,
  rem_access_err,
  rem_op_err,
  retry_exc_err,
  rnr_retry_exc_err,
  loc_rdd_viol_err,
  rem_inv_rd_req_err,
  rem_abort_err,
  inv_eecn_err,
  inv_eec_state_err,
  fatal_err,
  resp_timeout_err,
  general_err,
};
std::string_view name(Status status);
std::optional<Status> status_by_name(std::string_view name);

struct Completion {
  std::uint64_t id = 0;
  Status status = Status::success;
  bool is_receive = false;
  std::uint32_t bytes = 0;  // received, or read; only if status is success
  bool by_write = false;    // received: an RDMA WRITE with immediate data, not a SEND
  std::optional<std::uint32_t> immediate, invalidated_r_key;
  std::optional<std::int64_t> time_ns;  // on the wire's clock; a device elsewhere has another one
};

// States that tests ask for.
enum class QpState : std::uint8_t { ready, error, other };

class Dut {
 public:
  virtual ~Dut() = default;
  virtual const DutInfo& info() const = 0;
  virtual Result<Channel> open(const ChannelOptions& options) = 0;
  virtual Result<void> post_send(const Channel& channel, const WorkRequest& request) = 0;
  virtual Result<void> post_receive(const Channel& channel, const ReceiveRequest& request) = 0;
  // What has completed, oldest first. Waits up to `wait_ns` for the first.
  virtual Result<std::vector<Completion>> poll(const Channel& channel, std::int64_t wait_ns) = 0;
  virtual Result<std::vector<std::uint8_t>> read_memory(const Channel& channel, Region region, std::uint32_t offset,
                                                        std::uint32_t length) = 0;
  virtual Result<void> write_memory(const Channel& channel, Region region, std::uint32_t offset,
                                    std::span<const std::uint8_t> bytes) = 0;
  virtual Result<QpState> state(const Channel& channel) = 0;
  // To the error state: what is outstanding completes with wr_flush_err and can be polled.
  virtual Result<void> to_error(const Channel& channel) = 0;
  virtual Result<void> close(const Channel& channel) = 0;
};

// A device that is reached by datagrams alone; whoever asks it for a queue pair is told `why` there is none.
std::unique_ptr<Dut> make_dut_without_queue_pairs(DutInfo info, std::string why);

}  // namespace rdmascope::replay
