// Messages of the connection manager: what a MAD of class 0x07 with method Send carries behind its common header. Each
// fills the MAD, 232 bytes: fixed fields, then private data. Below them the header RDMA CM puts in front of the private
// data. mad.md section 7; offsets there count from the first byte of the message, as here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dissect/field.h"
#include "dissect/ib_codes.h"
#include "dissect/ipv4.h"
#include "dissect/mad.h"

namespace rdmascope::dissect {

inline constexpr std::uint32_t cm_bytes = mad_bytes - Mad::bytes;

inline constexpr ValueName cm_transports[] = {{0, "RC"}, {1, "UC"}, {2, "RD"}, {3, "see Extended Transport"}};
inline constexpr ValueName cm_extended_transports[] = {{1, "XRC"}};
inline constexpr ValueName cm_rnr_retries[] = {{7, "infinite"}};
inline constexpr ValueName cm_messages_rejected[] = {{0, "REQ"}, {1, "REP"}, {2, "other"}};
inline constexpr ValueName cm_messages_mraed[] = {{0, "REQ"}, {1, "REP"}, {2, "LAP"}};
inline constexpr ValueName cm_failover[] = {{0, "accepted"}, {1, "not supported"}, {2, "refused"}};

inline constexpr ValueName cm_reject_reasons[] = {{1, "No QP available"},
                                                  {2, "No EEC available"},
                                                  {3, "No resources available"},
                                                  {4, "Timeout"},
                                                  {5, "Unsupported request"},
                                                  {6, "Invalid Communication ID"},
                                                  {7, "Invalid Communication Instance"},
                                                  {8, "Invalid ServiceID"},
                                                  {9, "Invalid Transport Service Type"},
                                                  {10, "Stale connection"},
                                                  {11, "RDC does not exist"},
                                                  {12, "Primary Remote Port GID rejected"},
                                                  {13, "Primary Remote Port LID rejected"},
                                                  {14, "Invalid Primary SL"},
                                                  {15, "Invalid Primary Traffic Class"},
                                                  {16, "Invalid Primary Hop Limit"},
                                                  {17, "Invalid Primary Packet Rate"},
                                                  {18, "Alternate Remote Port GID rejected"},
                                                  {19, "Alternate Remote Port LID rejected"},
                                                  {20, "Invalid Alternate SL"},
                                                  {21, "Invalid Alternate Traffic Class"},
                                                  {22, "Invalid Alternate Hop Limit"},
                                                  {23, "Invalid Alternate Packet Rate"},
                                                  {24, "Port and CM redirection"},
                                                  {25, "Port redirection"},
                                                  {26, "Invalid Path MTU"},
                                                  {27, "Insufficient Responder Resources"},
                                                  {28, "Consumer reject"},
                                                  {29, "Invalid RNR Retry Count"},
                                                  {30, "Duplicate Local Communication ID"},
                                                  {31, "Unsupported class version"},
                                                  {32, "Invalid Primary Flow Label"},
                                                  {33, "Invalid Alternate Flow Label"},
                                                  {35, "Vendor option not supported"}};

inline constexpr ValueName cm_path_statuses[] = {{0, "Alternate path loaded"},
                                                 {1, "Invalid Communication ID"},
                                                 {2, "Alternate paths not supported"},
                                                 {3, "Rejected"},
                                                 {4, "Redirect"},
                                                 {5, "Is the current path"},
                                                 {6, "QPN/EECN mismatch"},
                                                 {7, "LID rejected"},
                                                 {8, "GID rejected"},
                                                 {9, "Flow Label rejected"},
                                                 {10, "Traffic Class rejected"},
                                                 {11, "Hop Limit rejected"},
                                                 {12, "Packet Rate rejected"},
                                                 {13, "SL rejected"}};

inline constexpr ValueName cm_sidr_statuses[] = {{0, "QPN is valid"}, {1, "ServiceID not supported"},
                                                 {2, "Rejected"},     {3, "No QP available"},
                                                 {4, "Redirect"},     {5, "Version not supported"}};

inline constexpr auto cm_ack_timeouts = ib_time_names("infinite");

// IP CM (annex A11) keeps ServiceIDs 00 00 00 00 01 pp dd dd for itself: IP protocol and destination port. The
// ServiceID of a REQ and of a SIDR_REQ stands at byte 8.
constexpr bool is_ip_cm(const std::uint8_t* message) {
  return message[8] == 0 && message[9] == 0 && message[10] == 0 && message[11] == 0 && message[12] == 1;
}

// What the tables below are put together from.
namespace cm_table {

inline constexpr Field ids[] = {{"localcommid", 32, Show::hex, "Local Communication ID"},
                                {"remotecommid", 32, Show::hex, "Remote Communication ID"}};

inline constexpr Field service_id[] = {
    view("serviceid", 64, Show::hex, "ServiceID"),
    Field{"serviceid.prefix", 40, Show::bytes, "Prefix"}.only_if(is_ip_cm),
    Field{"serviceid.protocol", 8, Show::dec, "Protocol", ip_protocols}.only_if(is_ip_cm),
    Field{"serviceid.dport", 16, Show::dec, "Destination Port"}.only_if(is_ip_cm)};

// A path of a REQ, which has two: the first 349 of its 352 bits.
inline constexpr Field path[] = {{"locallid", 16, Show::dec, "Local Port LID"},
                                 {"remotelid", 16, Show::dec, "Remote Port LID"},
                                 {"localgid", 128, Show::ipv6, "Local Port GID"},
                                 {"remotegid", 128, Show::ipv6, "Remote Port GID"},
                                 {"flowlabel", 20, Show::hex, "Flow Label"},
                                 {"reserved0", 6, Show::reserved, "Reserved"},
                                 {"pktrate", 6, Show::dec, "Packet Rate", ib_rates},
                                 {"tfcclass", 8, Show::hex, "Traffic Class"},
                                 {"hoplim", 8, Show::dec, "Hop Limit"},
                                 {"sl", 4, Show::dec, "SL"},
                                 {"subnetlocal", 1, Show::flag, "Subnet Local"},
                                 {"reserved1", 3, Show::reserved, "Reserved"},
                                 {"localacktout", 5, Show::dec, "Local ACK Timeout", cm_ack_timeouts}};

inline constexpr std::size_t path_rows = std::size(path);

// The same rows under longer names: "prim_" + "sl". Made while compiling, once for each path.
struct PathTexts {
  char name[path_rows][24] = {}, title[path_rows][40] = {};
};

consteval PathTexts make_path_texts(std::string_view before_name, std::string_view before_title) {
  PathTexts t;
  for (std::size_t i = 0; i < path_rows; ++i) {
    std::copy(path[i].name.begin(), path[i].name.end(), std::copy(before_name.begin(), before_name.end(), t.name[i]));
    std::copy(path[i].title.begin(), path[i].title.end(),
              std::copy(before_title.begin(), before_title.end(), t.title[i]));
  }
  return t;
}

consteval Rows<path_rows> rename_path(const PathTexts& texts) {
  Rows<path_rows> out{};
  for (std::size_t i = 0; i < path_rows; ++i) {
    out.row[i] = path[i];
    out.row[i].name = texts.name[i];
    out.row[i].title = texts.title[i];
  }
  return out;
}

inline constexpr PathTexts primary_texts = make_path_texts("prim_", "Primary "),
                           alternate_texts = make_path_texts("alt_", "Alternate ");
inline constexpr auto primary_path = rename_path(primary_texts), alternate_path = rename_path(alternate_texts);

}  // namespace cm_table

// Asks for a connection. The sender of REQ is the active side.
struct CmReq {
  static constexpr std::string_view name = "infiniband.cm.req", title = "CM Connection Request (REQ)";
  static constexpr std::uint32_t bytes = 140;
  static constexpr auto fields = layout_of(
      bytes, {{"localcommid", 32, Show::hex, "Local Communication ID"}, {"reserved0", 32, Show::reserved, "Reserved"}},
      cm_table::service_id,
      {{"localcaguid", 64, Show::hex, "Local CA GUID"},
       {"reserved1", 32, Show::reserved, "Reserved"},
       {"localqkey", 32, Show::hex, "Local Q_Key"},
       {"localqpn", 24, Show::hex, "Local QPN"},
       {"responderres", 8, Show::dec, "Responder Resources"},
       {"localeecn", 24, Show::hex, "Local EECN"},
       {"initdepth", 8, Show::dec, "Initiator Depth"},
       {"remoteeecn", 24, Show::hex, "Remote EECN"},
       {"remoteresptout", 5, Show::dec, "Remote CM Response Timeout", ib_times},
       {"transpsvctype", 2, Show::dec, "Transport Service Type", cm_transports},
       {"e2eflowctrl", 1, Show::flag, "End-to-End Flow Control"},
       {"startpsn", 24, Show::dec, "Starting PSN"},
       {"localresptout", 5, Show::dec, "Local CM Response Timeout", ib_times},
       {"retrcount", 3, Show::dec, "Retry Count"},
       {"pkey", 16, Show::hex, "Partition Key"},
       {"pppmtu", 4, Show::dec, "Path Packet Payload MTU", ib_mtus},
       {"rdcexist", 1, Show::flag, "RDC Exists"},
       {"rnrretrcount", 3, Show::dec, "RNR Retry Count", cm_rnr_retries},
       {"maxcmretr", 4, Show::dec, "Max CM Retries"},
       {"srq", 1, Show::flag, "SRQ"},
       {"ext_transport", 3, Show::dec, "Extended Transport", cm_extended_transports}},
      cm_table::primary_path.row, {{"prim_reserved2", 3, Show::reserved, "Primary Reserved"}},
      cm_table::alternate_path.row,
      {{"sap", 1, Show::flag, "SAP Supported"},
       {"alt_reserved2", 2, Show::reserved, "Alternate Reserved"},
       rest("private", Show::bytes, "PrivateData")});
};
static_assert(field<CmReq, "startpsn">().at == 44 * 8 && field<CmReq, "prim_flowlabel">().at == 88 * 8);
static_assert(field<CmReq, "alt_locallid">().at == 96 * 8 && field<CmReq, "sap">().at == 139 * 8 + 5);

// The peer needs more time.
struct CmMra {
  static constexpr std::string_view name = "infiniband.cm.mra", title = "CM Message Receipt Acknowledgment (MRA)";
  static constexpr std::uint32_t bytes = 10;
  static constexpr auto fields = layout_of(bytes, cm_table::ids,
                                           {{"msgmraed", 2, Show::dec, "Message MRAed", cm_messages_mraed},
                                            {"reserved0", 6, Show::reserved, "Reserved"},
                                            {"svctout", 5, Show::dec, "Service Timeout", ib_times},
                                            {"reserved1", 3, Show::reserved, "Reserved"},
                                            rest("private", Show::bytes, "PrivateData")});
};

struct CmRej {
  static constexpr std::string_view name = "infiniband.cm.rej", title = "CM Reject (REJ)";
  static constexpr std::uint32_t bytes = 84;
  static constexpr auto fields = layout_of(bytes, cm_table::ids,
                                           {{"msgrej", 2, Show::dec, "Message REJected", cm_messages_rejected},
                                            {"reserved0", 6, Show::reserved, "Reserved"},
                                            Field{"rejinfolen", 7, Show::dec, "Reject Info Length"}.in("bytes"),
                                            {"reserved1", 1, Show::reserved, "Reserved"},
                                            {"reason", 16, Show::dec, "Reason", cm_reject_reasons},
                                            {"ari", 576, Show::bytes, "Additional Reject Information (ARI)"},
                                            rest("private", Show::bytes, "PrivateData")});
};

// The passive side accepts.
struct CmRep {
  static constexpr std::string_view name = "infiniband.cm.rep", title = "CM Connection Reply (REP)";
  static constexpr std::uint32_t bytes = 36;
  static constexpr auto fields = layout_of(bytes, cm_table::ids,
                                           {{"localqkey", 32, Show::hex, "Local Q_Key"},
                                            {"localqpn", 24, Show::hex, "Local QPN"},
                                            {"reserved0", 8, Show::reserved, "Reserved"},
                                            {"localeecn", 24, Show::hex, "Local EE Context Number"},  // XRC: the QPN
                                            {"reserved1", 8, Show::reserved, "Reserved"},
                                            {"startpsn", 24, Show::dec, "Starting PSN"},
                                            {"reserved2", 8, Show::reserved, "Reserved"},
                                            {"respres", 8, Show::dec, "Responder Resources"},
                                            {"initdepth", 8, Show::dec, "Initiator Depth"},
                                            {"tgtackdelay", 5, Show::dec, "Target ACK Delay", ib_times},
                                            {"failoveracc", 2, Show::dec, "Failover Accepted", cm_failover},
                                            {"e2eflowctrl", 1, Show::flag, "End-To-End Flow Control"},
                                            {"rnrretrcount", 3, Show::dec, "RNR Retry Count", cm_rnr_retries},
                                            {"srq", 1, Show::flag, "SRQ"},
                                            {"reserved", 4, Show::reserved, "Reserved"},
                                            {"localcaguid", 64, Show::hex, "Local CA GUID"},
                                            rest("private", Show::bytes, "PrivateData")});
};

struct CmRtu {
  static constexpr std::string_view name = "infiniband.cm.rtu", title = "CM Ready To Use (RTU)";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout_of(bytes, cm_table::ids, {rest("private", Show::bytes, "PrivateData")});
};

// Ends a connection.
struct CmDreq {
  static constexpr std::string_view name = "infiniband.cm.dreq", title = "CM Disconnection Request (DREQ)";
  static constexpr std::uint32_t bytes = 12;
  static constexpr auto fields = layout_of(bytes, cm_table::ids,
                                           {{"remoteqpneecn", 24, Show::hex, "Remote QPN/EECN"},
                                            {"reserved0", 8, Show::reserved, "Reserved"},
                                            rest("private", Show::bytes, "PrivateData")});
};

struct CmDrep {  // "drsp" in tshark
  static constexpr std::string_view name = "infiniband.cm.drsp", title = "CM Disconnection Reply (DREP)";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields = layout_of(bytes, cm_table::ids, {rest("private", Show::bytes, "PrivateData")});
};

// Asks which queue pair serves datagrams of a service.
struct CmSidrReq {
  static constexpr std::string_view name = "infiniband.cm.sidr_req",
                                    title = "CM Service ID Resolution Request (SIDR_REQ)";
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout_of(bytes,
                                           {{"requestid", 32, Show::hex, "Request ID"},
                                            {"pkey", 16, Show::hex, "Partition Key"},
                                            {"reserved0", 16, Show::reserved, "Reserved"}},
                                           cm_table::service_id, {rest("private", Show::bytes, "PrivateData")});
};

struct CmSidrRep {
  static constexpr std::string_view name = "infiniband.cm.sidr_rep",
                                    title = "CM Service ID Resolution Reply (SIDR_REP)";
  static constexpr std::uint32_t bytes = 96;
  static constexpr auto fields =
      layout(bytes, {
                        {"requestid", 32, Show::hex, "Request ID"},
                        {"status", 8, Show::dec, "Status", cm_sidr_statuses},
                        Field{"addinfolen", 8, Show::dec, "Additional Information Length"}.in("bytes"),
                        {"reserved0", 16, Show::reserved, "Reserved"},
                        {"qpn", 24, Show::hex, "QPN"},
                        {"reserved1", 8, Show::reserved, "Reserved"},
                        {"serviceid", 64, Show::hex, "ServiceID"},
                        {"qkey", 32, Show::hex, "Q_Key"},
                        {"addinfo", 576, Show::bytes, "Additional Information"},
                        rest("private", Show::bytes, "PrivateData"),
                    });
};

// Another alternate path. Its order is not that of the paths in REQ.
struct CmLap {
  static constexpr std::string_view name = "infiniband.cm.lap", title = "CM Load Alternate Path (LAP)";
  static constexpr std::uint32_t bytes = 64;
  static constexpr auto fields =
      layout_of(bytes, cm_table::ids,
                {{"reserved0", 32, Show::reserved, "Reserved"},
                 {"remoteqpneecn", 24, Show::hex, "Remote QPN/EECN"},
                 {"remoteresptout", 5, Show::dec, "Remote CM Response Timeout", ib_times},
                 {"reserved1", 3, Show::reserved, "Reserved"},
                 {"reserved2", 32, Show::reserved, "Reserved"},
                 {"alt_locallid", 16, Show::dec, "Alternate Local Port LID"},
                 {"alt_remotelid", 16, Show::dec, "Alternate Remote Port LID"},
                 {"alt_localgid", 128, Show::ipv6, "Alternate Local Port GID"},
                 {"alt_remotegid", 128, Show::ipv6, "Alternate Remote Port GID"},
                 {"alt_flowlabel", 20, Show::hex, "Alternate Flow Label"},
                 {"alt_reserved0", 4, Show::reserved, "Alternate Reserved"},
                 {"alt_tfcclass", 8, Show::hex, "Alternate Traffic Class"},
                 {"alt_hoplim", 8, Show::dec, "Alternate Hop Limit"},
                 {"alt_reserved1", 2, Show::reserved, "Alternate Reserved"},
                 {"alt_pktrate", 6, Show::dec, "Alternate Packet Rate", ib_rates},
                 {"alt_sl", 4, Show::dec, "Alternate SL"},
                 {"alt_subnetlocal", 1, Show::flag, "Alternate Subnet Local"},
                 {"alt_reserved2", 3, Show::reserved, "Alternate Reserved"},
                 {"alt_localacktout", 5, Show::dec, "Alternate Local ACK Timeout", cm_ack_timeouts},
                 {"alt_reserved3", 3, Show::reserved, "Alternate Reserved"},
                 rest("private", Show::bytes, "PrivateData")});
};

struct CmApr {
  static constexpr std::string_view name = "infiniband.cm.apr", title = "CM Alternate Path Response (APR)";
  static constexpr std::uint32_t bytes = 84;
  static constexpr auto fields =
      layout_of(bytes, cm_table::ids,
                {Field{"addinfolen", 8, Show::dec, "Additional Information Length"}.in("bytes"),
                 {"apstatus", 8, Show::dec, "AP Status", cm_path_statuses},
                 {"reserved0", 16, Show::reserved, "Reserved"},
                 {"addinfo", 576, Show::bytes, "Additional Information"},
                 rest("private", Show::bytes, "PrivateData")});
};

constexpr bool is_ip_cm_ipv4(const std::uint8_t* ip_cm) { return ip_cm[1] >> 4 == 4; }
constexpr bool is_ip_cm_other(const std::uint8_t* ip_cm) { return !is_ip_cm_ipv4(ip_cm); }

// First bytes of the private data of a REQ or SIDR_REQ whose ServiceID is one of IP CM (RDMA CM); the consumer's
// private data follows. An IPv4 address is the last 4 of 16 bytes. mad.md 7.8.
struct IpCm {
  static constexpr std::string_view name = "infiniband.cm.req.ip_cm", title = "IP CM Private Data";
  static constexpr std::uint32_t bytes = 36;
  static constexpr auto fields =
      layout(bytes, {
                        {"majv", 4, Show::dec, "IP CM Major Version"},
                        {"minv", 4, Show::dec, "IP CM Minor Version"},
                        {"ipv", 4, Show::dec, "IP CM IP Version"},
                        {"reserved", 4, Show::reserved, "IP CM Reserved"},
                        {"sport", 16, Show::dec, "IP CM Source Port"},
                        view("sip6", 128, Show::ipv6, "IP CM Source IP").only_if(is_ip_cm_other),
                        Field{"sip4.reserved", 96, Show::bytes, "IP CM Reserved"}.only_if(is_ip_cm_ipv4),
                        Field{"sip4", 32, Show::ipv4, "IP CM Source IP"}.only_if(is_ip_cm_ipv4),
                        view("dip6", 128, Show::ipv6, "IP CM Destination IP").only_if(is_ip_cm_other),
                        Field{"dip4.reserved", 96, Show::bytes, "IP CM Reserved"}.only_if(is_ip_cm_ipv4),
                        Field{"dip4", 32, Show::ipv4, "IP CM Destination IP"}.only_if(is_ip_cm_ipv4),
                        rest("private", Show::bytes, "IP CM Consumer PrivateData"),
                    });
};

}  // namespace rdmascope::dissect
