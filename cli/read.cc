// rdmascope read: packets of capture files as lines, trees, JSON or fields.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/analysis.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/display_filter.h"
#include "cli/dissect_options.h"
#include "cli/file_format.h"
#include "cli/frames.h"
#include "cli/packet_writer.h"

namespace rdmascope::cli {
namespace {

struct ReadOptions {
  std::vector<std::string> files;
  std::string filter;
  std::string write_file;
  capture::FileFormat write_format = capture::FileFormat::pcapng;
  WriterOptions writer;
  ColorWhen color = ColorWhen::automatic;
  AnalysisWhen analysis = AnalysisWhen::automatic;
  std::uint64_t count = 0;
  bool line_buffered = false, follow = false;
  bool no_names = true;
  DissectOptions dissect;
};

// Shows packets on standard output.
class Show {
 public:
  Show(std::unique_ptr<PacketWriter> writer, bool line_buffered) : writer_(std::move(writer)), output_(line_buffered) {
    writer_->begin(output_.text());
  }
  bool packet(const dissect::Packet& packet) {
    writer_->packet(output_.text(), packet);
    return output_.packet_done();
  }
  std::string finish() {
    writer_->end(output_.text());
    output_.flush();
    return output_.error();
  }

 private:
  std::unique_ptr<PacketWriter> writer_;
  Output output_;
};

// Writes packets to a capture file (-w).
class Save {
 public:
  explicit Save(std::unique_ptr<capture::Writer> writer) : writer_(std::move(writer)) {}
  // False: the disk is full, the pipe closed.
  bool frame(const Origin& origin) {
    // Several input files: their interfaces follow each other in the output.
    if (origin.file != file_) {
      base_ = described_.size();
      file_ = origin.file;
    }
    const std::vector<capture::Interface>& interfaces = origin.source.interfaces();
    if (base_ + interfaces.size() > described_.size()) {
      described_.insert(described_.end(), interfaces.begin() + static_cast<std::ptrdiff_t>(described_.size() - base_),
                        interfaces.end());
      if (!keep(writer_->describe(described_))) return false;
    }
    capture::Frame copy = origin.frame;
    copy.interface_id += static_cast<std::uint32_t>(base_);
    return keep(writer_->write(copy));
  }
  std::string finish() {
    if (error_.empty()) keep(writer_->close());
    return error_;
  }

 private:
  bool keep(const Result<void>& result) {
    if (!result && !writer_->pipe_was_closed()) error_ = result.error();
    return result.has_value();
  }
  std::unique_ptr<capture::Writer> writer_;
  std::size_t file_ = 0;
  std::vector<capture::Interface> described_;
  std::size_t base_ = 0;
  std::string error_;
};

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a != "-" && b != "-" && std::filesystem::equivalent(a, b, ignored);
}

int run_read(const ReadOptions& options) {
  const auto fail = [](const std::string& sentence) {
    complain(sentence);
    return exit_error;
  };
  const Result<dissect::WalkOptions> walk_options = options.dissect.walk_options();
  if (!walk_options) return fail(walk_options.error());
  WriterOptions writer_options = options.writer;
  writer_options.color = use_color(options.color);
  writer_options.utf8 = use_utf8();
  auto writer = make_packet_writer(writer_options);
  if (!writer) return fail(writer.error());
  const Result<dissect::Filter> compiled = display_filter(options.filter);
  if (!compiled) return fail(compiled.error());
  const dissect::Filter& filter = *compiled;

  // Following the connections costs a second reading, which most readings do without.
  const bool shown = options.write_file.empty() && (*writer)->uses_annotations();
  const bool asked = filter.uses_annotations() || (shown && !options.writer.tree);
  if (options.analysis == AnalysisWhen::never && asked)
    return fail("--analysis never: the filter or a column asks for a field that needs it; leave the option out");
  const bool wanted =
      asked || options.analysis == AnalysisWhen::always || (shown && options.analysis == AnalysisWhen::automatic);

  std::optional<Show> show;
  std::optional<Save> save;
  if (options.write_file.empty()) {
    show.emplace(*std::move(writer), options.line_buffered || options.follow);
  } else {
    for (const std::string& file : options.files)
      if (is_same_file(file, options.write_file))
        return fail(fmt::format("-w {}: is also an input; choose another name", file));
    capture::WriterOptions file_options;
    file_options.format = options.write_format;
    auto file = capture::Writer::create(options.write_file, file_options);
    if (!file) return fail(file.error());
    save.emplace(*std::move(file));
    stop_on_interrupt();  // the file is completed
  }
  if (options.follow) {
    if (wanted && asked)
      return fail("--follow: the filter or a column asks for a field that needs the whole file; leave it out");
    stop_on_interrupt();
  }
  std::optional<Analysis> analysis;
  if (wanted && !options.follow) analysis.emplace(options.files, *walk_options);
  std::uint64_t count = 0;
  const int status = for_each_packet(
      options.files, *walk_options, true,
      [&](dissect::Packet& packet, const Origin& origin) {
        if (analysis) analysis->annotate(packet);
        if (!filter.matches(packet)) return true;
        const bool more = show ? show->packet(packet) : save->frame(origin);
        return more && ++count != options.count;
      },
      [&](std::span<const capture::Frame> frames, const std::vector<capture::Interface>& interfaces) {
        if (analysis) analysis->batch(frames, interfaces);
      },
      options.follow ? capture::Access::followed : capture::Access::buffered);
  const std::string error = show ? show->finish() : save->finish();
  return error.empty() ? status : fail(error);
}

}  // namespace

void add_read_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ReadOptions>();
  CLI::App* read = app.add_subcommand("read", "Show the packets of capture files");
  read->add_option("FILE,-r,--read-file", options->files,
                   "capture file: pcap, pcapng or ERF, plain or packed with gzip or zstd; - is standard input")
      ->required()
      ->type_name("FILE");
  read->add_option("-Y,--display-filter", options->filter,
                   "show only packets that match, as 'infiniband.bth.opcode == 17 and ip.src == 10.0.0.1'")
      ->type_name("FILTER");
  add_choice(*read, "-T,--format", options->writer.format, format_choices, "form",
             "text is a line per packet, json an array, ndjson an object per line; fields and csv show the columns "
             "chosen with -e");
  read->add_option("-e,--field", options->writer.fields, "a column for -T fields or csv; give -e once for each")
      ->type_name("FIELD")
      ->take_all();
  read->add_option("-E", options->writer.field_style,
                   "style of -T fields: header=y|n, separator=C, aggregator=C, quote=d|s|n, occurrence=f|l|a")
      ->type_name("KEY=VALUE")
      ->delimiter('\0')
      ->take_all();
  read->add_option("-w,--write-file", options->write_file,
                   "write the packets to this capture file instead of showing them; - is standard output")
      ->type_name("FILE");
  add_choice(*read, "-F,--file-format", options->write_format, file_format_choices, "file format",
             "what -w writes; pcapng if not given");
  read->add_flag("-V,--verbose", options->writer.tree, "show every field of every header");
  read->add_flag("-x,--hex", options->writer.hex, "add a hex dump; with -T json or ndjson: the payload bytes");
  read->add_option("-c,--count", options->count, "stop after this many packets that match")->type_name("N");
  add_choice(*read, "-t,--time", options->writer.time, time_choices, "form",
             "time as r: since the first packet, a: local time, ad: with the date, d: since the packet before, dd: "
             "since the packet shown before, e: seconds since 1970, u: UTC, ud: with the date");
  add_choice(
      *read, "--analysis", options->analysis, analysis_choices, "setting",
      "follow the connections, for rdmascope.flow, rdmascope.finding, infiniband.response_in and their like; auto: "
      "when -Y, -e or -V asks for it. A file is then read twice");
  add_choice(*read, "--color", options->color, color_choices, "setting", "colour the lines; auto: on a terminal");
  read->add_flag("-l,--line-buffered", options->line_buffered, "write after each packet, for pipes from live captures");
  read->add_flag("--follow", options->follow,
                 "go on when the end of the file is reached, for one that is being written; Ctrl-C ends");
  read->add_flag("-n", options->no_names, "no name resolution; there is none, accepted for habit")->group("");
  options->dissect.add_to(*read);
  read->callback([options, &run] { run = [options] { return run_read(*options); }; });
}

}  // namespace rdmascope::cli
