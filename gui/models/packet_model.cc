#include "gui/models/packet_model.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "dissect/annotations.h"
#include "dissect/headers.h"
#include "dissect/text.h"

namespace rdmascope::gui {
namespace {

using namespace dissect;

QString text_of(const Text& text) { return QString::fromUtf8(text.view().data(), static_cast<qsizetype>(text.size())); }

std::string time_of_day(std::int64_t ns) {
  constexpr std::int64_t second = 1'000'000'000;
  std::int64_t seconds = ns / second, rest = ns % second;
  if (rest < 0) --seconds, rest += second;
  return fmt::format("{:%F %T}.{:09}", fmt::localtime(static_cast<std::time_t>(seconds)), rest);
}

}  // namespace

PacketModel::PacketModel(QObject* parent) : QAbstractTableModel(parent) {}
PacketModel::~PacketModel() = default;

void PacketModel::set_file(CaptureFile* file) {
  beginResetModel();
  run_.reset();
  if (file_) file_->disconnect(this);
  file_ = file;
  rows_.clear();
  marks_.clear();
  reference_.reset();
  filtered_ = false;
  annotated_filter_.clear();
  shown_ = 0;
  for (Cells& c : cache_) c.frame = SIZE_MAX;
  if (file_) {
    shown_ = static_cast<int>(file_->index().size());
    connect(file_, &CaptureFile::grown, this, &PacketModel::grow, Qt::QueuedConnection);
    connect(file_, &CaptureFile::followed_up, this, &PacketModel::know_more, Qt::QueuedConnection);
  }
  endResetModel();
  emit countChanged();
}

std::optional<FilterError> PacketModel::set_filter(const QString& text) {
  auto compiled = Filter::compile(text.toStdString());
  if (const FilterError* error = std::get_if<FilterError>(&compiled)) return *error;
  annotated_filter_ = std::get<Filter>(compiled).uses_annotations() ? text : QString();
  beginResetModel();
  run_.reset();
  rows_.clear();
  filtered_ = file_ && !text.trimmed().isEmpty();
  shown_ = filtered_ || !file_ ? 0 : static_cast<int>(file_->index().size());
  if (filtered_) {
    run_ = std::make_unique<FilterRun>(*file_, std::get<Filter>(compiled));
    connect(run_.get(), &FilterRun::found, this, &PacketModel::grow, Qt::QueuedConnection);
    connect(run_.get(), &FilterRun::done, this, &PacketModel::countChanged, Qt::QueuedConnection);
  }
  endResetModel();
  emit countChanged();
  return std::nullopt;
}

void PacketModel::set_time_form(TimeForm form) {
  time_form_ = form;
  refresh();
}

void PacketModel::set_dark(bool dark) {
  dark_ = dark;
  refresh();
}

// Rows come at the end only.
void PacketModel::grow() {
  if (!file_) return;
  std::vector<std::uint32_t> fresh;
  if (run_) run_->take(fresh);
  const int end = filtered_ ? shown_ + static_cast<int>(fresh.size()) : static_cast<int>(file_->index().size());
  if (end > shown_) {
    beginInsertRows({}, shown_, end - 1);
    rows_.insert(rows_.end(), fresh.begin(), fresh.end());
    shown_ = end;
    endInsertRows();
  }
  emit countChanged();
}

// While a file grows the filter looks at what was known at the time; at the end it looks again.
void PacketModel::know_more() {
  if (file_ && file_->grows() && !file_->following() && !annotated_filter_.isEmpty())
    set_filter(annotated_filter_);
  else
    refresh();
}

// Every row may look different now.
void PacketModel::refresh() {
  for (Cells& c : cache_) c.frame = SIZE_MAX;
  if (shown_ > 0) emit dataChanged(index(0, 0), index(shown_ - 1, columns - 1));
}

int PacketModel::row_of(std::size_t frame) const {
  if (!filtered_) return frame < static_cast<std::size_t>(shown_) ? static_cast<int>(frame) : -1;
  const auto found = std::lower_bound(rows_.begin(), rows_.end(), frame);
  return found != rows_.end() && *found == frame ? static_cast<int>(found - rows_.begin()) : -1;
}

QString PacketModel::line(int row) const {
  QStringList out;
  for (const QString& text : cells(frame_of(row)).text) out << text;
  return out.join('\t');
}

void PacketModel::toggle_mark(std::size_t frame) {
  if (!marks_.erase(frame)) marks_.insert(frame);
  refresh();
}

void PacketModel::set_time_reference(std::optional<std::size_t> frame) {
  reference_ = frame;
  refresh();
}

const PacketModel::Cells& PacketModel::cells(std::size_t frame) const {
  Cells& out = cache_[frame % cache_.size()];
  if (out.frame == frame) return out;
  static thread_local Packet packet;
  Annotations annotations;
  file_->load(frame, packet, annotations);
  Text text;
  const auto take = [&](Column column) {
    out.text[column] = text_of(text);
    text.clear();
  };
  text.dec(packet.frame.number);
  take(number);
  if (packet.frame.has_time) {
    if (reference_) {
      const std::int64_t from = file_->index()[*reference_].time_ns;
      text.seconds(static_cast<std::int64_t>(static_cast<std::uint64_t>(packet.frame.time_ns) -
                                             static_cast<std::uint64_t>(from)));
      if (*reference_ == frame) text.clear(), text.put("*REF*");
    } else if (time_form_ == TimeForm::of_day) {
      text.put(time_of_day(packet.frame.time_ns));
    } else {
      text.seconds(time_form_ == TimeForm::since_first ? packet.frame.time_relative_ns : packet.frame.time_delta_ns);
    }
  }
  take(time);
  const Layer* const addresses = address_layer(packet);
  put_source(text, packet, addresses);
  take(source);
  put_destination(text, packet, addresses);
  take(destination);
  text.put(dissect::protocol(packet));
  take(protocol);
  text.dec(packet.frame.wire_bytes);
  take(length);
  put_info(text, packet);
  take(info);
  const std::uint32_t flow = annotations.flow;
  if (flow != 0)
    text.dec(flow);
  else if (annotations.cdi_flow != 0)
    text.put("CDI "), text.dec(annotations.cdi_flow);
  take(connection);
  out.worst = -1;
  for (const Note& note : annotations.notes) {
    if (out.worst < 0 || note.kind < out.worst) out.worst = note.kind;
    if (text.size() > 0) text.put(", ");
    text.put(note.rule);
  }
  take(verdict);
  out.tone = tone(packet);
  out.retransmission = annotations.retransmission;
  packet.drop_annotations();
  out.frame = frame;
  return out;
}

// Text is readable on its background in either form; red is for what is wrong, yellow for what is not healthy.
RowColors PacketModel::colors(const Cells& c) const {
  const auto pick = [this](const char* light, const char* dark) { return QColor(QLatin1String(dark_ ? dark : light)); };
  if (c.worst == static_cast<int>(check::Class::violation))
    return {pick("#7a0000", "#ffd0d0"), pick("#ffd9d9", "#5c1a1a")};
  if (c.tone == Tone::bad_crc) return {pick("#ff9a9a", "#ff9a9a"), pick("#2b1414", "#2b1414")};
  if (c.worst == static_cast<int>(check::Class::anomaly))
    return {pick("#5c4300", "#ffe9b0"), pick("#fff2cc", "#4d3b00")};
  switch (c.tone) {
    case Tone::nak:
      return {pick("#7a0000", "#ffd0d0"), pick("#ffe8e0", "#4a201a")};
    case Tone::rnr:
      return {pick("#6b3d00", "#ffd8a8"), pick("#ffeedd", "#46300f")};
    case Tone::congestion:
      return {pick("#4b0082", "#e0c8ff"), pick("#f1e6ff", "#3a2252")};
    case Tone::management:
      return {pick("#00406b", "#bfe3ff"), pick("#e4f3ff", "#12324a")};
    case Tone::malformed:
      return {pick("#7a0000", "#ffb0b0"), {}};
    case Tone::other:
      return {pick("#707070", "#9a9a9a"), {}};
    default:
      break;
  }
  if (c.retransmission) return {pick("#5c4300", "#ffe9b0"), pick("#fff8e6", "#3a3216")};
  if (c.tone == Tone::acknowledge) return {pick("#3a5f3a", "#a8cfa8"), {}};
  return {};
}

int PacketModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : shown_; }

QVariant PacketModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= shown_) return {};
  const std::size_t frame = frame_of(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return cells(frame).text[static_cast<std::size_t>(index.column())];
    case Qt::ToolTipRole: {
      if (index.column() != verdict || !file_->followed()) return {};
      QStringList lines;
      for (const Note& note : file_->followed()->annotations.of(frame + 1).notes)
        lines << QString("%1: %2").arg(QString::fromUtf8(note.rule.data(), static_cast<qsizetype>(note.rule.size())),
                                       QString::fromStdString(note.text));
      return lines.join('\n');
    }
    case Qt::ForegroundRole: {
      if (is_marked(frame)) return QColor(Qt::white);
      const RowColors c = colors(cells(frame));
      return c.text.isValid() ? QVariant(c.text) : QVariant();
    }
    case Qt::BackgroundRole: {
      if (is_marked(frame)) return QColor("#202a6a");
      const RowColors c = colors(cells(frame));
      return c.background.isValid() ? QVariant(c.background) : QVariant();
    }
    case Qt::TextAlignmentRole:
      return index.column() == number || index.column() == length || index.column() == time
                 ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                 : QVariant(Qt::AlignLeft | Qt::AlignVCenter);
    default:
      return {};
  }
}

QVariant PacketModel::headerData(int section, Qt::Orientation orientation, int role) const {
  static constexpr const char* titles[columns] = {"No.",    "Time", "Source",     "Destination", "Protocol",
                                                  "Length", "Info", "Connection", "Verdict"};
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section >= columns) return {};
  return QString(titles[section]);
}

}  // namespace rdmascope::gui
