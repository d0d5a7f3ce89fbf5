// rdmascope fields: every field there is, for filters, -e and scripts.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/choices.h"
#include "cli/command.h"
#include "cli/output.h"
#include "dissect/field_index.h"
#include "dissect/headers.h"

namespace rdmascope::cli {
namespace {

using dissect::Field;
using dissect::Header;
using dissect::Show;
using dissect::Text;

constexpr Choice<bool> forms[] = {{"text", false}, {"json", true}};

struct FieldsOptions {
  std::string prefix;
  bool json = false;
  bool values = false;
};

// The type a filter and a JSON reader see.
std::string_view type_name(const Field& f) {
  switch (f.show) {
    case Show::dec:
      return "number";
    case Show::named:
      return "named";
    case Show::hex:
    case Show::reserved:
      return "hex";
    case Show::flag:
      return "flag";
    case Show::mac:
      return "mac";
    case Show::ipv4:
      return "ipv4";
    case Show::ipv6:
      return "ipv6";
    case Show::bytes:
      return "bytes";
    case Show::text:
      return "text";
    case Show::time:
      return "time";
  }
  return "";
}

void put_json_text(Text& out, std::string_view key, std::string_view value) {
  out.put('"');
  out.put(key);
  out.put("\":\"");
  out.json_escaped(value);
  out.put('"');
}

void put_json(Text& out, const Header& h, const Field& f) {
  out.put('{');
  put_json_text(out, "name", dissect::full_name(h, f));
  out.put(',');
  put_json_text(out, "header", h.name);
  out.put(',');
  put_json_text(out, "title", f.title);
  out.put(',');
  put_json_text(out, "type", type_name(f));
  out.put(",\"bits\":");
  out.dec(f.width);
  if (f.width > 0) {
    out.put(",\"first_bit\":");
    out.dec(f.at);
  }
  if (!f.unit.empty()) {
    out.put(',');
    put_json_text(out, "unit", f.unit);
  }
  if (f.count > 1 && f.kind != Field::Kind::rest) {
    out.put(",\"count\":");
    out.dec(f.count);
  }
  if (const std::string shared = dissect::shared_name(h, f); !shared.empty()) {
    out.put(',');
    put_json_text(out, "also", shared);
  }
  if (f.width > 53 || f.show >= Show::mac || f.show == Show::named)
    out.put(",\"json\":\"string\"");
  else
    out.put(f.show == Show::flag ? std::string_view(",\"json\":\"boolean\"")
                                 : std::string_view(",\"json\":\"number\""));
  if (!f.names.empty()) {
    out.put(",\"values\":{");
    for (std::size_t i = 0; i < f.names.size(); ++i) {
      if (i > 0) out.put(',');
      out.put('"');
      out.dec(f.names[i].value);
      out.put("\":\"");
      out.json_escaped(f.names[i].name);
      out.put('"');
    }
    out.put('}');
  }
  out.put('}');
}

// A name that filters and -e take.
struct Row {
  std::string name;
  std::string_view type;
  unsigned bits;  // 0: of no fixed size
  std::string title;
  const Header* header = nullptr;
  const Field* field = nullptr;  // nullptr: a whole header, or a name for several fields
};

// What one header gives: itself, its fields, and the names that several of them share.
std::vector<Row> rows_of(const Header& h) {
  std::vector<Row> rows;
  if (!h.annotation)
    rows.push_back({std::string(h.name), "bytes", h.bytes * 8u, fmt::format("{}: the whole header", h.title), &h});
  for (const Field& f : h.fields)
    rows.push_back({dissect::full_name(h, f), type_name(f), f.width, std::string(f.title), &h, &f});
  std::vector<Row> shared;
  for (const Field& f : h.fields) {
    const std::string name = dissect::shared_name(h, f);
    if (name.empty()) continue;
    const auto same = std::find_if(shared.begin(), shared.end(), [&name](const Row& row) { return row.name == name; });
    if (same == shared.end())
      shared.push_back({name, type_name(f), f.width, dissect::full_name(h, f), &h});
    else
      same->title += " or " + dissect::full_name(h, f);
  }
  rows.insert(rows.end(), shared.begin(), shared.end());
  return rows;
}

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  bool infiniband = false;
  for (const Header* h : dissect::all_headers()) {
    if (h->name.starts_with("infiniband.") && !std::exchange(infiniband, true))
      rows.push_back({"infiniband", "bytes", 0, "any header of InfiniBand"});
    const std::vector<Row> more = rows_of(*h);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

int run_fields(const FieldsOptions& options) {
  Output output;
  Text& out = output.text();
  bool any = false;
  const std::vector<Row> rows = all_rows();
  std::string prefix = options.prefix;
  if (std::ranges::none_of(rows, [&prefix](const Row& row) { return row.name.starts_with(prefix); }))
    prefix = "infiniband." + prefix;  // bth, mad
  if (options.json) out.put('[');
  for (const Row& row : rows) {
    // In JSON a field tells its header and its shared name itself.
    if (!row.name.starts_with(prefix) || (options.json && !row.field)) continue;
    if (options.json) {
      out.put(any ? std::string_view(",\n") : std::string_view("\n"));
      put_json(out, *row.header, *row.field);
    } else {
      const std::string bits = row.bits > 0 ? fmt::format("{}", row.bits) : "-";
      out.put(fmt::format("{:<40} {:<7} {:>4}  {}\n", row.name, row.type, bits, row.title));
      if (options.values && row.field)
        for (const dissect::ValueName& value : row.field->names)
          out.put(fmt::format("{:>44}  {}\n", value.value, value.name));
    }
    any = true;
    if (!output.packet_done()) return exit_fine;
  }
  if (options.json) out.put(any ? std::string_view("\n]\n") : std::string_view("]\n"));
  output.flush();
  if (any) return exit_fine;
  const std::string near = dissect::nearest_field_name(options.prefix);
  complain(
      fmt::format("no field starts with {}{}", options.prefix, near.empty() ? "" : ", did you mean " + near + "?"));
  return exit_error;
}

}  // namespace

void add_fields_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<FieldsOptions>();
  CLI::App* fields = app.add_subcommand("fields", "List the fields that filters and -e know");
  fields->add_option("PREFIX", options->prefix, "only names that start with this, as infiniband.bth or mad")
      ->type_name("PREFIX");
  fields->add_flag("--values", options->values, "also the names of values, as 17 RC_ACKNOWLEDGE");
  add_choice(*fields, "-T,--format", options->json, forms, "form", "a line per field, or an array of objects");
  fields->callback([options, &run] { run = [options] { return run_fields(*options); }; });
}

}  // namespace rdmascope::cli
