// What is known of a packet from other packets: its connection and message, what answers it, what was found wrong. It
// cannot be read from the frame, so somebody who followed the connections hands it over, and only when it is wanted.
// These pseudo headers make rows of it, so that filters, columns, JSON and the tree treat it like any other field.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dissect/cdi.h"
#include "dissect/field.h"

namespace rdmascope::dissect {

// A finding on a frame.
struct Note {
  std::uint64_t frame;
  std::string_view rule, title;  // in static storage
  std::uint8_t kind;             // of note_kinds
  std::string text;              // one sentence
};
inline constexpr ValueName note_kinds[] = {{0, "violation"}, {1, "anomaly"}, {2, "artifact"}};

// A control message of CDI, and where both ends stood when it had passed.
struct CdiStep {
  std::uint64_t frame;
  std::int64_t time_ns;
  std::uint16_t number, ack_number;
  std::uint8_t command, ack_command;  // 0: none
  bool by_tx;
  ProbeState tx_state, rx_state;
  std::uint64_t request_in, response_in;  // frames; 0: none
};

// 0 stands for "there is none": connections, messages and frames count from 1.
struct Annotations {
  std::uint32_t flow = 0, message = 0;
  std::uint64_t request_in = 0, response_in = 0, retransmission_of = 0;
  bool retransmission = false;
  std::span<const Note> notes;
  // A record whose first bytes the segment before holds, and the headers it consists of.
  std::span<const std::uint8_t> record;
  std::span<const Header* const> record_headers;
  // Messages of its CDI flow up to this one, which is the last; the latest ones.
  std::uint32_t cdi_flow = 0;
  std::span<const CdiStep> cdi;
};

// Gives the packet the layers below, as far as they have something to say. `annotations` must stay until the packet is
// walked anew or loses them again.
void annotate(Packet& packet, const Annotations& annotations);

bool annotation_cdi_flow(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_cdi_tx(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_cdi_rx(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_cdi_request_in(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_cdi_response_in(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_cdi_ladder(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_flow(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_message(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_finding(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_finding_rule(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_finding_class(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_request_in(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_response_in(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_retransmission(const Packet&, const Layer&, unsigned n, Value&);
bool annotation_retransmission_of(const Packet&, const Layer&, unsigned n, Value&);

// Shares its name with Events: both are the tool's own words. Value n of each finding row is about finding n.
struct Analysis {
  static constexpr std::string_view name = "rdmascope", title = "Analysis";
  static constexpr std::uint32_t bytes = 0;
  static constexpr bool annotation = true;
  static constexpr auto fields = layout(
      bytes, {
                 generated("flow", Show::dec, "Connection (number in check and stats)", annotation_flow),
                 generated("message", Show::dec, "Message (of this sender and connection)", annotation_message),
                 generated("finding", Show::text, "Finding", annotation_finding).repeated(),
                 generated("finding.rule", Show::text, "Rule of the finding", annotation_finding_rule).repeated(),
                 generated("finding.class", Show::named, "Class of the finding", annotation_finding_class, note_kinds)
                     .repeated(),
             });
};

// A row is there only when it says something: infiniband.retransmission alone finds packets that were sent before.
struct Exchange {
  static constexpr std::string_view name = "infiniband", title = "Request and response";
  static constexpr std::uint32_t bytes = 0;
  static constexpr bool annotation = true;
  static constexpr auto fields =
      layout(bytes, {
                        generated("request_in", Show::dec, "Request in frame", annotation_request_in),
                        generated("response_in", Show::dec, "Response in frame", annotation_response_in),
                        generated("retransmission", Show::flag, "Retransmission", annotation_retransmission),
                        generated("retransmission_of", Show::dec, "First sent in frame", annotation_retransmission_of),
                    });
};

// Rows that name another packet: front ends make links of them.
constexpr bool names_a_frame(const Field& f) {
  return f.name == "request_in" || f.name == "response_in" || f.name == "retransmission_of";
}

// Where both ends of a CDI connection stand after this control message, as far as the capture tells: check/cdi.h.
struct CdiProbeStates {
  static constexpr std::string_view name = "cdi.probe", title = "CDI Connection Probe";
  static constexpr std::uint32_t bytes = 0;
  static constexpr bool annotation = true;
  static constexpr auto fields =
      layout(bytes, {
                        generated("flow", Show::dec, "CDI connection (number in stats cdi)", annotation_cdi_flow),
                        generated("tx_state", Show::named, "Transmitter's state", annotation_cdi_tx, probe_states),
                        generated("rx_state", Show::named, "Receiver's state", annotation_cdi_rx, probe_states),
                        generated("request_in", Show::dec, "Acknowledges frame", annotation_cdi_request_in),
                        generated("response_in", Show::dec, "Acknowledged in frame", annotation_cdi_response_in),
                        generated("ladder", Show::text, "Until here", annotation_cdi_ladder).repeated(),
                    });
};

}  // namespace rdmascope::dissect
