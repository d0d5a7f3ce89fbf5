// Which scripts `test` runs: files, folders, areas of the suite, ids.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "replay/script.h"

namespace rdmascope::cli {

struct ChosenScript {
  replay::Script script;
  replay::ScriptHead head;
  std::string path;  // as shown: within the suite, or as the user named it
  std::string file;  // where it is
};

// Where the suite is: beside the installed program, else where it was built from.
Result<std::string> suite_folder();

// Nothing named: the whole suite. An id also names those that go on behind it with a hyphen. `pattern`: only ids that fit (* and ?), any case; empty: all.
Result<std::vector<ChosenScript>> choose_scripts(const std::vector<std::string>& named, const std::string& pattern);

// "C09_060_05" and "c09-060-05" are one id; * and ? in the pattern stand for anything. An empty pattern fits all.
bool fits(const std::string& pattern, const std::string& id);
// The id without its part.
std::string whole(const std::string& id);

// Whether an id ("C09-060-05", or a part "C09-060-05/wrap") is among those the user asked for.
class WantedIds {
 public:
  WantedIds(const std::vector<std::string>& named, std::string pattern);
  bool operator()(const std::string& id) const;

 private:
  std::vector<std::string> parts_;  // "c09-060-05/wrap", as the user named them
  std::string pattern_;
};

}  // namespace rdmascope::cli
