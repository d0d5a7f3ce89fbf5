// Attributes of performance management. mad.md section 5. Data counters count words of 4 bytes.
#pragma once

#include "dissect/field.h"
#include "dissect/gmp.h"
#include "dissect/ib_codes.h"

namespace rdmascope::dissect {

// Titles of the counters whose bits are set in CounterSelect.
bool perf_selected_counters(const Packet&, const Layer&, unsigned n, Value& out);

namespace perf_table {

constexpr Field reserved(std::string_view name, std::uint16_t width) {
  return Field{name, width, width > 64 ? Show::bytes : Show::reserved, "Reserved"}.components(0);
}
inline constexpr Field port_select = Field{"portselect", 8, Show::dec, "PortSelect"}.components(0);
inline constexpr Field counter_select = Field{"counterselect", 16, Show::hex, "CounterSelect"}.components(0);
inline constexpr Field selected =
    generated("counterselect.counters", Show::text, "Selected", perf_selected_counters).repeated();

// Most attributes start with one of these words.
inline constexpr Field first_word[] = {reserved("reserved0", 8), port_select, counter_select};
inline constexpr Field op_first_word[] = {{"opcode", 8, Show::hex, "OpCode"}, port_select, counter_select};

inline constexpr ValueName counter_widths[] = {
    {0, "16 bits"}, {1, "20 bits"}, {2, "24 bits"}, {3, "28 bits"}, {4, "32 bits"}};
inline constexpr ValueName sample_statuses[] = {{0, "done"}, {1, "waiting"}, {2, "running"}};
inline constexpr ValueName select_all[] = {{255, "all ports"}};

}  // namespace perf_table

struct PortSamplesControl {
  static constexpr std::string_view name = "infiniband.portsamplescontrol", title = "PortSamplesControl";
  static constexpr std::uint32_t bytes = 192;
  static constexpr std::uint16_t counters = 15;
  static constexpr auto fields =
      layout(bytes, {
                        {"opcode", 8, Show::hex, "OpCode"},
                        {"portselect", 8, Show::dec, "PortSelect"},
                        {"tick", 8, Show::dec, "Tick"},
                        {"reserved0", 5, Show::reserved, "Reserved"},
                        {"counterwidth", 3, Show::dec, "CounterWidth", perf_table::counter_widths},
                        {"reserved1", 2, Show::reserved, "Reserved"},
                        Field{"countermask", 3, Show::hex, "CounterMask"}.array(10),
                        {"reserved2", 1, Show::reserved, "Reserved"},
                        Field{"countermask10", 3, Show::hex, "CounterMask from 10"}.array(5),
                        {"samplemechanisms", 8, Show::hex, "SampleMechanisms"},
                        {"reserved3", 6, Show::reserved, "Reserved"},
                        {"samplestatus", 2, Show::dec, "SampleStatus", perf_table::sample_statuses},
                        {"optionmask", 64, Show::hex, "OptionMask"},
                        {"vendormask", 64, Show::hex, "VendorMask"},
                        {"samplestart", 32, Show::dec, "SampleStart"},
                        {"sampleinterval", 32, Show::dec, "SampleInterval"},
                        {"tag", 16, Show::hex, "Tag"},
                        Field{"counterselect", 16, Show::hex, "CounterSelect"}.array(counters),
                        {"reserved4", 32, Show::reserved, "Reserved"},
                        {"samplesonlyoptionmask", 64, Show::hex, "SamplesOnlyOptionMask"},
                        {"reserved5", 896, Show::bytes, "Reserved"},
                    });
};
static_assert(field<PortSamplesControl, "countermask">().at == 34 &&
              field<PortSamplesControl, "countermask10">().at == 65);
static_assert(field<PortSamplesControl, "counterselect">().at == 38 * 8);

struct PortSamplesResult {
  static constexpr std::string_view name = "infiniband.portsamplesresult", title = "PortSamplesResult";
  static constexpr std::uint32_t bytes = 64;
  static constexpr auto fields =
      layout(bytes, {
                        {"tag", 16, Show::hex, "Tag"},
                        {"reserved", 14, Show::reserved, "Reserved"},
                        {"samplestatus", 2, Show::dec, "SampleStatus", perf_table::sample_statuses},
                        Field{"counter", 32, Show::dec, "Counter"}.array(PortSamplesControl::counters),
                    });
};

struct PortSamplesResultExtended {
  static constexpr std::string_view name = "infiniband.portsamplesresultextended", title = "PortSamplesResultExtended";
  static constexpr std::uint32_t bytes = 128;
  static constexpr auto fields =
      layout(bytes, {
                        {"tag", 16, Show::hex, "Tag"},
                        {"reserved0", 14, Show::reserved, "Reserved"},
                        {"samplestatus", 2, Show::dec, "SampleStatus", perf_table::sample_statuses},
                        {"extendedwidth", 2, Show::dec, "ExtendedWidth"},
                        {"reserved1", 30, Show::reserved, "Reserved"},
                        Field{"counter", 64, Show::dec, "Counter"}.array(PortSamplesControl::counters),
                    });
};

// The bits of CounterSelect are the counters in their order.
struct PortCounters {
  static constexpr std::string_view name = "infiniband.portcounters", title = "PortCounters";
  static constexpr std::uint32_t bytes = 44;
  static constexpr auto fields =
      layout_of(bytes, perf_table::first_word,
                {perf_table::selected,
                 {"symbolerrorcounter", 16, Show::dec, "SymbolErrorCounter"},
                 {"linkerrorrecoverycounter", 8, Show::dec, "LinkErrorRecoveryCounter"},
                 {"linkdownedcounter", 8, Show::dec, "LinkDownedCounter"},
                 {"portrcverrors", 16, Show::dec, "PortRcvErrors"},
                 {"portrcvremotephysicalerrors", 16, Show::dec, "PortRcvRemotePhysicalErrors"},
                 {"portrcvswitchrelayerrors", 16, Show::dec, "PortRcvSwitchRelayErrors"},
                 {"portxmitdiscards", 16, Show::dec, "PortXmitDiscards"},
                 {"portxmitconstrainterrors", 8, Show::dec, "PortXmitConstraintErrors"},
                 {"portrcvconstrainterrors", 8, Show::dec, "PortRcvConstraintErrors"},
                 Field{"counterselect2", 8, Show::hex, "CounterSelect2"}.components(0),
                 {"locallinkintegrityerrors", 4, Show::dec, "LocalLinkIntegrityErrors"},
                 {"excessivebufferoverrunerrors", 4, Show::dec, "ExcessiveBufferOverrunErrors"},
                 Field{"qp1dropped", 16, Show::dec, "QP1Dropped"}.components(0),  // reserved in older revisions
                 {"vl15dropped", 16, Show::dec, "VL15Dropped"},
                 Field{"portxmitdata", 32, Show::dec, "PortXmitData"}.in("words"),
                 Field{"portrcvdata", 32, Show::dec, "PortRcvData"}.in("words"),
                 {"portxmitpkts", 32, Show::dec, "PortXmitPkts"},
                 {"portrcvpkts", 32, Show::dec, "PortRcvPkts"},
                 Field{"portxmitwait", 32, Show::dec, "PortXmitWait"}.in("ticks").components(0)});
};
static_assert(field<PortCounters, "vl15dropped">().at == 22 * 8 && field<PortCounters, "portxmitwait">().at == 40 * 8);

struct PortRcvErrorDetails {
  static constexpr std::string_view name = "infiniband.portrcverrordetails", title = "PortRcvErrorDetails";
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout_of(bytes, perf_table::first_word,
                                           {perf_table::selected,
                                            {"portlocalphysicalerrors", 16, Show::dec, "PortLocalPhysicalErrors"},
                                            {"portmalformedpacketerrors", 16, Show::dec, "PortMalformedPacketErrors"},
                                            {"portbufferoverrunerrors", 16, Show::dec, "PortBufferOverrunErrors"},
                                            {"portdlidmappingerrors", 16, Show::dec, "PortDLIDMappingErrors"},
                                            {"portvlmappingerrors", 16, Show::dec, "PortVLMappingErrors"},
                                            {"portloopingerrors", 16, Show::dec, "PortLoopingErrors"}});
};

struct PortXmitDiscardDetails {
  static constexpr std::string_view name = "infiniband.portxmitdiscarddetails", title = "PortXmitDiscardDetails";
  static constexpr std::uint32_t bytes = 12;
  static constexpr auto fields =
      layout_of(bytes, perf_table::first_word,
                {perf_table::selected,
                 {"portinactivediscards", 16, Show::dec, "PortInactiveDiscards"},
                 {"portneighbormtudiscards", 16, Show::dec, "PortNeighborMTUDiscards"},
                 {"portswlifetimelimitdiscards", 16, Show::dec, "PortSwLifetimeLimitDiscards"},
                 {"portswhoqlimitdiscards", 16, Show::dec, "PortSwHOQLimitDiscards"}});
};

struct PortOpRcvCounters {
  static constexpr std::string_view name = "infiniband.portoprcvcounters", title = "PortOpRcvCounters";
  static constexpr std::uint32_t bytes = 12;
  static constexpr auto fields = layout_of(bytes, perf_table::op_first_word,
                                           {{"portoprcvpkts", 32, Show::dec, "PortOpRcvPkts"},
                                            Field{"portoprcvdata", 32, Show::dec, "PortOpRcvData"}.in("words")});
};

struct PortFlowCtlCounters {
  static constexpr std::string_view name = "infiniband.portflowctlcounters", title = "PortFlowCtlCounters";
  static constexpr std::uint32_t bytes = 12;
  static constexpr auto fields = layout_of(
      bytes, perf_table::first_word,
      {{"portxmitflowpkts", 32, Show::dec, "PortXmitFlowPkts"}, {"portrcvflowpkts", 32, Show::dec, "PortRcvFlowPkts"}});
};

// Counters by VL or SL.
struct PortVlOpPackets {
  static constexpr std::string_view name = "infiniband.portvloppackets", title = "PortVLOpPackets";
  static constexpr std::uint32_t bytes = 36;
  static constexpr auto fields = layout_of(bytes, perf_table::op_first_word,
                                           {Field{"portvloppackets", 16, Show::dec, "PortVLOpPackets"}.array(16)});
};

struct PortVlOpData {
  static constexpr std::string_view name = "infiniband.portvlopdata", title = "PortVLOpData";
  static constexpr std::uint32_t bytes = 68;
  static constexpr auto fields =
      layout_of(bytes, perf_table::op_first_word, {Field{"portvlopdata", 32, Show::dec, "PortVLOpData"}.array(16)});
};

struct PortVlXmitFlowCtlUpdateErrors {
  static constexpr std::string_view name = "infiniband.portvlxmitflowctlupdateerrors",
                                    title = "PortVLXmitFlowCtlUpdateErrors";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout_of(bytes, perf_table::first_word,
                {Field{"portvlxmitflowctlupdateerrors", 2, Show::dec, "PortVLXmitFlowCtlUpdateErrors"}.array(16)});
};

struct PortVlXmitWaitCounters {
  static constexpr std::string_view name = "infiniband.portvlxmitwaitcounters", title = "PortVLXmitWaitCounters";
  static constexpr std::uint32_t bytes = 36;
  static constexpr auto fields =
      layout_of(bytes, perf_table::first_word, {Field{"portvlxmitwait", 16, Show::dec, "PortVLXmitWait"}.array(16)});
};

// The bits of CounterSelect are the first eight counters, those of CounterSelect2 the others.
struct PortCountersExtended {
  static constexpr std::string_view name = "infiniband.portcounters_ext", title = "PortCountersExtended";
  static constexpr std::uint32_t bytes = 184;
  static constexpr auto fields =
      layout_of(bytes, perf_table::first_word,
                {perf_table::selected,
                 Field{"counterselect2", 32, Show::hex, "CounterSelect2"}.components(0),
                 Field{"portxmitdata", 64, Show::dec, "PortXmitData"}.in("words"),
                 Field{"portrcvdata", 64, Show::dec, "PortRcvData"}.in("words"),
                 {"portxmitpkts", 64, Show::dec, "PortXmitPkts"},
                 {"portrcvpkts", 64, Show::dec, "PortRcvPkts"},
                 {"portunicastxmitpkts", 64, Show::dec, "PortUnicastXmitPkts"},
                 {"portunicastrcvpkts", 64, Show::dec, "PortUnicastRcvPkts"},
                 {"portmulticastxmitpkts", 64, Show::dec, "PortMulticastXmitPkts"},
                 {"portmulticastrcvpkts", 64, Show::dec, "PortMulticastRcvPkts"},
                 {"symbolerrorcounter", 64, Show::dec, "SymbolErrorCounter"},
                 {"linkerrorrecoverycounter", 64, Show::dec, "LinkErrorRecoveryCounter"},
                 {"linkdownedcounter", 64, Show::dec, "LinkDownedCounter"},
                 {"portrcverrors", 64, Show::dec, "PortRcvErrors"},
                 {"portrcvremotephysicalerrors", 64, Show::dec, "PortRcvRemotePhysicalErrors"},
                 {"portrcvswitchrelayerrors", 64, Show::dec, "PortRcvSwitchRelayErrors"},
                 {"portxmitdiscards", 64, Show::dec, "PortXmitDiscards"},
                 {"portxmitconstrainterrors", 64, Show::dec, "PortXmitConstraintErrors"},
                 {"portrcvconstrainterrors", 64, Show::dec, "PortRcvConstraintErrors"},
                 {"locallinkintegrityerrors", 64, Show::dec, "LocalLinkIntegrityErrors"},
                 {"excessivebufferoverrunerrors", 64, Show::dec, "ExcessiveBufferOverrunErrors"},
                 {"vl15dropped", 64, Show::dec, "VL15Dropped"},
                 Field{"portxmitwait", 64, Show::dec, "PortXmitWait"}.in("ticks"),
                 {"qp1dropped", 64, Show::dec, "QP1Dropped"}});
};
static_assert(field<PortCountersExtended, "portmulticastrcvpkts">().at == 64 * 8);
static_assert(field<PortCountersExtended, "qp1dropped">().at == 176 * 8);

// Per lane of the link, of which there are up to 12. With RS-FEC the lanes' FECCorrectableBlockCtr counts symbols.
struct PortExtendedSpeedsCounters {
  static constexpr std::string_view name = "infiniband.portextendedspeedscounters",
                                    title = "PortExtendedSpeedsCounters";
  static constexpr std::uint32_t bytes = 152;
  static constexpr std::uint16_t lanes = 12;
  static constexpr auto fields = layout(
      bytes, {
                 {"reserved0", 8, Show::reserved, "Reserved"},
                 {"portselect", 8, Show::dec, "PortSelect"},
                 {"reserved1", 48, Show::reserved, "Reserved"},
                 {"counterselect", 64, Show::hex, "CounterSelect"},
                 {"syncheadererrorcounter", 16, Show::dec, "SyncHeaderErrorCounter"},
                 {"unknownblockcounter", 16, Show::dec, "UnknownBlockCounter"},
                 Field{"errordetectioncounterlane", 16, Show::dec, "ErrorDetectionCounterLane"}.array(lanes),
                 Field{"feccorrectablectrlane", 32, Show::dec, "FECCorrectableCtrLane"}.array(lanes),
                 Field{"fecuncorrectableblockctrlane", 32, Show::dec, "FECUncorrectableBlockCtrLane"}.array(lanes),
                 {"portfeccorrectableblockctr", 32, Show::dec, "PortFECCorrectableBlockCtr"},
                 {"portfecuncorrectableblockctr", 32, Show::dec, "PortFECUncorrectableBlockCtr"},
                 {"portfeccorrectedsymbolctr", 32, Show::dec, "PortFECCorrectedSymbolCtr"},
             });
};
static_assert(field<PortExtendedSpeedsCounters, "feccorrectablectrlane">().at == 44 * 8);
static_assert(field<PortExtendedSpeedsCounters, "portfeccorrectableblockctr">().at == 140 * 8);

struct SwPortVlCongestion {
  static constexpr std::string_view name = "infiniband.swportvlcongestion", title = "SwPortVLCongestion";
  static constexpr std::uint32_t bytes = 36;
  static constexpr auto fields = layout_of(
      bytes, perf_table::first_word, {Field{"swportvlcongestion", 16, Show::dec, "SwPortVLCongestion"}.array(16)});
};

struct PortRcvConCtrl {
  static constexpr std::string_view name = "infiniband.portrcvconctrl", title = "PortRcvConCtrl";
  static constexpr std::uint32_t bytes = 12;
  static constexpr auto fields = layout_of(
      bytes, perf_table::first_word,
      {{"portpktrcvfecn", 32, Show::dec, "PortPktRcvFECN"}, {"portpktrcvbecn", 32, Show::dec, "PortPktRcvBECN"}});
};

struct PortSlRcvFecn {
  static constexpr std::string_view name = "infiniband.portslrcvfecn", title = "PortSLRcvFECN";
  static constexpr std::uint32_t bytes = 68;
  static constexpr auto fields =
      layout_of(bytes, perf_table::first_word, {Field{"portslrcvfecn", 32, Show::dec, "PortSLRcvFECN"}.array(16)});
};

struct PortSlRcvBecn {
  static constexpr std::string_view name = "infiniband.portslrcvbecn", title = "PortSLRcvBECN";
  static constexpr std::uint32_t bytes = 68;
  static constexpr auto fields =
      layout_of(bytes, perf_table::first_word, {Field{"portslrcvbecn", 32, Show::dec, "PortSLRcvBECN"}.array(16)});
};

struct PortXmitConCtrl {
  static constexpr std::string_view name = "infiniband.portxmitconctrl", title = "PortXmitConCtrl";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout_of(bytes, perf_table::first_word, {{"portxmittimecong", 32, Show::dec, "PortXmitTimeCong"}});
};

struct PortVlXmitTimeCong {
  static constexpr std::string_view name = "infiniband.portvlxmittimecong", title = "PortVLXmitTimeCong";
  static constexpr std::uint32_t bytes = 64;
  static constexpr auto fields = layout_of(
      bytes, perf_table::first_word, {Field{"portvlxmittimecong", 32, Show::dec, "PortVLXmitTimeCong"}.array(15)});
};

struct PortXmitDataSl {
  static constexpr std::string_view name = "infiniband.portxmitdatasl", title = "PortXmitDataSL";
  static constexpr std::uint32_t bytes = 68;
  static constexpr auto fields =
      layout_of(bytes, perf_table::first_word, {Field{"portxmitdatasl", 32, Show::dec, "PortXmitDataSL"}.array(16)});
};

struct PortRcvDataSl {
  static constexpr std::string_view name = "infiniband.portrcvdatasl", title = "PortRcvDataSL";
  static constexpr std::uint32_t bytes = 68;
  static constexpr auto fields =
      layout_of(bytes, perf_table::first_word, {Field{"portrcvdatasl", 32, Show::dec, "PortRcvDataSL"}.array(16)});
};

}  // namespace rdmascope::dissect
