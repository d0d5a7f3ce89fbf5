// A command of the tool: declares its options on a CLI::App and, when chosen, runs and gives the exit status.
#pragma once

#include <functional>
#include <string_view>

namespace CLI {
class App;
}

namespace rdmascope::cli {

// Exit status: what scripts rely on.
inline constexpr int exit_fine = 0, exit_findings = 1, exit_error = 2;

using Run = std::function<int()>;

// Each adds one subcommand to `app`; when the user names it, `run` is set.
void add_interfaces_command(CLI::App& app, Run& run);
void add_capture_command(CLI::App& app, Run& run);
void add_read_command(CLI::App& app, Run& run);
void add_check_command(CLI::App& app, Run& run);
void add_stats_command(CLI::App& app, Run& run);
void add_rules_command(CLI::App& app, Run& run);
void add_replay_command(CLI::App& app, Run& run);
void add_script_from_command(CLI::App& app, Run& run);
void add_test_command(CLI::App& app, Run& run);
void add_decode_command(CLI::App& app, Run& run);
void add_fields_command(CLI::App& app, Run& run);
void add_dut_command(CLI::App& app, Run& run);
void add_extcap_command(CLI::App& app, Run& run);
void add_completion_command(CLI::App& app, Run& run);
void add_man_command(CLI::App& app, Run& run);

// "rdmascope: sentence" on standard error.
void complain(std::string_view sentence);
void note(std::string_view sentence);

}  // namespace rdmascope::cli
