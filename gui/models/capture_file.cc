#include "gui/models/capture_file.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <QDir>
#include <QTemporaryFile>
#include <QThreadPool>

#include <algorithm>
#include <chrono>

#include "capture/open.h"
#include "capture/writer.h"
#include "check/cdi.h"
#include "dissect/annotations.h"
#include "gui/models/latency.h"

namespace rdmascope::gui {
namespace {

constexpr std::size_t batch = 1024;
constexpr std::chrono::milliseconds between_signals{100};
// A growing file is followed from its start again and again. So many times as long as that took it then rests, so that
// it costs a quarter of a core whatever the size, and small captures are up to date.
constexpr int rest_factor = 3;
constexpr std::chrono::milliseconds least_rest{500};
// So many messages, steps and entries stay; a capture has more when something is very wrong, or very long.
constexpr std::size_t most_messages = 5'000'000, most_steps = 20'000'000, most_completions = 5'000'000;

std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

CdiRow cdi_row(const check::CdiFlow& flow, std::int64_t begin_ns, std::int64_t end_ns) {
  CdiRow row;
  row.number = flow.number;
  row.tx = to_text(flow.tx().end);
  row.rx = to_text(flow.rx().end);
  row.stream = flow.stream_name;
  if (flow.version()) row.version = to_text(*flow.version());
  row.messages = {flow.tx().messages, flow.rx().messages};
  row.missing = {flow.tx().missing, flow.rx().missing};
  row.connects = flow.times_connected;
  row.pings = flow.pings;
  row.pongs = flow.pongs;
  if (flow.pongs > 0) row.round_trip_ns = flow.round_trip_ns / static_cast<std::int64_t>(flow.pongs);
  row.tx_state = short_name(flow.tx().state);
  row.rx_state = short_name(flow.rx().state);
  row.first_frame = flow.first_frame;
  row.last_frame = flow.last_frame;
  row.found = flow.found;
  row.story = story(flow, begin_ns, end_ns);
  for (const check::CdiEvent& e : flow.events) row.frames.push_back(e.frame);
  row.frames.resize(row.story.size());
  return row;
}

// Hears the checker and keeps what views show.
class Gatherer final : public check::Listener {
 public:
  explicit Gatherer(Followed& out) : out_(out) {}

  void packet(const check::PacketFacts& f) override {
    out_.annotations.packet(f);
    if (f.connection == 0 || f.frame > UINT32_MAX || !keeps(out_.steps, most_steps)) return;
    out_.steps.push_back({static_cast<std::uint32_t>(f.frame), f.connection, f.psn,
                          static_cast<std::uint32_t>(f.retransmission_of), f.kind, f.side, f.retransmission, f.marked,
                          f.cnp});
  }
  void mad(const check::MadContext& c) override { out_.annotations.mad(c); }
  void cdi(const check::CdiContext& c) override { out_.annotations.cdi(c); }
  void completion(const check::CompletionContext& c) override {
    if (c.packet.frame.number > UINT32_MAX || !keeps(out_.completions, most_completions)) return;
    links_.entry(c);
    CompletionRow& row = out_.completions.emplace_back();
    row.frame = static_cast<std::uint32_t>(c.packet.frame.number);
    row.failed = c.entry.failed();
  }
  void message(const check::Connection& c, std::uint8_t side, const check::Message& m) override {
    out_.annotations.message(c, side, m);
    if (keeps(out_.messages, most_messages)) out_.messages.push_back({c.id, side, m});
  }
  void finding(const check::Finding& f, const check::Connection* c) override {
    out_.annotations.finding(f, c);
    lists_.finding(f, c);
  }
  void ended(const check::Connection& c) override {
    out_.annotations.ended(c);
    links_.connection(c);
    lists_.ended(c);
  }
  void end_of_cdi(const check::CdiFlows& flows, std::int64_t begin_ns, std::int64_t end_ns) override {
    for (const check::CdiFlow& flow : flows.flows()) out_.cdi.push_back(cdi_row(flow, begin_ns, end_ns));
  }

  void finish(const check::Checker& checker) {
    lists_.settle();
    out_.findings = std::move(lists_.findings);
    out_.connections = std::move(lists_.connections);
    out_.left_out += lists_.left_out;
    for (MessageRow& m : out_.messages) m.connection = lists_.whole_of(m.connection).value_or(m.connection);
    for (StepRow& s : out_.steps) {
      const std::optional<std::uint32_t> whole = lists_.whole_of(s.connection);
      if (!whole) continue;
      s.connection = *whole;
      s.side ^= 1;
    }
    measure_latencies();
    link_completions();
    out_.annotations.settle();
    out_.totals = checker.totals();
    out_.verdict = verdict(out_.totals, lists_.tallies);
  }

 private:
  template <class T>
  bool keeps(const std::vector<T>& list, std::size_t most) {
    if (list.size() < most) return true;
    ++out_.left_out;
    return false;
  }

  void measure_latencies() {
    const std::vector<ConnectionRow>& rows = out_.connections;
    std::vector<std::vector<std::int64_t>> values(rows.size());
    for (const MessageRow& m : out_.messages) {
      const std::optional<std::int64_t> latency = latency_of(m.message);
      if (!latency) continue;
      const auto row = std::ranges::lower_bound(rows, m.connection, {}, &ConnectionRow::id);
      if (row != rows.end() && row->id == m.connection)
        values[static_cast<std::size_t>(row - rows.begin())].push_back(*latency);
    }
    out_.latencies.resize(rows.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!values[i].empty()) out_.latencies[i] = {percentile(values[i], 50), percentile(values[i], 99)};
  }

  void link_completions() {
    const std::vector<check::CompletionLink> links = links_.link(out_.messages);
    for (std::size_t i = 0; i < links.size(); ++i) {
      CompletionRow& row = out_.completions[i];
      row.connection = links[i].connection;
      row.side = links[i].side;
      if (!links[i].message) continue;
      const check::Message& m = out_.messages[*links[i].message].message;
      row.began = static_cast<std::uint32_t>(m.first_frame);
      row.ended = static_cast<std::uint32_t>(links[i].caused_by);
      row.message = m.index;
      row.certain = links[i].certain;
    }
    for (const FoundRow& f : out_.findings) {
      const auto row = std::ranges::lower_bound(out_.completions, f.frame, {}, &CompletionRow::frame);
      if (row == out_.completions.end() || row->frame != f.frame) continue;
      const auto kind = static_cast<std::int8_t>(f.kind);
      if (row->worst < 0 || kind < row->worst) row->worst = kind;
    }
  }

  Followed& out_;
  check::CompletionLinker links_;
  check::Lists lists_;
};

}  // namespace

CaptureFile::CaptureFile(QString path, Growth growth, QObject* parent)
    : QObject(parent), path_(std::move(path)), growth_(growth), stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

CaptureFile::~CaptureFile() {
  cancel();
  if (reader_.joinable()) reader_.join();
  if (follower_.joinable()) follower_.join();
  source_.reset();
  if (stop_event_ >= 0) ::close(stop_event_);
  if (!unpacked_.isEmpty()) QFile::remove(unpacked_);
}

void CaptureFile::start() {
  reading_ = true;
  reader_ = std::thread([this] {
    read();
    {
      const std::lock_guard lock(mutex_);
      reading_ = false;
    }
    changed_.notify_all();
    emit grown();
    emit indexed();
  });
  follower_ = std::thread([this] {
    follow_along();
    following_ = false;
    emit following_ended();
  });
}

void CaptureFile::tell_to_stop() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_event_, &one, sizeof one));
}

void CaptureFile::cancel() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  tell_to_stop();
}

void CaptureFile::finish() { tell_to_stop(); }

std::shared_ptr<const Followed> CaptureFile::followed() const {
  const std::lock_guard lock(mutex_);
  return followed_;
}

// --- Reading ---------------------------------------------------------------------------------------------------------

std::uint16_t CaptureFile::link_of(const capture::Frame& frame, const std::vector<capture::Interface>& interfaces) {
  std::optional<std::uint8_t> fcs;
  if (frame.interface_id < interfaces.size()) fcs = interfaces[frame.interface_id].fcs_bytes;
  const auto is_it = [&](const Link& l) {
    return l.type == frame.link_type && l.interface_id == frame.interface_id && l.fcs_bytes == fcs;
  };
  const auto end = links_.begin() + static_cast<std::ptrdiff_t>(link_count_.load());
  // Mostly the one before, and few in all.
  const auto found = std::find_if(links_.begin(), end, is_it);
  if (found == end && link_count_ < links_.size()) {
    links_[link_count_] = {frame.link_type, fcs, frame.interface_id};
    ++link_count_;
  }
  return static_cast<std::uint16_t>(found - links_.begin());
}

void CaptureFile::read() {
  const std::string path = path_.toStdString();
  const bool grows = growth_ == Growth::grows;
  auto opened = capture::open_file(path, grows ? capture::Access::growing : capture::Access::mapped, stop_event_);
  if (!opened) return emit failed(QString::fromStdString(opened.error()));
  source_ = std::move(*opened);
  // Frames of packed files and pipes do not stay: they are written to a file that does.
  std::unique_ptr<capture::Writer> copy;
  if (!source_->frames_stay()) {
    QTemporaryFile file(QDir::tempPath() + "/rdmascope-XXXXXX.pcapng");
    file.setAutoRemove(false);
    if (!file.open())
      return emit failed(QString("cannot unpack %1: no room for a file in %2").arg(path_, QDir::tempPath()));
    unpacked_ = file.fileName();
    auto writer = capture::Writer::create(unpacked_.toStdString());
    if (!writer) return emit failed(QString::fromStdString(writer.error()));
    copy = std::move(*writer);
  }
  const auto pass = [this](capture::Source& source, bool whole, const auto& take) {
    std::vector<capture::Frame> frames(batch);
    auto last = std::chrono::steady_clock::now();
    while (!stop_) {
      const Result<std::size_t> count = source.read(frames);
      if (!count) return emit failed(QString::fromStdString(count.error()));
      if (*count == 0) return;
      for (std::size_t i = 0; i < *count; ++i)
        if (!take(source, frames[i])) return;
      const auto now = std::chrono::steady_clock::now();
      if (now - last < between_signals) continue;
      last = now;
      const capture::Progress progress = source.progress();
      if (progress.total.value_or(0) > 0 && whole)
        progress_ = static_cast<double>(progress.bytes) / static_cast<double>(*progress.total);
      emit grown();
    }
  };
  if (copy) {
    std::size_t described = 0;
    bool good = true;
    pass(*source_, true, [&](capture::Source& source, const capture::Frame& frame) {
      if (source.interfaces().size() != described) {
        good = good && copy->describe(source.interfaces());
        described = source.interfaces().size();
      }
      good = good && copy->write(frame);
      if (!good) emit failed(QString("cannot unpack %1: no room in %2").arg(path_, QDir::tempPath()));
      return good;
    });
    static_cast<void>(copy->close());
    copy.reset();
    auto again = capture::open_file(unpacked_.toStdString(), capture::Access::mapped);
    if (!again) return emit failed(QString::fromStdString(again.error()));
    source_ = std::move(*again);
  }
  pass(*source_, unpacked_.isEmpty(), [this](capture::Source& source, const capture::Frame& frame) {
    const auto address = reinterpret_cast<std::uint64_t>(frame.bytes.data());
    if (index_.size() == 0) first_ns_ = frame.has_time ? frame.time_ns : 0;
    const std::uint16_t link = link_of(frame, source.interfaces());
    const bool room = index_.add({address | std::uint64_t{link} << IndexedFrame::address_bits,
                                  frame.has_time ? frame.time_ns : IndexedFrame::no_time,
                                  static_cast<std::uint32_t>(frame.bytes.size()), frame.wire_bytes});
    if (!room) emit failed(QString("%1: only the first %2 frames are shown").arg(path_).arg(FrameIndex::most));
    return room;
  });
  progress_ = 1;
}

void CaptureFile::fill(dissect::FrameInfo& info, std::size_t row) const {
  const IndexedFrame& f = index_[row];
  const Link& link = links_[f.link()];
  info = {};
  info.number = row + 1;
  info.has_time = f.time_ns != IndexedFrame::no_time;
  info.time_ns = info.has_time ? f.time_ns : 0;
  info.time_relative_ns = difference(info.time_ns, first_ns_);
  const std::int64_t before = row > 0 ? index_[row - 1].time_ns : f.time_ns;
  info.time_delta_ns = before == IndexedFrame::no_time ? 0 : difference(info.time_ns, before);
  info.wire_bytes = f.wire;
  info.interface_id = link.interface_id;
  info.link_type = link.type;
  info.fcs_bytes = link.fcs_bytes;
}

void CaptureFile::load(std::size_t row, dissect::Packet& packet) const {
  fill(packet.frame, row);
  const IndexedFrame& f = index_[row];
  dissect::walk(packet, {f.bytes(), f.captured}, {});
}

void CaptureFile::load(std::size_t row, dissect::Packet& packet, dissect::Annotations& annotations) const {
  load(row, packet);
  const std::shared_ptr<const Followed> known = followed();
  if (!known) return;
  annotations = known->annotations.of(row + 1);
  dissect::annotate(packet, annotations);
}

QString CaptureFile::write(const std::string& path, bool as_pcap, const std::vector<std::size_t>& rows) const {
  if (path == path_.toStdString()) return tr("%1 is the file that is shown; choose another name").arg(path_);
  capture::WriterOptions options;
  options.format = as_pcap ? capture::FileFormat::pcap : capture::FileFormat::pcapng;
  auto writer = capture::Writer::create(path, options);
  if (!writer) return QString::fromStdString(writer.error());
  std::vector<capture::Interface> interfaces(link_count_);
  for (std::size_t i = 0; i < link_count_; ++i) {
    interfaces[i].link_type = links_[i].type;
    interfaces[i].fcs_bytes = links_[i].fcs_bytes;
  }
  Result<void> good = (*writer)->describe(interfaces);
  for (std::size_t i = 0; good && i < rows.size(); ++i) {
    const IndexedFrame& f = index_[rows[i]];
    capture::Frame frame;
    frame.bytes = {f.bytes(), f.captured};
    frame.has_time = f.time_ns != IndexedFrame::no_time;
    frame.time_ns = frame.has_time ? f.time_ns : 0;
    frame.wire_bytes = f.wire;
    frame.interface_id = f.link();
    frame.link_type = links_[f.link()].type;
    good = (*writer)->write(frame);
  }
  if (good) good = (*writer)->close();
  return good ? QString() : QString::fromStdString(good.error());
}

// --- Following -------------------------------------------------------------------------------------------------------

void CaptureFile::follow_along() {
  using Clock = std::chrono::steady_clock;
  std::size_t done = 0;
  Clock::duration rest = least_rest;
  for (bool last = false; !last;) {
    {
      std::unique_lock lock(mutex_);
      const auto has_ended = [this] { return stop_ || !reading_; };
      if (growth_ == Growth::grows)
        changed_.wait_for(lock, rest, has_ended);
      else
        changed_.wait(lock, has_ended);
      last = !reading_;
    }
    if (stop_) return;
    const std::size_t count = index_.size();
    if (count == done) continue;
    const Clock::time_point begin = Clock::now();
    follow(count);
    rest = std::max<Clock::duration>(least_rest, rest_factor * (Clock::now() - begin));
    done = count;
    if (last) following_ = false;  // before those who hear of it ask
    if (!stop_) emit followed_up();
  }
}

void CaptureFile::follow(std::size_t count) {
  // What it replaces may be large, and whoever lets go of it last is mostly the window: that must not wait.
  const std::shared_ptr<Followed> out(new Followed, [](Followed* old) {
    if (QThreadPool* const pool = QThreadPool::globalInstance())
      pool->start([old] { delete old; });
    else
      delete old;
  });
  out->frames = count;
  Gatherer gatherer(*out);
  check::CheckOptions options;
  options.packets = options.messages = true;
  check::Checker checker(options, gatherer);
  std::size_t at = 0;
  checker.run([&](check::Batch& next) {
    const std::size_t take = stop_ ? 0 : std::min(batch, count - at);
    next.frames.resize(take);
    for (std::size_t i = 0; i < take; ++i, ++at) {
      next.frames[i].bytes = {index_[at].bytes(), index_[at].captured};
      fill(next.frames[i].info, at);
    }
    return take > 0;
  });
  checker.finish();
  gatherer.finish(checker);
  if (stop_) return;  // half of it would tell of an end that is none
  const std::lock_guard lock(mutex_);
  followed_ = out;
}

}  // namespace rdmascope::gui
