#include "cli/stats_cdi.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/cdi.h"

namespace rdmascope::cli {
namespace {

using namespace dissect;

TableCell number(std::uint64_t value) { return value; }
TableCell word(std::string_view text) { return std::string(text); }
TableCell if_known(bool known, std::int64_t value) {
  return known ? TableCell(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0))) : TableCell();
}

// Seconds that a side was in one of these.
std::uint64_t spent(const check::CdiSide& side, std::initializer_list<ProbeState> states) {
  std::int64_t sum = 0;
  for (const ProbeState state : states) sum += side.spent_ns[static_cast<std::size_t>(state)];
  return static_cast<std::uint64_t>(sum);
}

}  // namespace

// Times of the transmitter: resetting until a version is asked for, connecting until Connected, connected.
CdiConnections::CdiConnections(TableForm form)
    : table_(output_, form,
             {{"flow", "#"},
              {"tx", "transmitter", Shown::dec, true},
              {"rx", "receiver", Shown::dec, true},
              {"stream", "stream", Shown::dec, true},
              {"version", "version", Shown::dec, true},
              {"messages", "messages"},
              {"missing", "missing"},
              {"connected", "connects"},
              {"pings", "pings"},
              {"answered", "answered"},
              {"round_trip_min_ns", "", Shown::micros},
              {"round_trip_ns", "mean us", Shown::micros},
              {"round_trip_max_ns", "max us", Shown::micros},
              {"resetting_ns", "resetting s", Shown::seconds},
              {"connecting_ns", "connecting s", Shown::seconds},
              {"connected_ns", "connected s", Shown::seconds},
              {"tx_state", "transmitter now", Shown::dec, true},
              {"rx_state", "receiver now", Shown::dec, true}}) {}

void CdiConnections::end_of_cdi(const check::CdiFlows& flows, std::int64_t, std::int64_t) {
  using S = ProbeState;
  for (const check::CdiFlow& f : flows.flows()) {
    const bool any = f.pongs > 0;
    table_.row(
        {number(f.number), word(to_text(f.tx().end)), word(to_text(f.rx().end)), word(f.stream_name),
         f.version() ? word(to_text(*f.version())) : TableCell(), number(f.tx().messages + f.rx().messages),
         number(f.tx().missing + f.rx().missing), number(f.times_connected), number(f.pings), number(f.pongs),
         if_known(any, f.shortest_ns), if_known(any, any ? f.round_trip_ns / static_cast<std::int64_t>(f.pongs) : 0),
         if_known(any, f.longest_ns),
         number(spent(f.tx(), {S::idle, S::send_reset, S::resetting, S::reset_done, S::wait_for_start, S::efa_reset})),
         number(spent(f.tx(), {S::send_protocol_version, S::efa_start, S::efa_probe, S::efa_tx_probe_acks})),
         number(spent(f.tx(), {S::efa_connected, S::efa_connected_ping})), word(short_name(f.tx().state)),
         word(short_name(f.rx().state))});
  }
}

}  // namespace rdmascope::cli
