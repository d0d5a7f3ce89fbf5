// What the desktop program does with a large capture: until the first row can be shown, until all frames are known, how
// fast a filter and a search look through them, how long following the connections takes; then, painted into memory,
// frames a second while the packet list is scrolled and the ladder of the largest connection is zoomed and scrolled.
//
//   gui_bench CAPTURE [FILTER]
#include <fmt/format.h>
#include <QApplication>
#include <QScrollBar>
#include <QTableView>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include "gui/ladder_view.h"
#include "gui/models/capture_file.h"
#include "gui/models/filter_run.h"
#include "gui/models/find_run.h"
#include "gui/models/packet_model.h"
#include "gui/packets_view.h"

using namespace rdmascope;
using Clock = std::chrono::steady_clock;

namespace {

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

template <class Ready>
double wait(Clock::time_point begin, const Ready& ready) {
  while (!ready()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  return since(begin);
}

double resident_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::stod(line.substr(8)) / 1024;
  return 0;
}

// Calls `next` and paints, so many times; what that comes to.
template <class Next>
void paint(const char* what, QWidget& widget, const Next& next) {
  constexpr int frames = 300;
  double worst = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < frames; ++i) {
    const auto one = Clock::now();
    next(i);
    widget.repaint();
    worst = std::max(worst, since(one));
  }
  fmt::print("{}: {:.0f} frames/s, the slowest {:.1f} ms\n", what, frames / since(begin), worst * 1e3);
}

void scroll_list(gui::CaptureFile& file) {
  gui::PacketsView view;
  view.resize(1280, 800);
  view.set_file(&file);
  view.show();
  QCoreApplication::processEvents();
  QScrollBar& bar = *view.list().verticalScrollBar();
  QWidget& area = *view.list().viewport();
  paint("packet list, three rows at a time", area, [&](int i) { bar.setValue(3 * i); });
  paint("packet list, dragged", area,
        [&](int i) { bar.setValue(static_cast<int>(std::int64_t{7919} * i * 50 % std::max(bar.maximum(), 1))); });
  view.set_file(nullptr);
}

void move_ladder(gui::CaptureFile& file) {
  const auto followed = file.followed();
  if (!followed || followed->connections.empty()) return;
  const auto largest = std::ranges::max_element(
      followed->connections, {}, [](const gui::ConnectionRow& c) { return c.packets[0] + c.packets[1]; });
  gui::LadderView view;
  view.resize(1280, 800);
  view.show();
  const auto begin = Clock::now();
  gui::Ladder ladder;
  ladder.set(&file, followed, largest->id);
  fmt::print("ladder of {} steps: made in {:.3f} s\n", ladder.size(), since(begin));
  view.show_ladder(std::move(ladder));
  QCoreApplication::processEvents();
  QWidget& area = *view.viewport();
  QScrollBar& bar = *view.verticalScrollBar();
  paint("ladder, rows scrolled", area, [&](int i) { bar.setValue(30 * i); });
  view.set_by_time(true);
  // Closer and closer, then back again.
  paint("ladder by time, zoomed", area, [&](int i) { view.zoom(i % 100 < 50 ? 1.25 : 0.8); });
  view.zoom(1000);
  paint("ladder by time, scrolled", area, [&](int i) { bar.setValue(bar.maximum() / 300 * i); });
}

}  // namespace

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  if (argc < 2) {
    fmt::print(stderr, "usage: gui_bench CAPTURE [FILTER]\n");
    return 2;
  }
  const char* const text = argc > 2 ? argv[2] : "infiniband.bth.opcode == 12 and infiniband.bth.psn > 100";
  const auto begin = Clock::now();
  gui::CaptureFile file(argv[1]);
  file.start();
  const double some = wait(begin, [&] { return file.index().size() > 100 || !file.reading(); });
  gui::PacketModel model;
  model.set_file(&file);
  for (int row = 0; row < std::min(100, model.rowCount()); ++row) static_cast<void>(model.line(row));
  const double first = since(begin);
  const double all = wait(begin, [&] { return !file.reading(); });
  const double n = static_cast<double>(file.index().size());
  const double index_bytes = static_cast<double>(file.index().memory());
  fmt::print(
      "{:.0f} packets: first frames {:.3f} s, 100 rows of text {:.3f} s, all indexed {:.3f} s ({:.2f} M packets/s), "
      "index {:.1f} bytes each\n",
      n, some, first, all, n / all / 1e6, index_bytes / n);
  auto compiled = dissect::Filter::compile(text);
  const auto filter_begin = Clock::now();
  gui::FilterRun run(file, std::get<dissect::Filter>(compiled));
  run.start();
  const double filtered = wait(filter_begin, [&] { return !run.running(); });
  fmt::print("filter: {:.3f} s, {:.2f} M packets/s{}\n", filtered, n / filtered / 1e6,
             file.followed() ? "" : ", while the connections are followed");
  const double followed = wait(begin, [&] { return !file.following(); });
  fmt::print("followed {:.3f} s after opening; {:.0f} MB of memory in all\n", followed, resident_megabytes());
  const auto alone = Clock::now();
  gui::FilterRun again(file, std::get<dissect::Filter>(compiled));
  again.start();
  const double second = wait(alone, [&] { return !again.running(); });
  fmt::print("filter alone: {:.3f} s, {:.2f} M packets/s\n", second, n / second / 1e6);
  // A text that no row has: each is written.
  gui::FindTask task{gui::FindIn::text,
                     "no row says this",
                     false,
                     -1,
                     static_cast<int>(file.index().size()),
                     {},
                     model.row_form(),
                     {}};
  const auto finding = Clock::now();
  {
    bool done = false;
    gui::FindRun search(file, std::move(task));
    QObject::connect(&search, &gui::FindRun::done, &app, [&done] { done = true; });
    search.start();
    while (!done) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }
  fmt::print("search for text: {:.2f} M packets/s\n", n / since(finding) / 1e6);
  model.set_file(nullptr);
  scroll_list(file);
  move_ladder(file);
  return 0;
}
