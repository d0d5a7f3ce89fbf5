// Packets from the builder: what the walker reads back, and what peers accept.
#include "replay/build.h"

#include <gtest/gtest.h>

#include <random>

#include "dissect/headers.h"
#include "replay/udp_wire.h"
#include "tests/unit/walked.h"

namespace rdmascope::replay {
namespace {

using dissect::Field;
using test::Walked;

IpAddress address(const std::string& text) { return *parse_address(text); }

Path path_of(Wrap wrap, std::uint16_t link_type, const std::string& source = "10.0.0.2",
             const std::string& destination = "10.0.0.1") {
  Path path;
  path.wrap = wrap;
  path.link_type = link_type;
  path.source = address(source);
  path.destination = address(destination);
  path.destination_qpn = 0x11;
  path.source_lid = 3;
  path.destination_lid = 4;
  return path;
}

std::vector<std::uint8_t> pattern(std::size_t count) {
  std::vector<std::uint8_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(i * 7 + 1);
  return out;
}

struct Envelope {
  const char* name;
  Path path;
};
std::vector<Envelope> envelopes() {
  Path vlan = path_of(Wrap::roce_v1, 1);
  vlan.vlan = 42;
  return {{"IPv4", path_of(Wrap::roce_v2, 101)},
          {"IPv6", path_of(Wrap::roce_v2, 101, "fd77::2", "fd77::1")},
          {"Ethernet and IPv4", path_of(Wrap::roce_v2, 1)},
          {"RoCEv1 with VLAN", vlan},
          {"InfiniBand", path_of(Wrap::infiniband, 247)}};
}

// Every opcode, every field of every header it has: set to a value, built, dissected, the same value is there.
TEST(Build, EveryFieldComesBack) {
  std::mt19937_64 random(1);
  for (const Envelope& envelope : envelopes())
    for (unsigned code = 0; code < 256; ++code) {
      const dissect::Opcode& opcode = dissect::opcodes[code];
      if (!opcode.defined || opcode.transport == dissect::Transport::rd) continue;
      SCOPED_TRACE(std::string(envelope.name) + " " + std::string(opcode.name));
      Draft draft(static_cast<std::uint8_t>(code));
      if (opcode.payload != dissect::PayloadRule::none)
        draft.payload = pattern(opcode.payload == dissect::PayloadRule::eight ? 8 : 61);
      std::vector<std::pair<dissect::FieldRef, std::uint64_t>> set;
      for (const dissect::Header* h : dissect::all_headers()) {
        bool there = h == &dissect::header<dissect::Bth>;
        for (unsigned bits = opcode.extensions, i = 0; bits >> i; ++i)
          there = there || ((bits >> i & 1) && dissect::extension_headers[i] == h);
        if (!there) continue;
        for (const Field& f : h->fields) {
          if (f.kind != Field::Kind::wire || f.width > 64 || f.show > dissect::Show::reserved) continue;
          if (h == &dissect::header<dissect::Bth> && (f.name == "opcode" || f.name == "padcnt")) continue;
          const std::uint64_t value = random() & f.mask();
          ASSERT_TRUE(draft.set(dissect::full_name(*h, f), value));
          set.push_back({{h, &f}, value});
        }
      }
      const auto built = draft.build(envelope.path);
      ASSERT_TRUE(built) << built.error();
      const Walked walked(*built, envelope.path.link_type);
      EXPECT_TRUE(walked.packet.events().empty());
      EXPECT_EQ(walked.packet.icrc().status, dissect::CrcStatus::good);
      EXPECT_EQ(walked.packet.payload_bytes, draft.payload.size());
      if (envelope.path.wrap == Wrap::infiniband) {
        EXPECT_EQ(walked.packet.vcrc().status, dissect::CrcStatus::good);
      }
      if (walked.packet.find(dissect::header<dissect::Ipv4>)) {
        EXPECT_EQ(walked.text("ip.checksum.status"), "Good");
      }
      for (const auto& [ref, value] : set) {
        const dissect::Layer* layer = walked.packet.find(*ref.header);
        ASSERT_NE(layer, nullptr) << ref.header->name;
        EXPECT_EQ(dissect::load(walked.packet.data(*layer), *ref.field), value) << ref.header->name << ref.field->name;
      }
    }
}

TEST(Build, WhatIsSetGoesOutHoweverWrong) {
  const Path path = path_of(Wrap::roce_v2, 101);
  const auto text = [&path](std::initializer_list<std::pair<const char*, std::uint64_t>> values, const char* field) {
    Draft draft(*opcode_by_name("RC_SEND_ONLY"));
    draft.payload = pattern(5);
    for (const auto& [name, value] : values) EXPECT_TRUE(draft.set(name, value));
    return Walked(*draft.build(path), 101).text(field);
  };
  EXPECT_EQ(text({{"bth.tver", 3}}, "infiniband.bth.tver"), "3");
  EXPECT_EQ(text({{"bth.padcnt", 0}}, "infiniband.bth.padcnt"), "0");
  EXPECT_EQ(text({{"ip.len", 999}}, "ip.len"), "999");
  EXPECT_EQ(text({{"ip.checksum", 0x1234}}, "ip.checksum.status"), "Bad");
  EXPECT_EQ(text({{"ip.ttl", 1}, {"ip.id", 7}}, "infiniband.invariant.crc.status"),
            "Good");  // the ICRC covers what is sent
  EXPECT_EQ(text({{"udp.length", 12}}, "udp.length"), "12");
  EXPECT_EQ(text({{"infiniband.invariant.crc", 0xdeadbeef}}, "infiniband.invariant.crc"), "0xdeadbeef");
  EXPECT_EQ(text({{"aeth.msn", 5}}, "infiniband.bth.opcode"), "4");  // an AETH where none belongs
}

TEST(Build, IcrcWithFlippedBits) {
  Draft draft(*opcode_by_name("rc_acknowledge"));
  draft.icrc_xor = 1;
  EXPECT_EQ(Walked(*draft.build(path_of(Wrap::roce_v2, 101)), 101).packet.icrc().status, dissect::CrcStatus::bad);
}

TEST(Build, HeadersInsteadOfThoseOfTheOpcode) {
  Draft draft(*opcode_by_name("RC_READ_RESPONSE_LAST"));
  ASSERT_TRUE(draft.headers({}));
  draft.payload = pattern(4);
  const std::vector<std::uint8_t> without = *draft.build(path_of(Wrap::roce_v2, 101));
  const std::string_view aeth[] = {"aeth"};
  ASSERT_TRUE(draft.headers(aeth));
  EXPECT_EQ(draft.build(path_of(Wrap::roce_v2, 101))->size(), without.size() + 4);
}

TEST(Build, CutLeavesTheLengthsInHeaders) {
  Draft draft(*opcode_by_name("RC_SEND_ONLY"));
  const std::size_t whole = draft.build(path_of(Wrap::roce_v2, 101))->size();
  draft.cut_bytes = 6;
  const Walked walked(*draft.build(path_of(Wrap::roce_v2, 101)), 101);
  EXPECT_EQ(walked.bytes.size(), whole - 6);
  EXPECT_EQ(walked.text("ip.len"), std::to_string(whole));
}

TEST(Build, ErrorsNameTheField) {
  Draft draft(*opcode_by_name("RC_SEND_ONLY"));
  EXPECT_EQ(draft.set("bth.pns", 1).error(), "bth.pns: no such field; did you mean infiniband.bth.psn?");
  EXPECT_EQ(draft.set("bth.psn", 1 << 24).error(), "bth.psn: 16777216 does not fit into its 24 bits");
  EXPECT_EQ(draft.set("udp.port", 1).error(), "udp.port: stands for several fields; name one of them");
  ASSERT_TRUE(draft.set("eth.type", 1));
  EXPECT_EQ(draft.build(path_of(Wrap::roce_v2, 101)).error(), "eth.type: frames of this wire have no such header");
}

TEST(Build, OpcodeNames) {
  EXPECT_EQ(opcode_by_name("RC_RDMA_READ_REQUEST"), 0x0c);
  EXPECT_EQ(opcode_by_name("RC_READ_REQUEST"), 0x0c);
  EXPECT_EQ(opcode_by_name("uc_write_only"), 0x2a);
  EXPECT_EQ(opcode_by_name("RC_NONSENSE"), std::nullopt);
}

// The identification is not told by a socket: it comes back from the ICRC, for any length.
TEST(UdpWire, IdentificationComesBackFromTheIcrc) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    Draft draft(*opcode_by_name("RC_SEND_ONLY"));
    draft.payload = pattern(random() % 4096);
    const std::uint16_t id = static_cast<std::uint16_t>(random());
    ASSERT_TRUE(draft.set("ip.id", id));
    if (round % 2) {
      ASSERT_TRUE(draft.set("ip.flags.df", 0));
    }
    const std::vector<std::uint8_t> sent = *draft.build(path_of(Wrap::roce_v2, 101));
    std::vector<std::uint8_t> seen = sent;
    seen[4] = seen[5] = seen[6] = seen[10] = seen[11] = 0;
    EXPECT_TRUE(restore_identification(seen));
    EXPECT_EQ(seen, sent);
    seen.back() ^= 1;
    EXPECT_FALSE(restore_identification(seen));
    EXPECT_EQ(seen[4] << 8 | seen[5], 0);
  }
}

// Over the loopback interface: what one wire sends another receives, byte for byte, IPv4 and IPv6.
TEST(UdpWire, FramesArriveAsBuilt) {
  const auto cross = [](const std::string& a, const std::string& b) {
    auto one = UdpWire::open(address(a));
    auto other = UdpWire::open(address(b));
    if (!one || !other) GTEST_SKIP() << (one ? other : one).error();
    Draft draft(*opcode_by_name("RC_SEND_ONLY"));
    draft.payload = pattern(301);
    ASSERT_TRUE(draft.set(a.find(':') == std::string::npos ? "ip.dsfield.ecn" : "ipv6.tclass.ecn", 2));
    const std::vector<std::uint8_t> frame = *draft.build(path_of(Wrap::roce_v2, 101, a, b));
    const Result<void> sent = (*one)->send(frame);
    ASSERT_TRUE(sent) << sent.error();
    const auto received = (*other)->receive((*other)->now_ns() + 1'000'000'000);
    ASSERT_TRUE(received && *received);
    EXPECT_EQ((*received)->bytes, frame);
    const auto nothing = (*one)->receive((*one)->now_ns() + 1'000'000);
    EXPECT_TRUE(nothing && !*nothing);
  };
  cross("127.0.0.1", "127.0.0.2");
}

TEST(UdpWire, RefusesWhatTheKernelWritesOtherwise) {
  auto wire = UdpWire::open(address("127.0.0.3"));
  if (!wire) GTEST_SKIP() << wire.error();
  Draft draft(*opcode_by_name("RC_SEND_ONLY"));
  ASSERT_TRUE(draft.set("ip.id", 5));
  const Result<void> sent = (*wire)->send(*draft.build(path_of(Wrap::roce_v2, 101, "127.0.0.3", "127.0.0.1")));
  EXPECT_EQ(sent.error(),
            "udp wire: cannot send this frame, for the kernel writes its IP header: ip.id is not 0; use --wire eth");
}

}  // namespace
}  // namespace rdmascope::replay
