// The packet list: a row for each frame, or for each that passes a filter. A row's text is made when it is painted.
#pragma once

#include <QAbstractTableModel>
#include <QString>

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "dissect/filter.h"
#include "gui/models/capture_file.h"
#include "gui/models/filter_run.h"
#include "gui/models/packet_columns.h"
#include "gui/models/packet_row.h"
#include "gui/models/sort_run.h"

namespace rdmascope::gui {

class PacketModel final : public QAbstractTableModel {
  Q_OBJECT

 public:
  // The columns of the list come first, then those that show a field.
  using enum PacketColumns::Column;

  explicit PacketModel(QObject* parent = nullptr);
  ~PacketModel() override;

  // nullptr shows nothing. The file must live as long as it is shown.
  void set_file(CaptureFile* file);
  // Only what passes; an empty expression shows all. An error leaves things as they are.
  std::optional<dissect::FilterError> set_filter(const QString& text);
  // Sorted by what the index knows, in a thread; sorted() says when rows have moved. Frames that come later stand
  // behind until no more come. Nothing: the order of the capture.
  struct Sorting {
    PacketColumns::Column column;
    bool descending = false;
    bool operator==(const Sorting&) const = default;
  };
  static bool sorts_by(int column) { return column == number || column == time || column == length; }
  void sort_by(std::optional<Sorting> sorting);
  const std::optional<Sorting>& sorting() const { return sorting_; }
  void set_time_form(TimeForm form);
  void set_dark(bool dark);

  // Of a row of the list: its frame, counted from 0. And the other way round: -1, it does not pass.
  std::size_t frame_of(int row) const {
    const auto n = static_cast<std::size_t>(row);
    return n < order_.size() ? order_[n] : filtered_ ? rows_[n] : n;
  }
  int row_of(std::size_t frame) const;
  bool is_filtered() const { return filtered_; }
  bool is_filtering() const { return run_ && run_->running(); }
  // The row as text, columns parted by tabs.
  QString line(int row) const;
  // What a search needs: how rows are written, and the frames of the rows from 0, of which nullopt has all.
  const PacketRow& row_form() const { return row_; }
  std::optional<std::vector<std::uint32_t>> frames() const;

  // Of the user's settings, by name; -1: there is none.
  int column_of(const QString& name) const;

  // Marks and the time reference: frames, counted from 0.
  void toggle_mark(std::size_t frame);
  bool is_marked(std::size_t frame) const { return marks_.contains(frame); }
  const std::set<std::size_t>& marks() const { return marks_; }
  void set_time_reference(std::optional<std::size_t> frame);
  std::optional<std::size_t> time_reference() const { return row_.reference; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 signals:
  void countChanged();
  void sorted();

 private:
  // What painting a row needs, made at once for all its cells.
  struct Cells {
    std::size_t frame = SIZE_MAX;
    std::vector<QString> text;  // by column
    int rule = -1;              // of ColourRules that fits
  };
  const Cells& cells(std::size_t frame) const;
  void take_columns();
  bool is_figure(int column) const;
  void grow();
  bool is_complete() const;  // no more rows come
  void sort_again();
  void take_order(std::vector<std::uint32_t> order);
  void refresh();
  void know_more();

  CaptureFile* file_ = nullptr;
  PacketRow row_;
  int shown_ = 0;  // rows that views know of
  bool filtered_ = false, dark_ = false;
  QString annotated_filter_;  // the filter, if it asks what following the connections tells
  std::unique_ptr<FilterRun> run_;
  std::vector<std::uint32_t> rows_;  // of frames that pass
  std::optional<Sorting> sorting_;
  std::unique_ptr<SortRun> sort_;
  std::uint64_t sorts_ = 0;           // begun so far
  std::vector<std::uint32_t> order_;  // sorted: of the first rows
  std::set<std::size_t> marks_;
  mutable std::array<Cells, 256> cache_;  // by frame number modulo
};

}  // namespace rdmascope::gui
