// The bytes of a packet: offset, hexadecimal, characters. The bytes of the chosen field stand out; where a field has
// only some bits of a byte, a line below says which.
#pragma once

#include <QAbstractScrollArea>

#include <cstdint>
#include <vector>

#include "gui/models/field_tree.h"

namespace rdmascope::gui {

class HexView final : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit HexView(QWidget* parent = nullptr);

  void set_bytes(std::span<const std::uint8_t> bytes);
  void set_chosen(BitRange range);
  BitRange chosen() const { return chosen_; }
  // Where the byte is painted, in the coordinates of the viewport.
  QRect place_of(std::size_t byte) const;

 signals:
  // Of the byte, or of one of its bits that was clicked in the line of bits.
  void bitChosen(quint64 bit);

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  QSize sizeHint() const override;

 private:
  static constexpr int per_line = 16;
  int lines() const { return static_cast<int>((bytes_.size() + per_line - 1) / per_line); }
  int column_x(int byte) const;  // of the hexadecimal digits
  int text_x(int byte) const;    // of the character
  bool has_bits() const { return chosen_.count > 0 && (chosen_.first % 8 != 0 || chosen_.count % 8 != 0); }
  int bits_height() const;
  void measure();

  std::vector<std::uint8_t> bytes_;
  BitRange chosen_;
  int char_width_ = 8, line_height_ = 16;
};

}  // namespace rdmascope::gui
