// Common header of a management datagram: the first 24 of its 256 bytes. mad.md section 1.
//
// Behind it stand the header of its class (smp.h, sa.h, gmp.h) and an attribute (subn.h, sa_records.h, perf.h,
// congestion.h, notice.h, cm.h); which, is in the tables of mad_attributes.h.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr ValueName mad_classes[] = {{0x01, "SubnLID"}, {0x81, "SubnDirectedRoute"},
                                            {0x03, "SubnAdm"}, {0x04, "Perf"},
                                            {0x05, "BM"},      {0x06, "DevMgt"},
                                            {0x07, "ComMgt"},  {0x08, "SNMP"},
                                            {0x10, "DevAdm"},  {0x11, "BootMgt"},
                                            {0x12, "BIS"},     {0x21, "CongestionControl"}};

inline constexpr ValueName mad_methods[] = {
    {0x01, "Get"},           {0x02, "Set"},        {0x81, "GetResp"},      {0x03, "Send"},     {0x05, "Trap"},
    {0x06, "Report"},        {0x86, "ReportResp"}, {0x07, "TrapRepress"},  {0x12, "GetTable"}, {0x92, "GetTableResp"},
    {0x13, "GetTraceTable"}, {0x14, "GetMulti"},   {0x94, "GetMultiResp"}, {0x15, "Delete"},   {0x95, "DeleteResp"}};

inline constexpr std::uint8_t mad_class_subn = 0x01, mad_class_directed = 0x81, mad_class_sa = 0x03,
                              mad_class_perf = 0x04, mad_class_devmgt = 0x06, mad_class_cm = 0x07,
                              mad_class_congestion = 0x21;
inline constexpr std::uint8_t mad_get = 0x01, mad_set = 0x02, mad_method_send = 0x03, mad_trap = 0x05,
                              mad_report = 0x06, mad_trap_repress = 0x07, mad_get_table = 0x12, mad_get_multi = 0x14,
                              mad_get_resp = 0x81, mad_report_resp = 0x86, mad_get_table_resp = 0x92,
                              mad_get_multi_resp = 0x94;

// Bits 4:2 of the status.
inline constexpr ValueName mad_status_codes[] = {{0, "no invalid field"},
                                                 {1, "bad version"},
                                                 {2, "method not supported"},
                                                 {3, "method/attribute combination not supported"},
                                                 {7, "invalid value in attribute or modifier"}};
// Bits 15:8 by class.
inline constexpr ValueName sa_statuses[] = {
    {1, "no resources"}, {2, "request invalid"},         {3, "no records"},     {4, "too many records"},
    {5, "invalid GID"},  {6, "insufficient components"}, {7, "request denied"}, {8, "priority suggested"}};
inline constexpr ValueName devmgt_statuses[] = {
    {0x01, "IOC not responding"}, {0x02, "service entries not supported"}, {0x80, "IOC general failure"}};

// Of the connection manager. mad.md section 7.
inline constexpr ValueName cm_attributes[] = {
    {0x10, "CM REQ"},  {0x11, "CM MRA"},  {0x12, "CM REJ"},      {0x13, "CM REP"},      {0x14, "CM RTU"},
    {0x15, "CM DREQ"}, {0x16, "CM DREP"}, {0x17, "CM SIDR_REQ"}, {0x18, "CM SIDR_REP"}, {0x19, "CM LAP"},
    {0x1a, "CM APR"},  {0x1b, "CM SAP"},  {0x1c, "CM SPR"}};

// The messages themselves are sent; Get and Set of this class are about its ClassPortInfo.
constexpr bool is_cm_message(const std::uint8_t* mad) { return mad[1] == mad_class_cm && mad[3] == mad_method_send; }

constexpr bool is_directed(const std::uint8_t* mad) { return mad[1] == mad_class_directed; }
constexpr bool is_sa(const std::uint8_t* mad) { return mad[1] == mad_class_sa; }
constexpr bool is_devmgt(const std::uint8_t* mad) { return mad[1] == mad_class_devmgt; }
constexpr bool has_class_status(const std::uint8_t* mad) { return !is_directed(mad) && !is_sa(mad) && !is_devmgt(mad); }

inline constexpr std::uint32_t mad_bytes = 256;

// In mad_attributes.cc. The attribute by name, what its modifier means and what a status other than success means.
bool mad_attribute_name(const Packet&, const Layer&, unsigned n, Value& out);
bool mad_modifier_meaning(const Packet&, const Layer&, unsigned n, Value& out);
bool mad_status_meaning(const Packet&, const Layer&, unsigned n, Value& out);

struct Mad {
  static constexpr std::string_view name = "infiniband.mad", title = "Management Datagram", protocol = "MAD";
  static constexpr std::uint32_t bytes = 24;
  static constexpr auto fields = layout(
      bytes,
      {
          {"baseversion", 8, Show::hex, "Base Version"},
          {"mgmtclass", 8, Show::hex, "Management Class", mad_classes},
          {"classversion", 8, Show::hex, "Class Version"},
          view("method", 8, Show::hex, "Method", mad_methods),
          {"method.r", 1, Show::flag, "Response"},
          {"method.code", 7, Show::hex, "Method without Response"},
          view("status", 16, Show::hex, "Status"),
          generated("status.meaning", Show::text, "Status in words", mad_status_meaning),
          view("status.sa", 8, Show::dec, "SA Status", sa_statuses).only_if(is_sa),
          view("status.devmgt", 8, Show::hex, "DevMgt Status", devmgt_statuses).only_if(is_devmgt),
          view("status.class", 8, Show::hex, "Class Specific Status").only_if(has_class_status),
          Field{"d", 1, Show::flag, "D (Direction Bit)"}.only_if(is_directed).also("infiniband.smpdirected.d"),
          Field{"status.reserved_class", 7, Show::reserved, "Class Specific Status"}.only_if(is_directed),
          {"status.reserved", 3, Show::reserved, "Reserved"},
          {"status.code", 3, Show::dec, "Invalid Field", mad_status_codes},
          {"status.redirect", 1, Show::flag, "Redirect"},
          {"status.busy", 1, Show::flag, "Busy"},
          view("classspecific", 16, Show::hex, "Class Specific"),
          Field{"hoppointer", 8, Show::dec, "Hop Pointer"}
              .only_if(is_directed)
              .also("infiniband.smpdirected.hoppointer"),
          Field{"hopcount", 8, Show::dec, "Hop Count"}.only_if(is_directed).also("infiniband.smpdirected.hopcount"),
          {"transactionid", 64, Show::hex, "Transaction ID"},
          {"attributeid", 16, Show::hex, "Attribute ID"},
          generated("attribute", Show::text, "Attribute", mad_attribute_name),
          {"reserved16", 16, Show::reserved, "Reserved"},
          {"attributemodifier", 32, Show::hex, "Attribute Modifier"},
          generated("attributemodifier.meaning", Show::text, "Modifier in words", mad_modifier_meaning),
          rest("data", Show::bytes, "Class data"),
      });
};

// Bytes of a MAD that its class or attribute leaves free: senders write 0.
bool mad_reserved_nonzero(const Packet&, const Layer&, unsigned n, Value& out);

struct MadReserved {
  static constexpr std::string_view name = "infiniband.mad.unused", title = "Reserved";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields =
      layout(bytes, {generated("nonzero", Show::dec, "Bytes that are not 0", mad_reserved_nonzero),
                     rest("data", Show::bytes, "Reserved")});
};

}  // namespace rdmascope::dissect
