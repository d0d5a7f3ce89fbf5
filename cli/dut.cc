// rdmascope dut: the agent next to a device under test. The protocol is in replay/AGENT.md.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "replay/agent.h"
#include "replay/agent_protocol.h"
#include "replay/verbs.h"
#include "replay/verbs_dut.h"

namespace rdmascope::cli {
namespace {

struct DutOptions {
  std::string device, listen = fmt::format("127.0.0.1:{}", replay::agent::default_port), token_file;
  int port = 1;
  std::optional<int> gid_index;
};

// A signal becomes a byte in a pipe, which the agent waits for among its sockets.
int stop_pipe[2] = {-1, -1};

void stop(int) {
  const int before = errno;
  [[maybe_unused]] const ssize_t written = write(stop_pipe[1], "", 1);
  errno = before;
}

Result<void> catch_signals() {
  if (pipe(stop_pipe) != 0) return Error{fmt::format("cannot make a pipe: {}", std::strerror(errno))};
  struct sigaction action {};
  action.sa_handler = stop;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return {};
}

Result<void> serve(const DutOptions& options) {
  if (options.device.empty()) {
    const Result<std::vector<std::string>> names = replay::verbs::device_names();
    if (!names) return Error{names.error()};
    return Error{fmt::format("say which RDMA device with --device NAME (have: {})",
                             names->empty() ? "none" : fmt::format("{}", fmt::join(*names, ", ")))};
  }
  if (options.token_file.empty()) return Error{"say with --token-file FILE which secret testers must know"};
  const Result<std::string> token = replay::agent::read_token(options.token_file);
  if (!token) return Error{token.error()};
  const Result<replay::Endpoint> listen =
      replay::parse_endpoint(options.listen, replay::agent::default_port, "--listen");
  if (!listen) return Error{listen.error()};

  replay::VerbsDutOptions device{.device = options.device, .port = static_cast<std::uint8_t>(options.port)};
  if (options.gid_index) device.gid_index = static_cast<std::uint8_t>(*options.gid_index);
  // A device that cannot be used is told now, not to the first tester.
  if (const auto tried = replay::open_verbs_dut(device); !tried) return Error{tried.error()};

  Result<replay::Agent> agent = replay::Agent::listen(
      {.listen = *listen, .token = *token, .log = [](std::string_view sentence) { note(sentence); }},
      [device](const std::optional<replay::IpAddress>& tester) { return replay::open_verbs_dut(device, tester); });
  if (!agent) return Error{agent.error()};
  if (const Result<void> caught = catch_signals(); !caught) return caught;
  note(fmt::format("{}: waiting for testers at {}", options.device, text(agent->endpoint())));
  agent->run(stop_pipe[0]);
  return {};
}

int run_dut(const DutOptions& options) {
  const Result<void> served = serve(options);
  if (served) return exit_fine;
  complain(served.error());
  return exit_error;
}

}  // namespace

void add_dut_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<DutOptions>();
  CLI::App* dut = app.add_subcommand("dut", "Serve an RDMA device of this machine to a tester, until Ctrl-C");
  dut->add_option("--device", options->device, "the RDMA device under test, as rxe0 or mlx5_0")->type_name("NAME");
  dut->add_option(
         "--listen", options->listen,
         fmt::format("where testers connect; {} if not given. What goes over the network can be read by others "
                     "there, the token, too",
                     options->listen))
      ->type_name("ADDRESS:PORT");
  dut->add_option("--token-file", options->token_file,
                  "file whose first line, 16 characters or more, a tester must know; not readable by everybody")
      ->type_name("FILE");
  dut->add_option("--port", options->port, "port of the device; 1 if not given")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 254).description(""));
  dut->add_option("--gid-index", options->gid_index,
                  "the device's address; if not given, for each channel the first for RoCE v2 of the tester's family")
      ->type_name("NUMBER")
      ->check(CLI::Range(0, 255).description(""));
  dut->callback([options, &run] { run = [options] { return run_dut(*options); }; });
}

}  // namespace rdmascope::cli
