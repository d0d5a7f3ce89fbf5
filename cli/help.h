// Help texts and usage errors, made from the commands and options as they are declared.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "cli/command.h"

namespace rdmascope::cli {

struct ExitStatus {
  int status;
  std::string_view meaning;
};
// What is returned today. Help and the manual page tell it.
inline constexpr ExitStatus exit_statuses[] = {{exit_fine, "fine"},
                                               {exit_findings, "check found a violation, or a test failed"},
                                               {exit_error, "wrong usage, or a file or device gave out"}};

class HelpFormatter final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// "FILTER" of -Y FILTER, "text|json", or what an argument by position is called; empty for a flag.
std::string value_name(const CLI::Option& option);

// What is wrong with the command line, in one sentence.
std::string usage_error(const CLI::App* app, const CLI::Error& error);

}  // namespace rdmascope::cli
