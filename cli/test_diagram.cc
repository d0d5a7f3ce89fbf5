// A conversation drawn as text: the tester on the left, the device on the right, time downwards.
#include <fmt/format.h>

#include "cli/test_report.h"

namespace rdmascope::cli {
namespace {

using replay::Event;

constexpr std::size_t between = 66;  // columns between the lifelines

struct Glyphs {
  std::string_view life, line, to_right, to_left, dot;
};
constexpr Glyphs ascii{"|", "-", ">", "<", "*"}, drawn{"\u2502", "\u2500", "\u25b6", "\u25c0", "\u25cf"};

std::string repeated(std::string_view glyph, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += glyph;
  return out;
}

// The text in the middle of an arrow; what is too long for it goes on without one.
std::string arrow(const Glyphs& g, const std::string& text, bool to_right) {
  const std::size_t room = between > text.size() + 4 ? between - text.size() - 4 : 0;
  const std::string before = repeated(g.line, room / 2 + 1), after = repeated(g.line, room - room / 2 + 1);
  if (to_right) return before.substr(0, before.size()) + ' ' + text + ' ' + after.substr(0, after.size() - g.line.size()) + std::string(g.to_right);
  return std::string(g.to_left) + before.substr(g.line.size()) + ' ' + text + ' ' + after;
}

}  // namespace

void draw_conversation(dissect::Text& out, const replay::Case& c, bool utf8) {
  const Glyphs& g = utf8 ? drawn : ascii;
  const auto row = [&](std::string_view time, std::string_view left, const std::string& middle, std::string_view right,
                       std::string_view note) {
    out.put(fmt::format("{:>14} {}", time, left));
    out.put(middle);
    out.put(right);
    out.printable(note);
    out.put('\n');
  };
  const std::string empty(between, ' ');
  bool any = false;
  for (const Event& event : c.events) {
    if (!any) {
      out.put('\n');
      row("time, ms", "", fmt::format("{:<{}}", "tester", between - 1), "DUT", "    line of the script");
      any = true;
    }
    const std::string time = fmt::format("{:.6f}", static_cast<double>(event.time_ns) / 1e6);
    const std::string where = event.line > 0 ? fmt::format("  {}", event.line) : "";
    switch (event.kind) {
      case Event::Kind::sent:
        row(time, g.life, arrow(g, event.text, true), g.life, where);
        break;
      case Event::Kind::received:
        row(time, g.life, arrow(g, event.text, false), g.life, where);
        break;
      case Event::Kind::posted:
      case Event::Kind::completion:
        row(time, g.life, fmt::format("{:>{}} ", event.text, between - 1), g.dot, where);
        break;
      case Event::Kind::printed:
      case Event::Kind::note:
        row(time, g.life, fmt::format(" {:<{}}", event.text, between - 1), event.text.size() < between ? g.life : "", where);
        break;
      case Event::Kind::step:
        // What was expected and came is seen in the arrows.
        if (!event.good) row(time, g.dot, fmt::format(" {:<{}}", event.text, between - 1), g.life, where + "  <- here");
        break;
    }
  }
  if (any) out.put('\n');
}

}  // namespace rdmascope::cli
