// rdmascope test: conformance tests, scripted packets against a device.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "cli/choices.h"
#include "cli/command.h"
#include "cli/frames.h"
#include "cli/known_deviations.h"
#include "cli/recorder.h"
#include "cli/test_bench.h"
#include "cli/test_report.h"
#include "cli/test_select.h"
#include "replay/cdi_mutant.h"
#include "replay/mad_mutant.h"
#include "replay/mutant.h"

namespace rdmascope::cli {
namespace {

struct TestCommand {
  std::vector<std::string> named;
  BenchOptions bench;
  std::string record, filter, known;
  bool list = false, list_mutants = false, steps = false, diagrams = false, destructive = false, sampled = false;
  unsigned repeat = 1;
  std::uint64_t seed = 1;
  double timeout_factor = 1;
  TestForm form = TestForm::text;
  ColorWhen color = ColorWhen::automatic;
};

int fail(std::string_view sentence) {
  complain(sentence);
  return exit_error;
}

int list_scripts(const std::vector<ChosenScript>& scripts) {
  Output output;
  for (const ChosenScript& s : scripts) {
    output.text().printable(fmt::format("{:<20} {}  ({})", s.head.id, s.head.title, s.path));
    output.text().put('\n');
    if (!output.packet_done()) break;
  }
  output.flush();
  return output.error().empty() ? exit_fine : fail(output.error());
}

int list_mutants() {
  Output output;
  for (const std::span<const replay::MutantInfo> list :
       std::initializer_list<std::span<const replay::MutantInfo>>{replay::mutants, replay::mad_mutants, replay::cdi_mutants})
    for (const replay::MutantInfo& m : list)
      output.text().put(fmt::format("{:<30} {:<6} {}\n", m.name, m.breaks, m.what));
  output.flush();
  return output.error().empty() ? exit_fine : fail(output.error());
}

int run_test(const TestCommand& command) {
  if (command.list_mutants) return list_mutants();
  Result<std::vector<ChosenScript>> scripts = choose_scripts(command.named, command.filter);
  if (!scripts) return fail(scripts.error());
  if (command.list) return list_scripts(*scripts);
  Result<BenchMaker> benches = BenchMaker::parse(command.bench);
  if (!benches) return fail(benches.error());
  std::optional<KnownDeviations> known;
  if (!command.known.empty()) {
    Result<KnownDeviations> listed = KnownDeviations::read(command.known);
    if (!listed) return fail(listed.error());
    known = std::move(*listed);
  }
  std::unique_ptr<Recorder> recorder;
  if (!command.record.empty()) {
    Result<std::unique_ptr<Recorder>> created = Recorder::create(command.record);
    if (!created) return fail(created.error());
    recorder = std::move(*created);
  }

  TestReportOptions options;
  options.form = command.form;
  options.color = use_color(command.color);
  options.utf8 = use_utf8();
  options.steps = command.steps;
  options.diagrams = command.diagrams;
  options.dut = command.bench.dut;
  const std::unique_ptr<TestReport> report = make_test_report(std::move(options));
  stop_on_interrupt();
  for (unsigned round = 0; round < command.repeat; ++round)
    for (const ChosenScript& chosen : *scripts) {
      if (interrupted) break;
      Result<Bench*> bench = benches->next(chosen.head.node);
      if (!bench) return fail(bench.error());
      replay::ScriptOptions script_options;
      script_options.tester.timeout_factor = command.timeout_factor;
      script_options.tester.seed = command.seed + round;
      script_options.tester.wrap = command.bench.roce;
      script_options.tester.interrupted = &interrupted;
      script_options.tester.destructive = command.destructive || (*bench)->wire->name() == "memory";  // harms nobody
      script_options.tester.sampled = command.sampled;
      script_options.wants = WantedIds(command.named, command.filter);
      const auto play = [&] {
        ProgressLine progress(true, true);  // the report of a script comes when it has ended
        script_options.tester.progress = [&](std::uint64_t done, std::uint64_t total) {
          progress.show(chosen.head.id, done, total);
        };
        return run_script(chosen.script, *(*bench)->wire, *(*bench)->dut, script_options);
      };
      replay::ScriptRun run = play();
      for (replay::Case& c : run.report.cases) {
        if (known) known->apply(c);
        report->add(c, chosen.path);
      }
      if (recorder)
        if (const Result<void> r = recorder->keep(*(*bench)->wire, run); !r) return fail(r.error());
    }
  if (recorder)
    if (const Result<void> closed = recorder->close(); !closed) return fail(closed.error());
  if (!report->finish()) return fail(report->error());
  if (report->total() == 0) return fail("no test was run");
  if (known && !known->passed().empty())
    note(fmt::format("listed in {}, but passed: {}", command.known, fmt::join(known->passed(), "; ")));
  if (report->count(replay::Verdict::error) > 0) return exit_error;
  return report->count(replay::Verdict::failed) > 0 ? exit_findings : exit_fine;
}

}  // namespace

void add_test_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<TestCommand>();
  CLI::App* test = app.add_subcommand("test", "Test a device: play scripted packets and judge what it answers");
  test->add_option("SCRIPT", options->named,
                   "a script, a folder of scripts, an area of the suite (transport, mad, cdi), an id (C09-060-05-N1) or "
                   "how ids begin (C09-060); none: the suite")
      ->type_name("FILE");
  test->add_option("--dut", options->bench.dut,
                   fmt::format("the device under test: {}; model is a correct one in software", dut_forms))
      ->type_name("DUT");
  test->add_option("--wire", options->bench.wire,
                   fmt::format("how packets reach it: memory (the model), {}", replay::wire_forms))
      ->type_name("WIRE");
  test->add_option("--m-key", options->bench.m_key, "of the ports of a node: --dut node")->type_name("KEY");
  test->add_flag("--destructive", options->destructive,
                 "send requests, too, that may crash a device: of ports it does not have");
  test->add_flag("--sampled", options->sampled,
                 "long loops take a sample, and say so: C14-024-07-02 takes 7 of 2048 blocks");
  add_choice(*test, "--roce", options->bench.roce, roce_choices, "version",
             "what the packets stand in: v2, IP and UDP; v1, a GRH behind Ethernet");
  test->add_option("--token-file", options->bench.token_file, "secret of the agent that drives the device")
      ->type_name("FILE");
  test->add_option("--record", options->record,
                   "write every packet and completion to this capture file, with the step it belongs to")
      ->type_name("FILE");
  test->add_option("--known", options->known,
                   "what the device is known to do differently: tests listed in this file may fail; entries look like "
                   "\"- `C09-060-05`: why\"")
      ->type_name("FILE");
  test->add_flag("--list", options->list, "show the tests that would run");
  test->add_flag("--list-mutants", options->list_mutants, "show the mutants of the model: each breaks one rule");
  test->add_option("--filter", options->filter, "only ids that fit, as C09-060-*")->type_name("GLOB");
  test->add_option("--repeat", options->repeat, "run everything that many times, each with the next seed")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000000U).description(""));
  test->add_option("--seed", options->seed, "for the PSNs that a script leaves open (default 1)")->type_name("N");
  test->add_option("--timeout-factor", options->timeout_factor, "give the device that many times the time to answer")
      ->type_name("X")
      ->check(CLI::Range(0.01, 10000.0).description(""));
  add_choice(*test, "-T,--format", options->form, test_form_choices, "form",
             "text for people, tap and junit for continuous integration, json for programs");
  test->add_flag("--steps", options->steps, "text: show the steps of every test, not only of those that failed");
  test->add_flag("-V,--diagram", options->diagrams, "text: draw what passed between tester and device");
  add_choice(*test, "--color", options->color, color_choices, "setting", "colour the report; auto: on a terminal");
  test->callback([options, &run] { run = [options] { return run_test(*options); }; });
}

}  // namespace rdmascope::cli
