// How packets leave the tool: one line each, as a tree, as JSON, or as chosen fields.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/choice.h"
#include "cli/output.h"
#include "dissect/packet.h"

namespace rdmascope::cli {

enum class Format { text, json, ndjson, fields, csv };
inline constexpr Choice<Format> format_choices[] = {{"text", Format::text},
                                                    {"json", Format::json},
                                                    {"ndjson", Format::ndjson},
                                                    {"fields", Format::fields},
                                                    {"csv", Format::csv}};
// For commands without columns: text, json, ndjson.
inline constexpr std::span<const Choice<Format>> whole_packet_formats = std::span(format_choices).first<3>();

// -t of tcpdump and tshark.
enum class TimeForm { relative, absolute, absolute_date, delta, delta_displayed, epoch, utc, utc_date };
inline constexpr Choice<TimeForm> time_choices[] = {
    {"r", TimeForm::relative}, {"a", TimeForm::absolute},         {"ad", TimeForm::absolute_date},
    {"d", TimeForm::delta},    {"dd", TimeForm::delta_displayed}, {"e", TimeForm::epoch},
    {"u", TimeForm::utc},      {"ud", TimeForm::utc_date}};

struct WriterOptions {
  Format format = Format::text;
  TimeForm time = TimeForm::relative;
  bool tree = false;  // -V
  bool hex = false;   // -x
  bool color = false;
  bool utf8 = false;
  std::vector<std::string> fields;       // -e
  std::vector<std::string> field_style;  // -E key=value
};

class PacketWriter {
 public:
  virtual ~PacketWriter() = default;
  virtual void begin(dissect::Text&) {}
  virtual void packet(dissect::Text& out, const dissect::Packet& packet) = 0;
  virtual void end(dissect::Text&) {}
  // Whether it shows what is known only when the connections were followed (analysis.h).
  virtual bool uses_annotations() const { return false; }
};

// An error names the field or style that is not known.
Result<std::unique_ptr<PacketWriter>> make_packet_writer(const WriterOptions& options);

}  // namespace rdmascope::cli
