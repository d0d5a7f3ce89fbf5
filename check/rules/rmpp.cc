// Long answers in segments (RMPP). Segments that are missing may be missing in the capture only: what needs all of them
// is no violation. mad.md 2.3, 9.5.
#include "check/rules/mad.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr std::uint32_t segment_bytes = 220, sa_header_bytes = Sa::bytes;

struct Segment {
  bool active = false;
  std::uint64_t version, type, status, data1, data2;
  bool first, last;
};

// The RMPP header; nullopt: the class has none.
std::optional<Segment> rmpp_of(const MadContext& c) {
  const bool has = c.sa() || (c.class_code() >= 0x30 && c.class_code() <= 0x4f);
  if (!to_judge(c) || !has || c.size < Mad::bytes + Rmpp::bytes) return std::nullopt;
  const View<Rmpp> r(c.bytes + Mad::bytes);
  return Segment{r.get<"rmppflags.active">() != 0,
                 r.get<"rmppversion">(),
                 r.get<"rmpptype">(),
                 r.get<"rmppstatus">(),
                 r.get<"segmentnumber">(),
                 r.get<"newwindowlast">(),
                 r.get<"rmppflags.first">() != 0,
                 r.get<"rmppflags.last">() != 0};
}
// A segment that is laid down as one.
std::optional<Segment> data_of(const MadContext& c) {
  const std::optional<Segment> s = rmpp_of(c);
  return s && s->active && s->version == 1 && s->type == rmpp_data ? s : std::nullopt;
}

void version(const MadContext& c, Findings& out) {
  const std::optional<Segment> s = rmpp_of(c);
  if (s && s->active && s->version != 1)
    out.mismatch_in(rmpp_ver.info, c, "infiniband.rmpp.rmppversion", 1, s->version);
}

void type(const MadContext& c, Findings& out) {
  const std::optional<Segment> s = rmpp_of(c);
  if (!s) return;
  if (s->active && s->version == 1 && (s->type < rmpp_data || s->type > rmpp_abort))
    out.wrong_in(rmpp_type_rule.info, c, "infiniband.rmpp.rmpptype", s->type, "1 to 4 are defined");
  else if (!s->active && s->type != 0 && c.sa())
    out.wrong_in(rmpp_type_rule.info, c, "infiniband.rmpp.rmpptype", s->type, "but Active is not set", Class::anomaly);
}

void first(const MadContext& c, Findings& out) {
  const std::optional<Segment> s = data_of(c);
  if (s && s->data1 != 0 && s->first != (s->data1 == 1))
    out.mismatch_in(rmpp_first.info, c, "infiniband.rmpp.rmppflags.first", s->data1 == 1 ? 1 : 0, s->first ? 1 : 0,
                    fmt::format("segment {}", s->data1));
}

void sequence(const MadContext& c, Findings& out) {
  const std::optional<Segment> s = data_of(c);
  if (!s) return;
  if (s->data1 == 0) return out.wrong_in(rmpp_seq.info, c, "infiniband.rmpp.segmentnumber", 0, "segments count from 1");
  if (!c.facts.stream || c.facts.stream->ended) return;
  const std::uint32_t next = c.facts.stream->segments + 1;
  if (s->data1 > next)
    out.wrong_in(rmpp_seq.info, c, "infiniband.rmpp.segmentnumber", s->data1,
                 s->data1 == next + 1
                     ? fmt::format("segment {} is not in the capture before it", next)
                     : fmt::format("segments {} to {} are not in the capture before it", next, s->data1 - 1),
                 Class::anomaly);
}

void last(const MadContext& c, Findings& out) {
  const std::optional<Segment> s = data_of(c);
  if (!s) return;
  const RuleInfo& rule = rmpp_last.info;
  const std::optional<MadStream>& stream = c.facts.stream;
  if (stream && !stream->ended && stream->last_segment != 0 && s->data1 > stream->last_segment)
    return out.wrong_in(rule, c, "infiniband.rmpp.segmentnumber", s->data1,
                        fmt::format("segment {} was the last one", stream->last_segment));
  if (!s->last) return;
  const std::uint32_t least = c.sa() ? sa_header_bytes : 1;
  if (s->data2 < least || s->data2 > segment_bytes)
    return out.wrong_in(rule, c, "infiniband.rmpp.payloadlength", s->data2,
                        fmt::format("{} to {} are possible in the last segment", least, segment_bytes));
  if (!stream || stream->ended || stream->first_length == 0 || s->data1 < 2) return;
  const std::uint64_t total = (s->data1 - 1) * segment_bytes + s->data2;
  if (stream->first_length != total)
    out.wrong_in(rule, c, "infiniband.rmpp.payloadlength", s->data2,
                 fmt::format("{} bytes in {} segments; the first one said {}", total, s->data1, stream->first_length),
                 Class::anomaly);
}

void middle_length(const MadContext& c, Findings& out) {
  const std::optional<Segment> s = data_of(c);
  if (s && s->data1 > 1 && !s->last && s->data2 != 0)
    out.mismatch_in(rmpp_midlen.info, c, "infiniband.rmpp.payloadlength", 0, s->data2,
                    "neither the first segment nor the last");
}

void window(const MadContext& c, Findings& out) {
  const std::optional<Segment> s = rmpp_of(c);
  if (!s || !s->active || s->version != 1) return;
  const RuleInfo& rule = rmpp_win.info;
  const std::optional<MadStream>& stream = c.facts.stream;
  if (s->type == rmpp_ack) {
    if (s->data1 > s->data2)
      return out.wrong_in(rule, c, "infiniband.rmpp.newwindowlast", s->data2,
                          fmt::format("and segment {} is acknowledged", s->data1));
    // The last ACK may say that no more is to come.
    if (stream && !stream->ended && s->data1 != stream->last_segment && stream->acknowledged &&
        s->data1 > stream->acked && s->data2 < stream->window_last)
      out.wrong_in(rule, c, "infiniband.rmpp.newwindowlast", s->data2,
                   fmt::format("it was {} before", stream->window_last));
  } else if (s->type == rmpp_data && stream && !stream->ended && stream->acknowledged &&
             s->data1 > stream->window_last) {
    out.wrong_in(rule, c, "infiniband.rmpp.segmentnumber", s->data1,
                 fmt::format("the window ends at {}, unless the capture lacks an ACK", stream->window_last),
                 Class::anomaly);
  }
}

void status(const MadContext& c, Findings& out) {
  const std::optional<Segment> s = rmpp_of(c);
  if (!s || !s->active || s->version != 1 || s->type < rmpp_data || s->type > rmpp_abort) return;
  constexpr unsigned resources = 1, first_abort = 118, first_of_class = 128;
  const bool right = s->type == rmpp_stop    ? s->status == resources || s->status >= first_of_class
                     : s->type == rmpp_abort ? s->status >= first_abort
                                             : s->status == 0;
  if (!right)
    out.wrong_in(rmpp_status.info, c, "infiniband.rmpp.rmppstatus", s->status,
                 fmt::format("in {}", name_of(rmpp_types, s->type)));
}

void direction(const MadContext& c, Findings& out) {
  if (rmpp_of(c) && c.facts.wrong_direction)
    out.wrong_in(rmpp_dir.info, c, "infiniband.mad.method.r", c.mad.get<"method.r">(),
                 fmt::format("the stream of frame {} has the same, so this seems to come from its own sender",
                             c.facts.question->answer_frame));
}

void no_end(const MadQuestion& q, Findings& out) {
  if (!q.stream || q.stream->ended) return;
  const MadStream& s = *q.stream;
  Finding f{&rmpp_end.info, rmpp_end.info.kind, s.last_frame, q.answer_ns};
  f.text = s.last_segment == 0
               ? fmt::format("segment {} is the last one in the capture, and it is not the end", s.segments)
               : fmt::format("{} of {} segments are acknowledged in the capture", s.acked, s.last_segment);
  out.add(nullptr, std::move(f));
}

}  // namespace

const Rule rmpp_ver{
    .info =
        {.id = "RMPP-VER",
         .title = "RMPP has version 1",
         .source = "Linux drivers/infiniband/core: mad_rmpp.c (status 125)",
         .help =
             R"(Where the Active flag says that a datagram is one of a long answer, the RMPP header has version 1. A receiver aborts
the transfer otherwise.

Usual causes: a capture taken above the code that fills the header in (opensm through umad leaves it to the kernel).

Look next at: the other bytes of the RMPP header: if they are 0, nobody filled it in.)"},
    .mad = version};

const Rule rmpp_type_rule{
    .info =
        {.id = "RMPP-TYPE",
         .title = "RMPP has a type that exists",
         .source = "Linux drivers/infiniband/core: mad_rmpp.c (status 121)",
         .help =
             R"(Types are 1 DATA, 2 ACK, 3 STOP and 4 ABORT. A datagram of subnet administration that is not Active has type 0;
another one is an anomaly, since nobody looks at it.

Usual causes: an RMPP header that is partly filled in.

Look next at: flags and version of the header.)"},
    .mad = type};

const Rule rmpp_first{
    .info = {.id = "RMPP-FIRST",
             .title = "First is the flag of segment 1",
             .source = "Linux drivers/infiniband/core: mad_rmpp.c (status 120)",
             .help = R"(Segment 1 has the flag First, and no other one has. A receiver aborts the transfer otherwise.

Usual causes: an agent that segments by itself and copies the header.

Look next at: the segment number.)"},
    .mad = first};

const Rule rmpp_seq{
    .info =
        {.id = "RMPP-SEQ",
         .title = "Segments follow each other",
         .source = "Linux drivers/infiniband/core: mad_rmpp.c",
         .help =
             R"(Segments count from 1, one by one; 0 is a violation. Where numbers are passed over, it is told as an anomaly: the
segments were lost on the way here, or only the capture lacks them. A later ACK that covers them says the latter.

Usual causes: loss before the point of capture, a capture that could not keep up.

Look next at: the next ACK, and whether the segments come again.)"},
    .mad = sequence};

const Rule rmpp_last{
    .info =
        {.id = "RMPP-LAST",
         .title = "The last segment ends the answer and says how long it is",
         .source = "Linux drivers/infiniband/core: mad_rmpp.c (status 119)",
         .help =
             R"(The flag Last ends an answer; no segment follows. Its PayloadLength are the bytes in it that count, 1 to 220, and in
subnet administration at least the 20 of its header, which is repeated in each segment. A sum that differs from what the
first segment promised is an anomaly: Linux does not look at it.

Usual causes: a length that leaves out the header of the class; a length that is the sum of all.

Look next at: PayloadLength of the first segment.)"},
    .mad = last};

const Rule rmpp_midlen{
    .info = {.id = "RMPP-MIDLEN",
             .title = "Segments in the middle say no length",
             .kind = Class::anomaly,
             .severity = Severity::warning,
             .source = "Linux drivers/infiniband/core: mad_rmpp.c, send_next_seg",
             .help = R"(Segments between the first and the last one are full, and their PayloadLength is 0.

Usual causes: an agent that writes 220 into each of them.

Look next at: whether the receiver takes the answer.)"},
    .mad = middle_length};

const Rule rmpp_win{
    .info =
        {.id = "RMPP-WIN",
         .title = "The window is kept",
         .source = "Linux drivers/infiniband/core: mad_rmpp.c (status 122, 123)",
         .help =
             R"(An ACK says up to which segment all have come, and in NewWindowLast up to which one may be sent: not less than what it
acknowledges, and not less than before. A segment beyond the window is an anomaly only, since the ACK that opened it may
be missing in the capture.

Usual causes: an agent that acknowledges with NewWindowLast 0; a sender that does not wait.

Look next at: the ACKs of the transfer one after the other.)"},
    .mad = window};

const Rule rmpp_status{
    .info =
        {.id = "RMPP-STATUS",
         .title = "RMPPStatus fits the type",
         .source = "Linux drivers/infiniband/core: mad_rmpp.c (status 124)",
         .help =
             R"(DATA and ACK have RMPPStatus 0, STOP has 1 (resources exhausted), ABORT 118 to 127 or a code of the class. Another one
makes the receiver abort.

Usual causes: the status of the datagram written into that of RMPP.

Look next at: how the transfer ends.)"},
    .mad = status};

const Rule rmpp_dir{
    .info =
        {.id = "RMPP-DIR",
         .title = "ACK, STOP and ABORT have the other response bit",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core: mad_rmpp.c, format_ack",
         .help =
             R"(Who acknowledges or stops an answer does so as the asker: with the response bit of the method cleared, and the other way
round. The sender of the answer finds its transfer by that.

Usual causes: an ACK made by copying the header of the segment.

Look next at: whether segments are sent again, although they were acknowledged.)"},
    .mad = direction};

const Rule rmpp_end{
    .info =
        {.id = "RMPP-END",
         .title = "A long answer has an end",
         .kind = Class::anomaly,
         .severity = Severity::info,
         .source = "Linux drivers/infiniband/core: mad_rmpp.c",
         .help =
             R"(A transfer ends with the ACK of its last segment, with STOP or with ABORT. This one had acknowledges and no end in the
capture, two seconds before it ended: it was given up, or the end was not captured.

Usual causes: a receiver that is gone; loss of the last ACK.

Look next at: the last segment, and whether the question is asked again.)"},
    .unanswered = no_end};

}  // namespace rdmascope::check
