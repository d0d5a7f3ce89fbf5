// How tables look here: rows of one height, whole rows chosen, no grid.
#pragma once

#include <QHeaderView>
#include <QTableView>

namespace rdmascope::gui {

inline QTableView* make_table(QAbstractItemModel* model, QWidget* parent) {
  auto* table = new QTableView(parent);
  table->setModel(model);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setShowGrid(false);
  table->setWordWrap(false);
  table->setAlternatingRowColors(true);
  table->verticalHeader()->hide();
  const int height = table->fontMetrics().height() + 6;
  table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table->verticalHeader()->setDefaultSectionSize(height);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setResizeContentsPrecision(100);
  table->horizontalHeader()->setStretchLastSection(true);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  return table;
}

// As wide as the first rows need; the last column takes what is left.
inline void fit_columns(QTableView& table) {
  table.horizontalHeader()->setStretchLastSection(false);
  table.resizeColumnsToContents();
  table.horizontalHeader()->setStretchLastSection(true);
}

}  // namespace rdmascope::gui
