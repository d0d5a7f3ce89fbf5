// Headers of libfabric's EFA provider inside an SRD message: RDM protocol version 4, and version 3 (RXR) of libfabric
// 1.9. Little-endian. cdi-probe.md section 6.
//
// Behind the base header stand the parts that efa_rdm_types lists for its type, then what its flags announce. A part
// that several types have is one header.
#pragma once

#include <array>

#include "dissect/field.h"

namespace rdmascope::dissect {

// The raw address of an endpoint; CDI sends it, too. libfabric 1.9 leaves the Q_Key's bytes to the compiler.
namespace efa_row {
inline constexpr Field qpn = Field{"qpn", 16, Show::hex, "Queue pair number"}.little();
inline constexpr Field pad{"gid_pad", 16, Show::reserved, "Reserved"};
inline constexpr Field qkey = Field{"qkey", 32, Show::hex, "Q_Key"}.little();
inline constexpr Field next{"next", 64, Show::reserved, "Reserved"};
}  // namespace efa_row

struct EfaAddress {
  static constexpr std::string_view name = "efa.address", title = "EFA Address";
  static constexpr std::uint32_t bytes = 32;
  static constexpr auto fields = layout(bytes, {{"gid", 128, Show::ipv6, "GID"},
                                                efa_row::qpn,
                                                efa_row::pad,
                                                efa_row::qkey,
                                                efa_row::next,
                                                rest("pad", Show::bytes, "Padding")});
};

// --- Parts -----------------------------------------------------------------------------------------------------------

namespace efa_row {
inline constexpr Field connid = Field{"connid", 32, Show::hex, "Connection id"}.little();  // or padding
inline constexpr Field msg_id = Field{"msg_id", 32, Show::dec, "Message id"}.little();
inline constexpr Field send_id = Field{"send_id", 32, Show::dec, "Send id"}.little();
inline constexpr Field recv_id = Field{"recv_id", 32, Show::dec, "Receive id"}.little();
inline constexpr Field recv_length = Field{"recv_length", 64, Show::dec, "Receive length"}.little().in("bytes");
inline constexpr Field msg_length = Field{"msg_length", 64, Show::dec, "Message length"}.little().in("bytes");
inline constexpr Field seg_length = Field{"seg_length", 64, Show::dec, "Segment length"}.little().in("bytes");
inline constexpr Field seg_offset = Field{"seg_offset", 64, Show::dec, "Segment offset"}.little().in("bytes");
inline constexpr Field credits = Field{"credit_request", 32, Show::dec, "Credits asked for"}.little();
inline constexpr Field read_iovs = Field{"read_iov_count", 32, Show::dec, "Buffers to read"}.little();
inline constexpr Field iovs = Field{"rma_iov_count", 32, Show::dec, "Remote buffers"}.little();
inline constexpr Field tag = Field{"tag", 64, Show::hex, "Tag"}.little();
inline constexpr Field pad32{"pad", 32, Show::reserved, "Padding"};
}  // namespace efa_row

inline constexpr std::string_view efa_shared = "efa.rdm";

struct EfaConnection {
  static constexpr std::string_view name = "efa.rdm.connection", title = "EFA Connection", shared = efa_shared;
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {efa_row::connid});
};

struct EfaPadding {
  static constexpr std::string_view name = "efa.rdm.padding", title = "EFA Padding", shared = efa_shared;
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {efa_row::pad32});
};

struct EfaCts {
  static constexpr std::string_view name = "efa.rdm.cts", title = "EFA Clear to Send", shared = efa_shared;
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout(bytes, {efa_row::send_id, efa_row::recv_id, efa_row::recv_length});
};

struct EfaCtsData {
  static constexpr std::string_view name = "efa.rdm.ctsdata", title = "EFA Segment", shared = efa_shared;
  static constexpr std::uint32_t bytes = 20;
  static constexpr auto fields = layout(bytes, {efa_row::recv_id, efa_row::seg_length, efa_row::seg_offset});
};

struct EfaReadRsp {
  static constexpr std::string_view name = "efa.rdm.readrsp", title = "EFA Read Response", shared = efa_shared;
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout(bytes, {efa_row::recv_id, efa_row::send_id, efa_row::seg_length});
};

struct EfaIds {
  static constexpr std::string_view name = "efa.rdm.ids", title = "EFA Operation", shared = efa_shared;
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {efa_row::send_id, efa_row::recv_id});
};

struct EfaAtomRsp {
  static constexpr std::string_view name = "efa.rdm.atomrsp", title = "EFA Atomic Response", shared = efa_shared;
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout(bytes, {efa_row::pad32, efa_row::recv_id, efa_row::seg_length});
};

// The names of the bits of extra_info that are set.
bool efa_features(const Packet&, const Layer&, unsigned n, Value&);

struct EfaHandshake {
  static constexpr std::string_view name = "efa.rdm.handshake", title = "EFA Handshake", shared = efa_shared;
  static constexpr std::uint32_t bytes = 4, nextra_base = 3;
  static constexpr auto fields =
      layout(bytes, {
                        Field{"nextra_p3", 32, Show::dec, "Words of features, plus 3"}.little(),
                        rest_array("extra_info", 64, Show::hex, "Features").little(),
                        generated("features", Show::text, "Feature", efa_features).repeated(),
                    });
};

// What may follow the features, each under its flag.
struct EfaHostId {
  static constexpr std::string_view name = "efa.rdm.host", title = "EFA Host", shared = efa_shared;
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {Field{"host_id", 64, Show::hex, "Host id"}.little()});
};
struct EfaDeviceVersion {
  static constexpr std::string_view name = "efa.rdm.device", title = "EFA Device", shared = efa_shared;
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {Field{"device_version", 32, Show::hex, "Device version"}.little(),
                                                {"device_reserved", 32, Show::reserved, "Reserved"}});
};
struct EfaUserQp {
  static constexpr std::string_view name = "efa.rdm.user_qp", title = "EFA User Receive Queue Pair",
                                    shared = efa_shared;
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {Field{"user_qpn", 32, Show::hex, "Queue pair number"}.little(),
                                                Field{"user_qkey", 32, Show::hex, "Q_Key"}.little()});
};
struct EfaP2p {
  static constexpr std::string_view name = "efa.rdm.p2p", title = "EFA Peer to Peer", shared = efa_shared;
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {{"p2p_supported", 8, Show::dec, "Peer to peer is supported"},
                                                {"p2p_reserved", 56, Show::reserved, "Reserved"}});
};

struct EfaReceipt {
  static constexpr std::string_view name = "efa.rdm.receipt", title = "EFA Receipt", shared = efa_shared;
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout(bytes, {Field{"tx_id", 32, Show::dec, "Transmit id"}.little(), efa_row::msg_id});
};

inline constexpr ValueName efa_error_references[] = {{0, "operation"}, {1, "message id"}, {2, "message id to skip"}};
struct EfaPeerError {
  static constexpr std::string_view name = "efa.rdm.peer_error", title = "EFA Peer Error", shared = efa_shared;
  static constexpr std::uint32_t bytes = 12;
  static constexpr auto fields =
      layout(bytes, {
                        Field{"op_id", 32, Show::dec, "Operation or message"}.little(),
                        Field{"ref_kind", 32, Show::dec, "What that is", efa_error_references}.little(),
                        Field{"prov_errno", 32, Show::dec, "Error of the provider"}.little(),
                    });
};

struct EfaMessage {
  static constexpr std::string_view name = "efa.rdm.message", title = "EFA Message", shared = efa_shared;
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {efa_row::msg_id});
};

struct EfaTagged {
  static constexpr std::string_view name = "efa.rdm.tagged", title = "EFA Tag", shared = efa_shared;
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {efa_row::tag});
};

struct EfaMedium {
  static constexpr std::string_view name = "efa.rdm.medium", title = "EFA Medium Message", shared = efa_shared;
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout(bytes, {efa_row::msg_length, efa_row::seg_offset});
};

struct EfaLongCts {
  static constexpr std::string_view name = "efa.rdm.longcts", title = "EFA Long Message", shared = efa_shared;
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout(bytes, {efa_row::msg_length, efa_row::send_id, efa_row::credits});
};

struct EfaLongRead {
  static constexpr std::string_view name = "efa.rdm.longread", title = "EFA Message to Read", shared = efa_shared;
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout(bytes, {efa_row::msg_length, efa_row::send_id, efa_row::read_iovs});
};

struct EfaRunt {
  static constexpr std::string_view name = "efa.rdm.runt", title = "EFA Runt", shared = efa_shared;
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields =
      layout(bytes, {efa_row::seg_offset, Field{"runt_length", 64, Show::dec, "Runt length"}.little().in("bytes")});
};

struct EfaDelivery {
  static constexpr std::string_view name = "efa.rdm.dc", title = "EFA Delivery Complete", shared = efa_shared;
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {efa_row::send_id, efa_row::pad32});
};

struct EfaRma {
  static constexpr std::string_view name = "efa.rdm.rma", title = "EFA Remote Access", shared = efa_shared;
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {efa_row::iovs});
};

struct EfaRtr {
  static constexpr std::string_view name = "efa.rdm.rtr", title = "EFA Read Request", shared = efa_shared;
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields =
      layout(bytes, {efa_row::msg_length, efa_row::recv_id,
                     Field{"recv_window", 32, Show::dec, "Receive length"}.little().in("bytes")});
};

struct EfaRta {
  static constexpr std::string_view name = "efa.rdm.rta", title = "EFA Atomic Request", shared = efa_shared;
  static constexpr std::uint32_t bytes = 20;
  static constexpr auto fields =
      layout(bytes, {
                        efa_row::msg_id,
                        efa_row::iovs,
                        Field{"atomic_datatype", 32, Show::dec, "Data type"}.little(),
                        Field{"atomic_op", 32, Show::dec, "Operation"}.little(),
                        Field{"atomic_id", 32, Show::dec, "Receive id, send id or padding"}.little(),
                    });
};

struct EfaIov {
  static constexpr std::string_view name = "efa.rdm.iov", title = "EFA Remote Buffer", shared = efa_shared;
  static constexpr std::uint32_t bytes = 24;
  static constexpr auto fields = layout(bytes, {
                                                   Field{"addr", 64, Show::hex, "Address"}.little(),
                                                   Field{"len", 64, Show::dec, "Length"}.little().in("bytes"),
                                                   Field{"key", 64, Show::hex, "Key"}.little(),
                                               });
};

// Request to send, version 3 only.
struct EfaRts {
  static constexpr std::string_view name = "efa.rdm.rts", title = "EFA Request to Send", shared = efa_shared;
  static constexpr std::uint32_t bytes = 28;
  static constexpr auto fields = layout(bytes, {
                                                   Field{"rts_credits", 16, Show::dec, "Credits asked for"}.little(),
                                                   Field{"addrlen", 8, Show::dec, "Address length"}.in("bytes"),
                                                   {"rts_iov_count", 8, Show::dec, "Remote buffers"},
                                                   Field{"tx_id", 32, Show::dec, "Transmit id"}.little(),
                                                   efa_row::msg_id,
                                                   efa_row::tag,
                                                   Field{"data_len", 64, Show::dec, "Data length"}.little().in("bytes"),
                                               });
};

struct EfaRawAddr {
  static constexpr std::string_view name = "efa.rdm.raw", title = "EFA Raw Address", shared = efa_shared;
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {Field{"addr_len", 32, Show::dec, "Address length"}.little().in("bytes"),
                                                rest("address", Show::bytes, "Address")});
};

struct EfaCqData {
  static constexpr std::string_view name = "efa.rdm.cq", title = "EFA Completion Data", shared = efa_shared;
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout(bytes, {Field{"cq_data", 64, Show::hex, "Completion data"}.little()});
};

// --- Types -----------------------------------------------------------------------------------------------------------

inline constexpr std::uint8_t efa_rts = 1, efa_cts = 3, efa_ctsdata = 4, efa_eor = 7, efa_handshake = 9,
                              efa_first_request = 64;

struct EfaRdmType {
  std::uint8_t type;
  std::string_view name;
  std::array<const Header*, 4> parts{};  // up to the first nullptr
  bool starts_message = false;           // the data behind it is the beginning of a message
};

inline constexpr EfaRdmType efa_rdm_types[] = {
    {efa_rts, "RTS", {&header<EfaRts>}, true},
    {2, "CONNACK"},
    {efa_cts, "CTS", {&header<EfaConnection>, &header<EfaCts>}},
    {efa_ctsdata, "CTSDATA", {&header<EfaCtsData>}},
    {5, "READRSP", {&header<EfaConnection>, &header<EfaReadRsp>}},
    {efa_eor, "EOR", {&header<EfaIds>, &header<EfaConnection>}},
    {8, "ATOMRSP", {&header<EfaConnection>, &header<EfaAtomRsp>}},
    {efa_handshake, "HANDSHAKE", {&header<EfaHandshake>}},
    {10, "RECEIPT", {&header<EfaReceipt>, &header<EfaConnection>}},
    {11, "READ_NACK", {&header<EfaIds>, &header<EfaConnection>}},
    {12, "PEER_ERROR", {&header<EfaPeerError>, &header<EfaConnection>}},
    {64, "EAGER_MSGRTM", {&header<EfaMessage>}, true},
    {65, "EAGER_TAGRTM", {&header<EfaMessage>, &header<EfaTagged>}, true},
    {66, "MEDIUM_MSGRTM", {&header<EfaMessage>, &header<EfaMedium>}},
    {67, "MEDIUM_TAGRTM", {&header<EfaMessage>, &header<EfaMedium>, &header<EfaTagged>}},
    {68, "LONGCTS_MSGRTM", {&header<EfaMessage>, &header<EfaLongCts>}, true},
    {69, "LONGCTS_TAGRTM", {&header<EfaMessage>, &header<EfaLongCts>, &header<EfaTagged>}, true},
    {70, "EAGER_RTW", {&header<EfaRma>}},
    {71, "LONGCTS_RTW", {&header<EfaRma>, &header<EfaLongCts>}},
    {72, "SHORT_RTR", {&header<EfaRma>, &header<EfaRtr>}},
    {73, "LONGCTS_RTR", {&header<EfaRma>, &header<EfaRtr>}},
    {74, "WRITE_RTA", {&header<EfaRta>}},
    {75, "FETCH_RTA", {&header<EfaRta>}},
    {76, "COMPARE_RTA", {&header<EfaRta>}},
    {128, "LONGREAD_MSGRTM", {&header<EfaMessage>, &header<EfaLongRead>}},
    {129, "LONGREAD_TAGRTM", {&header<EfaMessage>, &header<EfaLongRead>, &header<EfaTagged>}},
    {130, "LONGREAD_RTW", {&header<EfaRma>, &header<EfaLongRead>}},
    {133, "DC_EAGER_MSGRTM", {&header<EfaMessage>, &header<EfaDelivery>}, true},
    {134, "DC_EAGER_TAGRTM", {&header<EfaMessage>, &header<EfaDelivery>, &header<EfaTagged>}, true},
    {135, "DC_MEDIUM_MSGRTM", {&header<EfaMessage>, &header<EfaDelivery>, &header<EfaMedium>}},
    {136, "DC_MEDIUM_TAGRTM", {&header<EfaMessage>, &header<EfaDelivery>, &header<EfaMedium>, &header<EfaTagged>}},
    {137, "DC_LONGCTS_MSGRTM", {&header<EfaMessage>, &header<EfaLongCts>}, true},
    {138, "DC_LONGCTS_TAGRTM", {&header<EfaMessage>, &header<EfaLongCts>, &header<EfaTagged>}, true},
    {139, "DC_EAGER_RTW", {&header<EfaRma>, &header<EfaDelivery>}},
    {140, "DC_LONGCTS_RTW", {&header<EfaRma>, &header<EfaLongCts>}},
    {141, "DC_WRITE_RTA", {&header<EfaRta>}},
    {142, "RUNTCTS_MSGRTM", {&header<EfaMessage>, &header<EfaLongCts>, &header<EfaRunt>}},
    {143, "RUNTCTS_TAGRTM", {&header<EfaMessage>, &header<EfaLongCts>, &header<EfaRunt>, &header<EfaTagged>}},
    {144, "RUNTCTS_RTW", {&header<EfaRma>, &header<EfaLongCts>, &header<EfaRunt>}},
    {145, "RUNTREAD_MSGRTM", {&header<EfaMessage>, &header<EfaLongRead>, &header<EfaRunt>}},
    {146, "RUNTREAD_TAGRTM", {&header<EfaMessage>, &header<EfaLongRead>, &header<EfaRunt>, &header<EfaTagged>}},
    {147, "RUNTREAD_RTW", {&header<EfaRma>, &header<EfaLongRead>, &header<EfaRunt>}},
};

constexpr const EfaRdmType* efa_rdm_type(std::uint8_t type) {
  for (const EfaRdmType& t : efa_rdm_types)
    if (t.type == type) return &t;
  return nullptr;
}

inline constexpr auto efa_rdm_type_names = [] {
  std::array<ValueName, std::size(efa_rdm_types)> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = {efa_rdm_types[i].type, efa_rdm_types[i].name};
  return names;
}();

// --- Base header -----------------------------------------------------------------------------------------------------

inline constexpr std::uint8_t efa_rdm_v3 = 3, efa_rdm_v4 = 4;
constexpr bool is_efa_v4(const std::uint8_t* rdm) { return rdm[1] == efa_rdm_v4; }
constexpr bool is_efa_request(const std::uint8_t* rdm) { return is_efa_v4(rdm) && rdm[0] >= efa_first_request; }
constexpr bool is_efa_handshake(const std::uint8_t* rdm) { return is_efa_v4(rdm) && rdm[0] == efa_handshake; }
constexpr bool is_efa_cts(const std::uint8_t* rdm) { return is_efa_v4(rdm) && rdm[0] == efa_cts; }
constexpr bool is_efa_rts(const std::uint8_t* rdm) { return rdm[1] == efa_rdm_v3 && rdm[0] == efa_rts; }

// What a flag means depends on type and version; the two bytes hold bits 7 to 0, then 15 to 8.
struct EfaRdm {
  static constexpr std::string_view name = "efa.rdm", title = "EFA RDM", protocol = "EFA";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields =
      layout(bytes, {
                        {"type", 8, Show::dec, "Type", efa_rdm_type_names},
                        {"version", 8, Show::dec, "Version"},
                        view("flags", 16, Show::hex, "Flags").little(),
                        Field{"flags.answers_read", 1, Show::flag, "Answers a read request"}.only_if(is_efa_cts),
                        {"flags.reserved6", 1, Show::reserved, "Reserved"},
                        Field{"flags.atomic", 1, Show::flag, "Atomic"}.only_if(is_efa_request),
                        Field{"flags.rma", 1, Show::flag, "Remote access"}.only_if(is_efa_request),
                        view("flags.p2p", 1, Show::flag, "Peer to peer follows").only_if(is_efa_handshake),
                        Field{"flags.tagged", 1, Show::flag, "Tagged"}.only_if(is_efa_request),
                        view("flags.user_qp", 1, Show::flag, "User queue pair follows").only_if(is_efa_handshake),
                        view("flags.source", 1, Show::flag, "Source address follows").only_if(is_efa_rts),
                        Field{"flags.msg", 1, Show::flag, "Message"}.only_if(is_efa_request),
                        view("flags.device_version", 1, Show::flag, "Device version follows").only_if(is_efa_handshake),
                        view("flags.rts_cq_data", 1, Show::flag, "Completion data follows").only_if(is_efa_rts),
                        Field{"flags.cq_data", 1, Show::flag, "Completion data follows"}.only_if(is_efa_request),
                        view("flags.host_id", 1, Show::flag, "Host id follows").only_if(is_efa_handshake),
                        view("flags.rts_tagged", 1, Show::flag, "Tagged").only_if(is_efa_rts),
                        Field{"flags.raw_addr", 1, Show::flag, "Raw address follows"}.only_if(is_efa_request),
                        Field{"flags.connid", 1, Show::flag, "Connection id"}.only_if(is_efa_v4),
                        {"flags.reserved14", 1, Show::reserved, "Reserved"},
                        Field{"flags.read_nack", 1, Show::flag, "Read was refused"}.only_if(is_efa_request),
                        {"flags.reserved10", 3, Show::reserved, "Reserved"},
                        Field{"flags.credits", 1, Show::flag, "Asks for credits"}.only_if(is_efa_rts),
                        {"flags.reserved8", 1, Show::reserved, "Reserved"},
                    });
};

}  // namespace rdmascope::dissect
