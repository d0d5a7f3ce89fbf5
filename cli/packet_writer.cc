#include "cli/packet_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <optional>

#include "dissect/field_index.h"
#include "dissect/frame.h"
#include "dissect/json.h"
#include "dissect/summary.h"
#include "dissect/tree.h"

namespace rdmascope::cli {
namespace {

using dissect::Packet;
using dissect::Text;

// --- Time ------------------------------------------------------------------------------------------------------------

class TimeColumn {
 public:
  explicit TimeColumn(TimeForm form) : form_(form) {}

  // At least `width` characters.
  void put(Text& out, const Packet& packet, std::size_t width = 0) {
    const dissect::FrameInfo& frame = packet.frame;
    const std::size_t start = out.size();
    if (!frame.has_time) {
      out.put('-');
      out.align_right(start, width);
      return;
    }
    switch (form_) {
      case TimeForm::relative:
        out.seconds(frame.time_relative_ns, 9, width);
        break;
      case TimeForm::delta:
        out.seconds(frame.time_delta_ns, 9, width);
        break;
      case TimeForm::delta_displayed:
        out.seconds(any_ ? static_cast<std::int64_t>(static_cast<std::uint64_t>(frame.time_ns) -
                                                     static_cast<std::uint64_t>(displayed_ns_))
                         : 0,
                    9, width);
        break;
      case TimeForm::epoch:
        out.seconds(frame.time_ns, 9, width);
        break;
      default:
        put_clock(out, frame.time_ns);
        out.align_right(start, width);
    }
    displayed_ns_ = frame.time_ns;
    any_ = true;
  }

 private:
  void put_clock(Text& out, std::int64_t time_ns) {
    constexpr std::int64_t second = 1'000'000'000;
    std::time_t seconds = time_ns / second;
    std::int64_t fraction = time_ns % second;
    if (fraction < 0) {
      fraction += second;
      --seconds;
    }
    if (seconds != cached_seconds_) {  // calendar arithmetic once a second
      std::tm t{};
      const bool utc = form_ == TimeForm::utc || form_ == TimeForm::utc_date;
      if (utc ? !gmtime_r(&seconds, &t) : !localtime_r(&seconds, &t)) t = {};
      const bool date = form_ == TimeForm::absolute_date || form_ == TimeForm::utc_date;
      char buffer[40];
      clock_.assign(buffer, std::strftime(buffer, sizeof buffer, date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &t));
      cached_seconds_ = seconds;
    }
    out.put(clock_);
    out.put('.');
    out.dec(static_cast<std::uint64_t>(fraction), 9);
  }

  TimeForm form_;
  std::int64_t displayed_ns_ = 0;
  bool any_ = false;
  std::optional<std::time_t> cached_seconds_;
  std::string clock_;
};

// --- Text ------------------------------------------------------------------------------------------------------------

std::string_view color_of(dissect::Tone tone) {
  using dissect::Tone;
  switch (tone) {
    case Tone::bad_crc:
      return "\033[97;41m";
    case Tone::malformed:
      return "\033[31m";
    case Tone::nak:
      return "\033[1;31m";
    case Tone::rnr:
      return "\033[33m";
    case Tone::congestion:
      return "\033[35m";
    case Tone::management:
      return "\033[36m";
    case Tone::acknowledge:
      return "\033[32m";
    case Tone::other:
      return "\033[90m";
    case Tone::plain:
      return {};
  }
  return {};
}

class TextWriter final : public PacketWriter {
 public:
  explicit TextWriter(const WriterOptions& options)
      : options_(options), time_(options.time), arrow_(options.utf8 ? " \u2192 " : " -> ") {}

  bool uses_annotations() const override { return options_.tree; }

  void packet(Text& out, const Packet& packet) override {
    if (options_.tree) {
      scratch_.clear();
      time_.put(scratch_, packet);
      dissect::put_tree(out, packet, scratch_.view());
      if (options_.hex) dissect::put_hex_dump(out, packet.bytes);
      out.put('\n');
      return;
    }
    line(out, packet);
    if (options_.hex) {
      dissect::put_hex_dump(out, packet.bytes);
      out.put('\n');
    }
  }

 private:
  // Columns as wide as stated; a value that is too long pushes the rest.
  void line(Text& out, const Packet& packet) {
    const std::string_view color = options_.color ? color_of(dissect::tone(packet)) : std::string_view{};
    out.put(color);
    out.dec_right(packet.frame.number, 5);
    out.put(' ');
    time_.put(out, packet, 13);
    out.put(' ');
    const dissect::Layer* addresses = dissect::address_layer(packet);
    std::size_t start = out.size();
    dissect::put_source(out, packet, addresses);
    out.align_right(start, 12);
    out.put(arrow_);
    start = out.size();
    dissect::put_destination(out, packet, addresses);
    fill(out, start, 13);
    start = out.size();
    out.put(dissect::protocol(packet));
    fill(out, start, 9);
    out.dec_right(dissect::wire_length(packet), 4);
    out.put(' ');
    dissect::put_info(out, packet);
    if (!color.empty()) out.put("\033[0m");
    out.put('\n');
  }

  // Blanks behind what stands from `start` on, at least one.
  static void fill(Text& out, std::size_t start, std::size_t width) {
    const std::size_t length = out.size() - start;
    out.spaces(length < width ? width - length : 1);
  }

  WriterOptions options_;
  TimeColumn time_;
  std::string_view arrow_;
  Text scratch_;
};

// --- JSON ------------------------------------------------------------------------------------------------------------

class JsonWriter final : public PacketWriter {
 public:
  JsonWriter(bool lines, bool bytes) : lines_(lines), options_{bytes} {}

  void begin(Text& out) override {
    if (!lines_) out.put('[');
  }
  void packet(Text& out, const Packet& packet) override {
    if (!lines_) out.put(any_ ? std::string_view(",\n") : std::string_view("\n"));
    any_ = true;
    dissect::put_json(out, packet, options_);
    if (lines_) out.put('\n');
  }
  void end(Text& out) override {
    if (!lines_) out.put(any_ ? std::string_view("\n]\n") : std::string_view("]\n"));
  }

 private:
  bool lines_, any_ = false;
  dissect::JsonOptions options_;
};

// --- Fields and CSV --------------------------------------------------------------------------------------------------

// A column: a field, or a column of the packet list under tshark's name for it.
struct Column {
  enum class Kind { fields, number, time, source, destination, protocol, length, info };
  Kind kind = Kind::fields;
  std::string name;
  std::vector<dissect::FieldRef> refs;
};

constexpr std::array<std::pair<std::string_view, Column::Kind>, 7> list_columns{{
    {"_ws.col.no.", Column::Kind::number},
    {"_ws.col.time", Column::Kind::time},
    {"_ws.col.source", Column::Kind::source},
    {"_ws.col.destination", Column::Kind::destination},
    {"_ws.col.protocol", Column::Kind::protocol},
    {"_ws.col.length", Column::Kind::length},
    {"_ws.col.info", Column::Kind::info},
}};

std::string lower(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

Result<Column> make_column(const std::string& name) {
  Column column;
  column.name = name;
  for (const auto& [list_name, kind] : list_columns)
    if (lower(name) == list_name) {
      column.kind = kind;
      return column;
    }
  column.refs = dissect::find_fields(name);
  if (!column.refs.empty()) return column;
  const std::string near = dissect::nearest_field_name(name);
  return Error{fmt::format("-e {}: no such field{}; `rdmascope fields` lists them", name,
                           near.empty() ? "" : fmt::format(", did you mean {}?", near))};
}

struct FieldStyle {
  bool header = false;
  char separator = '\t';
  char quote = 0;         // 0: none
  dissect::Occurrence occurrence = dissect::Occurrence::all;
  char aggregator = ',';
};

Result<FieldStyle> make_style(const WriterOptions& options) {
  FieldStyle style;
  if (options.format == Format::csv) style = {true, ',', '"', dissect::Occurrence::all, ';'};
  for (const std::string& setting : options.field_style) {
    const std::size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals),
                      value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    const char c = value == "/t" || value == "\\t" ? '\t' : value == "/s" ? ' ' : value.empty() ? '\0' : value[0];
    if (key == "header" && (value == "y" || value == "n"))
      style.header = value == "y";
    else if (key == "separator" && c)
      style.separator = c;
    else if (key == "aggregator" && c)
      style.aggregator = c;
    else if (key == "quote" && (value == "d" || value == "s" || value == "n"))
      style.quote = value == "d" ? '"' : value == "s" ? '\'' : '\0';
    else if (key == "occurrence" && (value == "f" || value == "l" || value == "a"))
      style.occurrence = static_cast<dissect::Occurrence>(value[0]);
    else
      return Error{fmt::format("-E {}: expected header=y|n, separator=C, aggregator=C, quote=d|s|n or occurrence=f|l|a",
                               setting)};
  }
  return style;
}

class FieldsWriter final : public PacketWriter {
 public:
  FieldsWriter(std::vector<Column> columns, FieldStyle style, TimeForm time)
      : columns_(std::move(columns)), style_(style), time_(time) {}

  bool uses_annotations() const override {
    return std::any_of(columns_.begin(), columns_.end(), [](const Column& column) {
      return std::any_of(column.refs.begin(), column.refs.end(),
                         [](const dissect::FieldRef& ref) { return ref.header->annotation; });
    });
  }

  void begin(Text& out) override {
    if (!style_.header) return;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out.put(style_.separator);
      quoted(out, [&] { out.put(columns_[i].name); });
    }
    out.put('\n');
  }

  void packet(Text& out, const Packet& packet) override {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out.put(style_.separator);
      if (style_.quote)
        quoted(out, [&] { cell(out, columns_[i], packet); });
      else
        cell(out, columns_[i], packet);
    }
    out.put('\n');
  }

 private:
  // Puts quotes around what `put` appends and doubles those inside.
  template <class Put>
  void quoted(Text& out, Put put) {
    if (!style_.quote) {
      put();
      return;
    }
    const std::size_t start = out.size();
    put();
    scratch_.clear();
    scratch_.put(out.view().substr(start));
    out.truncate(start);
    out.put(style_.quote);
    for (char c : scratch_.view()) {
      if (c == style_.quote) out.put(c);
      out.put(c);
    }
    out.put(style_.quote);
  }

  void cell(Text& out, const Column& column, const Packet& packet) {
    switch (column.kind) {
      case Column::Kind::fields:
        dissect::put_values(out, packet, column.refs, style_.occurrence, style_.aggregator);
        break;
      case Column::Kind::number:
        out.dec(packet.frame.number);
        break;
      case Column::Kind::time:
        time_.put(out, packet);
        break;
      case Column::Kind::source:
        dissect::put_source(out, packet, dissect::address_layer(packet));
        break;
      case Column::Kind::destination:
        dissect::put_destination(out, packet, dissect::address_layer(packet));
        break;
      case Column::Kind::protocol:
        out.put(dissect::protocol(packet));
        break;
      case Column::Kind::length:
        out.dec(dissect::wire_length(packet));
        break;
      case Column::Kind::info:
        dissect::put_info(out, packet);
        break;
    }
  }

  std::vector<Column> columns_;
  FieldStyle style_;
  TimeColumn time_;
  Text scratch_;
};

}  // namespace

Result<std::unique_ptr<PacketWriter>> make_packet_writer(const WriterOptions& options) {
  const bool wants_fields = options.format == Format::fields || options.format == Format::csv;
  if (!options.fields.empty() && !wants_fields) return Error{"-e goes with -T fields or -T csv"};
  if (!options.field_style.empty() && !wants_fields) return Error{"-E goes with -T fields or -T csv"};
  if (options.tree && options.format != Format::text) return Error{"-V goes with -T text"};
  switch (options.format) {
    case Format::text:
      return std::unique_ptr<PacketWriter>(new TextWriter(options));
    case Format::json:
      return std::unique_ptr<PacketWriter>(new JsonWriter(false, options.hex));
    case Format::ndjson:
      return std::unique_ptr<PacketWriter>(new JsonWriter(true, options.hex));
    case Format::fields:
    case Format::csv:
      break;
  }
  std::vector<Column> columns;
  for (const std::string& name : options.fields) {
    Result<Column> column = make_column(name);
    if (!column) return Error{column.error()};
    columns.push_back(*std::move(column));
  }
  if (columns.empty()) {
    if (options.format == Format::fields) return Error{"-T fields needs at least one -e FIELD"};
    constexpr std::string_view titles[] = {"No.", "Time", "Source", "Destination", "Protocol", "Length", "Info"};
    for (std::size_t i = 0; i < list_columns.size(); ++i)
      columns.push_back({list_columns[i].second, std::string(titles[i]), {}});
  }
  const Result<FieldStyle> style = make_style(options);
  if (!style) return Error{style.error()};
  return std::unique_ptr<PacketWriter>(new FieldsWriter(std::move(columns), *style, options.time));
}

}  // namespace rdmascope::cli
