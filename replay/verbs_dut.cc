#include "replay/verbs_dut.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "replay/build.h"
#include "replay/endpoint.h"
#include "replay/udp_wire.h"
#include "replay/verbs.h"

namespace rdmascope::replay {
namespace {

using verbs::failed;
using verbs::Library;

const Library& library() { return **verbs::load(); }

constexpr int send_depth = 128, receive_depth = 128;

// A failed completion tells its request's id and nothing else. Its lowest bit here tells the queue, the others are the
// tester's id.
constexpr std::uint64_t highest_id = ~std::uint64_t{0} >> 1;
std::uint64_t work_id(std::uint64_t id, bool is_receive) { return id << 1 | (is_receive ? 1 : 0); }
Error id_too_high() { return {fmt::format("id: want at most {}", highest_id)}; }

// The numbers of ibv_wc_status are those of Status, up to general_err.
static_assert(IBV_WC_WR_FLUSH_ERR == static_cast<int>(Status::wr_flush_err));
static_assert(IBV_WC_RETRY_EXC_ERR == static_cast<int>(Status::retry_exc_err));
static_assert(IBV_WC_GENERAL_ERR == static_cast<int>(Status::general_err));
Status status_of(ibv_wc_status status) {
  return status <= IBV_WC_GENERAL_ERR ? static_cast<Status>(status) : Status::general_err;
}

ibv_wr_opcode opcode_of(Work work) {
  switch (work) {
    case Work::send:
      return IBV_WR_SEND;
    case Work::send_with_immediate:
      return IBV_WR_SEND_WITH_IMM;
    case Work::send_with_invalidate:
      return IBV_WR_SEND_WITH_INV;
    case Work::write:
      return IBV_WR_RDMA_WRITE;
    case Work::write_with_immediate:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Work::read:
      return IBV_WR_RDMA_READ;
    case Work::compare_swap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    case Work::fetch_add:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case Work::flush:
    case Work::atomic_write:
      break;  // post_send() has refused them
  }
  return IBV_WR_SEND;
}

bool is_atomic(Work work) { return work == Work::compare_swap || work == Work::fetch_add; }

Result<ibv_mtu> mtu_of(std::uint32_t bytes) {
  for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
    if (bytes == 128u << mtu) return mtu;
  return Error{fmt::format("no such path MTU: {}; choose 256, 512, 1024, 2048 or 4096", bytes)};
}

struct OpenChannel {
  ChannelOptions options;
  Channel channel;
  // In the order they are made.
  std::optional<verbs::Memory> local, remote;
  verbs::EventChannel events;
  verbs::CompletionQueue completions;
  verbs::QueuePair pair;
  verbs::AddressHandle tester;  // UD
};

class VerbsDut final : public Dut {
 public:
  static Result<std::unique_ptr<Dut>> open_device(const VerbsDutOptions& options,
                                                  const std::optional<IpAddress>& tester);

  const DutInfo& info() const override { return info_; }
  Result<Channel> open(const ChannelOptions& options) override;
  Result<void> post_send(const Channel& channel, const WorkRequest& request) override;
  Result<void> post_receive(const Channel& channel, const ReceiveRequest& request) override;
  Result<std::vector<Completion>> poll(const Channel& channel, std::int64_t wait_ns) override;
  Result<std::vector<std::uint8_t>> read_memory(const Channel& channel, Region region, std::uint32_t offset,
                                                std::uint32_t length) override;
  Result<void> write_memory(const Channel& channel, Region region, std::uint32_t offset,
                            std::span<const std::uint8_t> bytes) override;
  Result<QpState> state(const Channel& channel) override;
  Result<void> to_error(const Channel& channel) override;
  Result<void> close(const Channel& channel) override;

 private:
  explicit VerbsDut(VerbsDutOptions options) : options_(std::move(options)) {}
  Result<OpenChannel*> find(const Channel& channel);
  // The address for a tester; any, if it is not known.
  Result<verbs::Gid> gid_for(const std::optional<IpAddress>& tester) const;
  Result<void> make_queues(OpenChannel& open) const;
  Result<void> connect(OpenChannel& open) const;
  ibv_ah_attr path_to_tester(const OpenChannel& open, const verbs::Gid& gid) const;

  VerbsDutOptions options_;
  DutInfo info_;
  ibv_device_attr limits_{};
  std::uint16_t p_key_ = 0xffff;
  std::vector<verbs::Gid> gids_;
  verbs::Context context_;
  verbs::ProtectionDomain pd_;
  std::map<std::uint32_t, OpenChannel> channels_;
  std::uint32_t last_id_ = 0;
};

Result<std::unique_ptr<Dut>> VerbsDut::open_device(const VerbsDutOptions& options,
                                                   const std::optional<IpAddress>& tester) {
  std::unique_ptr<VerbsDut> dut(new VerbsDut(options));
  Result<verbs::Context> context = verbs::open_device(options.device);
  if (!context) return Error{context.error()};
  dut->context_ = std::move(*context);

  if (const int error = library().ibv_query_device(dut->context_.get(), &dut->limits_); error != 0)
    return failed(fmt::format("ask {} for its limits", options.device), error);
  if (options.port < 1 || options.port > dut->limits_.phys_port_cnt)
    return Error{fmt::format("{} has no port {} (its ports: 1 to {})", options.device, options.port,
                             dut->limits_.phys_port_cnt)};
  const Result<ibv_port_attr> port = verbs::query_port(dut->context_.get(), options.port);
  if (!port) return Error{fmt::format("{}: {}", options.device, port.error())};
  if (port->link_layer != IBV_LINK_LAYER_ETHERNET)
    return Error{
        fmt::format("port {} of {} is not Ethernet, and only RoCEv2 can be tested", options.port, options.device)};
  if (port->state != IBV_PORT_ACTIVE)
    return Error{
        fmt::format("port {} of {} is not active: bring its network interface up", options.port, options.device)};
  std::uint16_t p_key = 0;
  if (library().ibv_query_pkey(dut->context_.get(), options.port, 0, &p_key) == 0) dut->p_key_ = ntohs(p_key);
  dut->gids_ = verbs::roce_v2_gids(dut->context_.get(), options.port, port->gid_tbl_len);
  const Result<verbs::Gid> gid = dut->gid_for(tester);
  if (!gid) return Error{gid.error()};

  dut->pd_.reset(library().ibv_alloc_pd(dut->context_.get()));
  if (!dut->pd_) return failed(fmt::format("make a protection domain on {}", options.device), errno);

  const auto byte = [](int n) { return static_cast<std::uint8_t>(std::clamp(n, 0, 255)); };
  dut->info_ = {.name = options.device,
                .address = gid->address,
                .mac = gid->mac,
                .max_pmtu = 128u << port->active_mtu,
                .max_initiator_depth = byte(dut->limits_.max_qp_init_rd_atom),
                .max_responder_resources = byte(dut->limits_.max_qp_rd_atom),
                .atomics = dut->limits_.atomic_cap != IBV_ATOMIC_NONE,
                .send_with_invalidate = (dut->limits_.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS) != 0};
  return std::unique_ptr<Dut>(std::move(dut));
}

Result<verbs::Gid> VerbsDut::gid_for(const std::optional<IpAddress>& tester) const {
  const std::string port = fmt::format("port {} of {}", options_.port, options_.device);
  const auto first = [this](auto fits) -> const verbs::Gid* {
    const auto found = std::find_if(gids_.begin(), gids_.end(), fits);
    return found == gids_.end() ? nullptr : &*found;
  };
  if (options_.gid_index) {
    const verbs::Gid* gid = first([this](const verbs::Gid& g) { return g.index == *options_.gid_index; });
    if (!gid) return Error{fmt::format("{} has no RoCEv2 address with index {}", port, *options_.gid_index)};
    return *gid;
  }
  const bool ipv4 = !tester || is_ipv4(*tester);
  const auto is_link_local = [](const IpAddress& a) { return a[0] == 0xfe && (a[1] & 0xc0) == 0x80; };
  const bool link_local = tester && is_link_local(*tester);
  const verbs::Gid* gid =
      first([&](const verbs::Gid& g) { return is_ipv4(g.address) == ipv4 && is_link_local(g.address) == link_local; });
  if (!gid && !tester && !gids_.empty()) gid = gids_.data();
  if (!gid)
    return Error{
        fmt::format("{} has no RoCEv2 {} address: give one to its network interface", port, ipv4 ? "IPv4" : "IPv6")};
  return *gid;
}

Result<void> VerbsDut::make_queues(OpenChannel& open) const {
  const ChannelOptions& options = open.options;
  int remote_access = IBV_ACCESS_LOCAL_WRITE;
  if (options.allow_remote_read) remote_access |= IBV_ACCESS_REMOTE_READ;
  if (options.allow_remote_write) remote_access |= IBV_ACCESS_REMOTE_WRITE;
  if (options.allow_remote_atomic) remote_access |= IBV_ACCESS_REMOTE_ATOMIC;
  const auto make = [this](std::optional<verbs::Memory>& memory, std::uint32_t bytes, int access) -> Result<void> {
    Result<verbs::Memory> made = verbs::Memory::make(pd_.get(), bytes, access);
    if (!made) return Error{made.error()};
    memory = std::move(*made);
    return {};
  };
  if (Result<void> made = make(open.local, options.local_bytes, IBV_ACCESS_LOCAL_WRITE); !made) return made;
  if (Result<void> made = make(open.remote, options.remote_bytes, remote_access); !made) return made;

  open.events.reset(library().ibv_create_comp_channel(context_.get()));
  if (!open.events) return failed("make a completion channel", errno);
  open.completions.reset(
      library().ibv_create_cq(context_.get(), send_depth + receive_depth, nullptr, open.events.get(), 0));
  if (!open.completions) return failed("make a completion queue", errno);

  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = open.completions.get();
  attributes.cap = {.max_send_wr = send_depth,
                    .max_recv_wr = receive_depth,
                    .max_send_sge = 1,
                    .max_recv_sge = 2,
                    .max_inline_data = 0};
  attributes.qp_type = options.service == Service::rc   ? IBV_QPT_RC
                       : options.service == Service::uc ? IBV_QPT_UC
                                                        : IBV_QPT_UD;
  open.pair.reset(library().ibv_create_qp(pd_.get(), &attributes));
  if (!open.pair) return failed("make a queue pair", errno);
  return {};
}

ibv_ah_attr VerbsDut::path_to_tester(const OpenChannel& open, const verbs::Gid& gid) const {
  ibv_ah_attr path{};
  std::memcpy(path.grh.dgid.raw, open.options.tester_address.data(), open.options.tester_address.size());
  path.grh.sgid_index = gid.index;
  path.grh.hop_limit = 64;
  path.is_global = 1;
  path.port_num = options_.port;
  return path;
}

// From reset over init and ready-to-receive to ready-to-send.
Result<void> VerbsDut::connect(OpenChannel& open) const {
  const ChannelOptions& options = open.options;
  const bool rc = options.service == Service::rc, ud = options.service == Service::ud;
  const Result<verbs::Gid> gid = gid_for(options.tester_address);
  if (!gid) return Error{gid.error()};
  const Result<ibv_mtu> mtu = mtu_of(options.pmtu);
  if (!mtu) return Error{mtu.error()};

  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = 0;
  attributes.port_num = options_.port;
  attributes.qkey = options.q_key;
  if (options.allow_remote_read) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_READ;
  if (options.allow_remote_write) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_WRITE;
  if (options.allow_remote_atomic) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  if (!rc) attributes.qp_access_flags &= ~static_cast<unsigned>(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
  if (const int error = library().ibv_modify_qp(open.pair.get(), &attributes, mask); error != 0)
    return failed("bring the queue pair to init", error);

  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = *mtu;
  attributes.dest_qp_num = options.tester_qpn;
  attributes.rq_psn = options.tester_psn;
  attributes.max_dest_rd_atomic = open.channel.responder_resources;
  attributes.min_rnr_timer = options.min_rnr_timer;
  attributes.ah_attr = path_to_tester(open, *gid);
  mask = IBV_QP_STATE;
  if (!ud) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (rc) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  if (const int error = library().ibv_modify_qp(open.pair.get(), &attributes, mask); error != 0)
    return failed(fmt::format("bring the queue pair to ready-to-receive towards {}", to_text(options.tester_address)),
                  error);

  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = options.dut_psn;
  attributes.timeout = options.ack_timeout;
  attributes.retry_cnt = options.retry_count;
  attributes.rnr_retry = options.rnr_retry;
  attributes.max_rd_atomic = open.channel.initiator_depth;
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (rc) mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  if (const int error = library().ibv_modify_qp(open.pair.get(), &attributes, mask); error != 0)
    return failed("bring the queue pair to ready-to-send", error);

  if (!ud) return {};
  ibv_ah_attr path = attributes.ah_attr;
  open.tester.reset(library().ibv_create_ah(pd_.get(), &path));
  if (!open.tester) return failed(fmt::format("make an address handle for {}", to_text(options.tester_address)), errno);
  return {};
}

Result<Channel> VerbsDut::open(const ChannelOptions& options) {
  constexpr std::uint32_t highest = 0xffffff;
  if (options.dut_psn > highest || options.tester_psn > highest || options.tester_qpn > highest)
    return Error{"dut_psn, tester_psn and tester_qpn have 24 bits"};
  if (options.pmtu > info_.max_pmtu)
    return Error{fmt::format("path MTU {}: {} carries at most {}", options.pmtu, options_.device, info_.max_pmtu)};
  OpenChannel open{.options = options, .channel = {}};
  open.channel.p_key = p_key_;
  open.channel.initiator_depth = std::min(options.initiator_depth, info_.max_initiator_depth);
  open.channel.responder_resources = std::min(options.responder_resources, info_.max_responder_resources);
  if (const Result<void> made = make_queues(open); !made) return Error{made.error()};
  if (const Result<void> connected = connect(open); !connected) return Error{connected.error()};
  open.channel.id = ++last_id_;
  open.channel.qpn = open.pair->qp_num;
  open.channel.remote_va = open.remote->address();
  open.channel.remote_r_key = open.remote->remote_key();
  const Channel channel = open.channel;
  channels_.emplace(channel.id, std::move(open));
  return channel;
}

Result<OpenChannel*> VerbsDut::find(const Channel& channel) {
  const auto found = channels_.find(channel.id);
  if (found == channels_.end()) return Error{fmt::format("no channel {} is open", channel.id)};
  return &found->second;
}

// An error when offset and length leave the region.
Result<std::span<std::uint8_t>> part_of(const std::optional<verbs::Memory>& memory, std::uint32_t offset,
                                        std::size_t length) {
  const std::span<std::uint8_t> bytes = memory->bytes();
  if (offset > bytes.size() || length > bytes.size() - offset)
    return Error{fmt::format("{} bytes at {} are outside the region of {} bytes", length, offset, bytes.size())};
  return bytes.subspan(offset, length);
}

ibv_sge element(const verbs::Memory& memory, std::span<std::uint8_t> part) {
  return {reinterpret_cast<std::uintptr_t>(part.data()), static_cast<std::uint32_t>(part.size()), memory.local_key()};
}

Result<void> VerbsDut::post_send(const Channel& channel, const WorkRequest& request) {
  const Result<OpenChannel*> open = find(channel);
  if (!open) return Error{open.error()};
  if (request.id > highest_id) return id_too_high();
  const std::uint32_t length = is_atomic(request.work) ? 8 : request.length;
  const Result<std::span<std::uint8_t>> part = part_of((*open)->local, request.local_offset, length);
  if (!part) return Error{part.error()};
  const bool ud = (*open)->options.service == Service::ud;
  if (ud && request.work != Work::send && request.work != Work::send_with_immediate)
    return Error{"a UD queue pair can only send"};
  if (request.work == Work::flush || request.work == Work::atomic_write)
    return Error{"the device cannot post FLUSH and ATOMIC WRITE through the verbs interface used here"};

  ibv_sge piece = element(*(*open)->local, *part);
  ibv_send_wr work{};
  work.wr_id = work_id(request.id, false);
  work.sg_list = &piece;
  work.num_sge = length > 0 ? 1 : 0;
  work.opcode = opcode_of(request.work);
  if (request.signaled) work.send_flags |= IBV_SEND_SIGNALED;
  if (request.solicited) work.send_flags |= IBV_SEND_SOLICITED;
  if (request.fence) work.send_flags |= IBV_SEND_FENCE;
  if (request.work == Work::send_with_invalidate)
    work.invalidate_rkey = request.immediate;
  else
    work.imm_data = htonl(request.immediate);
  if (ud) {
    work.wr.ud = {(*open)->tester.get(), request.remote_qpn, request.remote_q_key};
  } else if (is_atomic(request.work)) {
    const bool swap = request.work == Work::compare_swap;
    work.wr.atomic = {request.va, swap ? request.compare : request.operand, swap ? request.operand : 0, request.r_key};
  } else {
    work.wr.rdma = {request.va, request.r_key};
  }
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send((*open)->pair.get(), &work, &refused); error != 0) {
    if (error == ENOMEM) return Error{fmt::format("the send queue is full ({} requests)", send_depth)};
    return failed("post to the send queue", error);
  }
  return {};
}

Result<void> VerbsDut::post_receive(const Channel& channel, const ReceiveRequest& request) {
  const Result<OpenChannel*> open = find(channel);
  if (!open) return Error{open.error()};
  const Result<std::span<std::uint8_t>> part = part_of((*open)->local, request.local_offset, request.length);
  if (!part) return Error{part.error()};
  if (request.id > highest_id) return id_too_high();
  ibv_sge piece = element(*(*open)->local, *part);
  ibv_recv_wr work{};
  work.wr_id = work_id(request.id, true);
  work.sg_list = &piece;
  work.num_sge = request.length > 0 ? 1 : 0;
  ibv_recv_wr* refused = nullptr;
  if (const int error = ibv_post_recv((*open)->pair.get(), &work, &refused); error != 0) {
    if (error == ENOMEM) return Error{fmt::format("the receive queue is full ({} requests)", receive_depth)};
    return failed("post to the receive queue", error);
  }
  return {};
}

Completion completion_of(const ibv_wc& wc) {
  Completion out{.id = wc.wr_id >> 1, .status = status_of(wc.status), .is_receive = (wc.wr_id & 1) != 0};
  if (out.status != Status::success) return out;
  if (out.is_receive || wc.opcode == IBV_WC_RDMA_READ) out.bytes = wc.byte_len;
  out.by_write = out.is_receive && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM;
  if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0) out.immediate = ntohl(wc.imm_data);
  if ((wc.wc_flags & IBV_WC_WITH_INV) != 0) out.invalidated_r_key = wc.invalidated_rkey;
  return out;
}

Result<std::vector<Completion>> VerbsDut::poll(const Channel& channel, std::int64_t wait_ns) {
  const Result<OpenChannel*> found = find(channel);
  if (!found) return Error{found.error()};
  OpenChannel& open = **found;
  const std::int64_t until_ns = monotonic_ns() + wait_ns;
  for (;;) {
    // Armed before looking, so that what completes in between wakes us.
    if (wait_ns > 0) ibv_req_notify_cq(open.completions.get(), 0);
    std::array<ibv_wc, send_depth + receive_depth> entries;
    const int count = ibv_poll_cq(open.completions.get(), static_cast<int>(entries.size()), entries.data());
    if (count < 0) return failed("poll the completion queue", -count);
    std::vector<Completion> out;
    for (const ibv_wc& wc : std::span(entries).first(static_cast<std::size_t>(count))) out.push_back(completion_of(wc));
    const std::int64_t left_ns = until_ns - monotonic_ns();
    if (!out.empty() || left_ns <= 0) return out;

    pollfd waiting{open.events->fd, POLLIN, 0};
    const timespec left{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    if (ppoll(&waiting, 1, &left, nullptr) <= 0) continue;
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    // Without this ibv_destroy_cq() would wait for ever.
    if (library().ibv_get_cq_event(open.events.get(), &queue, &context) == 0) library().ibv_ack_cq_events(queue, 1);
  }
}

Result<std::vector<std::uint8_t>> VerbsDut::read_memory(const Channel& channel, Region region, std::uint32_t offset,
                                                        std::uint32_t length) {
  const Result<OpenChannel*> open = find(channel);
  if (!open) return Error{open.error()};
  const auto part = part_of(region == Region::local ? (*open)->local : (*open)->remote, offset, length);
  if (!part) return Error{part.error()};
  return std::vector<std::uint8_t>(part->begin(), part->end());
}

Result<void> VerbsDut::write_memory(const Channel& channel, Region region, std::uint32_t offset,
                                    std::span<const std::uint8_t> bytes) {
  const Result<OpenChannel*> open = find(channel);
  if (!open) return Error{open.error()};
  const auto part = part_of(region == Region::local ? (*open)->local : (*open)->remote, offset, bytes.size());
  if (!part) return Error{part.error()};
  std::copy(bytes.begin(), bytes.end(), part->begin());
  return {};
}

Result<QpState> VerbsDut::state(const Channel& channel) {
  const Result<OpenChannel*> open = find(channel);
  if (!open) return Error{open.error()};
  ibv_qp_attr attributes{};
  ibv_qp_init_attr unused{};
  if (const int error = library().ibv_query_qp((*open)->pair.get(), &attributes, IBV_QP_STATE, &unused); error != 0)
    return failed("ask for the state of the queue pair", error);
  switch (attributes.qp_state) {
    case IBV_QPS_RTS:
      return QpState::ready;
    case IBV_QPS_ERR:
      return QpState::error;
    default:
      return QpState::other;
  }
}

Result<void> VerbsDut::to_error(const Channel& channel) {
  const Result<OpenChannel*> open = find(channel);
  if (!open) return Error{open.error()};
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  if (const int error = library().ibv_modify_qp((*open)->pair.get(), &attributes, IBV_QP_STATE); error != 0)
    return failed("bring the queue pair to the error state", error);
  return {};
}

Result<void> VerbsDut::close(const Channel& channel) {
  if (channels_.erase(channel.id) == 0) return Error{fmt::format("no channel {} is open", channel.id)};
  return {};
}

}  // namespace

Result<std::unique_ptr<Dut>> open_verbs_dut(const VerbsDutOptions& options, const std::optional<IpAddress>& tester) {
  return VerbsDut::open_device(options, tester);
}

}  // namespace rdmascope::replay
