// rdmascope decode: pasted hex to layers.
#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "capture/hex_text.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/dissect_options.h"
#include "cli/packet_writer.h"
#include "dissect/guess.h"
#include "dissect/headers.h"

namespace rdmascope::cli {
namespace {

struct DecodeOptions {
  std::vector<std::string> input;
  std::string as;
  bool summary = false;
  WriterOptions writer;
  ColorWhen color = ColorWhen::automatic;
  DissectOptions dissect;
};

constexpr std::size_t largest_text = 64 * 1024 * 1024;

bool is_regular_file(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

// Arguments are hex, unless the only one names a file or is "-"; none is standard input.
Result<std::string> input_text(const std::vector<std::string>& input) {
  if (input.empty() || (input.size() == 1 && input[0] == "-"))
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  if (input.size() == 1 && is_regular_file(input[0])) {
    struct stat s {};
    if (stat(input[0].c_str(), &s) == 0 && s.st_size > static_cast<off_t>(largest_text))
      return Error{fmt::format("cannot decode {}: larger than {} bytes of text", input[0], largest_text)};
    std::ifstream file(input[0], std::ios::binary);
    if (!file) return Error{fmt::format("cannot read {}: check that you may open it", input[0])};
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  std::string text;
  for (const std::string& argument : input) {
    text += argument;
    text += ' ';
  }
  return text;
}

// Sets what these bytes start with: a link type, a start or any single header. Bytes that only fill a header are that
// header, and nothing is missing behind it.
Result<void> set_start(dissect::WalkOptions& options, dissect::FrameInfo& frame, const std::string& as,
                       std::size_t bytes) {
  if (const int number = dissect::link_type_by_name(as); number >= 0) {
    frame.link_type = static_cast<std::uint16_t>(number);
    return {};
  }
  const dissect::Header* header = dissect::find_header(as);
  const bool is_whole = header && header->bytes > 0 && header->bytes == bytes;
  if (const dissect::Start* start = dissect::find_start(as); start && !is_whole) {
    options.start = start;
    return {};
  }
  if (header && header->bytes > 0) {
    options.only = header;
    return {};
  }
  return Error{
      fmt::format("--as {}: no such link type or header; link types are ETHERNET, RAW, LINUX_SLL, ERF, INFINIBAND, "
                  "..., headers any of `rdmascope fields` without the field, such as {}",
                  as, start_names())};
}

int run_decode(const DecodeOptions& options) {
  const Result<dissect::WalkOptions> walk_options = options.dissect.walk_options();
  const Result<std::string> text = input_text(options.input);
  for (const std::string* error : {walk_options ? nullptr : &walk_options.error(), text ? nullptr : &text.error()})
    if (error) {
      complain(*error);
      return exit_error;
    }
  const auto packets = capture::read_hex_text(*text);
  if (!packets) {
    complain(packets.error());
    return exit_error;
  }
  WriterOptions writer_options = options.writer;
  writer_options.color = use_color(options.color);
  writer_options.utf8 = use_utf8();
  auto writer = make_packet_writer(writer_options);
  if (!writer) {
    complain(writer.error());
    return exit_error;
  }

  Output output;
  dissect::Packet packet;
  (*writer)->begin(output.text());
  for (const capture::HexPacket& hex : *packets) {
    dissect::WalkOptions walk = *walk_options;
    dissect::FrameInfo& frame = packet.frame;
    frame = {};
    frame.number = static_cast<std::uint64_t>(&hex - packets->data()) + 1;
    frame.wire_bytes = static_cast<std::uint32_t>(hex.bytes.size());
    frame.has_time = hex.time_ns.has_value();
    frame.time_ns = hex.time_ns.value_or(0);
    if (!options.as.empty()) {
      if (const Result<void> set = set_start(walk, frame, options.as, hex.bytes.size()); !set) {
        complain(set.error());
        return exit_error;
      }
    } else {
      walk.start = !hex.start_hint.empty()        ? dissect::find_start(hex.start_hint)
                   : hex.without_link_header_hint ? dissect::find_start("ip")
                                                  : dissect::guess_start(hex.bytes);
      if (!walk.start) {
        complain(
            fmt::format("line {}: cannot tell what these {} bytes start with; say --as HEADER, for example --as bth",
                        hex.line, hex.bytes.size()));
        return exit_error;
      }
      note(fmt::format("line {}: {} bytes read as starting with {}; --as overrides", hex.line, hex.bytes.size(),
                       walk.start->name));
    }
    dissect::walk(packet, hex.bytes, walk);
    (*writer)->packet(output.text(), packet);
    if (!output.packet_done()) break;
  }
  (*writer)->end(output.text());
  output.flush();
  if (output.error().empty()) return exit_fine;
  complain(output.error());
  return exit_error;
}

}  // namespace

void add_decode_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<DecodeOptions>();
  CLI::App* decode =
      app.add_subcommand("decode", "Dissect pasted hex: bare digits, tcpdump -x, hex dumps, error CQEs of logs");
  decode->add_option("HEX", options->input, "hex digits, or a file with some; - or nothing is standard input")
      ->type_name("HEX");
  decode
      ->add_option(
          "--as", options->as,
          "what the bytes start with: a link type or a header, as ETHERNET, RAW, bth, aeth or cqe:mlx5; guessed if "
          "not given")
      ->type_name("KIND");
  add_choice(*decode, "-T,--format", options->writer.format, whole_packet_formats, "form",
             "text shows every field, json is an array, ndjson an object per line");
  decode->add_flag("-x,--hex", options->writer.hex, "add a hex dump; with -T json or ndjson: the payload bytes");
  decode->add_flag("-s,--summary", options->summary, "one line per packet instead of every field");
  add_choice(*decode, "--color", options->color, color_choices, "setting", "colour the lines; auto: on a terminal");
  options->dissect.add_to(*decode);
  decode->callback([options, &run] {
    options->writer.tree = options->writer.format == Format::text && !options->summary;
    run = [options] { return run_decode(*options); };
  });
}

}  // namespace rdmascope::cli
