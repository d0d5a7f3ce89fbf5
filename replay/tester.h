// The tester: plays one script against a device under test over a wire. It opens connections, sends packets as drafted,
// holds what arrives against what was expected, keeps every frame and tells the story as it goes. Knows nothing of Lua.
//
// A test that cannot go on throws Stop with its verdict; script.cc turns that into the end of the script. (Lua's own
// errors are exceptions, too.)
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "dissect/packet.h"
#include "replay/build.h"
#include "replay/dut.h"
#include "replay/expectation.h"
#include "replay/report.h"
#include "replay/wire.h"

namespace rdmascope::replay {

struct Stop {
  Verdict verdict;
  std::string message;
  std::vector<std::string> details{};
};

struct TesterOptions {
  double timeout_factor = 1;                       // on the time the device has to do what is expected
  std::uint64_t seed = 1;                          // for PSNs and queue pair numbers that a script leaves open
  const std::atomic<bool>* interrupted = nullptr;  // set by a signal: the script ends
  Wrap wrap = Wrap::roce_v2;                       // what the device's packets stand in; the wire must carry it
  bool destructive = false;                        // requests that may crash a device go out, too
  bool sampled = false;                            // long loops take a sample
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};  // of a long loop
  // Every event as it happens; whether a step went well is known later, in the report.
  std::function<void(const Event& event)> heard{};
};

// A frame as it passed, either way.
struct KeptFrame {
  std::vector<std::uint8_t> bytes;
  std::int64_t time_ns = 0;  // on the wire's clock
  bool from_tester = false;
  bool is_mad = false;           // on a wire that carries them
  std::uint32_t connection = 0;  // 0: none
  std::string step;              // "c09.lua:9 expect RC_RDMA_READ_REQUEST"; empty: nobody asked for it
};

// A completion the device told of, on the same timeline.
struct KeptCompletion {
  Completion completion;
  Work work = Work::send;  // of the request, unless is_receive
  std::uint32_t qpn = 0;   // of the device
  std::uint32_t connection = 0;
  std::int64_t time_ns = 0;  // when it completed, or when the tester was told, which is later
  bool simulated = false;    // the device is a model
  std::string step;
};

class Connection {
 public:
  std::uint32_t id = 0;
  ChannelOptions options;
  Channel channel;
  Path path;
  PsnStarts starts;
  bool open = true;

  // What was posted, by the id of the request.
  struct Posted {
    Work work = Work::send;
    bool is_receive = false, signaled = true;
    std::uint32_t offset = 0, length = 0;
  };
  std::map<std::uint64_t, Posted> posted;

 private:
  friend class Tester;
  std::deque<std::size_t> arrived;     // frames nobody has looked at, index
  std::deque<Completion> completions;  // nobody has asked for
  std::vector<Expectation> allowed;
  bool allow_retransmissions = false;
  std::optional<std::uint32_t> next_request_psn;  // of the DUT, one past the furthest seen
  std::uint32_t next_local = 0;                   // first byte of the local region that is not in use
};

struct CompletionWanted {
  std::uint32_t count = 1;
  std::optional<Status> status = Status::success;  // nullopt: any
  std::optional<bool> is_receive = false;          // nullopt: either
  std::optional<std::uint64_t> id;                 // of the request
  std::optional<std::string> data;                 // in memory afterwards
  std::optional<std::uint64_t> original;           // atomics: what was there before
  std::optional<std::uint32_t> bytes, immediate, invalidated_r_key;
  std::int64_t within_ns = 1'000'000'000;
  bool must_come = true;  // or the test fails
};

// A packet that arrived or was sent, for scripts to look at.
struct Seen {
  std::uint64_t frame = 0;  // 0: none
  std::size_t alternative = 0;
};

class MadTester;
class CdiTester;

class Tester {
 public:
  Tester(Wire& wire, Dut& dut, TesterOptions options);
  ~Tester();

  static constexpr std::int64_t default_within_ns = 1'000'000'000;

  // Where in the script we are; told before each call.
  void at(int line) { line_ = line; }
  void set_script(std::string name) { script_ = std::move(name); }

  Connection& open(ChannelOptions options, bool psns_given[2], bool depth_given);
  // Flushes and looks for what is left over: packets and completions nobody expected. `flushed`: send requests that
  // must not have completed before.
  void close(Connection& connection, std::optional<std::uint32_t> flushed,
             std::optional<std::uint32_t> flushed_receives);
  // Lets go of what is open from connection `first` on, without judging.
  void abandon(std::uint32_t first);
  // Closes what is open from connection `first` on as close() does.
  void close_all(std::uint32_t first);
  std::uint32_t last_connection() const { return static_cast<std::uint32_t>(connections_.size()); }
  Connection& connection(std::uint32_t id);
  Connection& current();  // opened last, of those that are open

  // Packets.
  Seen send(Connection& connection, const Draft& draft, std::optional<std::uint32_t> to_qpn);
  Seen expect(Connection& connection, const std::vector<Expectation>& any_of, std::int64_t within_ns);
  std::vector<Seen> expect_any_order(Connection& connection, std::vector<Expectation> all, std::int64_t within_ns);
  // Takes the next packet if it is as expected; leaves it and returns no frame when it is not, or none comes.
  Seen maybe(Connection& connection, const Expectation& expectation, std::int64_t within_ns);
  void allow(Connection& connection, Expectation expectation);
  void allow_retransmissions(Connection& connection) { connection.allow_retransmissions = true; }
  void quiet(Connection& connection, std::int64_t within_ns);
  void wait(std::int64_t ns);

  // The device.
  std::vector<std::uint64_t> post(Connection& connection, WorkRequest request, std::uint32_t count,
                                  const std::optional<std::string>& data);
  std::vector<std::uint64_t> post_receive(Connection& connection, std::uint32_t count, std::uint32_t length);
  std::vector<Completion> expect_completion(Connection& connection, const CompletionWanted& wanted);
  // Stops where the device cannot be told anything.
  void need_orders();
  void expect_no_completion(Connection& connection, std::int64_t within_ns);
  std::string read_memory(Connection& connection, Region region, std::uint32_t offset, std::uint32_t length);
  void write_memory(Connection& connection, Region region, std::uint32_t offset, std::string_view bytes);
  void expect_state(Connection& connection, QpState state, std::int64_t within_ns);

  // ---- management datagrams: what MadTester needs

  // Stops where wire or device know no MADs.
  MadTester& mads();
  bool uses_mads() const { return mads_ != nullptr; }
  // Sends a frame as it is, and keeps it. Its number in the record.
  std::uint64_t transmit(std::vector<std::uint8_t> frame, const Connection* connection, bool is_mad);
  // The next MAD that arrives, by its number; 0: none until then.
  std::uint64_t next_mad(std::int64_t deadline_ns);
  void set_step(std::uint64_t frame, const std::string& step) { mark(frame - 1, step); }
  std::int64_t patience(std::int64_t within_ns) const {
    return static_cast<std::int64_t>(static_cast<double>(within_ns) * options_.timeout_factor);
  }
  std::uint64_t random() { return random_(); }
  const TesterOptions& options() const { return options_; }

  // ---- datagrams between programs: what CdiTester needs

  // Stops where the device does not speak the CDI probe, or the wire has no ports.
  CdiTester& cdi();
  bool uses_cdi() const { return cdi_ != nullptr; }
  // The next UDP datagram that arrives, by its number; 0: none until then.
  std::uint64_t next_datagram(std::int64_t deadline_ns);
  // Frames of this port are CDI, even if damaged.
  void read_as_cdi(std::uint16_t port);

  // Violations of the specification by the device on these connections, and in MADs from `first_frame` on, as
  // sentences. `allowed`: ids of rules.
  std::vector<std::string> judge(const std::vector<std::uint32_t>& connections, const std::vector<std::string>& allowed,
                                 std::uint64_t first_frame) const;

  std::int64_t now_ns() { return wire_.now_ns() - start_ns_; }
  Wire& wire() { return wire_; }
  Dut& dut() { return dut_; }
  const std::vector<KeptFrame>& frames() const { return frames_; }
  std::vector<KeptFrame> take_frames() { return std::move(frames_); }
  std::vector<KeptCompletion> take_kept_completions() { return std::move(kept_completions_); }
  std::int64_t frame_time_ns(std::uint64_t frame) const { return frames_[frame - 1].time_ns - start_ns_; }
  // Fills `packet` with frame number `frame`; valid as long as the tester.
  void walk(std::uint64_t frame, dissect::Packet& packet) const;

  std::vector<Event>& events() { return events_; }
  void tell(Event::Kind kind, std::string text, const Connection* connection = nullptr, std::uint64_t frame = 0);

  // Ends the test.
  [[noreturn]] void fail(std::string message, std::vector<std::string> details = {});
  [[noreturn]] void stop(Verdict verdict, std::string message);

 private:
  bool pump(std::int64_t deadline_ns);  // takes one frame off the wire
  std::optional<std::size_t> next(Connection& connection, std::int64_t deadline_ns);
  bool is_allowed(Connection& connection, const dissect::Packet& packet, std::size_t frame);
  void mark(std::size_t frame, const std::string& step);
  void take_completions(Connection& connection, std::int64_t wait_ns);
  std::uint32_t take_local(Connection& connection, std::uint32_t length);
  void check_completion(Connection& connection, const Completion& completion, const CompletionWanted& wanted);
  std::string describe(const Connection& connection, const Completion& completion) const;
  // Waiting is done in slices, so that an interrupt is heard.
  std::int64_t slice(std::int64_t deadline_ns);
  void must(const Result<void>& result);
  template <class T>
  T must(Result<T> result) {
    if (!result) stop(Verdict::error, result.error());
    return std::move(*result);
  }
  std::string place() const;  // "c09.lua:9"

  Wire& wire_;
  Dut& dut_;
  TesterOptions options_;
  std::mt19937_64 random_;
  std::int64_t start_ns_;
  std::string script_;
  int line_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<KeptFrame> frames_;
  std::vector<KeptCompletion> kept_completions_;
  std::size_t kept_bytes_ = 0;
  std::vector<Event> events_;
  std::uint64_t next_work_id_ = 1;
  std::unique_ptr<MadTester> mads_;
  std::deque<std::size_t> arrived_mads_;  // frames nobody has looked at, index
  std::unique_ptr<CdiTester> cdi_;
  std::deque<std::size_t> arrived_datagrams_;
  std::vector<std::uint16_t> cdi_ports_;
};

}  // namespace rdmascope::replay
