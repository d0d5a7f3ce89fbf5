#include "cli/test_select.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <utility>

namespace rdmascope::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".lua";

// "C09_060_05" and "c09-060-05" are one id.
std::string plain(std::string_view id) {
  std::string out(id);
  for (char& c : out) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// "C09-060" names all tests of that statement, C09-060-05-N1 too, "C09-060-05/wrap" the one it is a part of.
bool names(const std::string& name, const std::string& id) {
  return plain(id) == plain(whole(name)) ||
         (name.find('/') == std::string::npos && plain(id).starts_with(plain(name) + "-"));
}

std::vector<std::string> scripts_below(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code problem;
  for (fs::recursive_directory_iterator i(folder, problem), end; !problem && i != end; i.increment(problem))
    if (i->is_regular_file(problem) && i->path().extension() == ending) out.push_back(i->path().string());
  std::sort(out.begin(), out.end());
  return out;
}

Result<ChosenScript> read_chosen(const std::string& path, const std::string& shown) {
  Result<replay::Script> script = replay::read_script(path);
  if (!script) return Error{script.error()};
  Result<replay::ScriptHead> head = replay::head_of(*script);
  // A script that cannot even begin is run all the same, so that its verdict tells why.
  if (!head) head = replay::ScriptHead{script->name, "cannot be read", {}};
  return ChosenScript{std::move(*script), std::move(*head), shown, path};
}

}  // namespace

bool fits(const std::string& pattern, const std::string& id) {
  return pattern.empty() || fnmatch(plain(pattern).c_str(), plain(id).c_str(), 0) == 0;
}

std::string whole(const std::string& id) { return id.substr(0, id.find('/')); }

Result<std::string> suite_folder() {
  std::error_code problem;
  const fs::path program = fs::read_symlink("/proc/self/exe", problem);
  const fs::path installed = program.parent_path().parent_path() / "share/rdmascope/suite";
  if (!problem && fs::is_directory(installed, problem)) return installed.string();
  if (fs::is_directory(RDMASCOPE_SUITE, problem)) return std::string(RDMASCOPE_SUITE);
  return Error{fmt::format("cannot find the suite in {} or {}; name a script or a folder", installed.string(), RDMASCOPE_SUITE)};
}

Result<std::vector<ChosenScript>> choose_scripts(const std::vector<std::string>& named, const std::string& pattern) {
  std::vector<std::pair<std::string, std::string>> paths;  // to read, to show
  std::vector<ChosenScript> suite;
  const auto read_suite = [&]() -> Result<void> {
    if (!suite.empty()) return {};
    const Result<std::string> folder = suite_folder();
    if (!folder) return Error{folder.error()};
    for (const std::string& path : scripts_below(*folder)) {
      Result<ChosenScript> chosen = read_chosen(path, path.substr(folder->size() + 1));
      if (!chosen) return Error{chosen.error()};
      suite.push_back(std::move(*chosen));
    }
    if (suite.empty()) return Error{fmt::format("{} holds no scripts", *folder)};
    return {};
  };

  std::vector<ChosenScript> out;
  const auto add = [&](ChosenScript chosen) {
    for (const ChosenScript& earlier : out)
      if (earlier.path == chosen.path) return;
    out.push_back(std::move(chosen));
  };
  if (named.empty()) {
    if (const Result<void> read = read_suite(); !read) return Error{read.error()};
    for (const ChosenScript& script : suite) add(script);
  }
  for (const std::string& name : named) {
    std::error_code problem;
    if (fs::is_regular_file(name, problem)) {
      Result<ChosenScript> chosen = read_chosen(name, name);
      if (!chosen) return Error{chosen.error()};
      add(std::move(*chosen));
      continue;
    }
    if (fs::is_directory(name, problem)) {
      const std::vector<std::string> found = scripts_below(name);
      if (found.empty()) return Error{fmt::format("{} holds no scripts (*.lua)", name)};
      for (const std::string& path : found) {
        Result<ChosenScript> chosen = read_chosen(path, path);
        if (!chosen) return Error{chosen.error()};
        add(std::move(*chosen));
      }
      continue;
    }
    if (const Result<void> read = read_suite(); !read) return Error{read.error()};
    bool any = false;
    for (const ChosenScript& script : suite)
      if (names(name, script.head.id) || script.path == name || script.path.starts_with(name + "/") ||
          plain(script.script.name) == plain(name) + std::string(ending)) {
        add(script);
        any = true;
      }
    if (!any && name.ends_with(ending)) return Error{fmt::format("cannot read {}: no such file", name)};
    if (!any)
      return Error{fmt::format("no such script, folder, area of the suite or id: {}; `rdmascope test --list` shows them", name)};
  }
  std::map<std::string, std::string> ids;
  for (const ChosenScript& script : out)
    if (const auto [other, is_new] = ids.try_emplace(plain(script.head.id), script.path); !is_new)
      return Error{fmt::format("{} and {} have one id: {}", other->second, script.path, script.head.id)};
  // A pattern for parts ("C09-060-05/*") lets their script through; which parts run is for WantedIds.
  std::erase_if(out, [&](const ChosenScript& script) {
    return !fits(std::string(whole(pattern)), script.head.id);
  });
  if (out.empty()) return Error{fmt::format("no id fits {}", pattern)};
  return out;
}

WantedIds::WantedIds(const std::vector<std::string>& named, std::string pattern) : pattern_(std::move(pattern)) {
  std::error_code problem;
  for (const std::string& name : named)
    if (!name.ends_with(ending) && !fs::exists(name, problem)) parts_.push_back(plain(name));
}

bool WantedIds::operator()(const std::string& id) const {
  if (pattern_.find('/') != std::string::npos && !fits(pattern_, id)) return false;
  bool named = false;
  for (const std::string& part : parts_) {
    if (plain(whole(part)) != plain(whole(id))) continue;
    if (part.find('/') == std::string::npos || part == plain(id)) return true;
    named = true;
  }
  return !named;
}

}  // namespace rdmascope::cli
