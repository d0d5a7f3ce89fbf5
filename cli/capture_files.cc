#include "cli/capture_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <ctime>

#include "base/clock.h"

namespace rdmascope::cli {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::optional<double> number(std::string_view text) {
  double out = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc{} || end != text.data() + text.size() || !(out > 0) || out > 1e15) return std::nullopt;
  return out;
}

}  // namespace

Result<FileLimits> parse_limits(const std::vector<std::string>& words, LimitsOf what) {
  FileLimits out;
  const std::string_view option = what == LimitsOf::stop ? "-a" : "-b";
  for (const std::string& word : words) {
    const std::size_t colon = word.find(':');
    const std::string key = word.substr(0, colon);
    const std::optional<double> value = colon == std::string::npos ? std::nullopt : number(word.substr(colon + 1));
    if (!value) return Error{fmt::format("{} {}: write KEY:NUMBER, as filesize:1000", option, word)};
    const std::uint64_t whole = static_cast<std::uint64_t>(*value);
    if (key != "duration" && key != "interval" && static_cast<double>(whole) != *value)
      return Error{fmt::format("{} {}: only a duration may have a fraction", option, word)};
    if (key == "duration")
      out.duration_s = value;
    else if (key == "filesize")
      out.filesize_kb = whole;
    else if (key == "packets")
      out.packets = whole;
    else if (key == "files")
      out.files = whole;
    else if (key == "interval" && what == LimitsOf::ring)
      out.interval_s = value;
    else
      return Error{fmt::format("{} {}: no such limit; choose duration:SECONDS, filesize:KB, packets:N{} or files:N", option,
                               word, what == LimitsOf::ring ? ", interval:SECONDS" : "")};
  }
  if (what == LimitsOf::ring && out.files && !out.next_file())
    return Error{"-b files:N goes with what ends a file: -b filesize:KB, duration:SECONDS, interval:SECONDS or packets:N"};
  return out;
}

Result<std::unique_ptr<CaptureFiles>> CaptureFiles::create(std::string path, capture::FileFormat format, FileLimits ring,
                                                           FileLimits stop, std::function<Facts()> facts) {
  if (ring.next_file() && path == "-") return Error{"-b needs a file to number; -w - is standard output"};
  std::unique_ptr<CaptureFiles> out(new CaptureFiles);
  out->path_ = std::move(path);
  out->format_ = format;
  out->ring_ = ring;
  out->stop_ = stop;
  out->facts_ = std::move(facts);
  out->start_ns_ = real_time_ns();
  if (const Result<void> begun = out->begin(out->start_ns_); !begun) return Error{begun.error()};
  return out;
}

// As dumpcap's: base_00001_20261130154500.pcapng.
std::string CaptureFiles::name_of(std::uint64_t number, std::int64_t now_ns) const {
  if (!ring_.next_file()) return path_;
  const std::size_t slash = path_.rfind('/'), dot = path_.rfind('.');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
  const std::string base = has_ending ? path_.substr(0, dot) : path_, ending = has_ending ? path_.substr(dot) : "";
  return fmt::format("{}_{:05}_{:%Y%m%d%H%M%S}{}", base, number, fmt::localtime(now_ns / second_ns), ending);
}

Result<void> CaptureFiles::begin(std::int64_t now_ns) {
  current_path_ = name_of(file_number_ + 1, now_ns);
  capture::WriterOptions options;
  options.format = format_;
  auto writer = capture::Writer::create(current_path_, options);
  if (!writer) return Error{writer.error()};
  writer_ = std::move(*writer);
  ++file_number_;
  file_packets_ = 0;
  file_start_ns_ = now_ns;
  kept_.push_back(current_path_);
  // The oldest goes only when the next one is there.
  while (ring_.files && kept_.size() > *ring_.files) {
    ::unlink(kept_.front().c_str());
    kept_.pop_front();
  }
  const Facts facts = facts_();
  described_ = facts.interfaces.size();
  if (file_number_ > 1) before_ = facts.statistics;
  if (const Result<void> described = writer_->describe(facts.interfaces); !described) return described;
  return writer_->flush();  // who reads along finds its header
}

Result<void> CaptureFiles::end() {
  const Facts facts = facts_();
  for (std::size_t i = 0; i < facts.statistics.size(); ++i) {
    capture::InterfaceStatistics statistics = facts.statistics[i];
    // A file tells of its own time.
    if (i < before_.size()) {
      const capture::InterfaceStatistics& before = before_[i];
      if (statistics.received && before.received) *statistics.received -= *before.received;
      if (statistics.dropped && before.dropped) *statistics.dropped -= *before.dropped;
      statistics.start_ns = file_start_ns_;
    }
    writer_->set_statistics(static_cast<std::uint32_t>(i), statistics);
  }
  const Result<void> closed = writer_->close();
  pipe_closed_ = writer_->pipe_was_closed();
  earlier_packets_ += writer_->frames();
  earlier_bytes_ += writer_->bytes();
  writer_.reset();
  return closed;
}

bool CaptureFiles::is_full(std::int64_t now_ns) const {
  const auto seconds = [](double s) { return static_cast<std::int64_t>(s * 1e9); };
  return (ring_.filesize_kb && writer_->bytes() >= *ring_.filesize_kb * 1000) || (ring_.packets && file_packets_ >= *ring_.packets) ||
         (ring_.duration_s && now_ns - file_start_ns_ >= seconds(*ring_.duration_s)) ||
         (ring_.interval_s && now_ns / seconds(*ring_.interval_s) != file_start_ns_ / seconds(*ring_.interval_s));
}

Result<bool> CaptureFiles::tick(std::int64_t now_ns) {
  if (stop_.duration_s && now_ns - start_ns_ >= static_cast<std::int64_t>(*stop_.duration_s * 1e9)) return false;
  if (!is_full(now_ns)) return true;
  if (stop_.files && file_number_ >= *stop_.files) return false;
  if (const Result<void> ended = end(); !ended) return Error{ended.error()};
  if (const Result<void> begun = begin(now_ns); !begun) return Error{begun.error()};
  return true;
}

Result<bool> CaptureFiles::write(const capture::Frame& frame, std::int64_t now_ns) {
  if (stop_.packets && packets() >= *stop_.packets) return false;
  if (stop_.filesize_kb && !ring_.next_file() && bytes() >= *stop_.filesize_kb * 1000) return false;
  if (const Result<bool> goes_on = tick(now_ns); !goes_on || !*goes_on) return goes_on;
  if (frame.interface_id >= described_) {
    const Facts facts = facts_();
    described_ = facts.interfaces.size();
    if (const Result<void> r = writer_->describe(facts.interfaces); !r) return Error{r.error()};
  }
  if (const Result<void> r = writer_->write(frame); !r) return Error{r.error()};
  ++file_packets_;
  return true;
}

Result<void> CaptureFiles::flush() { return writer_ ? writer_->flush() : Result<void>{}; }

Result<void> CaptureFiles::close() { return writer_ ? end() : Result<void>{}; }

}  // namespace rdmascope::cli
