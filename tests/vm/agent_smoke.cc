// The agent on a real device, with a tester that is nothing but a UDP socket: agent_smoke AGENT TOKEN_FILE
//
// Runs in the network namespace of the peer (10.77.0.2, fd77::2). Packets are put together by hand and the ICRC comes
// from zlib, so nothing here leans on the code that other tests lean on, except the client of the agent.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <zlib.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "replay/agent_dut.h"
#include "replay/agent_protocol.h"
#include "replay/build.h"
#include "replay/udp_wire.h"

namespace {

using namespace rdmascope;
using namespace rdmascope::replay;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint16_t roce_port = 4791;
constexpr std::uint32_t dut_psn = 0xfffffe, tester_psn = 0x123456, tester_qpn = 0x22;
constexpr std::int64_t second_ns = 1'000'000'000;

struct Failure {
  std::string why;
};
void expect(bool holds, const std::string& what) {
  if (!holds) throw Failure{what};
}
template <class T>
T must(Result<T> result) {
  if (!result) throw Failure{result.error()};
  return std::move(*result);
}
void must(const Result<void>& result) {
  if (!result) throw Failure{result.error()};
}

void put(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}
std::uint64_t get(const Bytes& in, std::size_t at, std::size_t bytes) {
  expect(at + bytes <= in.size(), "the packet is too short");
  std::uint64_t value = 0;
  for (std::size_t i = at; i < at + bytes; ++i) value = value << 8 | in[i];
  return value;
}

Bytes pattern(std::size_t length) {
  Bytes out(length);
  for (std::size_t i = 0; i < length; ++i) out[i] = static_cast<std::uint8_t>(i * 37 + (i >> 8));
  return out;
}

// The tester's end of the wire: BTH and what follows go in and out, the kernel writes IP and UDP.
class Socket {
 public:
  Socket(const IpAddress& own, const IpAddress& dut) : own_(own), dut_(dut), v4_(is_ipv4(own)) {
    socket_ = Descriptor(socket(v4_ ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    // Sets DF, and with it identification 0: the ICRC covers both.
    const int discover = v4_ ? IP_PMTUDISC_DO : IPV6_PMTUDISC_DO;
    setsockopt(socket_.number(), v4_ ? IPPROTO_IP : IPPROTO_IPV6, v4_ ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &discover,
               sizeof discover);
    // RoCEv2 devices leave the UDP checksum 0, which an IPv6 socket otherwise drops.
    const int yes = 1;
    if (!v4_) setsockopt(socket_.number(), IPPROTO_UDP, UDP_NO_CHECK6_RX, &yes, sizeof yes);
    const sockaddr_storage address = socket_address(own);
    expect(bind(socket_.number(), reinterpret_cast<const sockaddr*>(&address), size()) == 0, "cannot bind port 4791");
  }

  void send(Bytes packet) const {
    const std::uint32_t crc = icrc(packet);
    for (int i = 0; i < 4; ++i) packet.push_back(static_cast<std::uint8_t>(crc >> 8 * i));
    const sockaddr_storage address = socket_address(dut_);
    expect(sendto(socket_.number(), packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&address),
                  size()) == static_cast<ssize_t>(packet.size()),
           "cannot send");
  }

  // Without its ICRC; empty when none comes.
  Bytes receive(std::int64_t wait_ns) const {
    pollfd waiting{socket_.number(), POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(wait_ns / 1'000'000)) != 1) return {};
    Bytes packet(5000);
    const ssize_t got = recv(socket_.number(), packet.data(), packet.size(), 0);
    expect(got >= 16, "received less than a BTH and an ICRC");
    packet.resize(static_cast<std::size_t>(got) - 4);
    return packet;
  }

 private:
  socklen_t size() const { return v4_ ? sizeof(sockaddr_in) : sizeof(sockaddr_in6); }

  sockaddr_storage socket_address(const IpAddress& address) const {
    sockaddr_storage out{};
    if (v4_) {
      sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(roce_port), .sin_addr = {}, .sin_zero = {}};
      std::memcpy(&v4.sin_addr, address.data() + 12, 4);
      std::memcpy(&out, &v4, sizeof v4);
    } else {
      sockaddr_in6 v6{};
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(roce_port);
      std::memcpy(&v6.sin6_addr, address.data(), 16);
      std::memcpy(&out, &v6, sizeof v6);
    }
    return out;
  }

  // Over the headers as the kernel will write them. What may change on the way counts as ones: TOS or traffic class,
  // flow label, TTL or hop limit, checksums, and byte 4 of the BTH.
  std::uint32_t icrc(const Bytes& packet) const {
    Bytes covered(8, 0xff);
    const std::size_t udp_bytes = 8 + packet.size() + 4;
    if (v4_) {
      put(covered, 0x45ff, 2);
      put(covered, 20 + udp_bytes, 2);
      put(covered, 0x00004000, 4);
      put(covered, 0xff11ffff, 4);
      covered.insert(covered.end(), own_.begin() + 12, own_.end());
      covered.insert(covered.end(), dut_.begin() + 12, dut_.end());
    } else {
      put(covered, 0x6fffffff, 4);
      put(covered, udp_bytes, 2);
      put(covered, 0x11ff, 2);
      covered.insert(covered.end(), own_.begin(), own_.end());
      covered.insert(covered.end(), dut_.begin(), dut_.end());
    }
    put(covered, roce_port, 2);
    put(covered, roce_port, 2);
    put(covered, udp_bytes, 2);
    put(covered, 0xffff, 2);
    const std::size_t bth = covered.size();
    covered.insert(covered.end(), packet.begin(), packet.end());
    covered[bth + 4] = 0xff;
    return static_cast<std::uint32_t>(crc32(0, covered.data(), static_cast<uInt>(covered.size())));
  }

  IpAddress own_, dut_;
  bool v4_;
  Descriptor socket_;
};

Bytes bth(std::uint8_t opcode, std::uint32_t qpn, std::uint32_t psn, bool ask_ack = false) {
  Bytes out{opcode, 0, 0xff, 0xff};
  put(out, qpn, 4);
  put(out, (ask_ack ? 0x80000000 : 0) | (psn & 0xffffff), 4);
  return out;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Bytes part(const Bytes& all, std::size_t at, std::size_t length) {
  return {all.begin() + at, all.begin() + at + length};
}
Bytes aeth(std::uint32_t msn) {
  Bytes out;
  put(out, 0x1f000000 | msn, 4);
  return out;
}
Bytes reth(std::uint64_t va, std::uint32_t r_key, std::uint32_t length) {
  Bytes out;
  put(out, va, 8);
  put(out, r_key, 4);
  put(out, length, 4);
  return out;
}

ChannelOptions options_for(const IpAddress& tester) {
  return {.tester_address = tester, .tester_qpn = tester_qpn, .dut_psn = dut_psn, .tester_psn = tester_psn};
}

// Two READs are out; the one that is answered completes, the other stays until the queue pair fails.
void read_completes_with_its_last_response(Dut& dut, const Socket& wire, const IpAddress& tester) {
  const Bytes data = pattern(3 * 256);
  const Channel channel = must(dut.open(options_for(tester)));
  for (std::uint32_t i = 0; i < 2; ++i)
    must(dut.post_send(
        channel,
        {.id = 1 + i, .work = Work::read, .local_offset = i * 4096, .length = 768, .va = 0x999000, .r_key = 0x12345}));
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Bytes request = wire.receive(5 * second_ns);
    expect(!request.empty(), fmt::format("no READ request {}", i + 1));
    expect(request[0] == 0x0c, fmt::format("opcode {:#x} in place of a READ request", request[0]));
    expect(get(request, 5, 3) == tester_qpn, "wrong queue pair");
    expect(get(request, 9, 3) == ((dut_psn + 3 * i) & 0xffffff),
           fmt::format("PSN {:#x} of request {}", get(request, 9, 3), i + 1));
    expect(get(request, 12, 8) == 0x999000 && get(request, 20, 4) == 0x12345 && get(request, 24, 4) == 768,
           "wrong RETH");
  }
  wire.send(bth(0x0d, channel.qpn, dut_psn) + aeth(1) + part(data, 0, 256));
  wire.send(bth(0x0e, channel.qpn, dut_psn + 1) + part(data, 256, 256));
  expect(must(dut.poll(channel, second_ns / 2)).empty(), "the READ completed before its last response");
  wire.send(bth(0x0f, channel.qpn, dut_psn + 2) + aeth(1) + part(data, 512, 256));

  const std::vector<Completion> done = must(dut.poll(channel, 5 * second_ns));
  expect(done.size() == 1, fmt::format("{} completions in place of 1", done.size()));
  expect(done[0].id == 1 && done[0].status == Status::success && !done[0].is_receive && done[0].bytes == 768,
         fmt::format("completion {} {} {} bytes", done[0].id, name(done[0].status), done[0].bytes));
  expect(must(dut.read_memory(channel, Region::local, 0, 768)) == data, "wrong data");
  expect(must(dut.read_memory(channel, Region::local, 4096, 768)) == Bytes(768), "data of the second READ");
  expect(must(dut.poll(channel, second_ns)).empty(), "the second READ completed");
  expect(must(dut.state(channel)) == QpState::ready, "not ready any more");

  must(dut.to_error(channel));
  const std::vector<Completion> flushed = must(dut.poll(channel, 5 * second_ns));
  expect(flushed.size() == 1 && flushed[0].id == 2 && flushed[0].status == Status::wr_flush_err,
         fmt::format("{} completions behind the error", flushed.size()));
  expect(must(dut.state(channel)) == QpState::error, "not in the error state");
  must(dut.close(channel));
}

void write_and_send_reach_memory(Dut& dut, const Socket& wire, const IpAddress& tester) {
  const Bytes data = pattern(64);
  const Channel channel = must(dut.open(options_for(tester)));
  must(dut.write_memory(channel, Region::remote, 100, Bytes(64, 0xee)));
  wire.send(bth(0x0a, channel.qpn, tester_psn, true) + reth(channel.remote_va + 100, channel.remote_r_key, 64) + data);
  const Bytes ack = wire.receive(5 * second_ns);
  expect(!ack.empty() && ack[0] == 0x11 && get(ack, 9, 3) == tester_psn && ack[12] < 0x20, "no ACK of the WRITE");
  expect(must(dut.read_memory(channel, Region::remote, 100, 64)) == data, "wrong data written");

  must(dut.post_receive(channel, {.id = 5, .local_offset = 8, .length = 100}));
  Bytes immediate;
  put(immediate, 0xcafe0001, 4);
  wire.send(bth(0x05, channel.qpn, tester_psn + 1, true) + immediate + data);
  const std::vector<Completion> done = must(dut.poll(channel, 5 * second_ns));
  expect(done.size() == 1 && done[0].id == 5 && done[0].is_receive && done[0].bytes == 64,
         "the receive did not complete");
  expect(done[0].immediate == 0xcafe0001, "wrong immediate data");
  expect(must(dut.read_memory(channel, Region::local, 8, 64)) == data, "wrong data received");
  expect(!wire.receive(5 * second_ns).empty(), "no ACK of the SEND");
  must(dut.close(channel));
}

void atomic_leaves_the_old_value(Dut& dut, const Socket& wire, const IpAddress& tester) {
  const Channel channel = must(dut.open(options_for(tester)));
  must(dut.post_send(channel,
                     {.id = 3, .work = Work::fetch_add, .local_offset = 16, .va = 0x888000, .r_key = 7, .operand = 5}));
  const Bytes request = wire.receive(5 * second_ns);
  expect(!request.empty() && request[0] == 0x14 && get(request, 12, 8) == 0x888000 && get(request, 24, 8) == 5,
         "no FETCH ADD request");
  Bytes old;
  put(old, 0x1122334455667788, 8);
  wire.send(bth(0x12, channel.qpn, dut_psn) + aeth(1) + old);
  const std::vector<Completion> done = must(dut.poll(channel, 5 * second_ns));
  expect(done.size() == 1 && done[0].id == 3 && done[0].status == Status::success, "the atomic did not complete");
  const std::uint64_t value = 0x1122334455667788;
  Bytes host(8);
  std::memcpy(host.data(), &value, 8);
  expect(must(dut.read_memory(channel, Region::local, 16, 8)) == host, "the old value is not in host byte order");
  must(dut.close(channel));
}

void datagrams_go_both_ways(Dut& dut, const Socket& wire, const IpAddress& tester) {
  ChannelOptions options = options_for(tester);
  options.service = Service::ud;
  const Channel channel = must(dut.open(options));
  const Bytes data = pattern(64);
  must(dut.write_memory(channel, Region::local, 0, data));
  must(dut.post_send(channel, {.id = 1, .length = 64, .remote_qpn = 0x77, .remote_q_key = 0x1234}));
  const Bytes sent = wire.receive(5 * second_ns);
  expect(!sent.empty() && sent[0] == 0x64 && get(sent, 5, 3) == 0x77 && get(sent, 12, 4) == 0x1234, "no datagram");
  expect(Bytes(sent.begin() + 20, sent.end()) == data, "wrong data in the datagram");
  expect(must(dut.poll(channel, 5 * second_ns)).size() == 1, "the send did not complete");

  must(dut.post_receive(channel, {.id = 2, .local_offset = 1000, .length = 140}));
  Bytes deth;
  put(deth, options.q_key, 4);
  put(deth, tester_qpn, 4);
  wire.send(bth(0x64, channel.qpn, 1) + deth + data);
  const std::vector<Completion> done = must(dut.poll(channel, 5 * second_ns));
  expect(done.size() == 1 && done[0].id == 2 && done[0].bytes == 40 + 64, "the receive did not complete");
  expect(must(dut.read_memory(channel, Region::local, 1000 + 40, 64)) == data, "wrong data received");
  must(dut.close(channel));
}

void failed_requests_say_why(Dut& dut, const Socket& wire, const IpAddress& tester) {
  const auto refused = [](const auto& result, std::string_view why) {
    expect(!result, fmt::format("not refused: {}", why));
    expect(result.error().find(why) != std::string::npos, result.error());
  };
  ChannelOptions options = options_for(tester);
  options.pmtu = 300;
  refused(dut.open(options), "no such path MTU: 300");
  options = options_for(tester);
  options.dut_psn = 1 << 24;
  refused(dut.open(options), "24 bits");
  const Channel channel = must(dut.open(options_for(tester)));
  refused(dut.post_send(channel, {.local_offset = 65000, .length = 1000}), "outside the region");
  refused(dut.read_memory(channel, Region::remote, 65536, 1), "outside the region");
  Bytes nak = bth(0x11, channel.qpn, dut_psn);
  put(nak, 0x62000000, 4);  // remote access error
  must(dut.post_send(channel, {.id = 9, .work = Work::read, .length = 8}));
  expect(!wire.receive(5 * second_ns).empty(), "no READ request");
  wire.send(nak);
  const std::vector<Completion> done = must(dut.poll(channel, 5 * second_ns));
  expect(done.size() == 1 && done[0].id == 9 && done[0].status == Status::rem_access_err, "no remote access error");
  must(dut.close(channel));
}

bool run(const std::string& name, const std::function<void()>& test) {
  try {
    test();
    fmt::print("ok vm/agent-{}\n", name);
    return true;
  } catch (const Failure& failure) {
    fmt::print("FAIL vm/agent-{}: {}\n", name, failure.why);
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: agent_smoke AGENT TOKEN_FILE\n");
    return 2;
  }
  const Result<Endpoint> agent = parse_endpoint(argv[1], agent::default_port, "AGENT");
  const Result<std::string> token = agent::read_token(argv[2]);
  if (!agent || !token) {
    fmt::print(stderr, "agent_smoke: {}\n", agent ? token.error() : agent.error());
    return 2;
  }
  setvbuf(stdout, nullptr, _IOLBF, 0);
  bool fine = true;
  using Test = void (*)(Dut&, const Socket&, const IpAddress&);
  const auto all = [&](const std::string& family, const IpAddress& tester,
                       std::vector<std::pair<std::string, Test>> tests) {
    for (const auto& [name, test] : tests)
      fine = run(fmt::format("{}-{}", name, family),
                 [&] {
                   const auto dut = must(AgentDut::connect(
                       {.agent = *agent, .token = *token, .tester_address = tester, .timeout_ns = 20 * second_ns}));
                   test(*dut, Socket(tester, dut->info().address), tester);
                 }) &&
             fine;
  };
  all("ipv4", must(parse_address("10.77.0.2")),
      {{"read-completes-with-its-last-response", read_completes_with_its_last_response},
       {"write-and-send-reach-memory", write_and_send_reach_memory},
       {"atomic-leaves-the-old-value", atomic_leaves_the_old_value},
       {"datagrams-go-both-ways", datagrams_go_both_ways},
       {"failed-requests-say-why", failed_requests_say_why}});
  all("ipv6", must(parse_address("fd77::2")),
      {{"read-completes-with-its-last-response", read_completes_with_its_last_response},
       {"datagrams-go-both-ways", datagrams_go_both_ways}});
  return fine ? 0 : 1;
}
