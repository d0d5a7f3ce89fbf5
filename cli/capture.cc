// rdmascope capture: live packets to files, to the screen, and under the rules.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "capture/live.h"
#include "capture/places.h"
#include "capture/sniffer.h"
#include "cli/capture_files.h"
#include "cli/capture_intake.h"
#include "cli/check_report.h"
#include "cli/check_rules.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/display_filter.h"
#include "cli/dissect_options.h"
#include "cli/file_format.h"
#include "cli/frames.h"
#include "cli/packet_writer.h"

namespace rdmascope::cli {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::uint32_t default_snap_length = 262144;
constexpr std::int64_t status_every_ns = second_ns / 2, flush_every_ns = second_ns / 5;

// What is told of the course on standard error: a line that people see change, or one JSON object after the other.
enum class StatusForm { automatic, json };
constexpr Choice<StatusForm> status_choices[] = {{"auto", StatusForm::automatic}, {"json", StatusForm::json}};

struct CaptureCommand {
  std::vector<std::string> interfaces, filter_words;
  std::string filter, display_filter, write_file, timestamps, user;
  std::uint32_t snap_length = default_snap_length, buffers = capture::SnifferOptions{}.buffers;
  unsigned buffer_mib = 16;
  bool no_promiscuous = false, print = false, check = false, quiet = false, immediate = false, no_names = false,
       completions = false;
  capture::FileFormat format = capture::FileFormat::pcapng;
  std::vector<std::string> stop, ring, rules, ignored;
  std::uint64_t count = 0;
  WriterOptions writer;
  ColorWhen color = ColorWhen::automatic;
  StatusForm status = StatusForm::automatic;
  DissectOptions dissect;
};

int fail(std::string_view sentence) {
  complain(sentence);
  return exit_error;
}

// "1.2 MB"
std::string size_text(std::uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  if (bytes < 10'000'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

std::string plural(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

// What it may do as root is done: from now on as that user.
Result<void> become(const std::string& user) {
  const passwd* const entry = getpwnam(user.c_str());
  if (!entry) return Error{fmt::format("-Z {}: no such user", user)};
  if (initgroups(user.c_str(), entry->pw_gid) != 0 || setgid(entry->pw_gid) != 0 || setuid(entry->pw_uid) != 0)
    return Error{fmt::format("-Z {}: {}; only root can become another user", user, std::strerror(errno))};
  return {};
}

// Findings as they are made, a line each; all of them in the report at the end.
class LiveFindings final : public check::Listener {
 public:
  LiveFindings(check::Listener& report, Output& output, bool color) : report_(report), output_(output), color_(color) {}

  void finding(const check::Finding& f, const check::Connection* connection) override {
    report_.finding(f, connection);
    if (f.kind == check::Class::artifact) return;
    const std::string_view color = f.kind == check::Class::violation ? "\033[31m" : "\033[33m";
    if (color_) output_.text().put(color);
    output_.text().put(fmt::format("{:%H:%M:%S}.{:03}  {:<9}  {:<12}", fmt::localtime(f.time_ns / second_ns),
                                   f.time_ns / 1'000'000 % 1000, name(f.kind), f.rule->id));
    if (color_) output_.text().put("\033[0m");
    output_.text().put(fmt::format("  frame {}", f.frame));
    if (connection) output_.text().put(fmt::format(", connection {}", connection->id));
    output_.text().put(": ");
    const std::string said = words(f);
    output_.text().printable(said.empty() ? std::string(f.rule->title) : fmt::format("{}: {}", f.rule->title, said));
    output_.text().put('\n');
  }
  void ended(const check::Connection& c) override { report_.ended(c); }

 private:
  check::Listener& report_;
  Output& output_;
  bool color_;
};

struct Counts {
  std::uint64_t captured = 0, bytes = 0, filtered = 0;
  std::uint64_t looked_at = 0, rdma = 0;  // for the share of RDMA
};

class Capture {
 public:
  explicit Capture(const CaptureCommand& command) : command_(command), output_(command.immediate) {}
  int run();

 private:
  Result<void> prepare();
  Result<std::vector<std::unique_ptr<capture::Source>>> open_sources();
  Result<std::unique_ptr<capture::Source>> open_source(const std::string& name, const std::string& filter);
  Result<std::unique_ptr<capture::Source>> open_network_interface(const std::string& name, const std::string& filter);
  CaptureFiles::Facts facts();
  bool take(LiveBatch& batch);
  void say(std::string_view sentence) const {
    if (!command_.quiet) note(sentence);
  }
  void show_status(bool last);
  void tell_status(std::string_view event);
  void tell_of_interfaces();
  std::optional<std::uint64_t> lost() const;
  std::string loss_text() const;
  int finish();

  const CaptureCommand& command_;
  dissect::WalkOptions walk_;
  std::optional<dissect::Filter> display_filter_;
  std::unique_ptr<PacketWriter> writer_;
  Output output_;
  FrameTimes times_;
  dissect::Packet packet_;

  std::vector<std::string> names_;           // of the sources, for people
  std::vector<std::uint32_t> first_number_;  // of each source's interfaces, in the file
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<CaptureFiles> files_;
  std::unique_ptr<Report> report_;
  std::unique_ptr<LiveFindings> findings_;
  std::unique_ptr<check::Checker> checker_;
  std::vector<check::Frame> to_check_;

  Counts counts_;
  std::int64_t start_ns_ = 0, start_clock_ns_ = 0, next_status_ns_ = 0, next_flush_ns_ = 0;
  std::uint64_t status_captured_ = 0;
  std::uint64_t told_files_ = 0;
  std::int64_t status_ns_ = 0;
  bool status_wanted_ = false, status_shown_ = false;
  std::vector<std::uint64_t> received_;  // of each source
  std::vector<bool> down_;               // that was told
  std::optional<std::string> failed_;
};

Result<void> Capture::prepare() {
  const Result<dissect::WalkOptions> walk = command_.dissect.walk_options();
  if (!walk) return Error{walk.error()};
  walk_ = *walk;
  if (!command_.display_filter.empty()) {
    Result<dissect::Filter> compiled = display_filter(command_.display_filter);
    if (!compiled) return Error{compiled.error()};
    display_filter_ = std::move(*compiled);
    if (display_filter_->uses_annotations())
      return Error{"-Y: fields that need the connections to be followed cannot be used while capturing; read the file"};
  }
  if (command_.print || (command_.write_file.empty() && !command_.check)) {
    WriterOptions options = command_.writer;
    options.color = use_color(command_.color);
    options.utf8 = use_utf8();
    auto writer = make_packet_writer(options);
    if (!writer) return Error{writer.error()};
    writer_ = std::move(*writer);
  }
  if (command_.write_file == "-" && (writer_ || command_.check))
    return Error{"-w - takes standard output; leave -P and --check out, or write to a file"};
  if (command_.check) {
    Result<std::vector<const check::Rule*>> rules = choose_rules(command_.rules, command_.ignored);
    if (!rules) return Error{rules.error()};
    ReportOptions options;
    options.color = use_color(command_.color);
    options.filtered = display_filter_.has_value();
    options.rules = *rules;
    report_ = make_report(std::move(options));
    findings_ = std::make_unique<LiveFindings>(*report_, output_, use_color(command_.color));
    check::CheckOptions check;
    check.walk = walk_;
    check.rules = *rules;
    checker_ = std::make_unique<check::Checker>(check, *findings_);
  }
  return {};
}

Result<std::vector<std::unique_ptr<capture::Source>>> Capture::open_sources() {
  std::vector<std::string> names = command_.interfaces;
  if (names.empty()) {
    const Result<std::vector<capture::LiveInterface>> all = capture::live_interfaces();
    if (!all) return Error{all.error()};
    const auto found = std::ranges::find_if(*all, [](const auto& i) { return i.up && i.running && !i.loopback; });
    if (found == all->end()) return Error{"no interface is up; say with -i where to capture, as -i lo"};
    names.push_back(found->name);
  }
  std::string filter = command_.filter;
  for (const std::string& word : command_.filter_words) filter += (filter.empty() ? "" : " ") + word;
  std::vector<std::unique_ptr<capture::Source>> sources;
  for (const std::string& name : names) {
    Result<std::unique_ptr<capture::Source>> source = open_source(name, filter);
    if (!source) return Error{source.error()};
    names_.push_back((*source)->interfaces()[0].name);
    first_number_.push_back(
        first_number_.empty() ? 0
                              : first_number_.back() + static_cast<std::uint32_t>(sources.back()->interfaces().size()));
    sources.push_back(std::move(*source));
  }
  received_.resize(sources.size());
  down_.resize(sources.size());
  return sources;
}

Result<std::unique_ptr<capture::Source>> Capture::open_network_interface(const std::string& name,
                                                                         const std::string& filter) {
  capture::LiveOptions options;
  options.interface = name;
  options.filter = filter;
  options.snap_length = command_.snap_length;
  options.promiscuous = !command_.no_promiscuous;
  options.buffer_bytes = command_.buffer_mib << 20;
  options.timestamps = command_.timestamps;
  options.immediate = command_.immediate;
  Result<std::unique_ptr<capture::LiveSource>> source = capture::open_live(options);
  if (!source) return Error{source.error()};
  for (const std::string& warning : (*source)->warnings()) say(warning);
  return std::unique_ptr<capture::Source>(std::move(*source));
}

// A network interface, or an RDMA device: "mlx5_0", "mlx5_0:1".
Result<std::unique_ptr<capture::Source>> Capture::open_source(const std::string& name, const std::string& filter) {
  const std::vector<capture::RdmaPort> ports = capture::rdma_ports();
  const auto port = std::ranges::find_if(
      ports, [&](const auto& p) { return name == p.device || name == fmt::format("{}:{}", p.device, p.port); });
  if (port == ports.end()) return open_network_interface(name, filter);
  const bool in_software = capture::in_software(*port);
  if (!filter.empty() && !in_software)
    return Error{fmt::format("-f: RDMA device {} takes no capture filter; use a display filter, -Y", name)};
  capture::SnifferOptions options;
  options.device = port->device;
  options.port = port->port;
  options.snap_length = command_.snap_length == default_snap_length ? 0 : command_.snap_length;
  options.buffers = command_.buffers;
  options.completions = command_.completions;
  if (filter.empty()) {
    Result<std::unique_ptr<capture::Source>> sniffer = capture::open_sniffer(options);
    if (sniffer) say(fmt::format("{}: capturing through an RDMA sniffer queue pair", name));
    if (sniffer || !in_software) return sniffer;
  }
  say(fmt::format(
      "{} is a device in software and has no sniffer; capturing on its network interface {}, which shows all but "
      "what two queue pairs of {} send each other",
      name, port->network_device, port->device));
  return open_network_interface(port->network_device, filter);
}

CaptureFiles::Facts Capture::facts() {
  CaptureFiles::Facts out;
  for (std::size_t s = 0; s < intake_->sources(); ++s) {
    const capture::Source& source = intake_->source(s);
    const std::vector<capture::Interface>& interfaces = source.interfaces();
    out.interfaces.insert(out.interfaces.end(), interfaces.begin(), interfaces.end());
    out.statistics.resize(out.interfaces.size());
    capture::InterfaceStatistics& statistics = out.statistics[first_number_[s]];
    statistics.dropped = source.dropped();
    if (statistics.dropped) statistics.received = received_[s] + *statistics.dropped;
    statistics.start_ns = start_clock_ns_;
    statistics.end_ns = real_time_ns();
  }
  return out;
}

std::optional<std::uint64_t> Capture::lost() const {
  std::uint64_t sum = 0;
  for (std::size_t s = 0; s < intake_->sources(); ++s) {
    const std::optional<std::uint64_t> dropped = intake_->source(s).dropped();
    if (!dropped) return std::nullopt;
    sum += *dropped;
  }
  return sum;
}

std::string Capture::loss_text() const {
  const std::optional<std::uint64_t> dropped = lost();
  return dropped ? fmt::format("{} lost", *dropped) : "loss unknown";
}

// False: enough was captured, or what is written cannot be written.
bool Capture::take(LiveBatch& batch) {
  const capture::Source& source = intake_->source(batch.source);
  const std::vector<capture::Interface>& interfaces = source.interfaces();
  const std::int64_t now_ns = real_time_ns();
  // pcapng's epb_dropcount: lost between this packet and the one before.
  std::array<std::uint8_t, 12> lost_option{4, 0, 8, 0};
  to_check_.clear();
  std::uint64_t looked_at = 0;
  bool more = true;
  for (std::size_t i = 0; i < batch.frames.size(); ++i) {
    capture::Frame& frame = batch.frames[i];
    ++received_[batch.source];
    ++counts_.captured;
    counts_.bytes += frame.bytes.size();
    if (i == 0 && batch.lost_before > 0 && frame.options.empty()) {
      for (unsigned b = 0; b < 8; ++b) lost_option[4 + b] = static_cast<std::uint8_t>(batch.lost_before >> 8 * b);
      frame.options = lost_option;
    }
    const capture::Interface* const interface =
        frame.interface_id < interfaces.size() ? &interfaces[frame.interface_id] : nullptr;
    frame.interface_id += first_number_[batch.source];
    const bool walk = display_filter_ || writer_ || (status_wanted_ && looked_at++ < 64);
    times_.fill(packet_.frame, frame, interface);
    if (walk) {
      dissect::walk(packet_, frame.bytes, walk_);
      ++counts_.looked_at;
      if (packet_.find<dissect::Bth>()) ++counts_.rdma;
    }
    if (display_filter_ && !display_filter_->matches(packet_)) {
      ++counts_.filtered;
      continue;
    }
    if (files_) {
      const Result<bool> written = files_->write(frame, now_ns);
      if (!written && !files_->pipe_was_closed()) failed_ = written.error();
      if (!written || !*written) {
        --counts_.captured;
        --received_[batch.source];
        more = false;
        break;
      }
    }
    if (checker_) to_check_.push_back({frame.bytes, packet_.frame});
    if (writer_) {
      writer_->packet(output_.text(), packet_);
      if (!output_.packet_done()) more = false;
    }
    if (command_.count > 0 && counts_.captured - counts_.filtered >= command_.count) more = false;
    if (!more) break;
  }
  if (checker_) checker_->batch(to_check_);
  if (writer_ || checker_) more = output_.flush() && more;
  return more;
}

// For programs; what is not known is left out.
void Capture::tell_status(std::string_view event) {
  const std::int64_t now = monotonic_ns();
  dissect::Text out;
  out.put(fmt::format("{{\"event\":\"{}\",\"seconds\":{:.3f},\"packets\":{},\"bytes\":{},\"filtered\":{}", event,
                      static_cast<double>(now - start_ns_) / 1e9, counts_.captured, counts_.bytes, counts_.filtered));
  if (const std::optional<std::uint64_t> dropped = lost()) out.put(fmt::format(",\"lost\":{}", *dropped));
  if (counts_.looked_at > 0)
    out.put(fmt::format(",\"rdma_share\":{:.4f}",
                        static_cast<double>(counts_.rdma) / static_cast<double>(counts_.looked_at)));
  if (files_) {
    out.put(fmt::format(",\"written\":{},\"files\":{},\"file\":\"", files_->packets(), files_->files()));
    out.json_escaped(files_->last_path());
    out.put('"');
  }
  out.put("}\n");
  fmt::print(stderr, "{}", out.view());
  std::fflush(stderr);
}

void Capture::show_status(bool last) {
  if (!status_wanted_) return;
  const std::int64_t now = monotonic_ns();
  if (command_.status == StatusForm::json) {
    // A new file is told of at once: who shows it must not miss its name.
    const std::uint64_t files = files_ ? files_->files() : 0;
    if (last || (now < next_status_ns_ && files == told_files_)) return;
    told_files_ = files;
    next_status_ns_ = now + status_every_ns;
    tell_status("status");
    return;
  }
  if (last) {
    if (status_shown_) fmt::print(stderr, "\r\033[K");
    return;
  }
  if (now < next_status_ns_) return;
  const double seconds = static_cast<double>(now - (status_ns_ > 0 ? status_ns_ : start_ns_)) / 1e9;
  const double rate = seconds > 0 ? static_cast<double>(counts_.captured - status_captured_) / seconds : 0;
  next_status_ns_ = now + status_every_ns;
  status_captured_ = counts_.captured;
  status_ns_ = now;
  status_shown_ = true;
  const std::string share =
      counts_.looked_at > 0
          ? fmt::format(", {}{:.0f} % RDMA", counts_.looked_at < counts_.captured ? "about " : "",
                        100.0 * static_cast<double>(counts_.rdma) / static_cast<double>(counts_.looked_at))
          : "";
  fmt::print(stderr, "\r\033[K{}, {:.0f}/s{}, {}, {}, {} s  (Ctrl-C ends)", plural(counts_.captured, "packet"), rate,
             share, size_text(counts_.bytes), loss_text(), (now - start_ns_) / second_ns);
  std::fflush(stderr);
}

void Capture::tell_of_interfaces() {
  for (std::size_t s = 0; s < intake_->sources(); ++s) {
    const auto* const live = dynamic_cast<const capture::LiveSource*>(&intake_->source(s));
    if (!live || live->is_down() == down_[s]) continue;
    down_[s] = !down_[s];
    show_status(true);
    say(down_[s] ? fmt::format("{} went down; packets come again when it is up", names_[s])
                  : fmt::format("{} is up again", names_[s]));
  }
}

int Capture::run() {
  if (const Result<void> ready = prepare(); !ready) return fail(ready.error());
  const Result<FileLimits> stop = parse_limits(command_.stop, LimitsOf::stop);
  if (!stop) return fail(stop.error());
  const Result<FileLimits> ring = parse_limits(command_.ring, LimitsOf::ring);
  if (!ring) return fail(ring.error());
  if (command_.write_file.empty() && (ring->next_file() || stop->filesize_kb || stop->files))
    return fail("-b, -a filesize and -a files are about files; name one with -w");
  stop_on_interrupt();
  Result<std::vector<std::unique_ptr<capture::Source>>> sources = open_sources();
  if (!sources) return fail(sources.error());
  if (!command_.user.empty())
    if (const Result<void> changed = become(command_.user); !changed) return fail(changed.error());

  start_ns_ = monotonic_ns();
  start_clock_ns_ = real_time_ns();
  const bool screen_is_free = !writer_ && !checker_;
  status_wanted_ = command_.status == StatusForm::json ||
                   (!command_.quiet && isatty(STDERR_FILENO) && (screen_is_free || !isatty(STDOUT_FILENO)));
  say(fmt::format("capturing on {}", fmt::join(names_, ", ")));
  intake_ = std::make_unique<Intake>(std::move(*sources));
  if (!command_.write_file.empty()) {
    auto files = CaptureFiles::create(command_.write_file, command_.format, *ring, *stop, [this] { return facts(); });
    if (!files) {
      stop_reading();
      return fail(files.error());
    }
    files_ = std::move(*files);
  }
  if (writer_) writer_->begin(output_.text());
  if (command_.status == StatusForm::json) tell_status("started");

  // Without -w nobody else watches these.
  const std::int64_t until_ns = stop->duration_s ? start_ns_ + static_cast<std::int64_t>(*stop->duration_s * 1e9)
                                                 : std::numeric_limits<std::int64_t>::max();
  const std::uint64_t most_packets = files_ ? 0 : stop->packets.value_or(0);
  bool stopping = false;
  for (;;) {
    const std::int64_t now = monotonic_ns();
    if (LiveBatch* const batch = intake_->next(now + status_every_ns)) {
      bool more = take(*batch);
      if (most_packets > 0 && counts_.captured - counts_.filtered >= most_packets) more = false;
      if (!more) break;
    } else if (intake_->at_end()) {
      break;
    }
    if (!stopping && monotonic_ns() >= until_ns) {
      stop_reading();  // what came before is still taken
      stopping = true;
    }
    if (files_ && !stopping) {
      const Result<bool> goes_on = files_->tick(real_time_ns());
      if (!goes_on) failed_ = goes_on.error();
      if (!goes_on) break;
      if (!*goes_on) {
        stop_reading();
        stopping = true;
      }
    }
    if (files_ && monotonic_ns() >= next_flush_ns_) {
      next_flush_ns_ = monotonic_ns() + (command_.write_file == "-" || command_.immediate ? 0 : flush_every_ns);
      if (const Result<void> flushed = files_->flush(); !flushed) {
        if (!files_->pipe_was_closed()) failed_ = flushed.error();
        break;
      }
    }
    tell_of_interfaces();
    show_status(false);
  }
  show_status(true);
  return finish();
}

int Capture::finish() {
  stop_reading();
  int status = exit_fine;
  // The last word on loss comes before the sources go.
  if (files_) {
    const Result<void> closed = files_->close();
    if (!closed && !failed_ && !files_->pipe_was_closed()) failed_ = closed.error();
  }
  if (writer_) {
    writer_->end(output_.text());
    output_.flush();
  }
  if (failed_) status = fail(*failed_);
  for (const std::string& error : intake_->take_errors()) status = fail(error);

  const std::uint64_t dropped_total = lost().value_or(0);
  const std::uint64_t shown = files_ ? files_->packets() : counts_.captured - counts_.filtered;
  const double seconds = static_cast<double>(monotonic_ns() - start_ns_) / 1e9;
  if (command_.status == StatusForm::json) tell_status("ended");
  if (!command_.quiet) {
    std::string sentence =
        fmt::format("{} received in {:.1f} s", plural(counts_.captured + dropped_total, "packet"), seconds);
    if (files_)
      sentence += fmt::format(": {} written to {}{}", shown,
                              files_->files() > 1 ? plural(files_->files(), "file") + ", last " : "",
                              files_->last_path() == "-" ? "standard output" : files_->last_path());
    else
      sentence += fmt::format(": {} {}", shown, checker_ && !writer_ ? "judged" : "shown");
    if (display_filter_) sentence += fmt::format(", {} filtered out", counts_.filtered);
    if (files_ && failed_)
      sentence += fmt::format(", {} not written", counts_.captured - counts_.filtered -
                                                      std::min(shown, counts_.captured - counts_.filtered));
    note(sentence + ", " + loss_text());
    for (std::size_t s = 0; s < intake_->sources(); ++s)
      if (const auto* live = dynamic_cast<const capture::LiveSource*>(&intake_->source(s)))
        if (const std::optional<std::uint64_t> dropped = live->dropped_by_interface(); dropped && *dropped > 0)
          note(fmt::format("{} itself dropped {} of any kind, captured or not", names_[s], plural(*dropped, "packet")));
  }
  if (checker_) {
    report_->capture_ends();
    checker_->finish();
    output_.flush();
    if (!report_->finish(*checker_)) return fail(report_->error());
    if (status == exit_fine && report_->violations() > 0) status = exit_findings;
  }
  if (!output_.error().empty()) return fail(output_.error());
  return status;
}

}  // namespace

void add_capture_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<CaptureCommand>();
  CLI::App* capture = app.add_subcommand("capture", "Capture live packets: to a file, to the screen, under the rules");
  capture
      ->add_option(
          "-i,--interface", options->interfaces,
          "where: a network interface or an RDMA device, as `rdmascope interfaces` shows them; may be repeated")
      ->type_name("IF")
      ->allow_extra_args(false)
      ->take_all();
  capture->add_option("-w,--write-file", options->write_file, "write to this file; - is standard output")
      ->type_name("FILE");
  add_choice(*capture, "-F,--file-format", options->format, file_format_choices, "file format",
             "what -w writes; pcapng if not given");
  capture->add_option("FILTER", options->filter_words, "capture filter, as udp port 4791, in tcpdump's language")
      ->type_name("FILTER");
  capture->add_option("-f,--capture-filter", options->filter, "the same in one word")->type_name("FILTER");
  capture
      ->add_option("-Y,--display-filter", options->display_filter,
                   "keep only packets that match, as 'infiniband.bth.becn == 1'; costs more than -f")
      ->type_name("FILTER");
  capture->add_option("-s,--snapshot-length", options->snap_length, "keep this many bytes of each packet (262144)")
      ->type_name("BYTES")
      ->check(CLI::Range(1U, 262144U).description(""));
  capture->add_option("-c,--count", options->count, "stop after this many packets")->type_name("N");
  capture
      ->add_option("-a,--autostop", options->stop,
                   "stop when: duration:SECONDS, filesize:KB, packets:N, files:N; may be repeated")
      ->type_name("KEY:N")
      ->allow_extra_args(false)
      ->take_all();
  capture
      ->add_option("-b,--ring-buffer", options->ring,
                   "go on to the next file: filesize:KB, duration:SECONDS, interval:SECONDS, packets:N; files:N keeps "
                   "the newest N")
      ->type_name("KEY:N")
      ->allow_extra_args(false)
      ->take_all();
  capture->add_flag("-p,--no-promiscuous-mode", options->no_promiscuous, "only what is for this machine");
  capture->add_option("-B,--buffer-size", options->buffer_mib, "the kernel's buffer (16 MiB)")
      ->type_name("MIB")
      ->check(CLI::Range(1U, 2047U).description(""));
  capture->add_option("--buffers", options->buffers, "RDMA devices: receive buffers of the sniffer (4096)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1U << 20).description(""));
  capture->add_flag("--completions", options->completions,
                    "RDMA devices: also the completion queue entries of the sniffer");
  capture
      ->add_option("-j,--time-stamp-type", options->timestamps,
                   "who takes the time, as adapter_unsynced; `rdmascope interfaces IF` shows what it offers")
      ->type_name("TYPE");
  capture->add_flag("--check", options->check,
                    "judge while capturing: findings as they are made, the verdict at the end");
  capture->add_option("--rule", options->rules, "--check by this rule only; may be repeated")
      ->type_name("ID")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  capture->add_option("--ignore", options->ignored, "--check without this rule; may be repeated")
      ->type_name("ID")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  capture->add_flag("-P,--print", options->print, "show packets, also while writing");
  add_choice(*capture, "-T,--format", options->writer.format, format_choices, "form",
             "of what is shown: text is a line per packet, ndjson an object per line; fields and csv show the columns "
             "chosen with -e");
  capture->add_option("-e,--field", options->writer.fields, "a column for -T fields or csv; give -e once for each")
      ->type_name("FIELD")
      ->allow_extra_args(false)
      ->take_all();
  capture->add_flag("-V,--verbose", options->writer.tree, "show every field of every header");
  capture->add_flag("-x,--hex", options->writer.hex, "add a hex dump");
  add_choice(*capture, "-t,--time", options->writer.time, time_choices, "form", "as for rdmascope read");
  add_choice(*capture, "--color", options->color, color_choices, "setting", "colour the lines; auto: on a terminal");
  capture->add_flag("-l,--immediate", options->immediate,
                    "hand over packets within 1 ms, for pipes; else within 100 ms");
  add_choice(*capture, "--status", options->status, status_choices, "form",
             "the course of it on standard error: a line on a terminal, or an object per half second for programs");
  capture->add_flag("-q,--quiet", options->quiet, "no status line, no notes and no counts; only errors are told");
  capture->add_flag("-n", options->no_names, "no name resolution; there is none, accepted for habit")->group("");
  capture->add_option("-Z,--relinquish-privileges", options->user, "become this user when the interfaces are open")
      ->type_name("USER");
  options->dissect.add_to(*capture);
  capture->callback([options, &run] {
    run = [options] {
      Capture c(*options);
      return c.run();
    };
  });
}

}  // namespace rdmascope::cli
