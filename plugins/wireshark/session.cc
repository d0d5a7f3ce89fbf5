#include "plugins/wireshark/session.h"

#include <algorithm>
#include <array>

#include "dissect/headers.h"
#include "plugins/wireshark/settings.h"

namespace rdmascope::wireshark {
namespace {

struct Session {
  CaptureAnalysis analysis{check_options()};
  Look look;
};

std::unique_ptr<Session> session;
bool out_of_memory = false;

// Wireshark goes on without us, and says so once.
void give_up() {
  session.reset();
  if (!std::exchange(out_of_memory, true))
    report_failure("rdmascope: out of memory; this capture is shown without findings");
}

void start() noexcept try {
  out_of_memory = false;
  take_preferences();
  session = std::make_unique<Session>();
} catch (...) {
  give_up();
}

void stop() { session.reset(); }

// After the first pass, if there is a second one.
void all_seen() noexcept try {
  if (session) session->analysis.finish();
} catch (...) {
  give_up();
}

bool says_something(const dissect::Packet& p, const dissect::Annotations& a) {
  return p.bth_layer >= 0 || !a.notes.empty() || a.cdi_flow != 0;
}

}  // namespace

void register_session_routines() {
  register_init_routine(start);
  register_cleanup_routine(stop);
  register_postseq_cleanup_routine(all_seen);
}

CaptureAnalysis* analysis() { return session ? &session->analysis : nullptr; }

const Look* look_at(const packet_info* pinfo, Bytes bytes, bool wanted) noexcept try {
  if (!session) return nullptr;
  std::optional<dissect::FrameInfo> info = frame_info(pinfo);
  if (!info) return nullptr;
  const dissect::Start* const start = start_of(pinfo);
  if (!PINFO_FD_VISITED(pinfo) && !start) session->analysis.take({bytes, *info});

  Look& out = session->look;
  out.annotations = session->analysis.of(info->number);
  if (!wanted && out.annotations.notes.empty()) return nullptr;
  info->time_relative_ns = info->time_ns - session->analysis.first_ns();
  out.packet.frame = *info;
  dissect::WalkOptions options = walk_options();
  options.start = start;
  dissect::walk(out.packet, bytes, options);
  dissect::annotate(out.packet, out.annotations);
  return says_something(out.packet, out.annotations) ? &out : nullptr;
} catch (...) {
  give_up();
  return nullptr;
}

}  // namespace rdmascope::wireshark
