#include "plugins/wireshark/dissectors.h"

#include "dissect/headers.h"
#include "dissect/walk.h"
#include "plugins/wireshark/frame.h"
#include "plugins/wireshark/settings.h"
#include "plugins/wireshark/show.h"

namespace rdmascope::wireshark {
namespace {

using namespace dissect;

// Link types that anybody may use for anything. Who dissected them before gets what is none of our records.
struct UserLink {
  std::uint16_t link_type;
  int encapsulation;
  dissector_handle_t before = nullptr;
};
UserLink user_links[] = {{147, WTAP_ENCAP_USER0}, {148, WTAP_ENCAP_USER1}};

struct Known {
  const char *title, *short_name, *name;  // of the protocol; `name` is its filter, and its dissector's
  const char* start;                      // where dissect begins
  int protocol = not_registered, ett = not_registered;
  dissector_handle_t handle = nullptr;
};
Known cqe{"RDMA completion queue entry", "CQE", cqe_dissector.data(), "cqe.record"};
Known efa{"EFA message", "EFA", efa_dissector.data(), "efa.record"};
Known cdi{"AWS CDI control and probe", "CDI", "cdi", "cdi"};

// Walks from the named start, or from the link type. nullptr: there is no memory.
const Packet* walked(const packet_info* pinfo, Bytes bytes, std::uint32_t reported, const char* start,
                     std::uint16_t link_type) noexcept try {
  static Packet packet;
  packet.frame = {};
  packet.frame.number = pinfo->num;
  packet.frame.wire_bytes = reported;
  WalkOptions options = walk_options();
  if (start)
    options.start = find_start(start);
  else
    packet.frame.link_type = link_type;
  walk(packet, bytes, options);
  return &packet;
} catch (...) {
  return nullptr;
}

void show(const Known& known, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Packet& packet) {
  col_add_str(pinfo->cinfo, COL_PROTOCOL, protocol_text(packet));
  col_add_str(pinfo->cinfo, COL_INFO, info_text(packet));
  if (!tree) return;
  proto_item* const item = proto_tree_add_item(tree, known.protocol, tvb, 0, -1, ENC_NA);
  proto_tree* const below = proto_item_add_subtree(item, known.ett);
  for (const Layer& layer : packet.layers()) show_layer(below, pinfo, tvb, packet, layer);
}

int dissect(const Known& known, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
  const Bytes bytes = captured_bytes(tvb);
  const Packet* const packet = walked(pinfo, bytes, tvb_reported_length(tvb), known.start, 0);
  if (packet) show(known, tvb, pinfo, tree, *packet);
  return static_cast<int>(bytes.size);
}

extern "C" int dissect_cqe(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  return dissect(cqe, tvb, pinfo, tree);
}
extern "C" int dissect_efa(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  return dissect(efa, tvb, pinfo, tree);
}
extern "C" int dissect_cdi(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  return dissect(cdi, tvb, pinfo, tree);
}

// By length, version, command, checksum and an address in text: the protocol has neither a port nor a magic number.
extern "C" HeuristicResult try_cdi(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  const Bytes bytes = captured_bytes(tvb);
  if (bytes.size != tvb_reported_length(tvb) || !is_cdi_control(bytes)) return false;
  dissect(cdi, tvb, pinfo, tree);
  return true;
}

int dissect_user_link(const UserLink& link, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
  const Bytes bytes = captured_bytes(tvb);
  const Packet* const packet = walked(pinfo, bytes, tvb_reported_length(tvb), nullptr, link.link_type);
  const bool is_cqe = packet && packet->find(header<CqeRecord>), is_efa = packet && packet->find(header<EfaRecord>);
  if (is_cqe || is_efa) {
    show(is_cqe ? cqe : efa, tvb, pinfo, tree, *packet);
    return static_cast<int>(bytes.size);
  }
  return link.before ? call_dissector(link.before, tvb, pinfo, tree) : call_data_dissector(tvb, pinfo, tree);
}
extern "C" int dissect_user0(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  return dissect_user_link(user_links[0], tvb, pinfo, tree);
}
extern "C" int dissect_user1(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  return dissect_user_link(user_links[1], tvb, pinfo, tree);
}

void make_known(Known& known, dissector_t dissector) {
  known.protocol = proto_register_protocol(known.title, known.short_name, known.name);
  known.handle = register_dissector(known.name, dissector, known.protocol);
  int* const subtrees[] = {&known.ett};
  proto_register_subtree_array(subtrees, 1);
}

}  // namespace

void register_dissectors() {
  make_known(cqe, dissect_cqe);
  make_known(efa, dissect_efa);
  make_known(cdi, dissect_cdi);
}

void hand_off_dissectors() {
  heur_dissector_add("udp", try_cdi, "AWS CDI over UDP", "cdi_udp", cdi.protocol, HEURISTIC_ENABLE);
  dissector_add_for_decode_as("udp.port", cdi.handle);
  const dissector_t own[] = {dissect_user0, dissect_user1};
  const dissector_table_t by_link = find_dissector_table("wtap_encap");
  for (std::size_t i = 0; i < std::size(user_links); ++i) {
    user_links[i].before = dissector_get_uint_handle(by_link, static_cast<std::uint32_t>(user_links[i].encapsulation));
    dissector_add_uint("wtap_encap", static_cast<std::uint32_t>(user_links[i].encapsulation),
                       create_dissector_handle(own[i], (i == 0 ? cqe : efa).protocol));
  }
}

}  // namespace rdmascope::wireshark
