// A capture source: something that yields frames, in capture order. One file behind one small interface.
// Nothing here knows what is inside a frame.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/result.h"

namespace rdmascope::capture {

// One captured frame. Bytes stay where the source keeps them (mapped file, receive ring).
struct Frame {
  std::span<const std::uint8_t> bytes;    // captured bytes; valid until the next read()
  std::int64_t time_ns = 0;               // since 1970-01-01 00:00:00 UTC; can run backwards
  std::uint32_t wire_bytes = 0;           // length on the wire, before snapping; may contradict bytes.size()
  std::uint32_t interface_id = 0;         // index into Source::interfaces()
  std::uint16_t link_type = 0;            // LINKTYPE_ number of the interface
  bool has_time = true;                   // false: the format carries none (pcapng simple packet block)
  bool big_endian_options = false;        // byte order of `options`
  std::span<const std::uint8_t> options;  // raw pcapng options of the packet block (comments, flags, drops)
};

// What a capture file or device says about one interface.
struct Interface {
  std::string name, description, filter, os;
  std::uint16_t link_type = 0;
  std::uint32_t snap_length = 0;              // bytes; 0: no limit
  std::optional<std::uint8_t> fcs_bytes;      // Ethernet FCS kept at the end of each frame, when stated
  std::uint64_t units_per_second = 1000000;   // saturated at 2^64-1; informative, Frame::time_ns is converted
  std::int64_t offset_seconds = 0;            // if_tsoffset, already added to Frame::time_ns
};

// What a capture file says besides its frames. Grows while reading; at most a few megabytes, whatever the file.
struct Notes {
  struct Comment {
    std::string where;  // "section 1", "interface 3", "statistics of interface 3"
    std::string text;   // as in the file: may hold line ends, may be no UTF-8
  };
  struct Skipped {
    std::string why;  // "packet block names an interface that is not described"
    std::uint64_t first_byte = 0, count = 0;
  };
  std::string hardware, os, application;               // of the first section that says so
  std::vector<Comment> comments;                       // of sections, interfaces and statistics, not of packets
  std::map<std::uint32_t, std::uint64_t> other_blocks;  // pcapng block type -> count, of blocks not used here
  std::vector<Skipped> skipped;                        // what could not be used; the frames around it were read
};

// How far a source is, for a progress line: bytes of the file as it is on disk.
struct Progress {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> total;  // nullopt: a pipe or a device
};

class Source {
 public:
  virtual ~Source() = default;

  // Fills `out` from the front and returns how many frames; 0 is the end. An error is returned by the call after the
  // last whole frame was handed out, so nothing readable is lost.
  virtual Result<std::size_t> read(std::span<Frame> out) = 0;

  // After read() gave 0: false means that nothing has come for a while; devices only.
  virtual bool at_end() const { return true; }

  // Interfaces seen so far; grows while reading (pcapng may describe one in the middle of a file).
  virtual const std::vector<Interface>& interfaces() const = 0;

  // Packets the source says were lost; nullopt: the source cannot tell. Unknown is never 0.
  virtual std::optional<std::uint64_t> dropped() const = 0;

  // nullptr: nothing of that kind (live devices).
  virtual const Notes* notes() const { return nullptr; }
  virtual Progress progress() const { return {}; }

  // True: bytes of a frame stay where they are as long as the source lives, not only until the next read().
  virtual bool frames_stay() const { return false; }

  // Frames that stay: some were looked at whose bytes were gone, since the file was made shorter meanwhile. They read as
  // zeros (guard_mappings()).
  virtual bool was_cut() const { return false; }

  // For those who work on the frames of the last read(), `frame_bytes` in all, while they read on. True: the frames lie
  // in `memory` now and stay until that is touched; what was in it is used in turn. False: they are valid until the next
  // read() only, since the source cannot do it or copying them costs less.
  virtual bool give_memory(Memory& memory, std::size_t frame_bytes) {
    static_cast<void>(memory), static_cast<void>(frame_bytes);
    return false;
  }
};

}  // namespace rdmascope::capture
