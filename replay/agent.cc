#include "replay/agent.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <utility>

#include "replay/agent_protocol.h"

namespace rdmascope::replay {
namespace {

using agent::Do;
using agent::Reply;
using agent::Request;

// How long a waiting poll keeps the agent from looking at its sockets.
constexpr std::int64_t slice_ns = 2'000'000;

Reply failure(std::string sentence) { return {.error = std::move(sentence)}; }

template <class T>
Reply reply_to(const Result<T>& result) {
  return result ? Reply{} : failure(result.error());
}

// One tester, from its first byte to its last.
class Session {
 public:
  Session(Descriptor socket, const AgentOptions& options, const MakeDut& make_dut)
      : socket_(std::move(socket)),
        options_(options),
        make_dut_(make_dut),
        hello_until_ns_(monotonic_ns() + options.hello_ns) {}
  Session(const Session&) = delete;
  ~Session() {
    for (const auto& [id, channel] : channels_) (void)dut_->close(channel);
  }

  int socket() const { return socket_.number(); }
  bool is_welcome() const { return dut_ != nullptr; }
  std::size_t channels() const { return channels_.size(); }
  Descriptor take_socket() { return std::move(socket_); }

  short events() const {
    return static_cast<short>((input_.size() <= agent::longest_line ? POLLIN : 0) | (output_.empty() ? 0 : POLLOUT));
  }
  // -1: until something happens.
  int timeout_ms() const {
    if (waiting_) return 0;
    if (is_welcome()) return -1;
    return static_cast<int>(std::clamp<std::int64_t>((hello_until_ns_ - monotonic_ns()) / 1'000'000 + 1, 0, 60'000));
  }

  // False: the session is over.
  bool step(short ready) {
    if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0 && !read()) return false;
    if (!write()) return false;
    // The next request is read when the tester has taken the reply: nothing piles up here.
    while (output_.empty() && !last_) {
      if (waiting_) {
        if (!poll_again()) break;
      } else if (const std::size_t end = input_.find('\n', seen_); end != std::string::npos) {
        const std::string line = input_.substr(0, end);
        input_.erase(0, end + 1);
        seen_ = 0;
        answer(line);
      } else {
        seen_ = input_.size();
        if (input_.size() > agent::longest_line)
          refuse(fmt::format("the line is longer than {} bytes", agent::longest_line));
        else if (!is_welcome() && monotonic_ns() >= hello_until_ns_)
          refuse("no hello came in time");
        else
          break;
      }
      if (!write()) return false;
    }
    return !last_ || !output_.empty();
  }

 private:
  struct Waiting {
    Channel channel;
    std::int64_t until_ns;
  };

  bool read() {
    std::array<char, 65536> buffer;
    while (input_.size() <= agent::longest_line) {
      const ssize_t got = recv(socket(), buffer.data(), buffer.size(), 0);
      if (got > 0)
        input_.append(buffer.data(), static_cast<std::size_t>(got));
      else
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    return true;
  }

  bool write() {
    while (!output_.empty()) {
      const ssize_t sent = send(socket(), output_.data(), output_.size(), MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN || errno == EINTR;
      output_.erase(0, static_cast<std::size_t>(sent));
    }
    return true;
  }

  void say(const Reply& reply) { output_ += agent::to_line(reply); }
  void refuse(std::string sentence) {
    say(failure(std::move(sentence)));
    last_ = true;
  }

  void answer(std::string_view line) {
    const Result<Request> request = agent::read_request(line);
    if (!is_welcome()) {
      greet(request);
    } else if (!request) {
      say(failure(request.error()));
    } else if (!request->action) {
      say(failure("the member do is missing"));
    } else if (const std::optional<Reply> reply = run(*request)) {
      Reply named = *reply;
      if (named.error) named.error = fmt::format("{}: {}", name(*request->action), *named.error);
      say(named);
    }
  }

  // Whoever does not show the token learns nothing else.
  void greet(const Result<Request>& request) {
    if (!request || request->action != Do::hello || !request->hello)
      return refuse("the first line must be a hello with the token");
    if (!agent::same_token(options_.token, request->hello->token)) return refuse("hello: wrong token");
    if (request->hello->protocol != agent::protocol_version)
      return refuse(fmt::format("hello: this agent speaks protocol {}, not {}", agent::protocol_version,
                                request->hello->protocol));
    Result<std::unique_ptr<Dut>> dut = make_dut_(request->hello->tester_address);
    if (!dut) return refuse(fmt::format("hello: {}", dut.error()));
    dut_ = std::move(*dut);
    say({.info = dut_->info()});
  }

  // nullopt: a poll that waits.
  std::optional<Reply> run(const Request& request) {
    const auto missing = [](std::string_view member) {
      return failure(fmt::format("the member {} is missing", member));
    };
    switch (*request.action) {
      case Do::hello:
        return failure("you are welcome already");
      case Do::info:
        return Reply{.info = dut_->info()};
      case Do::open:
        return request.options ? open(*request.options) : missing("options");
      default:
        break;
    }
    if (!request.channel) return missing("channel");
    const auto found = channels_.find(*request.channel);
    if (found == channels_.end()) return failure(fmt::format("no channel {} is open", *request.channel));
    const Channel& channel = found->second;
    switch (*request.action) {
      case Do::post_send:
        return request.work ? reply_to(dut_->post_send(channel, *request.work)) : missing("work");
      case Do::post_receive:
        return request.receive ? reply_to(dut_->post_receive(channel, *request.receive)) : missing("receive");
      case Do::poll: {
        const std::uint64_t wait_ns = request.wait_ns.value_or(0);
        if (wait_ns > agent::longest_wait_ns)
          return failure(fmt::format("wait_ns: want at most {}", agent::longest_wait_ns));
        waiting_ = Waiting{channel, monotonic_ns() + static_cast<std::int64_t>(wait_ns)};
        return std::nullopt;
      }
      case Do::read_memory: {
        if (!request.region || !request.offset || !request.length) return missing("region, offset or length");
        if (*request.length > agent::most_memory)
          return failure(fmt::format("length: want at most {}", agent::most_memory));
        Result<std::vector<std::uint8_t>> bytes =
            dut_->read_memory(channel, *request.region, *request.offset, *request.length);
        return bytes ? Reply{.bytes = std::move(*bytes)} : failure(bytes.error());
      }
      case Do::write_memory:
        if (!request.region || !request.offset || !request.bytes) return missing("region, offset or bytes");
        return reply_to(dut_->write_memory(channel, *request.region, *request.offset, *request.bytes));
      case Do::state: {
        const Result<QpState> state = dut_->state(channel);
        return state ? Reply{.state = *state} : failure(state.error());
      }
      case Do::to_error:
        return reply_to(dut_->to_error(channel));
      case Do::close: {
        const Result<void> closed = dut_->close(channel);
        channels_.erase(found);
        return reply_to(closed);
      }
      default:
        return failure("not known");
    }
  }

  Reply open(const ChannelOptions& options) {
    if (channels_.size() >= agent::most_channels)
      return failure(fmt::format("{} channels are open, more are not possible", channels_.size()));
    if (options.local_bytes > agent::largest_region || options.remote_bytes > agent::largest_region)
      return failure(fmt::format("local_bytes, remote_bytes: want at most {}", agent::largest_region));
    const Result<Channel> channel = dut_->open(options);
    if (!channel) return failure(channel.error());
    channels_[channel->id] = *channel;
    return {.channel = *channel};
  }

  // False: nothing has completed yet.
  bool poll_again() {
    const std::int64_t left_ns = waiting_->until_ns - monotonic_ns();
    Result<std::vector<Completion>> completions =
        dut_->poll(waiting_->channel, std::clamp<std::int64_t>(left_ns, 0, slice_ns));
    if (completions && completions->empty() && left_ns > slice_ns) return false;
    waiting_.reset();
    say(completions ? Reply{.completions = std::move(*completions)}
                    : failure(fmt::format("poll: {}", completions.error())));
    return true;
  }

  Descriptor socket_;
  const AgentOptions& options_;
  const MakeDut& make_dut_;
  std::int64_t hello_until_ns_;
  std::string input_, output_;
  std::size_t seen_ = 0;  // bytes of input_ known to hold no line end
  bool last_ = false;     // nothing is said after what stands in output_
  std::optional<Waiting> waiting_;
  std::unique_ptr<Dut> dut_;
  std::map<std::uint32_t, Channel> channels_;
};

// Sockets that have been told the last line. Closing them while input waits would reset the connection, and the line
// could get lost: they are read empty until the other end closes or a second has passed.
class Farewells {
 public:
  void add(Descriptor socket) {
    if (!socket) return;
    shutdown(socket.number(), SHUT_WR);
    if (waiting_.size() >= most) waiting_.pop_front();
    waiting_.push_back({std::move(socket), monotonic_ns() + patience_ns});
  }

  // -1: nobody is left.
  int timeout_ms() const { return waiting_.empty() ? -1 : 20; }

  void step() {
    std::erase_if(waiting_, [](const Farewell& farewell) {
      std::array<char, 65536> nowhere;
      for (int i = 0; i < 64; ++i) {
        const ssize_t got = recv(farewell.socket.number(), nowhere.data(), nowhere.size(), 0);
        if (got > 0) continue;
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) return true;
        break;
      }
      return monotonic_ns() >= farewell.until_ns;
    });
  }

 private:
  struct Farewell {
    Descriptor socket;
    std::int64_t until_ns;
  };
  static constexpr std::size_t most = 16;
  static constexpr std::int64_t patience_ns = 1'000'000'000;
  std::deque<Farewell> waiting_;
};

// The shorter of two, where -1 is for ever.
int sooner(int a, int b) { return a < 0 ? b : b < 0 ? a : std::min(a, b); }

}  // namespace

Agent::Agent(AgentOptions options, MakeDut make_dut, Descriptor listener)
    : options_(std::move(options)), make_dut_(std::move(make_dut)), listener_(std::move(listener)) {}

Result<Agent> Agent::listen(AgentOptions options, MakeDut make_dut) {
  Result<Descriptor> listener = listen_tcp(options.listen);
  if (!listener) return Error{listener.error()};
  return Agent(std::move(options), std::move(make_dut), std::move(*listener));
}

void Agent::run(int stop) {
  const auto log = [this](std::string_view sentence) {
    if (options_.log) options_.log(sentence);
  };
  std::optional<Session> session;
  Farewells farewells;
  bool told_welcome = false;
  for (;;) {
    // A descriptor of -1 is skipped by poll().
    std::array<pollfd, 3> watched{{{stop, POLLIN, 0},
                                   {listener_.number(), POLLIN, 0},
                                   {session ? session->socket() : -1, session ? session->events() : short{0}, 0}}};
    const int timeout_ms = sooner(session ? session->timeout_ms() : -1, farewells.timeout_ms());
    if (::poll(watched.data(), watched.size(), timeout_ms) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) return;

    farewells.step();
    if (session) {
      const bool goes_on = session->step(watched[2].revents);
      if (session->is_welcome() && !std::exchange(told_welcome, true)) log("a tester has come");
      if (!goes_on) {
        if (told_welcome) log(fmt::format("the tester has gone, {} channels were open", session->channels()));
        farewells.add(session->take_socket());
        session.reset();
        told_welcome = false;
      }
    }
    if ((watched[1].revents & POLLIN) == 0) continue;
    Descriptor socket(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) continue;
    tune_tcp(socket);
    if (!session) {
      session.emplace(std::move(socket), options_, make_dut_);
      continue;
    }
    const std::string busy = agent::to_line(failure("busy: another tester is connected"));
    (void)send(socket.number(), busy.data(), busy.size(), MSG_NOSIGNAL);
    farewells.add(std::move(socket));
  }
}

}  // namespace rdmascope::replay
