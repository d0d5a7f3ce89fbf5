// rdmascope dut: the agent next to a device under test, whose protocol is in replay/AGENT.md; or a model that is a
// device under test by itself, at an address.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cdi_options.h"
#include "cli/command.h"
#include "replay/agent.h"
#include "replay/agent_protocol.h"
#include "replay/cdi_wire.h"
#include "replay/verbs.h"
#include "replay/verbs_dut.h"

namespace rdmascope::cli {
namespace {

struct DutOptions {
  std::string device, listen = fmt::format("127.0.0.1:{}", replay::agent::default_port), token_file;
  std::string model, to;  // of the CDI probe, and where a transmitter sends
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

// A model of the CDI probe on a UDP socket: "cdi-rx", "cdi-tx,scale=0.1".
Result<void> serve_model(const DutOptions& options) {
  const std::vector<std::string> words = words_of(options.model);
  replay::CdiModelOptions model;
  model.transmits = words.front() == "cdi-tx";
  if (!model.transmits && words.front() != "cdi-rx")
    return Error{fmt::format("--model {}: there are cdi-rx and cdi-tx", options.model)};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const Result<bool> read = read_cdi_word(words[i], model);
    if (!read) return Error{fmt::format("--model {}: {}", options.model, read.error())};
    if (!*read) return Error{fmt::format("--model {}: no word {}; there are {}", options.model, words[i], cdi_words)};
  }
  const Result<replay::UdpPlace> own = replay::parse_udp_place(options.listen, "--listen " + options.listen);
  if (!own) return Error{own.error()};
  model.own = *own;
  if (model.transmits) {
    if (options.to.empty()) return Error{"--model cdi-tx: say with --to ADDRESS:PORT where its receiver listens"};
    const Result<replay::UdpPlace> remote = replay::parse_udp_place(options.to, "--to " + options.to);
    if (!remote) return Error{remote.error()};
    model.remote = *remote;
  }
  Result<std::unique_ptr<replay::CdiServer>> server = replay::CdiServer::open(model);
  if (!server) return Error{server.error()};
  if (const Result<void> caught = catch_signals(); !caught) return caught;
  note(fmt::format("{} at {}", words.front(), to_text((*server)->place())));
  constexpr std::int64_t slice_ns = 50'000'000;
  const auto stopped = [] {
    pollfd pipe{stop_pipe[0], POLLIN, 0};
    return poll(&pipe, 1, 0) > 0;
  };
  return (*server)->run(stopped, slice_ns);
}

Result<void> serve(const DutOptions& options) {
  if (!options.model.empty()) return serve_model(options);
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
  CLI::App* dut =
      app.add_subcommand("dut", "Serve an RDMA device of this machine, or a model, to a tester, until Ctrl-C");
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
  dut->add_option("--model", options->model,
                  fmt::format("no device but a model of the CDI probe: cdi-rx, which listens at --listen, or cdi-tx, "
                              "which sends to --to; behind it, with commas: {}",
                              cdi_words))
      ->type_name("MODEL");
  dut->add_option("--to", options->to, "--model cdi-tx: where its receiver listens")->type_name("ADDRESS:PORT");
  dut->callback([options, &run] { run = [options] { return run_dut(*options); }; });
}

}  // namespace rdmascope::cli
