// H-CUT: the capture kept only the beginning of frames. Said once.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void packet(const Context& c, Findings&) {
  if (c.connection.id == 0 || c.packet.bytes.size() >= c.packet.frame.wire_bytes) return;
  if (c.connection.cut++ == 0) c.connection.first_cut_frame = c.packet.frame.number;
}

void end(Connection& c, Findings& out) {
  if (c.cut == 0) return;
  out.say_of(h_cut.info, c, 0, c.first_cut_frame, c.last_ns,
             fmt::format("{} not kept whole, the first is frame {}: CRC, pad and content are not judged",
                         count(c.cut, "frame"), c.first_cut_frame));
}

}  // namespace

const Rule h_cut{
    {.id = "H-CUT",
     .title = "Frames were cut by the snap length",
     .kind = Class::artifact,
     .severity = Severity::info,
     .source = "the capture's own lengths",
     .help =
         R"(The capture tool was told to keep only so many bytes of each frame. Headers are there, but the ICRC at the end is not,
so damaged packets are not recognised, and retransmissions cannot be compared with their originals.

Look next at: the snap length (-s) of the capture. 128 bytes keep all headers, 0 keeps everything.)"},
    on_any,
    packet,
    end};

}  // namespace rdmascope::check
