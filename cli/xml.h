// Text inside XML, for JUnit files.
#pragma once

#include <string>
#include <string_view>

namespace rdmascope::cli {

// Characters that XML 1.0 has no place for become "?" or "\x1b".
std::string xml(std::string_view text);
// Line by line: the ends of lines stay.
std::string xml_lines(std::string_view text);

}  // namespace rdmascope::cli
