#include "cli/check_input.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <ctime>
#include <thread>

#include "cli/frames.h"
#include "dissect/filter.h"

namespace rdmascope::cli {
namespace {

constexpr std::size_t batch_frames = 512;
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
    auto compiled = dissect::Filter::compile(filter_);
    if (const auto* error = std::get_if<dissect::FilterError>(&compiled))
      return Error{fmt::format("cannot use the display filter (-Y):\n{}", dissect::explain(*error, filter_))};
    plan.options.filter = [filter = std::get<dissect::Filter>(compiled)](const dissect::Packet& packet) {
      return filter.matches(packet);
    };
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

int feed(const CheckPlan& plan, check::Checker& checker) {
  int status = exit_fine;
  FrameTimes times;
  ProgressLine progress(true, true);
  std::uint64_t frame_count = 0;
  std::array<capture::Frame, batch_frames> frames;
  std::vector<check::Frame> batch;
  batch.reserve(batch_frames);
  for (const std::string& path : plan.files) {
    auto opened = capture::open_file(path);
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
      batch.clear();
      for (std::size_t i = 0; i < *count; ++i) {
        const capture::Frame& frame = frames[i];
        check::Frame& to = batch.emplace_back();
        to.bytes = frame.bytes;
        times.fill(to.info, frame, frame.interface_id < interfaces.size() ? &interfaces[frame.interface_id] : nullptr);
        if (!plan.range.holds(to.info)) batch.pop_back();
      }
      if (!batch.empty()) checker.batch(batch);
      frame_count += *count;
      progress.show(frame_count, source);
    }
    note_capture_facts(path, source);
  }
  return status;
}

}  // namespace rdmascope::cli
