// A correct endpoint in software: RC, UC and UD queue pairs, requester and responder, as ib-wire.md sections 4 and 6
// say how they behave. Tests of the tester run against it, and so do captures made to order.
//
// It has no thread and no clock of its own: whoever owns it hands in frames and the time, and takes frames out through
// a callback. The same calls give the same frames, byte for byte. Bytes from outside never break it, and its queues are
// bounded. With a mutant number it breaks exactly one rule (mutant.h).
//
// Choices the specification leaves open:
// * ACKs carry no credit count (code 31). A count goes out of date when a receive is posted; RNR NAKs do its job.
//   The requester heeds credits it is given.
// * A request is acknowledged when it asks for it, at once; a duplicate always (C9-105).
// * After an RNR NAK, packets behind its PSN are dropped without a further NAK, as behind any other known gap.
// * A duplicate READ may ask for any part that begins on a packet of the original.
// * A later response makes an unanswered READ go out again, once until there is progress.
// * A response of the wrong kind or position completes the request with bad_resp_err, a wrong length with loc_len_err.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "replay/build.h"
#include "replay/dut.h"
#include "replay/mutant.h"

namespace rdmascope::replay {

struct ModelOptions {
  IpAddress address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 2};
  std::uint16_t link_type = 101;  // of its wire: 101 IP, 1 Ethernet
  Wrap wrap = Wrap::roce_v2;      // or roce_v1, on Ethernet
  MacAddress mac = {2, 0, 0, 0, 0, 2};
  MacAddress tester_mac = {2, 0, 0, 0, 0, 1};
  std::uint32_t first_qpn = 0x11;
  bool counts_frames = true;  // in the IPv4 identification, else 0: as the kernel does for UDP sockets
  Mutant mutant = 0;
};

class Model {
 public:
  using Output = std::function<void(std::span<const std::uint8_t> frame)>;

  Model(const ModelOptions& options, Output output);
  ~Model();

  const DutInfo& info() const { return info_; }

  // A frame from the wire. Frames that are not for it, or not whole, are dropped.
  void frame(std::span<const std::uint8_t> bytes, std::int64_t now_ns);
  // When run() has something to do next, if nothing comes before.
  std::optional<std::int64_t> next_event_ns() const;
  void run(std::int64_t now_ns);

  // As in Dut, without waiting.
  Result<Channel> open(const ChannelOptions& options);
  Result<void> post_send(const Channel& channel, const WorkRequest& request, std::int64_t now_ns);
  Result<void> post_receive(const Channel& channel, const ReceiveRequest& request);
  bool has_completions(const Channel& channel) const;
  Result<std::vector<Completion>> poll(const Channel& channel);
  Result<std::vector<std::uint8_t>> read_memory(const Channel& channel, Region region, std::uint32_t offset,
                                                std::uint32_t length) const;
  Result<void> write_memory(const Channel& channel, Region region, std::uint32_t offset,
                            std::span<const std::uint8_t> bytes);
  Result<QpState> state(const Channel& channel) const;
  Result<void> to_error(const Channel& channel, std::int64_t now_ns);
  Result<void> close(const Channel& channel);

 private:
  struct Endpoint;

  Endpoint* find(std::uint32_t qpn) const;
  Result<Endpoint*> get(const Channel& channel) const;
  bool is_for(const Endpoint& endpoint, const dissect::Packet& packet) const;
  void emit(Endpoint& endpoint, const struct OutPacket& out);

  ModelOptions options_;
  Output output_;
  DutInfo info_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;  // by queue pair number
  std::uint32_t next_id_ = 0;
  std::uint16_t ip_id_ = 0;
  std::unique_ptr<dissect::Packet> packet_;  // filled anew for each frame
};

}  // namespace rdmascope::replay
