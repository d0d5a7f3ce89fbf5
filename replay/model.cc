#include "replay/model.h"

#include <algorithm>
#include <string>

#include "dissect/walk.h"
#include "replay/model_requester.h"
#include "replay/model_responder.h"

namespace rdmascope::replay {
namespace {

using namespace dissect;

constexpr std::size_t most_channels = 1024;
constexpr std::uint32_t most_region_bytes = 1u << 26;

bool is_pmtu(std::uint32_t bytes) { return bytes >= 256 && bytes <= 4096 && (bytes & (bytes - 1)) == 0; }

IpAddress mapped(const std::uint8_t* ipv4) {
  IpAddress out{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::copy_n(ipv4, 4, out.begin() + 12);
  return out;
}

struct Ends {
  IpAddress source{}, destination{};
};

template <class H, Name name>
IpAddress address_in(const std::uint8_t* header) {
  constexpr Field f = field<H, name>();
  IpAddress out;
  std::copy_n(header + f.at / 8, out.size(), out.begin());
  return out;
}

// Of the innermost header with addresses, the one the transport stands in.
std::optional<Ends> ends_of(const Packet& packet) {
  std::optional<Ends> ends;
  for (const Layer& layer : packet.layers()) {
    const std::uint8_t* p = packet.data(layer);
    if (layer.header == &header<Ipv4>)
      ends = Ends{mapped(p + field<Ipv4, "src">().at / 8), mapped(p + field<Ipv4, "dst">().at / 8)};
    else if (layer.header == &header<Ipv6>)
      ends = Ends{address_in<Ipv6, "src">(p), address_in<Ipv6, "dst">(p)};
    else if (layer.header == &header<Grh>)
      ends = Ends{address_in<Grh, "sgid">(p), address_in<Grh, "dgid">(p)};
  }
  return ends;
}

std::span<const std::uint8_t> payload_of(const Packet& packet) {
  const Layer* layer = packet.find(header<Payload>);
  if (!layer) return {};
  return {packet.data(*layer), layer->bytes};
}

// Both belong to the partition, and one of them fully (F-13).
bool partitions_match(std::uint16_t a, std::uint16_t b) { return (a & 0x7fff) == (b & 0x7fff) && ((a | b) & 0x8000); }

}  // namespace

struct Model::Endpoint {
  QueuePair qp;
  Requester requester;
  Responder responder;

  explicit Endpoint(QueuePair made) : qp(std::move(made)), requester(qp), responder(qp) {}
  void fail() {
    qp.state = QpState::error;
    requester.flush();
    responder.flush();
  }
};

Model::Model(const ModelOptions& options, Output output)
    : options_(options), output_(std::move(output)), packet_(std::make_unique<Packet>()) {
  info_.name = "model";
  info_.simulated = true;
  info_.address = options.address;
  if (options.link_type == 1) info_.mac = options.mac;
  info_.flush = info_.atomic_write = true;
  if (options.mutant != 0) info_.name += ":mutant=" + std::string(mutants[options.mutant - 1].name);
}

Model::~Model() = default;

// ---- Channels

Result<Channel> Model::open(const ChannelOptions& options) {
  if (endpoints_.size() >= most_channels) return Error{"the model has 1024 channels open: close some"};
  if (!is_pmtu(options.pmtu)) return Error{"the path MTU must be 256, 512, 1024, 2048 or 4096"};
  if (options.local_bytes > most_region_bytes || options.remote_bytes > most_region_bytes)
    return Error{"the model's memory regions end at 64 MiB"};
  const std::uint32_t id = next_id_++;
  QueuePair qp;
  qp.options = options;
  qp.options.retry_count &= 7;
  qp.options.rnr_retry &= 7;
  qp.options.min_rnr_timer &= 31;
  qp.channel.id = id;
  qp.channel.qpn = options_.first_qpn + id;
  qp.channel.remote_va = 0x10000000 + std::uint64_t{id} * 2 * most_region_bytes;
  qp.channel.remote_r_key = 0x1000 + (id << 8);
  qp.channel.initiator_depth = std::min(options.initiator_depth, info_.max_initiator_depth);
  qp.channel.responder_resources = std::min(options.responder_resources, info_.max_responder_resources);
  qp.mutant = options_.mutant;
  qp.port_mtu = info_.max_pmtu;
  qp.local.resize(options.local_bytes);
  qp.remote.resize(options.remote_bytes);
  qp.path.wrap = options_.wrap;
  qp.path.link_type = options_.link_type;
  qp.path.source = options_.address;
  qp.path.destination = options.tester_address;
  qp.path.source_mac = options_.mac;
  qp.path.destination_mac = options_.tester_mac;
  qp.path.source_port = static_cast<std::uint16_t>(0xc000 | (qp.channel.qpn & 0x3fff));
  qp.path.destination_qpn = options.tester_qpn;
  qp.path.p_key = qp.channel.p_key;
  if (qp.is<"wrong-p-key">()) qp.path.p_key ^= 1;
  endpoints_.push_back(std::make_unique<Endpoint>(std::move(qp)));
  Endpoint* const endpoint = endpoints_.back().get();
  endpoint->qp.emit = [this, endpoint](const OutPacket& out) { emit(*endpoint, out); };
  endpoint->qp.fail = [endpoint] { endpoint->fail(); };
  return endpoint->qp.channel;
}

Model::Endpoint* Model::find(std::uint32_t qpn) const {
  const auto at = std::lower_bound(endpoints_.begin(), endpoints_.end(), qpn,
                                   [](const auto& e, std::uint32_t wanted) { return e->qp.channel.qpn < wanted; });
  return at != endpoints_.end() && (*at)->qp.channel.qpn == qpn ? at->get() : nullptr;
}

Result<Model::Endpoint*> Model::get(const Channel& channel) const {
  if (Endpoint* endpoint = find(channel.qpn)) return endpoint;
  return Error{"the channel is closed"};
}

Result<void> Model::post_send(const Channel& channel, const WorkRequest& request, std::int64_t now_ns) {
  const auto endpoint = get(channel);
  if (!endpoint) return Error{endpoint.error()};
  (*endpoint)->qp.now_ns = now_ns;
  return (*endpoint)->requester.post(request);
}

Result<void> Model::post_receive(const Channel& channel, const ReceiveRequest& request) {
  const auto endpoint = get(channel);
  if (!endpoint) return Error{endpoint.error()};
  return (*endpoint)->responder.post(request);
}

bool Model::has_completions(const Channel& channel) const {
  const Endpoint* endpoint = find(channel.qpn);
  return endpoint && !endpoint->qp.completions.empty();
}

Result<std::vector<Completion>> Model::poll(const Channel& channel) {
  const auto endpoint = get(channel);
  if (!endpoint) return Error{endpoint.error()};
  std::deque<Completion>& queue = (*endpoint)->qp.completions;
  std::vector<Completion> out(queue.begin(), queue.end());
  queue.clear();
  return out;
}

Result<std::vector<std::uint8_t>> Model::read_memory(const Channel& channel, Region region, std::uint32_t offset,
                                                     std::uint32_t length) const {
  const auto endpoint = get(channel);
  if (!endpoint) return Error{endpoint.error()};
  const auto& bytes = region == Region::local ? (*endpoint)->qp.local : (*endpoint)->qp.remote;
  if (offset > bytes.size() || length > bytes.size() - offset) return Error{"the region ends before"};
  return std::vector<std::uint8_t>(bytes.begin() + offset, bytes.begin() + offset + length);
}

Result<void> Model::write_memory(const Channel& channel, Region region, std::uint32_t offset,
                                 std::span<const std::uint8_t> bytes) {
  const auto endpoint = get(channel);
  if (!endpoint) return Error{endpoint.error()};
  auto& memory = region == Region::local ? (*endpoint)->qp.local : (*endpoint)->qp.remote;
  if (offset > memory.size() || bytes.size() > memory.size() - offset) return Error{"the region ends before"};
  std::copy(bytes.begin(), bytes.end(), memory.begin() + offset);
  return {};
}

Result<QpState> Model::state(const Channel& channel) const {
  const auto endpoint = get(channel);
  if (!endpoint) return Error{endpoint.error()};
  return (*endpoint)->qp.state;
}

Result<void> Model::to_error(const Channel& channel, std::int64_t now_ns) {
  const auto endpoint = get(channel);
  if (!endpoint) return Error{endpoint.error()};
  (*endpoint)->qp.now_ns = now_ns;
  (*endpoint)->fail();
  return {};
}

Result<void> Model::close(const Channel& channel) {
  const auto endpoint = get(channel);
  if (!endpoint) return Error{endpoint.error()};
  std::erase_if(endpoints_, [&](const auto& e) { return e.get() == *endpoint; });
  return {};
}

// ---- Frames

// Everything but the transport itself: what fails here is dropped without a word.
bool Model::is_for(const Endpoint& endpoint, const Packet& packet) const {
  const QueuePair& qp = endpoint.qp;
  const View<Bth> bth(packet.data(packet.layers()[static_cast<std::size_t>(packet.bth_layer)]));
  constexpr Transport transports[] = {Transport::rc, Transport::uc, Transport::ud};
  const Opcode& opcode = opcodes[bth.get<"opcode">()];
  if (opcode.transport != transports[static_cast<std::size_t>(qp.options.service)]) return false;
  if (bth.get<"tver">() != 0 && !qp.is<"accept-tver">()) return false;
  if (!partitions_match(static_cast<std::uint16_t>(bth.get<"p_key">()), qp.channel.p_key) &&
      !qp.is<"accept-bad-p-key">())
    return false;
  const std::optional<Ends> ends = ends_of(packet);
  if (!ends || ends->destination != qp.path.source) return false;
  if (qp.options.service != Service::ud && ends->source != qp.path.destination) return false;
  if (packet.icrc().status == CrcStatus::good) return true;
  return qp.is<"accept-bad-icrc">() && packet.icrc().status == CrcStatus::bad;
}

void Model::frame(std::span<const std::uint8_t> bytes, std::int64_t now_ns) {
  static const WalkOptions walk_options;
  Packet& packet = *packet_;
  packet.frame = {};
  packet.frame.link_type = options_.link_type;
  packet.frame.wire_bytes = static_cast<std::uint32_t>(bytes.size());
  walk(packet, bytes, walk_options);
  if (packet.bth_layer < 0) return;
  for (const Event& event : packet.events())
    if (event.problem != Problem::unknown_opcode) return;
  const View<Bth> bth(packet.data(packet.layers()[static_cast<std::size_t>(packet.bth_layer)]));
  Endpoint* endpoint = find(static_cast<std::uint32_t>(bth.get<"destqp">()));
  if (!endpoint && !endpoints_.empty() && endpoints_.front()->qp.is<"accept-wrong-qp">())
    endpoint = endpoints_.front().get();
  if (!endpoint || !is_for(*endpoint, packet)) return;

  const std::uint8_t code = static_cast<std::uint8_t>(bth.get<"opcode">());
  const InPacket in{packet,
                    opcodes[code],
                    static_cast<std::uint8_t>(code & 31),
                    bth.get<"a">() != 0,
                    static_cast<std::uint32_t>(bth.get<"psn">()),
                    payload_of(packet)};
  endpoint->qp.now_ns = now_ns;
  if (in.opcode.response)
    endpoint->requester.response(in);
  else
    endpoint->responder.request(in);
}

std::optional<std::int64_t> Model::next_event_ns() const {
  std::optional<std::int64_t> next;
  for (const auto& endpoint : endpoints_)
    for (const std::optional<std::int64_t>& at :
         {endpoint->requester.next_event_ns(), endpoint->responder.next_event_ns()})
      if (at && (!next || *at < *next)) next = at;
  return next;
}

void Model::run(std::int64_t now_ns) {
  for (const auto& endpoint : endpoints_) {
    endpoint->qp.now_ns = now_ns;
    endpoint->requester.run();
    endpoint->responder.run();
  }
}

void Model::emit(Endpoint& endpoint, const OutPacket& wanted) {
  const QueuePair& qp = endpoint.qp;
  OutPacket out = wanted;
  Path path = qp.path;
  if (qp.is<"response-wrong-qp">() && opcodes[out.opcode].response) ++path.destination_qpn;
  if (qp.is<"wrong-icrc">()) out.icrc_xor = 1;
  if (qp.is<"wrong-pad">() && out.payload.size() % 4 == 0) out.pad_count = 1;
  if (qp.is<"pad-not-zero">()) out.pad_byte = 0xff;
  if (qp.is<"reserved-bits-set">()) out.reserved7 = 0x7f;
  if (qp.is<"tver-one">()) out.tver = 1;
  output_(write_frame(out, path, options_.counts_frames ? ip_id_++ : 0));
}

}  // namespace rdmascope::replay
