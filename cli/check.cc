// rdmascope check: what went wrong on each connection, and which rule was broken.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/check_input.h"
#include "cli/check_report.h"
#include "cli/check_rules.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/frames.h"

namespace rdmascope::cli {
namespace {

struct CheckCommand {
  CheckInput input;
  ReportForm form = ReportForm::text;
  ColorWhen color = ColorWhen::automatic;
  bool all_connections = false;
  std::vector<std::string> rules, ignored;
};

int run_check(const CheckCommand& command) {
  const auto fail = [](const std::string& sentence) {
    complain(sentence);
    return exit_error;
  };
  Result<CheckPlan> plan = command.input.plan();
  if (!plan) return fail(plan.error());
  Result<std::vector<const check::Rule*>> rules = choose_rules(command.rules, command.ignored);
  if (!rules) return fail(rules.error());
  plan->options.rules = *rules;

  ReportOptions options;
  options.form = command.form;
  options.color = use_color(command.color);
  options.all_connections = command.all_connections;
  options.filtered = static_cast<bool>(plan->options.filter);
  options.files = plan->files;
  options.rules = *rules;
  const std::unique_ptr<Report> report = make_report(std::move(options));
  check::Checker checker(plan->options, *report);
  stop_on_interrupt();  // the report tells what was seen until then
  const int status = feed(*plan, checker);
  if (status != exit_fine && checker.totals().frames == 0 && command.form == ReportForm::text) return status;
  report->capture_ends();
  checker.finish();
  if (!report->finish(checker)) return fail(report->error());
  if (status != exit_fine) return status;
  return report->violations() > 0 ? exit_findings : exit_fine;
}

}  // namespace

void add_check_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<CheckCommand>();
  CLI::App* check = app.add_subcommand("check", "Say what went wrong on each connection and which rule was broken");
  options->input.add_to(*check);
  add_choice(*check, "-T,--format", options->form, report_choices, "form",
             "text for people, json for programs, junit for continuous integration");
  check->add_option("--rule", options->rules, "judge by this rule only, as Q-06; may be repeated, or Q-06,R-17")
      ->type_name("ID")
      ->delimiter(',')
      ->take_all();
  check->add_option("--ignore", options->ignored, "do not judge by this rule; may be repeated, or Q-06,R-17")
      ->type_name("ID")
      ->delimiter(',')
      ->take_all();
  check->add_flag("--all", options->all_connections, "text: show every connection, also when there are many");
  add_choice(*check, "--color", options->color, color_choices, "setting", "colour the report; auto: on a terminal");
  check->callback([options, &run] { run = [options] { return run_check(*options); }; });
}

}  // namespace rdmascope::cli
