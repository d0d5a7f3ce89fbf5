// One word of an option that takes one of a few, and what it stands for. Apart from choices.h, since whoever declares
// words need not parse CLI11.
#pragma once

#include <string_view>

namespace rdmascope::cli {

template <class T>
struct Choice {
  std::string_view word;
  T value;
};

}  // namespace rdmascope::cli
