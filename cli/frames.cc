#include "cli/frames.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"

namespace rdmascope::cli {

std::atomic<bool> interrupted = false;

namespace {
int stop_pipe[2] = {-1, -1};

void on_interrupt(int) {
  const int error = errno;
  interrupted = true;
  static_cast<void>(!::write(stop_pipe[1], "", 1));  // ends a read that waits
  errno = error;
}

constexpr std::int64_t interval_ns = 500'000'000;
}  // namespace

void stop_on_interrupt() {
  if (stop_pipe[0] < 0 && ::pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) == 0) capture::stop_descriptor = stop_pipe[0];
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void stop_reading() { static_cast<void>(!::write(stop_pipe[1], "", 1)); }

ProgressLine::ProgressLine(bool wanted, bool output_waits)
    : active_(wanted && isatty(STDERR_FILENO) && (output_waits || !isatty(STDOUT_FILENO))) {
  if (active_) next_ns_ = monotonic_ns() + interval_ns;
}

ProgressLine::~ProgressLine() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

bool ProgressLine::due() {
  if (!active_) return false;
  const std::int64_t now = monotonic_ns();
  if (now < next_ns_) return false;
  next_ns_ = now + interval_ns;
  shown_ = true;
  return true;
}

void ProgressLine::show(std::string_view what, std::uint64_t done, std::uint64_t total) {
  if (!due()) return;
  fmt::print(stderr, "\r\033[K{}: {} of {}", what, done, total);
  std::fflush(stderr);
}

void ProgressLine::show(std::uint64_t packets, const capture::Source& source) {
  if (!due()) return;
  const capture::Progress progress = source.progress();
  if (progress.total && *progress.total > 0)
    fmt::print(stderr, "\r\033[K{} packets, {:.0f} %", packets,
               100.0 * static_cast<double>(progress.bytes) / static_cast<double>(*progress.total));
  else
    fmt::print(stderr, "\r\033[K{} packets", packets);
  std::fflush(stderr);
}

void note_capture_facts(const std::string& path, const capture::Source& source) {
  const std::optional<std::uint64_t> dropped = source.dropped();
  if (dropped && *dropped > 0)
    note(fmt::format("{}: the capture says that {} packets were dropped while it was made", path, *dropped));
  const capture::Notes* notes = source.notes();
  if (!notes) return;
  for (const capture::Notes::Skipped& skipped : notes->skipped)
    note(fmt::format("{}: {} ({} times, first at byte {}); skipped", path, skipped.why, skipped.count,
                     skipped.first_byte));
}

}  // namespace rdmascope::cli
