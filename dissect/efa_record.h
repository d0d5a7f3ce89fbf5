// A message as somebody handed it to libfabric or EFA, or got it from there: SRD traffic never passes an interface that
// can be captured. Header version 1 of dissector "rdma_efa" (link type 252, or 148 without the tags), 32 bytes,
// big-endian; then the message, with the RDM header if flags say so. This form is our own, see cdi-probe.md 5.5.
#pragma once

#include "dissect/cqe_fault.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

inline constexpr std::string_view efa_dissector = "rdma_efa";
inline constexpr ValueName efa_directions[] = {{0, "unknown"}, {1, "sent"}, {2, "received"}};

constexpr bool efa_has_rdm(const std::uint8_t* record) { return record[3] & 1; }
constexpr bool efa_has_version(const std::uint8_t* record) { return record[3] & 2; }
constexpr bool efa_has_status(const std::uint8_t* record) { return record[3] & 4; }
constexpr bool efa_has_ah(const std::uint8_t* record) { return record[3] & 8; }

struct EfaRecord {
  static constexpr std::string_view name = "efa.record", title = "EFA Message Record", protocol = "EFA";
  static constexpr std::uint32_t bytes = 32;
  static constexpr std::uint8_t this_version = 1;
  static constexpr auto fields =
      layout(bytes, {
                        {"version", 8, Show::dec, "Version"},
                        Field{"header_len", 8, Show::dec, "Header length"}.in("bytes"),
                        {"direction", 8, Show::dec, "Direction", efa_directions},
                        {"flags.reserved", 4, Show::reserved, "Reserved"},
                        {"flags.ah", 1, Show::flag, "Address handle is valid"},
                        {"flags.status", 1, Show::flag, "Completion status is valid"},
                        {"flags.cdi", 1, Show::flag, "CDI version is valid: the message is of CDI"},
                        {"flags.rdm", 1, Show::flag, "The message has an RDM header"},
                        Field{"status", 8, Show::dec, "Completion status", efa_status_names}.only_if(efa_has_status),
                        Field{"cdi_version", 8, Show::dec, "CDI version"}.only_if(efa_has_version),
                        Field{"cdi_major", 8, Show::dec, "CDI major version"}.only_if(efa_has_version),
                        Field{"cdi_probe", 8, Show::dec, "CDI probe version"}.only_if(efa_has_version),
                        {"local_qpn", 32, Show::hex, "Local queue pair"},
                        {"remote_qpn", 32, Show::hex, "Remote queue pair"},
                        Field{"ah", 16, Show::hex, "Address handle"}.only_if(efa_has_ah),
                        {"reserved18", 16, Show::reserved, "Reserved"},
                        Field{"msg_len", 32, Show::dec, "Message length"}.in("bytes"),
                        {"wr_id", 64, Show::hex, "Work request id"},
                        rest("more", Show::bytes, "Header of a later version"),
                    });
};

}  // namespace rdmascope::dissect
