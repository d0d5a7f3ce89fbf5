#include "cli/help.h"

#include <fmt/format.h>

#include <vector>

#include "cli/choices.h"

namespace rdmascope::cli {
namespace {

constexpr std::size_t text_column = 30, last_column = 100;

// Text from text_column on, broken at blanks.
std::string indented(std::string_view text) {
  std::string out;
  std::size_t column = text_column;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > text_column && column + 1 + word.size() > last_column) {
      out += '\n' + std::string(text_column, ' ');
      column = text_column;
    } else if (column > text_column) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string entry(const std::string& name, std::string_view text) {
  std::string out = "  " + name;
  if (out.size() + 1 > text_column)
    out += '\n' + std::string(text_column, ' ');
  else
    out.resize(text_column, ' ');
  return out + indented(text) + '\n';
}

// "-r, --read-file FILE..."
std::string option_entry(const CLI::Option& option) {
  std::string name;
  for (const std::string& s : option.get_snames()) name += (name.empty() ? "-" : ", -") + s;
  for (const std::string& l : option.get_lnames()) name += (name.empty() ? "--" : ", --") + l;
  if (option.get_items_expected_max() > 0) name += ' ' + value_name(option);
  return entry(name, option.get_positional() ? "the same as " + option.get_name(true) : option.get_description());
}

std::string usage(const CLI::App& app, const std::string& name) {
  std::string out = fmt::format("Usage: {} [OPTION]...", name);
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    const std::string value = value_name(*option) + (option->get_expected_max() > 1 ? "..." : "");
    out += option->get_required() ? ' ' + value : " [" + value + ']';
  }
  if (!app.get_subcommands({}).empty()) out += " COMMAND ...";
  return out + '\n';
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* command : app.get_subcommands({})) out.push_back(command->get_name());
  return out;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string out = fmt::format("{}.\n\n{}", app->get_description(), usage(*app, name));
  std::string arguments;
  for (const CLI::Option* option : app->get_options([](const CLI::Option* o) { return o->get_positional(); }))
    arguments += entry(value_name(*option), option->get_description());
  if (!arguments.empty()) out += "\nArguments:\n" + arguments;
  for (const std::string& group : app->get_groups()) {
    std::string options;
    for (const CLI::Option* option : app->get_options([&group](const CLI::Option* o) {
           return !group.empty() && o->get_group() == group && o->nonpositional();
         }))
      options += option_entry(*option);
    if (!options.empty()) out += fmt::format("\n{}:\n{}", group, options);
  }
  const std::vector<const CLI::App*> commands = app->get_subcommands({});
  if (!commands.empty()) {
    out += "\nCommands:\n";
    for (const CLI::App* command : commands) out += entry(command->get_name(), command->get_description());
    out += fmt::format("\n`{} COMMAND --help` tells the options of a command.\n", name);
  }
  out += "\nExit status:";
  const char* separator = " ";
  for (const ExitStatus& e : exit_statuses) {
    out += fmt::format("{}{} {}", separator, e.status, e.meaning);
    separator = "; ";
  }
  out += ".\n";
  if (mode == CLI::AppFormatMode::All)
    for (const CLI::App* command : commands)
      out += "\n\n" + make_help(command, name + ' ' + command->get_name(), CLI::AppFormatMode::Sub);
  return out;
}

std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  return type.empty() ? option.get_name(true) : type;
}

std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  const std::vector<CLI::App*> chosen = app->get_subcommands();
  const CLI::App& command = chosen.empty() ? *app : *chosen.back();
  const std::string name = chosen.empty() ? app->get_name() : app->get_name() + ' ' + command.get_name();
  std::string sentence = error.what();
  const std::vector<std::string> unknown = app->remaining(true);
  if (!unknown.empty() && unknown[0].starts_with('-')) {
    sentence = fmt::format("{}: no such option; `{} --help` lists them", unknown[0], name);
  } else if (!unknown.empty()) {
    sentence = chosen.empty() ? fmt::format("{}: no such command; choose {}", unknown[0], any_of(command_names(*app)))
                              : fmt::format("{}: one argument too many for `{}`", unknown[0], name);
  } else if (dynamic_cast<const CLI::RequiredError*>(&error)) {
    for (const CLI::Option* option : command.get_options())
      if (option->get_required() && option->count() == 0)
        sentence = fmt::format("`{}` needs {}; `{} --help` tells more", name, value_name(*option), name);
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {  // "--count: 1 required N missing"
    if (const std::size_t colon = sentence.find(':'); colon != std::string::npos)
      sentence = sentence.substr(0, colon) + " needs a value";
  } else if (constexpr std::string_view prefix = "Could not convert: "; sentence.starts_with(prefix)) {
    sentence = fmt::format("{} is not a number", sentence.substr(prefix.size()));  // "--count = x"
  }
  return fmt::format("rdmascope: {}\n", sentence);
}

}  // namespace rdmascope::cli
