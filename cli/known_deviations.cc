#include "cli/known_deviations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "cli/test_select.h"

namespace rdmascope::cli {

Result<KnownDeviations> KnownDeviations::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{fmt::format("{}: cannot open: {}", path, std::strerror(errno))};
  KnownDeviations known;
  std::string line;
  while (std::getline(file, line)) {
    std::vector<std::string> ids;
    std::size_t at = line.find_first_not_of(" \t-*");
    while (at < line.size() && line[at] == '`') {
      const std::size_t close = line.find('`', at + 1);
      if (close == std::string::npos) break;
      ids.push_back(line.substr(at + 1, close - at - 1));
      at = line.find_first_not_of(" \t,:", close + 1);
    }
    const std::string reason = at < line.size() ? line.substr(at) : "";
    for (std::string& id : ids) known.entries_.push_back({std::move(id), reason});
  }
  if (file.bad()) return Error{fmt::format("{}: cannot read: {}", path, std::strerror(errno))};
  if (known.entries_.empty())
    return Error{fmt::format("{}: lists no deviation; entries look like \"- `C09-060-05`: why\"", path)};
  return known;
}

void KnownDeviations::apply(replay::Case& c) {
  const auto entry = std::ranges::find_if(entries_, [&](const Entry& e) {
    return fits(e.pattern, c.id) || fits(e.pattern, whole(c.id));
  });
  if (entry == entries_.end()) return;
  if (c.verdict == replay::Verdict::failed) {
    c.verdict = replay::Verdict::known_deviation;
    c.details.push_back("known: " + entry->reason);
  } else if (c.verdict == replay::Verdict::passed && entry->pattern == c.id) {
    passed_.push_back(c.id);
  }
}

}  // namespace rdmascope::cli
