// H-READ-DEPTH: the outstanding READs and atomics reached the depth agreed on, so further ones had to wait.
#include "check/rules/flow_text.h"

#include "check/rules/all.h"

namespace rdmascope::check {
namespace {

void end(Connection& c, Findings& out) {
  for (std::uint8_t side = 0; side < 2; ++side) {
    const std::optional<std::uint32_t> depth = read_depth(c, side);
    const std::uint32_t most = c.flow[side]->most_outstanding;
    if (!c.reliable() || !depth || *depth == 0 || most < *depth) continue;
    out.say_of(h_read_depth.info, c, side, 0, c.last_ns,
               fmt::format("up to {} outstanding, agreed on when connecting: {}", count(most, "READ or atomic request"),
                           *depth));
  }
}

}  // namespace

const Rule h_read_depth{
    {.id = "H-READ-DEPTH",
     .title = "READs and atomics use the whole depth",
     .kind = Class::anomaly,
     .severity = Severity::info,
     .source = "Linux drivers/infiniband/sw/rxe: rxe_req.c (check_init_depth)",
     .help =
         R"(When connecting, both sides agree on how many READs and atomics may be outstanding. A requester that reaches the
number holds back further ones, and with them everything behind them in its send queue. Over a long path the depth limits
the throughput: depth * message size / round trip time.

Usual causes: a small depth (1 is common) for what the application does; nothing is wrong if it reads one block at a time.

Look next at: initiator depth and responder resources in CM REQ and REP, max_rd_atomic and max_dest_rd_atomic.)"},
    0,
    nullptr,
    end};

}  // namespace rdmascope::check
