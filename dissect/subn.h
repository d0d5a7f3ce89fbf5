// Attributes of subnet management. The SA has records of most of them (sa_records.h): these tables serve both. mad.md
// section 3.
#pragma once

#include "dissect/field.h"
#include "dissect/ib_codes.h"
#include "dissect/smp.h"

namespace rdmascope::dissect {

struct NodeDescription {
  static constexpr std::string_view name = "infiniband.nodedescription", title = "NodeDescription";
  static constexpr std::uint32_t bytes = 64;
  static constexpr auto fields = layout(bytes, {{"nodestring", 512, Show::text, "NodeDescription"}});
};

struct NodeInfo {
  static constexpr std::string_view name = "infiniband.nodeinfo", title = "NodeInfo";
  static constexpr std::uint32_t bytes = 40;
  static constexpr auto fields = layout(bytes, {
                                                   {"baseversion", 8, Show::dec, "BaseVersion"},
                                                   {"classversion", 8, Show::dec, "ClassVersion"},
                                                   {"nodetype", 8, Show::dec, "NodeType", ib_node_types},
                                                   {"numports", 8, Show::dec, "NumPorts"},
                                                   {"systemimageguid", 64, Show::hex, "SystemImageGUID"},
                                                   {"nodeguid", 64, Show::hex, "NodeGUID"},
                                                   {"portguid", 64, Show::hex, "PortGUID"},
                                                   {"partitioncap", 16, Show::dec, "PartitionCap"},
                                                   {"deviceid", 16, Show::hex, "DeviceID"},
                                                   {"revision", 32, Show::hex, "Revision"},
                                                   {"localportnum", 8, Show::dec, "LocalPortNum"},
                                                   {"vendorid", 24, Show::hex, "VendorID"},
                                               });
};
static_assert(field<NodeInfo, "partitioncap">().at == 28 * 8 && field<NodeInfo, "vendorid">().at == 37 * 8);

struct SwitchInfo {
  static constexpr std::string_view name = "infiniband.switchinfo", title = "SwitchInfo";
  static constexpr std::uint32_t bytes = 20;
  static constexpr auto fields =
      layout(bytes, {
                        {"linearfdbcap", 16, Show::dec, "LinearFDBCap"},
                        {"randomfdbcap", 16, Show::dec, "RandomFDBCap"},
                        {"multicastfdbcap", 16, Show::dec, "MulticastFDBCap"},
                        {"linearfdbtop", 16, Show::dec, "LinearFDBTop"},
                        {"defaultport", 8, Show::dec, "DefaultPort"},
                        {"defaultmulticastprimaryport", 8, Show::dec, "DefaultMulticastPrimaryPort"},
                        {"defaultmulticastnotprimaryport", 8, Show::dec, "DefaultMulticastNotPrimaryPort"},
                        {"lifetimevalue", 5, Show::dec, "LifeTimeValue", ib_lifetimes},
                        {"portstatechange", 1, Show::flag, "PortStateChange"},
                        {"optimizedsltovlmappingprogramming", 2, Show::dec, "OptimizedSLtoVLMappingProgramming"},
                        {"lidsperport", 16, Show::dec, "LIDsPerPort"},
                        {"partitionenforcementcap", 16, Show::dec, "PartitionEnforcementCap"},
                        {"inboundenforcementcap", 1, Show::flag, "InboundEnforcementCap"},
                        {"outboundenforcementcap", 1, Show::flag, "OutboundEnforcementCap"},
                        {"filterrawinboundcap", 1, Show::flag, "FilterRawInboundCap"},
                        {"filterrawoutboundcap", 1, Show::flag, "FilterRawOutboundCap"},
                        {"enhancedportzero", 1, Show::flag, "EnhancedPort0"},
                        {"reserved0", 3, Show::reserved, "Reserved"},
                        {"reserved1", 8, Show::reserved, "Reserved"},
                        {"multicastfdbtop", 16, Show::hex, "MulticastFDBTop"},
                    });
};
static_assert(field<SwitchInfo, "partitionenforcementcap">().at == (78 - smp_data_at) * 8);

struct GuidInfo {
  static constexpr std::string_view name = "infiniband.guidinfo", title = "GUIDInfo";
  static constexpr std::uint32_t bytes = 64;
  static constexpr std::uint16_t guids = 8;
  static constexpr auto fields =
      layout(bytes, {Field{"guid", 64, Show::hex, "GUID"}.array(guids).components(guids).also(
                        "infiniband.switchinfo.guid")});  // tshark's name for it
};

inline constexpr ValueName port_states[] = {
    {0, "no change"}, {1, "Down"}, {2, "Initialize"}, {3, "Armed"}, {4, "Active"}};
inline constexpr ValueName port_physical_states[] = {{0, "no change"},
                                                     {1, "Sleep"},
                                                     {2, "Polling"},
                                                     {3, "Disabled"},
                                                     {4, "PortConfigurationTraining"},
                                                     {5, "LinkUp"},
                                                     {6, "LinkErrorRecovery"},
                                                     {7, "Phy Test"}};
inline constexpr ValueName link_down_states[] = {{0, "no change"}, {1, "Sleep"}, {2, "Polling"}};
inline constexpr ValueName port_diag_codes[] = {
    {0, "ready"}, {1, "self test"}, {2, "initializing"}, {3, "soft error"}, {4, "hard error"}};
inline constexpr auto operational_vls =
    std::to_array<ValueName>({{0, "no change"}, ib_vls[0], ib_vls[1], ib_vls[2], ib_vls[3], ib_vls[4]});
inline constexpr ValueName link_latencies[] = {{0xffffff, "not measured"}};
inline constexpr ValueName ext_speeds_2[] = {{0, "none"}, {1, "212.5 Gb/s"}};
inline constexpr ValueName vl_high_limits[] = {{255, "unlimited"}};

namespace subn_table {

// Bits 31 to 0, with tshark's names.
inline constexpr Field capability_mask[] = {
    view("capabilitymask", 32, Show::hex, "CapabilityMask"),
    {"capabilitymask.hierarchyinfosupported", 1, Show::flag, "IsHierarchyInfoSupported"},
    {"capabilitymask.multicastfdbtopsupported", 1, Show::flag, "IsMulticastFDBTopSupported"},
    {"capabilitymask.mcastpkeytrapsuppressionsupported", 1, Show::flag, "IsMcastPkeyTrapSuppressionSupported"},
    {"capabilitymask.vendorspecificmadstablesupported", 1, Show::flag, "IsVendorSpecificMadsTableSupported"},
    {"capabilitymask.linkspeedwidthpairstablesupported", 1, Show::flag, "IsLinkSpeedWidthPairsTableSupported"},
    {"capabilitymask.otherlocalchangesnoticesupported", 1, Show::flag, "IsOtherLocalChangesNoticeSupported"},
    {"capabilitymask.clientregistrationsupported", 1, Show::flag, "IsClientReregistrationSupported"},
    {"capabilitymask.linkroundtriplatencysupported", 1, Show::flag, "IsLinkRoundTripLatencySupported"},
    {"capabilitymask.bootmanagementsupported", 1, Show::flag, "IsBootManagementSupported"},
    {"capabilitymask.capabilitymasknoticesupported", 1, Show::flag, "IsCapabilityMaskNoticeSupported"},
    {"capabilitymask.drnoticesupported", 1, Show::flag, "IsDRNoticeSupported"},
    {"capabilitymask.vendorclasssupported", 1, Show::flag, "IsVendorClassSupported"},
    {"capabilitymask.devicemanagementsupported", 1, Show::flag, "IsDeviceManagementSupported"},
    {"capabilitymask.reinitsupported", 1, Show::flag, "IsReinitSupported"},
    {"capabilitymask.snmptunnelingsupported", 1, Show::flag, "IsSNMPTunnelingSupported"},
    {"capabilitymask.communicationmanagementsupported", 1, Show::flag, "IsCommunicationManagementSupported"},
    {"capabilitymask.capabilitymask2supported", 1, Show::flag, "IsCapabilityMask2Supported"},
    {"capabilitymask.extendedspeedssupported", 1, Show::flag, "IsExtendedSpeedsSupported"},
    {"capabilitymask.cableinfosupported", 1, Show::flag, "IsCableInfoSupported"},
    {"capabilitymask.pkeyswitchexternalporttrapsupported", 1, Show::flag, "IsPKeySwitchExternalPortTrapSupported"},
    {"capabilitymask.systemimageguidsupported", 1, Show::flag, "IsSystemImageGUIDSupported"},
    {"capabilitymask.smdisabled", 1, Show::flag, "IsSMdisabled"},
    {"capabilitymask.ledinfosupported", 1, Show::flag, "IsLedInfoSupported"},
    {"capabilitymask.pkeynvram", 1, Show::flag, "IsPKeyNVRAM"},
    {"capabilitymask.mkeynvram", 1, Show::flag, "IsMKeyNVRAM"},
    {"capabilitymask.slmappingsupported", 1, Show::flag, "IsSLMappingSupported"},
    {"capabilitymask.automaticmigrationsupported", 1, Show::flag, "IsAutomaticMigrationSupported"},
    {"capabilitymask.optionalipdsupported", 1, Show::flag, "IsOptionalIPDSupported"},
    {"capabilitymask.trapsupported", 1, Show::flag, "IsTrapSupported"},
    {"capabilitymask.noticesupported", 1, Show::flag, "IsNoticeSupported"},
    {"capabilitymask.issm", 1, Show::flag, "IsSM"},
    {"capabilitymask.reserved", 1, Show::reserved, "Reserved"}};

// Bits 15 to 0.
inline constexpr Field capability_mask_2[] = {
    view("capabilitymask2", 16, Show::hex, "CapabilityMask2"),
    {"capabilitymask2.reserved", 5, Show::reserved, "Reserved"},
    {"capabilitymask2.linkspeedndrsupported", 1, Show::flag, "IsLinkSpeedNDRSupported"},
    {"capabilitymask2.enhancedqosarbitersupported", 1, Show::flag, "IsEnhancedQoSArbiterSupported"},
    {"capabilitymask2.partitiontopsupported", 1, Show::flag, "IsPartitionTopSupported"},
    {"capabilitymask2.enhancedtrap128supported", 1, Show::flag, "IsEnhancedTrap128Supported"},
    {"capabilitymask2.mkeyprotectbitsextsupported", 1, Show::flag, "IsMKeyProtectBitsExtSupported"},
    {"capabilitymask2.linkspeedhdrsupported", 1, Show::flag, "IsLinkSpeedHDRSupported"},
    {"capabilitymask2.linkwidth2xsupported", 1, Show::flag, "IsLinkWidth2xSupported"},
    {"capabilitymask2.switchportstatetablesupported", 1, Show::flag, "IsSwitchPortStateTableSupported"},
    {"capabilitymask2.virtualizationsupported", 1, Show::flag, "IsVirtualizationSupported"},
    {"capabilitymask2.portinfoextendedsupported", 1, Show::flag, "IsPortInfoExtendedSupported"},
    {"capabilitymask2.setnodedescriptionsupported", 1, Show::flag, "IsSetNodeDescriptionSupported"}};

}  // namespace subn_table

struct PortInfo {
  static constexpr std::string_view name = "infiniband.portinfo", title = "PortInfo";
  static constexpr std::uint32_t bytes = 64;
  static constexpr auto fields =
      layout_of(bytes,
                {{"m_key", 64, Show::hex, "M_Key"},
                 Field{"gidprefix", 64, Show::hex, "GIDPrefix"}.also("guid"),  // tshark's name for it
                 {"lid", 16, Show::dec, "LID"},
                 {"mastersmlid", 16, Show::dec, "MasterSMLID"}},
                subn_table::capability_mask,
                {{"diagcode", 16, Show::hex, "DiagCode", port_diag_codes},
                 Field{"m_keyleaseperiod", 16, Show::dec, "M_KeyLeasePeriod"}.in("s"),
                 {"localportnum", 8, Show::dec, "LocalPortNum"},
                 {"linkwidthenabled", 8, Show::dec, "LinkWidthEnabled", ib_enabled_widths},
                 {"linkwidthsupported", 8, Show::dec, "LinkWidthSupported", ib_widths},
                 {"linkwidthactive", 8, Show::dec, "LinkWidthActive", ib_widths},
                 {"linkspeedsupported", 4, Show::dec, "LinkSpeedSupported", ib_speeds},
                 {"portstate", 4, Show::dec, "PortState", port_states},
                 {"portphysicalstate", 4, Show::dec, "PortPhysicalState", port_physical_states},
                 {"linkdowndefaultstate", 4, Show::dec, "LinkDownDefaultState", link_down_states},
                 {"m_keyprotectbits", 2, Show::dec, "M_KeyProtectBits"},
                 {"reserved0", 3, Show::reserved, "Reserved"},
                 {"lmc", 3, Show::dec, "LMC"},
                 {"linkspeedactive", 4, Show::dec, "LinkSpeedActive", ib_active_speeds},
                 {"linkspeedenabled", 4, Show::dec, "LinkSpeedEnabled", ib_enabled_speeds},
                 {"neighbormtu", 4, Show::dec, "NeighborMTU", ib_mtus},
                 {"mastersmsl", 4, Show::dec, "MasterSMSL"},
                 {"vlcap", 4, Show::dec, "VLCap", ib_vls},
                 {"inittype", 4, Show::hex, "InitType"},
                 {"vlhighlimit", 8, Show::dec, "VLHighLimit", vl_high_limits},
                 {"vlarbitrationhighcap", 8, Show::dec, "VLArbitrationHighCap"},
                 {"vlarbitrationlowcap", 8, Show::dec, "VLArbitrationLowCap"},
                 {"inittypereply", 4, Show::hex, "InitTypeReply"},
                 {"mtucap", 4, Show::dec, "MTUCap", ib_mtus},
                 {"vlstallcount", 3, Show::dec, "VLStallCount"},
                 {"hoqlife", 5, Show::dec, "HOQLife", ib_lifetimes},
                 {"operationalvls", 4, Show::dec, "OperationalVLs", operational_vls},
                 {"partitionenforcementinbound", 1, Show::flag, "PartitionEnforcementInbound"},
                 {"partitionenforcementoutbound", 1, Show::flag, "PartitionEnforcementOutbound"},
                 {"filterrawinbound", 1, Show::flag, "FilterRawInbound"},
                 {"filterrawoutbound", 1, Show::flag, "FilterRawOutbound"},
                 {"m_keyviolations", 16, Show::dec, "M_KeyViolations"},
                 {"p_keyviolations", 16, Show::dec, "P_KeyViolations"},
                 {"q_keyviolations", 16, Show::dec, "Q_KeyViolations"},
                 {"guidcap", 8, Show::dec, "GUIDCap"},
                 {"clientreregister", 1, Show::flag, "ClientReregister"},
                 {"mcastpkeytrapsuppressionenabled", 2, Show::dec, "MulticastPKeyTrapSuppressionEnabled"},
                 {"subnettimeout", 5, Show::dec, "SubnetTimeOut", ib_times},
                 {"reserved1", 3, Show::reserved, "Reserved"},
                 {"resptimevalue", 5, Show::dec, "RespTimeValue", ib_times},
                 {"localphyerrors", 4, Show::dec, "LocalPhyErrors"},
                 {"overrunerrors", 4, Show::dec, "OverrunErrors"},
                 {"maxcredithint", 16, Show::dec, "MaxCreditHint"},
                 view("linkspeedext2", 8, Show::hex, "LinkSpeedExt2"),  // reserved in older revisions
                 {"linkspeedext2.reserved", 1, Show::reserved, "Reserved"},
                 {"linkspeedextactive2", 2, Show::dec, "LinkSpeedExtActive2", ext_speeds_2},
                 {"linkspeedextsupported2", 2, Show::dec, "LinkSpeedExtSupported2", ext_speeds_2},
                 {"linkspeedextenabled2", 3, Show::dec, "LinkSpeedExtEnabled2"},
                 {"linkroundtriplatency", 24, Show::dec, "LinkRoundTripLatency", link_latencies}},
                subn_table::capability_mask_2,
                {{"linkspeedextactive", 4, Show::dec, "LinkSpeedExtActive", ib_ext_speeds},
                 {"linkspeedextsupported", 4, Show::dec, "LinkSpeedExtSupported", ib_ext_speeds},
                 {"reserved2", 3, Show::reserved, "Reserved"},
                 {"linkspeedextenabled", 5, Show::dec, "LinkSpeedExtEnabled", ib_enabled_ext_speeds}});
};
static_assert(field<PortInfo, "portstate">().at == 32 * 8 + 4 && field<PortInfo, "lmc">().at == 34 * 8 + 5);
static_assert(field<PortInfo, "guidcap">().at == 50 * 8 && field<PortInfo, "capabilitymask2">().at == 60 * 8);

inline constexpr ValueName p_key_memberships[] = {{0, "limited"}, {1, "full"}};

struct PKeyTable {
  static constexpr std::string_view name = "infiniband.p_keytable", title = "P_KeyTable";
  static constexpr std::uint32_t bytes = 64;
  static constexpr std::uint16_t entries = 32;
  static constexpr auto fields =
      layout(bytes, {view("p_key", 16, Show::hex, "P_Key").array(entries),
                     Field{"membershiptype", 1, Show::dec, "MembershipType", p_key_memberships}.array(entries, 16),
                     Field{"p_keybase", 15, Show::hex, "P_KeyBase"}.array(entries, 16)});
};

// VL by SL.
struct SlToVlTable {
  static constexpr std::string_view name = "infiniband.sltovlmappingtable", title = "SLtoVLMappingTable";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {Field{"sltovl", 4, Show::dec, "VL of SL"}.array(16)});
};

struct VlArbitrationTable {
  static constexpr std::string_view name = "infiniband.vlarbitrationtable", title = "VLArbitrationTable";
  static constexpr std::uint32_t bytes = 64;
  static constexpr std::uint16_t entries = 32;
  static constexpr auto fields =
      layout(bytes, {Field{"reserved", 4, Show::reserved, "Reserved"}.array(entries, 16).components(0),
                     Field{"vl", 4, Show::dec, "VL"}.array(entries, 16),
                     Field{"weight", 8, Show::dec, "Weight"}.array(entries, 16).components(0)});
};

// Port by LID: 64 of them from 64 * block on; 255 discards.
struct LinearForwardingTable {
  static constexpr std::string_view name = "infiniband.linearforwardingtable", title = "LinearForwardingTable";
  static constexpr std::uint32_t bytes = 64;
  static constexpr auto fields = layout(bytes, {Field{"port", 8, Show::dec, "Port"}.array(64)});
};

struct RandomForwardingTable {
  static constexpr std::string_view name = "infiniband.randomforwardingtable", title = "RandomForwardingTable";
  static constexpr std::uint32_t bytes = 64;
  static constexpr std::uint16_t entries = 16;
  static constexpr auto fields =
      layout(bytes, {Field{"lid", 16, Show::dec, "LID"}.array(entries, 32),
                     Field{"valid", 1, Show::dec, "Valid"}.array(entries, 32).components(0),
                     Field{"lmc", 3, Show::dec, "LMC"}.array(entries, 32).components(0),
                     Field{"reserved", 4, Show::reserved, "Reserved"}.array(entries, 32).components(0),
                     Field{"port", 8, Show::dec, "Port"}.array(entries, 32).components(0)});
};

// Ports by MLID: 32 of them from 0xC000 + 32 * block on; bit b is port 16 * position + b.
struct MulticastForwardingTable {
  static constexpr std::string_view name = "infiniband.multicastforwardingtable", title = "MulticastForwardingTable";
  static constexpr std::uint32_t bytes = 64;
  static constexpr auto fields = layout(bytes, {Field{"portmask", 16, Show::hex, "PortMask"}.array(32)});
};

inline constexpr ValueName sm_states[] = {{0, "not active"}, {1, "discovering"}, {2, "standby"}, {3, "master"}};

struct SmInfo {
  static constexpr std::string_view name = "infiniband.sminfo", title = "SMInfo";
  static constexpr std::uint32_t bytes = 24;
  static constexpr auto fields = layout(bytes, {
                                                   {"guid", 64, Show::hex, "GUID"},
                                                   {"sm_key", 64, Show::hex, "SM_Key"},
                                                   {"actcount", 32, Show::dec, "ActCount"},
                                                   {"priority", 4, Show::dec, "Priority"},
                                                   {"smstate", 4, Show::dec, "SMState", sm_states},
                                                   {"reserved", 24, Show::reserved, "Reserved"},
                                               });
};

struct VendorDiag {
  static constexpr std::string_view name = "infiniband.vendordiag", title = "VendorDiag";
  static constexpr std::uint32_t bytes = 64;
  static constexpr auto fields =
      layout(bytes, {{"nextindex", 16, Show::dec, "NextIndex"}, {"diagdata", 496, Show::bytes, "DiagData"}});
};

struct LedInfo {
  static constexpr std::string_view name = "infiniband.ledinfo", title = "LedInfo";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields =
      layout(bytes, {{"ledmask", 1, Show::flag, "LedMask"}, {"reserved", 31, Show::reserved, "Reserved"}});
};

struct PortInfoExtended {
  static constexpr std::string_view name = "infiniband.portinfoextended", title = "PortInfoExtended";
  static constexpr std::uint32_t bytes = 22;
  static constexpr auto fields = layout(bytes, {
                                                   {"capabilitymask", 32, Show::hex, "CapabilityMask"},
                                                   {"fecmodeactive", 16, Show::hex, "FECModeActive"},
                                                   {"fdrfecmodesupported", 16, Show::hex, "FDRFECModeSupported"},
                                                   {"fdrfecmodeenabled", 16, Show::hex, "FDRFECModeEnabled"},
                                                   {"edrfecmodesupported", 16, Show::hex, "EDRFECModeSupported"},
                                                   {"edrfecmodeenabled", 16, Show::hex, "EDRFECModeEnabled"},
                                                   {"hdrfecmodesupported", 16, Show::hex, "HDRFECModeSupported"},
                                                   {"hdrfecmodeenabled", 16, Show::hex, "HDRFECModeEnabled"},
                                                   {"ndrfecmodesupported", 16, Show::hex, "NDRFECModeSupported"},
                                                   {"ndrfecmodeenabled", 16, Show::hex, "NDRFECModeEnabled"},
                                               });
};

inline constexpr ValueName mellanox_speeds[] = {{1, "FDR10"}};

// Of Mellanox; bit 0 of a speed is FDR10.
struct ExtendedPortInfo {
  static constexpr std::string_view name = "infiniband.extendedportinfo", title = "Mellanox ExtendedPortInfo";
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields =
      layout(bytes, {
                        {"reserved0", 24, Show::reserved, "Reserved"},
                        {"statechangeenable", 8, Show::hex, "StateChangeEnable"},
                        {"reserved1", 24, Show::reserved, "Reserved"},
                        {"linkspeedsupported", 8, Show::hex, "LinkSpeedSupported", mellanox_speeds},
                        {"reserved2", 24, Show::reserved, "Reserved"},
                        {"linkspeedenabled", 8, Show::hex, "LinkSpeedEnabled", mellanox_speeds},
                        {"reserved3", 24, Show::reserved, "Reserved"},
                        {"linkspeedactive", 8, Show::hex, "LinkSpeedActive", mellanox_speeds},
                    });
};

}  // namespace rdmascope::dissect
