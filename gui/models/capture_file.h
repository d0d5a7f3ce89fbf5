// A capture file that is open: an index of its frames, which grows in the background, and behind that what following
// the connections tells. Everything a view shows comes from here; text is made when it is painted.
#pragma once

#include <QObject>
#include <QString>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "capture/source.h"
#include "check/annotate.h"
#include "check/checker.h"
#include "check/completion_links.h"
#include "check/lists.h"
#include "dissect/walk.h"
#include "gui/models/frame_index.h"

namespace rdmascope::gui {

using check::ConnectionRow;
using check::FoundRow;
using MessageRow = check::MessageOf;

// A completion queue entry, and what it is about as far as the packets tell.
struct CompletionRow {
  std::uint32_t frame = 0;
  std::uint32_t connection = 0;                     // id; 0: not known
  std::uint32_t began = 0, ended = 0, message = 0;  // first packet of its message, the one that completed it, number
  std::uint8_t side = 0;                            // whose queue pair it is
  bool certain = false;                             // the message is; else it is likely
  bool failed = false;
  std::int8_t worst = -1;  // class of the worst finding; -1: none
};

// A connection of CDI.
struct CdiRow {
  std::uint32_t number = 0;
  std::string tx, rx;                                  // their UDP ends
  std::string stream;                                  // empty: not named
  std::string version;                                 // agreed on; empty: not known
  std::array<std::uint64_t, 2> messages{}, missing{};  // sent by Tx and Rx
  std::uint64_t connects = 0, pings = 0, pongs = 0;
  std::int64_t round_trip_ns = 0;  // mean of the Pings that were answered; 0: none was
  std::string_view tx_state, rx_state;
  std::uint64_t first_frame = 0, last_frame = 0;
  std::array<std::uint32_t, 3> found{};  // findings by class
  std::vector<std::string> story;        // one sentence each, beginning with its time
  std::vector<std::uint64_t> frames;     // where each begins; 0: of none
};

// What one packet of a connection did. 24 bytes; only of packets with InfiniBand transport.
struct StepRow {
  std::uint32_t frame, connection;
  std::uint32_t psn;
  std::uint32_t earlier;  // frame of the request it answers or repeats; 0: none
  check::PacketFacts::Kind kind;
  std::uint8_t side;  // who sent it
  bool retransmission;
  bool marked = false, cnp = false;  // congestion: by a switch on the way; a packet that tells of it
  bool completion =
      false;  // in a ladder: a completion queue entry of that side; its kind is other, or nak for a failure
};

// Of the messages of a connection that latency_of() counts; exact.
struct LatencyRow {
  std::int64_t p50 = -1, p99 = -1;  // ns; -1: none
};

// Everything `check` has found; made once, never changed. While a file grows another one takes its place now and then.
struct Followed {
  check::Annotator annotations{check::Annotator::Readings::two};
  std::vector<FoundRow> findings;          // in the order of the capture
  std::vector<ConnectionRow> connections;  // in order of id
  std::vector<LatencyRow> latencies;       // of each of them
  std::vector<MessageRow> messages;        // in order of completion
  std::vector<StepRow> steps;              // in order of frame
  std::vector<CompletionRow> completions;  // in order of frame
  std::vector<CdiRow> cdi;                 // in order of number
  check::Totals totals;
  std::size_t frames = 0;      // it is about that many of the first; less than all while a file grows
  std::string verdict;         // one sentence, as `check` prints it
  std::uint64_t left_out = 0;  // findings, messages and steps beyond what is kept
};

class CaptureFile : public QObject {
  Q_OBJECT

 public:
  // A file that grows is being written: its end is no end before finish().
  enum class Growth { fixed, grows };
  explicit CaptureFile(QString path, Growth growth = Growth::fixed, QObject* parent = nullptr);
  ~CaptureFile() override;  // cancels what is going on

  // Begins to read; the signals say what comes of it. Errors of opening come by failed(), too.
  void start();
  void cancel();  // keeps what was read
  void finish();  // what is written now is all

  const QString& path() const { return path_; }
  const FrameIndex& index() const { return index_; }
  bool grows() const { return growth_ == Growth::grows; }  // or did
  bool reading() const { return reading_; }
  bool following() const { return following_; }  // followed() is not the last word
  double progress() const { return progress_; }  // of the reading, 0 to 1
  // Another program has made the file shorter: frames behind that place read as zeros.
  bool was_cut() const { return !reading_ && source_ && source_->was_cut(); }
  // nullptr: not yet. It lives on when the file is closed.
  std::shared_ptr<const Followed> followed() const;

  // Walks frame `row`, counted from 0, with its annotations if they are known. From any thread.
  void load(std::size_t row, dissect::Packet& packet) const;
  // Packet::annotations points to `annotations`, which must stay as long as the packet.
  void load(std::size_t row, dissect::Packet& packet, dissect::Annotations& annotations) const;
  std::int64_t first_ns() const { return first_ns_; }
  // Writes these frames, counted from 0, to a new capture file. A sentence if that fails.
  QString write(const std::string& path, bool as_pcap, const std::vector<std::size_t>& rows) const;

 signals:
  void grown();                     // there are more frames; not for each, about ten times a second
  void indexed();                   // there will be no more
  void followed_up();               // followed() is there; another one, if the file grows
  void following_ended();           // followed() will not change any more
  void failed(const QString& why);  // one sentence; what was read before stays

 private:
  struct Link {
    std::uint16_t type = 0;
    std::optional<std::uint8_t> fcs_bytes;
    std::uint32_t interface_id = 0;
  };
  void read();
  void follow_along();
  void follow(std::size_t count);
  void tell_to_stop();
  std::uint16_t link_of(const capture::Frame& frame, const std::vector<capture::Interface>& interfaces);
  void fill(dissect::FrameInfo& info, std::size_t row) const;

  QString path_;
  Growth growth_;
  int stop_event_ = -1;  // eventfd: readable once the source shall wait no more
  FrameIndex index_;
  std::unique_ptr<capture::Source> source_;  // holds the bytes
  QString unpacked_;                         // a file of our own, when that of the user is packed or a pipe
  std::array<Link, 65536> links_;            // filled before a frame names it
  std::atomic<std::size_t> link_count_ = 0;
  std::int64_t first_ns_ = 0;
  std::atomic<bool> stop_ = false, reading_ = false, following_ = true;
  std::atomic<double> progress_ = 0;
  mutable std::mutex mutex_;  // of followed_, and of the end of reading
  std::condition_variable changed_;
  std::shared_ptr<const Followed> followed_;
  std::thread reader_, follower_;
};

}  // namespace rdmascope::gui
