// The fields of one packet as a tree: the lines of `read -V`, each with the bytes it stands for.
#pragma once

#include <QAbstractItemModel>
#include <QString>

#include <memory>
#include <string>
#include <vector>

#include "dissect/annotations.h"
#include "dissect/packet.h"
#include "gui/models/capture_file.h"

namespace rdmascope::gui {

// A place in the frame, in bits from its first byte.
struct BitRange {
  std::uint64_t first = 0, count = 0;
  bool operator==(const BitRange&) const = default;
};

class FieldTree final : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Role {
    range = Qt::UserRole,  // BitRange; count 0: it stands for no bytes
    name,                  // full name in filters: "infiniband.bth.psn"; empty: none
    comparison,            // "infiniband.bth.psn == 5"
    frame,                 // of another packet that this row names (quint64); 0: none
  };

  explicit FieldTree(QObject* parent = nullptr);

  // The packet in `row` of the file, from 0; nullptr shows nothing.
  void show(const CaptureFile* file, std::size_t row);
  std::span<const std::uint8_t> bytes() const { return packet_->bytes; }
  // The row that stands for this bit, the innermost one.
  QModelIndex at_bit(std::uint64_t bit) const;
  // The first row of that field; invalid: the packet has none.
  QModelIndex at_field(std::string_view full_name) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& = {}) const override { return 1; }
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  struct Row {
    std::string text;
    BitRange range;
    std::string name, comparison;
    std::uint64_t frame = 0;
  };
  struct Group {
    Row heading;
    std::vector<Row> rows;
  };
  Row make_row(const dissect::Layer& layer, const dissect::Field* field, unsigned n, unsigned count) const;

  std::unique_ptr<dissect::Packet> packet_;
  dissect::Annotations annotations_;
  std::vector<Group> groups_;
};

}  // namespace rdmascope::gui

Q_DECLARE_METATYPE(rdmascope::gui::BitRange)
