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
