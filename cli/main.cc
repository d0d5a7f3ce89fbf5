// The rdmascope command line: names the commands, parses, runs one.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "cli/command.h"

int main(int argc, char** argv) {
  using namespace rdmascope::cli;
  CLI::App app{"RDMA packet capture and protocol analyzer: InfiniBand, RoCE, AWS EFA/CDI", "rdmascope"};
  app.set_version_flag("--version", "rdmascope " RDMASCOPE_VERSION);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of every command");
  app.footer("Exit status: 0 fine, 1 violations or failed tests, 2 usage, file or device error.");

  Run run;
  add_read_command(app, run);
  add_decode_command(app, run);
  add_fields_command(app, run);
  add_completion_command(app, run);
  add_man_command(app, run);

  try {
    app.parse(argc, argv);
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
