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
  std::vector<std::string> reports;
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

// A list for people, a line each, or for programs an array of objects.
class Listing {
 public:
  explicit Listing(bool as_json) : as_json_(as_json) {}

  using Member = std::pair<std::string_view, std::string_view>;
  bool add(const std::string& line, std::initializer_list<Member> members,
           const std::vector<std::string>* covers = nullptr) {
    dissect::Text& out = output_.text();
    if (!as_json_) {
      out.printable(line);
      out.put('\n');
      return output_.packet_done();
    }
    const char* before = any_ ? ",\n{" : "[\n{";
    const auto text = [&out](std::string_view s) {
      out.put('"');
      out.json_escaped(s);
      out.put('"');
    };
    for (const auto& [key, value] : members) {
      out.put(before);
      text(key);
      out.put(':');
      text(value);
      before = ",";
    }
    if (covers) {
      out.put(",\"covers\":");
      before = "[";
      for (const std::string& id : *covers) out.put(before), text(id), before = ",";
      out.put(covers->empty() ? "[]" : "]");
    }
    out.put('}');
    any_ = true;
    return output_.packet_done();
  }
  int finish() {
    if (as_json_) output_.text().put(any_ ? "\n]\n" : "[]\n");
    output_.flush();
    return output_.error().empty() ? exit_fine : fail(output_.error());
  }

 private:
  Output output_;
  bool as_json_, any_ = false;
};

int list_scripts(const std::vector<ChosenScript>& scripts, bool as_json) {
  Listing list(as_json);
  for (const ChosenScript& s : scripts)
    if (!list.add(
            fmt::format("{:<20} {}  ({})", s.head.id, s.head.title, s.path),
            {{"id", s.head.id}, {"title", s.head.title}, {"script", s.path}, {"file", s.file}, {"node", s.head.node}},
            &s.head.covers))
      break;
  return list.finish();
}

int list_mutants(bool as_json) {
  Listing list(as_json);
  const auto add = [&](std::span<const replay::MutantInfo> mutants, std::string_view of) {
    for (const replay::MutantInfo& m : mutants)
      if (!list.add(fmt::format("{:<30} {:<6} {}", m.name, m.breaks, m.what),
                    {{"name", m.name}, {"breaks", m.breaks}, {"what", m.what}, {"model", of}}))
        return;
  };
  add(replay::mutants, "queue pairs");
  add(replay::mad_mutants, "node");
  add(replay::cdi_mutants, "cdi");
  return list.finish();
}

// The report on standard output and those in files: what one hears all hear.
class Reports {
 public:
  static Result<Reports> make(const TestCommand& command) {
    TestReportOptions options;
    options.form = command.form;
    options.color = use_color(command.color);
    options.utf8 = use_utf8();
    options.steps = command.steps;
    options.diagrams = command.diagrams;
    options.dut = command.bench.dut;
    Reports out;
    out.all_.push_back(make_test_report(options));
    options.color = false;
    options.utf8 = true;
    for (const std::string& path : command.reports) {
      const auto* const ending =
          std::ranges::find_if(test_report_endings, [&](const auto& e) { return path.ends_with(e.word); });
      if (ending == std::end(test_report_endings)) {
        std::vector<std::string> words;
        for (const auto& e : test_report_endings) words.emplace_back(e.word);
        return Error{fmt::format("--report {}: its ending says no form; choose {}", path, any_of(words))};
      }
      Result<Output> file = Output::to_file(path);
      if (!file) return Error{fmt::format("--report: {}", file.error())};
      options.form = ending->value;
      out.all_.push_back(make_test_report(options, std::move(*file)));
    }
    return out;
  }

  template <class Do>
  void each(const Do& tell) {
    for (const std::unique_ptr<TestReport>& report : all_) tell(*report);
  }
  const TestReport& shown() const { return *all_.front(); }
  Result<void> finish() {
    for (const std::unique_ptr<TestReport>& report : all_)
      if (!report->finish()) return Error{report->error()};
    return {};
  }

 private:
  std::vector<std::unique_ptr<TestReport>> all_;
};

int run_test(const TestCommand& command) {
  const bool lists_json = command.form == TestForm::json;
  if (command.list_mutants) return list_mutants(lists_json);
  Result<std::vector<ChosenScript>> scripts = choose_scripts(command.named, command.filter);
  if (!scripts) return fail(scripts.error());
  if (command.list) return list_scripts(*scripts, lists_json);
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

  Result<Reports> reports = Reports::make(command);
  if (!reports) return fail(reports.error());
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
      const auto begins = [&](const std::string& id) {
        reports->each([&](TestReport& r) { r.begins(id, chosen.path); });
      };
      begins(chosen.head.id);
      script_options.begins = begins;
      script_options.tester.heard = [&](const replay::Event& e) { reports->each([&](TestReport& r) { r.heard(e); }); };
      const auto play = [&] {
        ProgressLine progress(true, true);  // the report of a script comes when it has ended
        script_options.tester.progress = [&](std::uint64_t done, std::uint64_t total) {
          progress.show(chosen.head.id, done, total);
          reports->each([&](TestReport& r) { r.progress(done, total); });
        };
        return run_script(chosen.script, *(*bench)->wire, *(*bench)->dut, script_options);
      };
      replay::ScriptRun run = play();
      for (replay::Case& c : run.report.cases) {
        if (known) known->apply(c);
        reports->each([&](TestReport& r) { r.add(c, chosen.path); });
      }
      if (recorder)
        if (const Result<void> r = recorder->keep(*(*bench)->wire, run); !r) return fail(r.error());
    }
  if (recorder)
    if (const Result<void> closed = recorder->close(); !closed) return fail(closed.error());
  if (const Result<void> finished = reports->finish(); !finished) return fail(finished.error());
  const TestReport& report = reports->shown();
  if (report.total() == 0) return fail("no test was run");
  if (known && !known->passed().empty())
    note(fmt::format("listed in {}, but passed: {}", command.known, fmt::join(known->passed(), "; ")));
  if (report.count(replay::Verdict::error) > 0) return exit_error;
  return report.count(replay::Verdict::failed) > 0 ? exit_findings : exit_fine;
}

}  // namespace

void add_test_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<TestCommand>();
  CLI::App* test = app.add_subcommand("test", "Test a device: play scripted packets and judge what it answers");
  test->add_option(
          "SCRIPT", options->named,
          "a script, a folder of scripts, an area of the suite (transport, mad, cdi) or a script in it (transport/c09_060_05.lua), an id (C09-060-05-N1) or "
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
  test->add_option(
          "--report", options->reports,
          "also write a report to this file, in the form its ending says: .txt, .tap, .xml (JUnit), .json, .ndjson "
          "or .html; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->take_all();
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
             "text for people, html to look at, tap and junit for continuous integration, json for programs; ndjson "
             "tells what "
             "happens at once, an object per line");
  test->add_flag("--steps", options->steps, "text: show the steps of every test, not only of those that failed");
  test->add_flag("-V,--diagram", options->diagrams, "text: draw what passed between tester and device");
  add_choice(*test, "--color", options->color, color_choices, "setting", "colour the report; auto: on a terminal");
  test->callback([options, &run] { run = [options] { return run_test(*options); }; });
}

}  // namespace rdmascope::cli
