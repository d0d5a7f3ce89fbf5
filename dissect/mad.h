// Common header of a management datagram: the first 24 of its 256 bytes. mad.md section 1.
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

inline constexpr std::uint8_t mad_class_cm = 0x07, mad_method_send = 0x03;

// Of the connection manager. mad.md section 7.
inline constexpr ValueName cm_attributes[] = {
    {0x10, "CM REQ"},  {0x11, "CM MRA"},  {0x12, "CM REJ"},      {0x13, "CM REP"},      {0x14, "CM RTU"},
    {0x15, "CM DREQ"}, {0x16, "CM DREP"}, {0x17, "CM SIDR_REQ"}, {0x18, "CM SIDR_REP"}, {0x19, "CM LAP"},
    {0x1a, "CM APR"},  {0x1b, "CM SAP"},  {0x1c, "CM SPR"}};

// The messages themselves are sent; Get and Set of this class are about its ClassPortInfo.
constexpr bool is_cm_message(const std::uint8_t* mad) { return mad[1] == mad_class_cm && mad[3] == mad_method_send; }

inline constexpr std::uint32_t mad_bytes = 256;

struct Mad {
  static constexpr std::string_view name = "infiniband.mad", title = "Management Datagram", protocol = "MAD";
  static constexpr std::uint32_t bytes = 24;
  static constexpr auto fields = layout(bytes, {
                                                   {"baseversion", 8, Show::hex, "Base Version"},
                                                   {"mgmtclass", 8, Show::hex, "Management Class", mad_classes},
                                                   {"classversion", 8, Show::hex, "Class Version"},
                                                   {"method", 8, Show::hex, "Method", mad_methods},
                                                   {"status", 16, Show::hex, "Status"},
                                                   {"classspecific", 16, Show::hex, "Class Specific"},
                                                   {"transactionid", 64, Show::hex, "Transaction ID"},
                                                   {"attributeid", 16, Show::hex, "Attribute ID"},
                                                   {"reserved16", 16, Show::reserved, "Reserved"},
                                                   {"attributemodifier", 32, Show::hex, "Attribute Modifier"},
                                                   rest("data", Show::bytes, "Class data"),
                                               });
};

}  // namespace rdmascope::dissect
