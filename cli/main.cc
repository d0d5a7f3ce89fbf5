// The rdmascope command line: names the commands, parses, runs one.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string_view>

#include "cli/command.h"
#include "cli/help.h"

int main(int argc, char** argv) {
  using namespace rdmascope::cli;
  CLI::App app{"RDMA capture analyzer and conformance tester: native InfiniBand, RoCE v1 and v2, AWS EFA and CDI",
               "rdmascope"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.failure_message(usage_error);
  app.set_help_flag("-h,--help", "show this help");
  app.set_version_flag("--version", "rdmascope " RDMASCOPE_VERSION, "show the version");
  app.require_subcommand(1);

  Run run;
  add_interfaces_command(app, run);
  add_capture_command(app, run);
  add_read_command(app, run);
  add_check_command(app, run);
  add_stats_command(app, run);
  add_rules_command(app, run);
  add_replay_command(app, run);
  add_script_from_command(app, run);
  add_test_command(app, run);
  add_decode_command(app, run);
  add_fields_command(app, run);
  add_dut_command(app, run);
  add_extcap_command(app, run);
  add_completion_command(app, run);
  add_man_command(app, run);
  app.set_help_all_flag("--help-all", "show the help of every command");  // now, or the commands would have it, too

  std::vector<const char*> arguments(argv, argv + argc);
  // Wireshark starts whatever lies in its folder by that name, with options and no command.
  const bool is_extcap = std::string_view(argc > 0 ? argv[0] : "").ends_with("rdmascope-extcap");
  if (is_extcap) arguments.insert(arguments.begin() + 1, "extcap");
  if (arguments.size() < 2) {
    std::cerr << app.help();
    return exit_error;
  }
  // `rdmascope help read` is `rdmascope read --help`.
  if (std::string_view(arguments[1]) == "help") {
    arguments.erase(arguments.begin() + 1);
    arguments.push_back("--help");
  }
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? exit_fine : exit_error;
  }
  signal(SIGPIPE, SIG_IGN);  // a closed pipe shows as a write error and ends quietly
  try {
    return run();
  } catch (const std::exception& e) {
    complain(e.what());
    return exit_error;
  }
}
