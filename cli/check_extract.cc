#include "cli/check_extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <vector>

#include "check/tracker.h"
#include "cli/check_report.h"
#include "cli/frames.h"
#include "cli/output.h"
#include "dissect/headers.h"

namespace rdmascope::cli {
namespace {

using check::Connection;
using check::Message;

// A one-way packet stream: the connection it belongs to may not be known yet when a packet passes, these are.
struct StreamName {
  check::Address from, to;
  std::optional<std::uint32_t> qp;
  bool operator==(const StreamName&) const = default;
};
StreamName stream_sent_by(const Connection& c, std::size_t side) {
  return {c.address[side], c.address[1 - side], c.qpn[1 - side]};
}

// First reading: which message is it?
class Find final : public check::Listener {
 public:
  explicit Find(std::uint64_t wanted) : wanted_(wanted) {}
  void message(const Connection& c, std::uint8_t side, const Message& m) override {
    if (++count != wanted_) return;
    found = m;
    is_response = m.operation == check::Operation::read;
    stream = stream_sent_by(c, is_response ? 1u - side : side);
  }
  std::uint64_t count = 0;
  std::optional<Message> found;
  StreamName stream;
  bool is_response = false;

 private:
  std::uint64_t wanted_;
};

// Second reading: its packets by PSN, each as it was first seen undamaged.
struct Pieces {
  std::vector<std::optional<std::vector<std::uint8_t>>> by_psn;

  void take(const Find& message, const dissect::Packet& p, const check::Place& place) {
    const Message& m = *message.found;
    const auto bth = p.find<dissect::Bth>();
    const std::uint32_t psn = static_cast<std::uint32_t>(bth->get<"psn">());
    const std::uint8_t opcode = static_cast<std::uint8_t>(bth->get<"opcode">());
    const bool kind_fits = message.is_response
                               ? (opcode & 31) >= 0x0d && (opcode & 31) <= 0x10
                               : !dissect::opcodes[opcode].response && check::operation_of(opcode) == m.operation;
    if (!kind_fits || !m.holds(psn) || !(stream_sent_by(*place.connection, place.side) == message.stream)) return;
    std::optional<std::vector<std::uint8_t>>& piece =
        by_psn[static_cast<std::size_t>(check::psn_diff(psn, m.first_psn))];
    if (piece) return;
    piece.emplace();
    if (const dissect::Layer* payload = p.find(dissect::header<dissect::Payload>))
      piece->assign(p.data(*payload), p.data(*payload) + payload->bytes);
    else if (p.payload_bytes > 0 && p.icrc().at >= p.payload_bytes + p.pad_bytes) {  // decoded further
      const std::uint8_t* end = p.bytes.data() + p.icrc().at - p.pad_bytes;
      piece->assign(end - p.payload_bytes, end);
    }
  }
};

int fail(const std::string& sentence) {
  complain(sentence);
  return exit_error;
}

}  // namespace

int extract_message(const CheckPlan& plan, std::uint64_t wanted, const std::string& output_file) {
  if (std::find(plan.files.begin(), plan.files.end(), "-") != plan.files.end())
    return fail("--extract reads the capture twice, which standard input does not allow; give it a file");
  Find find(wanted);
  CheckPlan first = plan;
  first.options.messages = true;
  check::Checker checker(first.options, find);
  int status = feed(first, checker);
  checker.finish();
  if (!find.found) return fail(fmt::format("--extract {}: the capture has {}", wanted, counted(find.count, "message")));
  const Message& m = *find.found;
  const std::string what = fmt::format("--extract {}: the {} with PSN {}", wanted, name(m.operation), m.first_psn);
  if (m.operation == check::Operation::compare_swap || m.operation == check::Operation::fetch_add ||
      m.operation == check::Operation::flush)
    return fail(what + " carries no payload");
  if (!m.length_known || !m.has_first) return fail(what + " is not in the capture as a whole");

  Pieces pieces;
  pieces.by_psn.resize(m.psns);
  check::Tracker tracker(plan.options.most_connections);
  for (const check::UserPair& pair : plan.options.pairs) tracker.pair(pair);
  const std::uint64_t last = std::max(m.last_frame, m.answer_frame);
  status =
      std::max(status, for_each_packet(plan.files, plan.options.walk, false, [&](dissect::Packet& p, const Origin&) {
                 if (p.frame.number < m.first_frame || p.bth_layer < 0) return true;
                 if (p.frame.number > last) return false;
                 if (!plan.range.holds(p.frame) || (plan.options.filter && !plan.options.filter(p))) return true;
                 if (p.icrc().status == dissect::CrcStatus::bad) return true;
                 const check::Place place = tracker.place(p, false);
                 if (place.connection) pieces.take(find, p, place);
                 return true;
               }));
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < pieces.by_psn.size(); ++i) {
    if (!pieces.by_psn[i])
      return fail(fmt::format("{}: the packet with PSN {} is not in the capture", what,
                              check::psn_add(m.first_psn, static_cast<std::uint32_t>(i))));
    bytes.insert(bytes.end(), pieces.by_psn[i]->begin(), pieces.by_psn[i]->end());
  }
  if (output_file == "-") {
    Output output;
    output.text().put({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    output.flush();
    return output.error().empty() ? status : fail(output.error());
  }
  std::ofstream file(output_file, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return fail(fmt::format("{}: cannot be written", output_file));
  note(fmt::format("{}: {}", output_file, counted(bytes.size(), "byte")));
  return status;
}

}  // namespace rdmascope::cli
