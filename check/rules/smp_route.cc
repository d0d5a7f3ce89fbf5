// Directed routes: D, HopPointer, HopCount, the two paths. mad.md 2.2, 9.3. Between two nodes HopPointer is 1 to
// HopCount; inside a node (a capture at the host, ibsim) it is 0 or HopCount + 1.
#include <algorithm>

#include "check/rules/mad.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr std::uint16_t permissive = 0xffff;
constexpr std::size_t initial_path_at = 128, return_path_at = 192;
constexpr unsigned longest_path = smp_path_ports - 1;

// A directed route SMP, all of it there.
struct Route {
  explicit Route(const MadContext& c)
      : returning(c.mad.get<"d">() != 0),
        pointer(static_cast<unsigned>(c.mad.get<"hoppointer">())),
        count(static_cast<unsigned>(c.mad.get<"hopcount">())),
        drslid(static_cast<std::uint16_t>(View<SmpDirected>(c.bytes + Mad::bytes).get<"drslid">())),
        drdlid(static_cast<std::uint16_t>(View<SmpDirected>(c.bytes + Mad::bytes).get<"drdlid">())),
        initial(c.bytes + initial_path_at),
        back(c.bytes + return_path_at) {}
  bool returning;
  unsigned pointer, count;
  std::uint16_t drslid, drdlid;
  const std::uint8_t *initial, *back;  // 64 ports each
  bool pure() const { return drslid == permissive && drdlid == permissive; }
  bool between_nodes() const { return pointer >= 1 && pointer <= count; }
};

bool has_route(const MadContext& c) { return to_judge(c) && c.directed() && c.whole(); }

void direction(const MadContext& c, Findings& out) {
  if (!to_judge(c) || !c.directed()) return;
  const bool question = c.method() == mad_get || c.method() == mad_set;
  if (!question && c.method() != mad_get_resp) return;
  const std::uint64_t expected = question ? 0 : 1, d = c.mad.get<"d">();
  if (d != expected)
    out.mismatch_in(smp_dbit.info, c, "infiniband.mad.d", expected, d, fmt::format("of a {}", method_name(c.method())));
}

void hop_count(const MadContext& c, Findings& out) {
  if (to_judge(c) && c.directed() && c.mad.get<"hopcount">() > longest_path)
    out.wrong_in(smp_hopcnt.info, c, "infiniband.mad.hopcount", c.mad.get<"hopcount">(), "at most 63");
}

void hop_pointer(const MadContext& c, Findings& out) {
  if (!has_route(c)) return;
  const Route r(c);
  if (r.count > longest_path) return;
  if (r.pointer > r.count + 1)
    return out.wrong_in(smp_hopptr.info, c, "infiniband.mad.hoppointer", r.pointer,
                        fmt::format("beyond HopCount {} + 1: every node discards it", r.count));
  if (c.facts.on_wire && r.count > 0 && r.pointer == 0 && !r.returning && r.drslid == permissive)
    out.mismatch_in(smp_hopptr.info, c, "infiniband.mad.hoppointer", 1, 0, "its sender does not count the first hop");
}

void last_hop(const MadContext& c, Findings& out) {
  if (!has_route(c) || !c.facts.on_wire) return;
  const Route r(c);
  if (r.count == 0 || r.count > longest_path) return;
  if (r.pointer == r.count + 1 && r.drdlid == permissive)
    return out.mismatch_in(
        smp_hoplast.info, c, "infiniband.mad.hoppointer", r.count, r.pointer,
        r.returning ? "the answerer has to count down before it sends" : "the path ends one hop before");
  if (r.pointer == 0 && r.returning && r.drslid == permissive)
    out.mismatch_in(smp_hoplast.info, c, "infiniband.mad.hoppointer", 1, 0, "the answer is at home already");
}

void initial_path(const MadContext& c, Findings& out) {
  constexpr std::uint8_t no_port = 255;
  if (!has_route(c) || c.is_response()) return;
  const Route r(c);
  if (r.count > longest_path) return;
  if (r.initial[0] != 0)
    return out.say(smp_path0.info, c, fmt::format("InitialPath[0] is {}, which nobody uses: 0 is due", r.initial[0]));
  for (unsigned i = 1; i <= r.count; ++i)
    if (r.initial[i] == 0 || r.initial[i] == no_port)
      return out.say(smp_path0.info, c,
                     fmt::format("InitialPath[{}] of {} is {}, no port of a link", i, r.count, r.initial[i]));
}

void same_route(const MadContext& c, Findings& out) {
  if (!has_route(c) || !c.facts.route_differs) return;
  const Route r(c);
  const MadQuestion& q = *c.facts.question;
  const MadRoute& asked = *q.route;
  const std::string text = fmt::format("in answer to frame {}", q.frame);
  if (r.count != asked.hop_count)
    return out.mismatch_in(smp_echodr.info, c, "infiniband.mad.hopcount", asked.hop_count, r.count, text);
  if (r.drslid != asked.drslid)
    return out.mismatch_in(smp_echodr.info, c, "infiniband.smpdirected.drslid", asked.drslid, r.drslid, text);
  if (r.drdlid != asked.drdlid)
    return out.mismatch_in(smp_echodr.info, c, "infiniband.smpdirected.drdlid", asked.drdlid, r.drdlid, text);
  for (unsigned i = 1; i <= std::min(r.count, longest_path); ++i)
    if (r.initial[i] != asked.initial[i])
      return out.say(
          smp_echodr.info, c,
          fmt::format("InitialPath[{}] is {}, frame {} asked by {}", i, r.initial[i], q.frame, asked.initial[i]));
}

void return_path(const MadContext& c, Findings& out) {
  if (!has_route(c) || c.method() != mad_get_resp || c.facts.route_differs) return;
  const Route r(c);
  if (!r.returning || r.count == 0 || r.count > longest_path) return;
  for (unsigned i = 1; i <= r.count; ++i)
    if (r.back[i] == 0)
      return out.say(smp_retpath.info, c,
                     fmt::format("ReturnPath[{}] of {} is 0: no node wrote where it came in", i, r.count));
  if (c.attribute_id() != smp_node_info || c.status() != 0 || r.drdlid != permissive) return;
  const auto local = smp_attribute<NodeInfo>(c).get<"localportnum">();
  if (local != r.back[r.count])
    out.mismatch_in(smp_retpath.info, c, "infiniband.nodeinfo.localportnum", r.back[r.count], local,
                    fmt::format("ReturnPath[{}] says by which port it came in", r.count));
}

void link_addresses(const MadContext& c, Findings& out) {
  const Layer* layer = lrh_of(c.packet);
  if (!has_route(c) || !layer) return;
  const Route r(c);
  if (!r.pure() || !r.between_nodes()) return;
  const View<Lrh> lrh(c.packet.data(*layer));
  constexpr std::string_view text = "between the nodes of a directed route";
  if (const auto lid = lrh.get<"dlid">(); lid != permissive)
    return out.mismatch_in(smp_drlid.info, c, "infiniband.lrh.dlid", permissive, lid, std::string(text));
  if (const auto lid = lrh.get<"slid">(); lid != permissive)
    out.mismatch_in(smp_drlid.info, c, "infiniband.lrh.slid", permissive, lid, std::string(text));
}

}  // namespace

const Rule smp_dbit{
    .info =
        {.id = "SMP-DBIT",
         .title = "D says whether a directed route SMP returns",
         .source = "ibsim sim_mad.c; Linux drivers/infiniband/core/smi.c",
         .help =
             R"(On a directed route bit 15 of the status is D: 0 on the way to the node, 1 on the way back. Switches go by it, not by
the response bit of the method: with a wrong D the packet walks along the wrong path and is lost.

Usual causes: an agent that clears or overwrites the whole status; a status compared or copied as 16 bits.

Look next at: HopPointer (SMP-HOPPTR), and whether the answer reached its asker.)"},
    .mad = direction};

const Rule smp_hopcnt{
    .info =
        {.id = "SMP-HOPCNT",
         .title = "A directed route has at most 63 hops",
         .source = "Linux drivers/infiniband/core/smi.c: IB_SMP_MAX_PATH_HOPS",
         .help =
             R"(The paths have 64 entries, of which the first is not used. With a larger HopCount nodes would read and write behind
them; the packet is discarded.

Usual causes: HopPointer and HopCount exchanged with other bytes; a path that runs in circles.

Look next at: the initial path.)"},
    .mad = hop_count};

const Rule smp_hopptr{
    .info =
        {.id = "SMP-HOPPTR",
         .title = "HopPointer stands within the path",
         .source = "Linux drivers/infiniband/core/smi.c: C14-9, C14-13",
         .help =
             R"(HopPointer counts the hops: 1 on the first link, HopCount on the last one, and down again on the way back. Beyond
HopCount + 1 every node discards the packet. 0 on the way out means that the sender did not begin to count; this is told
only where the capture has SMPs between nodes, since inside a host and in ibsim 0 is right.

Usual causes: an agent that leaves HopPointer to a driver which does not count either.

Look next at: the same packet one hop further, and the D bit (SMP-DBIT).)"},
    .mad = hop_pointer};

const Rule smp_hoplast{
    .info =
        {.id = "SMP-HOPLAST",
         .title = "The last hop is HopCount, the way home ends at 1",
         .source = "Linux drivers/infiniband/core/smi.c: C14-9, C14-13; CATC TD_17.1.2.1.1",
         .help =
             R"(A directed route that ends at its last hop (DrDLID 0xFFFF) never shows HopCount + 1 on a link: the receiver counts up
to it, and the answerer counts down before it sends. And an answer that is to end at the asker (DrSLID 0xFFFF) never shows
0. So between an asker and its neighbour HopPointer is 1 in question and answer. Told only where the capture has SMPs
between nodes.

Usual causes: an answerer that sends the HopPointer it received counted up.

Look next at: other answers of the same node; whether the asker takes them.)"},
    .mad = last_hop};

const Rule smp_path0{
    .info =
        {.id = "SMP-PATH0",
         .title = "The initial path names ports",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "IBTA vol. 1, section 14.2.1.2",
         .help =
             R"(InitialPath[1] to InitialPath[HopCount] are the ports by which the packet leaves each node: 1 to 254. Entry 0 is not
used and 0. Ports behind HopCount are not looked at: nobody reads them.

Usual causes: a path that is one entry too short for its HopCount, or begins at 0.

Look next at: whether the packet is answered, and by whom.)"},
    .mad = initial_path};

const Rule smp_echodr{
    .info =
        {.id = "SMP-ECHODR",
         .title = "An answer keeps the directed route of its question",
         .source = "CATC IBTrainer manual, TD_17.1.2.1.1",
         .help =
             R"(HopCount, DrSLID, DrDLID and the initial path are the same in question and answer. The question was found by its
transaction ID, and had no other answer.

Usual causes: an answer built from a new header; a path that is cleared behind the hops.

Look next at: ReturnPath, by which the answer went back.)"},
    .mad = same_route};

const Rule smp_retpath{
    .info =
        {.id = "SMP-RETPATH",
         .title = "The return path is filled in",
         .source = "CATC IBTrainer manual, TD_17.1.2.1.1; Linux drivers/infiniband/core/smi.c",
         .help =
             R"(Each node on the way writes the port at which the packet came in to ReturnPath[HopPointer]. In the answer entries 1 to
HopCount are ports, never 0, and the last one is the answerer's own, which NodeInfo calls LocalPortNum.

Usual causes: a switch that does not write its entry, or writes it at the wrong place; an answerer that overwrites what it
got.

Look next at: the entry that is 0: its number says which node.)"},
    .mad = return_path};

const Rule smp_drlid{
    .info =
        {.id = "SMP-DRLID",
         .title = "Directed hops have the permissive LID",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "Linux drivers/infiniband/core/smi.c; IBTA vol. 1, section 14.2.2",
         .help =
             R"(Where a route is directed from end to end (DrSLID and DrDLID 0xFFFF), the packet has DLID and SLID 0xFFFF between its
nodes: their LIDs may not be set yet.

Usual causes: an address handle with a real LID for a directed route.

Look next at: whether the next switch takes the packet.)"},
    .mad = link_addresses};

}  // namespace rdmascope::check
