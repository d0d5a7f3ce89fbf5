#include "cli/stats_mads.h"

#include <fmt/format.h>

#include <set>

#include "dissect/headers.h"
#include "dissect/summary.h"

namespace rdmascope::cli {
namespace {

using namespace dissect;
using check::MadQuestion;

TableCell number(std::uint64_t value) { return value; }
TableCell word(std::string_view text) { return std::string(text); }
TableCell if_known(bool known, std::uint64_t value) { return known ? TableCell(value) : TableCell(); }

std::string named(std::span<const ValueName> names, std::uint64_t value) {
  const std::string_view name = name_of(names, value);
  return name.empty() ? fmt::format("{}", value) : std::string(name);
}

// A common header as if it were a packet, for those who put MADs in words.
struct Alone {
  explicit Alone(const MadQuestion::CommonHeader& bytes) {
    packet.reset(bytes);
    packet.add(header<Mad>, 0, Mad::bytes);
  }
  const Layer& layer() const { return packet.layers()[0]; }
  Packet packet;
};

// "SubnGet(PortInfo) port 1"
std::string title(const MadQuestion& q) {
  const Alone alone(q.header);
  Text text;
  put_essence(text, alone.packet, alone.layer());
  return std::string(text.view());
}

// "0,1,4": the ports by which it goes on.
std::string hops(const check::MadRoute& route) {
  std::string out = "0";
  for (unsigned i = 1; i <= route.hop_count && i < route.initial.size(); ++i)
    out += fmt::format(",{}", route.initial[i]);
  return out;
}

std::string status_words(const MadQuestion& q) {
  const Alone alone(q.answer_header);
  Value words;
  return mad_status_meaning(alone.packet, alone.layer(), 0, words) ? std::string(words.text) : "ok";
}

}  // namespace

MadQuestions::MadQuestions(TableForm form)
    : table_(output_, form,
             {{"question", "#"},
              {"frame", "frame"},
              {"answer_frame", "answer"},
              {"from", "from", Shown::dec, true},
              {"to", "to", Shown::dec, true},
              {"route", "route", Shown::dec, true},
              {"what", "what", Shown::dec, true},
              {"transaction_id", "", Shown::address},
              {"sent", "sent"},
              {"segments", "segments"},
              {"start", "", Shown::seconds},
              {"latency_ns", "us", Shown::micros},
              {"outcome", "outcome", Shown::dec, true}}) {}

void MadQuestions::row(const MadQuestion& q, std::string_view outcome) {
  table_.row({number(++count_), number(q.frame), if_known(q.answered(), q.answer_frame), word(to_text(q.peer.from)),
              word(to_text(q.peer.to)), q.route ? word(hops(*q.route)) : TableCell(), word(title(q)), number(q.tid),
              number(q.times), if_known(q.stream.has_value(), q.stream ? q.stream->segments : 0),
              number(static_cast<std::uint64_t>(q.first_ns)),
              if_known(q.answered() && q.answer_ns >= q.first_ns, static_cast<std::uint64_t>(q.answer_ns - q.first_ns)),
              word(outcome)});
}

void MadQuestions::mad(const check::MadContext& c) {
  const check::MadFacts& f = c.facts;
  if (!f.question || f.kind != check::MadFacts::Kind::response || f.captured_again || f.second_answer) return;
  const MadQuestion& q = *f.question;
  const auto complete = [](const check::MadStream& s) { return s.last_segment != 0 && s.in_order >= s.last_segment; };
  if (f.part_of_stream && q.stream && (!complete(*q.stream) || (f.stream && complete(*f.stream)))) return;
  row(q, status_words(q));
}

void MadQuestions::end_of_mads(const check::Mads& mads) {
  for (const MadQuestion* q : mads.open()) {
    if (q->answered())
      row(*q, q->stream->stopped ? "answer broken off" : "answer incomplete in the capture");
    else
      row(*q, q->wants_answer ? "no answer in the capture" : "not repressed");
  }
}

FabricPorts::FabricPorts(TableForm form)
    : table_(output_, form,
             {{"node_guid", "node", Shown::address},
              {"type", "type", Shown::dec, true},
              {"description", "description", Shown::dec, true},
              {"port", "port"},
              {"lid", "LID"},
              {"state", "state", Shown::dec, true},
              {"width", "width", Shown::dec, true},
              {"speed", "speed", Shown::dec, true},
              {"peer_guid", "linked to", Shown::address},
              {"peer_port", "port"},
              {"peer_description", "", Shown::dec, true}}) {}

void FabricPorts::end_of_mads(const check::Mads& mads) {
  const auto description = [&](std::uint64_t guid) {
    const check::MadNode* n = mads.node_by_guid(guid);
    return n && !n->description.empty() ? word(n->description) : TableCell();
  };
  for (const check::MadNode* n : mads.nodes()) {
    std::set<std::uint8_t> ports;
    for (const auto& [port, info] : n->port) ports.insert(port);
    for (auto link = mads.links().lower_bound({n->guid, 0}); link != mads.links().end() && link->first.guid == n->guid;
         ++link)
      ports.insert(link->first.port);
    const auto put = [&](TableCell port_number, const check::MadPort* port, const check::MadLinkEnd* peer) {
      const auto shown = [port](auto text) { return port ? word(text(port->view())) : TableCell(); };
      using Info = View<PortInfo>;
      const std::uint64_t lid = port ? port->view().get<"lid">() : 0;
      table_.row({number(n->guid), word(named(ib_node_types, n->type)), description(n->guid), std::move(port_number),
                  if_known(lid != 0, lid),
                  shown([](const Info& i) { return named(port_states, i.get<"portstate">()); }),
                  shown([](const Info& i) { return named(ib_widths, i.get<"linkwidthactive">()); }),
                  shown([](const Info& i) { return named(ib_active_speeds, i.get<"linkspeedactive">()); }),
                  peer ? number(peer->guid) : TableCell(), peer ? number(peer->port) : TableCell(),
                  peer ? description(peer->guid) : TableCell()});
    };
    if (ports.empty()) put({}, nullptr, nullptr);
    for (const std::uint8_t port : ports) {
      const auto info = n->port.find(port);
      const auto link = mads.links().find({n->guid, port});
      put(number(port), info == n->port.end() ? nullptr : &info->second,
          link == mads.links().end() ? nullptr : &link->second);
    }
  }
}

}  // namespace rdmascope::cli
