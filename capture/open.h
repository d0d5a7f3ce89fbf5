// Opens capture files: pcap, pcapng and ERF, plain or packed with gzip or zstd, recognised by content.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "capture/source.h"

namespace rdmascope::capture {

enum class Access : std::uint8_t {
  buffered,  // read() into a buffer; the faster one, and safe when somebody makes the file shorter meanwhile
  mapped,    // regular files that are not packed: frames stay as long as the source (Source::frames_stay)
  followed,  // buffered, but the end of a regular file is no end: more may be written to it, until it is told to stop
  growing,   // as followed, but mapped: frames stay; address space is reserved for what the file may become
};

// Pipes and terminals have ended once this descriptor is readable, also for a read that waits already; files that grow
// end where they end then. -1: none.
inline std::atomic<int> stop_descriptor = -1;

// "-" is standard input. Pipes are read as their bytes arrive, and whole frames handed out without waiting for a full
// batch. `stop`: what stops this source instead of stop_descriptor; it must stay open as long as the source. -1: none.
Result<std::unique_ptr<Source>> open_file(const std::string& path, Access access = Access::buffered, int stop = -1);

// The same from memory, which must outlive the source. With `piece`, as if the bytes came from a pipe, that many at a
// time.
Result<std::unique_ptr<Source>> open_memory(std::span<const std::uint8_t> bytes, std::size_t piece = 0,
                                            const std::string& name = "memory");

}  // namespace rdmascope::capture
