// The walker: layers and fields of known frames, CRC verdicts, and what it says of damaged ones.
#include "dissect/walk.h"

#include <gtest/gtest.h>

#include "dissect/crc.h"
#include "dissect/json.h"
#include "dissect/summary.h"
#include "dissect/tree.h"
#include "tests/unit/walked.h"

namespace rdmascope::dissect {
namespace {

using namespace rdmascope::test;

TEST(Vectors, EveryIcrcIsGoodAndEveryFlippedBitIsSeen) {
  for (const Vector* v : all_vectors) {
    const Walked good(*v);
    EXPECT_EQ(good.packet.icrc().status, CrcStatus::good) << v->name;
    EXPECT_TRUE(good.packet.events().empty()) << v->name << ": " << good.text("rdmascope.event");
    const bool native = v->link_type == link_infiniband;
    EXPECT_EQ(good.packet.vcrc().status, native ? CrcStatus::good : CrcStatus::absent) << v->name;

    std::vector<std::uint8_t> bytes = from_hex(v->hex);
    bytes[bytes.size() - (native ? 7 : 5)] ^= 1;  // the last covered byte
    const Walked bad(bytes, v->link_type);
    EXPECT_EQ(bad.packet.icrc().status, CrcStatus::bad) << v->name;
    EXPECT_EQ(bad.packet.vcrc().status, native ? CrcStatus::bad : CrcStatus::absent) << v->name;
  }
}

// What each vector says, field by field, as the reference text describes it.
struct Expected {
  const Vector* vector;
  std::string_view layers;
  std::vector<std::pair<std::string_view, std::string_view>> fields;
};

TEST(Vectors, FieldsAreRead) {
  const Expected cases[] = {
      {&v1,
       "eth ip udp infiniband.bth infiniband.aeth infiniband.invariant",
       {{"infiniband.bth.opcode", "17"},
        {"infiniband.aeth.msn", "1"},
        {"infiniband.invariant.crc", "0x259cc216"},
        {"infiniband.invariant.crc.status", "Good"},
        {"udp.srcport", "72"},
        {"ip.dst", "192.168.70.4"}}},
      {&v2,
       "eth ip udp infiniband.bth infiniband.payload infiniband.pad infiniband.invariant",
       {{"infiniband.bth.opcode", "36"},
        {"infiniband.bth.padcnt", "2"},
        {"infiniband.bth.destqp", "0x0000d3"},
        {"infiniband.invariant.crc", "0x78f353f3"},
        {"infiniband.pad.data", "0000"}}},
      {&v3,
       "eth ipv6 udp infiniband.bth infiniband.payload infiniband.pad infiniband.invariant",
       {{"ipv6.flow", "0x1face"}, {"ipv6.src", "2022::1023"}, {"infiniband.invariant.crc", "0x3e5b743b"}}},
      {&v4,
       "eth infiniband.grh infiniband.bth infiniband.reth infiniband.payload infiniband.pad infiniband.invariant",
       {{"infiniband.bth.padcnt", "3"},
        {"infiniband.reth.dmalen", "5"},
        {"infiniband.payload.data", "0000000001"},
        {"infiniband.grh.dgid", "::ffff:15.0.0.2"},
        {"infiniband.bth.psn", "10979516"}}},
      {&v5,
       "eth infiniband.grh infiniband.bth infiniband.aeth infiniband.invariant",
       {{"infiniband.aeth.syndrome", "0"}, {"infiniband.aeth.msn", "5"}, {"infiniband.grh.sgid", "::ffff:15.0.0.2"}}},
      {&v6,
       "eth ip udp infiniband.bth infiniband.cnp infiniband.invariant",
       {{"infiniband.bth.opcode", "129"},
        {"infiniband.bth.becn", "1"},
        {"infiniband.bth.fecn", "0"},
        {"infiniband.bth.reserved6", "0x00"},
        {"infiniband.bth.psn", "0"}}},
      {&v7,
       "infiniband.lrh infiniband.bth infiniband.reth infiniband.payload infiniband.pad infiniband.invariant "
       "infiniband.variant",
       {{"infiniband.lrh.pktlen", "14"},
        {"infiniband.invariant.crc", "0x9625b75a"},
        {"infiniband.variant.crc", "0x45fa"}}},
      {&v8,
       "infiniband.lrh infiniband.bth infiniband.aeth infiniband.invariant infiniband.variant",
       {{"infiniband.lrh.dlid", "4"}, {"infiniband.lrh.slid", "1"}, {"infiniband.variant.crc.status", "Good"}}},
      {&v9,
       "infiniband.lrh infiniband.grh infiniband.bth infiniband.deth ipoib data infiniband.invariant "
       "infiniband.variant",
       {{"infiniband.lrh.pktlen", "33"},
        {"infiniband.grh.paylen", "84"},
        {"infiniband.deth.q_key", "0x00000b1b"},
        {"ipoib.type", "0x0806"}}},
      {&d1,
       "eth ip udp infiniband.bth infiniband.reth infiniband.invariant",
       {{"infiniband.bth.psn", "16777214"},
        {"infiniband.bth.a", "1"},
        {"infiniband.reth.va", "0x0000000000999000"},
        {"infiniband.reth.r_key", "0x00012345"},
        {"infiniband.reth.dmalen", "768"},
        {"infiniband.bth.destqp", "0x000011"}}},
      {&d2,
       "eth ip udp infiniband.bth infiniband.aeth infiniband.payload infiniband.pad infiniband.invariant",
       {{"infiniband.aeth.syndrome.credit_count", "31"},
        {"infiniband.payload.data", "0102030405"},
        {"infiniband.pad.data", "000000"}}},
      {&d3, "eth ip udp infiniband.bth infiniband.aeth infiniband.invariant", {{"infiniband.aeth.msn", "2"}}},
      {&d4,
       "eth ip udp infiniband.bth infiniband.aeth infiniband.invariant",
       {{"infiniband.aeth.syndrome.opcode", "3"},
        {"infiniband.aeth.syndrome.error_code", "0"},
        {"infiniband.aeth.msn", "3"}}},
      {&d5,
       "eth ip udp infiniband.bth infiniband.aeth infiniband.invariant",
       {{"infiniband.aeth.syndrome.timer", "31"}, {"infiniband.aeth.syndrome.error_code", ""}}},
      {&d6,
       "eth ip udp infiniband.bth infiniband.feth infiniband.reth infiniband.invariant",
       {{"infiniband.feth.plt", "0x1"},
        {"infiniband.feth.plt.visibility", "1"},
        {"infiniband.feth.sel", "0"},
        {"infiniband.reth.dmalen", "64"}}},
      {&d7,
       "eth ip udp infiniband.bth infiniband.reth infiniband.payload infiniband.invariant",
       {{"infiniband.payload.data", "1122334455667788"}}},
      {&d8,
       "infiniband.lrh infiniband.bth infiniband.reth infiniband.invariant infiniband.variant",
       {{"infiniband.bth.psn", "100"}}},
      {&d9,
       "infiniband.lrh infiniband.bth infiniband.aeth infiniband.invariant infiniband.variant",
       {{"infiniband.lrh.slid", "2"}}},
      {&d10,
       "eth ip udp infiniband.bth infiniband.xrceth infiniband.payload infiniband.invariant",
       {{"infiniband.xrceth.xrcsrq", "0x000033"}, {"infiniband.payload.data", "deadbeef"}}},
  };
  for (const Expected& c : cases) {
    const Walked w(*c.vector);
    EXPECT_EQ(w.layers(), c.layers) << c.vector->name;
    for (const auto& [field, value] : c.fields) EXPECT_EQ(w.text(field), value) << c.vector->name << " " << field;
  }
}

TEST(Crc, ExpectedValueIsTheGoodOne) {
  std::vector<std::uint8_t> bytes = from_hex(d1.hex);
  bytes.back() ^= 0x80;
  const Walked w(bytes);
  EXPECT_EQ(w.text("infiniband.invariant.crc.status"), "Bad");
  EXPECT_EQ(w.text("infiniband.invariant.crc.expected"), "0x2bb49cfc");
}

TEST(Crc, MaskedBitsDoNotCount) {
  std::vector<std::uint8_t> bytes = from_hex(d1.hex);
  bytes[15] ^= 0xff;  // TOS
  bytes[22] ^= 0xff;  // TTL
  bytes[24] ^= 0xff;  // header checksum
  bytes[40] ^= 0xff;  // UDP checksum
  bytes[46] ^= 0xff;  // FECN, BECN, reserved
  EXPECT_EQ(Walked(bytes).packet.icrc().status, CrcStatus::good);
  bytes[50] ^= 1;  // reserved bits beside AckReq are covered
  EXPECT_EQ(Walked(bytes).packet.icrc().status, CrcStatus::bad);
}

TEST(Crc, VcrcOfTheCheckString) {
  const std::string_view digits = "123456789";
  const std::uint16_t big_endian = compute_vcrc({reinterpret_cast<const std::uint8_t*>(digits.data()), digits.size()});
  EXPECT_EQ(big_endian, 0x3d0a);  // 0x0A3D, least significant byte first on the wire
}

// Cut at every byte: never a layer beyond the end, and never a CRC verdict without the CRC.
TEST(Walk, CutAnywhereIsUnverifiedNotBad) {
  for (const Vector* v : all_vectors) {
    const std::vector<std::uint8_t> whole = from_hex(v->hex);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Walked w(std::vector<std::uint8_t>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)),
                     v->link_type, static_cast<std::uint32_t>(whole.size()));
      for (const Layer& layer : w.packet.layers()) ASSERT_LE(layer.at + layer.bytes, size) << v->name;
      const bool icrc_whole = v->link_type == link_infiniband && size + 2 >= whole.size();
      const CrcStatus status = w.packet.icrc().status;
      const bool no_verdict = status == CrcStatus::absent || status == CrcStatus::unverified;
      ASSERT_TRUE(icrc_whole ? status == CrcStatus::good : no_verdict) << v->name << " " << size;
    }
  }
}

TEST(Walk, SourcePortDoesNotMislead) {
  for (unsigned port : {53u, 4789u, 4791u, 6081u}) {
    std::vector<std::uint8_t> bytes = from_hex(d1.hex);
    bytes[34] = static_cast<std::uint8_t>(port >> 8);
    bytes[35] = static_cast<std::uint8_t>(port);
    EXPECT_EQ(Walked(bytes).packet.bth_layer, 4) << port;
  }
  std::vector<std::uint8_t> bytes = from_hex(d1.hex);
  bytes[36] = 0x1f, bytes[37] = 0x40;  // to port 8000 from 4791
  bytes[34] = 0x12, bytes[35] = 0xb7;
  EXPECT_EQ(Walked(bytes).packet.bth_layer, -1);
}

TEST(Walk, FurtherRocePorts) {
  std::vector<std::uint8_t> bytes = from_hex(d1.hex);
  bytes[36] = 0x26, bytes[37] = 0x0d;  // 9741
  EXPECT_EQ(Walked(bytes).packet.bth_layer, -1);
  WalkOptions options;
  ASSERT_TRUE(options.add_roce_port(9741));
  EXPECT_EQ(Walked(bytes, link_ethernet, {}, options).packet.bth_layer, 4);
  EXPECT_EQ(Walked(from_hex(d1.hex), link_ethernet, {}, options).packet.bth_layer, 4);
}

TEST(Walk, EthernetPaddingAndFcsAreNoPayload) {
  std::vector<std::uint8_t> bytes = from_hex(d3.hex);
  const std::size_t packet_end = bytes.size();
  bytes.resize(packet_end + 6);  // zeros
  const Walked padded(bytes);
  EXPECT_EQ(padded.text("eth.trailer.data"), "000000000000");
  EXPECT_EQ(padded.packet.icrc().status, CrcStatus::good);
  EXPECT_TRUE(padded.packet.events().empty());
}

TEST(Walk, LengthsThatContradictEachOtherAreAnEvent) {
  std::vector<std::uint8_t> bytes = from_hex(d1.hex);
  bytes[39] = 0x60;  // UDP length beyond IP
  const Walked w(bytes);
  EXPECT_EQ(w.text("rdmascope.event"), "udp.bad_length");
  EXPECT_EQ(w.packet.icrc().status, CrcStatus::unverified);
  EXPECT_EQ(w.text("infiniband.reth.dmalen"), "768");
}

TEST(Walk, EndlessTagsStop) {
  std::vector<std::uint8_t> bytes(14 + 4 * 100);
  for (std::size_t i = 12; i + 1 < bytes.size(); i += 4) bytes[i] = 0x81;
  const Walked w(bytes);
  EXPECT_NE(w.text("rdmascope.event").find("too_deep"), std::string::npos);
}

TEST(Walk, DataThatLooksLikeIpoibStaysData) {
  std::vector<std::uint8_t> bytes = from_hex(d10.hex);
  bytes[54 + 4] = 0x08, bytes[54 + 5] = 0, bytes[54 + 6] = 0, bytes[54 + 7] = 0;
  EXPECT_NE(Walked(bytes).layers().find("infiniband.payload"), std::string::npos);
}

TEST(Output, JsonTreeAndSummaryOfAVector) {
  const Walked w(d4);
  Text json, tree, info;
  put_json(json, w.packet, {});
  EXPECT_NE(json.view().find("\"infiniband.aeth\":{\"syndrome\":96,"), std::string_view::npos) << json.view();
  EXPECT_NE(json.view().find("\"syndrome.error_code_name\":\"PSN Sequence Error\""), std::string_view::npos);
  put_tree(tree, w.packet, "0");
  EXPECT_NE(tree.view().find("...0 0000 = Error Code: 0 (PSN Sequence Error)"), std::string_view::npos) << tree.view();
  put_info(info, w.packet);
  EXPECT_EQ(info.view(), "RC Acknowledge QP 0x000022 PSN 5 NAK PSN Sequence Error MSN 3");
}

}  // namespace
}  // namespace rdmascope::dissect
