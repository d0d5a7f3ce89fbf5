// The CDI connection probe as SDK 2.4.1 and later have it: a transmitter (Tx) that asks for a connection by UDP, or a
// receiver (Rx) that answers. States and timers are those of cdi-probe.md 3.3 and 3.4, whose rows comments name as T5
// or R10. No sockets and no clock of its own: whoever has it hands it datagrams and the time.
//
// The data path over EFA is not there. Whoever has the model says how many probe packets got through (deliver), or lets
// them all get through by themselves. Mutants break one rule each (cdi_mutant.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dissect/cdi.h"
#include "replay/cdi_message.h"
#include "replay/cdi_mutant.h"
#include "replay/udp_frame.h"

namespace rdmascope::replay {

struct CdiModelOptions {
  bool transmits = false;
  UdpPlace own{0xc0000202, 2000};     // of a Tx the port that the system gave it
  UdpPlace remote{0xc0000201, 2000};  // of a Tx: where its receiver listens
  CdiVersion version = cdi_sdk_head;
  std::string name = "cam1";  // of the stream
  // How long the adapter takes to end and to start; real ones need some 10 ms to 100 ms.
  std::int64_t local_reset_ns = 10'000'000, local_start_ns = 20'000'000;
  double scale = 1;        // all times last that many times as long
  bool data_open = false;  // probe packets get through by themselves
  Mutant mutant = 0;       // of cdi_mutants
};

class CdiModel {
 public:
  // `other_port`: from another port than its own, which only a mutant does.
  using Send = std::function<void(const UdpPlace& to, std::span<const std::uint8_t> message, bool other_port)>;

  virtual ~CdiModel() = default;

  void datagram(const UdpPlace& from, std::span<const std::uint8_t> bytes, std::int64_t now_ns);
  // When run() has something to do; nullopt: not before the next datagram.
  std::optional<std::int64_t> next_event_ns() const;
  void run(std::int64_t now_ns);

  // So many probe packets got through: to an Rx, or from a Tx and were acknowledged. Those sent while nobody probes are
  // lost.
  virtual void deliver(std::uint32_t packets, std::int64_t now_ns) = 0;
  // Of a Tx: where its probe packets go; all zero: nowhere yet. Of an Rx: where it is now.
  virtual CdiAdapter data_address() const = 0;

 protected:
  using State = dissect::ProbeState;
  struct Named {  // a message by what its Ack says
    std::uint32_t command = 0;
    std::uint16_t number = 0;
    bool operator==(const Named&) const = default;
  };
  // One talk with one peer.
  struct Endpoint {
    UdpPlace peer;
    State state = State::idle;
    std::int64_t due_ns = 0;   // of the state's timer
    std::uint16_t number = 0;  // of the last message sent
    std::optional<CdiVersion> negotiated;
    std::optional<Named> open;                 // Tx: sent, without its Ack yet. Rx: came in, to be acknowledged
    std::uint32_t count = 0;                   // how often the state's message was sent
    std::vector<std::int64_t> resets, starts;  // local ones under way: when they end
    CdiAdapter own{}, remote{};
    std::uint32_t delivered = 0;                            // probe packets since the start
    bool started = false;                                   // EFA is up
    std::vector<std::pair<std::int64_t, Named>> late_acks;  // of a mutant
  };
  static constexpr std::uint32_t probe_packets = 1000;

  CdiModel(const CdiModelOptions& options, Send send);

  virtual void take(const UdpPlace& from, const CdiMessage& message, std::int64_t now_ns) = 0;
  virtual void step(Endpoint& endpoint, std::int64_t now_ns) = 0;  // its timer is due
  virtual void reset_ended(Endpoint& endpoint, std::int64_t now_ns) = 0;
  virtual void start_ended(Endpoint& endpoint, std::int64_t now_ns) = 0;
  virtual bool ignores(CdiFault fault) const = 0;  // a mutant takes such a message

  // Sends with the next number, in that version.
  void transmit(Endpoint& endpoint, CdiMessage message, const CdiVersion& version);
  void request(Endpoint& endpoint, std::uint32_t command, bool requires_ack, const CdiVersion& version);
  void acknowledge(Endpoint& endpoint, const Named& named, const CdiVersion& version);
  std::int64_t scaled(std::int64_t ns) const;
  void enter(Endpoint& endpoint, State state, std::int64_t now_ns, std::int64_t timer_ns);
  void begin_reset(Endpoint& endpoint, std::int64_t now_ns);
  void begin_start(Endpoint& endpoint, std::int64_t now_ns);
  void renew_address(Endpoint& endpoint);
  // 1.0.P, or what was negotiated.
  CdiVersion current(const Endpoint& endpoint) const {
    return endpoint.negotiated.value_or(CdiVersion{1, 0, options_.version.probe});
  }
  template <dissect::Name name>
  bool is() const {
    return options_.mutant == cdi_mutant<name>();
  }

  CdiModelOptions options_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;

 private:
  std::int64_t next_of(const Endpoint& endpoint) const;
  void run_endpoint(Endpoint& endpoint, std::int64_t at_ns);

  Send send_;
  std::uint16_t addresses_ = 0;  // adapter addresses handed out
};

std::unique_ptr<CdiModel> make_cdi_model(const CdiModelOptions& options, CdiModel::Send send);

}  // namespace rdmascope::replay
