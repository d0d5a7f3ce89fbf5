#include "cli/xml.h"

#include <algorithm>

#include "dissect/text.h"

namespace rdmascope::cli {

std::string xml(std::string_view text) {
  dissect::Text clean;
  clean.printable(text);
  std::string out;
  for (char c : clean.view()) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string xml_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    out += xml(line) + '\n';
  }
  return out;
}

}  // namespace rdmascope::cli
