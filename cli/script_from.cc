// rdmascope script-from: a connection of a capture as a test script.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>

#include "check/checker.h"
#include "cli/check_input.h"
#include "cli/command.h"
#include "cli/frames.h"
#include "cli/output.h"
#include "replay/script_writer.h"

namespace rdmascope::cli {
namespace {

struct ScriptFromOptions {
  CheckInput input;
  std::uint32_t connection = 0;
  std::string dut = "requester";
  std::uint64_t count = 200;
};

// First reading: who is who. Remembers the packets of one connection: the wanted one, or the first with messages.
class Collector final : public check::Listener {
 public:
  explicit Collector(std::uint32_t wanted) : wanted_(wanted) {}

  void packet(const check::PacketFacts& facts) override {
    if (facts.connection == 0 || facts.kind == check::PacketFacts::Kind::other) return;
    by_connection_[facts.connection].push_back(facts);
  }
  void message(const check::Connection& connection, std::uint8_t side, const check::Message& message) override {
    messages_[connection.id].push_back({side, message});
  }
  void ended(const check::Connection& connection) override {
    using dissect::Transport;
    if (connection.transport != Transport::rc && connection.transport != Transport::uc) return;
    if (wanted_ != 0 ? connection.id != wanted_ && connection.other_half_id != wanted_ : chosen.id != 0) return;
    if (messages_[connection.id].empty()) return;
    chosen.id = connection.id;
    chosen.pmtu = connection.pmtu;
    chosen.uc = connection.transport == Transport::uc;
    for (std::uint8_t side = 0; side < 2; ++side) {
      chosen.name[side] = to_text(connection.address[side]);
      if (connection.qpn[side]) chosen.name[side] += fmt::format(" QP 0x{:x}", *connection.qpn[side]);
      address[side] = to_text(connection.address[side]);
    }
    paired = connection.paired != check::PairedBy::nothing || chosen.uc;
    other_half_ = connection.other_half_id;
  }

  replay::Conversation chosen;
  std::string address[2];
  bool paired = false;

  // Packets of the chosen connection, by frame. Those of a half that was paired later count, too; their sides were told
  // while they were apart.
  std::map<std::uint64_t, check::PacketFacts> packets() {
    std::map<std::uint64_t, check::PacketFacts> out;
    for (const check::PacketFacts& facts : by_connection_[chosen.id]) out[facts.frame] = facts;
    if (other_half_ != 0)
      for (check::PacketFacts facts : by_connection_[other_half_]) {
        facts.side ^= 1;
        out[facts.frame] = facts;
      }
    return out;
  }
  std::vector<replay::CapturedMessage> messages() {
    std::vector<replay::CapturedMessage> out = messages_[chosen.id];
    if (other_half_ != 0)
      for (replay::CapturedMessage m : messages_[other_half_]) {
        m.side ^= 1;
        out.push_back(m);
      }
    std::ranges::stable_sort(out, {}, [](const replay::CapturedMessage& m) { return m.message.first_frame; });
    return out;
  }

 private:
  std::uint32_t wanted_, other_half_ = 0;
  std::map<std::uint32_t, std::vector<check::PacketFacts>> by_connection_;
  std::map<std::uint32_t, std::vector<replay::CapturedMessage>> messages_;
};

int run_script_from(const ScriptFromOptions& options) {
  const auto fail = [](const std::string& sentence) {
    complain(sentence);
    return exit_error;
  };
  Result<CheckPlan> plan = options.input.plan();
  if (!plan) return fail(plan.error());
  for (const std::string& file : plan->files)
    if (file == "-") return fail("script-from reads its capture twice; name a file, not standard input");
  plan->options.workers = 1;
  plan->options.messages = plan->options.packets = true;
  Collector collector(options.connection);
  check::Checker checker(plan->options, collector);
  // Damage is told by the second reading; what stands before it can be played.
  const int first_status = feed(*plan, checker, Faults::ignored);
  checker.finish();
  replay::Conversation& talk = collector.chosen;
  if (talk.id == 0 && first_status == exit_error)
    return for_each_packet(plan->files, plan->options.walk, false,
                           [](const dissect::Packet&, const Origin&) { return true; });
  if (talk.id == 0)
    return fail(
        options.connection == 0
            ? fmt::format("{}: no RC or UC connection with messages is in it", plan->files[0])
            : fmt::format("{}: connection {} is no RC or UC connection with messages; see rdmascope stats flows",
                          plan->files[0], options.connection));
  if (!collector.paired)
    return fail(
        fmt::format("{}: of connection {} only one direction is known; pair it with --pair", plan->files[0], talk.id));

  talk.capture = std::filesystem::path(plan->files[0]).filename().string();
  talk.messages = collector.messages();
  const std::map<std::uint64_t, check::PacketFacts> facts = collector.packets();
  const int status =
      for_each_packet(plan->files, plan->options.walk, false, [&](const dissect::Packet& packet, const Origin& origin) {
        const auto known = facts.find(packet.frame.number);
        if (known == facts.end()) return true;
        if (talk.packets.size() == options.count) {
          ++talk.left_out;
          return true;
        }
        using Kind = check::PacketFacts::Kind;
        talk.packets.push_back({packet.frame.number,
                                known->second.side,
                                {packet.bytes.begin(), packet.bytes.end()},
                                origin.frame.link_type,
                                known->second.kind != Kind::request,
                                known->second.retransmission});
        return true;
      });
  const std::uint64_t last = talk.packets.empty() ? 0 : talk.packets.back().frame;
  std::erase_if(talk.messages, [last](const replay::CapturedMessage& m) { return m.message.first_frame > last; });

  // Who is the device?
  std::size_t asked[2] = {0, 0};
  for (const replay::CapturedMessage& m : talk.messages) ++asked[m.side];
  std::uint8_t dut = asked[1] > asked[0] ? 1 : 0;
  if (options.dut == "responder")
    dut ^= 1;
  else if (options.dut == collector.address[1])
    dut = 1;
  else if (options.dut == collector.address[0])
    dut = 0;
  else if (options.dut != "requester")
    return fail(fmt::format("--dut-is {}: must be requester, responder or an address of the connection ({} or {})",
                            options.dut, collector.address[0], collector.address[1]));
  const Result<std::string> script = replay::write_script(talk, dut);
  if (!script) return fail(script.error());
  Output output;
  output.text().put(*script);
  output.flush();
  return output.error().empty() ? status : fail(output.error());
}

}  // namespace

void add_script_from_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ScriptFromOptions>();
  CLI::App* command = app.add_subcommand("script-from", "Write a test script out of a captured connection");
  options->input.add_to(*command);
  command
      ->add_option("--connection", options->connection,
                   "number of the connection, as in stats flows; the first with messages if not given")
      ->type_name("N");
  command->add_option("--dut-is", options->dut, "who the device under test plays: requester, responder or an address")
      ->type_name("WHO");
  command->add_option("--count", options->count, "take at most this many packets; 200 if not given")->type_name("N");
  command->callback([options, &run] { run = [options] { return run_script_from(*options); }; });
}

}  // namespace rdmascope::cli
