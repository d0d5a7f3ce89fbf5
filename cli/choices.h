// Options that take one word of a few. The words are declared once, beside the type they stand for. The option shows
// them as its value ("text|json"), refuses another word with one sentence, and completion offers them.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/choice.h"

namespace rdmascope::cli {

// "text, json or csv"
inline std::string any_of(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

// An option that sets `value`. `choices` must outlive the command; `what` names one of them in the refusal: "form".
template <class T>
CLI::Option* add_choice(CLI::App& command, const std::string& names, T& value,
                        std::span<const Choice<std::type_identity_t<T>>> choices, std::string_view what,
                        const std::string& description) {
  std::vector<std::string> words;
  for (const Choice<T>& choice : choices) words.emplace_back(choice.word);
  const auto set = [&value, choices, what, words, shown = names.substr(names.rfind(',') + 1)](const std::string& word) {
    for (const Choice<T>& choice : choices)
      if (choice.word == word) {
        value = choice.value;
        return;
      }
    throw CLI::ValidationError(fmt::format("{} {}: no such {}; choose {}", shown, word, what, any_of(words)));
  };
  return command.add_option_function<std::string>(names, set, description)
      ->type_name(fmt::format("{}", fmt::join(words, "|")));
}

// The words an option takes; none for other options.
inline std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string words = option.get_type_name();
  return words.find('|') == std::string::npos ? std::vector<std::string>{} : CLI::detail::split(words, '|');
}

}  // namespace rdmascope::cli
