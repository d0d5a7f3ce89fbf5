// Headers of subnet management packets: M_Key and, in a directed route, the path. mad.md 2.1, 2.2.
#pragma once

#include "dissect/field.h"
#include "dissect/mad.h"

namespace rdmascope::dissect {

inline constexpr std::uint32_t smp_data_at = 64, smp_data_bytes = 64;  // in the MAD

struct SmpLid {
  static constexpr std::string_view name = "infiniband.smplid", title = "Subnet Management Packet (LID Routed)",
                                    protocol = "SMP";
  static constexpr std::uint32_t bytes = 40;
  static constexpr auto fields = layout(bytes, {
                                                   {"mkey", 64, Show::hex, "M_Key"},
                                                   {"reserved", 256, Show::bytes, "Reserved"},
                                                   rest("smpdata", Show::bytes, "SMP Data"),
                                               });
};

// D, HopPointer and HopCount stand in the common header.
struct SmpDirected {
  static constexpr std::string_view name = "infiniband.smpdirected",
                                    title = "Subnet Management Packet (Directed Route)", protocol = "SMP";
  static constexpr std::uint32_t bytes = 40;
  static constexpr auto fields =
      layout(bytes, {
                        Field{"mkey", 64, Show::hex, "M_Key"}.also("infiniband.smplid.mkey"),
                        {"drslid", 16, Show::hex, "DrSLID"},
                        {"drdlid", 16, Show::hex, "DrDLID"},
                        {"reserved", 224, Show::bytes, "Reserved"},
                        Field(rest("smpdata", Show::bytes, "SMP Data")).also("infiniband.smplid.smpdata"),
                    });
};

inline constexpr std::uint16_t smp_path_ports = 64;

// Ports 0 to HopCount of a path: "0,1,4". The common header stands in front.
bool smp_initial_hops(const Packet&, const Layer&, unsigned n, Value& out);
bool smp_return_hops(const Packet&, const Layer&, unsigned n, Value& out);

// Entry n is the port by which hop n sends the packet on; of the return path, the one it came in by.
struct SmpPaths {
  static constexpr std::string_view name = "infiniband.smppaths", title = "Directed Route",
                                    shared = "infiniband.smpdirected";
  static constexpr std::uint32_t bytes = 128;
  static constexpr auto fields =
      layout(bytes, {
                        generated("initialpath.hops", Show::text, "Initial Path, hops", smp_initial_hops),
                        {"initialpath", smp_path_ports * 8, Show::bytes, "Initial Path"},
                        generated("returnpath.hops", Show::text, "Return Path, hops", smp_return_hops),
                        {"returnpath", smp_path_ports * 8, Show::bytes, "Return Path"},
                    });
};

}  // namespace rdmascope::dissect
