// The frame as the capture has it, and what the walker noticed: pseudo headers whose fields are all generated. They let
// filters, JSON and the tree treat frame.number or an event like any field of a header.
#pragma once

#include "dissect/field.h"

namespace rdmascope::dissect {

bool frame_number(const Packet&, const Layer&, unsigned n, Value&);
bool frame_time_epoch(const Packet&, const Layer&, unsigned n, Value&);
bool frame_time_relative(const Packet&, const Layer&, unsigned n, Value&);
bool frame_time_delta(const Packet&, const Layer&, unsigned n, Value&);
// Bytes on the wire and captured, without the record header that ERF puts before a packet.
std::uint64_t wire_length(const Packet&);
std::uint64_t captured_length(const Packet&);

bool frame_len(const Packet&, const Layer&, unsigned n, Value&);
bool frame_cap_len(const Packet&, const Layer&, unsigned n, Value&);
bool frame_interface_id(const Packet&, const Layer&, unsigned n, Value&);
bool frame_link_type(const Packet&, const Layer&, unsigned n, Value&);
bool frame_comment(const Packet&, const Layer&, unsigned n, Value&);
bool frame_protocols(const Packet&, const Layer&, unsigned n, Value&);

struct Frame {
  static constexpr std::string_view name = "frame", title = "Frame";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(
      bytes, {
                 generated("number", Show::dec, "Frame Number", frame_number),
                 generated("time_epoch", Show::time, "Epoch Time", frame_time_epoch),
                 generated("time_relative", Show::time, "Time since the first frame", frame_time_relative),
                 generated("time_delta", Show::time, "Time since the previous frame", frame_time_delta),
                 generated("len", Show::dec, "Frame length on the wire", frame_len).in("bytes"),
                 generated("cap_len", Show::dec, "Frame length stored into the capture", frame_cap_len).in("bytes"),
                 generated("interface_id", Show::dec, "Interface id", frame_interface_id),
                 generated("link_type", Show::dec, "Link type (LINKTYPE_ number)", frame_link_type),
                 generated("protocols", Show::text, "Protocols in frame", frame_protocols),
                 generated("comment", Show::text, "Comment", frame_comment).repeated(),
             });
};

bool event_name(const Packet&, const Layer&, unsigned n, Value&);
bool event_byte(const Packet&, const Layer&, unsigned n, Value&);
bool event_text(const Packet&, const Layer&, unsigned n, Value&);

// There when the packet has events. Value n of each field is about event n.
struct Events {
  static constexpr std::string_view name = "rdmascope", title = "Noticed while dissecting";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields =
      layout(bytes, {
                        generated("event", Show::text, "Event", event_name).repeated(),
                        generated("event.byte", Show::dec, "At byte", event_byte).repeated(),
                        generated("event.text", Show::text, "In words", event_text).repeated(),
                    });
};

}  // namespace rdmascope::dissect
