// rdmascope replay: sends the packets of a capture again, to other addresses, queue pairs and PSNs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>

#include "check/tracker.h"
#include "cli/analysis.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/display_filter.h"
#include "cli/dissect_options.h"
#include "cli/frames.h"
#include "cli/recorder.h"
#include "dissect/filter.h"
#include "dissect/headers.h"
#include "replay/build.h"
#include "replay/expectation.h"
#include "replay/mad_attributes.h"
#include "replay/mad_frame.h"
#include "replay/udp_wire.h"
#include "replay/wire.h"

namespace rdmascope::cli {
namespace {

using replay::IpAddress;

struct ReplayOptions {
  std::vector<std::string> files;
  std::string wire = "udp", to, to_mac, only, filter, timing = "original", record;
  std::vector<std::string> rewrite, map_qp;
  std::int64_t psn_offset = 0;
  std::uint64_t count = 0;
  double listen_s = 1;
  bool keep_icrc = false, dry_run = false;
  DissectOptions dissect;
};

// "A=B" with numbers, decimal or hex.
Result<std::uint64_t> parse_number(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  std::uint64_t value = 0;
  const std::string_view digits = hex ? text.substr(2) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return Error{fmt::format("{}: no number", text)};
  return value;
}

// When the next packet goes out.
class Timing {
 public:
  static Result<Timing> parse(const std::string& text) {
    Timing timing;
    if (text == "original") {
      timing.original_ = true;
    } else if (text.starts_with("pps:")) {
      const Result<std::uint64_t> rate = parse_number(std::string_view(text).substr(4));
      if (!rate || *rate == 0 || *rate > 1'000'000'000)
        return Error{fmt::format("--timing {}: needs a number of packets per second, as pps:1000", text)};
      timing.step_ns_ = static_cast<std::int64_t>(1'000'000'000 / *rate);
    } else if (text != "fast") {
      return Error{fmt::format("--timing {}: must be original, fast or pps:N", text)};
    }
    return timing;
  }
  // On the wire's clock. Captured times that run backwards wait for nothing.
  std::int64_t due_ns(const dissect::FrameInfo& frame, std::int64_t now_ns) {
    if (!started_) {
      started_ = true;
      start_ns_ = now_ns;
      first_ns_ = frame.time_ns;
    }
    if (original_) return frame.has_time ? start_ns_ + (frame.time_ns - first_ns_) : now_ns;
    return start_ns_ + step_ns_ * sent_++;
  }

 private:
  bool original_ = false, started_ = false;
  std::int64_t step_ns_ = 0, start_ns_ = 0, first_ns_ = 0, sent_ = 0;
};

struct Change {
  std::string field;
  std::uint64_t value;
};

bool came_from(const dissect::Packet& packet, const IpAddress& address) {
  check::Address source, destination;
  return check::endpoints(packet, source, destination) && source.bytes == address;
}

class Player {
 public:
  static Result<std::unique_ptr<Player>> make(const ReplayOptions& options) {
    auto player = std::make_unique<Player>();
    Player& p = *player;
    p.options_ = &options;
    const Result<Timing> timing = Timing::parse(options.timing);
    if (!timing) return Error{timing.error()};
    p.timing_ = *timing;
    for (const std::string& text : options.rewrite) {
      const std::size_t equals = text.find('=');
      const Result<std::uint64_t> value =
          equals == std::string::npos ? Error{""} : parse_number(std::string_view(text).substr(equals + 1));
      if (!value) return Error{fmt::format("--rewrite {}: needs FIELD=NUMBER, as infiniband.bth.p_key=0xffff", text)};
      p.changes_.push_back({text.substr(0, equals), *value});
      if (const Result<void> fits = replay::Draft(0x04).set(p.changes_.back().field, *value); !fits)
        return Error{fmt::format("--rewrite {}", fits.error())};
    }
    for (const std::string& text : options.map_qp) {
      const std::size_t equals = text.find('=');
      const auto from =
          equals == std::string::npos ? Error{""} : parse_number(std::string_view(text).substr(0, equals));
      const auto to = equals == std::string::npos ? Error{""} : parse_number(std::string_view(text).substr(equals + 1));
      if (!from || !to || *from > 0xffffff || *to > 0xffffff)
        return Error{fmt::format("--qp {}: needs OLD=NEW, as 0x11=0x12", text)};
      p.queue_pairs_[static_cast<std::uint32_t>(*from)] = static_cast<std::uint32_t>(*to);
    }
    if (!options.only.empty()) {
      const Result<IpAddress> only = replay::parse_address(options.only);
      if (!only) return Error{fmt::format("--only {}", only.error())};
      p.only_ = *only;
    }
    auto wire = replay::open_wire(options.wire);
    if (!wire) return Error{wire.error()};
    p.wire_ = std::move(*wire);
    if (!options.record.empty()) {
      auto recorder = Recorder::create(options.record);
      if (!recorder) return Error{recorder.error()};
      p.recorder_ = std::move(*recorder);
    }
    if (p.wire_->mads()) {
      if (!options.only.empty() || !options.map_qp.empty() || options.psn_offset != 0 || options.keep_icrc)
        return Error{fmt::format(
            "--wire {}: carries management datagrams; --only, --qp, --psn and --keep-icrc say nothing of them",
            options.wire)};
      if (options.to.empty()) return player;
      const Result<std::uint64_t> lid = parse_number(options.to);
      if (!lid || *lid == 0 || *lid > 0xbfff)
        return Error{fmt::format("--to {}: over {} to a LID, as --to 3", options.to, options.wire)};
      p.to_lid_ = static_cast<std::uint16_t>(*lid);
      return player;
    }
    if (options.to.empty()) return Error{"--to ADDRESS is missing: where the packets go"};
    const Result<IpAddress> to = replay::parse_address(options.to);
    if (!to) return Error{fmt::format("--to {}", to.error())};
    p.path_.link_type = p.wire_->link_type();
    p.path_.source = p.wire_->address();
    p.path_.destination = *to;
    if (replay::is_ipv4(p.path_.source) != replay::is_ipv4(p.path_.destination))
      return Error{fmt::format("--to {}: one address is IPv4, the wire's ({}) is not, or the other way round",
                               options.to, replay::to_text(p.path_.source))};
    if (const std::optional<replay::MacAddress> mac = p.wire_->mac()) {
      p.path_.source_mac = *mac;
      const Result<replay::MacAddress> to_mac = replay::parse_mac(options.to_mac);
      if (!to_mac) return Error{"--wire eth needs the receiver's MAC address: --to-mac 02:00:00:00:00:01"};
      p.path_.destination_mac = *to_mac;
    }
    return player;
  }

  // False: an error that error() tells.
  bool packet(const dissect::Packet& packet) {
    if (!wanted(packet)) return true;
    auto frame = wire_->mads() ? rebuilt_mad(packet) : rebuilt(packet);
    if (!frame) return fail(fmt::format("frame {}: {}", packet.frame.number, frame.error()));
    if (options_->dry_run) return keep(*frame, packet.frame.time_ns, packet.frame.number), ++sent_, error_.empty();
    if (!listen_until(timing_.due_ns(packet.frame, wire_->now_ns()))) return false;
    const Result<void> done = wire_->send(*frame);
    if (!done) return fail(fmt::format("frame {}: {}", packet.frame.number, done.error()));
    ++sent_;
    return keep(*frame, wire_->now_ns(), packet.frame.number);
  }

  // What comes back is kept and counted.
  bool listen_until(std::int64_t deadline_ns) {
    while (!interrupted) {
      // In steps, so that Ctrl-C is heard.
      const std::int64_t step = std::min(deadline_ns, wire_->now_ns() + 100'000'000);
      auto received = wire_->receive(step);
      if (!received) return fail(received.error());
      if (*received) {
        ++received_;
        if (recorder_)
          if (const Result<void> kept = recorder_->keep(*wire_, (*received)->bytes, (*received)->time_ns, "received");
              !kept)
            return fail(kept.error());
      } else if (step == deadline_ns) {
        break;
      }
    }
    return true;
  }

  std::int64_t now_ns() { return wire_->now_ns(); }
  const std::string& error() const { return error_; }
  Result<void> close() { return recorder_ ? recorder_->close() : Result<void>(); }
  std::string summary() const {
    return fmt::format(
        "{} packets {}, {} received, {} {} left out", sent_, options_->dry_run ? "made" : "sent", received_, left_out_,
        wire_->mads() ? "that are no requests of 256 bytes" : "of other senders or without InfiniBand transport");
  }

 private:
  bool wanted(const dissect::Packet& packet) {
    bool take = packet.bth_layer >= 0;
    // Of management datagrams what somebody asked; answers are the device's.
    if (take && wire_->mads()) {
      const std::span<const std::uint8_t> mad = replay::payload_of(packet);
      take = packet.find<dissect::Mad>() && mad.size() == dissect::mad_bytes && !replay::is_response(mad);
    }
    if (take && only_) take = came_from(packet, *only_);
    left_out_ += !take;
    return take;
  }

  Result<std::vector<std::uint8_t>> rebuilt(const dissect::Packet& packet) {
    replay::Draft draft(packet);
    const auto bth = *packet.find<dissect::Bth>();
    const auto qp = queue_pairs_.find(static_cast<std::uint32_t>(bth.get<"destqp">()));
    if (qp != queue_pairs_.end()) static_cast<void>(draft.set("bth.destqp", qp->second));
    if (options_->psn_offset != 0)
      static_cast<void>(
          draft.set("bth.psn", (bth.get<"psn">() + static_cast<std::uint64_t>(options_->psn_offset)) & 0xffffff));
    // Congestion marks travel along.
    if (replay::is_ipv4(path_.destination)) {
      if (const auto ip = packet.find<dissect::Ipv4>())
        static_cast<void>(draft.set("ip.dsfield", ip->get<"dsfield">()));
    } else if (const auto ip = packet.find<dissect::Ipv6>()) {
      static_cast<void>(draft.set("ipv6.tclass", ip->get<"tclass">()));
    }
    for (const Change& change : changes_)
      if (const Result<void> set = draft.set(change.field, change.value); !set) return Error{set.error()};
    if (options_->keep_icrc)
      if (const auto icrc = packet.find<dissect::Icrc>())
        static_cast<void>(draft.set("infiniband.invariant.crc", icrc->get<"crc">()));
    if (const auto udp = packet.find<dissect::Udp>())
      path_.source_port = static_cast<std::uint16_t>(std::max<std::uint64_t>(1024, udp->get<"srcport">()));
    return draft.build(path_);
  }

  Result<std::vector<std::uint8_t>> rebuilt_mad(const dissect::Packet& packet) {
    const std::span<const std::uint8_t> captured = replay::payload_of(packet);
    replay::MadBytes mad{};
    std::ranges::copy(captured, mad.begin());
    const auto begin = static_cast<std::size_t>(captured.data() - packet.bytes.data());
    for (const Change& change : changes_) {
      const Result<dissect::FieldRef> ref = replay::script_field(change.field);
      const dissect::Layer* const layer = ref ? packet.find(*ref->header) : nullptr;
      if (layer && layer->at >= begin) dissect::store(mad.data() + (layer->at - begin), *ref->field, change.value);
    }
    const replay::MadCarriage carriage = *wire_->mads();
    const dissect::View<dissect::Mad> view(mad.data());
    if (!carriage.on_link && replay::class_of(mad) == replay::class_subn_directed)
      dissect::put<dissect::Mad, "hoppointer">(mad.data(), 0);
    if (carriage.tid_bits < 64)
      dissect::put<dissect::Mad, "transactionid">(mad.data(),
                                                  view.get<"transactionid">() & ((1ULL << carriage.tid_bits) - 1));
    std::uint16_t lid = to_lid_;
    if (const auto lrh = packet.find<dissect::Lrh>(); lrh && lid == 0)
      lid = static_cast<std::uint16_t>(lrh->get<"dlid">());
    if (lid == 0 && replay::class_of(mad) != replay::class_subn_directed)
      return Error{"the capture has no LID to send it to: --to LID"};
    std::vector<std::uint8_t> frame =
        replay::mad_frame(mad, replay::MadAddress::of_class(replay::class_of(mad), carriage.own_lid, lid));
    if (const Result<void> able = wire_->carries(frame); !able) return Error{able.error()};
    return frame;
  }

  bool keep(std::span<const std::uint8_t> frame, std::int64_t time_ns, std::uint64_t number) {
    if (!recorder_) return true;
    const Result<void> kept =
        recorder_->keep(*wire_, frame, time_ns, fmt::format("sent: frame {} of the capture", number));
    return kept || fail(kept.error());
  }
  bool fail(std::string sentence) {
    error_ = std::move(sentence);
    return false;
  }

  const ReplayOptions* options_ = nullptr;
  Timing timing_;
  std::vector<Change> changes_;
  std::map<std::uint32_t, std::uint32_t> queue_pairs_;
  std::optional<IpAddress> only_;
  std::uint16_t to_lid_ = 0;  // of management datagrams; 0: as captured
  std::unique_ptr<replay::Wire> wire_;
  replay::Path path_;
  std::unique_ptr<Recorder> recorder_;
  std::uint64_t sent_ = 0, received_ = 0, left_out_ = 0;
  std::string error_;
};

int run_replay(const ReplayOptions& options) {
  const auto fail = [](const std::string& sentence) {
    complain(sentence);
    return exit_error;
  };
  const Result<dissect::WalkOptions> walk_options = options.dissect.walk_options();
  if (!walk_options) return fail(walk_options.error());
  const Result<dissect::Filter> compiled = display_filter(options.filter);
  if (!compiled) return fail(compiled.error());
  const dissect::Filter& filter = *compiled;
  auto made = Player::make(options);
  if (!made) return fail(made.error());
  Player& player = **made;
  stop_on_interrupt();
  std::uint64_t count = 0;
  std::optional<Analysis> analysis;
  if (filter.uses_annotations()) analysis.emplace(options.files, *walk_options);
  const int status = for_each_packet(
      options.files, *walk_options, true,
      [&](dissect::Packet& packet, const Origin&) {
        if (analysis) analysis->annotate(packet);
        if (!filter.matches(packet)) return true;
        packet.drop_annotations();  // what is sent is the packet
        return player.packet(packet) && ++count != options.count && !interrupted;
      },
      [&](std::span<const capture::Frame> frames, const std::vector<capture::Interface>& interfaces) {
        if (analysis) analysis->batch(frames, interfaces);
      });
  if (player.error().empty() && !options.dry_run)
    player.listen_until(player.now_ns() + static_cast<std::int64_t>(options.listen_s * 1e9));
  const Result<void> closed = player.close();
  note(player.summary());
  if (!player.error().empty()) return fail(player.error());
  return closed ? status : fail(closed.error());
}

}  // namespace

void add_replay_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* replay = app.add_subcommand("replay", "Send the packets of a capture again");
  replay->add_option("FILE,-r,--read-file", options->files, "capture file; - is standard input")
      ->required()
      ->type_name("FILE");
  replay->add_option("--wire", options->wire, fmt::format("where to send: {}", replay::wire_forms))->type_name("WIRE");
  replay
      ->add_option(
          "--to", options->to,
          "address of the receiver, for all packets; over umad and ibsim its LID, where the captured one is not meant")
      ->type_name("ADDRESS");
  replay->add_option("--to-mac", options->to_mac, "MAC address of the receiver, for --wire eth")->type_name("MAC");
  replay->add_option("--only", options->only, "send only packets that came from this address: one direction")
      ->type_name("ADDRESS");
  replay->add_option("-Y,--display-filter", options->filter, "send only packets that match")->type_name("FILTER");
  replay->add_option("-c,--count", options->count, "stop after this many packets")->type_name("N");
  replay
      ->add_option("--timing", options->timing,
                   "original: as captured; fast: one after the other; pps:N: N packets a second")
      ->type_name("TIMING");
  replay->add_option("--qp", options->map_qp, "packets to queue pair OLD go to NEW; may be repeated")
      ->type_name("OLD=NEW")
      ->delimiter('\0')
      ->take_all();
  replay->add_option("--psn", options->psn_offset, "added to every PSN, modulo 2^24")->type_name("OFFSET");
  replay
      ->add_option("--rewrite", options->rewrite,
                   "set a field in every packet, as infiniband.bth.p_key=0xffff; may be repeated")
      ->type_name("FIELD=VALUE")
      ->delimiter('\0')
      ->take_all();
  replay->add_flag("--keep-icrc", options->keep_icrc, "send the captured ICRC, right or wrong, instead of a right one");
  replay->add_option("--listen", options->listen_s, "seconds to wait for answers after the last packet")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 3600.0).description(""));
  replay->add_option("--record", options->record, "keep what was sent and received in this file (pcapng)")
      ->type_name("FILE");
  replay->add_flag("--dry-run", options->dry_run, "send nothing; with --record: see what would be sent");
  options->dissect.add_to(*replay);
  replay->callback([options, &run] { run = [options] { return run_replay(*options); }; });
}

}  // namespace rdmascope::cli
