#include "replay/agent_dut.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace rdmascope::replay {
namespace {

using agent::Do;
using agent::Reply;
using agent::Request;

// False: not before `until_ns`.
bool wait_for(const Descriptor& socket, short event, std::int64_t until_ns) {
  for (;;) {
    const std::int64_t left_ms = (until_ns - monotonic_ns()) / 1'000'000 + 1;
    if (left_ms <= 0) return false;
    pollfd waiting{socket.number(), event, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left_ms, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// The member that a reply must have.
template <class T>
Result<T> member(Result<Reply> reply, std::optional<T> Reply::*place, std::string_view what) {
  if (!reply) return Error{reply.error()};
  if (!((*reply).*place)) return Error{fmt::format("the agent's answer has no {}", what)};
  return std::move(*((*reply).*place));
}

}  // namespace

AgentDut::AgentDut(const AgentDutOptions& options, Descriptor socket)
    : name_(text(options.agent)), timeout_ns_(options.timeout_ns), socket_(std::move(socket)) {}

Result<std::unique_ptr<AgentDut>> AgentDut::connect(const AgentDutOptions& options) {
  Result<Descriptor> socket = connect_tcp(options.agent, options.timeout_ns);
  if (!socket)
    return Error{fmt::format("cannot reach the agent at {}: {}; is `rdmascope dut` running there?", text(options.agent),
                             socket.error())};
  std::unique_ptr<AgentDut> dut(new AgentDut(options, std::move(*socket)));
  Result<DutInfo> info =
      member(dut->ask({.action = Do::hello,
                       .hello = agent::Hello{.token = options.token, .tester_address = options.tester_address}}),
             &Reply::info, "info");
  if (!info) return Error{info.error()};
  dut->info_ = std::move(*info);
  dut->info_.name += " at " + dut->name_;
  return dut;
}

Result<std::string> AgentDut::read_line(std::int64_t until_ns) {
  for (;;) {
    if (const std::size_t end = input_.find('\n'); end != std::string::npos) {
      std::string line = input_.substr(0, end);
      input_.erase(0, end + 1);
      return line;
    }
    if (input_.size() > agent::longest_line) return Error{"sent a line without end"};
    if (!wait_for(socket_, POLLIN, until_ns)) return Error{"does not answer"};
    std::array<char, 65536> buffer;
    const ssize_t got = recv(socket_.number(), buffer.data(), buffer.size(), 0);
    if (got > 0)
      input_.append(buffer.data(), static_cast<std::size_t>(got));
    else if (got == 0)
      return Error{"has closed the connection"};
    else if (errno != EAGAIN && errno != EINTR)
      return Error{fmt::format("is gone: {}", std::strerror(errno))};
  }
}

Result<Reply> AgentDut::ask(const Request& request, std::int64_t wait_ns) {
  if (!socket_) return Error{fmt::format("the agent at {} is gone", name_)};
  const std::int64_t until_ns = monotonic_ns() + wait_ns + timeout_ns_;
  const std::string out = agent::to_line(request);
  std::size_t sent = 0;
  while (sent < out.size()) {
    if (!wait_for(socket_, POLLOUT, until_ns)) break;
    const ssize_t n = send(socket_.number(), out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) break;  // why, the agent may have said before it closed
    sent += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
  }
  const Result<std::string> line = read_line(until_ns);
  Result<Reply> reply = line ? agent::read_reply(*line) : Error{line.error()};
  if (!reply) {
    // An answer that comes too late must not be taken for the next one.
    socket_ = Descriptor();
    return Error{line ? fmt::format("the agent at {} gave an answer that is none: {}", name_, reply.error())
                      : fmt::format("the agent at {} {} ({})", name_, line.error(), name(*request.action))};
  }
  if (reply->error) return Error{fmt::format("agent at {}: {}", name_, *reply->error)};
  return reply;
}

Result<void> AgentDut::tell(const Request& request) {
  const Result<Reply> reply = ask(request);
  if (!reply) return Error{reply.error()};
  return {};
}

Result<Channel> AgentDut::open(const ChannelOptions& options) {
  return member(ask({.action = Do::open, .options = options}), &Reply::channel, "channel");
}

Result<void> AgentDut::post_send(const Channel& channel, const WorkRequest& request) {
  return tell({.action = Do::post_send, .channel = channel.id, .work = request});
}

Result<void> AgentDut::post_receive(const Channel& channel, const ReceiveRequest& request) {
  return tell({.action = Do::post_receive, .channel = channel.id, .receive = request});
}

Result<std::vector<Completion>> AgentDut::poll(const Channel& channel, std::int64_t wait_ns) {
  const std::int64_t wait = std::clamp<std::int64_t>(wait_ns, 0, agent::longest_wait_ns);
  return member(ask({.action = Do::poll, .channel = channel.id, .wait_ns = static_cast<std::uint64_t>(wait)}, wait),
                &Reply::completions, "completions");
}

Result<std::vector<std::uint8_t>> AgentDut::read_memory(const Channel& channel, Region region, std::uint32_t offset,
                                                        std::uint32_t length) {
  std::vector<std::uint8_t> all;
  for (std::uint32_t done = 0; done < length;) {
    const std::uint32_t part = std::min(length - done, agent::most_memory);
    const Result<std::vector<std::uint8_t>> bytes = member(ask({.action = Do::read_memory,
                                                                .channel = channel.id,
                                                                .region = region,
                                                                .offset = offset + done,
                                                                .length = part}),
                                                           &Reply::bytes, "bytes");
    if (!bytes) return Error{bytes.error()};
    all.insert(all.end(), bytes->begin(), bytes->end());
    done += part;
  }
  return all;
}

Result<void> AgentDut::write_memory(const Channel& channel, Region region, std::uint32_t offset,
                                    std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::span<const std::uint8_t> part = bytes.first(std::min<std::size_t>(bytes.size(), agent::most_memory));
    const Result<void> written = tell({.action = Do::write_memory,
                                       .channel = channel.id,
                                       .region = region,
                                       .offset = offset,
                                       .bytes = std::vector<std::uint8_t>(part.begin(), part.end())});
    if (!written) return written;
    offset += static_cast<std::uint32_t>(part.size());
    bytes = bytes.subspan(part.size());
  }
  return {};
}

Result<QpState> AgentDut::state(const Channel& channel) {
  return member(ask({.action = Do::state, .channel = channel.id}), &Reply::state, "state");
}

Result<void> AgentDut::to_error(const Channel& channel) {
  return tell({.action = Do::to_error, .channel = channel.id});
}

Result<void> AgentDut::close(const Channel& channel) { return tell({.action = Do::close, .channel = channel.id}); }

}  // namespace rdmascope::replay
