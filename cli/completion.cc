// rdmascope completion, rdmascope man.
#include "cli/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "check/rule.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/output.h"
#include "dissect/headers.h"
#include "dissect/walk.h"

namespace rdmascope::cli {
namespace {

// --- What the scripts need to know, taken from the CLI::App ----------------------------------------------------------

enum class Offer { nothing, choices, files, fields, filter };

struct Parameter {
  std::vector<std::string> names;  // "-T", "--format"; empty: only by position
  std::string description;
  std::string value;  // "FORMAT"; empty: takes none
  Offer offer = Offer::nothing;
  std::vector<std::string> choices;
  bool positional = false, repeats = false;
};

struct Command {
  std::string name, description;
  std::vector<Parameter> parameters;
};

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
  return fmt::format("{}", fmt::join(words, between));
}

// What `decode --as` takes: starts, link types and headers, as dissect has them.
std::vector<std::string> kinds() {
  std::vector<std::string> out;
  for (const dissect::Start& start : dissect::all_starts()) out.emplace_back(start.name);
  for (std::uint16_t number = 0; number < 1024; ++number)
    if (const std::string_view name = dissect::link_type_name(number); !name.empty()) out.emplace_back(name);
  for (const dissect::Header* header : dissect::all_headers())
    if (header->bytes > 0) out.emplace_back(header->name);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::string> rule_ids() {
  std::vector<std::string> out;
  for (const check::Rule* rule : check::all_rules()) out.emplace_back(rule->info.id);
  return out;
}

Parameter make_parameter(CLI::Option& option) {
  // What stands behind an option is told by the name of its value.
  constexpr std::pair<std::string_view, Offer> offers[] = {{"FILE", Offer::files},
                                                           {"HEX", Offer::files},
                                                           {"FIELD", Offer::fields},
                                                           {"PREFIX", Offer::fields},
                                                           {"FILTER", Offer::filter}};
  Parameter p;
  for (const std::string& name : option.get_snames()) p.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) p.names.push_back("--" + name);
  p.description = option.get_description();
  p.positional = option.get_positional();
  p.repeats = option.get_expected_max() > 1;
  if (option.get_items_expected_max() == 0) return p;
  p.value = value_name(option);
  for (const auto& [value, offer] : offers)
    if (p.value == value) p.offer = offer;
  p.choices = p.value == "KIND" ? kinds() : p.value == "ID" ? rule_ids() : choices_of(option);
  if (!p.choices.empty()) p.offer = Offer::choices;
  return p;
}

// The tool itself first, then its commands.
std::vector<Command> make_commands(CLI::App& app) {
  std::vector<CLI::App*> apps = app.get_subcommands([](CLI::App* a) { return !a->get_group().empty(); });
  apps.insert(apps.begin(), &app);
  std::vector<Command> out;
  for (CLI::App* a : apps) {
    Command command{a->get_name(), a->get_description(), {}};
    for (CLI::Option* option : a->get_options([](CLI::Option* o) { return !o->get_group().empty(); }))
      command.parameters.push_back(make_parameter(*option));
    out.push_back(std::move(command));
  }
  return out;
}

std::string option_names(const Command& command) {
  std::vector<std::string> out;
  for (const Parameter& p : command.parameters) out.insert(out.end(), p.names.begin(), p.names.end());
  return joined(out);
}

std::string command_names(const std::vector<Command>& commands) {
  std::vector<std::string> out;
  out.reserve(commands.size());
  for (std::size_t i = 1; i < commands.size(); ++i) out.push_back(commands[i].name);
  return joined(out);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// --- bash ------------------------------------------------------------------------------------------------------------

constexpr std::string_view bash_head = R"SCRIPT(# bash completion of rdmascope, made by `rdmascope completion bash`

# Names that start with $1; what stands before them in the word is $2, if anything.
_rdmascope_fields() {
  local name
  while read -r name _; do COMPREPLY+=("${2-}$name"); done < <("${COMP_WORDS[0]/#\~/$HOME}" fields "$1" 2>/dev/null)
}

# The field at the end of an expression, which may stand in quotes that are still open.
_rdmascope_filter() {
  local text=${1#[\'\"]}
  local field=${text##*[!a-zA-Z0-9_.]}
  compopt -o nospace
  [[ -n $text && -z $field ]] || _rdmascope_fields "$field" "${text%"$field"}"
}

_rdmascope() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
  COMPREPLY=()
  # --format=json comes as three words.
  if [[ $cur == = ]]; then cur=''; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word != -* ]]; then command=$word; break; fi
  done
)SCRIPT";

std::string bash_offer(const Parameter& p) {
  switch (p.offer) {
    case Offer::nothing:
      return ":";
    case Offer::choices:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", joined(p.choices));
    case Offer::files:
      return "compopt -o default";
    case Offer::fields:
      return "_rdmascope_fields \"$cur\"";
    case Offer::filter:
      return "_rdmascope_filter \"$cur\"";
  }
  return {};
}

std::string bash_script(const std::vector<Command>& commands) {
  std::string out(bash_head);
  out += "  case \"$command $prev\" in\n";
  for (const Command& command : commands)
    for (const Parameter& p : command.parameters) {
      if (p.value.empty() || p.names.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : p.names) patterns.push_back(fmt::format("'{} {}'", command.name, name));
      out += fmt::format("    {}) {}; return ;;\n", joined(patterns, " | "), bash_offer(p));
    }
  out += "  esac\n  case \"$command $cur\" in\n";
  for (std::size_t i = 0; i < commands.size(); ++i)
    out += fmt::format("    '{} '-*) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", i == 0 ? "" : commands[i].name,
                       option_names(commands[i]));
  out += fmt::format("    ' '*) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", command_names(commands));
  for (const Command& command : commands)
    for (const Parameter& p : command.parameters)  // ;;& goes on to the next argument's offer
      if (p.positional) out += fmt::format("    '{} '*) {} ;;&\n", command.name, bash_offer(p));
  out += "  esac\n}\n\ncomplete -F _rdmascope rdmascope\n";
  return out;
}

// --- zsh -------------------------------------------------------------------------------------------------------------

constexpr std::string_view zsh_head = R"SCRIPT(#compdef rdmascope
# zsh completion of rdmascope, made by `rdmascope completion zsh`

_rdmascope_fields() {
  local -a names
  names=(${${(f)"$(_call_program fields $tool fields ${(q)PREFIX} 2>/dev/null)"}%% *})
  compadd "$@" -a names
}

# The field at the end of an expression.
_rdmascope_filter() {
  compset -P '*[^a-zA-Z0-9_.]'
  _rdmascope_fields -S ''
}

_rdmascope() {
  local curcontext=$curcontext state line tool=$words[1]
)SCRIPT";

std::string zsh_escaped(std::string text) {
  for (const char* special : {"\\", ":", "[", "]"}) text = replaced(text, special, std::string("\\") + special);
  return replaced(text, "'", "'\\''");
}

std::string zsh_offer(const Parameter& p) {
  if (p.value.empty()) return {};
  std::string_view action;
  switch (p.offer) {
    case Offer::nothing:
      action = " ";
      break;
    case Offer::choices:
      return fmt::format(":{}:({})", p.value, joined(p.choices));
    case Offer::files:
      action = "_files";
      break;
    case Offer::fields:
      action = "_rdmascope_fields";
      break;
    case Offer::filter:
      action = "_rdmascope_filter";
      break;
  }
  return fmt::format(":{}:{}", p.value, action);
}

std::string zsh_arguments(const Command& command, std::string_view indent) {
  std::string out;
  for (const Parameter& p : command.parameters) {
    const std::string once = p.repeats ? "*" : fmt::format("({})", joined(p.names));
    for (const std::string& name : p.names) {
      const std::string_view attached = p.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
      out +=
          fmt::format(" \\\n{}'{}{}{}[{}]{}'", indent, once, name, attached, zsh_escaped(p.description), zsh_offer(p));
    }
    if (p.positional) out += fmt::format(" \\\n{}'{}{}'", indent, p.repeats ? "*" : "1", zsh_offer(p));
  }
  return out;
}

std::string zsh_script(const std::vector<Command>& commands) {
  std::string out(zsh_head);
  out += "  _arguments -C" + zsh_arguments(commands[0], "    ") +
         " \\\n    '1:command:->command' \\\n    '*::argument:->argument' && return\n"
         "  case $state in\n    command)\n      local -a commands=(\n";
  for (std::size_t i = 1; i < commands.size(); ++i)
    out += fmt::format("        '{}:{}'\n", commands[i].name, zsh_escaped(commands[i].description));
  out += "      )\n      _describe command commands ;;\n    argument)\n      case $words[1] in\n";
  for (std::size_t i = 1; i < commands.size(); ++i)
    out += fmt::format("        {})\n          _arguments{} ;;\n", commands[i].name,
                       zsh_arguments(commands[i], "            "));
  out += "      esac ;;\n  esac\n}\n\n_rdmascope \"$@\"\n";
  return out;
}

// --- fish ------------------------------------------------------------------------------------------------------------

constexpr std::string_view fish_head = R"SCRIPT(# fish completion of rdmascope, made by `rdmascope completion fish`

# Names that start with $argv[1]; what stands before them in the word is $argv[2].
function __rdmascope_fields
    set -l tool (string replace -r '^~' $HOME -- (commandline -opc)[1])
    $tool fields $argv[1] 2>/dev/null | string replace -r '^(\S+) +(.*)$' "$argv[2]\$1\t\$2"
end

# The field at the end of an expression.
function __rdmascope_filter
    set -l text (string replace -r '^["\']' '' -- (commandline -ct))
    set -l field (string match -r '[a-zA-Z0-9_.]*$' -- "$text")
    __rdmascope_fields "$field" (string replace -r '[a-zA-Z0-9_.]*$' '' -- "$text")
end

complete -c rdmascope -f
)SCRIPT";

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_offer(const Parameter& p) {
  switch (p.offer) {
    case Offer::nothing:
      return {};
    case Offer::choices:
      return " -a " + fish_quoted(joined(p.choices));
    case Offer::files:
      return " -F";
    case Offer::fields:
      return " -a '(__rdmascope_fields (commandline -ct) \"\")'";
    case Offer::filter:
      return " -a '(__rdmascope_filter)'";
  }
  return {};
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string out(fish_head);
  for (std::size_t i = 1; i < commands.size(); ++i)
    out += fmt::format("complete -c rdmascope -n __fish_use_subcommand -a {} -d {}\n", commands[i].name,
                       fish_quoted(commands[i].description));
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string when =
        i == 0 ? "__fish_use_subcommand" : fish_quoted("__fish_seen_subcommand_from " + commands[i].name);
    out += '\n';
    for (const Parameter& p : commands[i].parameters) {
      const std::string line = "complete -c rdmascope -n " + when;
      if (p.positional) out += line + fish_offer(p) + '\n';
      if (p.names.empty()) continue;
      out += line;
      for (const std::string& name : p.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!p.value.empty()) out += (p.offer == Offer::files ? " -r" : " -x") + fish_offer(p);
      out += " -d " + fish_quoted(p.description) + '\n';
    }
  }
  return out;
}

// --- The manual page -------------------------------------------------------------------------------------------------

// Text as roff prints it unchanged.
std::string roff(std::string text) {
  text = replaced(replaced(std::move(text), "\\", "\\e"), "-", "\\-");
  text = replaced(replaced(std::move(text), "'", "\\(aq"), "`", "\\(ga");
  text = replaced(std::move(text), "\n.", "\n\\&.");
  return text.starts_with('.') ? "\\&" + text : text;
}

std::string man_option(const CLI::Option& option) {
  std::string value;
  if (option.get_items_expected_max() > 0) value = fmt::format("\\fI{}\\fR", roff(value_name(option)));
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back(fmt::format("\\fB{}\\fR", roff("-" + name)));
  for (const std::string& name : option.get_lnames()) names.push_back(fmt::format("\\fB{}\\fR", roff("--" + name)));
  std::string line = joined(names, ", ");
  if (!value.empty()) line += (line.empty() ? "" : " ") + value;
  return fmt::format(".TP\n{}\n{}\n", line, roff(option.get_description()));
}

std::string man_synopsis(const CLI::App& command) {
  std::string out = fmt::format("\\fBrdmascope {}\\fR [\\fIOPTION\\fR]...", roff(command.get_name()));
  for (const CLI::Option* option : command.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    const std::string value = fmt::format("\\fI{}\\fR", roff(value_name(*option)));
    out += (option->get_required() ? " " + value : " [" + value + "]") + (option->get_expected_max() > 1 ? "..." : "");
  }
  return out;
}

bool is_help(const CLI::Option* option) {
  const std::vector<std::string>& names = option->get_lnames();
  return !names.empty() && (names[0] == "help" || names[0] == "help-all");
}

struct Example {
  std::string_view what, command;
};

constexpr Example examples[] = {
    {"One line per packet, packed or not:", "rdmascope read capture.pcap.zst"},
    {"Every field of the third packet:", "rdmascope read capture.pcap -V -Y 'frame.number == 3'"},
    {"What went wrong on each connection, and which rule was broken:", "rdmascope check capture.pcap"},
    {"What that rule means and where to look next:", "rdmascope rules Q-06"},
    {"How long messages took, as percentiles:", "rdmascope stats capture.pcap latency"},
    {"Packets that were damaged on the way, by their invariant CRC:",
     "rdmascope read capture.pcap -Y 'infiniband.invariant.crc.status == \"Bad\"'"},
    {"Negative acknowledgements as a table for a spreadsheet:",
     "rdmascope read capture.pcap -T csv -e frame.number -e ip.src -e infiniband.bth.psn "
     "-e infiniband.aeth.syndrome.error_code -Y 'infiniband.aeth.syndrome.opcode == \"NAK\"'"},
    {"One JSON object per packet, to jq:",
     "rdmascope read capture.pcap -T ndjson | jq -c '.\"infiniband.bth\" // empty | [.opcode_name, .psn]'"},
    {"From tcpdump, while it captures:", "tcpdump -i eth0 -U -w - udp port 4791 | rdmascope read -l -"},
    {"Four bytes of a log that are said to be an AETH:", "rdmascope decode --as aeth 2c000003"},
    {"What fields of the base transport header are called:", "rdmascope fields infiniband.bth"},
};

constexpr Example environment[] = {
    {"NO_COLOR, TERM", "With \"--color auto\" there is no colour when NO_COLOR is set or TERM is \"dumb\"."},
    {"LC_ALL, LC_CTYPE, LANG", "Arrows and the like are shown as UTF-8 where the locale says so."},
    {"TZ", "Time zone of \"-t a\" and \"-t ad\"."},
};

}  // namespace

std::string completion_script(CLI::App& app, Shell shell) {
  const std::vector<Command> commands = make_commands(app);
  switch (shell) {
    case Shell::bash:
      return bash_script(commands);
    case Shell::zsh:
      return zsh_script(commands);
    case Shell::fish:
      return fish_script(commands);
  }
  return {};
}

std::string man_page(const CLI::App& app) {
  const auto commands = app.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); });
  const auto visible = [](const CLI::Option* o) { return !o->get_group().empty(); };
  // "What it is: more words" opens a page as "What it is", as whatis(1) shows one line.
  const std::string what = app.get_description();
  std::string out = fmt::format(
      ".\\\" Made by \"rdmascope man\" from the options as they are declared.\n"
      ".TH RDMASCOPE 1 \"\" \"{}\" \"User Commands\"\n"
      ".SH NAME\nrdmascope \\- {}\n.SH SYNOPSIS\n",
      roff(app.version()), roff(what.substr(0, what.find(':'))));
  for (std::size_t i = 0; i < commands.size(); ++i)
    out += fmt::format("{}{}\n", i == 0 ? "" : ".br\n", man_synopsis(*commands[i]));
  out += fmt::format(
      ".SH DESCRIPTION\n{}.\n.PP\n"
      "Data goes to standard output, everything else to standard error.\n"
      "A file named \\fB\\-\\fR is standard input.\n"
      "Options mean what they mean in\n.BR tcpdump (8)\nand\n.BR tshark (1)\nwhere those have them.\n"
      ".SH OPTIONS\n",
      roff(what));
  for (const CLI::Option* option : app.get_options(visible)) out += man_option(*option);
  out += ".SH COMMANDS\n";
  for (const CLI::App* command : commands) {
    out += fmt::format(".SS {}\n{}.\n", roff(command->get_name()), roff(command->get_description()));
    for (const CLI::Option* option : command->get_options(visible))
      if (!is_help(option)) out += man_option(*option);
  }
  out += ".SH EXIT STATUS\n";
  for (const ExitStatus& e : exit_statuses) out += fmt::format(".TP\n{}\n{}\n", e.status, roff(std::string(e.meaning)));
  out += ".SH ENVIRONMENT\n";
  for (const Example& e : environment)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(std::string(e.what)), roff(std::string(e.command)));
  out += ".SH EXAMPLES\n";
  for (const Example& e : examples)
    out += fmt::format(".TP\n{}\n.nf\n{}\n.fi\n", roff(std::string(e.what)), roff(std::string(e.command)));
  out += ".SH SEE ALSO\n.BR tcpdump (8),\n.BR tshark (1),\n.BR pcap\\-filter (7),\n.BR wireshark\\-filter (4)\n";
  return out;
}

void add_completion_command(CLI::App& app, Run& run) {
  auto shell = std::make_shared<Shell>(Shell::bash);
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  add_choice(*completion, "SHELL", *shell, shell_choices, "shell", "the shell that is to complete")->required();
  completion->callback([&app, shell, &run] {
    run = [&app, shell] {
      Output output;
      output.text().put(completion_script(app, *shell));
      output.flush();
      return output.error().empty() ? exit_fine : exit_error;
    };
  });
}

void add_man_command(CLI::App& app, Run& run) {
  CLI::App* man = app.add_subcommand("man", "Print the manual page, for man -l");
  man->callback([&app, &run] {
    run = [&app] {
      Output output;
      output.text().put(man_page(app));
      output.flush();
      return output.error().empty() ? exit_fine : exit_error;
    };
  });
}

}  // namespace rdmascope::cli
