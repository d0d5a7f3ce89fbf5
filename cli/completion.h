// Shell completion scripts and the manual page, made from the commands and options as they are declared: nothing is
// written down twice, so nothing can be forgotten here.
#pragma once

#include <string>
#include <string_view>

#include "cli/choices.h"

namespace rdmascope::cli {

enum class Shell { bash, zsh, fish };
inline constexpr Choice<Shell> shell_choices[] = {{"bash", Shell::bash}, {"zsh", Shell::zsh}, {"fish", Shell::fish}};

// A script for that shell's completion. Field names are not in it: it asks `rdmascope fields` when they are needed.
std::string completion_script(CLI::App& app, Shell shell);

// Section 1, in roff (man macros).
std::string man_page(const CLI::App& app);

}  // namespace rdmascope::cli
