// The tester's side of the CDI probe: it plays the other end, as transmitter or as receiver, from as many UDP ports as
// a script opens. Part of the tester; what goes wrong is a Stop. cdi-probe.md sections 1 to 3 and 8.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/cdi_message.h"
#include "replay/expectation.h"
#include "replay/tester.h"
#include "replay/udp_frame.h"

namespace rdmascope::replay {

// A message for the device, and what is wrong with it on purpose.
struct CdiDraft {
  CdiMessage message;                   // number 0: the next one of the port
  std::optional<std::uint16_t> number;  // in its place
  std::optional<std::uint16_t> port;    // senders_control_dest_port; nullopt: the port it goes from
  std::optional<std::string> ip;        // senders_ip_str; nullopt: the address it goes from
  std::optional<CdiAdapter> adapter;    // nullopt: that of the port
  std::optional<std::uint64_t> to;      // frame that it answers; nullopt: the device
  std::uint32_t cut = 0;                // bytes off the end
  std::uint32_t extend = 0;             // zeros behind it
  std::uint16_t checksum_xor = 0;       // flips these bits of the right checksum
};

// What a message of the device must be like.
struct CdiWanted {
  std::string text;  // "Ack of Reset #3"
  Expectation fields;
  std::optional<std::int64_t> at_ns;         // so long behind `since`, on the SDK's clock
  std::optional<std::int64_t> tolerance_ns;  // nullopt: a tenth, and no less than 50 ms
  std::optional<std::uint64_t> since;        // frame; nullopt: the last message on this port that was sent or expected
  std::int64_t within_ns = Tester::default_within_ns;  // where there is no `at_ns`
};

class CdiTester {
 public:
  explicit CdiTester(Tester& tester);

  // A port that talks to the device.
  struct Peer {
    std::uint32_t id = 0;
    bool transmits = false;          // the tester plays the transmitter
    UdpPlace own;                    // ip 0: whatever the first message is sent to
    std::optional<UdpPlace> device;  // of a receiver: once the device has sent
    CdiAdapter adapter{};
    std::string name;                     // of the stream
    std::uint16_t number = 0;             // of the last message sent
    std::uint64_t last = 0;               // frame sent or expected last
    std::deque<std::uint64_t> arrived{};  // frames nobody has looked at
    std::vector<CdiWanted> allowed{};
    bool answered = false;  // the device has sent something
  };
  // Stops if the device has the same role. `port`: 0 is one that is free; nullopt: of a transmitter a free one, of a
  // receiver the one that the device knows. `ports`: so many, with this one, the test will have open at one receiver.
  Peer& open(bool transmits, std::optional<std::uint16_t> port, std::string name, std::uint32_t ports);
  Peer& peer(std::uint32_t id) { return *peers_[id - 1]; }

  // All return frames.
  std::uint64_t send(Peer& peer, const CdiDraft& draft);
  std::uint64_t expect(Peer& peer, const CdiWanted& wanted);  // the next message must be so
  std::uint64_t maybe(Peer& peer, const CdiWanted& wanted);   // 0: it is not, or none came
  std::uint64_t await(Peer& peer, const CdiWanted& wanted);   // passes over others
  // A Reset of the transmitter, however far it has come: one is provoked if need be.
  std::uint64_t begin(Peer& peer);
  void allow(Peer& peer, CdiWanted wanted);
  void quiet(Peer& peer, std::int64_t for_ns);
  void wait(std::int64_t ns);  // on the SDK's clock

  // Of the model only; elsewhere the test is not applicable.
  CdiDataPath& data_path();

  // The message of a frame, as a receiver sees it.
  CdiFault message(std::uint64_t frame, CdiMessage& out) const;
  UdpOfFrame datagram(std::uint64_t frame) const;
  std::string line(std::uint64_t frame) const;  // "Ack #2 of Reset #7, 2.3.5"

  // At the end of a test, whatever its verdict: closes ports, and lets a receiver forget them soon.
  void close(std::uint32_t first_peer);
  std::uint32_t peers() const { return static_cast<std::uint32_t>(peers_.size()); }

 private:
  std::int64_t scaled(std::int64_t ns) const;
  std::optional<std::uint64_t> next(Peer& peer, std::int64_t deadline_ns);  // leaves it there
  std::uint64_t take(Peer& peer, std::uint64_t frame, const std::string& step);
  std::vector<std::string> differences(const Peer& peer, std::uint64_t frame, const CdiWanted& wanted) const;
  bool is_allowed(const Peer& peer, std::uint64_t frame) const;
  std::int64_t since_ns(const Peer& peer, const CdiWanted& wanted) const;  // in the record
  std::int64_t tolerance(const CdiWanted& wanted) const;
  std::int64_t deadline_of(const Peer& peer, const CdiWanted& wanted) const;
  void wait_for_room(std::uint32_t ports);
  void keep_from_harm(const Peer& peer, const CdiDraft& draft) const;

  Tester& tester_;
  CdiTarget target_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace rdmascope::replay
