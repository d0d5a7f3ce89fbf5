// Attributes of congestion control. mad.md section 6.
#pragma once

#include "dissect/field.h"
#include "dissect/gmp.h"

namespace rdmascope::dissect {

struct CongestionInfo {
  static constexpr std::string_view name = "infiniband.congestioninfo", title = "CongestionInfo";
  static constexpr std::uint32_t bytes = 3;
  static constexpr auto fields =
      layout(bytes, {
                        view("congestioninfo", 16, Show::hex, "CongestionInfo"),
                        {"congestioninfo.reserved", 15, Show::reserved, "Reserved"},
                        {"congestioninfo.creditstarvation", 1, Show::flag, "Switch credit starvation"},
                        Field{"controltablecap", 8, Show::dec, "ControlTableCap"}.in("blocks of 64 entries"),
                    });
};

struct CongestionKeyInfo {
  static constexpr std::string_view name = "infiniband.congestionkeyinfo", title = "CongestionKeyInfo";
  static constexpr std::uint32_t bytes = 14;
  static constexpr auto fields =
      layout(bytes, {
                        {"cc_key", 64, Show::hex, "CC_Key"},
                        {"cc_keyprotectbit", 1, Show::flag, "CC_KeyProtectBit"},
                        {"reserved", 15, Show::reserved, "Reserved"},
                        Field{"cc_keyleaseperiod", 16, Show::dec, "CC_KeyLeasePeriod"}.in("s"),
                        {"cc_keyviolations", 16, Show::dec, "CC_KeyViolations"},
                    });
};

struct SwitchCongestionSetting {
  static constexpr std::string_view name = "infiniband.switchcongestionsetting", title = "SwitchCongestionSetting";
  static constexpr std::uint32_t bytes = 76;
  static constexpr auto fields = layout(bytes, {
                                                   {"control_map", 32, Show::hex, "Control_Map"},
                                                   {"victim_mask", 256, Show::bytes, "Victim_Mask"},
                                                   {"credit_mask", 256, Show::bytes, "Credit_Mask"},
                                                   {"threshold", 4, Show::dec, "Threshold"},
                                                   {"reserved0", 4, Show::reserved, "Reserved"},
                                                   {"packet_size", 8, Show::dec, "Packet_Size"},
                                                   {"cs_threshold", 4, Show::dec, "CS_Threshold"},
                                                   {"reserved1", 4, Show::reserved, "Reserved"},
                                                   {"reserved2", 8, Show::reserved, "Reserved"},
                                                   {"cs_returndelay", 16, Show::hex, "CS_ReturnDelay"},
                                                   {"marking_rate", 16, Show::dec, "Marking_Rate"},
                                               });
};

struct SwitchPortCongestionSetting {
  static constexpr std::string_view name = "infiniband.switchportcongestionsetting",
                                    title = "SwitchPortCongestionSetting";
  static constexpr std::uint32_t bytes = 128;
  static constexpr std::uint16_t ports = 32, every = 32;
  static constexpr auto fields =
      layout(bytes, {
                        Field{"valid", 1, Show::dec, "Valid"}.array(ports, every),
                        Field{"control_type", 1, Show::dec, "Control_Type"}.array(ports, every),
                        Field{"reserved", 2, Show::reserved, "Reserved"}.array(ports, every),
                        Field{"threshold", 4, Show::dec, "Threshold"}.array(ports, every),
                        Field{"packet_size", 8, Show::dec, "Packet_Size"}.array(ports, every),
                        Field{"cong_parm_marking_rate", 16, Show::dec, "Cong_Parm_Marking_Rate"}.array(ports, every),
                    });
};

struct CaCongestionSetting {
  static constexpr std::string_view name = "infiniband.cacongestionsetting", title = "CACongestionSetting";
  static constexpr std::uint32_t bytes = 132;
  static constexpr std::uint16_t sls = 16, every = 64;
  static constexpr auto fields =
      layout(bytes, {
                        {"port_control", 16, Show::hex, "Port_Control"},
                        {"control_map", 16, Show::hex, "Control_Map"},
                        Field{"ccti_timer", 16, Show::dec, "CCTI_Timer"}.array(sls, every),
                        Field{"ccti_increase", 8, Show::dec, "CCTI_Increase"}.array(sls, every),
                        Field{"trigger_threshold", 8, Show::dec, "Trigger_Threshold"}.array(sls, every),
                        Field{"ccti_min", 8, Show::dec, "CCTI_Min"}.array(sls, every),
                        Field{"reserved", 24, Show::reserved, "Reserved"}.array(sls, every),
                    });
};

struct CongestionControlTable {
  static constexpr std::string_view name = "infiniband.congestioncontroltable", title = "CongestionControlTable";
  static constexpr std::uint32_t bytes = 132;
  static constexpr std::uint16_t entries = 64;
  static constexpr auto fields =
      layout(bytes, {
                        {"ccti_limit", 16, Show::dec, "CCTI_Limit"},
                        {"reserved", 16, Show::reserved, "Reserved"},
                        Field{"cct_shift", 2, Show::dec, "CCT_Shift"}.array(entries, 16),
                        Field{"cct_multiplier", 14, Show::dec, "CCT_Multiplier"}.array(entries, 16),
                    });
};

}  // namespace rdmascope::dissect
