// What the desktop program does with a large capture, without its windows: until the first row can be shown, until all
// frames are known, how fast a filter looks through them, how long following the connections takes.
//
//   gui_bench CAPTURE [FILTER]
#include <fmt/format.h>
#include <QCoreApplication>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "gui/models/capture_file.h"
#include "gui/models/filter_run.h"
#include "gui/models/packet_model.h"

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

}  // namespace

int main(int argc, char** argv) {
  QCoreApplication app(argc, argv);
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
  const double filtered = wait(filter_begin, [&] { return !run.running(); });
  fmt::print("filter: {:.3f} s, {:.2f} M packets/s{}\n", filtered, n / filtered / 1e6,
             file.followed() ? "" : ", while the connections are followed");
  const double followed = wait(begin, [&] { return !file.following(); });
  fmt::print("followed {:.3f} s after opening; {:.0f} MB of memory in all\n", followed, resident_megabytes());
  const auto alone = Clock::now();
  gui::FilterRun again(file, std::get<dissect::Filter>(compiled));
  const double second = wait(alone, [&] { return !again.running(); });
  fmt::print("filter alone: {:.3f} s, {:.2f} M packets/s\n", second, n / second / 1e6);
  const auto scrolling = Clock::now();
  int frames = 0;
  // A screen of 50 rows, somewhere else each time.
  for (; frames < 200; ++frames)
    for (int row = 0; row < 50; ++row)
      static_cast<void>(model.line(static_cast<int>((static_cast<std::size_t>(frames) * 7919 * 50) %
                                                    std::max<std::size_t>(file.index().size() - 50, 1)) +
                                   row));
  fmt::print("scrolling: {:.0f} screens of 50 rows a second\n", frames / since(scrolling));
  return 0;
}
