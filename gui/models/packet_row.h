// What a row of the packet list says. A copy is a set of settings that stays as it is, for threads that look for text.
#pragma once

#include <QString>

#include <optional>
#include <vector>

#include "dissect/field_index.h"
#include "gui/models/capture_file.h"
#include "gui/models/packet_columns.h"

namespace rdmascope::gui {

enum class TimeForm { since_first, since_previous, of_day };

// A column that shows a field.
struct FieldColumn {
  QString name;
  std::vector<dissect::FieldRef> fields;
};

struct PacketRow {
  TimeForm time_form = TimeForm::since_first;
  std::optional<std::size_t> reference;  // frame that times count from, from 0
  std::vector<FieldColumn> fields;       // behind the columns of the list

  std::size_t columns() const { return PacketColumns::of_list + fields.size(); }
  // Walks frame `frame`, from 0, into `packet`, and writes a text for each column. The packet keeps its annotations.
  void make(const CaptureFile& file, std::size_t frame, dissect::Packet& packet, dissect::Annotations& annotations,
            std::vector<QString>& out) const;
};

// "3", "CDI 1": the connection of a frame, as its column has it; empty: none.
QString connection_text(const dissect::Annotations& annotations);

}  // namespace rdmascope::gui
