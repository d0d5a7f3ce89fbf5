// Which packets of the list have which colours: rules, of which the first one that fits counts. Kept with the user's
// settings; a change is told to all lists.
#pragma once

#include <QColor>
#include <QObject>
#include <QString>

#include <vector>

#include "dissect/filter.h"

namespace rdmascope::gui {

struct ColourRule {
  QString name, filter;
  QColor text, background;  // on a light palette; invalid: as usual
  bool on = true;
  bool operator==(const ColourRule&) const = default;
};

struct RowColours {
  QColor text, background;  // invalid: as usual
};
// The colours of a rule as they are painted: on a dark palette light and dark change places.
RowColours colours_of(const ColourRule& rule, bool dark);
// How well text is read on a background: 1 not at all, 21 black on white (WCAG 2.1).
double contrast(const QColor& text, const QColor& background);

class ColourRules final : public QObject {
  Q_OBJECT

 public:
  // The settings of this user, read when they are first asked for.
  static ColourRules& of_user();
  static std::vector<ColourRule> defaults();

  const std::vector<ColourRule>& all() const { return all_; }
  void set(std::vector<ColourRule> rules);  // and keeps them

  // The first rule that is on and fits: its place in all(); -1: none.
  int first_fit(const dissect::Packet& packet) const;
  RowColours colours(int rule, bool dark) const;

  // What is wrong with a filter; empty: nothing.
  static QString error_of(const QString& filter);

 signals:
  void changed();

 private:
  struct Compiled {
    int rule;  // place in all_
    dissect::Filter filter;
  };
  ColourRules();
  void compile();

  std::vector<ColourRule> all_;
  std::vector<Compiled> compiled_;                  // those that are on and can be used
  std::vector<std::array<RowColours, 2>> painted_;  // by place; on light and dark
};

}  // namespace rdmascope::gui
