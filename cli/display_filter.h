// -Y: a display filter, or where and why it is none.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <variant>

#include "base/result.h"
#include "dissect/filter.h"

namespace rdmascope::cli {

inline Result<dissect::Filter> display_filter(const std::string& text) {
  auto compiled = dissect::Filter::compile(text);
  if (const auto* error = std::get_if<dissect::FilterError>(&compiled))
    return Error{fmt::format("cannot use the display filter (-Y):\n{}", dissect::explain(*error, text))};
  return std::get<dissect::Filter>(std::move(compiled));
}

}  // namespace rdmascope::cli
