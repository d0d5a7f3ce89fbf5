// The course of a CDI flow in words, for those who ask why a connection does not come up.
#include <fmt/format.h>

#include "check/cdi.h"

namespace rdmascope::check {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string counted(std::uint32_t count, std::string_view what) {
  return count == 1 ? fmt::format("one {}", what) : fmt::format("{} {}s", count, what);
}

// "in 3.1 to 9.9 ms"
std::string spread(const CdiEvent& e) {
  constexpr double ms = 1e6;
  const double shortest = static_cast<double>(e.shortest_ns) / ms, longest = static_cast<double>(e.longest_ns) / ms;
  return e.count == 1 ? fmt::format("in {:.1f} ms", longest) : fmt::format("in {:.1f} to {:.1f} ms", shortest, longest);
}

std::string sentence(const CdiEvent& e, const CdiEvent* next, std::int64_t begin_ns, std::int64_t end_ns) {
  using Kind = CdiEvent::Kind;
  switch (e.kind) {
    case Kind::resets:
      if (next && next->kind == Kind::answered)
        return e.count == 1 ? std::string("the transmitter sends Reset")
                            : fmt::format("the transmitter sends {}, the first {} without an answer",
                                          counted(e.count, "Reset"), e.count - 1);
      if (!next && end_ns - e.last_ns < 1'000'000'000)
        return fmt::format("the transmitter sends {}; the capture ends here", counted(e.count, "Reset"));
      return fmt::format(
          "the transmitter sends {}; no answer{}", counted(e.count, "Reset"),
          next ? "" : fmt::format(" until the capture ends, {:.3f} s later", seconds(end_ns - e.time_ns)));
    case Kind::answered:
      return fmt::format("the receiver answers after {:.3f} s", seconds(e.longest_ns));
    case Kind::agreed:
      return fmt::format("both agree on version {}", to_text(e.version));
    case Kind::agreed_old:
      return fmt::format("version {}, without a question: one side has no ProtocolVersion", to_text(e.version));
    case Kind::connected:
      return "the receiver says Connected: control flow and data path work";
    case Kind::pings:
      return e.count == 1 ? fmt::format("a Ping is answered {}", spread(e))
                          : fmt::format("{} Pings are answered {}, the last at {:.3f}", e.count, spread(e),
                                        seconds(e.last_ns - begin_ns));
    case Kind::pings_unanswered:
      return fmt::format("{} Pings have no answer", e.count);
    case Kind::tx_reset:
      if (e.after_rx) return "the transmitter resets, too";
      if (!e.was_connected) return "the transmitter gives up: no Connected, so the data path does not work";
      return e.pinged ? "the transmitter gives up although every Ping was answered: its data path has failed, or the "
                        "receiver was stopped"
                      : fmt::format("the transmitter gives up after {} without an answer", counted(e.count, "Ping"));
    case Kind::rx_reset:
      return fmt::format("the receiver sends {}{}", counted(e.count, "Reset"),
                         e.was_connected ? ": the connection ends" : "");
    case Kind::lost:
      return fmt::format("the capture lacks {}", counted(e.count, "message"));
  }
  return {};
}

}  // namespace

std::vector<std::string> story(const CdiFlow& flow, std::int64_t begin_ns, std::int64_t end_ns) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < flow.events.size(); ++i) {
    const CdiEvent& e = flow.events[i];
    const CdiEvent* const next = i + 1 < flow.events.size() ? &flow.events[i + 1] : nullptr;
    out.push_back(fmt::format("{:.3f}  {}", seconds(e.time_ns - begin_ns), sentence(e, next, begin_ns, end_ns)));
  }
  if (flow.events_left_out > 0)
    out.push_back(fmt::format("({} events before the last one are left out)", flow.events_left_out));
  return out;
}

}  // namespace rdmascope::check
