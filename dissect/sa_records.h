// Records of subnet administration. Many are a few fields in front of an attribute of subnet management (subn.h), which
// is a layer of its own behind them. The order of rows is that of the components; a row that is not one component says
// so. mad.md section 4.
#pragma once

#include "dissect/field.h"
#include "dissect/ib_codes.h"
#include "dissect/notice.h"
#include "dissect/sa.h"

namespace rdmascope::dissect {

namespace sa_table {

// tshark has one name for these in all records.
inline constexpr Field lid = Field{"lid", 16, Show::dec, "LID"}.also("infiniband.sa.lid");
inline constexpr Field block_16 =
    Field{"blocknum", 16, Show::dec, "BlockNum"}.also("infiniband.sa.blocknum_sixteenbit");
inline constexpr Field block_8 = Field{"blocknum", 8, Show::dec, "BlockNum"}.also("infiniband.sa.blocknum_eightbit");
inline constexpr Field port = Field{"portnum", 8, Show::dec, "PortNum"}.also("infiniband.sa.portnum");
inline constexpr Field output_port =
    Field{"outputportnum", 8, Show::dec, "OutputPortNum"}.also("infiniband.sa.outputportnum");

// What a path is asked for by, in records of paths.
inline constexpr Field path[] = {
    {"rawtraffic", 1, Show::flag, "RawTraffic"},
    {"reserved0", 3, Show::reserved, "Reserved"},
    {"flowlabel", 20, Show::hex, "FlowLabel"},
    {"hoplimit", 8, Show::dec, "HopLimit"},
    {"tclass", 8, Show::hex, "TClass"},
    {"reversible", 1, Show::flag, "Reversible"},
    {"numbpath", 7, Show::dec, "NumbPath"},
    {"p_key", 16, Show::hex, "P_Key"},
    {"qosclass", 12, Show::dec, "QoSClass"},
    {"sl", 4, Show::dec, "SL"},
    {"mtuselector", 2, Show::dec, "MTUSelector", ib_selectors},
    {"mtu", 6, Show::dec, "MTU", ib_mtus},
    {"rateselector", 2, Show::dec, "RateSelector", ib_selectors},
    {"rate", 6, Show::dec, "Rate", ib_rates},
    {"packetlifetimeselector", 2, Show::dec, "PacketLifeTimeSelector", ib_lifetime_selectors},
    {"packetlifetime", 6, Show::dec, "PacketLifeTime", ib_times}};

}  // namespace sa_table

struct NodeRecord {
  static constexpr std::string_view name = "infiniband.noderecord", title = "NodeRecord";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {sa_table::lid, {"reserved", 16, Show::reserved, "Reserved"}});
};

struct PortInfoRecord {
  static constexpr std::string_view name = "infiniband.portinforecord", title = "PortInfoRecord";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields =
      layout(bytes, {Field{"endportlid", 16, Show::dec, "EndportLID"}.also("infiniband.sa.endportlid"),
                     sa_table::port,
                     {"options", 8, Show::hex, "Options"}});
};

struct SlToVlRecord {
  static constexpr std::string_view name = "infiniband.sltovlrecord", title = "SLtoVLMappingTableRecord";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout(bytes, {sa_table::lid,
                     Field{"inputportnum", 8, Show::dec, "InputPortNum"}.also("infiniband.sa.inputportnum"),
                     sa_table::output_port,
                     {"reserved", 32, Show::reserved, "Reserved"}});
};

struct SwitchInfoRecord {
  static constexpr std::string_view name = "infiniband.switchinforecord", title = "SwitchInfoRecord";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {sa_table::lid, {"reserved", 16, Show::reserved, "Reserved"}});
};

struct LinearForwardingTableRecord {
  static constexpr std::string_view name = "infiniband.linearforwardingtablerecord",
                                    title = "LinearForwardingTableRecord";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout(bytes, {sa_table::lid, sa_table::block_16, {"reserved", 32, Show::reserved, "Reserved"}});
};

struct RandomForwardingTableRecord {
  static constexpr std::string_view name = "infiniband.randomforwardingtablerecord",
                                    title = "RandomForwardingTableRecord";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout(bytes, {sa_table::lid, sa_table::block_16, {"reserved", 32, Show::reserved, "Reserved"}});
};

struct MulticastForwardingTableRecord {
  static constexpr std::string_view name = "infiniband.multicastforwardingtablerecord",
                                    title = "MulticastForwardingTableRecord";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {sa_table::lid,
                                                {"reserved0", 2, Show::reserved, "Reserved"},
                                                {"position", 4, Show::dec, "Position"},
                                                {"blocknum", 10, Show::dec, "BlockNum"},
                                                {"reserved1", 32, Show::reserved, "Reserved"}});
};

struct SmInfoRecord {
  static constexpr std::string_view name = "infiniband.sminforecord", title = "SMInfoRecord";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {sa_table::lid, {"reserved", 16, Show::reserved, "Reserved"}});
};

struct LinkRecord {
  static constexpr std::string_view name = "infiniband.linkrecord", title = "LinkRecord";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {
                                                   {"fromlid", 16, Show::dec, "FromLID"},
                                                   {"fromport", 8, Show::dec, "FromPort"},
                                                   {"toport", 8, Show::dec, "ToPort"},
                                                   {"tolid", 16, Show::dec, "ToLID"},
                                                   {"reserved", 16, Show::reserved, "Reserved"},
                                               });
};

struct GuidInfoRecord {
  static constexpr std::string_view name = "infiniband.guidinforecord", title = "GUIDInfoRecord";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {sa_table::lid,
                                                sa_table::block_8,
                                                {"reserved0", 8, Show::reserved, "Reserved"},
                                                {"reserved1", 32, Show::reserved, "Reserved"}});
};

struct ServiceRecord {
  static constexpr std::string_view name = "infiniband.servicerecord", title = "ServiceRecord",
                                    shared = "infiniband.linkrecord";  // so in tshark
  static constexpr std::uint32_t bytes = 176;
  static constexpr auto fields =
      layout(bytes, {
                        {"serviceid", 64, Show::hex, "ServiceID"},
                        {"servicegid", 128, Show::ipv6, "ServiceGID"},
                        {"servicep_key", 16, Show::hex, "ServiceP_Key"},
                        {"reserved", 16, Show::reserved, "Reserved"},
                        Field{"servicelease", 32, Show::dec, "ServiceLease"}.in("s"),
                        {"servicekey", 128, Show::bytes, "ServiceKey"},
                        {"servicename", 512, Show::text, "ServiceName"},
                        Field{"servicedata8", 8, Show::hex, "ServiceData8"}.array(16).components(16),
                        Field{"servicedata16", 16, Show::hex, "ServiceData16"}.array(8).components(8),
                        Field{"servicedata32", 32, Show::hex, "ServiceData32"}.array(4).components(4),
                        Field{"servicedata64", 64, Show::hex, "ServiceData64"}.array(2).components(2),
                    });
};
static_assert(field<ServiceRecord, "servicename">().at == 48 * 8);

struct PKeyTableRecord {
  static constexpr std::string_view name = "infiniband.p_keytablerecord", title = "P_KeyTableRecord";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout(bytes, {sa_table::lid, sa_table::block_16, sa_table::port, {"reserved", 24, Show::reserved, "Reserved"}});
};

struct PathRecord {
  static constexpr std::string_view name = "infiniband.pathrecord", title = "PathRecord";
  static constexpr std::uint32_t bytes = 64;
  static constexpr auto fields =
      layout_of(bytes,
                {
                    Field{"serviceid", 64, Show::hex, "ServiceID"}.components(2),  // 8 bits, 56 bits
                    {"dgid", 128, Show::ipv6, "DGID"},
                    {"sgid", 128, Show::ipv6, "SGID"},
                    {"dlid", 16, Show::dec, "DLID"},
                    {"slid", 16, Show::dec, "SLID"},
                },
                sa_table::path,
                {
                    {"preference", 8, Show::dec, "Preference"},
                    {"reversepathpkeymemberbit", 2, Show::dec, "ReversePathPKeyMemberBit"},
                    {"reserved1", 14, Show::reserved, "Reserved"},
                    {"reserved2", 32, Show::reserved, "Reserved"},
                });
};
static_assert(field<PathRecord, "mtu">().at == 54 * 8 + 2 && field<PathRecord, "preference">().at == 57 * 8);

struct VlArbitrationRecord {
  static constexpr std::string_view name = "infiniband.vlarbitrationrecord", title = "VLArbitrationTableRecord";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(
      bytes, {sa_table::lid, sa_table::output_port, sa_table::block_8, {"reserved", 32, Show::reserved, "Reserved"}});
};

inline constexpr ValueName mc_scopes[] = {{2, "link-local"}, {5, "site-local"}, {8, "organisation"}, {14, "global"}};

struct McMemberRecord {
  static constexpr std::string_view name = "infiniband.mcmemberrecord", title = "MCMemberRecord";
  static constexpr std::uint32_t bytes = 52;
  static constexpr auto fields =
      layout(bytes, {
                        {"mgid", 128, Show::ipv6, "MGID"},
                        {"portgid", 128, Show::ipv6, "PortGID"},
                        {"q_key", 32, Show::hex, "Q_Key"},
                        {"mlid", 16, Show::hex, "MLID"},
                        {"mtuselector", 2, Show::dec, "MTUSelector", ib_selectors},
                        {"mtu", 6, Show::dec, "MTU", ib_mtus},
                        {"tclass", 8, Show::hex, "TClass"},
                        {"p_key", 16, Show::hex, "P_Key"},
                        {"rateselector", 2, Show::dec, "RateSelector", ib_selectors},
                        {"rate", 6, Show::dec, "Rate", ib_rates},
                        {"packetlifetimeselector", 2, Show::dec, "PacketLifeTimeSelector", ib_lifetime_selectors},
                        {"packetlifetime", 6, Show::dec, "PacketLifeTime", ib_times},
                        {"sl", 4, Show::dec, "SL"},
                        {"flowlabel", 20, Show::hex, "FlowLabel"},
                        {"hoplimit", 8, Show::dec, "HopLimit"},
                        {"scope", 4, Show::dec, "Scope", mc_scopes},
                        view("joinstate", 4, Show::hex, "JoinState"),
                        {"joinstate.sendonlyfullmember", 1, Show::flag, "Send-only full member"},
                        {"joinstate.sendonlynonmember", 1, Show::flag, "Send-only non-member"},
                        {"joinstate.nonmember", 1, Show::flag, "Non-member"},
                        {"joinstate.fullmember", 1, Show::flag, "Full member"},
                        {"proxyjoin", 1, Show::flag, "ProxyJoin"},
                        {"reserved", 23, Show::reserved, "Reserved"},
                    });
};
static_assert(field<McMemberRecord, "scope">().at == 48 * 8);

struct TraceRecord {
  static constexpr std::string_view name = "infiniband.tracerecord", title = "TraceRecord";
  static constexpr std::uint32_t bytes = 48;
  static constexpr auto fields = layout(bytes, {
                                                   {"gidprefix", 64, Show::hex, "GIDPrefix"},
                                                   {"idgeneration", 16, Show::hex, "IDGeneration"},
                                                   {"reserved0", 8, Show::reserved, "Reserved"},
                                                   {"nodetype", 8, Show::dec, "NodeType", ib_node_types},
                                                   {"nodeid", 64, Show::hex, "NodeID"},
                                                   {"chassisid", 64, Show::hex, "ChassisID"},
                                                   {"entryportid", 64, Show::hex, "EntryPortID"},
                                                   {"exitportid", 64, Show::hex, "ExitPortID"},
                                                   {"entryport", 8, Show::dec, "EntryPort"},
                                                   {"exitport", 8, Show::dec, "ExitPort"},
                                                   {"reserved1", 16, Show::reserved, "Reserved"},
                                               });
};

// SGIDCount source GIDs and DGIDCount destination GIDs follow. An answer has PathRecords.
struct MultiPathRecord {
  static constexpr std::string_view name = "infiniband.multipathrecord", title = "MultiPathRecord";
  static constexpr std::uint32_t bytes = 24;
  static constexpr auto fields =
      layout_of(bytes, sa_table::path,
                {
                    {"serviceid.high", 8, Show::hex, "ServiceID, upper 8 bits"},
                    {"independenceselector", 2, Show::dec, "IndependenceSelector"},
                    {"gidscope", 6, Show::hex, "GIDScope"},  // reserved in older revisions
                    {"sgidcount", 8, Show::dec, "SGIDCount"},
                    {"dgidcount", 8, Show::dec, "DGIDCount"},
                    Field{"serviceid.low", 56, Show::hex, "ServiceID, lower 56 bits"}.components(2),
                    rest_array("sdgid", 128, Show::ipv6, "SDGID"),
                });
};

struct ServiceAssociationRecord {
  static constexpr std::string_view name = "infiniband.serviceassociationrecord", title = "ServiceAssociationRecord";
  static constexpr std::uint32_t bytes = 80;
  static constexpr auto fields =
      layout(bytes, {{"servicekey", 128, Show::bytes, "ServiceKey"}, {"servicename", 512, Show::text, "ServiceName"}});
};

struct InformInfo {
  static constexpr std::string_view name = "infiniband.informinfo", title = "InformInfo";
  static constexpr std::uint32_t bytes = 36;
  static constexpr auto fields =
      layout(bytes, {
                        {"gid", 128, Show::ipv6, "GID"},
                        {"lidrangebegin", 16, Show::dec, "LIDRangeBegin"},
                        {"lidrangeend", 16, Show::dec, "LIDRangeEnd"},
                        {"reserved0", 16, Show::reserved, "Reserved"},
                        {"isgeneric", 8, Show::dec, "IsGeneric"},
                        {"subscribe", 8, Show::dec, "Subscribe"},
                        {"type", 16, Show::dec, "Type", notice_types},
                        {"trapnumberdeviceid", 16, Show::dec, "TrapNumber/DeviceID"},
                        {"qpn", 24, Show::hex, "QPN"},
                        {"reserved1", 3, Show::reserved, "Reserved"},
                        {"resptimevalue", 5, Show::dec, "RespTimeValue", ib_times},
                        {"reserved2", 8, Show::reserved, "Reserved"},
                        {"producertypevendorid", 24, Show::hex, "ProducerType/VendorID", producer_types},
                    });
};
static_assert(field<InformInfo, "qpn">().at == 28 * 8);

struct InformInfoRecord {
  static constexpr std::string_view name = "infiniband.informinforecord", title = "InformInfoRecord";
  static constexpr std::uint32_t bytes = 24;
  static constexpr auto fields = layout(bytes, {{"subscribergid", 128, Show::ipv6, "SubscriberGID"},
                                                {"enum", 16, Show::dec, "Enum"},
                                                {"reserved", 48, Show::reserved, "Reserved"}});
};

// Ends the record, behind its InformInfo.
struct InformInfoRecordEnd {
  static constexpr std::string_view name = "infiniband.informinforecordend", title = "End of InformInfoRecord";
  static constexpr std::uint32_t bytes = 20;
  static constexpr auto fields = layout(bytes, {{"reserved", 160, Show::bytes, "Reserved"}});
};

}  // namespace rdmascope::dissect
