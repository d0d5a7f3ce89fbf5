#include "plugins/wireshark/post.h"

#include "dissect/headers.h"
#include "plugins/wireshark/fields.h"
#include "plugins/wireshark/session.h"
#include "plugins/wireshark/show.h"

namespace rdmascope::wireshark {
namespace {

using namespace dissect;

int protocol = not_registered, tap = not_registered;

// Wireshark 4.0 stops behind the BTH of these, or takes what follows for something else.
bool stock_stops_at_bth(const Packet& p) {
  if (p.bth_layer < 0) return false;
  const auto code = View<Bth>(p.data(p.layers()[static_cast<std::size_t>(p.bth_layer)])).get<"opcode">();
  const Opcode& o = opcodes[code];
  const bool is_late = (code & 0x1f) >= 0x18;  // FLUSH, ATOMIC WRITE
  return is_late || o.transport == Transport::xrc || o.transport == Transport::rd || o.transport == Transport::cnp;
}

bool is_extension(const Header* header) {
  for (const Header* h : extension_headers)
    if (h == header) return true;
  return false;
}

bool is_about_finding(const Field& f) { return f.name.substr(0, 7) == "finding"; }

// ": connection 1, message 3, ICRC bad"
void put_summary(proto_item* item, const Packet& p) {
  const Annotations& a = *p.annotations;
  const char* before = ": ";
  if (a.flow != 0) {
    proto_item_append_text(item, "%sconnection %u", before, a.flow);
    before = ", ";
  }
  if (a.message != 0) {
    proto_item_append_text(item, "%smessage %u", before, a.message);
    before = ", ";
  }
  if (p.bth_layer >= 0 && p.icrc().status == CrcStatus::bad) {
    proto_item_append_text(item, "%sICRC bad", before);
    before = ", ";
  }
  if (!a.notes.empty())
    proto_item_append_text(item, "%s%u finding%s", before, static_cast<unsigned>(a.notes.size()),
                           a.notes.size() == 1 ? "" : "s");
}

// Of the analysis: all but the findings, which have subtrees of their own.
void show_analysis(proto_tree* tree, tvbuff_t* tvb, const Packet& p, const Layer& layer) {
  for (const Field& f : layer.header->fields)
    if (!is_about_finding(f)) show_row(tree, tvb, p, layer, f);
}

void show_congestion(proto_tree* tree, tvbuff_t* tvb, const Packet& p, const Layer& bth) {
  for (const Field& f : bth.header->fields)
    if (f.name == "fecn" || f.name == "becn") show_row(tree, tvb, p, bth, f);
}

void show_length(proto_tree* tree, tvbuff_t* tvb, int hf, std::uint32_t bytes) {
  proto_item_set_generated(proto_tree_add_uint(tree, hf, tvb, 0, 0, bytes));
}

// Also without a tree: Wireshark counts expert infos wherever they are.
void show_findings(proto_tree* tree, packet_info* pinfo, tvbuff_t* tvb, const Packet& p, const Layer* analysis) {
  for (unsigned n = 0; n < p.annotations->notes.size(); ++n) {
    const Note& note = p.annotations->notes[n];
    const check::Rule* const rule = check::find_rule(note.rule);
    expert_field* const expert = rule ? expert_of(rule->info) : nullptr;
    proto_item* item = nullptr;
    if (tree && analysis) {
      proto_tree* const below =
          proto_tree_add_subtree(tree, tvb, 0, 0, own_fields().finding_tree, &item, printable_text(note.rule));
      proto_item_append_text(item, ", %s: %s", name_of(note_kinds, note.kind).data(), note.title.data());
      for (const Field& f : analysis->header->fields)
        if (is_about_finding(f)) show_value(below, tvb, p, *analysis, f, n);
    }
    if (!expert) continue;
    const bool says_more = note.text != note.title;
    expert_add_info_format(pinfo, item, expert, "%s: %s%s%s", note.rule.data(), note.title.data(),
                           says_more ? ": " : "", says_more ? printable_text(note.text) : "");
  }
}

void show(proto_tree* parent, packet_info* pinfo, tvbuff_t* tvb, const Packet& p) {
  proto_item* const item = proto_tree_add_protocol_format(parent, protocol, tvb, 0, 0, "RDMA analysis");
  proto_item_set_generated(item);
  put_summary(item, p);
  proto_tree* const tree = proto_item_add_subtree(item, own_fields().tree);
  const bool all_headers = stock_stops_at_bth(p);
  const Layer* analysis = nullptr;
  for (const Layer& layer : p.layers()) {
    const Header* const h = layer.header;
    if (h == &header<Analysis>) analysis = &layer;
    if (h == &header<Analysis> || h == &header<Exchange> || h == &header<CdiProbeStates>)
      show_analysis(tree, tvb, p, layer);
    else if (h == &header<Bth>)
      show_congestion(tree, tvb, p, layer);
    else if (h == &header<Icrc> || h == &header<Vcrc>)
      show_rows(tree, pinfo, tvb, p, layer);
    else if (h == &header<Events> || (all_headers && is_extension(h)))
      show_layer(tree, pinfo, tvb, p, layer);
  }
  if (p.bth_layer >= 0) {
    show_length(tree, tvb, own_fields().payload_len, p.payload_bytes);
    show_length(tree, tvb, own_fields().pad_len, p.pad_bytes);
  }
  show_findings(tree, pinfo, tvb, p, analysis);
}

extern "C" int dissect_post(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  const Bytes bytes = captured_bytes(tvb);
  const bool shown = tree && proto_field_is_referenced(tree, protocol);
  const bool tapped = have_tap_listener(tap);
  const Look* const look = look_at(pinfo, bytes, shown || tapped || pinfo->cinfo);
  if (look) {
    if (tapped) tap_queue_packet(tap, pinfo, nullptr);
    // The list says "Unknown OpCode" of these.
    if (stock_stops_at_bth(look->packet)) col_add_str(pinfo->cinfo, COL_INFO, info_text(look->packet));
    if (shown)
      show(tree, pinfo, tvb, look->packet);
    else
      show_findings(nullptr, pinfo, tvb, look->packet, nullptr);
  }
  return static_cast<int>(bytes.size);
}

// "RDMA connection" among the conversation filters of a packet.
extern "C" gboolean has_connection(packet_info* pinfo) {
  const CaptureAnalysis* const a = analysis();
  return a && a->of(pinfo->num).flow != 0;
}

extern "C" char* connection_filter(packet_info* pinfo) {
  const CaptureAnalysis* const a = analysis();
  return a ? ws_strdup_printf("rdmascope.flow == %u", a->of(pinfo->num).flow) : nullptr;
}

}  // namespace

void register_post_dissector(int protocol_number) {
  protocol = protocol_number;
  register_postdissector(register_dissector("rdmascope", dissect_post, protocol));
  tap = register_tap(tap_name);
  register_conversation_filter("rdmascope", "RDMA connection", has_connection, connection_filter);
}

}  // namespace rdmascope::wireshark
