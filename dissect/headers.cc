#include "dissect/headers.h"

namespace rdmascope::dissect {

const Header* find_header(std::string_view name) {
  const Header* by_last_part = nullptr;
  for (const Header* h : all_headers()) {
    if (h->name == name) return h;
    const std::size_t dot = h->name.rfind('.');
    if (dot != std::string_view::npos && h->name.substr(dot + 1) == name) by_last_part = h;
  }
  return by_last_part;
}

}  // namespace rdmascope::dissect
