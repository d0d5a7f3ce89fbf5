#include "gui/models/packet_columns.h"

#include <QSettings>

#include <algorithm>

#include "dissect/field_index.h"

namespace rdmascope::gui {
namespace {

constexpr int field_width = 120, least_width = 20, most_width = 4000;

struct Known {
  const char *name, *title;
  int width;
};
constexpr Known known[PacketColumns::of_list] = {{"number", "No.", 60},        {"time", "Time", 110},
                                                 {"source", "Source", 120},    {"destination", "Destination", 120},
                                                 {"protocol", "Protocol", 80}, {"length", "Length", 60},
                                                 {"info", "Info", 480},        {"connection", "Connection", 85},
                                                 {"verdict", "Verdict", 130}};

// "psn" of "infiniband.bth.psn", with the part before where it says more: "bth.psn".
QString title_of(const QString& field) { return field.section('.', -2); }

QString no_such_field(const QString& name) {
  const std::string near = dissect::nearest_field_name(name.toStdString());
  return QObject::tr("There is no field %1%2.")
      .arg(name, near.empty() ? QString() : QObject::tr("; did you mean %1?").arg(QString::fromStdString(near)));
}

}  // namespace

PacketColumns::PacketColumns() {
  QSettings settings;
  std::vector<ColumnSetting> kept;
  const int count = settings.beginReadArray("packets/columns");
  for (int i = 0; i < count; ++i) {
    settings.setArrayIndex(i);
    kept.push_back({settings.value("name").toString(), settings.value("title").toString(),
                    settings.value("width").toInt(), settings.value("shown").toBool()});
  }
  settings.endArray();
  if (kept.empty())
    all_ = defaults();
  else
    set(std::move(kept));
}

PacketColumns& PacketColumns::of_user() {
  static PacketColumns columns;
  return columns;
}

std::vector<ColumnSetting> PacketColumns::defaults() {
  std::vector<ColumnSetting> out;
  for (const Known& k : known) out.push_back({k.name, k.title, k.width, true});
  return out;
}

PacketColumns::Column PacketColumns::column_of(const QString& name) {
  const auto found = std::ranges::find_if(known, [&](const Known& k) { return name == QLatin1String(k.name); });
  return static_cast<Column>(found - std::begin(known));
}

void PacketColumns::set(std::vector<ColumnSetting> columns) {
  std::vector<ColumnSetting> good;
  for (ColumnSetting& c : columns) {
    const bool is_field = column_of(c.name) == of_list;
    const bool again = std::ranges::find(good, c.name, &ColumnSetting::name) != good.end();
    if (again || (is_field && dissect::find_fields(c.name.toStdString()).empty())) continue;
    c.width = std::clamp(c.width, least_width, most_width);
    if (c.title.isEmpty()) c.title = is_field ? title_of(c.name) : c.name;
    good.push_back(std::move(c));
  }
  for (const Known& k : known)
    if (std::ranges::find(good, QString(k.name), &ColumnSetting::name) == good.end())
      good.push_back({k.name, k.title, k.width, false});
  // A list without any cannot be brought back by its own menu.
  if (std::ranges::none_of(good, &ColumnSetting::shown)) good.front().shown = true;
  if (good == all_) return;
  all_ = std::move(good);
  QSettings settings;
  settings.beginWriteArray("packets/columns", static_cast<int>(all_.size()));
  for (std::size_t i = 0; i < all_.size(); ++i) {
    settings.setArrayIndex(static_cast<int>(i));
    settings.setValue("name", all_[i].name);
    settings.setValue("title", all_[i].title);
    settings.setValue("width", all_[i].width);
    settings.setValue("shown", all_[i].shown);
  }
  settings.endArray();
  emit changed();
}

QString PacketColumns::add_field(const QString& name, std::vector<ColumnSetting>& columns) {
  const QString wanted = name.trimmed();
  if (column_of(wanted) == of_list && dissect::find_fields(wanted.toStdString()).empty()) return no_such_field(wanted);
  if (const auto there = std::ranges::find(columns, wanted, &ColumnSetting::name); there != columns.end()) {
    there->shown = true;
  } else {
    // In front of the text, which takes most of the room.
    const auto place = std::ranges::find(columns, QString("info"), &ColumnSetting::name);
    columns.insert(place, {wanted, title_of(wanted), field_width, true});
  }
  return {};
}

QString PacketColumns::add_field(const QString& name) {
  std::vector<ColumnSetting> columns = all_;
  QString why = add_field(name, columns);
  if (why.isEmpty()) set(std::move(columns));
  return why;
}

void PacketColumns::remove_field(const QString& name) {
  std::vector<ColumnSetting> columns = all_;
  std::erase_if(columns, [&](const ColumnSetting& c) { return c.name == name && column_of(c.name) == of_list; });
  set(std::move(columns));
}

}  // namespace rdmascope::gui
