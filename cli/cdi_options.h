// The words that say what the model of the CDI probe is like, for `test --dut model:cdi-rx,...` and `dut --model`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/cdi_model.h"

namespace rdmascope::cli {

inline constexpr std::string_view cdi_words = "version=2.2.5, scale=X, data=open, mutant=NAME";

// "a,b" is "a" and "b".
std::vector<std::string> words_of(const std::string& text);
// One word into the options. False: it is none of them. An error: what is wrong with it.
Result<bool> read_cdi_word(const std::string& word, replay::CdiModelOptions& options);
// "0.05"; from 0.001 to 1000.
Result<double> parse_scale(const std::string& text);

}  // namespace rdmascope::cli
