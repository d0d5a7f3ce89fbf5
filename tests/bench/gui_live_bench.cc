// Whether the window answers while it captures: packets are sent to loopback at a rate, captured, listed and followed,
// and a timer of the window tells how late it comes.
//
//   gui_live_bench [PACKETS_PER_SECOND [SECONDS]]
#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTableView>
#include <QTimer>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gui/capture_bar.h"
#include "gui/capture_tab.h"
#include "gui/models/capture_file.h"
#include "gui/packets_view.h"

using namespace rdmascope;
using Clock = std::chrono::steady_clock;

namespace {

// RC SEND Only of 64 bytes to one of 16 queue pairs, with PSNs that go up; the ICRC is not computed.
struct Datagram {
  std::uint8_t bytes[12 + 64 + 4] = {0x04, 0x40, 0xff, 0xff};
  void set(std::uint32_t qp, std::uint32_t psn) {
    for (int i = 0; i < 3; ++i) {
      bytes[5 + i] = static_cast<std::uint8_t>(qp >> (16 - 8 * i));
      bytes[9 + i] = static_cast<std::uint8_t>(psn >> (16 - 8 * i));
    }
  }
};

void send_packets(double rate, const std::atomic<bool>& stop, std::atomic<std::uint64_t>& sent) {
  constexpr unsigned batch = 64, queue_pairs = 16;
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(4791);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  static_cast<void>(::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to));
  std::vector<Datagram> datagrams(batch);
  std::vector<iovec> pieces(batch);
  std::vector<mmsghdr> messages(batch);
  for (unsigned i = 0; i < batch; ++i) {
    pieces[i] = {datagrams[i].bytes, sizeof datagrams[i].bytes};
    messages[i].msg_hdr = {};
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const auto begin = Clock::now();
  for (std::uint64_t n = 0; !stop;) {
    for (unsigned i = 0; i < batch; ++i, ++n)
      datagrams[i].set(0x11 + n % queue_pairs, static_cast<std::uint32_t>(n / queue_pairs) & 0xffffff);
    // Nobody listens, which is told on every other call; the packets went all the same.
    for (unsigned done = 0; done < batch;) {
      const int now = ::sendmmsg(socket, messages.data() + done, batch - done, 0);
      if (now > 0) done += static_cast<unsigned>(now);
    }
    sent = n;
    std::this_thread::sleep_until(
        begin + std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(n) / rate * 1e9)));
  }
  ::close(socket);
}

}  // namespace

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  const double rate = argc > 1 ? std::atof(argv[1]) : 200'000;
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 10;
  constexpr int tick_ms = 10;

  gui::CaptureTab tab;
  tab.resize(1280, 800);
  tab.show();
  gui::CaptureChoice choice;
  choice.interfaces << "lo";
  choice.filter = "udp dst port 4791";
  tab.capture(choice);

  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> sent = 0;
  std::thread sender;
  std::vector<double> late_ms;
  std::uint64_t most_behind = 0;
  QElapsedTimer since_tick;
  QTimer tick;
  tick.setTimerType(Qt::PreciseTimer);
  tick.setInterval(tick_ms);
  QObject::connect(&tick, &QTimer::timeout, [&] {
    late_ms.push_back(std::max(0.0, static_cast<double>(since_tick.nsecsElapsed()) / 1e6 - tick_ms));
    since_tick.start();
    tab.packets().list().viewport()->update();
  });
  QTimer::singleShot(1500, [&] {
    sender = std::thread(send_packets, rate, std::cref(stop), std::ref(sent));
    since_tick.start();
    tick.start();
  });
  QTimer::singleShot(1500 + seconds * 1000, [&] {
    tick.stop();
    stop = true;
    most_behind = sent - std::min<std::uint64_t>(sent, static_cast<std::uint64_t>(tab.packets().model().rowCount()));
    QTimer::singleShot(1500, [&] { tab.stop_capture(); });
  });
  QTimer done;
  QObject::connect(&done, &QTimer::timeout, [&] {
    if (stop && !tab.is_capturing() && tab.has_file() && !tab.file().reading() && !tab.file().following())
      QApplication::quit();
    if (!tab.error().isEmpty()) QApplication::exit(1);
  });
  done.start(100);
  const int status = QApplication::exec();
  stop = true;
  if (sender.joinable()) sender.join();
  if (status != 0) {
    fmt::print(stderr, "{}\n", tab.error().toStdString());
    return status;
  }
  std::ranges::sort(late_ms);
  const auto part = [&](double share) {
    return late_ms.empty() ? 0 : late_ms[static_cast<std::size_t>(share * static_cast<double>(late_ms.size() - 1))];
  };
  fmt::print("live: {:.0f} packets/s sent for {} s, {} shown; {}\n", static_cast<double>(sent) / seconds, seconds,
             tab.packets().model().rowCount(), tab.bar().text().toStdString());
  fmt::print(
      "live: a timer of the window comes {:.1f} ms late (half of the times), {:.1f} ms (99 %), {:.1f} ms at most; {} "
      "packets behind at the end of sending\n",
      part(0.5), part(0.99), part(1), most_behind);
  return 0;
}
