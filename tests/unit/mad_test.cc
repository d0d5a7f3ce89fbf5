// Management datagrams: every vector of tests/golden/mad-vectors.txt against what the tools of the fabric printed of
// it, and back to bytes; layouts of the attributes that no vector has; tables of the SA in segments; cutting.
#include "dissect/mad.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "dissect/filter.h"
#include "dissect/headers.h"
#include "dissect/json.h"
#include "dissect/mad_attributes.h"
#include "dissect/summary.h"
#include "dissect/tree.h"
#include "tests/unit/walked.h"

namespace rdmascope::dissect {
namespace {

using namespace rdmascope::test;

Walked walk_mad(std::vector<std::uint8_t> mad, std::optional<std::uint32_t> wire_bytes = {}) {
  WalkOptions options;
  options.start = find_start("mad");
  return Walked(std::move(mad), link_ethernet, wire_bytes, options);
}

std::map<int, std::vector<std::uint8_t>> read_vectors() {
  std::map<int, std::vector<std::uint8_t>> out;
  std::ifstream file(RDMASCOPE_SOURCE "/tests/golden/mad-vectors.txt");
  std::string line, hex;
  int number = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("# ")) {
      if (const int n = std::atoi(line.c_str() + 2); n > 0 && line.find(". ") < 6 && out.find(n) == out.end()) {
        number = n;
        hex.clear();
        out[number];
      }
    } else if (!line.empty()) {
      hex += line;
      out[number] = from_hex(hex);
    }
  }
  return out;
}

const std::vector<std::uint8_t>& vector(int number) {
  static const std::map<int, std::vector<std::uint8_t>> vectors = read_vectors();
  return vectors.at(number);
}

std::string line_of(const Walked& walked) {
  Text out;
  put_info(out, walked.packet);
  return std::string(out.view());
}

// The bytes of the frame made again from the fields of its layers.
std::vector<std::uint8_t> rebuilt(const Walked& walked) {
  std::vector<std::uint8_t> out(walked.bytes.size());
  Value value;
  for (const Layer& layer : walked.packet.layers()) {
    if (layer.header->name == "frame") continue;
    for (const Field& f : layer.header->fields) {
      if (f.kind == Field::Kind::generated || f.kind == Field::Kind::view) continue;
      for (unsigned n = 0; n < f.count; ++n) {
        const std::uint32_t at = layer.at + (f.at + n * f.stride) / 8;
        if (f.kind == Field::Kind::wire && f.is_number()) {
          store(out.data() + layer.at, f, load(walked.packet.data(layer), f, n), n);
        } else if (f.kind == Field::Kind::wire) {
          std::copy_n(walked.bytes.begin() + at, f.width / 8, out.begin() + at);
        } else {
          if (!read(walked.packet, layer, f, n, value)) break;
          std::copy(value.bytes.begin(), value.bytes.end(), out.begin() + at);
        }
      }
    }
  }
  return out;
}

struct Case {
  int vector;
  std::string_view layers, line;
  std::vector<std::pair<std::string_view, std::string_view>> fields;
};

constexpr std::string_view lid_smp = "infiniband.mad infiniband.smplid ",
                           directed_smp = "infiniband.mad infiniband.smpdirected ", unused = " infiniband.mad.unused",
                           paths = " infiniband.mad.unused infiniband.smppaths",
                           sa = "infiniband.mad infiniband.rmpp infiniband.sa ", pm = "infiniband.mad infiniband.perf ";

std::string all_of(std::string_view first, std::string_view rest, int times = 0) {
  std::string out(first);
  out += rest;
  for (int i = 0; i < times; ++i) (out += ',') += rest;
  return out;
}

void expect(int number, const std::string& layers, std::string_view line,
            const std::vector<std::pair<std::string, std::string>>& fields) {
  SCOPED_TRACE(number);
  const Walked walked = walk_mad(vector(number));
  EXPECT_EQ(walked.layers(), layers);
  const std::uint64_t tid = View<Mad>(walked.bytes.data()).get<"transactionid">();
  EXPECT_EQ(line_of(walked), fmt::format("{} TID {:#x}", line, tid));
  EXPECT_TRUE(walked.packet.events().empty());
  for (const auto& [name, text] : fields) EXPECT_EQ(walked.text("infiniband." + name), text) << name;
}

TEST(Mad, VectorsAreThereAndComeBack) {
  for (int number = 1; number <= 28; ++number) {
    SCOPED_TRACE(number);
    ASSERT_EQ(vector(number).size(), mad_bytes);
    const Walked walked = walk_mad(vector(number));
    EXPECT_EQ(rebuilt(walked), walked.bytes);
  }
}

TEST(Mad, DirectedRouteNodeInfo) {
  expect(1, all_of(directed_smp, "infiniband.nodeinfo") + std::string(paths), "SubnGet(NodeInfo) DR 0,1",
         {{"mad.method", "0x01"},
          {"mad.method.r", "0"},
          {"mad.d", "0"},
          {"smpdirected.d", "0"},
          {"mad.hoppointer", "0"},
          {"mad.hopcount", "1"},
          {"mad.attribute", "NodeInfo"},
          {"mad.status.class", ""},
          {"mad.status.meaning", ""},
          {"smpdirected.drslid", "0xffff"},
          {"smpdirected.drdlid", "0xffff"},
          {"smppaths.initialpath.hops", "0,1"},
          {"smppaths.returnpath.hops", "0,0"}});
  expect(2, all_of(directed_smp, "infiniband.nodeinfo") + std::string(paths),
         "SubnGetResp(NodeInfo) Switch GUID 0x0000000000200000 ports 4 DR 0,1",
         {{"mad.status", "0x8000"},
          {"mad.d", "1"},
          {"mad.status.code", "0"},
          {"mad.status.meaning", ""},
          {"nodeinfo.baseversion", "1"},
          {"nodeinfo.classversion", "1"},
          {"nodeinfo.nodetype", "2"},
          {"nodeinfo.numports", "4"},
          {"nodeinfo.systemimageguid", "0x0000000000200000"},
          {"nodeinfo.nodeguid", "0x0000000000200000"},
          {"nodeinfo.portguid", "0x0000000000200000"},
          {"nodeinfo.partitioncap", "8"},
          {"nodeinfo.deviceid", "0x0000"},
          {"nodeinfo.revision", "0x000000a1"},
          {"nodeinfo.localportnum", "1"},
          {"nodeinfo.vendorid", "0x000000"},
          {"smppaths.returnpath.hops", "1,1"},
          {"mad.unused.nonzero", "0"}});
}

TEST(Mad, SwitchInfo) {
  expect(3, all_of(lid_smp, "infiniband.switchinfo") + std::string(unused), "SubnGetResp(SwitchInfo)",
         {{"switchinfo.linearfdbcap", "30720"},
          {"switchinfo.randomfdbcap", "0"},
          {"switchinfo.multicastfdbcap", "1024"},
          {"switchinfo.linearfdbtop", "4"},
          {"switchinfo.defaultport", "0"},
          {"switchinfo.lifetimevalue", "18"},
          {"switchinfo.portstatechange", "0"},
          {"switchinfo.optimizedsltovlmappingprogramming", "0"},
          {"switchinfo.lidsperport", "0"},
          {"switchinfo.partitionenforcementcap", "64"},
          {"switchinfo.inboundenforcementcap", "0"},
          {"switchinfo.outboundenforcementcap", "0"},
          {"switchinfo.filterrawinboundcap", "1"},
          {"switchinfo.filterrawoutboundcap", "1"},
          {"switchinfo.enhancedportzero", "0"},
          {"switchinfo.multicastfdbtop", "0x0000"},
          {"smplid.mkey", "0x0000000000000000"},
          {"mad.status.class", "0x00"},
          {"mad.d", ""}});
}

TEST(Mad, PortInfo) {
  expect(4, all_of(lid_smp, "infiniband.portinfo") + std::string(unused), "SubnGetResp(PortInfo) port 1 Active LID 3",
         {{"portinfo.m_key", "0x0000000000000000"},
          {"portinfo.gidprefix", "0xfe80000000000000"},
          {"portinfo.guid", "0xfe80000000000000"},
          {"portinfo.lid", "3"},
          {"portinfo.mastersmlid", "1"},
          {"portinfo.capabilitymask", "0x0050c048"},
          {"portinfo.capabilitymask.trapsupported", "1"},
          {"portinfo.capabilitymask.slmappingsupported", "1"},
          {"portinfo.capabilitymask.extendedspeedssupported", "1"},
          {"portinfo.capabilitymask.capabilitymask2supported", "1"},
          {"portinfo.capabilitymask.vendorclasssupported", "1"},
          {"portinfo.capabilitymask.capabilitymasknoticesupported", "1"},
          {"portinfo.capabilitymask.issm", "0"},
          {"portinfo.diagcode", "0x0000"},
          {"portinfo.m_keyleaseperiod", "4089"},
          {"portinfo.localportnum", "1"},
          {"portinfo.linkwidthenabled", "2"},
          {"portinfo.linkwidthsupported", "31"},
          {"portinfo.linkwidthactive", "2"},
          {"portinfo.linkspeedsupported", "7"},
          {"portinfo.portstate", "4"},
          {"portinfo.portphysicalstate", "5"},
          {"portinfo.linkdowndefaultstate", "2"},
          {"portinfo.m_keyprotectbits", "0"},
          {"portinfo.lmc", "0"},
          {"portinfo.linkspeedactive", "1"},
          {"portinfo.linkspeedenabled", "1"},
          {"portinfo.neighbormtu", "4"},
          {"portinfo.mastersmsl", "0"},
          {"portinfo.vlcap", "4"},
          {"portinfo.vlhighlimit", "0"},
          {"portinfo.vlarbitrationhighcap", "8"},
          {"portinfo.vlarbitrationlowcap", "8"},
          {"portinfo.mtucap", "4"},
          {"portinfo.vlstallcount", "7"},
          {"portinfo.hoqlife", "0"},
          {"portinfo.operationalvls", "4"},
          {"portinfo.guidcap", "32"},
          {"portinfo.subnettimeout", "31"},
          {"portinfo.resptimevalue", "0"},
          {"portinfo.capabilitymask2", "0x0030"},
          {"portinfo.capabilitymask2.linkwidth2xsupported", "1"},
          {"portinfo.capabilitymask2.linkspeedhdrsupported", "1"},
          {"portinfo.linkspeedextactive", "0"},
          {"portinfo.linkspeedextsupported", "0"},
          {"portinfo.linkspeedextenabled", "0"}});
}

TEST(Mad, PKeyTable) {
  const std::string zeros = [] {
    std::string out;
    for (int i = 0; i < 31; ++i) out += ",0x0000";
    return out;
  }();
  expect(5, all_of(lid_smp, "infiniband.p_keytable") + std::string(unused), "SubnGetResp(P_KeyTable) port 1, block 0",
         {{"p_keytable.p_key", "0xffff" + zeros}, {"mad.attributemodifier", "0x00010000"}});
  expect(6, all_of(directed_smp, "infiniband.p_keytable infiniband.smppaths"),
         "SubnSet(P_KeyTable) port 1, block 2 DR 0,1", {{"p_keytable.p_key", "0xffff" + zeros}});
  expect(7, all_of(directed_smp, "infiniband.p_keytable infiniband.smppaths"),
         "SubnGetResp(P_KeyTable) port 1, block 2 error: invalid value in attribute or modifier (0x801c) DR 0,1",
         {{"mad.status", "0x801c"},
          {"mad.d", "1"},
          {"mad.status.code", "7"},
          {"mad.status.meaning", "invalid value in attribute or modifier"},
          {"mad.attributemodifier", "0x00010002"}});
  expect(8, all_of(directed_smp, "infiniband.p_keytable infiniband.smppaths"),
         "SubnGetResp(P_KeyTable) port 1, block 0 error: invalid value in attribute or modifier (0x801c) DR 0,1",
         {{"mad.status", "0x801c"}});
}

TEST(Mad, RefusedRequests) {
  expect(9, all_of(directed_smp, "infiniband.nodeinfo") + std::string(paths),
         "SubnGetResp(NodeInfo) error: method not supported (0x8008) Switch GUID 0x0000000000200000 ports 4 DR 0,1",
         {{"mad.status.code", "2"}});
  expect(10, all_of(directed_smp, "infiniband.switchinfo") + std::string(paths),
         "SubnGetResp(SwitchInfo) error: method/attribute combination not supported (0x800c) DR 0",
         {{"mad.status.code", "3"}, {"mad.hopcount", "0"}, {"smppaths.initialpath.hops", "0"}});
}

TEST(Mad, MappingAndArbitration) {
  expect(11, all_of(lid_smp, "infiniband.sltovlmappingtable") + std::string(unused), "SubnGetResp(SLtoVLMappingTable)",
         {{"sltovlmappingtable.sltovl", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7"}});
  std::string vls = "0,1,2,3,4,5,6,7", weights = "0,4,4,4,4,4,4,4";
  for (int i = 0; i < 24; ++i) vls += ",0", weights += ",0";
  expect(12, all_of(lid_smp, "infiniband.vlarbitrationtable") + std::string(unused),
         "SubnGetResp(VLArbitrationTable) low priority, lower 32 entries, port 1",
         {{"vlarbitrationtable.vl", vls}, {"vlarbitrationtable.weight", weights}});
}

TEST(Mad, SmInfoHasStrayBytesBehindIt) {
  expect(13, all_of(lid_smp, "infiniband.sminfo") + std::string(unused), "SubnGetResp(SMInfo) master priority 0",
         {{"sminfo.guid", "0x0000000000100005"},
          {"sminfo.sm_key", "0x0000000000000001"},
          {"sminfo.actcount", "58"},
          {"sminfo.priority", "0"},
          {"sminfo.smstate", "3"},
          {"mad.unused.nonzero", "3"}});
}

TEST(Mad, Traps) {
  for (int number : {14, 15})
    expect(number, all_of(lid_smp, "infiniband.notice infiniband.trap128") + std::string(unused),
           number == 14 ? "SubnTrap(Notice) link state changed from LID 2"
                        : "SubnTrapRepress(Notice) link state changed from LID 2",
           {{"notice.isgeneric", "1"},
            {"notice.type", "1"},
            {"notice.producertype", "2"},
            {"notice.producertypevendorid", "0x000002"},
            {"notice.trapnumber", "128"},
            {"notice.trapnumberdeviceid", "128"},
            {"notice.issuerlid", "2"},
            {"notice.noticetoggle", "0"},
            {"notice.noticecount", "0"},
            {"notice.datadetails", ""},
            {"trap128.lidaddr", "2"},
            {"trap.lidaddr", "2"}});
}

TEST(Mad, PerformanceCounters) {
  expect(16, all_of(pm, "infiniband.portcounters") + std::string(unused), "PerfGetResp(PortCounters) port 1",
         {{"portcounters.portselect", "1"},
          {"portcounters.symbolerrorcounter", "0"},
          {"portcounters.vl15dropped", "0"},
          {"portcounters.portxmitdata", "648"},
          {"portcounters.portrcvdata", "648"},
          {"portcounters.portxmitpkts", "9"},
          {"portcounters.portrcvpkts", "9"},
          {"portcounters.portxmitwait", "0"}});
  expect(17, all_of(pm, "infiniband.portcounters_ext") + std::string(unused),
         "PerfGetResp(PortCountersExtended) port 1",
         {{"portcounters_ext.portselect", "1"},
          {"portcounters_ext.portxmitdata", "648"},
          {"portcounters_ext.portrcvdata", "648"},
          {"portcounters_ext.portxmitpkts", "9"},
          {"portcounters_ext.portrcvpkts", "9"},
          {"portcounters_ext.portunicastxmitpkts", "0"}});
  expect(18, all_of(pm, "infiniband.classportinfo") + std::string(unused), "PerfGetResp(ClassPortInfo)",
         {{"classportinfo.baseversion", "1"},
          {"classportinfo.classversion", "1"},
          {"classportinfo.capabilitymask", "0x1200"},
          {"classportinfo.capabilities", "IsExtendedWidthSupported,PortCountersXmitWaitSupported"},
          {"classportinfo.resptimevalue", "18"}});
}

TEST(Mad, PathRecords) {
  expect(19, all_of(sa, "infiniband.pathrecord") + std::string(unused), "SubnAdmGet(PathRecord)",
         {{"sa.componentmask", "0x000000000000100c"},
          {"sa.components", "DGID,SGID,NumbPath"},
          {"pathrecord.sgid", "fe80::10:1"},
          {"pathrecord.dgid", "fe80::10:3"},
          {"pathrecord.numbpath", "1"}});
  expect(20, all_of(sa, "infiniband.pathrecord") + std::string(unused),
         "SubnAdmGetResp(PathRecord) fe80::10:1 to fe80::10:3 LID 3 to 4",
         {{"sa.attributeoffset", "8"},
          {"pathrecord.dlid", "4"},
          {"pathrecord.slid", "3"},
          {"pathrecord.flowlabel", "0x00000"},
          {"pathrecord.reversible", "1"},
          {"pathrecord.p_key", "0xffff"},
          {"pathrecord.qosclass", "0"},
          {"pathrecord.sl", "0"},
          {"pathrecord.mtuselector", "2"},
          {"pathrecord.mtu", "4"},
          {"pathrecord.rateselector", "2"},
          {"pathrecord.rate", "3"},
          {"pathrecord.packetlifetimeselector", "2"},
          {"pathrecord.packetlifetime", "18"},
          {"pathrecord.preference", "0"}});
  expect(21, all_of(sa, "infiniband.pathrecord") + std::string(unused),
         "SubnAdmGetResp(PathRecord) error: no records (0x0300) fe80::10:1 to fe80::99:9999",
         {{"mad.status.sa", "3"}, {"sa.attributeoffset", "0"}, {"pathrecord.dgid", "fe80::99:9999"}});
}

TEST(Mad, McMemberRecords) {
  expect(22, all_of(sa, "infiniband.mcmemberrecord") + std::string(unused),
         "SubnAdmSet(MCMemberRecord) ff12:401b:ffff::ffff:ffff",
         {{"sa.components", "MGID,PortGID,JoinState"},
          {"mcmemberrecord.mgid", "ff12:401b:ffff::ffff:ffff"},
          {"mcmemberrecord.joinstate", "0x1"},
          {"mcmemberrecord.joinstate.fullmember", "1"}});
  expect(23, all_of(sa, "infiniband.mcmemberrecord") + std::string(unused),
         "SubnAdmGetResp(MCMemberRecord) ff12:401b:ffff::ffff:ffff MLID 0xc000",
         {{"mcmemberrecord.mlid", "0xc000"},
          {"mcmemberrecord.q_key", "0x00000b1b"},
          {"mcmemberrecord.mtuselector", "2"},
          {"mcmemberrecord.mtu", "4"},
          {"mcmemberrecord.p_key", "0xffff"},
          {"mcmemberrecord.rate", "3"},
          {"mcmemberrecord.packetlifetime", "18"},
          {"mcmemberrecord.scope", "2"},
          {"mcmemberrecord.joinstate", "0x1"},
          {"sa.attributeoffset", "7"}});
}

TEST(Mad, TableWithoutRmppEndsWhereTheMadDoes) {
  expect(24,
         all_of(sa,
                "infiniband.noderecord infiniband.nodeinfo infiniband.nodedescription infiniband.mad.unused "
                "infiniband.sa.part"),
         "SubnAdmGetTableResp(NodeRecord) Channel Adapter GUID 0x0000000000100000 ports 1 \"Hca1\" records 1",
         {{"rmpp.rmpptype", "0"},
          {"rmpp.rmppflags", "0x1"},
          {"noderecord.lid", "3"},
          {"sa.lid", "3"},
          {"nodeinfo.nodetype", "1"},
          {"nodeinfo.localportnum", "1"},
          {"nodedescription.nodestring", "Hca1"},
          {"sa.part.record", "2"}});
}

TEST(Mad, ServiceRecordAndClassPortInfo) {
  expect(25, all_of(sa, "infiniband.servicerecord") + std::string(unused), "SubnAdmSet(ServiceRecord)",
         {{"sa.components", "ServiceID,ServiceGID,ServiceP_Key,Reserved,ServiceLease,ServiceKey,ServiceName"},
          {"servicerecord.serviceid", "0x000000010000cafe"},
          {"linkrecord.serviceid", "0x000000010000cafe"},
          {"servicerecord.servicelease", "300"},
          {"servicerecord.servicename", "demo"}});
  expect(26, all_of(sa, "infiniband.classportinfo") + std::string(unused), "SubnAdmGetResp(ClassPortInfo)",
         {{"classportinfo.baseversion", "1"},
          {"classportinfo.classversion", "2"},
          {"classportinfo.capabilitymask", "0x2602"},
          {"classportinfo.capabilitymask2", "0x000b5e8"},
          {"classportinfo.resptimevalue", "16"},
          {"classportinfo.redirectqp", "0x000001"},
          {"classportinfo.redirectqkey", "0x80010000"},
          {"classportinfo.trapqkey", "0x80010000"}});
}

TEST(Mad, VendorClass) {
  expect(27, "infiniband.mad infiniband.rmpp infiniband.vendor_mad", "Vendor class 0x32 Get(0x0000) OUI 0x001405",
         {{"vendor_mad.oui", "0x001405"}});
}

// Offsets that were not taken from our tables; every attribute with a layout is among them.
TEST(MadLayout, FieldsStandWhereTheReferenceSays) {
  std::ifstream file(RDMASCOPE_SOURCE "/tests/unit/data/mad-layout.txt");
  std::set<std::string> headers;
  std::string line;
  std::size_t fields = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    unsigned at = 0, width = 0, count = 1, every = 0;
    words >> name >> at >> width;
    if (words >> count) words >> every;
    std::vector<FieldRef> refs = find_fields("infiniband." + name);
    std::erase_if(refs, [&](const FieldRef& ref) {  // others share the name
      return !ref.field || full_name(*ref.header, *ref.field) != "infiniband." + name;
    });
    ASSERT_EQ(refs.size(), 1u) << name;
    const Field& f = *refs[0].field;
    EXPECT_EQ(f.at, at) << name;
    EXPECT_EQ(f.width, width) << name;
    EXPECT_EQ(f.count, count) << name;
    EXPECT_EQ(f.stride, every > 0 ? every : count > 1 ? width : 0) << name;
    headers.insert(std::string(refs[0].header->name));
    ++fields;
  }
  EXPECT_GT(fields, 490u);
  const std::set<std::string_view> without_fields_of_their_own = {
      "infiniband.randomforwardingtablerecord", "infiniband.informinforecordend", "infiniband.nodedescription"};
  for (const MadAttribute& attribute : mad_attributes())
    for (const Header* h : attribute.layers()) {
      if (attribute.group == MadGroup::cm || without_fields_of_their_own.contains(h->name)) continue;
      EXPECT_TRUE(headers.contains(std::string(h->name))) << h->name;
    }
}

TEST(MadLayout, RecordsHaveTheSizesOfTheReference) {
  const std::pair<std::uint16_t, std::uint32_t> sizes[] = {
      {0x01, 72}, {0x03, 36}, {0x11, 108}, {0x12, 68}, {0x13, 16}, {0x14, 24},  {0x15, 72},
      {0x16, 72}, {0x17, 72}, {0x18, 28},  {0x20, 8},  {0x30, 72}, {0x31, 176}, {0x33, 72},
      {0x35, 64}, {0x36, 72}, {0x38, 52},  {0x39, 48}, {0x3a, 24}, {0x3b, 80},  {0xf3, 80}};
  for (const auto& [id, bytes] : sizes) {
    const MadAttribute* record = mad_attribute(MadGroup::sa, id);
    ASSERT_TRUE(record) << id;
    EXPECT_EQ(record->bytes(), bytes) << record->name;
  }
  for (const MadAttribute& a : mad_attributes()) {
    const std::uint32_t room = a.group == MadGroup::subn ? 64
                               : a.group == MadGroup::sa ? 200
                               : a.group == MadGroup::cm ? 232
                                                         : 192;
    EXPECT_LE(a.bytes(), room) << a.name;
  }
}

// A request for the attribute that names just this component.
std::string component(std::uint16_t attribute, unsigned bit) {
  std::vector<std::uint8_t> mad(mad_bytes);
  mad[0] = 1;
  mad[1] = mad_class_sa;
  put<Mad, "method">(mad.data(), mad_get);
  put<Mad, "attributeid">(mad.data(), attribute);
  put<Sa, "componentmask">(mad.data() + 36, 1ULL << bit);
  return walk_mad(mad).text("infiniband.sa.components");
}

// mad.md 4: the numbers follow from the order of rows; here they stand as the reference has them.
TEST(MadComponents, NumbersAreThoseOfTheReference) {
  const std::vector<std::string_view> path = {"ServiceID 1",
                                              "ServiceID 2",
                                              "DGID",
                                              "SGID",
                                              "DLID",
                                              "SLID",
                                              "RawTraffic",
                                              "Reserved",
                                              "FlowLabel",
                                              "HopLimit",
                                              "TClass",
                                              "Reversible",
                                              "NumbPath",
                                              "P_Key",
                                              "QoSClass",
                                              "SL",
                                              "MTUSelector",
                                              "MTU",
                                              "RateSelector",
                                              "Rate",
                                              "PacketLifeTimeSelector",
                                              "PacketLifeTime",
                                              "Preference",
                                              "ReversePathPKeyMemberBit",
                                              "Reserved",
                                              "Reserved",
                                              "bit 26"};
  for (unsigned bit = 0; bit < path.size(); ++bit) EXPECT_EQ(component(0x35, bit), path[bit]) << bit;

  const std::vector<std::string_view> member = {"MGID",
                                                "PortGID",
                                                "Q_Key",
                                                "MLID",
                                                "MTUSelector",
                                                "MTU",
                                                "TClass",
                                                "P_Key",
                                                "RateSelector",
                                                "Rate",
                                                "PacketLifeTimeSelector",
                                                "PacketLifeTime",
                                                "SL",
                                                "FlowLabel",
                                                "HopLimit",
                                                "Scope",
                                                "JoinState",
                                                "ProxyJoin",
                                                "Reserved",
                                                "bit 19"};
  for (unsigned bit = 0; bit < member.size(); ++bit) EXPECT_EQ(component(0x38, bit), member[bit]) << bit;

  const std::vector<std::string_view> node = {"LID",          "Reserved",     "BaseVersion",     "ClassVersion",
                                              "NodeType",     "NumPorts",     "SystemImageGUID", "NodeGUID",
                                              "PortGUID",     "PartitionCap", "DeviceID",        "Revision",
                                              "LocalPortNum", "VendorID",     "NodeDescription", "bit 15"};
  for (unsigned bit = 0; bit < node.size(); ++bit) EXPECT_EQ(component(0x11, bit), node[bit]) << bit;

  const std::vector<std::string_view> port = {"EndportLID",
                                              "PortNum",
                                              "Options",
                                              "M_Key",
                                              "GIDPrefix",
                                              "LID",
                                              "MasterSMLID",
                                              "CapabilityMask",
                                              "DiagCode",
                                              "M_KeyLeasePeriod",
                                              "LocalPortNum",
                                              "LinkWidthEnabled",
                                              "LinkWidthSupported",
                                              "LinkWidthActive",
                                              "LinkSpeedSupported",
                                              "PortState",
                                              "PortPhysicalState",
                                              "LinkDownDefaultState",
                                              "M_KeyProtectBits",
                                              "Reserved",
                                              "LMC",
                                              "LinkSpeedActive",
                                              "LinkSpeedEnabled",
                                              "NeighborMTU",
                                              "MasterSMSL",
                                              "VLCap",
                                              "InitType",
                                              "VLHighLimit",
                                              "VLArbitrationHighCap",
                                              "VLArbitrationLowCap",
                                              "InitTypeReply",
                                              "MTUCap",
                                              "VLStallCount",
                                              "HOQLife",
                                              "OperationalVLs",
                                              "PartitionEnforcementInbound",
                                              "PartitionEnforcementOutbound",
                                              "FilterRawInbound",
                                              "FilterRawOutbound",
                                              "M_KeyViolations",
                                              "P_KeyViolations",
                                              "Q_KeyViolations",
                                              "GUIDCap",
                                              "ClientReregister",
                                              "MulticastPKeyTrapSuppressionEnabled",
                                              "SubnetTimeOut",
                                              "Reserved",
                                              "RespTimeValue",
                                              "LocalPhyErrors",
                                              "OverrunErrors",
                                              "MaxCreditHint",
                                              "LinkSpeedExt2",
                                              "LinkRoundTripLatency",
                                              "CapabilityMask2",
                                              "LinkSpeedExtActive",
                                              "LinkSpeedExtSupported",
                                              "Reserved",
                                              "LinkSpeedExtEnabled",
                                              "bit 58"};
  for (unsigned bit = 0; bit < port.size(); ++bit) EXPECT_EQ(component(0x12, bit), port[bit]) << bit;

  const std::tuple<std::uint16_t, unsigned, std::string_view> others[] = {{0x31, 6, "ServiceName"},
                                                                          {0x31, 7, "ServiceData8 1"},
                                                                          {0x31, 22, "ServiceData8 16"},
                                                                          {0x31, 23, "ServiceData16 1"},
                                                                          {0x31, 30, "ServiceData16 8"},
                                                                          {0x31, 31, "ServiceData32 1"},
                                                                          {0x31, 34, "ServiceData32 4"},
                                                                          {0x31, 35, "ServiceData64 1"},
                                                                          {0x31, 36, "ServiceData64 2"},
                                                                          {0x31, 37, "bit 37"},
                                                                          {0x20, 3, "ToLID"},
                                                                          {0x20, 4, "Reserved"},
                                                                          {0xf3, 0, "SubscriberGID"},
                                                                          {0xf3, 3, "GID"},
                                                                          {0xf3, 11, "QPN"},
                                                                          {0xf3, 15, "ProducerType/VendorID"},
                                                                          {0x3a, 8, "QoSClass"},
                                                                          {0x3a, 19, "SGIDCount"},
                                                                          {0x3a, 20, "DGIDCount"},
                                                                          {0x3a, 23, "SDGID"},
                                                                          {0x18, 2, "GUID"},
                                                                          {0x18, 6, "SMState"},
                                                                          {0x33, 1, "BlockNum"},
                                                                          {0x33, 2, "PortNum"},
                                                                          {0x30, 4, "GUID 1"},
                                                                          {0x30, 11, "GUID 8"},
                                                                          {0x17, 2, "Position"},
                                                                          {0x17, 3, "BlockNum"},
                                                                          {0x36, 2, "BlockNum"}};
  for (const auto& [attribute, bit, title] : others)
    EXPECT_EQ(component(attribute, bit), title) << attribute << ' ' << bit;
}

TEST(MadComponents, SelectedCountersOfPerformanceManagement) {
  std::vector<std::uint8_t> mad(mad_bytes);
  mad[1] = mad_class_perf;
  put<Mad, "method">(mad.data(), mad_set);
  put<Mad, "attributeid">(mad.data(), 0x12);
  put<PortCounters, "counterselect">(mad.data() + 64, 0x9a01);
  EXPECT_EQ(walk_mad(mad).text("infiniband.portcounters.counterselect.counters"),
            "SymbolErrorCounter,LocalLinkIntegrityErrors,VL15Dropped,PortXmitData,PortRcvPkts");
  put<Mad, "attributeid">(mad.data(), 0x1d);
  put<PortCountersExtended, "counterselect">(mad.data() + 64, 0x81);
  put<PortCountersExtended, "counterselect2">(mad.data() + 64, 1);
  EXPECT_EQ(walk_mad(mad).text("infiniband.portcounters_ext.counterselect.counters"),
            "PortXmitData,PortMulticastRcvPkts,SymbolErrorCounter");
}

// --- tables of the SA ---

struct Segment {
  unsigned number = 0;  // 0: RMPP not active
  bool first = false, last = false;
  std::uint32_t payload_length = 0;
  std::uint16_t attribute = 0x11, offset = 14;
  std::uint8_t method = mad_get_table_resp;
};

Walked walk_segment(const Segment& s, std::span<const std::uint8_t> data) {
  std::vector<std::uint8_t> mad(mad_bytes);
  mad[0] = 1;
  mad[1] = mad_class_sa;
  put<Mad, "method">(mad.data(), s.method);
  put<Mad, "attributeid">(mad.data(), s.attribute);
  if (s.number > 0) {
    put<Rmpp, "rmppversion">(mad.data() + 24, 1);
    put<Rmpp, "rmpptype">(mad.data() + 24, rmpp_data);
    put<Rmpp, "rmppflags">(mad.data() + 24, 1u | (s.first ? 2u : 0u) | (s.last ? 4u : 0u));
    put<Rmpp, "segmentnumber">(mad.data() + 24, s.number);
    put<Rmpp, "newwindowlast">(mad.data() + 24, s.payload_length);
  }
  put<Sa, "attributeoffset">(mad.data() + 36, s.offset);
  std::copy(data.begin(), data.end(), mad.begin() + 56);
  return walk_mad(mad);
}

constexpr std::string_view node_layers = "infiniband.noderecord infiniband.nodeinfo infiniband.nodedescription";

TEST(MadTable, SegmentsAreReadWithoutTheOnesBefore) {
  std::vector<std::uint8_t> table(5 * 112, 0xee);
  for (unsigned n = 0; n < 5; ++n) {
    table[n * 112] = 0;
    table[n * 112 + 1] = static_cast<std::uint8_t>(n + 1);
  }
  const auto part = [&](std::size_t from, std::size_t bytes) { return std::span(table).subspan(from, bytes); };

  const Walked one = walk_segment({1, true, false, 560 + 60}, part(0, 200));
  EXPECT_EQ(one.layers(), all_of(sa, node_layers) + " infiniband.mad.unused infiniband.sa.part");
  EXPECT_EQ(one.text("infiniband.noderecord.lid"), "1");
  EXPECT_EQ(one.text("infiniband.sa.part.record"), "2");
  EXPECT_EQ(line_of(one).substr(0, 55), "SubnAdmGetTableResp(NodeRecord) segment 1 of 3 node typ");

  const Walked two = walk_segment({2, false, false, 0}, part(200, 200));
  // 24 bytes of record 2, record 3, its 4 bytes of padding, 64 bytes of record 4.
  EXPECT_EQ(two.layers(),
            all_of(sa, "infiniband.sa.part ") + std::string(node_layers) + " infiniband.mad.unused infiniband.sa.part");
  EXPECT_EQ(two.text("infiniband.noderecord.lid"), "3");
  EXPECT_EQ(two.text("infiniband.sa.part.record"), "2,4");
  EXPECT_EQ(two.packet.find(header<SaRecordPart>)->bytes, 24u);

  const Walked three = walk_segment({3, false, true, 20 + 160}, part(400, 160));
  EXPECT_EQ(three.layers(), all_of(sa, "infiniband.sa.part ") + std::string(node_layers) +
                                " infiniband.mad.unused infiniband.mad.unused");
  EXPECT_EQ(three.text("infiniband.noderecord.lid"), "5");
  EXPECT_EQ(three.text("infiniband.sa.part.record"), "4");
  EXPECT_NE(line_of(three).find("segment 3, last"), std::string::npos);
  for (const Walked* walked : {&one, &two, &three}) {
    EXPECT_EQ(rebuilt(*walked), walked->bytes);
    EXPECT_TRUE(walked->packet.events().empty());
  }
}

TEST(MadTable, AsManyRecordsAsASegmentHolds) {
  std::vector<std::uint8_t> links(200, 1);
  const Walked walked = walk_segment({1, true, true, 220, 0x20, 1}, links);
  EXPECT_TRUE(walked.packet.events().empty());
  std::size_t records = 0;
  for (const Layer& layer : walked.packet.layers()) records += layer.header == &header<LinkRecord>;
  EXPECT_EQ(records, 25u);
  const auto filter =
      Filter::compile("infiniband.linkrecord.fromlid#25 == 257 and count(infiniband.linkrecord.tolid) == 25");
  ASSERT_TRUE(std::holds_alternative<Filter>(filter));
  EXPECT_TRUE(std::get<Filter>(filter).matches(walked.packet));
}

TEST(MadTable, WhatHasNoRecordsHasNone) {
  const std::vector<std::uint8_t> zeros(200);
  EXPECT_EQ(walk_segment({}, zeros).layers(), all_of(sa, "infiniband.mad.unused"));
  EXPECT_EQ(walk_segment({1, true, true, 20}, zeros).layers(), all_of(sa, "infiniband.mad.unused"));
  std::vector<std::uint8_t> record(108, 7);
  // An offset that is smaller than a record: the first one counts.
  EXPECT_EQ(walk_segment({0, false, false, 0, 0x11, 4}, record).layers(),
            all_of(sa, node_layers) + " infiniband.mad.unused");
  EXPECT_EQ(walk_segment({7, false, false, 0, 0x11, 4}, record).layers(), all_of(sa, "infiniband.mad.unused"));
  // A payload length beyond the MAD, and one below its own header.
  EXPECT_TRUE(walk_segment({1, true, true, 0xffffffff}, record).packet.events().empty());
  EXPECT_TRUE(walk_segment({1, true, true, 3}, record).packet.events().empty());
  EXPECT_TRUE(walk_segment({0xffffffff, false, false, 0}, record).packet.events().empty());
}

TEST(MadTable, AnswersToGetMultiArePaths) {
  const std::vector<std::uint8_t> records(128, 1);
  const Segment answer{1, true, true, 148, 0x3a, 8, mad_get_multi_resp};
  EXPECT_EQ(walk_segment(answer, records).layers(),
            all_of(sa, "infiniband.pathrecord infiniband.pathrecord infiniband.mad.unused"));
  std::vector<std::uint8_t> request(24 + 48, 1);
  request[15] = 1;
  request[16] = 2;
  const Walked asked = walk_segment({1, true, true, 0, 0x3a, 0, mad_get_multi}, request);
  EXPECT_EQ(asked.packet.find(header<MultiPathRecord>)->bytes, 24u);  // the length says there is nothing more
  const Walked whole = walk_segment({1, true, true, 20 + 72, 0x3a, 0, mad_get_multi}, request);
  EXPECT_EQ(whole.text("infiniband.multipathrecord.sdgid"),
            "101:101:101:101:101:101:101:101,101:101:101:101:101:101:101:101,101:101:101:101:101:101:101:101");
  EXPECT_EQ(rebuilt(whole), whole.bytes);
}

// --- arrays ---

TEST(Array, FilterMatchesAnyValue) {
  const Walked walked = walk_mad(vector(11));
  const std::pair<std::string_view, bool> cases[] = {{"infiniband.sltovlmappingtable.sltovl == 14", true},
                                                     {"infiniband.sltovlmappingtable.sltovl == 15", false},
                                                     {"infiniband.sltovlmappingtable.sltovl != 15", true},
                                                     {"count(infiniband.sltovlmappingtable.sltovl) == 16", true},
                                                     {"max(infiniband.sltovlmappingtable.sltovl) == 14", true},
                                                     {"all infiniband.sltovlmappingtable.sltovl < 15", true},
                                                     {"infiniband.mad.attribute == \"SLtoVLMappingTable\"", true}};
  for (const auto& [text, matches] : cases) {
    const auto filter = Filter::compile(text);
    ASSERT_TRUE(std::holds_alternative<Filter>(filter)) << text;
    EXPECT_EQ(std::get<Filter>(filter).matches(walked.packet), matches) << text;
  }
}

TEST(Array, JsonIsAListAndTheTreeHasLines) {
  const Walked walked = walk_mad(vector(11));
  Text json, tree;
  put_json(json, walked.packet, {});
  EXPECT_NE(json.view().find("\"sltovl\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7]"), std::string_view::npos)
      << json.view();
  put_tree(tree, walked.packet, "");
  EXPECT_NE(tree.view().find("    VL of SL[0..15]: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 7\n"), std::string_view::npos);
}

TEST(Array, ReadStopsWhereTheLayerDoes) {
  const Walked walked = walk_mad(vector(5));
  const Layer* layer = walked.packet.find(header<PKeyTable>);
  ASSERT_TRUE(layer);
  constexpr Field f = field<PKeyTable, "p_key">();
  Value value;
  EXPECT_TRUE(read(walked.packet, *layer, f, 31, value));
  EXPECT_FALSE(read(walked.packet, *layer, f, 32, value));
  const Layer shorter{layer->header, layer->at, 6};
  EXPECT_TRUE(read(walked.packet, shorter, f, 2, value));
  EXPECT_FALSE(read(walked.packet, shorter, f, 3, value));
}

// --- whatever comes ---

// Every class, method and attribute there is and some there are not, over bytes of any value: all 256 bytes are
// accounted for, and come back.
TEST(Mad, AnyBytesAreCoveredAndComeBack) {
  std::mt19937 random(6);
  Text text;
  for (unsigned mgmt_class = 0; mgmt_class < 256; ++mgmt_class)
    for (const int method : {0x01, 0x03, 0x05, 0x06, 0x12, 0x14, 0x81, 0x92, 0x94, 0x7f})
      for (std::uint16_t attribute = 0; attribute < 0x42; ++attribute) {
        std::vector<std::uint8_t> mad(mad_bytes);
        for (std::uint8_t& b : mad) b = static_cast<std::uint8_t>(random());
        mad[1] = static_cast<std::uint8_t>(mgmt_class);
        mad[3] = static_cast<std::uint8_t>(method);
        put<Mad, "attributeid">(mad.data(), attribute == 0x41 ? 0xf3 : attribute == 0x40 ? 0xff90 : attribute);
        if (random() % 2) mad[25] = rmpp_data;
        if (random() % 2) put<Rmpp, "segmentnumber">(mad.data() + 24, random() % 4);
        if (random() % 2) put<Sa, "attributeoffset">(mad.data() + 36, random() % 24);
        const Walked walked = walk_mad(mad);
        ASSERT_TRUE(walked.packet.events().empty()) << mgmt_class << ' ' << attribute;
        ASSERT_EQ(rebuilt(walked), mad) << mgmt_class << ' ' << attribute;
        if (attribute % 16 != 1) continue;
        text.clear();
        put_json(text, walked.packet, {true});
        put_tree(text, walked.packet, "");
        put_info(text, walked.packet);
      }
}

TEST(Mad, CutAtEveryByteTellsWhere) {
  for (int number = 1; number <= 27; ++number)
    for (std::uint32_t bytes = Mad::bytes; bytes < mad_bytes; ++bytes) {
      const std::vector<std::uint8_t>& whole = vector(number);
      const Walked walked = walk_mad({whole.begin(), whole.begin() + bytes}, mad_bytes);
      ASSERT_EQ(walked.packet.events().size(), 1u) << number << ' ' << bytes;
      EXPECT_EQ(walked.packet.events()[0].problem, Problem::cut) << number << ' ' << bytes;
      std::size_t covered = 0;
      for (const Layer& layer : walked.packet.layers())
        if (layer.header != &header<Frame>) covered += layer.bytes;
      EXPECT_EQ(covered, bytes) << number;
    }
}

}  // namespace
}  // namespace rdmascope::dissect
