// What the user chose, kept for the next time (QSettings). A choice is a plain struct; each_choice(c, what) calls
// what(key, member) for all that is kept.
#pragma once

#include <QSettings>
#include <QVariant>

namespace rdmascope::gui {

template <class Choice>
void keep(const QString& group, const Choice& choice) {
  QSettings settings;
  settings.beginGroup(group);
  each_choice(choice, [&](const char* key, const auto& value) { settings.setValue(key, value); });
}

template <class Choice>
Choice kept(const QString& group) {
  QSettings settings;
  settings.beginGroup(group);
  Choice out;
  each_choice(out, [&]<class T>(const char* key, T& value) {
    value = settings.value(key, QVariant::fromValue(value)).template value<T>();
  });
  return out;
}

}  // namespace rdmascope::gui
