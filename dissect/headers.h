// Every header there is, in the order of the list shown to people. A header that is not listed here cannot be taken by
// the walker (it does not compile). Filters, `fields`, the packet builder and the round-trip test loop over this list.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include "dissect/aeth.h"
#include "dissect/annotations.h"
#include "dissect/atomicacketh.h"
#include "dissect/atomiceth.h"
#include "dissect/bth.h"
#include "dissect/cdi.h"
#include "dissect/cm.h"
#include "dissect/cnp.h"
#include "dissect/congestion.h"
#include "dissect/cqe.h"
#include "dissect/crc.h"
#include "dissect/data.h"
#include "dissect/deth.h"
#include "dissect/efa_rdm.h"
#include "dissect/efa_record.h"
#include "dissect/erf.h"
#include "dissect/erspan.h"
#include "dissect/ethernet.h"
#include "dissect/feth.h"
#include "dissect/frame.h"
#include "dissect/geneve.h"
#include "dissect/gmp.h"
#include "dissect/gre.h"
#include "dissect/grh.h"
#include "dissect/ib_link.h"
#include "dissect/ieth.h"
#include "dissect/immdt.h"
#include "dissect/ipoib.h"
#include "dissect/ipv4.h"
#include "dissect/ipv6.h"
#include "dissect/lrh.h"
#include "dissect/mad.h"
#include "dissect/mpls.h"
#include "dissect/notice.h"
#include "dissect/perf.h"
#include "dissect/rdeth.h"
#include "dissect/reth.h"
#include "dissect/rwh.h"
#include "dissect/sa.h"
#include "dissect/sa_records.h"
#include "dissect/sll.h"
#include "dissect/smp.h"
#include "dissect/subn.h"
#include "dissect/udp.h"
#include "dissect/upper_pdu.h"
#include "dissect/vlan.h"
#include "dissect/vxlan.h"
#include "dissect/xrceth.h"

namespace rdmascope::dissect {

template <class... H>
struct HeaderList {
  template <class Wanted>
  static constexpr bool holds = (std::is_same_v<Wanted, H> || ...);
  static constexpr const Header* all[] = {&header<H>...};
};

using Headers = HeaderList<
    Frame, Ethernet, Vlan, Mpls, PseudowireControlWord, Sll, Sll2, Erf, ErfEthernet, UpperPduTag, Ipv4, Ipv6,
    Ipv6Extension, Ipv6Fragment, Udp, Vxlan, Geneve, Gre, Erspan2, Erspan3, Lrh, Grh, Rwh, IbMirror, IbLink, Bth, Rdeth,
    Deth, Xrceth, Feth, Reth, Atomiceth, Aeth, Atomicacketh, Immdt, Ieth, Cnp, Mad, SmpLid, SmpDirected, SmpPaths, Rmpp,
    Sa, SaRecordPart, PerfMad, BaseboardMad, DeviceMad, SnmpMad, CongestionMad, CongestionMgtMad, VendorMad,
    MadReserved, ClassPortInfo, Notice, NoticeIssuer, Trap64, Trap128, Trap129, Trap144, Trap145, Trap256, Trap257,
    Trap259, NodeDescription, NodeInfo, SwitchInfo, GuidInfo, PortInfo, PKeyTable, SlToVlTable, VlArbitrationTable,
    LinearForwardingTable, RandomForwardingTable, MulticastForwardingTable, SmInfo, VendorDiag, LedInfo,
    PortInfoExtended, ExtendedPortInfo, InformInfo, NodeRecord, PortInfoRecord, SlToVlRecord, SwitchInfoRecord,
    LinearForwardingTableRecord, RandomForwardingTableRecord, MulticastForwardingTableRecord, SmInfoRecord, LinkRecord,
    GuidInfoRecord, ServiceRecord, PKeyTableRecord, PathRecord, VlArbitrationRecord, McMemberRecord, TraceRecord,
    MultiPathRecord, ServiceAssociationRecord, InformInfoRecord, InformInfoRecordEnd, PortSamplesControl,
    PortSamplesResult, PortCounters, PortRcvErrorDetails, PortXmitDiscardDetails, PortOpRcvCounters,
    PortFlowCtlCounters, PortVlOpPackets, PortVlOpData, PortVlXmitFlowCtlUpdateErrors, PortVlXmitWaitCounters,
    PortCountersExtended, PortSamplesResultExtended, PortExtendedSpeedsCounters, SwPortVlCongestion, PortRcvConCtrl,
    PortSlRcvFecn, PortSlRcvBecn, PortXmitConCtrl, PortVlXmitTimeCong, PortXmitDataSl, PortRcvDataSl, CongestionInfo,
    CongestionKeyInfo, SwitchCongestionSetting, SwitchPortCongestionSetting, CaCongestionSetting,
    CongestionControlTable, CmReq, CmMra, CmRej, CmRep, CmRtu, CmDreq, CmDrep, CmSidrReq, CmSidrRep, CmLap, CmApr, IpCm,
    IpoibGrh, Ipoib, Payload, Pad, Vendor, RawData, Icrc, Vcrc, IbTrailer, Data, EthernetTrailer, EthernetFcs,
    CqeRecord, CqeSlot, Mlx4Cqe, Mlx4TimestampCqe, Mlx5Cqe, Mlx5MiniCqe, EfaCqe, ErdmaCqe, WorkCompletion, Cqe, Cdi,
    CdiV1, CdiControl, CdiRequest, CdiAck, CdiData, CdiDataV1, CdiDataV2, CdiDataFirst, CdiDataStart, CdiDataOffset,
    CdiAvm, CdiAvmConfig, CdiExtra, CdiPayload, CdiProbe, EfaRecord, EfaRdm, EfaConnection, EfaPadding, EfaCts,
    EfaCtsData, EfaReadRsp, EfaIds, EfaAtomRsp, EfaHandshake, EfaHostId, EfaDeviceVersion, EfaUserQp, EfaP2p,
    EfaReceipt, EfaPeerError, EfaMessage, EfaTagged, EfaMedium, EfaLongCts, EfaLongRead, EfaRunt, EfaDelivery, EfaRma,
    EfaRtr, EfaRta, EfaIov, EfaRts, EfaRawAddr, EfaCqData, EfaAddress, Events, Analysis, CdiProbeStates,
    Exchange>;

inline std::span<const Header* const> all_headers() { return Headers::all; }

// The headers that may follow BTH, by bit number of Extension (opcodes.h), which is their order on the wire.
inline constexpr const Header* extension_headers[] = {
    &header<Rdeth>, &header<Deth>,         &header<Xrceth>, &header<Feth>, &header<Reth>, &header<Atomiceth>,
    &header<Aeth>,  &header<Atomicacketh>, &header<Immdt>,  &header<Ieth>, &header<Cnp>};

// By full name ("infiniband.bth"), or by its last part where that is unique ("bth"); nullptr if there is none.
const Header* find_header(std::string_view name);

}  // namespace rdmascope::dissect
