// The files a live capture goes to: one, or a series that goes on to the next file when one is large, old or full enough.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/writer.h"

namespace rdmascope::cli {

// When to stop, or to go on to the next file. As dumpcap's -a and -b: KEY:VALUE.
struct FileLimits {
  std::optional<double> duration_s;
  std::optional<std::uint64_t> filesize_kb;  // 1000 bytes each
  std::optional<std::uint64_t> packets;
  std::optional<std::uint64_t> files;  // -a: so many; -b: keep the newest so many
  std::optional<double> interval_s;    // -b: at whole multiples of it, by the clock

  bool next_file() const { return duration_s || filesize_kb || packets || interval_s; }
};
enum class LimitsOf { stop, ring };
Result<FileLimits> parse_limits(const std::vector<std::string>& words, LimitsOf what);

class CaptureFiles {
 public:
  // `describe` gives the interfaces, and their statistics so far, when a file is begun or closed.
  struct Facts {
    std::vector<capture::Interface> interfaces;
    std::vector<capture::InterfaceStatistics> statistics;
  };
  static Result<std::unique_ptr<CaptureFiles>> create(std::string path, capture::FileFormat format, FileLimits ring,
                                                      FileLimits stop, std::function<Facts()> facts);

  // False: a limit of -a is reached, the packet was not taken.
  Result<bool> write(const capture::Frame& frame, std::int64_t now_ns);
  // Lets time pass for limits that depend on it. `now_ns`: since 1970.
  Result<bool> tick(std::int64_t now_ns);
  // Hands over what is buffered.
  Result<void> flush();
  Result<void> close();

  std::uint64_t packets() const { return earlier_packets_ + (writer_ ? writer_->frames() : 0); }
  std::uint64_t bytes() const { return earlier_bytes_ + (writer_ ? writer_->bytes() : 0); }
  std::uint64_t files() const { return file_number_; }
  const std::string& last_path() const { return current_path_; }
  bool pipe_was_closed() const { return pipe_closed_ || (writer_ && writer_->pipe_was_closed()); }

 private:
  CaptureFiles() = default;
  Result<void> begin(std::int64_t now_ns);
  Result<void> end();
  bool is_full(std::int64_t now_ns) const;
  std::string name_of(std::uint64_t number, std::int64_t now_ns) const;

  std::string path_, current_path_;
  capture::FileFormat format_ = capture::FileFormat::pcapng;
  FileLimits ring_, stop_;
  std::function<Facts()> facts_;
  std::unique_ptr<capture::Writer> writer_;
  std::size_t described_ = 0;
  std::vector<capture::InterfaceStatistics> before_;  // this file
  std::deque<std::string> kept_;
  std::uint64_t file_number_ = 0, earlier_packets_ = 0, earlier_bytes_ = 0, file_packets_ = 0;
  std::int64_t start_ns_ = 0, file_start_ns_ = 0;
  bool pipe_closed_ = false;
};

}  // namespace rdmascope::cli
