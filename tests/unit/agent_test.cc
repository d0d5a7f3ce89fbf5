// The agent and its client over TCP on this machine, with a device that is only pretended.
#include "replay/agent.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "replay/agent_dut.h"
#include "replay/agent_protocol.h"
#include "replay/udp_wire.h"

namespace rdmascope::replay {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t patience_ns = 60 * second_ns;  // busy machines, sanitizers
const std::string token = "0123456789abcdef-token";

// What the pretended devices of a test have done.
struct Seen {
  std::atomic<int> duts = 0, channels = 0;
  std::vector<WorkRequest> posted;
  ChannelOptions options;
};

// Completes what is posted at once, except READs, which need a tester.
class FakeDut final : public Dut {
 public:
  explicit FakeDut(Seen& seen) : seen_(seen) { ++seen_.duts; }
  ~FakeDut() override { --seen_.duts; }

  const DutInfo& info() const override { return info_; }
  Result<Channel> open(const ChannelOptions& options) override {
    if (options.pmtu != 256) return Error{"no such path MTU"};
    seen_.options = options;
    ++seen_.channels;
    Channel channel{.id = ++last_, .qpn = 0x11, .remote_va = 0xfedcba9876543210, .remote_r_key = 0xffffffff};
    memory_[last_].resize(options.remote_bytes);
    return channel;
  }
  Result<void> post_send(const Channel&, const WorkRequest& request) override {
    seen_.posted.push_back(request);
    if (request.work != Work::read) done_.push_back({.id = request.id});
    return {};
  }
  Result<void> post_receive(const Channel&, const ReceiveRequest& request) override {
    done_.push_back({.id = request.id, .is_receive = true, .bytes = request.length, .immediate = 0xcafe0000});
    return {};
  }
  Result<std::vector<Completion>> poll(const Channel&, std::int64_t wait_ns) override {
    if (done_.empty()) std::this_thread::sleep_for(std::chrono::nanoseconds(wait_ns));
    return std::exchange(done_, {});
  }
  Result<std::vector<std::uint8_t>> read_memory(const Channel& channel, Region, std::uint32_t offset,
                                                std::uint32_t length) override {
    const std::vector<std::uint8_t>& all = memory_.at(channel.id);
    if (offset + length > all.size()) return Error{"outside the region"};
    return std::vector<std::uint8_t>(all.begin() + offset, all.begin() + offset + length);
  }
  Result<void> write_memory(const Channel& channel, Region, std::uint32_t offset,
                            std::span<const std::uint8_t> bytes) override {
    std::copy(bytes.begin(), bytes.end(), memory_.at(channel.id).begin() + offset);
    return {};
  }
  Result<QpState> state(const Channel&) override { return failed_ ? QpState::error : QpState::ready; }
  Result<void> to_error(const Channel&) override {
    failed_ = true;
    return {};
  }
  Result<void> close(const Channel&) override {
    --seen_.channels;
    return {};
  }

 private:
  Seen& seen_;
  DutInfo info_{.name = "fake", .mac = MacAddress{2, 0, 0, 0, 0, 1}, .max_pmtu = 1024, .flush = true};
  std::map<std::uint32_t, std::vector<std::uint8_t>> memory_;
  std::vector<Completion> done_;
  std::uint32_t last_ = 0;
  bool failed_ = false;
};

// A bare connection that says what it likes.
class Raw {
 public:
  explicit Raw(const Endpoint& agent) : socket_(std::move(*connect_tcp(agent, patience_ns))) {}

  // False: the other end does not take it.
  bool send(std::string_view text) {
    while (!text.empty()) {
      pollfd waiting{socket_.number(), POLLOUT, 0};
      if (poll(&waiting, 1, 60000) != 1) return false;
      const ssize_t sent = ::send(socket_.number(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // The next line; "(closed)" at the end, "(nothing)" if none comes.
  std::string line() {
    std::string out;
    for (;;) {
      pollfd waiting{socket_.number(), POLLIN, 0};
      if (poll(&waiting, 1, 60000) != 1) return "(nothing)";
      char c = 0;
      if (recv(socket_.number(), &c, 1, 0) <= 0) return "(closed)";
      if (c == '\n') return out;
      out += c;
    }
  }
  std::string ask(std::string_view text) { return send(std::string(text) + "\n") ? line() : "(not taken)"; }

 private:
  Descriptor socket_;
};

class AgentTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(stop_.data()), 0);
    start({.hello_ns = patience_ns});
  }
  void TearDown() override {
    stop();
    close(stop_[0]);
    close(stop_[1]);
    EXPECT_EQ(seen_.channels, 0);
    EXPECT_EQ(seen_.duts, 0);
  }
  void start(AgentOptions options) {
    options.listen = {"127.0.0.1", 0};
    options.token = token;
    Result<Agent> agent =
        Agent::listen(options, [this](const std::optional<IpAddress>&) -> Result<std::unique_ptr<Dut>> {
          return std::unique_ptr<Dut>(std::make_unique<FakeDut>(seen_));
        });
    ASSERT_TRUE(agent) << agent.error();
    endpoint_ = agent->endpoint();
    thread_ = std::thread([this, agent = std::make_shared<Agent>(std::move(*agent))] { agent->run(stop_[0]); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    ASSERT_EQ(write(stop_[1], "", 1), 1);
    thread_.join();
    char taken = 0;
    ASSERT_EQ(read(stop_[0], &taken, 1), 1);
  }
  Result<std::unique_ptr<AgentDut>> connect(const std::string& with = token) {
    return AgentDut::connect({.agent = endpoint_, .token = with, .timeout_ns = patience_ns});
  }
  static std::string hello() {
    return to_line(agent::Request{.action = agent::Do::hello, .hello = agent::Hello{.token = token}});
  }
  // Whether all channels and devices are freed, at last.
  bool all_freed() {
    for (int i = 0; i < 6000; ++i) {
      if (seen_.channels == 0 && seen_.duts == 0) return true;
      poll(nullptr, 0, 10);
    }
    return false;
  }

  Seen seen_;
  Endpoint endpoint_;
  std::array<int, 2> stop_{-1, -1};
  std::thread thread_;
};

TEST_F(AgentTest, CarriesTheWholeInterface) {
  const auto dut = connect();
  ASSERT_TRUE(dut) << dut.error();
  EXPECT_EQ((*dut)->info().name, "fake at " + text(endpoint_));
  EXPECT_EQ((*dut)->info().mac, (MacAddress{2, 0, 0, 0, 0, 1}));
  EXPECT_EQ((*dut)->info().max_pmtu, 1024u);
  EXPECT_TRUE((*dut)->info().flush);

  const IpAddress tester = *parse_address("fd77::2");
  const auto channel =
      (*dut)->open({.service = Service::uc, .tester_address = tester, .dut_psn = 0xfffffe, .remote_bytes = 600'000});
  ASSERT_TRUE(channel) << channel.error();
  EXPECT_EQ(channel->remote_va, 0xfedcba9876543210);
  EXPECT_EQ(channel->remote_r_key, 0xffffffffu);
  EXPECT_EQ(seen_.options.service, Service::uc);
  EXPECT_EQ(seen_.options.tester_address, tester);
  EXPECT_EQ(seen_.options.dut_psn, 0xfffffeu);

  ASSERT_TRUE(
      (*dut)->post_send(*channel, {.id = ~0ull, .work = Work::compare_swap, .compare = 1ull << 63, .fence = true}));
  EXPECT_EQ(seen_.posted.at(0).work, Work::compare_swap);
  EXPECT_EQ(seen_.posted.at(0).compare, 1ull << 63);
  EXPECT_TRUE(seen_.posted.at(0).fence);
  ASSERT_TRUE((*dut)->post_receive(*channel, {.id = 7, .length = 12}));
  const auto completions = (*dut)->poll(*channel, 0);
  ASSERT_TRUE(completions) << completions.error();
  ASSERT_EQ(completions->size(), 2u);
  EXPECT_EQ(completions->at(0).id, ~0ull);
  EXPECT_FALSE(completions->at(0).immediate);
  EXPECT_TRUE(completions->at(1).is_receive);
  EXPECT_EQ(completions->at(1).bytes, 12u);
  EXPECT_EQ(completions->at(1).immediate, 0xcafe0000u);

  // More than a message holds.
  std::vector<std::uint8_t> bytes(600'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
  ASSERT_TRUE((*dut)->write_memory(*channel, Region::remote, 0, bytes));
  const auto back = (*dut)->read_memory(*channel, Region::remote, 0, 600'000);
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(*back, bytes);

  EXPECT_EQ(*(*dut)->state(*channel), QpState::ready);
  ASSERT_TRUE((*dut)->to_error(*channel));
  EXPECT_EQ(*(*dut)->state(*channel), QpState::error);
  ASSERT_TRUE((*dut)->close(*channel));
  EXPECT_EQ(seen_.channels, 0);
}

TEST_F(AgentTest, PollWaitsAsLongAsAsked) {
  const auto dut = connect();
  const auto channel = (*dut)->open({});
  ASSERT_TRUE(channel);
  const std::int64_t before_ns = monotonic_ns();
  const auto completions = (*dut)->poll(*channel, second_ns / 5);
  ASSERT_TRUE(completions) << completions.error();
  EXPECT_TRUE(completions->empty());
  EXPECT_GE(monotonic_ns() - before_ns, second_ns / 5);
}

TEST_F(AgentTest, RefusesAWrongToken) {
  const auto dut = connect("0123456789abcdef-tokeN");
  ASSERT_FALSE(dut);
  EXPECT_EQ(dut.error(), "agent at " + text(endpoint_) + ": hello: wrong token");
  EXPECT_FALSE(connect(""));
  EXPECT_TRUE(connect());
}

TEST_F(AgentTest, ShowsNothingBeforeTheToken) {
  for (const char* first : {R"({"do":"info"})", "garbage", R"({"do":"hello"})", "{}", "[]"}) {
    Raw raw(endpoint_);
    EXPECT_EQ(raw.ask(first), R"({"error":"the first line must be a hello with the token"})");
    EXPECT_EQ(raw.line(), "(closed)");
  }
  EXPECT_EQ(seen_.duts, 0);
}

TEST_F(AgentTest, ToldAnotherProtocolSaysWhich) {
  Raw raw(endpoint_);
  EXPECT_EQ(raw.ask(R"({"do":"hello","hello":{"protocol":9,"token":")" + token + R"("}})"),
            R"({"error":"hello: this agent speaks protocol 1, not 9"})");
}

TEST_F(AgentTest, GarbageGetsAnErrorAndTheNextLineAnAnswer) {
  Raw raw(endpoint_);
  raw.send(hello());
  EXPECT_EQ(raw.line().substr(0, 9), R"({"info":{)");
  const std::pair<std::string, std::string> cases[] = {
      {"garbage", "the line is not JSON"},
      {"", "the line is not JSON"},
      {std::string("\0\xff\xfe", 3), "the line is not JSON"},
      {"[1]", "want an object"},
      {std::string(500'000, '['), "the line is nested deeper than any message"},
      {std::string(100, '[') + std::string(100, ']'), "the line is nested deeper than any message"},
      {"{}", "the member do is missing"},
      {R"({"do":"explode"})",
       "do: want one of hello, info, open, post_send, post_receive, poll, read_memory, write_memory, state, to_error, "
       "close"},
      {R"({"do":"open"})", "open: the member options is missing"},
      {R"({"do":"open","options":{"pmtu":-1}})", "options: pmtu: want a number from 0 to 4294967295"},
      {R"({"do":"open","options":{"retry_count":256}})", "options: retry_count: want a number from 0 to 255"},
      {R"({"do":"open","options":{"pmtu":1.5}})", "options: pmtu: want a number from 0 to 4294967295"},
      {R"({"do":"open","options":{"pmtu":512}})", "open: no such path MTU"},
      {R"({"do":"open","options":{"remote_bytes":4000000000}})",
       "open: local_bytes, remote_bytes: want at most 16777216"},
      {R"({"do":"open","options":{"tester_address":"x"}})",
       "options: tester_address: want an IPv4 or IPv6 address in a string"},
      {R"({"do":"state"})", "state: the member channel is missing"},
      {R"({"do":"state","channel":9})", "state: no channel 9 is open"},
      {R"({"do":"hello"})", "hello: you are welcome already"},
  };
  for (const auto& [line, error] : cases)
    EXPECT_EQ(raw.ask(line), R"({"error":")" + error + R"("})") << line.substr(0, 80);
  EXPECT_EQ(raw.ask(R"({"do":"info","chanel":1})").substr(0, 52),
            R"({"error":"no member is called chanel; there are do, )");

  EXPECT_EQ(raw.ask(R"({"do":"open","options":{}})").substr(0, 11), R"({"channel":)");
  EXPECT_EQ(raw.ask(R"({"do":"write_memory","channel":1,"region":"local","offset":0,"bytes":"abc"})"),
            R"({"error":"bytes: want an even number of hex digits in a string"})");
  EXPECT_EQ(raw.ask(R"({"do":"read_memory","channel":1,"region":"local","offset":0,"length":300000})"),
            R"({"error":"read_memory: length: want at most 262144"})");
  EXPECT_EQ(raw.ask(R"({"do":"poll","channel":1,"wait_ns":60000000001})"),
            R"({"error":"poll: wait_ns: want at most 60000000000"})");
  EXPECT_EQ(raw.ask(R"({"do":"poll","channel":1})"), R"({"completions":[]})");
  EXPECT_EQ(raw.ask(R"({"do":"close","channel":1})"), "{}");
}

TEST_F(AgentTest, OpensALimitedNumberOfChannels) {
  const auto dut = connect();
  for (std::size_t i = 0; i < agent::most_channels; ++i) ASSERT_TRUE((*dut)->open({}));
  const auto one_more = (*dut)->open({});
  ASSERT_FALSE(one_more);
  EXPECT_NE(one_more.error().find("64 channels are open"), std::string::npos) << one_more.error();
}

TEST_F(AgentTest, TakesALineInPieces) {
  Raw raw(endpoint_);
  const std::string line = hello();
  raw.send(line.substr(0, 20));
  poll(nullptr, 0, 50);
  raw.send(line.substr(20) + R"({"do":)");
  EXPECT_EQ(raw.line().substr(0, 9), R"({"info":{)");
  EXPECT_EQ(raw.ask(R"("open","options":{}})").substr(0, 11), R"({"channel":)");
}

TEST_F(AgentTest, RefusesALineWithoutEnd) {
  {
    Raw raw(endpoint_);
    raw.send(std::string(10'000'000, 'x'));
    EXPECT_EQ(raw.line(), R"({"error":"the line is longer than 1048576 bytes"})");
    EXPECT_EQ(raw.line(), "(closed)");
  }
  {
    Raw raw(endpoint_);
    raw.send(hello());
    raw.line();
    EXPECT_EQ(raw.ask(R"({"do":"open","options":{}})").substr(0, 11), R"({"channel":)");
    raw.send(std::string(10'000'000, 'x'));
    EXPECT_EQ(raw.line(), R"({"error":"the line is longer than 1048576 bytes"})");
  }
  EXPECT_TRUE(all_freed());
  EXPECT_TRUE(connect());
}

TEST_F(AgentTest, ATesterThatDropsFreesItsChannels) {
  {
    const auto dut = connect();
    ASSERT_TRUE((*dut)->open({}));
    ASSERT_TRUE((*dut)->open({}));
    EXPECT_EQ(seen_.channels, 2);
  }
  EXPECT_TRUE(all_freed());
  // In the middle of a line, and in the middle of a poll.
  for (const char* last : {R"({"do":"sta)", "{\"do\":\"poll\",\"channel\":1,\"wait_ns\":60000000000}\n"}) {
    {
      Raw raw(endpoint_);
      raw.send(hello());
      raw.line();
      raw.ask(R"({"do":"open","options":{}})");
      EXPECT_EQ(seen_.channels, 1);
      raw.send(last);
      poll(nullptr, 0, 50);
    }
    EXPECT_TRUE(all_freed()) << last;
  }
}

TEST_F(AgentTest, ServesOneTesterAtATime) {
  {
    const auto first = connect();
    ASSERT_TRUE(first);
    const auto channel = (*first)->open({});
    const auto second = connect();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error(), "agent at " + text(endpoint_) + ": busy: another tester is connected");
    Raw third(endpoint_);
    EXPECT_EQ(third.line(), R"({"error":"busy: another tester is connected"})");
    EXPECT_EQ(third.line(), "(closed)");
    EXPECT_TRUE((*first)->state(*channel));

    // Also while the first one's poll waits.
    std::thread waiting([&] { EXPECT_TRUE((*first)->poll(*channel, second_ns / 2)); });
    EXPECT_FALSE(connect());
    waiting.join();
  }
  EXPECT_TRUE(all_freed());
  EXPECT_TRUE(connect());
}

TEST_F(AgentTest, ASilentConnectionDoesNotBlockForEver) {
  stop();
  start({.hello_ns = 2 * second_ns});
  Raw silent(endpoint_);
  EXPECT_EQ(silent.line(), R"({"error":"no hello came in time"})");
  EXPECT_TRUE(connect());
}

TEST_F(AgentTest, StopsWhileATesterIsThere) {
  const auto dut = connect();
  const auto channel = (*dut)->open({});
  stop();
  EXPECT_EQ(seen_.channels, 0);
  const auto gone = (*dut)->state(*channel);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error(), "the agent at " + text(endpoint_) + " has closed the connection (state)");
  EXPECT_EQ((*dut)->state(*channel).error(), "the agent at " + text(endpoint_) + " is gone");
  const auto nobody = connect();
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error(),
            "cannot reach the agent at " + text(endpoint_) + ": Connection refused; is `rdmascope dut` running there?");
}

TEST(AgentDut, ReportsAnAgentThatDoesNotAnswer) {
  const auto mute = listen_tcp({"127.0.0.1", 0});
  ASSERT_TRUE(mute) << mute.error();
  const auto dut = AgentDut::connect({.agent = endpoint_of(*mute), .token = token, .timeout_ns = second_ns / 5});
  ASSERT_FALSE(dut);
  EXPECT_EQ(dut.error(), "the agent at " + text(endpoint_of(*mute)) + " does not answer (hello)");
}

TEST(Endpoint, ReadsAddressAndPort) {
  const auto read = [](std::string_view given) {
    const auto endpoint = parse_endpoint(given, 7471, "--listen");
    return endpoint ? endpoint->host + " " + std::to_string(endpoint->port) : endpoint.error().substr(0, 12);
  };
  EXPECT_EQ(read("10.77.0.1:99"), "10.77.0.1 99");
  EXPECT_EQ(read("10.77.0.1"), "10.77.0.1 7471");
  EXPECT_EQ(read("lab3:0"), "lab3 0");
  EXPECT_EQ(read("[fd77::1]:99"), "fd77::1 99");
  EXPECT_EQ(read("[fd77::1]"), "fd77::1 7471");
  for (const char* wrong : {"", ":", ":99", "a:", "a:x", "a:70000", "a:1:2", "fd77::1", "[fd77::1", "[]:1", "a:-1"})
    EXPECT_EQ(read(wrong).substr(0, 8), "--listen") << wrong;
}

TEST(Token, IsRefusedWhenEverybodyMayReadIt) {
  char path[] = "/tmp/rdmascope-token-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  close(file);
  const auto with = [&path](const std::string& content, mode_t mode) {
    std::ofstream(path) << content;
    chmod(path, mode);
    const auto read = agent::read_token(path);
    return read ? *read : read.error();
  };
  EXPECT_EQ(with("0123456789abcdef\nmore\n", 0600), "0123456789abcdef");
  EXPECT_EQ(with("0123456789abcdef", 0640), "0123456789abcdef");
  EXPECT_NE(with("0123456789abcdef", 0644).find("everybody may read"), std::string::npos);
  EXPECT_NE(with("short\n", 0600).find("5 characters long, want 16 to 1024"), std::string::npos);
  EXPECT_NE(with(std::string(2000, 'x'), 0600).find("want 16 to 1024"), std::string::npos);
  unlink(path);
  EXPECT_NE(with("", 0600), "");
  unlink(path);
  const auto missing = agent::read_token(path);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().find("make one with"), std::string::npos);
}

TEST(Token, IsComparedAsAWhole) {
  EXPECT_TRUE(agent::same_token(token, token));
  EXPECT_FALSE(agent::same_token(token, ""));
  EXPECT_FALSE(agent::same_token(token, token + token));
  EXPECT_FALSE(agent::same_token(token, token.substr(1)));
}

}  // namespace
}  // namespace rdmascope::replay
