// Words, figures and colours that several views share.
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>

#include <array>
#include <cstdint>
#include <string_view>

#include "check/finding.h"

namespace rdmascope::gui {

inline QString text(std::string_view s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); }

// Three figures that matter, and the unit: "480 us", "71.9 ms", "12.3 Mbit/s", "8.00 KiB".
QString duration(std::int64_t ns);
QString bit_rate(double bits_per_second);
QString byte_count(std::uint64_t bytes);
// Seconds with six decimals, or nine where they say something: "0.000362".
QString seconds(std::int64_t ns);

// "2 violations, 1 anomaly", "clean", "3 not judged", as the table of `check` has it.
QString verdict_of(const std::array<std::uint32_t, 3>& found, std::uint64_t not_judged);

// What a colour means. The same meaning is dark on a light palette and light on a dark one.
enum class Shade : std::uint8_t { good, anomaly, violation, artifact, request, response, acknowledge, dim };
QColor colour(Shade shade, const QPalette& palette);
Shade shade_of(check::Class kind);
Shade shade_of(const std::array<std::uint32_t, 3>& found);

}  // namespace rdmascope::gui
