// Messages of the connection manager: every field of every message, the header of RDMA CM, and what cutting does.
#include "dissect/cm.h"

#include <gtest/gtest.h>

#include "dissect/headers.h"
#include "tests/unit/walked.h"

namespace rdmascope::dissect {
namespace {

using namespace rdmascope::test;

// A MAD of a message, which is given in hex up to its last byte that is not 0.
std::vector<std::uint8_t> mad_of(std::string_view attribute, std::string_view message, std::string_view class_ = "07",
                                 std::string_view method = "03") {
  std::string hex = "01";
  hex.append(class_).append("02").append(method).append("00000000").append("0001020304050607");
  hex.append(attribute).append("000000000000").append(message);
  std::vector<std::uint8_t> bytes = from_hex(hex);
  bytes.resize(mad_bytes);
  return bytes;
}

Walked walk_mad(std::vector<std::uint8_t> mad, std::optional<std::uint32_t> wire_bytes = {}) {
  WalkOptions options;
  options.start = find_start("infiniband.mad");
  return Walked(std::move(mad), link_ethernet, wire_bytes, options);
}

using Fields = std::vector<std::pair<std::string_view, std::string>>;

void expect_fields(const Walked& walked, std::string_view header, const Fields& fields) {
  for (const auto& [name, text] : fields) {
    const std::string full = std::string(header) + "." + std::string(name);
    EXPECT_EQ(walked.text(full), text) << full;
  }
}

// mad.md section 11, vector 28: constructed by the specification, not by us.
constexpr std::string_view vector_28 =
    "0107020300000000000102030405060700100000000000001122334400000000"
    "000000000106123400000000001000010000000000000000abcdef0400000005"
    "000000a012345697ffff46f000030004fe800000000000000000000000100001"
    "fe800000000000000000000000100003abcde003014028980000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "000000000040beef0000000000000000000000000a0000010000000000000000"
    "000000000a000002000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000";

TEST(Cm, RequestOfIpCm) {
  const Walked walked = walk_mad(from_hex(vector_28));
  EXPECT_EQ(walked.layers(), "infiniband.mad infiniband.cm.req infiniband.cm.req.ip_cm");
  EXPECT_TRUE(walked.packet.events().empty());
  EXPECT_EQ(walked.text("infiniband.mad.data"), "");
  expect_fields(walked, "infiniband.cm.req",
                {{"localcommid", "0x11223344"},
                 {"reserved0", "0x00000000"},
                 {"serviceid", "0x0000000001061234"},
                 {"serviceid.prefix", "0000000001"},
                 {"serviceid.protocol", "6"},
                 {"serviceid.dport", "4660"},
                 {"localcaguid", "0x0000000000100001"},
                 {"localqkey", "0x00000000"},
                 {"localqpn", "0xabcdef"},
                 {"responderres", "4"},
                 {"localeecn", "0x000000"},
                 {"initdepth", "5"},
                 {"remoteresptout", "20"},
                 {"transpsvctype", "0"},
                 {"e2eflowctrl", "0"},
                 {"startpsn", "1193046"},
                 {"localresptout", "18"},
                 {"retrcount", "7"},
                 {"pkey", "0xffff"},
                 {"pppmtu", "4"},
                 {"rdcexist", "0"},
                 {"rnrretrcount", "6"},
                 {"maxcmretr", "15"},
                 {"srq", "0"},
                 {"ext_transport", "0"},
                 {"prim_locallid", "3"},
                 {"prim_remotelid", "4"},
                 {"prim_localgid", "fe80::10:1"},
                 {"prim_remotegid", "fe80::10:3"},
                 {"prim_flowlabel", "0xabcde"},
                 {"prim_reserved0", "0x00"},
                 {"prim_pktrate", "3"},
                 {"prim_tfcclass", "0x01"},
                 {"prim_hoplim", "64"},
                 {"prim_sl", "2"},
                 {"prim_subnetlocal", "1"},
                 {"prim_localacktout", "19"},
                 {"alt_locallid", "0"},
                 {"private", ""}});
  expect_fields(walked, "infiniband.cm.req.ip_cm",
                {{"majv", "0"},
                 {"minv", "0"},
                 {"ipv", "4"},
                 {"reserved", "0x0"},
                 {"sport", "48879"},
                 {"sip6", ""},
                 {"sip4.reserved", "000000000000000000000000"},
                 {"sip4", "10.0.0.1"},
                 {"dip6", ""},
                 {"dip4", "10.0.0.2"},
                 {"private", std::string(112, '0')}});
}

// Everything that is 0 in the vector, and a ServiceID that is not of IP CM.
TEST(Cm, RequestOfAnotherService) {
  const Walked walked = walk_mad(mad_of("0010",
                                        "11223344"          // LocalCommID
                                        "deadbeef"          // reserved
                                        "1000000001061234"  // ServiceID
                                        "0002c90300001234"  // LocalCAGUID
                                        "0badcafe"          // reserved
                                        "0000a5a5"          // LocalQ_Key
                                        "000041"
                                        "10"
                                        "000042"
                                        "07"
                                        "000043"  // LocalQPN, ResponderResources, LocalEECN, InitiatorDepth, RemoteEECN
                                        "9f"      // RemoteCMResponseTimeout 19, transport 3, flow control
                                        "fffffe"
                                        "7d"  // StartingPSN; LocalCMResponseTimeout 15, RetryCount 5
                                        "8001"
                                        "5d"
                                        "39"  // PartitionKey; MTU 5, RDC, RNR retry 5; CM retries 3, SRQ, XRC
                                        "00010002"
                                        "fe800000000000000000000000000001"
                                        "fe800000000000000000000000000002"
                                        "12345fea"
                                        "b8ff"
                                        "5e"
                                        "ff"  // FlowLabel, reserved, rate 42; class, hops; SL 5, subnet local, reserved
                                        "00030004"
                                        "fe800000000000000000000000000003"
                                        "fe800000000000000000000000000004"
                                        "54321543"
                                        "1120"
                                        "67"
                                        "85"  // rate 3; SL 6, reserved; timeout 16, SAP, reserved
                                        "68656c6c6f"));
  EXPECT_EQ(walked.layers(), "infiniband.mad infiniband.cm.req");
  expect_fields(walked, "infiniband.cm.req",
                {{"reserved0", "0xdeadbeef"},
                 {"serviceid", "0x1000000001061234"},
                 {"serviceid.prefix", ""},
                 {"serviceid.protocol", ""},
                 {"serviceid.dport", ""},
                 {"localcaguid", "0x0002c90300001234"},
                 {"reserved1", "0x0badcafe"},
                 {"localqkey", "0x0000a5a5"},
                 {"localqpn", "0x000041"},
                 {"responderres", "16"},
                 {"localeecn", "0x000042"},
                 {"initdepth", "7"},
                 {"remoteeecn", "0x000043"},
                 {"remoteresptout", "19"},
                 {"transpsvctype", "3"},
                 {"e2eflowctrl", "1"},
                 {"startpsn", "16777214"},
                 {"localresptout", "15"},
                 {"retrcount", "5"},
                 {"pkey", "0x8001"},
                 {"pppmtu", "5"},
                 {"rdcexist", "1"},
                 {"rnrretrcount", "5"},
                 {"maxcmretr", "3"},
                 {"srq", "1"},
                 {"ext_transport", "1"},
                 {"prim_flowlabel", "0x12345"},
                 {"prim_reserved0", "0x3f"},
                 {"prim_pktrate", "42"},
                 {"prim_tfcclass", "0xb8"},
                 {"prim_hoplim", "255"},
                 {"prim_sl", "5"},
                 {"prim_subnetlocal", "1"},
                 {"prim_reserved1", "0x6"},
                 {"prim_localacktout", "31"},
                 {"prim_reserved2", "0x7"},
                 {"alt_locallid", "3"},
                 {"alt_remotelid", "4"},
                 {"alt_localgid", "fe80::3"},
                 {"alt_remotegid", "fe80::4"},
                 {"alt_flowlabel", "0x54321"},
                 {"alt_reserved0", "0x15"},
                 {"alt_pktrate", "3"},
                 {"alt_tfcclass", "0x11"},
                 {"alt_hoplim", "32"},
                 {"alt_sl", "6"},
                 {"alt_subnetlocal", "0"},
                 {"alt_reserved1", "0x7"},
                 {"alt_localacktout", "16"},
                 {"sap", "1"},
                 {"alt_reserved2", "0x1"},
                 {"private", "68656c6c6f" + std::string(174, '0')}});
}

constexpr std::string_view ids = "ff45514dfc45514d";

TEST(Cm, ReplyOfRping) {  // second packet of samples/cm-rping; the values are those of tshark
  const Walked walked =
      walk_mad(mad_of("0013", "ff45514dfc45514d0000000000001a000000000015ec7000010178e0f88ac1fffee7fd2d"));
  EXPECT_EQ(walked.layers(), "infiniband.mad infiniband.cm.rep");
  expect_fields(walked, "infiniband.cm.rep",
                {{"localcommid", "0xff45514d"},
                 {"remotecommid", "0xfc45514d"},
                 {"localqpn", "0x00001a"},
                 {"startpsn", "1436784"},
                 {"respres", "1"},
                 {"initdepth", "1"},
                 {"tgtackdelay", "15"},
                 {"failoveracc", "0"},
                 {"e2eflowctrl", "0"},
                 {"rnrretrcount", "7"},
                 {"srq", "0"},
                 {"localcaguid", "0xf88ac1fffee7fd2d"},
                 {"private", std::string(392, '0')}});
}

struct Message {
  std::string_view attribute, header, hex;  // behind the two communication IDs
  Fields fields;
};

TEST(Cm, MessagesWithTwoCommunicationIds) {
  const Message messages[] = {
      {"0011",
       "infiniband.cm.mra",
       "bf9dabcd",
       {{"msgmraed", "2"}, {"reserved0", "0x3f"}, {"svctout", "19"}, {"reserved1", "0x5"}}},
      {"0012",
       "infiniband.cm.rej",
       "4190001c77687921",
       {{"msgrej", "1"},
        {"reserved0", "0x01"},
        {"rejinfolen", "72"},
        {"reserved1", "0x0"},
        {"reason", "28"},
        {"ari", "77687921" + std::string(136, '0')}}},
      {"0013",
       "infiniband.cm.rep",
       "80010000"
       "000022"
       "a1"
       "000033"
       "a2"
       "fffffe"
       "a3"
       "0410"
       "7d"
       "ba"
       "0002c90300005678",
       {{"localqkey", "0x80010000"},
        {"localqpn", "0x000022"},
        {"reserved0", "0xa1"},
        {"localeecn", "0x000033"},
        {"reserved1", "0xa2"},
        {"startpsn", "16777214"},
        {"reserved2", "0xa3"},
        {"respres", "4"},
        {"initdepth", "16"},
        {"tgtackdelay", "15"},
        {"failoveracc", "2"},
        {"e2eflowctrl", "1"},
        {"rnrretrcount", "5"},
        {"srq", "1"},
        {"reserved", "0xa"},
        {"localcaguid", "0x0002c90300005678"}}},
      {"0014", "infiniband.cm.rtu", "", {}},
      {"0015", "infiniband.cm.dreq", "00001a99", {{"remoteqpneecn", "0x00001a"}, {"reserved0", "0x99"}}},
      {"0016", "infiniband.cm.drsp", "", {}},
      {"0019",
       "infiniband.cm.lap",
       "01020304"
       "000022"
       "a5"
       "05060708"
       "00010002"
       "fe800000000000000000000000000001"
       "fe800000000000000000000000000002"
       "12345e"
       "b8"
       "40"
       "c3"
       "5b"
       "97",
       {{"reserved0", "0x01020304"},  {"remoteqpneecn", "0x000022"},
        {"remoteresptout", "20"},     {"reserved1", "0x5"},
        {"reserved2", "0x05060708"},  {"alt_locallid", "1"},
        {"alt_remotelid", "2"},       {"alt_localgid", "fe80::1"},
        {"alt_remotegid", "fe80::2"}, {"alt_flowlabel", "0x12345"},
        {"alt_reserved0", "0xe"},     {"alt_tfcclass", "0xb8"},
        {"alt_hoplim", "64"},         {"alt_reserved1", "0x3"},
        {"alt_pktrate", "3"},         {"alt_sl", "5"},
        {"alt_subnetlocal", "1"},     {"alt_reserved2", "0x3"},
        {"alt_localacktout", "18"},   {"alt_reserved3", "0x7"}}},
      {"001a",
       "infiniband.cm.apr",
       "0402a55a77687921",
       {{"addinfolen", "4"},
        {"apstatus", "2"},
        {"reserved0", "0xa55a"},
        {"addinfo", "77687921" + std::string(136, '0')}}},
  };
  for (const Message& m : messages) {
    std::vector<std::uint8_t> mad = mad_of(m.attribute, std::string(ids) + std::string(m.hex));
    const Header& header = *find_header(m.header);
    for (std::size_t i = Mad::bytes + header.bytes; i < mad.size(); ++i) mad[i] = 0xdd;  // private data
    const Walked walked = walk_mad(std::move(mad));
    EXPECT_EQ(walked.layers(), "infiniband.mad " + std::string(m.header));
    EXPECT_TRUE(walked.packet.events().empty()) << m.header;
    expect_fields(walked, m.header, {{"localcommid", "0xff45514d"}, {"remotecommid", "0xfc45514d"}});
    expect_fields(walked, m.header, m.fields);
    expect_fields(walked, m.header, {{"private", std::string((cm_bytes - header.bytes) * 2, 'd')}});
  }
}

TEST(Cm, ServiceIdResolution) {
  const Walked request = walk_mad(mad_of("0017",
                                         "cc0000018001a55a0000000001117777"
                                         "1269beef"
                                         "20010db8000000000000000000000001"
                                         "20010db8000000000000000000000002"
                                         "6869"));
  EXPECT_EQ(request.layers(), "infiniband.mad infiniband.cm.sidr_req infiniband.cm.req.ip_cm");
  expect_fields(request, "infiniband.cm.sidr_req",
                {{"requestid", "0xcc000001"},
                 {"pkey", "0x8001"},
                 {"reserved0", "0xa55a"},
                 {"serviceid", "0x0000000001117777"},
                 {"serviceid.protocol", "17"},
                 {"serviceid.dport", "30583"},
                 {"private", ""}});
  expect_fields(request, "infiniband.cm.req.ip_cm",
                {{"majv", "1"},
                 {"minv", "2"},
                 {"ipv", "6"},
                 {"reserved", "0x9"},
                 {"sport", "48879"},
                 {"sip6", "2001:db8::1"},
                 {"sip4", ""},
                 {"sip4.reserved", ""},
                 {"dip6", "2001:db8::2"},
                 {"dip4", ""},
                 {"dip4.reserved", ""},
                 {"private", "6869" + std::string(356, '0')}});

  const Walked other = walk_mad(mad_of("0017", "cc0000018001a55a00000000020677776869"));
  EXPECT_EQ(other.layers(), "infiniband.mad infiniband.cm.sidr_req");
  expect_fields(other, "infiniband.cm.sidr_req", {{"private", "6869" + std::string(428, '0')}});

  const Walked reply = walk_mad(mad_of("0018", "cc0000010103a55a000033aa000000000111777700001ee7776879"));
  EXPECT_EQ(reply.layers(), "infiniband.mad infiniband.cm.sidr_rep");
  expect_fields(reply, "infiniband.cm.sidr_rep",
                {{"requestid", "0xcc000001"},
                 {"status", "1"},
                 {"addinfolen", "3"},
                 {"reserved0", "0xa55a"},
                 {"qpn", "0x000033"},
                 {"reserved1", "0xaa"},
                 {"serviceid", "0x0000000001117777"},
                 {"qkey", "0x00001ee7"},
                 {"addinfo", "776879" + std::string(138, '0')},
                 {"private", std::string(272, '0')}});
}

TEST(Cm, OtherDatagramsOfTheClassKeepTheirBytes) {
  const std::vector<std::uint8_t> others[] = {
      mad_of("0010", "0102", "07", "01"),  // not sent
      mad_of("0010", "0102", "10", "03"),  // another class
      mad_of("000f", "0102"),
      mad_of("001b", "0102"),
  };
  for (const auto& mad : others) {
    const Walked walked = walk_mad(mad);
    EXPECT_EQ(walked.layers(), "infiniband.mad");
    EXPECT_EQ(walked.text("infiniband.mad.data"), "0102" + std::string(460, '0'));
  }
}

TEST(Cm, ClassPortInfo) {
  const Walked walked = walk_mad(mad_of("0001", "0102000200000012", "07", "81"));
  EXPECT_EQ(walked.layers(), "infiniband.mad infiniband.classportinfo infiniband.mad.unused");
  EXPECT_EQ(walked.text("infiniband.classportinfo.resptimevalue"), "18");
  EXPECT_EQ(walked.text("infiniband.classportinfo.capabilities"), "IsNoticeSupported");
  EXPECT_EQ(walk_mad(mad_of("0001", "0102", "07", "03")).layers(), "infiniband.mad");  // sent: no attribute of that
}

// What there is, is shown; the event names the first header that is not whole.
TEST(Cm, CutAtEveryByte) {
  struct Case {
    std::string_view attribute;
    std::vector<const Header*> headers;
  };
  const Case cases[] = {{"0010", {&header<CmReq>, &header<IpCm>}},
                        {"0011", {&header<CmMra>}},
                        {"0012", {&header<CmRej>}},
                        {"0013", {&header<CmRep>}},
                        {"0014", {&header<CmRtu>}},
                        {"0015", {&header<CmDreq>}},
                        {"0016", {&header<CmDrep>}},
                        {"0017", {&header<CmSidrReq>, &header<IpCm>}},
                        {"0018", {&header<CmSidrRep>}},
                        {"0019", {&header<CmLap>}},
                        {"001a", {&header<CmApr>}}};
  for (const Case& c : cases) {
    const std::vector<std::uint8_t> whole = mad_of(c.attribute, "00000000000000000000000001061234");
    for (std::uint32_t bytes = Mad::bytes; bytes < mad_bytes; ++bytes)
      for (const bool cut : {true, false}) {
        const Walked walked = walk_mad({whole.begin(), whole.begin() + bytes}, cut ? mad_bytes : bytes);
        std::uint32_t end = Mad::bytes;
        std::string layers = "infiniband.mad";
        std::string_view last;
        for (const Header* h : c.headers) {
          last = h->name;
          end += h->bytes;
          if (bytes < end) {
            if (bytes > end - h->bytes) layers += " data";
            break;
          }
          layers.append(" ").append(h->name);
        }
        ASSERT_EQ(walked.layers(), layers) << c.attribute << ' ' << bytes;
        ASSERT_EQ(walked.text("rdmascope.event"), std::string(last) + (cut ? ".cut" : ".truncated")) << bytes;
        if (bytes > end) {
          ASSERT_EQ(walked.text(std::string(last) + ".private").size(), (bytes - end) * 2);
        }
      }
  }
}

TEST(Cm, NothingBehindTheDatagramIsPrivateData) {
  std::vector<std::uint8_t> mad = mad_of("0014", ids);
  mad.push_back(0x99);
  const Walked walked = walk_mad(mad);
  EXPECT_EQ(walked.layers(), "infiniband.mad infiniband.cm.rtu infiniband.payload");
  EXPECT_EQ(walked.text("infiniband.payload.data"), "99");
}

TEST(Cm, TimesAreNamed) {
  EXPECT_EQ(name_of(ib_times, 0), "4.096 us");
  EXPECT_EQ(name_of(ib_times, 7), "524.288 us");
  EXPECT_EQ(name_of(ib_times, 8), "1.049 ms");
  EXPECT_EQ(name_of(ib_times, 17), "536.871 ms");
  EXPECT_EQ(name_of(ib_times, 20), "4.295 s");
  EXPECT_EQ(name_of(ib_times, 31), "8796.093 s");
  EXPECT_EQ(name_of(cm_ack_timeouts, 0), "infinite");
  EXPECT_EQ(name_of(cm_ack_timeouts, 14), "67.109 ms");
}

}  // namespace
}  // namespace rdmascope::dissect
