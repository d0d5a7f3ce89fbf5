// Semantics are Wireshark 4.0.17's where it has them; the frames are those of the specification and real captures.
#include "dissect/filter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dissect/walk.h"

namespace rdmascope::dissect {
namespace {

// RoCEv2 over IPv4: RC ACK, PSN 0, syndrome 6, MSN 1; 192.168.70.6 to .4, UDP source port 18 (real).
constexpr std::string_view ack_frame =
    "183d5ebf4371183d5ebf51920800450200300000400040112d60c0a84606c0a84604004812b7001c00001140ffff0000004500000000060000"
    "01"
    "259cc216";
// RoCEv2 over IPv4: RC READ request, PSN 0xfffffe, VA 0x999000, 768 bytes; 192.0.2.1 to .2.
constexpr std::string_view read_frame =
    "02000000000202000000000108004502003c000040004011b6abc0000201c0000202c00012b7002800000c40ffff0000001180fffffe0000"
    "00000099900000012345000003002bb49cfc";
// RoCEv2 over IPv6: UC SEND only, 2022::1023 to 2023::1024.
constexpr std::string_view ipv6_frame =
    "248a07a8fa22248a07a8fa2286dd6e21face002c11ff20220000000000000000000000001023202300000000000000000000000010"
    "24c00012b7002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e5000003e5b743b";
// RoCEv1: RC WRITE of five bytes.
constexpr std::string_view roce_v1_frame =
    "7cfe90753cd87cfe90753cd889156020000000281b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000020a70"
    "ffff0000010a80a788bc000055d4c0726000000047b3000000050000000001000000e3d856bb";
// Native InfiniBand: RC ACK without GRH; UD SEND of a MAD to a multicast address.
constexpr std::string_view native_frame = "00020004000700011140ffff0087040800d40a551f000001a80355503081";
constexpr std::string_view native_ud_frame =
    "0003c000002100046000000000541b00fe800000000000000002c9020024f636ff12401bffff000000000000ffffffff6440ffff00ffffff"
    "000020af00000b1b0000040508060000002008001404000180000405fe800000000000000002c9020024f6360a0001220000000000000000"
    "0000000000000000000000000a00003abd6bd6a88883";
// ATOMIC WRITE; the acknowledge inside VXLAN; the READ request cut in its RETH.
constexpr std::string_view atomic_write_frame =
    "020000000002020000000001080045020044000040004011b6a3c0000201c0000202c00012b7003000001d40ffff00000011800000080000"
    "00000099900000012345000000081122334455667788cafe3d94";
constexpr std::string_view vxlan_header =
    "020000000002020000000001080045000062000040004011"
    "0000c6336401c6336402c00012b5004e00000800000000002a00";

std::vector<std::uint8_t> bytes_of(std::string_view hex) {
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

class Sample {
 public:
  Sample(std::string_view hex, std::uint16_t link_type, std::uint64_t number, std::int64_t time_ns,
         std::size_t captured = SIZE_MAX)
      : bytes_(bytes_of(hex)), packet_(std::make_unique<Packet>()) {
    packet_->frame.number = number;
    packet_->frame.link_type = link_type;
    packet_->frame.time_ns = time_ns;
    packet_->frame.time_relative_ns = time_ns - 1'700'000'000'000'000'000;
    packet_->frame.time_delta_ns = -1'500;
    packet_->frame.wire_bytes = static_cast<std::uint32_t>(bytes_.size());
    bytes_.resize(std::min(captured, bytes_.size()));
    walk(*packet_, bytes_, WalkOptions{});
  }
  const Packet& operator*() const { return *packet_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::unique_ptr<Packet> packet_;
};

constexpr std::int64_t start_ns = 1'700'000'000'000'000'000;
constexpr std::uint16_t ethernet = 1, infiniband = 247;

const Packet& ack() {
  static const Sample s(ack_frame, ethernet, 1, start_ns);
  return *s;
}
const Packet& read_request() {
  static const Sample s(read_frame, ethernet, 2, start_ns + 1'500'000'000);
  return *s;
}
const Packet& ipv6() {
  static const Sample s(ipv6_frame, ethernet, 3, start_ns + 2);
  return *s;
}
const Packet& roce_v1() {
  static const Sample s(roce_v1_frame, ethernet, 4, start_ns + 3);
  return *s;
}
const Packet& native() {
  static const Sample s(native_frame, infiniband, 5, start_ns + 4);
  return *s;
}
const Packet& native_ud() {
  static const Sample s(native_ud_frame, infiniband, 6, start_ns + 5);
  return *s;
}
const Packet& atomic_write() {
  static const Sample s(atomic_write_frame, ethernet, 7, start_ns + 6);
  return *s;
}
const Packet& vxlan() {
  static const Sample s(std::string(vxlan_header) + std::string(ack_frame), ethernet, 8, start_ns + 7);
  return *s;
}
const Packet& cut_short() {
  static const Sample s(read_frame, ethernet, 9, start_ns + 8, 60);
  return *s;
}

struct Case {
  std::string_view expression;
  const Packet& (*packet)();
  bool expected;
};

void check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    const auto filter = Filter::compile(c.expression);
    if (const FilterError* error = std::get_if<FilterError>(&filter))
      ADD_FAILURE() << explain(*error, c.expression);
    else
      EXPECT_EQ(std::get<Filter>(filter).matches(c.packet()), c.expected)
          << c.expression << " on frame " << c.packet().frame.number;
  }
}

struct Wrong {
  std::string_view expression;
  std::size_t column;
  std::string_view message;
};

void check_errors(std::initializer_list<Wrong> cases) {
  for (const Wrong& c : cases) {
    const auto filter = Filter::compile(c.expression);
    const FilterError* error = std::get_if<FilterError>(&filter);
    if (!error) {
      ADD_FAILURE() << c.expression << " compiles";
      continue;
    }
    EXPECT_EQ(error->column, c.column) << c.expression;
    EXPECT_EQ(error->message, c.message) << c.expression;
  }
}

TEST(Filter, EmptyMatchesEverything) {
  check({{"", ack, true}, {"  \t\n", native, true}});
  EXPECT_TRUE(Filter().matches(ack()));
}

TEST(Filter, Existence) {
  check({{"infiniband.bth.opcode", ack, true},
         {"infiniband.reth.va", ack, false},
         {"infiniband.bth", native, true},
         {"infiniband", roce_v1, true},
         {"infiniband.lrh", ack, false},
         {"infiniband.lrh", native, true},
         {"ip", ipv6, false},
         {"ipv6", ipv6, true},
         {"infiniband.bth.a", ack, true},  // there, though 0
         {"rdmascope.event", ack, false},
         {"rdmascope.event", cut_short, true},
         {"infiniband.aeth.syndrome.credit_count", ack, true},
         {"infiniband.aeth.syndrome.timer", ack, false},  // only in RNR NAKs
         {"eth.dst[0:100]", ack, false}});
}

TEST(Filter, ComparesNumbers) {
  check({{"infiniband.bth.opcode == 17", ack, true},
         {"infiniband.bth.opcode == 0x11", ack, true},
         {"infiniband.bth.opcode eq 021", ack, true},
         {"infiniband.bth.opcode == 0b10001", ack, true},
         {"infiniband.bth.opcode == '\\x11'", ack, true},
         {"infiniband.bth.opcode == 12", ack, false},
         {"infiniband.bth.opcode != 12", ack, true},
         {"infiniband.bth.opcode ne 17", ack, false},
         {"infiniband.aeth.syndrome > 6", ack, false},
         {"infiniband.aeth.syndrome >= 6", ack, true},
         {"infiniband.aeth.syndrome ge 7", ack, false},
         {"infiniband.aeth.syndrome < 7", ack, true},
         {"infiniband.aeth.syndrome lt 6", ack, false},
         {"infiniband.aeth.syndrome le 6", ack, true},
         {"infiniband.aeth.syndrome gt 5", ack, true},
         {"infiniband.bth.psn > 0xffffff", read_request, false},
         {"infiniband.bth.psn >= 0", read_request, true},
         {"infiniband.bth.psn < 0", read_request, false},
         {"6 == infiniband.aeth.syndrome", ack, true},
         {"5 < infiniband.aeth.syndrome", ack, true},
         {"5 < infiniband.aeth.syndrome <= 6", ack, true},
         {"6 < infiniband.aeth.syndrome < 8", ack, false},
         {"ip.hdr_len == 20", ack, true},  // scaled
         {"infiniband.aeth.msn == 1", ack, true},
         {"infiniband.invariant.crc == 0x259cc216", ack, true},  // the last bytes of the frame
         {"frame.number == 1", ack, true},
         {"frame.len == 62 and frame.cap_len == 62", ack, true},
         {"frame.cap_len < frame.len", cut_short, true}});
}

TEST(Filter, ComparesNumbersOf64Bits) {
  check({{"infiniband.reth.va == 0x999000", atomic_write, true},
         {"infiniband.reth.va > 0xffffffffffffff00", atomic_write, false},
         {"infiniband.reth.va <= 0xffffffffffffffff", atomic_write, true},
         {"infiniband.reth.va == 18446744073709551615", atomic_write, false},
         {"infiniband.reth.va > 18446744073709551615", atomic_write, false},
         {"infiniband.reth.va & 0xff000", atomic_write, true},
         {"infiniband.reth.va == 0x55d4c0726000", roce_v1, true}});
}

TEST(Filter, Flags) {
  check({{"infiniband.bth.a == 1", read_request, true},
         {"infiniband.bth.a == TRUE", read_request, true},
         {"infiniband.bth.a == true", ack, false},
         {"infiniband.bth.a == False", ack, true},
         {"infiniband.bth.a == 7", read_request, true},  // not zero
         {"infiniband.bth.a != 0", read_request, true},
         {"infiniband.bth.a & 1", read_request, true},
         {"ip.flags.df", ack, true},
         {"not ip.flags.mf == 1", ack, true}});
}

TEST(Filter, MissingFieldsMakeComparisonsFalse) {
  check({{"infiniband.deth.q_key == 1", ack, false},
         {"infiniband.deth.q_key != 1", ack, false},
         {"infiniband.deth.q_key !== 1", ack, false},
         {"infiniband.deth.q_key === 1", ack, false},
         {"not infiniband.deth.q_key == 1", ack, true},
         {"infiniband.deth.q_key not in {1}", ack, true},
         {"count(infiniband.deth.q_key) == 0", ack, false},
         {"len(ipv6.src) >= 0", ack, false}});
}

TEST(Filter, SeveralValues) {
  check({{"udp.port == 4791", ack, true},
         {"udp.port != 4791", ack, false},
         {"udp.port !== 4791", ack, true},
         {"udp.port ~= 4791", ack, true},
         {"udp.port === 4791", ack, false},
         {"udp.port any_eq 4791", ack, true},
         {"udp.port all_ne 4791", ack, false},
         {"udp.port all_eq 4791", ack, false},
         {"udp.port any_ne 4791", ack, true},
         {"udp.port != 1", ack, true},
         {"udp.port > 4000", ack, true},
         {"all udp.port > 4000", ack, false},
         {"all udp.port > 71", ack, true},
         {"any udp.port != 4791", ack, true},
         {"all udp.port == 4791", ack, false},
         {"all udp.port in {72, 4791}", ack, true},
         {"all udp.port in {72}", ack, false},
         {"all udp.port not in {72}", ack, true},
         {"eth.addr == 18:3d:5e:bf:51:92", ack, true},
         {"ip.src == 198.51.100.1", vxlan, true},  // outer and inner
         {"ip.src == 192.168.70.6", vxlan, true},
         {"ip.src != 192.168.70.6", vxlan, false},
         {"ip.src#1 == 198.51.100.1", vxlan, true},
         {"ip.src#2 == 198.51.100.1", vxlan, false},
         {"ip.src#2", vxlan, true},
         {"ip.src#3", vxlan, false},
         {"ip.addr#[2-3] == 192.168.70.4", vxlan, true},
         {"ip.addr#[:1] == 192.168.70.4", vxlan, false},
         {"ip.addr#[2:] == 192.168.70.4", vxlan, true},
         {"eth#2[0] == 18", vxlan, true},
         {"count(ip.addr) == 4", vxlan, true},
         {"count(ip) == 2", vxlan, true}});
}

TEST(Filter, ComparesFieldsWithFields) {
  check({{"udp.srcport == udp.dstport", ack, false},
         {"udp.srcport < udp.dstport", ack, true},
         {"ip.src != ip.dst", ack, true},
         {"ip.addr == ip.dst", ack, true},
         {"ip.addr === ip.dst", ack, false},
         {"ip.addr != ip.dst", ack, false},
         {"infiniband.grh.sgid == infiniband.grh.dgid", roce_v1, true},
         {"eth.src == eth.dst", ipv6, true},
         {"eth[0:6] == eth.dst", ack, true},
         {"infiniband.bth.destqp == infiniband.deth.srcqp", ack, false},
         {"infiniband.bth.psn == infiniband.bth.psn & 7", ack, true},
         {"frame contains ip.src", ack, true},
         {"frame.time_relative > frame.time_delta", ack, true},
         {"len(frame) == frame.cap_len", ack, true}});
}

TEST(Filter, Precedence) {
  check({{"frame.number == 1 || frame.number == 2 && frame.number == 3", ack, true},
         {"(frame.number == 1 || frame.number == 2) && frame.number == 3", ack, false},
         {"!frame.number == 2 and frame.number == 2", ack, false},
         {"!(frame.number == 2 and frame.number == 2)", ack, true},
         {"not frame.number & 1", ack, false},
         {"not not frame.number == 1", ack, true},
         {"!!!frame.number == 1", ack, false},
         {"frame.number & 3 == 1", ack, true},
         {"frame.number & 2 & 3", ack, false},
         {"udp xor ip", ack, false},
         {"udp ^^ ipv6", ack, true},
         {"udp xor ip xor eth", ack, true},
         {"udp xor ip or eth", ack, true},    // (udp xor ip) or eth
         {"eth or udp xor eth", ack, true},   // eth or (udp xor eth)
         {"udp xor ip and ipv6", ack, true},  // udp xor (ip and ipv6)
         {"udp and ipv6 xor ip", ack, true},  // (udp and ipv6) xor ip
         {"not udp xor ip", ack, true},       // (not udp) xor ip
         {"(udp xor (ip xor (eth xor ipv6)))", ack, true},
         {"(udp or ipv6) xor (ip and not eth) xor udp", ack, false},
         {"frame.number==1||frame.number==9&&udp", ack, true}});
}

TEST(Filter, XorIsParity) {
  const std::string_view yes = "udp", no = "ipv6";
  for (unsigned bits = 0; bits < 32; ++bits) {
    const auto pick = [&](unsigned i) { return std::string(bits >> i & 1 ? yes : no); };
    const bool odd = __builtin_popcount(bits) % 2 == 1;
    const std::string flat = pick(0) + " xor " + pick(1) + " xor " + pick(2) + " xor " + pick(3) + " xor " + pick(4);
    const std::string nested =
        pick(0) + " xor (" + pick(1) + " xor not (" + pick(2) + " xor (" + pick(3) + " xor not " + pick(4) + ")))";
    check({{flat, ack, odd}, {nested, ack, odd}});
  }
}

TEST(Filter, Addresses) {
  check({{"ip.src == 192.168.70.6", ack, true},
         {"ip.src == 192.168.0.0/16", ack, true},
         {"ip.src == 192.168.71.0/24", ack, false},
         {"ip.src != 192.168.0.0/16", ack, false},
         {"ip.src == 0.0.0.0/0", ack, true},
         {"ip.src > 192.0.0.0/8", ack, false},
         {"ip.src >= 192.0.0.0/8", ack, true},
         {"ip.src < 192.168.70.7", ack, true},
         {"ip.src <= 192.168.70.5", ack, false},
         {"ip.src in {10.0.0.0/8, 192.168.70.0..192.168.70.6}", ack, true},
         {"ip.src in {192.168.70.7 .. 192.168.70.9}", ack, false},
         {"ip.src & 192.0.0.0", ack, true},
         {"ip.src & 0.0.0.1", ack, false},
         {"ip.src & 255.255.0.0 == 192.168.0.0", ack, true},
         {"ip.src[0] == c0", ack, true},
         {"ip.src[3] & 1", ack, false},
         {"ipv6.src == 2022::1023", ipv6, true},
         {"ipv6.src == 2022::/16", ipv6, true},
         {"ipv6.src == 2022::/128", ipv6, false},
         {"ipv6.addr == 2023::1024", ipv6, true},
         {"ipv6.addr != 2023::1024", ipv6, false},
         {"ipv6.src in {2021::..2022::ffff}", ipv6, true},
         {"ipv6.src > 2022::1022", ipv6, true},
         {"ipv6.src == ::1", ipv6, false},
         {"infiniband.grh.sgid == ::ffff:15.0.0.2", roce_v1, true},
         {"infiniband.grh.sgid == ::ffff:0:0/96", roce_v1, true},
         {"infiniband.grh.gid == ff12:401b:ffff::ffff:ffff", native_ud, true},
         {"infiniband.grh.sgid == fe80::/10", native_ud, true},
         {"eth.dst == 18:3d:5e:bf:43:71", ack, true},
         {"eth.dst == 18-3D-5E-BF-43-71", ack, true},
         {"eth.dst == 183d.5ebf.4371", ack, true},
         {"eth.dst == 18.3d.5e.bf.43.71", ack, true},
         {"eth.dst > 18:3d:5e:bf:43:70", ack, true},
         {"eth.dst & 01:00:00:00:00:00", ack, false},
         {"eth.dst & 08:00:00:00:00:00 == 08:00:00:00:00:00", ack, true},
         {"eth.dst contains 5e:bf", ack, true}});
}

TEST(Filter, SlicesAndBytes) {
  check({{"eth.dst[0:3] == 18:3d:5e", ack, true},
         {"eth.dst[0-2] == 18:3d:5e", ack, true},
         {"eth.dst[:2] == 183d", ack, true},
         {"eth.dst[4:] == 43.71", ack, true},
         {"eth.dst[-2:] == 43-71", ack, true},
         {"eth.dst[-6:3] == 18:3d:5e", ack, true},
         {"eth.dst[-3--2] == bf:43", ack, true},
         {"eth.dst[1--1] == 3d:5e:bf:43:71", ack, true},
         {"eth.dst[5] == 71", ack, true},
         {"eth.dst[5] == 0x71", ack, true},
         {"eth.dst[5] == \"q\"", ack, true},
         {"eth.dst[5] == 'q'", ack, true},
         {"eth.dst[0,2-3,5:] == 18:5e:bf:71", ack, true},
         {"eth.dst[0, 9] == 18", ack, false},  // no byte 9: no value
         {"eth.dst[6]", ack, false},
         {"eth.dst[-7]", ack, false},
         {"eth.dst[4:3]", ack, false},
         {"eth.dst[0:2] & ff:00 == 18:00", ack, true},
         {"eth.dst[0:2] & 00:02", ack, false},
         {"eth.dst[0:3] == eth.src[0:3]", ack, true},
         {"eth.dst[0:3] > 18:3d:5d", ack, true},
         {"eth.dst[0:3] > 18", ack, true},  // longer is more, as in Wireshark
         {"ip[0] == 45", ack, true},
         {"ip[12:4] == ip.src", ack, true},
         {"infiniband.bth[0] == 11", ack, true},
         {"infiniband[0] == 11", ack, true},
         {"infiniband[-4:] == 25:9c:c2:16", ack, true},
         {"len(infiniband) == 20", ack, true},
         {"len(infiniband) == 30", native, true},
         {"frame[12:2] == 08:00", ack, true},
         {"frame contains 12:b7", ack, true},
         {"frame contains \"\\x12\\xb7\"", ack, true},
         {"udp contains 12b7", ack, true},
         {"udp contains 13b7", ack, false},
         {"infiniband.payload contains be:88:5e", ipv6, true},
         {"infiniband.payload.data[0:2] == cf:17", ipv6, false},
         {"len(infiniband.payload) == 5", roce_v1, true},
         {"eth.dst[0:3] in {00:00:00, 18:3d:00..18:3d:ff}", ack, true}});
}

TEST(Filter, Sets) {
  check({{"infiniband.bth.opcode in {17}", ack, true},
         {"infiniband.bth.opcode in {4, 10 .. 12, 17}", ack, true},
         {"infiniband.bth.opcode in {4,10..16,18..255}", ack, false},
         {"infiniband.bth.opcode in {18..20, 0..2, 16..17}", ack, true},
         {"infiniband.bth.opcode in {RC_SEND_ONLY, \"rc_acknowledge\"}", ack, true},
         {"infiniband.bth.opcode in {RC_SEND_FIRST..RC_RDMA_READ_REQUEST}", read_request, true},
         {"infiniband.bth.opcode not in {17}", ack, false},
         {"infiniband.bth.opcode not in {16}", ack, true},
         {"not infiniband.bth.opcode in {16}", ack, true},
         {"frame.time_relative in {0..0.5}", ack, true},
         {"frame.time_relative in {0..0.5}", read_request, false},
         {"frame.protocols[0:3] in {\"eth\", \"foo\"}", ack, true},
         {"infiniband.reth.va in {0..0xffffffffffffffff}", read_request, true}});
}

TEST(Filter, NamesOfValues) {
  check({{"infiniband.bth.opcode == \"RC_RDMA_READ_REQUEST\"", read_request, true},
         {"infiniband.bth.opcode == RC_RDMA_READ_REQUEST", read_request, true},
         {"infiniband.bth.opcode == rc_rdma_read_request", read_request, true},
         {"infiniband.bth.opcode != RC_RDMA_READ_REQUEST", read_request, false},
         {"infiniband.bth.opcode >= RC_RDMA_READ_REQUEST", read_request, true},
         {"infiniband.bth.opcode > RC_RDMA_READ_REQUEST", read_request, false},
         {"infiniband.aeth.syndrome.opcode == \"ACK\"", ack, true},
         {"infiniband.aeth.syndrome.opcode == \"RNR NAK\"", ack, false},
         {"eth.type == RoCEv1", roce_v1, true},
         {"ip.proto == UDP", ack, true},
         {"ip.proto == udp", ack, true},  // also a header
         {"ip.dsfield.ecn == \"ECT(0)\"", ack, true}});
}

TEST(Filter, Text) {
  check({{"frame.protocols contains \"udp\"", ack, true},
         {"frame.protocols contains udp", ack, true},
         {"frame.protocols contains \"UDP\"", ack, false},
         {"upper(frame.protocols) contains \"UDP\"", ack, true},
         {"lower(upper(frame.protocols)) == frame.protocols", ack, true},
         {"frame.protocols[0:3] == \"eth\"", ack, true},
         {"frame.protocols[0:3] == 65:74:68", ack, true},
         {"frame.protocols matches \"UDP\"", ack, true},  // in any case
         {"frame.protocols matches \"(?-i)UDP\"", ack, false},
         {"frame.protocols ~ r\"^eth:\\w+:udp\\b\"", ack, true},
         {"frame.protocols matches \"^udp\"", ack, false},
         {"frame matches \"\\\\x12\\\\xb7\"", ack, true},
         {"frame matches \"\\x12\\xb7\"", ack, true},
         {"frame[34:2] matches \"^.[A-Z]$\"", ack, true},
         {"infiniband.invariant.crc.status == \"Good\"", ack, true},
         {"infiniband.invariant.crc.status == Good", ack, true},
         {"infiniband.invariant.crc.status != \"Bad\"", ack, true},
         {"infiniband.invariant.crc.status == \"Good\"", native, true},
         {"infiniband.invariant.crc.status == \"\\x47\\157\\u006fd\"", native, true},
         {"rdmascope.event contains \"reth\"", cut_short, true},
         {"rdmascope.event == infiniband.reth.cut", cut_short, true},
         {"len(frame.protocols) > 10", ack, true}});
}

TEST(Filter, Functions) {
  check({{"len(eth.dst) == 6", ack, true},
         {"len(eth) == 14", ack, true},
         {"len(eth.dst[0:3]) == 3", ack, true},
         {"count(udp.port) == 2", ack, true},
         {"string(frame.number) matches \"^[13]$\"", ack, true},
         {"string(ip.src) == \"192.168.70.6\"", ack, true},
         {"string(ipv6.src) contains \"::1023\"", ipv6, true},
         {"string(eth.dst) == \"18:3d:5e:bf:43:71\"", ack, true},
         {"string(frame.time_relative) contains \"1.5\"", read_request, true},
         {"max(udp.srcport, udp.dstport) == 4791", ack, true},
         {"min(udp.port) == 72", ack, true},
         {"max(ip.src, ip.dst) == 192.168.70.6", ack, true},
         {"max(infiniband.deth.q_key) == 1", ack, false},
         {"len(frame) & 2", ack, true}});
}

TEST(Filter, Times) {
  check({{"frame.time_relative == 1.5", read_request, true},
         {"frame.time_relative == 1.500000001", read_request, false},
         {"frame.time_relative > 1.499999999", read_request, true},
         {"frame.time_relative == 0", ack, true},
         {"frame.time_relative > -1", ack, true},
         {"frame.time_delta < 0", ack, true},
         {"frame.time_delta == -0.0000015", ack, true},
         {"frame.time_epoch == 1700000000", ack, true},
         {"frame.time_epoch >= 1700000001.5", read_request, true}});
}

TEST(FilterErrors, UnknownFields) {
  check_errors({
      {"infiniband.bth.pns == 5", 1, "no field \"infiniband.bth.pns\"; did you mean \"infiniband.bth.psn\"?"},
      {"udp and  infiniband.bth.pns", 10, "no field \"infiniband.bth.pns\"; did you mean \"infiniband.bth.psn\"?"},
      {"udp.port == infiniband.bth.pns", 13, "no field \"infiniband.bth.pns\"; did you mean \"infiniband.bth.psn\"?"},
      {"infiniband.bth.pns == udp.port", 1, "no field \"infiniband.bth.pns\"; did you mean \"infiniband.bth.psn\"?"},
      {"eth.dts[0] == 1", 1, "no field \"eth.dts\"; did you mean \"eth.dst\"?"},
      {"zzzzzzzzzz", 1, "no field \"zzzzzzzzzz\""},
  });
}

TEST(FilterErrors, Constants) {
  check_errors({
      {"infiniband.bth.opcode == 300", 26, "\"300\" is too large for infiniband.bth.opcode: its largest value is 255"},
      {"infiniband.reth.va == 18446744073709551616", 23,
       "\"18446744073709551616\" is too large for infiniband.reth.va: its largest value is 18446744073709551615"},
      {"infiniband.bth.opcode & 0x100", 25,
       "\"0x100\" is too large for infiniband.bth.opcode: its largest value is 255"},
      {"infiniband.bth.psn == -1", 23, "infiniband.bth.psn is never negative"},
      {"infiniband.bth.psn == 08", 23, "infiniband.bth.psn is a number, \"08\" is not"},
      {"infiniband.bth.psn == 10.0.0.1", 23, "infiniband.bth.psn is a number, \"10.0.0.1\" is not"},
      {"infiniband.bth.psn == \"6\"", 23, "infiniband.bth.psn is a number, what stands in quotes is text"},
      {"infiniband.bth.a == maybe", 21, "infiniband.bth.a is true or false, \"maybe\" is not"},
      {"infiniband.bth.opcode == RC_READ_REQUEST", 26,
       "infiniband.bth.opcode has no value named \"RC_READ_REQUEST\"; did you mean \"RC_RDMA_READ_REQUEST\"?"},
      {"infiniband.bth.opcode == \"RC_ACK\"", 26,
       "infiniband.bth.opcode has no value named \"RC_ACK\"; did you mean \"RC_ACKNOWLEDGE\"?"},
      {"infiniband.bth.opcode in {4, RC_ACK}", 30,
       "infiniband.bth.opcode has no value named \"RC_ACK\"; did you mean \"RC_ACKNOWLEDGE\"?"},
      {"eth.dst == 52:54", 12, "eth.dst is a MAC address (as in 02:00:00:00:00:01), \"52:54\" is not"},
      {"ip.src == 10.0.0.1/33", 11, "ip.src is an IPv4 address (as in 10.0.0.1 or 10.0.0.0/8), \"10.0.0.1/33\" is not"},
      {"ip.src == \"10.0.0.1\"", 11,
       "ip.src is an IPv4 address (as in 10.0.0.1 or 10.0.0.0/8), what stands in quotes is text"},
      {"ipv6.src == 10.0.0.1", 13, "ipv6.src is an IPv6 address (as in fe80::1 or fe80::/10), \"10.0.0.1\" is not"},
      {"frame[0:4] == 0x5254", 15, "\"0x5254\" has no byte order; write bytes as in 12:b7"},
      {"frame[0:4] == 5:54:zz", 15, "frame is a string of bytes (as in 12:b7 or \"text\"), \"5:54:zz\" is not"},
      {"frame.time_relative > 1.2.3", 23, "frame.time_relative is a time in seconds (as in 0.0015), \"1.2.3\" is not"},
      {"frame.time_relative > 99999999999", 23,
       "frame.time_relative is a time in seconds (as in 0.0015), \"99999999999\" is not"},
      {"frame.number in {9..1}", 18, "the range 9..1 is empty"},
      {"frame.protocols == \"\\q\"", 21, "\"\\q\" is not an escape; double the backslash or write r\"...\""},
      {"frame.protocols == \"a\\u12\"", 22, "\\u needs four hex digits"},
      {"frame.number == 'ab'", 17, "single quotes hold one character; use double quotes for text"},
      {"frame.number == ''", 17, "single quotes hold one character; use double quotes for text"},
  });
}

TEST(FilterErrors, Types) {
  check_errors({
      {"ip.src == udp.port", 11, "ip.src is an IPv4 address, udp.port is a number"},
      {"frame.number == frame.time_relative", 17, "frame.number is a number, frame.time_relative is a time in seconds"},
      {"ip.src contains \"a\"", 1, "ip.src is an IPv4 address; contains needs text or bytes"},
      {"frame.number matches \"1\"", 1,
       "frame.number is a number; matches needs text or bytes, as in string(frame.number) matches \"...\""},
      {"frame.protocols matches udp", 25, "matches needs a regular expression in double quotes"},
      {"frame.protocols matches \"(?=a)\"", 25, "the regular expression does not compile: invalid perl operator: (?="},
      {"udp.port[0] == 12", 9, "udp.port is a number; only bytes, addresses and text have slices"},
      {"udp and len(udp.port) == 2", 13, "len() takes bytes, addresses or text, udp.port is a number"},
      {"upper(ip.src) == \"1\"", 7, "upper() takes text, ip.src is an IPv4 address"},
      {"len(eth.dst)", 1, "len() needs a comparison"},
      {"foo(udp.port) == 2", 1, "no function \"foo\"; there are len, count, lower, upper, string, max and min"},
      {"count(udp, ip) == 2", 12, "count() takes one field"},
      {"eth.dst[0:2] & 2", 16, "the mask has 1 byte, the value 2"},
      {"frame.protocols & 2", 19, "frame.protocols is a text and has no bits to test"},
      {"3 == 3", 1, "a field must stand here, \"3\" is a constant"},
      {"\"abc\"", 1, "a field must stand here, \"\"abc\"\" is a constant"},
      {"infiniband#2", 11, "infiniband is several headers; take one of them"},
      {"ip.src#0", 8, "layers count from 1"},
  });
}

TEST(FilterErrors, Syntax) {
  check_errors({
      {"(frame.number == 1", 19, "expected \")\", found the end"},
      {"frame.number == 1)", 18, "expected \"and\" or \"or\", found \")\""},
      {"frame.number == 1 and", 22, "expected a field or comparison, found the end"},
      {"frame.number == 1 and and udp", 23, "expected a field or comparison, found \"and\""},
      {"frame.number = 1", 14, "expected \"and\" or \"or\", found \"=\"; did you mean \"==\"?"},
      {"udp AND ip", 5, "expected \"and\" or \"or\", found \"AND\"; did you mean \"and\"?"},
      {"frame.number ==", 16, "expected a value or field, found the end"},
      {"== 3", 1, "expected a field or comparison, found \"==\""},
      {"()", 2, "expected a field or comparison, found \")\""},
      {"!", 2, "expected a field or comparison, found the end"},
      {"any udp", 8, "expected a comparison, found the end"},
      {"udp ip", 5, "expected \"and\" or \"or\", found \"ip\""},
      {"frame.number == (1)", 17, "expected a value or field, found \"(\""},
      {"frame.number in 1", 17, "expected a set like {1, 2, 5..9}, found \"1\""},
      {"frame.number in {}", 18, "expected a value or field, found \"}\""},
      {"frame.number in {1 2}", 20, "expected \",\" or \"}\", found \"2\""},
      {"frame.number in {1..}", 21, "expected a value or field, found \"}\""},
      {"frame[a]", 7, "expected a position like 0:4, 2-5, -2: or 3, found \"a\""},
      {"frame[1", 8, "expected \",\" or \"]\", found the end"},
      {"frame[0:0]", 7, "a slice of no bytes"},
      {"frame[3-1]", 7, "the slice 3-1 ends before it starts"},
      {"udp.port + 1 == 2", 10, "expected \"and\" or \"or\", found \"+\""},
      {"frame.protocols == \"open", 20, "this quote is not closed"},
      {"frame.protocols == \"open\\\"", 20, "this quote is not closed"},
      {std::string_view("udp\0", 4), 4, "expected \"and\" or \"or\", found \"?\""},
      {"\xff\xfe", 1, "expected a field or comparison, found \"\xff\xfe\""},
  });
}

TEST(FilterErrors, Depth) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '(') + "udp" + std::string(depth, ')'); };
  check({{nested(200), ack, true}});
  check_errors({{nested(201), 202, "nested more than 200 deep"},
                {nested(10'000), 202, "nested more than 200 deep"},
                {std::string(1'000'000, '('), 202, "nested more than 200 deep"}});
  std::string functions;
  for (int i = 0; i < 10'000; ++i) functions += "max(";
  EXPECT_TRUE(std::holds_alternative<FilterError>(Filter::compile(functions)));
}

TEST(FilterErrors, LongIsNotDeep) {
  std::string chain = "ipv6", xors = "udp", nots, set = "frame.number in {5";
  for (int i = 0; i < 5000; ++i) {
    chain += i % 2 ? " or ipv6" : " and ipv6";
    xors += " xor udp";
    nots += "not ";
    set += "," + std::to_string(i * 2 + 7);
  }
  check({{chain, ack, false},
         {xors, ack, true},
         {nots + "udp", ack, true},
         {set + "}", ack, false},
         {set + "}", native, true}});
}

TEST(FilterErrors, ExplainPutsTheCaretBelow) {
  const auto explained = [](std::string_view text) {
    return explain(std::get<FilterError>(Filter::compile(text)), text);
  };
  EXPECT_EQ(explained("udp and\tfoo_bar_baz"), "udp and foo_bar_baz\n        ^\nno field \"foo_bar_baz\"");
  // One column for a character of two bytes.
  EXPECT_EQ(explained("frame.protocols == \"\xc3\xbc\" ?"),
            "frame.protocols == \"\xc3\xbc\" ?\n                       ^\nexpected \"and\" or \"or\", found \"?\"");
  const std::string late = explained(std::string(5'000, ' ') + "=" + std::string(5'000, ' '));
  EXPECT_LT(late.size(), 300u);
  EXPECT_EQ(late.find('='), late.find('^') - late.find('\n') - 1);
}

TEST(Filter, CopiesShareTheProgram) {
  Filter copy;
  {
    const Filter filter = std::get<Filter>(Filter::compile("infiniband.bth.psn == 0"));
    copy = filter;
  }
  EXPECT_TRUE(copy.matches(ack()));
  EXPECT_FALSE(copy.matches(read_request()));
}

}  // namespace
}  // namespace rdmascope::dissect
