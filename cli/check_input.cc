#include "cli/check_input.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "cli/analysis.h"
#include "cli/display_filter.h"
#include "cli/frames.h"
#include "dissect/filter.h"

namespace rdmascope::cli {
namespace {

constexpr std::size_t batch_frames = 1024;
constexpr std::int64_t second = 1'000'000'000;

bool is_digits(std::string_view s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos; }

// ".25" to nanoseconds; digits beyond the ninth do not count.
std::optional<std::int64_t> parse_fraction(std::string_view s) {
  if (s.empty()) return 0;
  if (s[0] != '.' || !is_digits(s.substr(1))) return std::nullopt;
  std::string digits(s.substr(1, 9));
  digits.resize(9, '0');
  return std::stoll(digits);
}

}  // namespace

Result<TimeRange::Bound> parse_time(const std::string& option, const std::string& text) {
  const auto bad = [&]() -> Error {
    return Error{fmt::format(
        "{} {}: give it in seconds since the first frame, as 12.5, or in UTC, as 2026-11-29T22:33:01.5", option, text)};
  };
  TimeRange::Bound bound;
  const std::size_t point = text.find('.');
  const std::string whole = text.substr(0, point);
  std::string behind = point == std::string::npos ? "" : text.substr(point);
  if (is_digits(whole) && whole.size() <= 9) {
    const auto fraction = parse_fraction(behind);
    if (!fraction) return bad();
    bound.ns = std::stoll(whole) * second + *fraction;
    return bound;
  }
  std::string clock = whole;
  std::string& tail = behind.empty() ? clock : behind;
  if (tail.ends_with('Z')) tail.pop_back();
  const auto fraction = parse_fraction(behind);
  if (!fraction) return bad();
  bound.absolute = true;
  for (const char* form : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    std::tm t{};
    const char* end = strptime(clock.c_str(), form, &t);
    if (!end || *end || (*fraction != 0 && std::string_view(form).find("%S") == std::string_view::npos)) continue;
    bound.ns = static_cast<std::int64_t>(timegm(&t)) * second + *fraction;
    return bound;
  }
  return bad();
}

void CheckInput::add_to(CLI::App& command) {
  command
      .add_option(
          "FILE,-r,--read-file", files_,
          "capture file: pcap, pcapng or ERF, plain or packed with gzip or zstd; - is standard input. Several are "
          "taken as one capture")
      ->required()
      ->type_name("FILE");
  command
      .add_option("-Y,--display-filter", filter_,
                  "judge only packets that match; what is left out counts as missing from the capture")
      ->type_name("FILTER");
  command
      .add_option("--from", from_,
                  "judge only frames from this time on: seconds since the first frame, as 12.5, or "
                  "UTC, as 2026-11-29T22:33:01.5")
      ->type_name("TIME");
  command.add_option("--to", to_, "judge only frames up to this time")->type_name("TIME");
  command
      .add_option("--pair", pairs_,
                  "these two ends are one connection, as 10.0.0.1,0x11=10.0.0.2,0x22; may be repeated")
      ->type_name("ADDRESS,QP=ADDRESS,QP")
      ->delimiter('\0')
      ->take_all();
  command
      .add_option("--workers", workers_, "threads; the number of cores if not given. The result does not depend on it")
      ->type_name("N")
      ->check(CLI::Range(1, 256).description(""));
  dissect_.add_to(command);
}

Result<CheckPlan> CheckInput::plan() const {
  CheckPlan plan;
  plan.files = files_;
  const Result<dissect::WalkOptions> walk = dissect_.walk_options();
  if (!walk) return Error{walk.error()};
  plan.options.walk = *walk;
  plan.options.workers = workers_ > 0 ? workers_ : std::max(1u, std::thread::hardware_concurrency());
  for (const std::string& text : pairs_) {
    Result<check::UserPair> pair = check::parse_pair(text);
    if (!pair) return Error{pair.error()};
    plan.options.pairs.push_back(*pair);
  }
  if (!filter_.empty()) {
    const Result<dissect::Filter> compiled = display_filter(filter_);
    if (!compiled) return Error{compiled.error()};
    plan.options.filter = [filter = *compiled](dissect::Packet& packet) {
      return filter.matches(packet);
    };
    if (compiled->uses_annotations()) {
      // What the whole capture says of a packet decides whether it is judged.
      if (const std::optional<std::string> once = first_unrepeatable(files_))
        return Error{fmt::format(
            "cannot use the display filter (-Y): it asks for what only a first reading tells, and {} can be read only "
            "once; give a file",
            *once)};
      check::CheckOptions first = plan.options;
      first.filter = nullptr;
      plan.options.filter = [filter = plan.options.filter,
                             known = read_ahead(files_, std::move(first))](dissect::Packet& packet) {
        const dissect::Annotations annotations = known->of(packet.frame.number);
        dissect::annotate(packet, annotations);
        const bool matches = filter(packet);
        packet.drop_annotations();
        return matches;
      };
    }
  }
  for (const auto& [option, text, bound] :
       {std::tuple{"--from", &from_, &plan.range.from}, std::tuple{"--to", &to_, &plan.range.to}}) {
    if (text->empty()) continue;
    const Result<TimeRange::Bound> parsed = parse_time(option, *text);
    if (!parsed) return Error{parsed.error()};
    *bound = *parsed;
  }
  return plan;
}

namespace {

// The frames of all files, a batch at a time. Goes on behind a damaged file.
class Feed {
 public:
  Feed(const CheckPlan& plan, Faults faults) : plan_(plan), tell_(faults == Faults::told) {}

  bool next(check::Batch& batch) {
    while (!interrupted) {
      if (!source_ && !open_next()) return false;
      const Result<std::size_t> count = source_->read(frames_);
      if (!count && interrupted) break;  // it ended inside a record
      if (!count && tell_) complain(count.error());
      if (!count) status_ = exit_error;
      if (!count || *count == 0) {
        close();
        continue;
      }
      fill(batch, std::span(frames_).first(*count));
      frame_count_ += *count;
      progress_.show(frame_count_, *source_);
      if (!batch.frames.empty()) return true;
    }
    if (source_) close();
    return false;
  }
  int status() const { return status_; }

 private:
  bool open_next() {
    while (next_file_ < plan_.files.size()) {
      auto opened = capture::open_file(plan_.files[next_file_++]);
      if (interrupted) return false;
      if (opened) {
        source_ = std::move(*opened);
        return true;
      }
      if (tell_) complain(opened.error());
      status_ = exit_error;
    }
    return false;
  }

  void close() {
    if (tell_) note_capture_facts(plan_.files[next_file_ - 1], *source_);
    source_.reset();
  }

  void fill(check::Batch& batch, std::span<const capture::Frame> frames) {
    const std::vector<capture::Interface>& interfaces = source_->interfaces();
    batch.frames.clear();
    for (const capture::Frame& frame : frames) {
      check::Frame& to = batch.frames.emplace_back();
      to.bytes = frame.bytes;
      times_.fill(to.info, frame, frame.interface_id < interfaces.size() ? &interfaces[frame.interface_id] : nullptr);
      if (!plan_.range.holds(to.info)) batch.frames.pop_back();
    }
    if (plan_.options.workers > 1 && !source_->frames_stay()) keep_bytes(batch);
  }

  // The source would use its buffer anew while the batch is still in work.
  void keep_bytes(check::Batch& batch) {
    std::size_t total = 0;
    for (const check::Frame& frame : batch.frames) total += frame.bytes.size() + frame.info.options.size();
    if (source_->give_memory(batch.memory, total)) return;
    batch.memory.grow(total);
    std::uint8_t* to = batch.memory.data();
    for (check::Frame& frame : batch.frames)
      for (std::span<const std::uint8_t>* bytes : {&frame.bytes, &frame.info.options}) {
        const std::uint8_t* const from = std::exchange(*bytes, std::span<const std::uint8_t>(to, bytes->size())).data();
        to = std::copy_n(from, bytes->size(), to);
      }
  }

  const CheckPlan& plan_;
  const bool tell_;
  std::size_t next_file_ = 0;
  std::unique_ptr<capture::Source> source_;
  std::array<capture::Frame, batch_frames> frames_;
  FrameTimes times_;
  ProgressLine progress_{true, true};
  std::uint64_t frame_count_ = 0;
  int status_ = exit_fine;
};

}  // namespace

int feed(const CheckPlan& plan, check::Checker& checker, Faults faults) {
  Feed feed(plan, faults);
  checker.run([&feed](check::Batch& batch) { return feed.next(batch); });
  return feed.status();
}

}  // namespace rdmascope::cli
