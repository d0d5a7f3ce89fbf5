// Which columns the packet list has, in which order and how wide: those it always can show, and any field. Kept with
// the user's settings; a change is told to all lists.
#pragma once

#include <QObject>
#include <QString>

#include <vector>

namespace rdmascope::gui {

struct ColumnSetting {
  QString name;   // "info", or a field as filters name it: "infiniband.bth.psn"
  QString title;  // on top
  int width = 0;  // pixels
  bool shown = true;
  bool operator==(const ColumnSetting&) const = default;
};

class PacketColumns final : public QObject {
  Q_OBJECT

 public:
  // Those that show no field.
  enum Column { number, time, source, destination, protocol, length, info, connection, verdict, of_list };

  // The settings of this user, read when they are first asked for.
  static PacketColumns& of_user();
  static std::vector<ColumnSetting> defaults();

  // From left to right. Those of the list are always among them, shown or not.
  const std::vector<ColumnSetting>& all() const { return all_; }
  // Keeps them. Columns of the list that are missing are added, not shown; fields that do not exist are left out.
  void set(std::vector<ColumnSetting> columns);
  // In front of the text of the packet. A sentence if there is no such field; empty: it is there now.
  QString add_field(const QString& name);
  static QString add_field(const QString& name, std::vector<ColumnSetting>& columns);
  void remove_field(const QString& name);

  // The column of the list that goes by this name; of_list: none, it is a field.
  static Column column_of(const QString& name);

 signals:
  void changed();

 private:
  PacketColumns();
  std::vector<ColumnSetting> all_;
};

}  // namespace rdmascope::gui
