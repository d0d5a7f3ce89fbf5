#include "cli/cdi_options.h"

#include <fmt/format.h>

#include <charconv>

namespace rdmascope::cli {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

Result<double> parse_scale(const std::string& text) {
  double scale = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), scale);
  if (problem == std::errc() && end == text.data() + text.size() && scale >= 0.001 && scale <= 1000) return scale;
  return Error{fmt::format("scale={}: write how many times as long as in the SDK its timers last, as scale=0.1", text)};
}

Result<bool> read_cdi_word(const std::string& word, replay::CdiModelOptions& options) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (key == "scale") {
    const Result<double> scale = parse_scale(value);
    if (!scale) return Error{scale.error()};
    options.scale = *scale;
  } else if (key == "version") {
    const std::optional<replay::CdiVersion> version = replay::parse_cdi_version(value);
    if (!version || (*version != replay::cdi_sdk_2_4_1 && *version != replay::cdi_sdk_head))
      return Error{fmt::format("{}: the model knows {} and {}", word, replay::to_text(replay::cdi_sdk_2_4_1),
                               replay::to_text(replay::cdi_sdk_head))};
    options.version = *version;
  } else if (word == "data=open") {
    options.data_open = true;
  } else if (const auto mutant = replay::mutant_by_name(replay::cdi_mutants, value); mutant && key == "mutant") {
    options.mutant = *mutant;
  } else {
    return false;
  }
  return true;
}

}  // namespace rdmascope::cli
