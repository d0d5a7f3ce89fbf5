// rdmascope rules: what check judges by. A list, or the page of one rule.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <numeric>

#include "cli/check_json.h"
#include "cli/check_rules.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/output.h"

namespace rdmascope::cli {
namespace {

using check::Rule;
using check::RuleInfo;

std::string upper(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return s;
}

// Typing errors between two words.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t cost = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({cost, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

constexpr Choice<bool> forms[] = {{"text", false}, {"json", true}};

struct RulesOptions {
  std::vector<std::string> ids;
  bool json = false;
};

void put_json(JsonOut& json, const RuleInfo& info) {
  json.line();
  json.open('{');
  json.member("id", info.id);
  json.member("title", info.title);
  json.member("class", name(info.kind));
  json.member("severity", name(info.severity));
  if (!info.ibta.empty()) json.member("ibta", info.ibta);
  json.member("source", info.source);
  json.member("help", info.help);
  json.close('}');
}

std::string page(const RuleInfo& info) {
  std::string out =
      fmt::format("{}  {}\n\nClass     {}\nSeverity  {}\n", info.id, info.title, name(info.kind), name(info.severity));
  if (!info.ibta.empty()) out += fmt::format("IBTA      {}\n", info.ibta);
  if (!info.source.empty()) out += fmt::format("Source    {}\n", info.source);
  return out + fmt::format("\n{}\n", info.help);
}

int run_rules(const RulesOptions& options) {
  std::vector<const Rule*> rules;
  for (const std::string& id : options.ids) {
    const Result<const Rule*> rule = rule_by_id(id, id);
    if (!rule) {
      complain(rule.error());
      return exit_error;
    }
    rules.push_back(*rule);
  }
  if (options.ids.empty()) rules.assign(check::all_rules().begin(), check::all_rules().end());
  Output output;
  if (options.json) {
    JsonOut json(output.text());
    json.open('[');
    for (const Rule* rule : rules) put_json(json, rule->info);
    output.text().put('\n');
    json.close(']');
    output.text().put('\n');
  } else if (options.ids.empty()) {
    std::size_t width = 0;
    for (const Rule* rule : rules) width = std::max(width, rule->info.id.size());
    for (const Rule* rule : rules)
      output.text().put(fmt::format("{:<{}}  {:<9}  {:<7}  {}\n", rule->info.id, width, name(rule->info.kind),
                                    name(rule->info.severity), rule->info.title));
  } else {
    for (std::size_t i = 0; i < rules.size(); ++i) output.text().put((i > 0 ? "\n\n" : "") + page(rules[i]->info));
  }
  output.flush();
  if (output.error().empty()) return exit_fine;
  complain(output.error());
  return exit_error;
}

}  // namespace

Result<const Rule*> rule_by_id(const std::string& where, const std::string& id) {
  const std::string wanted = upper(id);
  const Rule* near = nullptr;
  std::size_t near_by = 3;  // typing errors; more is another word
  for (const Rule* rule : check::all_rules()) {
    const std::size_t d = distance(wanted, upper(std::string(rule->info.id)));
    if (d == 0) return rule;
    if (d < near_by) {
      near = rule;
      near_by = d;
    }
  }
  return Error{fmt::format("{}: no such rule{}; `rdmascope rules` lists them", where,
                           near ? fmt::format(", did you mean {}?", near->info.id) : "")};
}

Result<std::vector<const Rule*>> choose_rules(const std::vector<std::string>& only,
                                              const std::vector<std::string>& ignored) {
  std::vector<const Rule*> wanted, unwanted;
  for (const std::string& id : only) {
    const Result<const Rule*> rule = rule_by_id("--rule " + id, id);
    if (!rule) return Error{rule.error()};
    wanted.push_back(*rule);
  }
  for (const std::string& id : ignored) {
    const Result<const Rule*> rule = rule_by_id("--ignore " + id, id);
    if (!rule) return Error{rule.error()};
    unwanted.push_back(*rule);
  }
  std::vector<const Rule*> out;
  const auto holds = [](const std::vector<const Rule*>& rules, const Rule* rule) {
    return std::find(rules.begin(), rules.end(), rule) != rules.end();
  };
  for (const Rule* rule : check::all_rules())
    if ((wanted.empty() || holds(wanted, rule)) && !holds(unwanted, rule)) out.push_back(rule);
  if (out.empty()) return Error{"--rule and --ignore leave no rule to judge by"};
  return out;
}

void add_rules_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<RulesOptions>();
  CLI::App* rules = app.add_subcommand("rules", "List the rules that check judges by, or explain some");
  rules->add_option("ID", options->ids, "explain this rule, as Q-06: what it means, what breaks it, where to look next")
      ->type_name("ID");
  add_choice(*rules, "-T,--format", options->json, forms, "form",
             "a line per rule or its page, or an array of objects");
  rules->callback([options, &run] { run = [options] { return run_rules(*options); }; });
}

}  // namespace rdmascope::cli
