// The file formats behind open.h. Each takes a window at the first byte of the file and the name for error sentences.
#pragma once

#include <memory>
#include <string>

#include "capture/source.h"
#include "capture/window.h"

namespace rdmascope::capture {

// Whether the window (16 bytes of it) starts like that format.
bool is_pcap(const Window& window);
bool is_pcapng(const Window& window);
// ERF has no magic number: looks at several records, and may wait for them.
bool is_erf(Window& window);

Result<std::unique_ptr<Source>> read_pcap(Window window, std::string name);
Result<std::unique_ptr<Source>> read_pcapng(Window window, std::string name);
Result<std::unique_ptr<Source>> read_erf(Window window, std::string name);

// Link types in files are LINKTYPE_ numbers, except that old writers left the DLT_RAW of their system.
inline std::uint16_t link_type_of_file(std::uint16_t value) { return value == 12 || value == 14 ? 101 : value; }

}  // namespace rdmascope::capture
