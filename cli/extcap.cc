// rdmascope extcap: what Wireshark asks of a program that captures for it. It is called once to list interfaces, once
// for each interface's link type and options, to try a capture filter, and then to capture into a pipe. Wireshark finds
// it as rdmascope-extcap in its folder for such programs. Answers go to standard output, and nothing else does.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "capture/live.h"
#include "capture/places.h"
#include "capture/sniffer.h"
#include "cli/choices.h"
#include "cli/command.h"

namespace rdmascope::cli {
namespace {

// Names of interfaces must not be those that Wireshark captures by itself.
constexpr std::string_view prefix = "rdmascope-";
constexpr int link_ethernet = 1, link_upper_pdu = 252;
constexpr std::uint32_t most_snap_length = 262144;

enum class Through { automatic, sniffer, network_interface };
constexpr Choice<Through> through_choices[] = {
    {"auto", Through::automatic}, {"sniffer", Through::sniffer}, {"netdev", Through::network_interface}};

struct ExtcapCommand {
  bool list = false, link_types = false, config = false, capture = false, cleanup = false;
  std::string version, interface, filter, fifo, ignored;
  bool filter_given = false;
  // Of the capture.
  std::uint32_t buffers = capture::SnifferOptions{}.buffers, snap_length = most_snap_length;
  Through through = Through::automatic;
  bool completions = false;
};

int fail(std::string_view sentence) {
  complain(sentence);
  return exit_findings;  // any status but 0 is a failure; 1 is what Wireshark's own programs give
}

std::string id_of(const capture::RdmaPort& port) { return fmt::format("{}{}:{}", prefix, port.device, port.port); }

// Braces end a value.
std::string plain(std::string text) {
  std::ranges::replace(text, '{', '(');
  std::ranges::replace(text, '}', ')');
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// Wireshark reads Ethernet frames and our records of completions, but refuses files of link type 247.
bool is_readable(const capture::RdmaPort& port) { return port.link_layer != "InfiniBand"; }

std::optional<capture::RdmaPort> rdma_port(const std::string& id) {
  for (const capture::RdmaPort& p : capture::rdma_ports())
    if (id_of(p) == id) return p;
  return std::nullopt;
}

Result<std::string> interface_name(const std::string& id) {
  if (id.starts_with(prefix) && id.size() > prefix.size()) return id.substr(prefix.size());
  return Error{fmt::format("--extcap-interface {}: no such interface; --extcap-interfaces lists them", id)};
}

int list_interfaces() {
  fmt::print(
      "extcap {{version={}}}{{help=https://www.wireshark.org/docs/man-pages/extcap.html}}{{display=rdmascope}}\n",
      RDMASCOPE_VERSION);
  for (const capture::RdmaPort& p : capture::rdma_ports())
    if (is_readable(p))
      fmt::print("interface {{value={}}}{{display={}}}\n", id_of(p),
                 plain(fmt::format("RDMA device {} port {} ({})", p.device, p.port,
                                   p.driver.empty() ? "in software" : p.driver)));
  const Result<std::vector<capture::LiveInterface>> all = capture::live_interfaces();
  if (!all) return fail(all.error());
  for (const capture::LiveInterface& i : *all)
    if (i.has_packets) fmt::print("interface {{value={}{}}}{{display=rdmascope: {}}}\n", prefix, i.name, plain(i.name));
  return exit_fine;
}

int list_link_types(const ExtcapCommand& command) {
  const Result<std::string> name = interface_name(command.interface);
  if (!name) return fail(name.error());
  fmt::print("dlt {{number={}}}{{name=EN10MB}}{{display=Ethernet}}\n", link_ethernet);
  if (rdma_port(command.interface))
    fmt::print("dlt {{number={}}}{{name=WIRESHARK_UPPER_PDU}}{{display=Completion queue entries}}\n", link_upper_pdu);
  return exit_fine;
}

// Numbers count from 0, and values of a selector name their argument by number.
int list_options(const ExtcapCommand& command) {
  const Result<std::string> name = interface_name(command.interface);
  if (!name) return fail(name.error());
  int number = 0;
  fmt::print(
      "arg {{number={}}}{{call=--snap-length}}{{display=Bytes kept of each "
      "packet}}{{type=unsigned}}{{default={}}}{{range=1,{}}}\n",
      number++, most_snap_length, most_snap_length);
  if (!rdma_port(command.interface)) return exit_fine;
  fmt::print(
      "arg {{number={}}}{{call=--through}}{{display=Capture through}}{{type=selector}}"
      "{{tooltip=The adapter's sniffer sees what passes the kernel by}}\n",
      number);
  fmt::print(
      "value {{arg={0}}}{{value=auto}}{{display=the sniffer if there is one}}{{default=true}}\n"
      "value {{arg={0}}}{{value=sniffer}}{{display=the RDMA sniffer}}\n"
      "value {{arg={0}}}{{value=netdev}}{{display=the network interface}}\n",
      number++);
  fmt::print(
      "arg {{number={}}}{{call=--buffers}}{{display=Receive buffers of the "
      "sniffer}}{{type=unsigned}}{{default={}}}{{range=1,1048576}}\n",
      number++, capture::SnifferOptions{}.buffers);
  fmt::print(
      "arg {{number={}}}{{call=--completions}}{{display=Also the sniffer's completion queue entries}}{{type=boolflag}}"
      "{{default=false}}\n",
      number++);
  return exit_fine;
}

// Wireshark calls with a filter and without --capture while it is typed: whatever is printed is what is wrong with it.
int try_filter(const ExtcapCommand& command) {
  const Result<std::string> name = interface_name(command.interface);
  if (!name) return fail(name.error());
  const std::optional<capture::RdmaPort> port = rdma_port(command.interface);
  if (port && !capture::in_software(*port) && !command.filter.empty() &&
      command.through != Through::network_interface) {
    fmt::print("an RDMA sniffer takes no capture filter\n");
    return exit_fine;
  }
  if (const Result<void> good = capture::check_filter(command.filter); !good) fmt::print("{}\n", good.error());
  return exit_fine;
}

// The capture itself is `rdmascope capture` writing to the pipe: it ends with a whole file, its statistics included,
// when it gets SIGTERM, and quietly when the pipe is closed.
int capture(const ExtcapCommand& command) {
  const Result<std::string> name = interface_name(command.interface);
  if (!name) return fail(name.error());
  if (command.fifo.empty()) return fail("--capture: say with --fifo where the packets go");
  std::string interface = *name;
  if (const std::optional<capture::RdmaPort> port = rdma_port(command.interface)) {
    if (command.through == Through::network_interface) {
      if (port->network_device.empty())
        return fail(fmt::format("{} has no network interface; capture through the sniffer", interface));
      interface = port->network_device;
    } else if (command.through == Through::sniffer && capture::in_software(*port)) {
      return fail(fmt::format("{} is a device in software and has no sniffer; capture through its network interface",
                              interface));
    }
  }
  std::vector<std::string> words{"rdmascope", "capture",
                                 "-q",        "-l",
                                 "-i",        interface,
                                 "-w",        command.fifo,
                                 "-s",        std::to_string(std::clamp(command.snap_length, 1u, most_snap_length)),
                                 "--buffers", std::to_string(command.buffers)};
  if (!command.filter.empty()) words.insert(words.end(), {"-f", command.filter});
  if (command.completions) words.push_back("--completions");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv("/proc/self/exe", arguments.data());
  return fail(fmt::format("cannot start the capture: {}", std::strerror(errno)));
}

int run_extcap(const ExtcapCommand& command) {
  if (command.cleanup) return exit_fine;  // nothing outlives a capture
  if (command.list) return list_interfaces();
  if (command.interface.empty())
    return fail("extcap is called by Wireshark; try --extcap-interfaces, or `rdmascope capture`");
  if (command.link_types) return list_link_types(command);
  if (command.config) return list_options(command);
  if (command.capture) return capture(command);
  if (command.filter_given) return try_filter(command);
  return fail(
      fmt::format("{}: say what to do with it: --extcap-dlts, --extcap-config or --capture", command.interface));
}

}  // namespace

void add_extcap_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ExtcapCommand>();
  CLI::App* extcap = app.add_subcommand("extcap", "Capture for Wireshark, which calls this as rdmascope-extcap");
  extcap->add_flag("--extcap-interfaces", options->list, "list what can be captured");
  extcap->add_option("--extcap-version", options->version, "Wireshark's version")->type_name("VERSION");
  extcap->add_option("--extcap-interface", options->interface, "the interface that the other options are about")
      ->type_name("IF");
  extcap->add_flag("--extcap-dlts", options->link_types, "list its link types");
  extcap->add_flag("--extcap-config", options->config, "list its options");
  CLI::Option* const filter =
      extcap->add_option("--extcap-capture-filter", options->filter, "capture filter; without --capture: is it right?")
          ->type_name("FILTER");
  extcap->add_flag("--capture", options->capture, "capture now");
  extcap->add_option("--fifo", options->fifo, "where the packets go")->type_name("FILE");
  extcap->add_option("--extcap-control-in", options->ignored, "not used")->type_name("FILE")->group("");
  extcap->add_option("--extcap-control-out", options->ignored, "not used")->type_name("FILE")->group("");
  extcap->add_option("--extcap-reload-option", options->ignored, "not used")->type_name("OPTION")->group("");
  extcap->add_flag("--extcap-cleanup-postkill", options->cleanup, "not used")->group("");
  extcap->add_option("--snap-length", options->snap_length, "keep this many bytes of each packet (262144)")
      ->type_name("BYTES")
      ->check(CLI::Range(1U, most_snap_length).description(""));
  add_choice(*extcap, "--through", options->through, through_choices, "way",
             "RDMA devices: through the adapter's sniffer or the network interface; auto: the sniffer if there is one");
  extcap->add_option("--buffers", options->buffers, "RDMA devices: receive buffers of the sniffer (4096)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1U << 20).description(""));
  extcap->add_flag("--completions", options->completions, "RDMA devices: also the sniffer's completion queue entries");
  extcap->callback([options, filter, &run] {
    options->filter_given = filter->count() > 0;
    run = [options] { return run_extcap(*options); };
  });
}

}  // namespace rdmascope::cli
