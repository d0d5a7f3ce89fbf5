#include "plugins/wireshark/taps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "plugins/wireshark/post.h"
#include "plugins/wireshark/session.h"

namespace rdmascope::wireshark {
namespace {

// Lives as long as the listener, to the end of the program.
struct List {
  explicit List(void (*draw)(const List&, const CaptureAnalysis&)) : put(draw) {}
  void (*put)(const List&, const CaptureAnalysis&);
  bool filtered = false;
  std::vector<std::uint64_t> frames;  // that pass the filter, in their order

  bool has(std::uint64_t frame) const { return !filtered || std::ranges::binary_search(frames, frame); }
};

void put_findings(const List& list, const CaptureAnalysis& a) {
  fmt::print("RDMA findings\n{:>8}  {:>10}  {:<9}  {:<12}  {}\n", "frame", "connection", "class", "rule", "what");
  for (const check::FoundRow& f : a.findings()) {
    const std::uint64_t number = a.number_of(f.frame);
    if (!list.has(number)) continue;
    fmt::print("{:>8}  {:>10}  {:<9}  {:<12}  {}\n", number != 0 ? fmt::to_string(number) : "-",
               f.connection != 0 ? fmt::to_string(f.connection) : "-", name(f.kind), f.rule->id,
               f.text.empty() ? f.rule->title : f.text);
  }
}

void put_connections(const List& list, const CaptureAnalysis& a) {
  std::set<std::uint32_t> wanted;
  for (const std::uint64_t frame : list.frames) wanted.insert(a.of(frame).flow);
  fmt::print(
      "RDMA connections\n{:>10}  {:<9}  {:>9} {:>9}  {:>12} {:>12}  {:>8} {:>9} {:>10}  {:>10} {:>9} {:>9}  {}\n",
      "connection", "transport", "packets->", "<-packets", "bytes->", "<-bytes", "messages", "completed", "sent again",
      "violations", "anomalies", "artifacts", "ends");
  for (const check::ConnectionRow& c : a.connections())
    if (!list.filtered || wanted.contains(c.id))
      fmt::print("{:>10}  {:<9}  {:>9} {:>9}  {:>12} {:>12}  {:>8} {:>9} {:>10}  {:>10} {:>9} {:>9}  {}{}\n", c.id,
                 check::transport_name(c.transport), c.packets[0], c.packets[1], c.bytes[0], c.bytes[1], c.messages,
                 c.completed, c.retransmitted, c.found[0], c.found[1], c.found[2], c.ends,
                 c.paired_by.empty() ? "" : fmt::format(" (paired by {})", c.paired_by));
}

extern "C" tap_packet_status take_frame(void* list, packet_info* pinfo, epan_dissect_t*, const void*,
                                        tap_flags_t) noexcept {
  static_cast<List*>(list)->frames.push_back(pinfo->num);
  return TAP_PACKET_DONT_REDRAW;
}

extern "C" void reset(void* list) { static_cast<List*>(list)->frames.clear(); }

// tshark asks for this once, when the capture is over.
extern "C" void draw(void* data) noexcept {
  const List& list = *static_cast<List*>(data);
  CaptureAnalysis* const a = analysis();
  if (!a) return;
  a->finish();
  fmt::print("\n");
  list.put(list, *a);
  fmt::print("{}\n", a->summary());
  std::fflush(stdout);
}

// "rdmascope,findings" or "rdmascope,findings,FILTER"
void listen(const char* argument, List* list) {
  std::string_view text(argument);
  for (int commas = 0; commas < 2; ++commas) text.remove_prefix(std::min(text.find(','), text.size() - 1) + 1);
  const bool has_filter = std::ranges::count(std::string_view(argument), ',') >= 2 && !text.empty();
  list->filtered = has_filter;
  GString* const error = register_tap_listener(tap_name, list, has_filter ? text.data() : nullptr, TL_REQUIRES_NOTHING,
                                               reset, has_filter ? take_frame : nullptr, draw, nullptr);
  if (!error) return;
  std::fprintf(stderr, "rdmascope: -z %s: %s\n", argument, error->str);
  g_string_free(error, TRUE);
  std::exit(1);  // as tshark does for its own
}

extern "C" void list_findings(const char* argument, void*) { listen(argument, new List(put_findings)); }
extern "C" void list_connections(const char* argument, void*) { listen(argument, new List(put_connections)); }

}  // namespace

void register_taps() {
  static stat_tap_ui lists[2] = {};
  lists[0].cli_string = "rdmascope,findings";
  lists[0].title = "RDMA findings";
  lists[0].tap_init_cb = list_findings;
  lists[1].cli_string = "rdmascope,connections";
  lists[1].title = "RDMA connections";
  lists[1].tap_init_cb = list_connections;
  for (stat_tap_ui& list : lists) {
    list.group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
    register_stat_tap_ui(&list, nullptr);
  }
}

}  // namespace rdmascope::wireshark
