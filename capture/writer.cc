#include "capture/writer.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "capture/pcapng_options.h"

namespace rdmascope::capture {

namespace {

constexpr std::size_t flush_bytes = 256 << 10;
constexpr std::uint32_t default_snap_length = 262144;  // what pcap readers accept at least
constexpr std::size_t pcap_header_bytes = 24, pcap_record_bytes = 16;
constexpr std::uint32_t enhanced_packet = 6, simple_packet = 3;
constexpr std::size_t largest_frame = 0x7fffffff;      // keeps block lengths within 32 bits

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

Result<std::unique_ptr<Writer>> Writer::create(const std::string& path, WriterOptions options) {
  const bool standard_output = path == "-";
  const int fd =
      standard_output ? STDOUT_FILENO : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd < 0) {
    const int error = errno;
    return Error{fmt::format("cannot write {}: {}; check the path and its permissions", path, std::strerror(error))};
  }
  std::unique_ptr<Writer> writer(new Writer(fd, standard_output ? "standard output" : path, std::move(options)));
  if (writer->options_.format == FileFormat::pcapng) writer->section_header();
  return writer;
}

Writer::Writer(int fd, std::string name, WriterOptions options)
    : fd_(fd), name_(std::move(name)), options_(std::move(options)) {
  buffer_.reserve(2 * flush_bytes);
}

Writer::~Writer() { static_cast<void>(close()); }

Result<void> Writer::describe(const std::vector<Interface>& interfaces) {
  if (failed_) return *failed_;
  for (std::size_t i = interfaces_.size(); i < interfaces.size(); ++i) {
    interfaces_.push_back(interfaces[i]);
    if (options_.format == FileFormat::pcapng) interface_description(interfaces[i]);
  }
  if (buffer_.size() >= flush_bytes) return flush();
  return {};
}

Result<void> Writer::write(const Frame& frame, std::string_view comment) {
  if (failed_) return *failed_;
  ++frames_;
  // These concern one frame; the file stays good, and the caller may go on.
  if (frame.bytes.size() > largest_frame)
    return Error{fmt::format("cannot write {}: frame {} has {} bytes, too many for a capture file", name_, frames_,
                             frame.bytes.size())};
  if (frame.interface_id >= interfaces_.size())
    return Error{fmt::format("cannot write {}: frame {} names interface {}, only {} are described", name_, frames_,
                             frame.interface_id, interfaces_.size())};
  const Result<void> written = options_.format == FileFormat::pcap ? write_pcap(frame) : write_pcapng(frame, comment);
  if (!written) return written;
  last_time_ns_ = frame.time_ns;
  if (buffer_.size() >= flush_bytes) return flush();
  return {};
}

void Writer::set_statistics(std::uint32_t interface_id, const InterfaceStatistics& statistics) {
  if (statistics_.size() <= interface_id) statistics_.resize(std::size_t{interface_id} + 1);
  statistics_[interface_id] = statistics;
}

Result<void> Writer::flush() {
  if (failed_) return *failed_;
  // A reader can tell an empty pcap file only by its header, and it needs a link type.
  if (options_.format == FileFormat::pcap && !pcap_link_type_ && !interfaces_.empty())
    pcap_header(interfaces_[0].link_type);
  std::span<const std::uint8_t> rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written > 0) {
      rest = rest.subspan(static_cast<std::size_t>(written));
    } else if (written < 0 && errno != EINTR) {
      const int error = errno;
      pipe_closed_ = error == EPIPE;
      failed_ =
          Error{fmt::format("cannot write {}: {} after {} bytes", name_, std::strerror(error), bytes_ - rest.size())};
      keep_whole_records(buffer_.size() - rest.size());
      break;
    }
  }
  buffer_.clear();
  if (failed_) return *failed_;
  return {};
}

// The disk is full: a record that is there in part goes, so that the file ends with the last whole one.
void Writer::keep_whole_records(std::size_t written) {
  const std::uint64_t begin = bytes_ - buffer_.size();  // of the buffer, in the file
  const bool pcapng = options_.format == FileFormat::pcapng;
  std::size_t whole = 0, at = 0;
  if (!pcapng && begin == 0) at = std::min<std::size_t>(pcap_header_bytes, buffer_.size());
  std::uint64_t lost = 0;
  for (;;) {
    if (at <= written) whole = at;
    if (at >= buffer_.size()) break;
    const std::uint8_t* const record = buffer_.data() + at;
    const std::uint32_t type = pcapng ? load32(record, false) : 0;
    at += pcapng ? load32(record + 4, false) : pcap_record_bytes + load32(record + 8, false);
    if (at > written && (!pcapng || type == enhanced_packet || type == simple_packet)) ++lost;
  }
  frames_ -= lost;
  if (fd_ != STDOUT_FILENO) static_cast<void>(::ftruncate(fd_, static_cast<off_t>(begin + whole)));
}

Result<void> Writer::close() {
  if (!closed_) {
    closed_ = true;
    if (options_.format == FileFormat::pcapng)
      for (std::uint32_t i = 0; i < std::min(statistics_.size(), interfaces_.size()); ++i)
        if (statistics_[i]) statistics(i, *statistics_[i]);
    if (options_.format == FileFormat::pcap && !pcap_link_type_ && interfaces_.empty()) pcap_header(1);
    static_cast<void>(flush());
    // Some file systems tell of a full disk only now.
    if (fd_ != STDOUT_FILENO && ::close(fd_) != 0 && !failed_) {
      const int error = errno;
      failed_ = Error{fmt::format("cannot write {}: {}", name_, std::strerror(error))};
    }
  }
  if (failed_) return *failed_;
  return {};
}

// pcap

Result<void> Writer::write_pcap(const Frame& frame) {
  if (!pcap_link_type_) pcap_header(frame.link_type);
  if (frame.link_type != *pcap_link_type_)
    return Error{
        fmt::format("cannot write {}: a pcap file holds one link type, and frame {} has {} after {}; "
                    "write pcapng instead",
                    name_, frames_, frame.link_type, *pcap_link_type_)};
  // 32 bits of seconds: times outside come out at the nearest end.
  const std::int64_t time_ns = std::clamp<std::int64_t>(frame.time_ns, 0, 4294967295999999999);
  put32(static_cast<std::uint32_t>(time_ns / 1000000000));
  put32(static_cast<std::uint32_t>(time_ns % 1000000000));
  put32(static_cast<std::uint32_t>(frame.bytes.size()));
  put32(frame.wire_bytes);
  put(frame.bytes);
  return {};
}

void Writer::pcap_header(std::uint16_t link_type) {
  pcap_link_type_ = link_type;
  std::uint32_t snap_length = 0, network = link_type;
  std::optional<std::uint8_t> fcs_bytes;
  for (const Interface& i : interfaces_) {
    if (i.link_type != link_type) continue;
    snap_length = std::max(snap_length, i.snap_length > 0 ? i.snap_length : default_snap_length);
    if (i.fcs_bytes) fcs_bytes = i.fcs_bytes;
  }
  if (fcs_bytes && *fcs_bytes <= 30) network |= 0x04000000u | std::uint32_t{*fcs_bytes} / 2 << 28;
  put32(0xa1b23c4d);
  put16(2);
  put16(4);
  put64(0);  // time zone and accuracy, never used
  put32(snap_length > 0 ? snap_length : default_snap_length);
  put32(network);
}

// pcapng, in the byte order of a PC

void Writer::section_header() {
  const std::size_t begin = begin_block(0x0a0d0d0a);
  put32(0x1a2b3c4d);
  put16(1);
  put16(0);
  put64(~std::uint64_t{0});  // length not known yet
  put_option(option::comment, options_.comment);
  put_option(option::shb_hardware, options_.hardware);
  put_option(option::shb_os, options_.os);
  put_option(option::shb_application, options_.application);
  end_block(begin);
}

void Writer::interface_description(const Interface& interface) {
  const std::size_t begin = begin_block(1);
  put16(interface.link_type);
  put16(0);
  put32(interface.snap_length);
  put_option(option::if_name, interface.name);
  put_option(option::if_description, interface.description);
  constexpr std::uint8_t nanoseconds = 9;
  put_option(option::if_tsresol, {&nanoseconds, 1});
  if (!interface.filter.empty()) put_option(option::if_filter, std::string(1, '\0') + interface.filter);
  put_option(option::if_os, interface.os);
  if (interface.fcs_bytes) put_option(option::if_fcslen, {&*interface.fcs_bytes, 1});
  end_block(begin);
}

Result<void> Writer::write_pcapng(const Frame& frame, std::string_view comment) {
  const std::uint32_t captured = static_cast<std::uint32_t>(frame.bytes.size());
  const std::uint32_t snap_length = interfaces_[frame.interface_id].snap_length;
  // Only the simple form can say that there is no time; it belongs to interface 0 and derives the captured length.
  const bool simple = !frame.has_time && frame.interface_id == 0 && frame.options.empty() && comment.empty() &&
                      captured == (snap_length > 0 ? std::min(snap_length, frame.wire_bytes) : frame.wire_bytes);
  const std::size_t begin = begin_block(simple ? simple_packet : enhanced_packet);
  if (!simple) {
    const std::uint64_t time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(frame.time_ns, 0));
    put32(frame.interface_id);
    put32(static_cast<std::uint32_t>(time_ns >> 32));
    put32(static_cast<std::uint32_t>(time_ns));
    put32(captured);
  }
  put32(frame.wire_bytes);
  put(frame.bytes);
  put({reinterpret_cast<const std::uint8_t*>("\0\0\0"), (4 - captured % 4) % 4});
  if (!simple) packet_options(frame, comment);
  end_block(begin);
  return {};
}

void Writer::packet_options(const Frame& frame, std::string_view comment) {
  const std::size_t before = buffer_.size();
  for_each_option(frame.options, frame.big_endian_options,
                  [&](std::uint16_t code, std::span<const std::uint8_t> value) {
                    // Numbers change their byte order; so does the enterprise number that custom options start with.
                    const bool custom = (code & 0x7fff) == 2988 || (code & 0x7fff) == 2989;
                    const bool number = code == option::epb_flags || code == option::epb_dropcount ||
                                        code == option::epb_packetid || code == option::epb_queue;
                    const std::size_t turn = !frame.big_endian_options ? 0 : custom ? 4 : number ? value.size() : 0;
                    if (turn > 1 && turn <= value.size()) {
                      std::vector<std::uint8_t> turned(value.begin(), value.end());
                      std::reverse(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(turn));
                      put_option(code, turned);
                    } else {
                      put_option(code, value);
                    }
                  });
  put_option(option::comment, comment);
  if (buffer_.size() > before) put32(option::end);
}

void Writer::statistics(std::uint32_t interface_id, const InterfaceStatistics& statistics) {
  const std::uint64_t time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(last_time_ns_, 0));
  const std::size_t begin = begin_block(5);
  put32(interface_id);
  put32(static_cast<std::uint32_t>(time_ns >> 32));
  put32(static_cast<std::uint32_t>(time_ns));
  const auto number = [this](std::uint16_t code, std::uint64_t value, bool time) {
    put16(code);
    put16(8);
    put64(time ? value >> 32 | value << 32 : value);  // a time has its high half first
  };
  if (statistics.start_ns) number(option::isb_starttime, static_cast<std::uint64_t>(*statistics.start_ns), true);
  if (statistics.end_ns) number(option::isb_endtime, static_cast<std::uint64_t>(*statistics.end_ns), true);
  if (statistics.received) number(option::isb_ifrecv, *statistics.received, false);
  if (statistics.dropped) number(option::isb_ifdrop, *statistics.dropped, false);
  put32(option::end);
  end_block(begin);
}

// In the byte order of a PC.
static_assert(std::endian::native == std::endian::little);
void Writer::put16(std::uint16_t value) { put({reinterpret_cast<const std::uint8_t*>(&value), sizeof value}); }
void Writer::put32(std::uint32_t value) { put({reinterpret_cast<const std::uint8_t*>(&value), sizeof value}); }
void Writer::put64(std::uint64_t value) { put({reinterpret_cast<const std::uint8_t*>(&value), sizeof value}); }
void Writer::put(std::span<const std::uint8_t> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  bytes_ += bytes.size();
}

void Writer::put_option(std::uint16_t code, std::span<const std::uint8_t> value) {
  const std::span<const std::uint8_t> kept = value.first(std::min<std::size_t>(value.size(), 65535));
  put16(code);
  put16(static_cast<std::uint16_t>(kept.size()));
  put(kept);
  put({reinterpret_cast<const std::uint8_t*>("\0\0\0"), (4 - kept.size() % 4) % 4});
}
void Writer::put_option(std::uint16_t code, std::string_view text) {
  if (!text.empty()) put_option(code, bytes_of(text));
}

std::size_t Writer::begin_block(std::uint32_t type) {
  const std::size_t begin = buffer_.size();
  put32(type);
  put32(0);
  return begin;
}
void Writer::end_block(std::size_t begin) {
  const std::uint32_t length = static_cast<std::uint32_t>(buffer_.size() - begin + 4);
  put32(length);
  for (std::size_t i = 0; i < 4; ++i) buffer_[begin + 4 + i] = static_cast<std::uint8_t>(length >> 8 * i);
}

}  // namespace rdmascope::capture
