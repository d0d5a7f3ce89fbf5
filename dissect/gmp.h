// Headers of the other management classes: RMPP, performance, baseboard, device management, SNMP, congestion control,
// vendors. mad.md 2.3, 2.5. Attributes nobody knows are shown as the bytes behind them.
#pragma once

#include "dissect/field.h"
#include "dissect/mad.h"

namespace rdmascope::dissect {

inline constexpr ValueName rmpp_types[] = {{0, "no RMPP"}, {1, "DATA"}, {2, "ACK"}, {3, "STOP"}, {4, "ABORT"}};
inline constexpr ValueName rmpp_response_times[] = {{31, "no value"}};
inline constexpr ValueName rmpp_statuses[] = {{0, "normal"},
                                              {1, "resources exhausted"},
                                              {118, "total time too long"},
                                              {119, "inconsistent Last and PayloadLength"},
                                              {120, "inconsistent First and SegmentNumber"},
                                              {121, "bad RMPPType"},
                                              {122, "NewWindowLast too small"},
                                              {123, "SegmentNumber too big"},
                                              {124, "illegal RMPPStatus"},
                                              {125, "unsupported version"},
                                              {126, "too many retries"},
                                              {127, "unspecified"}};

inline constexpr std::uint8_t rmpp_data = 1, rmpp_ack = 2, rmpp_stop = 3, rmpp_abort = 4;
constexpr bool rmpp_is_data(const std::uint8_t* rmpp) { return rmpp[1] == rmpp_data; }
constexpr bool rmpp_is_ack(const std::uint8_t* rmpp) { return rmpp[1] == rmpp_ack; }
constexpr bool rmpp_has_segment(const std::uint8_t* rmpp) { return rmpp_is_data(rmpp) || rmpp_is_ack(rmpp); }
constexpr bool rmpp_has_none(const std::uint8_t* rmpp) { return !rmpp_has_segment(rmpp); }

// Reliable multi-packet transactions: answers of more than one MAD.
struct Rmpp {
  static constexpr std::string_view name = "infiniband.rmpp", title = "Reliable Multi-Packet Transaction Protocol";
  static constexpr std::uint32_t bytes = 12;
  static constexpr auto fields =
      layout(bytes, {
                        {"rmppversion", 8, Show::dec, "RMPP Version"},
                        {"rmpptype", 8, Show::dec, "RMPP Type", rmpp_types},
                        {"rresptime", 5, Show::dec, "R Resp Time", rmpp_response_times},
                        view("rmppflags", 3, Show::hex, "RMPP Flags"),
                        {"rmppflags.last", 1, Show::flag, "Last"},
                        {"rmppflags.first", 1, Show::flag, "First"},
                        {"rmppflags.active", 1, Show::flag, "Active"},
                        {"rmppstatus", 8, Show::dec, "RMPP Status", rmpp_statuses},
                        view("data1", 32, Show::hex, "RMPP Data 1").only_if(rmpp_has_none),
                        Field{"segmentnumber", 32, Show::dec, "Segment Number"}.only_if(rmpp_has_segment),
                        view("data2", 32, Show::hex, "RMPP Data 2").only_if(rmpp_has_none),
                        view("payloadlength", 32, Show::dec, "Payload Length").in("bytes").only_if(rmpp_is_data),
                        Field{"newwindowlast", 32, Show::dec, "New Window Last"}.only_if(rmpp_is_ack),
                    });
};

struct PerfMad {
  static constexpr std::string_view name = "infiniband.perf", title = "Performance Management", protocol = "PM";
  static constexpr std::uint32_t bytes = 40;
  static constexpr auto fields = layout(
      bytes, {{"reserved", 320, Show::bytes, "Reserved"}, rest("data", Show::bytes, "Performance management data")});
};

struct BaseboardMad {
  static constexpr std::string_view name = "infiniband.bm", title = "Baseboard Management", protocol = "BM";
  static constexpr std::uint32_t bytes = 40;
  static constexpr auto fields = layout(bytes, {{"b_key", 64, Show::hex, "B_Key"},
                                                {"reserved", 256, Show::bytes, "Reserved"},
                                                rest("data", Show::bytes, "Baseboard management data")});
};

struct DeviceMad {
  static constexpr std::string_view name = "infiniband.devmgt", title = "Device Management", protocol = "DevMgt";
  static constexpr std::uint32_t bytes = 40;
  static constexpr auto fields =
      layout(bytes, {{"reserved", 320, Show::bytes, "Reserved"}, rest("data", Show::bytes, "Device management data")});
};

struct SnmpMad {
  static constexpr std::string_view name = "infiniband.snmp", title = "SNMP Tunneling", protocol = "IB SNMP";
  static constexpr std::uint32_t bytes = 40;
  static constexpr auto fields = layout(bytes, {{"reserved", 256, Show::bytes, "Reserved"},
                                                {"raddress", 32, Show::hex, "RAddress"},
                                                Field{"payloadlength", 8, Show::dec, "PayloadLength"}.in("bytes"),
                                                {"segmentnumber", 8, Show::dec, "SegmentNumber"},
                                                {"sourcelid", 16, Show::dec, "SourceLID"},
                                                rest("data", Show::bytes, "SNMP data")});
};

// The data of CongestionLog stand behind the key.
struct CongestionMad {
  static constexpr std::string_view name = "infiniband.cc", title = "Congestion Control", protocol = "CC";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout(bytes, {{"cc_key", 64, Show::hex, "CC_Key"}, rest("log", Show::bytes, "Congestion control log data")});
};

// Those of the other attributes behind this.
struct CongestionMgtMad {
  static constexpr std::string_view name = "infiniband.ccmgt", title = "Congestion Control Management";
  static constexpr std::uint32_t bytes = 32;
  static constexpr auto fields = layout(bytes, {{"reserved", 256, Show::bytes, "Reserved"},
                                                rest("data", Show::bytes, "Congestion control management data")});
};

inline constexpr ValueName vendor_ouis[] = {{0x001405, "OpenIB"}, {0x0002c9, "Mellanox"}};

// Classes 0x30 to 0x4F; those of 0x09 to 0x0F have no header of their own.
struct VendorMad {
  static constexpr std::string_view name = "infiniband.vendor_mad", title = "Vendor Management";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields = layout(bytes, {{"reserved", 8, Show::reserved, "Reserved"},
                                                {"oui", 24, Show::hex, "OUI", vendor_ouis},
                                                rest("data", Show::bytes, "Vendor data")});
};

}  // namespace rdmascope::dissect
