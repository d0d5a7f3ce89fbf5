#include "gui/models/words.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "check/verdict.h"

namespace rdmascope::gui {
namespace {

struct Unit {
  double size;
  const char* name;
};

QString with_unit(double value, std::span<const Unit> units, bool whole_first) {
  // 999.6 us is 1.00 ms, not 1000 us.
  std::size_t i = 0;
  while (i + 1 < units.size() && value >= 0.9995 * units[i + 1].size) ++i;
  const double shown = value / units[i].size;
  const int decimals = (i == 0 && whole_first) || shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
  return QString::number(shown, 'f', decimals) + ' ' + units[i].name;
}

}  // namespace

QString duration(std::int64_t ns) {
  constexpr Unit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  return (ns < 0 ? "-" : "") + with_unit(std::abs(static_cast<double>(ns)), units, true);
}

QString bit_rate(double bits_per_second) {
  constexpr Unit units[] = {{1, "bit/s"}, {1e3, "kbit/s"}, {1e6, "Mbit/s"}, {1e9, "Gbit/s"}};
  return with_unit(bits_per_second, units, true);
}

QString byte_count(std::uint64_t bytes) {
  constexpr Unit units[] = {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}};
  return with_unit(static_cast<double>(bytes), units, true);
}

QString seconds(std::int64_t ns) {
  const bool exact = ns % 1000 != 0;
  const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  const std::uint64_t rest = size % 1'000'000'000;
  return QString("%1%2.%3")
      .arg(ns < 0 ? "-" : "")
      .arg(size / 1'000'000'000)
      .arg(exact ? rest : rest / 1000, exact ? 9 : 6, 10, QChar('0'));
}

QString verdict_of(const std::array<std::uint32_t, 3>& found, std::uint64_t not_judged) {
  constexpr std::string_view names[3][2] = {
      {"violation", "violations"}, {"anomaly", "anomalies"}, {"artifact", "artifacts"}};
  std::string out;
  for (std::size_t kind = 0; kind < found.size(); ++kind) {
    if (found[kind] == 0) continue;
    out += (out.empty() ? "" : ", ") + check::counted(found[kind], names[kind][0], names[kind][1]);
  }
  if (!out.empty()) return text(out);
  return not_judged > 0 ? QString("%1 not judged").arg(not_judged) : QString("clean");
}

QColor colour(Shade shade, const QPalette& palette) {
  struct Pair {
    QRgb on_light, on_dark;
  };
  constexpr Pair pairs[] = {{0xff1a7f37, 0xff57c26b}, {0xff8a6100, 0xffe3b341}, {0xffc01c28, 0xffff7b72},
                            {0xff6a4fa0, 0xffb79cf0}, {0xff1a5fb4, 0xff79b8ff}, {0xff1f6f6b, 0xff5fc9c2},
                            {0xff55595f, 0xffb0b6bd}, {0xff6e7781, 0xff8d96a0}};
  const bool dark = palette.color(QPalette::Base).lightness() < 128;
  const Pair& pair = pairs[static_cast<std::size_t>(shade)];
  return QColor::fromRgb(dark ? pair.on_dark : pair.on_light);
}

Shade shade_of(check::Class kind) {
  constexpr Shade shades[] = {Shade::violation, Shade::anomaly, Shade::artifact};
  return shades[static_cast<std::size_t>(kind)];
}

Shade shade_of(const std::array<std::uint32_t, 3>& found) {
  const auto first = std::ranges::find_if(found, [](std::uint32_t n) { return n > 0; });
  if (first == found.end()) return Shade::good;
  return shade_of(static_cast<check::Class>(first - found.begin()));
}

}  // namespace rdmascope::gui
