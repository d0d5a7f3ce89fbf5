// Reads capture files one after the other and hands each frame over as a walked packet.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/open.h"
#include "cli/command.h"
#include "dissect/walk.h"

namespace rdmascope::cli {

// Set by Ctrl-C and SIGTERM after stop_on_interrupt(): long loops then end as if the input had ended there, so that
// what is being written is completed. A second Ctrl-C kills. Commands that write no file do without and are killed at
// once.
extern std::atomic<bool> interrupted;
void stop_on_interrupt();
// Ends the reads of live sources as Ctrl-C does. After stop_on_interrupt().
void stop_reading();

// Packets so far, and how much of the file, on the terminal while nothing else is shown there.
class ProgressLine {
 public:
  // `output_waits`: nothing is shown before the end, so the line does not get between.
  explicit ProgressLine(bool wanted, bool output_waits = false);
  ~ProgressLine();
  void show(std::uint64_t packets, const capture::Source& source);
  void show(std::string_view what, std::uint64_t done, std::uint64_t total);  // "C14-024-07-02: 4096 of 32768"

 private:
  bool due();

  bool active_;
  bool shown_ = false;
  std::int64_t next_ns_ = 0;
};

// Fills what the capture says of a frame into a packet.
class FrameTimes {
 public:
  void fill(dissect::FrameInfo& info, const capture::Frame& frame, const capture::Interface* interface) {
    ++number_;
    if (frame.has_time) {
      if (!any_) first_ns_ = previous_ns_ = frame.time_ns;
      any_ = true;
    }
    info.number = number_;
    info.time_ns = frame.time_ns;
    // Two's complement arithmetic: times in a damaged file may lie further apart than 2^63 ns.
    info.time_relative_ns = difference(frame.time_ns, first_ns_);
    info.time_delta_ns = difference(frame.time_ns, previous_ns_);
    info.wire_bytes = frame.wire_bytes;
    info.interface_id = frame.interface_id;
    info.link_type = frame.link_type;
    info.fcs_bytes = interface ? interface->fcs_bytes : std::nullopt;
    info.has_time = frame.has_time;
    info.big_endian_options = frame.big_endian_options;
    info.options = frame.options;
    if (frame.has_time) previous_ns_ = frame.time_ns;
  }

 private:
  static std::int64_t difference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  }
  std::uint64_t number_ = 0;
  std::int64_t first_ns_ = 0, previous_ns_ = 0;
  bool any_ = false;
};

// What a file said about loss and about blocks nobody reads, for a note at the end.
void note_capture_facts(const std::string& path, const capture::Source& source);

// Where a packet comes from.
struct Origin {
  const capture::Frame& frame;
  const capture::Source& source;
  std::size_t file;  // index into the paths
};

struct NothingBefore {
  void operator()(std::span<const capture::Frame>, const std::vector<capture::Interface>&) const {}
};

// Calls before(frames, interfaces) for every batch of frames, and each(packet, origin) for every frame until it returns
// false. The exit status: exit_error when a file
// cannot be read to its end; whole packets before the damage were handed out.
template <class Each, class Before = NothingBefore>
int for_each_packet(const std::vector<std::string>& paths, const dissect::WalkOptions& options, bool show_progress,
                    Each&& each, Before&& before = {}, capture::Access access = capture::Access::buffered) {
  int status = exit_fine;
  FrameTimes times;
  dissect::Packet packet;
  ProgressLine progress(show_progress);
  std::array<capture::Frame, 256> frames;
  for (std::size_t file = 0; file < paths.size(); ++file) {
    const std::string& path = paths[file];
    auto opened = capture::open_file(path, access);
    if (interrupted) break;
    if (!opened) {
      complain(opened.error());
      status = exit_error;
      continue;
    }
    capture::Source& source = **opened;
    while (!interrupted) {
      const Result<std::size_t> count = source.read(frames);
      if (!count && interrupted) break;  // it ended inside a record
      if (!count) {
        complain(count.error());
        status = exit_error;
        break;
      }
      if (*count == 0) break;
      const std::vector<capture::Interface>& interfaces = source.interfaces();
      before(std::span<const capture::Frame>(frames).first(*count), interfaces);
      for (std::size_t i = 0; i < *count; ++i) {
        const capture::Frame& frame = frames[i];
        times.fill(packet.frame, frame,
                   frame.interface_id < interfaces.size() ? &interfaces[frame.interface_id] : nullptr);
        dissect::walk(packet, frame.bytes, options);
        if (!each(packet, Origin{frame, source, file})) return status;
      }
      progress.show(packet.frame.number, source);
    }
    note_capture_facts(path, source);
  }
  return status;
}

}  // namespace rdmascope::cli
