// A line to type the name of a field in, which is completed from all names there are.
#pragma once

#include <QCompleter>
#include <QLineEdit>
#include <QStringList>

#include "dissect/field_index.h"

namespace rdmascope::gui {

inline QLineEdit* make_field_edit(QWidget* parent) {
  auto* const edit = new QLineEdit(parent);
  QStringList names;
  for (const std::string& name : dissect::all_field_names()) names << QString::fromStdString(name);
  auto* const completer = new QCompleter(names, edit);
  completer->setFilterMode(Qt::MatchContains);
  completer->setCaseSensitivity(Qt::CaseInsensitive);
  edit->setCompleter(completer);
  edit->setClearButtonEnabled(true);
  return edit;
}

}  // namespace rdmascope::gui
