// Writes capture files: pcapng (everything a Frame and an Interface say), or pcap with nanoseconds (one link type).
//
//   Result<std::unique_ptr<Writer>> file = Writer::create("out.pcapng");
//   (*file)->describe(source.interfaces());      // before the frames that name them; again when there are more
//   (*file)->write(frame);
//   (*file)->close();                            // says whether all of it reached the disk
//
// A closed pipe raises SIGPIPE unless the program ignores it; then it is an error like a full disk, and the writer
// stays failed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/source.h"

namespace rdmascope::capture {

enum class FileFormat : std::uint8_t { pcapng, pcap };

struct WriterOptions {
  FileFormat format = FileFormat::pcapng;
  std::string hardware, os, application = "rdmascope";  // pcapng: of the section
  std::string comment;                                  // pcapng: of the section; empty: none
};

// What was counted while an interface was captured, for the end of a pcapng file. What is unknown is left out.
struct InterfaceStatistics {
  std::optional<std::uint64_t> received;  // packets that passed the capture filter, lost ones too
  std::optional<std::uint64_t> dropped;   // of these: not in the file, because nobody could take them in time
  std::optional<std::int64_t> start_ns, end_ns;  // of the capture, since 1970-01-01 00:00:00 UTC
};

class Writer {
 public:
  // "-" is standard output. An existing file is overwritten.
  static Result<std::unique_ptr<Writer>> create(const std::string& path, WriterOptions options = {});

  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();  // closes; who wants to know of errors calls close()

  // Describes those behind the ones described already. Frame::interface_id counts in the same order.
  Result<void> describe(const std::vector<Interface>& interfaces);

  // Options of the frame (comments, flags, drops) are kept in pcapng, `comment` is added to them.
  Result<void> write(const Frame& frame, std::string_view comment = {});

  // For the statistics that close() writes (pcapng).
  void set_statistics(std::uint32_t interface_id, const InterfaceStatistics& statistics);

  // Hands over what is buffered, for those who read along.
  Result<void> flush();
  Result<void> close();

  std::uint64_t bytes() const { return bytes_; }         // of the file so far, buffered ones too
  bool pipe_was_closed() const { return pipe_closed_; }  // why it failed: the reader of the pipe is gone
  // Frames taken. After a failure: those that are whole in the file, which was cut behind them.
  std::uint64_t frames() const { return frames_; }

 private:
  Writer(int fd, std::string name, WriterOptions options);

  void section_header();
  void interface_description(const Interface& interface);
  void statistics(std::uint32_t interface_id, const InterfaceStatistics& statistics);
  void keep_whole_records(std::size_t written);
  Result<void> write_pcap(const Frame& frame);
  Result<void> write_pcapng(const Frame& frame, std::string_view comment);
  void pcap_header(std::uint16_t link_type);
  void packet_options(const Frame& frame, std::string_view comment);

  void put16(std::uint16_t value);
  void put32(std::uint32_t value);
  void put64(std::uint64_t value);
  void put(std::span<const std::uint8_t> bytes);
  void put_option(std::uint16_t code, std::span<const std::uint8_t> value);
  void put_option(std::uint16_t code, std::string_view text);
  // A block in two steps: its length is known when it is complete.
  std::size_t begin_block(std::uint32_t type);
  void end_block(std::size_t begin);

  int fd_;
  std::string name_;
  WriterOptions options_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t bytes_ = 0, frames_ = 0;
  std::vector<Interface> interfaces_;
  std::vector<std::optional<InterfaceStatistics>> statistics_;
  std::optional<std::uint16_t> pcap_link_type_;  // once its header is written
  std::int64_t last_time_ns_ = 0;
  bool closed_ = false, pipe_closed_ = false;
  std::optional<Error> failed_;
};

}  // namespace rdmascope::capture
