#include "gui/models/colour_rules.h"

#include <QSettings>

#include <algorithm>
#include <array>
#include <cmath>

namespace rdmascope::gui {
namespace {

// Red is for what is wrong, yellow for what is not healthy, violet for congestion, blue for management.
struct Shipped {
  const char *name, *filter, *text, *background;  // colours: empty as usual
};
constexpr Shipped shipped[] = {
    {"Violation", "rdmascope.finding.class == \"violation\"", "#7a0000", "#ffd9d9"},
    {"Bad checksum",
     "infiniband.invariant.crc.status == \"Bad\" or infiniband.variant.crc.status == \"Bad\" or cdi.checksum.status == "
     "\"Bad\"",
     "#c40000", "#f0e2e2"},
    {"Anomaly", "rdmascope.finding.class == \"anomaly\"", "#5c4300", "#fff2cc"},
    {"NAK", "infiniband.aeth.syndrome.opcode in {\"NAK\", \"Reserved\"}", "#7a0000", "#ffe8e0"},
    {"RNR NAK", "infiniband.aeth.syndrome.opcode == \"RNR NAK\"", "#6b3d00", "#ffeedd"},
    {"Failed completion", "cqe.error == 1", "#7a0000", "#ffe8e0"},
    {"CNP", "infiniband.cnp", "#4b0082", "#f1e6ff"},
    {"Management", "infiniband.mad or cdi", "#00406b", "#e4f3ff"},
    {"Malformed", "rdmascope.event matches \"[.](truncated|bad_length|bad_value|unknown_opcode|too_deep)$\"", "#7a0000",
     ""},
    {"Retransmission", "infiniband.retransmission", "#5c4300", "#fff8e6"},
    {"Acknowledge", "infiniband.bth.opcode in {RC_ACKNOWLEDGE, XRC_ACKNOWLEDGE}", "#3a5f3a", ""},
    {"No RDMA", "not infiniband and not cdi and not cqe and not cqe.record and not efa", "#707070", ""},
};

constexpr QRgb usual_dark = 0xff2b2d31;  // background of a dark window, rather too light

double luminance(const QColor& c) {
  const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

QColor turned(const QColor& c) {
  if (!c.isValid()) return c;
  const QColor hsl = c.toHsl();
  // Not quite to the other end: white on black glares.
  const double lightness = 0.93 - 0.8 * hsl.lightnessF();
  return QColor::fromHslF(std::max(0.0F, hsl.hslHueF()), hsl.hslSaturationF() * 0.8F, static_cast<float>(lightness));
}

}  // namespace

double contrast(const QColor& text, const QColor& background) {
  const double a = luminance(text), b = luminance(background);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

RowColours colours_of(const ColourRule& rule, bool dark) {
  if (!dark) return {rule.text, rule.background};
  RowColours out{turned(rule.text), turned(rule.background)};
  const QColor behind = out.background.isValid() ? out.background : QColor(usual_dark);
  constexpr double readable = 4.5;  // WCAG 2.1
  for (int percent = 105; out.text.isValid() && contrast(out.text, behind) < readable && percent < 300; percent += 5)
    out.text = turned(rule.text).lighter(percent);
  return out;
}

ColourRules::ColourRules() : all_(defaults()) {
  QSettings settings;
  const int count = settings.beginReadArray("packets/colours");
  if (count > 0) all_.clear();
  for (int i = 0; i < count; ++i) {
    settings.setArrayIndex(i);
    all_.push_back({settings.value("name").toString(), settings.value("filter").toString(),
                    QColor(settings.value("text").toString()), QColor(settings.value("background").toString()),
                    settings.value("on").toBool()});
  }
  settings.endArray();
  compile();
}

ColourRules& ColourRules::of_user() {
  static ColourRules rules;
  return rules;
}

std::vector<ColourRule> ColourRules::defaults() {
  std::vector<ColourRule> out;
  for (const Shipped& s : shipped) out.push_back({s.name, s.filter, QColor(s.text), QColor(s.background), true});
  return out;
}

QString ColourRules::error_of(const QString& filter) {
  if (filter.trimmed().isEmpty()) return tr("A rule needs a filter.");
  const auto compiled = dissect::Filter::compile(filter.toStdString());
  const auto* const wrong = std::get_if<dissect::FilterError>(&compiled);
  return wrong ? tr("At character %1: %2").arg(wrong->column).arg(QString::fromStdString(wrong->message)) : QString();
}

void ColourRules::compile() {
  compiled_.clear();
  painted_.clear();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    painted_.push_back({colours_of(all_[i], false), colours_of(all_[i], true)});
    if (!all_[i].on || all_[i].filter.trimmed().isEmpty()) continue;
    auto filter = dissect::Filter::compile(all_[i].filter.toStdString());
    if (auto* const good = std::get_if<dissect::Filter>(&filter))
      compiled_.push_back({static_cast<int>(i), std::move(*good)});
  }
}

void ColourRules::set(std::vector<ColourRule> rules) {
  if (rules == all_) return;
  all_ = std::move(rules);
  compile();
  QSettings settings;
  settings.remove("packets/colours");
  // As they are shipped, they may change with the program.
  if (all_ != defaults()) {
    settings.beginWriteArray("packets/colours", static_cast<int>(all_.size()));
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const ColourRule& rule = all_[i];
      settings.setArrayIndex(static_cast<int>(i));
      settings.setValue("name", rule.name);
      settings.setValue("filter", rule.filter);
      settings.setValue("text", rule.text.isValid() ? rule.text.name() : QString());
      settings.setValue("background", rule.background.isValid() ? rule.background.name() : QString());
      settings.setValue("on", rule.on);
    }
    settings.endArray();
  }
  emit changed();
}

int ColourRules::first_fit(const dissect::Packet& packet) const {
  for (const Compiled& c : compiled_)
    if (c.filter.matches(packet)) return c.rule;
  return -1;
}

RowColours ColourRules::colours(int rule, bool dark) const {
  return rule < 0 ? RowColours{} : painted_[static_cast<std::size_t>(rule)][dark];
}

}  // namespace rdmascope::gui
