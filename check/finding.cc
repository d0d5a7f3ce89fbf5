#include "check/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "dissect/field_index.h"
#include "dissect/text.h"

namespace rdmascope::check {

std::string field_value(std::string_view name, std::uint64_t number) {
  const std::vector<dissect::FieldRef> found = dissect::find_fields(name);
  const dissect::Field* field = found.empty() ? nullptr : found.front().field;
  if (!field) return fmt::format("{}", number);
  std::uint8_t bytes[8];
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(number >> (56 - 8 * i));
  dissect::Value value;
  value.number = number;
  if (field->show > dissect::Show::reserved) {
    const std::size_t wanted = field->width / 8u;
    if (field->show != dissect::Show::time && (wanted == 0 || wanted > 8)) return fmt::format("{}", number);
    value.kind = dissect::Value::Kind::bytes;
    value.bytes = std::span(bytes).last(std::min<std::size_t>(wanted, 8));
  }
  dissect::Text text;
  put_value(text, *field, value);
  std::string out(text.view());
  const std::string_view known = dissect::name_of(field->names, number);
  return known.empty() || field->show == dissect::Show::named ? out : fmt::format("{} ({})", out, known);
}

std::string words(const Finding& f) {
  std::string out;
  if (!f.field.empty()) {
    out += f.field;
    if (f.expected && f.actual)
      out += fmt::format(": expected {}, got {}", field_value(f.field, *f.expected), field_value(f.field, *f.actual));
    else if (f.actual)
      out += fmt::format(" is {}", field_value(f.field, *f.actual));
    if (!f.text.empty()) out += fmt::format(" ({})", f.text);
  } else {
    out += f.text.empty() ? std::string(f.rule->title) : f.text;
  }
  return out;
}

}  // namespace rdmascope::check
