// gzip (RFC 1952) and zstd (RFC 8878) data as a stream of unpacked bytes, through zlib and libzstd. Members or frames
// that follow each other count as one stream, as with gunzip and zstd -d.
#pragma once

#include <memory>

#include "capture/window.h"

namespace rdmascope::capture {

enum class Packing { none, gzip, zstd };

// What the bytes at the start of the window are, by their magic number.
Packing packing_of(const Window& window);

// `packing` is not none. `name` is for error sentences that say what to do.
std::unique_ptr<ByteStream> unpack(Window packed, Packing packing, const std::string& name);

}  // namespace rdmascope::capture
