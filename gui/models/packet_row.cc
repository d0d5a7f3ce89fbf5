#include "gui/models/packet_row.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "dissect/annotations.h"
#include "dissect/headers.h"
#include "dissect/summary.h"
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

QString connection_text(const Annotations& annotations) {
  if (annotations.flow != 0) return QString::number(annotations.flow);
  return annotations.cdi_flow != 0 ? QString("CDI %1").arg(annotations.cdi_flow) : QString();
}

void PacketRow::make(const CaptureFile& file, std::size_t frame, Packet& packet, Annotations& annotations,
                     std::vector<QString>& out) const {
  file.load(frame, packet, annotations);
  Text text;
  out.assign(columns(), {});
  const auto take = [&](int column) {
    out[static_cast<std::size_t>(column)] = text_of(text);
    text.clear();
  };
  text.dec(packet.frame.number);
  take(PacketColumns::number);
  if (packet.frame.has_time) {
    if (reference) {
      const std::int64_t from = file.index()[*reference].time_ns;
      text.seconds(static_cast<std::int64_t>(static_cast<std::uint64_t>(packet.frame.time_ns) -
                                             static_cast<std::uint64_t>(from)));
      if (*reference == frame) text.clear(), text.put("*REF*");
    } else if (time_form == TimeForm::of_day) {
      text.put(time_of_day(packet.frame.time_ns));
    } else {
      text.seconds(time_form == TimeForm::since_first ? packet.frame.time_relative_ns : packet.frame.time_delta_ns);
    }
  }
  take(PacketColumns::time);
  const Layer* const addresses = address_layer(packet);
  put_source(text, packet, addresses);
  take(PacketColumns::source);
  put_destination(text, packet, addresses);
  take(PacketColumns::destination);
  text.put(dissect::protocol(packet));
  take(PacketColumns::protocol);
  text.dec(packet.frame.wire_bytes);
  take(PacketColumns::length);
  put_info(text, packet);
  take(PacketColumns::info);
  out[PacketColumns::connection] = connection_text(annotations);
  for (const Note& note : annotations.notes) {
    if (text.size() > 0) text.put(", ");
    text.put(note.rule);
  }
  take(PacketColumns::verdict);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    put_values(text, packet, fields[i].fields, Occurrence::all, ',');
    take(PacketColumns::of_list + static_cast<int>(i));
  }
}

}  // namespace rdmascope::gui
