// What a device is known to do differently, so that only what is new fails: test --known FILE.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "replay/report.h"

namespace rdmascope::cli {

// The file is text for people, Markdown or not. A line that begins with ids of tests in backquotes, as a list item or not, is
// an entry: "- `C09-060-05/wrap`, `C09-027`: why". * and ? in the id stand for anything, an id without a part for all of its parts.
// All other lines are prose.
class KnownDeviations {
 public:
  static Result<KnownDeviations> read(const std::string& path);

  // A failure that is listed becomes a known deviation, and its reason one of the details.
  void apply(replay::Case& c);

  // Listed by their full id, and passed all the same: the list is out of date.
  const std::vector<std::string>& passed() const { return passed_; }

 private:
  struct Entry {
    std::string pattern, reason;
  };
  std::vector<Entry> entries_;
  std::vector<std::string> passed_;
};

}  // namespace rdmascope::cli
