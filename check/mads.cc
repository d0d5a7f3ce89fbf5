#include "check/mads.h"

#include <libdeflate.h>

#include <algorithm>

namespace rdmascope::check {
namespace {

using namespace dissect;

// A capture can name any number of transactions and nodes. Beyond these the oldest question is forgotten, and nothing
// more is learnt of nodes.
constexpr std::size_t most_questions = 1 << 16, most_nodes = 1 << 14, most_said = 1 << 16;

// Nobody asks again that soon; mirrors show a packet twice within this.
constexpr std::int64_t captured_twice_ns = 1'000'000;

// An answer is captured before its question by less than this, if at all.
constexpr std::int64_t wrong_order_ns = 100'000;

// As long as it took others to give up an answer; a question younger than this may still be answered.
constexpr std::int64_t answer_due_ns = 2'000'000'000;

constexpr std::size_t hop_pointer_at = 6, return_path_at = 192, initial_path_at = 128;
constexpr std::uint16_t attribute_class_port_info = 1, attribute_notice = 2, attribute_node_description = 0x10,
                        attribute_node_info = 0x11, attribute_switch_info = 0x12, attribute_port_info = 0x15;

// Of all that stays on the way: a switch counts HopPointer and fills ReturnPath.
std::uint32_t content_of(const MadContext& c) {
  if (!c.directed()) return libdeflate_crc32(0, c.bytes, c.size);
  const std::uint32_t crc = libdeflate_crc32(0, c.bytes, std::min<std::size_t>(c.size, hop_pointer_at));
  if (c.size <= hop_pointer_at + 1) return crc;
  return libdeflate_crc32(crc, c.bytes + hop_pointer_at + 1,
                          std::min<std::size_t>(c.size, return_path_at) - hop_pointer_at - 1);
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 0x100000001b3; }

// The way of a directed route, as far as hop `hops`; never 0.
std::uint64_t path_of(const MadContext& c, unsigned hops) {
  const View<SmpDirected> smp(c.bytes + Mad::bytes);
  std::uint64_t hash = 0xcbf29ce484222325;
  hash = mix(hash, hops);
  hash = mix(hash, smp.get<"drslid">() << 16 | smp.get<"drdlid">());
  for (unsigned i = 1; i <= hops; ++i) hash = mix(hash, c.bytes[initial_path_at + i]);
  return hash | 1;
}

// The node at hop `hops` of an answer's way. Several askers use one path from different places, so the ports at which
// it came in and the asker's agent (Linux: the upper half of the transaction ID) count, too.
std::uint64_t way_of(const MadContext& c, unsigned hops) {
  std::uint64_t hash = mix(path_of(c, hops), c.mad.get<"transactionid">() >> 32);
  for (unsigned i = 1; i <= hops; ++i) hash = mix(hash, c.bytes[return_path_at + i]);
  return hash | 1;
}

unsigned hops_of(const MadContext& c) {
  return std::min<unsigned>(static_cast<unsigned>(c.mad.get<"hopcount">()), smp_path_ports - 1);
}

bool has_rmpp(const MadContext& c) { return c.sa() || (c.class_code() >= 0x30 && c.class_code() <= 0x4f); }
View<Rmpp> rmpp_of(const MadContext& c) { return View<Rmpp>(c.bytes + Mad::bytes); }
bool rmpp_active(const MadContext& c) {
  return has_rmpp(c) && c.size >= Mad::bytes + Rmpp::bytes && rmpp_of(c).get<"rmppflags.active">() != 0;
}

MadFacts::Kind kind_of(const MadContext& c) {
  using Kind = MadFacts::Kind;
  if (rmpp_active(c) && rmpp_of(c).get<"rmpptype">() > rmpp_data) return Kind::rmpp;
  const std::uint8_t method = c.method();
  if ((method & 0x80) != 0 || method == mad_trap_repress) return Kind::response;
  if (method == mad_method_send) return Kind::message;
  return method == mad_trap ? Kind::notice : Kind::request;
}

bool from_answerer(const MadContext& c, MadFacts::Kind kind) {
  return kind == MadFacts::Kind::response || (kind == MadFacts::Kind::rmpp && (c.method() & 0x80) != 0);
}

}  // namespace

MadFacts Mads::mad(const MadContext& c) {
  MadFacts facts;
  facts.kind = kind_of(c);
  const Connection& connection = c.transport.connection;
  if (connection.id == 0) return facts;  // beyond the limit of connections
  const Address& sender = connection.address[c.transport.side];
  const Address& receiver = connection.address[c.transport.side ^ 1];
  if (facts.kind == MadFacts::Kind::message) {
    if (c.whole() && c.attribute && is_cm_message(c.bytes))
      facts.cm = talks_.message(c.packet, c.bytes, sender, receiver);
    return facts;
  }
  const bool needed = c.directed() ? c.whole() : c.size >= Mad::bytes;
  if (!needed) return facts;

  if (c.directed()) {
    // Inside a node HopPointer is 0 or HopCount + 1.
    const auto pointer = c.mad.get<"hoppointer">(), count = c.mad.get<"hopcount">();
    facts.on_wire = wire_;
    wire_ = wire_ || (pointer >= 1 && pointer <= count);
  }
  const bool answers = from_answerer(c, facts.kind);
  const Address &asker = answers ? receiver : sender, &answerer = answers ? sender : receiver;
  Key key{{asker, answerer, c.directed() ? path_of(c, hops_of(c)) : 0}, c.mad.get<"transactionid">(), c.class_code()};
  if (!c.directed())
    facts.node = node_of(key.peer, false);
  else if (answers)
    facts.node = node_of({asker, answerer, way_of(c, hops_of(c))}, true);
  if (facts.kind == MadFacts::Kind::notice) facts.asker = node_of({answerer, asker}, false);
  if (facts.kind == MadFacts::Kind::rmpp) {
    MadQuestion* question = find(key);
    if (!question || !question->stream) {
      const Key reverse{{answerer, asker, 0}, key.tid, key.mad_class};
      if (MadQuestion* const own = find(reverse); own && own->stream) {
        question = own;
        facts.wrong_direction = true;
      }
    }
    if (question) {
      facts.question = question;
      segment(c, *question, facts);
    } else {
      facts.unpaired = true;
    }
  } else if (answers) {
    answer(c, key, facts);
  } else {
    ask(c, key, facts);
  }
  return facts;
}

MadQuestion* Mads::find(const Key& key) {
  const auto found = questions_.find(key);
  return found == questions_.end() ? nullptr : found->second.get();
}

void Mads::ask(const MadContext& c, const Key& key, MadFacts& facts) {
  const std::uint32_t content = content_of(c);
  const std::int64_t now_ns = c.packet.frame.time_ns;
  std::unique_ptr<MadQuestion> replaced;
  std::uint32_t times = 1, answers = 0;
  if (MadQuestion* known = find(key)) {
    if (rmpp_active(c) && rmpp_of(c).get<"segmentnumber">() != 1) {  // of a long question
      facts.question = known;
      return;
    }
    const bool same = known->content == content;
    const bool same_subject =
        known->method == c.method() && known->attribute == c.attribute_id() && known->modifier == c.modifier();
    facts.since_last_ns = now_ns - known->last_ns;
    if (same && (facts.since_last_ns < captured_twice_ns || known->hop_pointer != c.bytes[hop_pointer_at])) {
      facts.captured_again = true;
      facts.question = known;
      return;
    }
    // One question more with an ID that served already says nothing of the first.
    const bool notice = facts.kind == MadFacts::Kind::notice;
    if ((same || (same_subject && !reuses(key) && !notice)) && !known->answered()) {
      facts.question = known;
      facts.retry = true;
      facts.retry_differs = !same;
      ++known->times;
      known->last_ns = now_ns;
      return;
    }
    if (same) {
      facts.retry = facts.after_answer = true;
      times = known->times + 1;
      answers = known->answers;
    } else if (known->answered() && !notice && reusers_.size() < most_nodes) {
      reusers_.insert({key.peer.from, key.mad_class});
    }
    if (!same && !notice && !known->answered() && known->wants_answer && !reuses(key))
      replaced = std::move(questions_.find(key)->second);
    if (replaced) replaced->replaced.reset();
  }
  auto question = std::make_unique<MadQuestion>();
  question->frame = c.packet.frame.number;
  question->first_ns = question->last_ns = now_ns;
  question->times = times;
  question->answers = answers;
  question->tid = key.tid;
  std::copy_n(c.bytes, Mad::bytes, question->header.begin());
  question->peer = key.peer;
  question->mad_class = c.class_code();
  question->method = c.method();
  question->base_version = static_cast<std::uint8_t>(c.mad.get<"baseversion">());
  question->class_version = static_cast<std::uint8_t>(c.mad.get<"classversion">());
  question->attribute = c.attribute_id();
  question->modifier = c.modifier();
  if (c.sa() && c.size >= Mad::bytes + Rmpp::bytes + Sa::bytes)
    question->component_mask = View<Sa>(c.bytes + Mad::bytes + Rmpp::bytes).get<"componentmask">();
  if (c.subn() && c.size >= Mad::bytes + SmpLid::bytes)
    question->m_key = View<SmpLid>(c.bytes + Mad::bytes).get<"mkey">();
  if (c.subn() && c.whole() && c.method() != mad_get) {
    question->data = std::make_unique<std::array<std::uint8_t, smp_data_bytes>>();
    std::copy_n(c.bytes + smp_data_at, smp_data_bytes, question->data->begin());
  }
  if (c.directed()) {
    const View<SmpDirected> smp(c.bytes + Mad::bytes);
    question->route = std::make_unique<MadRoute>();
    question->route->hop_count = static_cast<std::uint8_t>(c.mad.get<"hopcount">());
    question->route->drslid = static_cast<std::uint16_t>(smp.get<"drslid">());
    question->route->drdlid = static_cast<std::uint16_t>(smp.get<"drdlid">());
    std::copy_n(c.bytes + initial_path_at, smp_path_ports, question->route->initial.begin());
  }
  question->content = content;
  question->hop_pointer = c.bytes[hop_pointer_at];
  question->wants_answer = facts.kind == MadFacts::Kind::request;
  question->replaced = std::move(replaced);
  if (c.subn()) {
    if (last_set_.size() > most_questions) last_set_.clear();
    const Subject subject{key.peer, key.mad_class, c.attribute_id(), c.modifier()};
    if (const auto set = last_set_.find(subject); set != last_set_.end()) question->set_before = set->second;
    if (c.method() == mad_set) last_set_[subject] = question->frame;
  }
  for (const Early& early : early_)
    if (early.frame != 0 && early.key == key && early.attribute == question->attribute &&
        early.modifier == question->modifier && now_ns - early.time_ns < wrong_order_ns) {
      question->answer_frame = early.frame;
      question->answer_ns = early.time_ns;
      ++question->answers;
    }

  std::unique_ptr<MadQuestion>& place = questions_[key];
  const bool added = !place && !question->replaced;
  forgotten_ = std::move(place);  // facts may point to it
  place = std::move(question);
  if (facts.after_answer) facts.question = forgotten_.get();
  if (added) {
    order_.push_back(key);
    if (order_.size() > most_questions) {
      questions_.erase(order_.front());  // never the one that was just added
      order_.pop_front();
    }
  }
  by_subject_[{key.peer, key.mad_class, c.attribute_id(), c.modifier()}] = key;
  if (by_subject_.size() > most_questions) by_subject_.clear();
  if (c.directed()) {
    if (by_tid_.size() > most_questions) by_tid_.clear();
    by_tid_[{key.peer.from, key.tid}] = key;
  }
}

namespace {

// What every answer repeats, whoever gives it; of vendors' classes nothing is known.
bool answers_it(const MadContext& c, const MadQuestion& question) {
  if (c.attribute_id() != question.attribute || c.modifier() != question.modifier) return false;
  return (c.method() == mad_trap_repress) == (question.method == mad_trap);
}

}  // namespace

void Mads::answer(const MadContext& c, const Key& key, MadFacts& facts) {
  MadQuestion* question = find(key);
  const std::int64_t now_ns = c.packet.frame.time_ns;
  if (!question && c.directed() && !reuses(key)) {
    // By the transaction alone; the way of the answer is another one.
    const auto other = by_tid_.find({key.peer.from, key.tid});
    MadQuestion* const same = other == by_tid_.end() ? nullptr : find(other->second);
    if (same && same->peer.to == key.peer.to && !same->answered() && answers_it(c, *same)) {
      question = same;
      facts.route_differs = true;
    }
  }
  if (question && !question->answered() && question->replaced && !answers_it(c, *question) &&
      answers_it(c, *question->replaced)) {
    facts.overlapping = question;
    question = question->replaced.get();
  }
  // An ID that serves for one question after the other: this one was not captured.
  if (question && !answers_it(c, *question) && (question->answered() || reuses(key))) question = nullptr;
  if (!question) {
    facts.unpaired = true;
    if (c.subn())
      last_set_[{key.peer, key.mad_class, c.attribute_id(), c.modifier()}] = c.packet.frame.number;  // perhaps
    early_[next_early_++ % early_.size()] = {key, c.attribute_id(), c.modifier(), c.packet.frame.number, now_ns};
    const auto subject = by_subject_.find({key.peer, key.mad_class, c.attribute_id(), c.modifier()});
    if (subject == by_subject_.end()) return;
    const MadQuestion* const near = find(subject->second);
    if (near && !near->answered()) facts.near = near;
    return;
  }
  facts.question = question;
  const std::uint32_t content = content_of(c);
  const bool long_answer = rmpp_active(c);
  if (question->answered() && !long_answer) {
    facts.captured_again =
        question->answer_content == content &&
        (now_ns - question->answer_ns < captured_twice_ns || question->answer_hop_pointer != c.bytes[hop_pointer_at]);
    if (facts.captured_again) return;
    facts.second_answer = ++question->answers > question->times && !reuses(key);
    return;
  }
  question->status = c.status();
  std::copy_n(c.bytes, Mad::bytes, question->answer_header.begin());
  facts.first_answer = !question->answered();
  if (facts.first_answer) {
    facts.wait_ns = now_ns - question->last_ns;
    facts.allowed_ns = allowed_ns(c, key.peer, facts.node);
    question->answer_frame = c.packet.frame.number;
    question->answer_ns = now_ns;
    question->answer_content = content;
    question->answer_hop_pointer = c.bytes[hop_pointer_at];
    ++question->answers;
    if ((c.method() & 0x80) != 0 && heard_.size() < most_nodes) heard_.insert({key.peer.from, key.peer.to});
  }
  if (long_answer) segment(c, *question, facts);
  if (!c.whole() || c.status() != 0 || facts.route_differs || !answers_it(c, *question)) return;
  MadPeer place = key.peer;
  if (c.directed()) place.path = way_of(c, hops_of(c));
  learn(c, place, facts);
}

// A segment of a long answer, or what its receiver says of it.
void Mads::segment(const MadContext& c, MadQuestion& question, MadFacts& facts) {
  const View<Rmpp> rmpp = rmpp_of(c);
  facts.part_of_stream = true;
  const bool data = rmpp.get<"rmpptype">() == rmpp_data;
  const auto number = static_cast<std::uint32_t>(rmpp.get<"segmentnumber">());
  if (!question.stream) {
    if (!data || number != 1) return;
    question.stream.emplace();
  } else {
    facts.stream = question.stream;
  }
  if (facts.wrong_direction) return;
  MadStream& s = *question.stream;
  if (!data) {
    s.acknowledged = true;
    if (rmpp.get<"rmpptype">() != rmpp_ack) {
      s.stopped = s.ended = true;
    } else if (question.answered()) {
      s.acked = std::max(s.acked, number);
      s.window_last = std::max(s.window_last, static_cast<std::uint32_t>(rmpp.get<"newwindowlast">()));
      s.ended = s.last_segment != 0 && s.acked >= s.last_segment;
    }
    return;
  }
  // Those that come later fill what was passed over, and nobody knows how much of it: only the highest counts then.
  const bool in_order = number == s.in_order + 1;
  if (in_order) ++s.in_order;
  s.segments = std::max(s.segments, number);
  s.last_frame = c.packet.frame.number;
  if (number == 1) s.first_length = static_cast<std::uint32_t>(rmpp.get<"payloadlength">());
  if (rmpp.get<"rmppflags.last">()) s.last_segment = number;
  if (c.sa() && !s.offset_known && c.size >= Mad::bytes + Rmpp::bytes + Sa::bytes) {
    s.offset = static_cast<std::uint16_t>(View<Sa>(c.bytes + Mad::bytes + Rmpp::bytes).get<"attributeoffset">());
    s.offset_known = true;
  }
  if (in_order && c.sa() && c.whole() && c.attribute) join(c, s, number, facts);
}

// Records of a table may begin in one segment and end in the next: at most one for each segment. mad.md 2.3, 2.4.
void Mads::join(const MadContext& c, MadStream& s, std::uint32_t number, MadFacts& facts) {
  const std::uint32_t record = c.attribute->bytes(), stride = s.offset * 8u;
  const std::uint32_t tail = std::exchange(s.tail_bytes, 0);
  const bool one_each = c.attribute->parts[0] != &header<MultiPathRecord>;  // its answers are paths
  if (record == 0 || stride < record || stride > sa_data_bytes || c.status() != 0 || !one_each) return;
  constexpr std::uint32_t data_at = Mad::bytes + Rmpp::bytes + Sa::bytes;
  const std::uint8_t* const data = c.bytes + data_at;
  std::uint32_t bytes = sa_data_bytes;
  const View<Rmpp> rmpp = rmpp_of(c);
  if (rmpp.get<"rmppflags.last">()) {
    const std::uint64_t length = std::max<std::uint64_t>(rmpp.get<"payloadlength">(), Sa::bytes) - Sa::bytes;
    bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, sa_data_bytes));
  }
  const auto skip = static_cast<std::uint32_t>((number - 1ULL) * sa_data_bytes % stride);  // of it, in the one before
  if (skip > 0 && skip == tail && skip < record && record - skip <= bytes) {
    joined_.assign(s.tail.begin(), s.tail.begin() + skip);
    joined_.insert(joined_.end(), data, data + (record - skip));
    facts.joined = joined_;
  }
  const std::uint32_t first = skip == 0 ? 0 : stride - skip;
  if (first > bytes) return;
  s.tail_bytes = (bytes - first) % stride;
  std::copy_n(data + (bytes - s.tail_bytes), s.tail_bytes, s.tail.begin());
}

// What a node or a manager says with success.
void Mads::learn(const MadContext& c, const MadPeer& peer, MadFacts& facts) {
  const std::uint16_t attribute = c.attribute_id();
  if (c.sa()) return learn_records(c, facts.joined);
  if (!c.subn()) {
    if (attribute == attribute_class_port_info)
      if (const auto info = c.packet.find<ClassPortInfo>(); info && response_times_.size() < most_nodes)
        response_times_[{peer.to, c.class_code()}] = static_cast<std::uint8_t>(info->get<"resptimevalue">());
    return;
  }
  if (c.method() != mad_get_resp || attribute == attribute_notice || !facts.first_answer) return;
  if (attribute == attribute_node_info) learn_node(c, peer);
  MadNode* const node = node_of(peer, c.directed());
  facts.node = node;
  if (!node) return;
  const std::uint8_t* const data = c.bytes + smp_data_at;
  judge_key(c, *node, facts);

  const auto subject = std::pair(attribute, c.modifier());
  if (const auto said = node->said.find(subject); said != node->said.end()) {
    // A Set whose answer is missing may have changed it since.
    if (facts.question->set_before < said->second.frame) facts.before = said->second;
  } else if (said_ < most_said) {
    ++said_;
    node->said.emplace(subject, MadSaid{});
  }
  if (const auto said = node->said.find(subject); said != node->said.end()) {
    said->second.frame = c.packet.frame.number;
    said->second.to_set = facts.question->method == mad_set;
    std::copy_n(data, smp_data_bytes, said->second.data.begin());
  }

  if (attribute == attribute_node_description) {
    const auto* text = reinterpret_cast<const char*>(data);
    node->description.assign(text, std::find(text, text + NodeDescription::bytes, '\0'));
  } else if (attribute == attribute_switch_info) {
    std::copy_n(data, SwitchInfo::bytes, node->switch_info.emplace().begin());
  } else if (attribute == attribute_port_info) {
    const View<PortInfo> info(data);
    auto number = static_cast<std::uint8_t>(c.modifier());
    if (number == 0 && !node->is_switch()) number = static_cast<std::uint8_t>(info.get<"localportnum">());
    MadPort& port = node->port[number];
    port.frame = c.packet.frame.number;
    std::copy_n(data, PortInfo::bytes, port.info.begin());
    const auto lid = info.get<"lid">();
    if (lid != 0 && (number == 0 || !node->is_switch())) {
      const auto [place, added] = addresses_.try_emplace(lid_address(lid), node->guid);
      if (!added && place->second != node->guid) place->second = node->guid;  // LIDs are given anew
    }
  }
}

// M_Keys. A wrong one shows only afterwards: the key may have been changed by a Set that was not captured. So the
// node's key must be the same before and after the Set that came with another one.
void Mads::judge_key(const MadContext& c, MadNode& node, MadFacts& facts) {
  if (!node.is_switch() && node.ports != 1) return;  // each port of an adapter has its own
  const MadQuestion& q = *facts.question;
  const bool set = q.method == mad_set;
  std::uint64_t proof = 0;  // the key is this one, now
  if (c.attribute_id() == attribute_port_info && (!node.is_switch() || (c.modifier() & 0xff) == 0)) {
    proof = View<PortInfo>(c.bytes + smp_data_at).get<"m_key">();
    if (set || proof == 0) {  // 0: none, or hidden from who does not know it
      if (set) {
        node.key = proof;
        node.other_key.reset();
      }
      return;
    }
  } else if (set && q.m_key == node.key) {
    proof = node.key;
  } else if (set && node.key != 0) {
    if (!node.other_key) node.other_key = MadKeySet{q.frame, c.packet.frame.number, q.m_key};
    return;
  }
  if (proof == 0) return;
  if (proof == node.key) {
    facts.wrong_key = node.other_key;
    facts.key = node.key;
  }
  node.key = proof;
  node.other_key.reset();
}

void Mads::learn_node(const MadContext& c, const MadPeer& peer) {
  const View<NodeInfo> info(c.bytes + smp_data_at);
  const std::uint64_t guid = info.get<"nodeguid">();
  if (guid == 0 || (nodes_.size() >= most_nodes && !nodes_.contains(guid))) return;
  MadNode& n = node(guid);
  if (n.first_frame == 0) n.first_frame = c.packet.frame.number;
  n.type = static_cast<std::uint8_t>(info.get<"nodetype">());
  n.ports = static_cast<std::uint8_t>(info.get<"numports">());
  n.partition_cap = static_cast<std::uint16_t>(info.get<"partitioncap">());
  const auto local = static_cast<std::uint8_t>(info.get<"localportnum">());
  if (!c.directed()) {
    if (addresses_.size() < most_nodes * 4) addresses_[peer.to] = guid;
    return;
  }
  if (ways_.size() >= most_nodes * 4) return;
  // Two askers may call different nodes by the same way.
  const auto [way, added] = ways_.try_emplace(peer, guid);
  if (!added && way->second != guid) way->second = 0;
  const unsigned hops = hops_of(c);
  if (hops == 0 || way->second == 0) return;
  MadPeer before = peer;
  before.path = way_of(c, hops - 1);
  if (const auto parent = ways_.find(before); parent != ways_.end() && parent->second != 0)
    link({parent->second, c.bytes[initial_path_at + hops]}, {guid, local});
}

// Tables of the SA: the nodes and links it knows of.
void Mads::learn_records(const MadContext& c, std::span<const std::uint8_t> joined) {
  if (c.method() != mad_get_table_resp && c.method() != mad_get_resp) return;
  std::uint64_t lid = 0;
  const auto part = [&](const Header* h, const std::uint8_t* bytes) {
    if (h == &header<NodeRecord>) {
      lid = View<NodeRecord>(bytes).get<"lid">();
    } else if (h == &header<NodeInfo>) {
      const View<NodeInfo> info(bytes);
      const std::uint64_t guid = info.get<"nodeguid">();
      if (guid == 0 || (nodes_.size() >= most_nodes && !nodes_.contains(guid))) return;
      MadNode& n = node(guid);
      if (n.first_frame == 0) n.first_frame = c.packet.frame.number;
      n.type = static_cast<std::uint8_t>(info.get<"nodetype">());
      n.ports = static_cast<std::uint8_t>(info.get<"numports">());
      n.partition_cap = static_cast<std::uint16_t>(info.get<"partitioncap">());
      if (lid != 0 && addresses_.size() < most_nodes * 4) addresses_[lid_address(lid)] = guid;
    } else if (h == &header<LinkRecord>) {
      const View<LinkRecord> l(bytes);
      const auto from = addresses_.find(lid_address(l.get<"fromlid">())),
                 to = addresses_.find(lid_address(l.get<"tolid">()));
      if (from != addresses_.end() && to != addresses_.end())
        link({from->second, static_cast<std::uint8_t>(l.get<"fromport">())},
             {to->second, static_cast<std::uint8_t>(l.get<"toport">())});
    }
  };
  for (const Layer& layer : c.packet.layers()) part(layer.header, c.packet.data(layer));
  std::size_t at = 0;
  for (const Header* h : joined.empty() ? std::span<const Header* const>() : c.attribute->layers()) {
    part(h, joined.data() + at);
    at += h->bytes;
  }
}

void Mads::link(MadLinkEnd a, MadLinkEnd b) {
  if (links_.size() >= most_nodes * 64) return;
  links_[a] = b;
  links_[b] = a;
}

MadNode& Mads::node(std::uint64_t guid) {
  std::unique_ptr<MadNode>& n = nodes_[guid];
  if (!n) {
    n = std::make_unique<MadNode>();
    n->guid = guid;
  }
  return *n;
}

MadNode* Mads::node_of(const MadPeer& peer, bool directed) {
  std::uint64_t guid = 0;
  if (directed) {
    if (const auto way = ways_.find(peer); way != ways_.end()) guid = way->second;
  } else if (const auto found = addresses_.find(peer.to); found != addresses_.end()) {
    guid = found->second;
  }
  const auto found = guid == 0 ? nodes_.end() : nodes_.find(guid);
  return found == nodes_.end() ? nullptr : found->second.get();
}

// RespTimeValue of who answers, and SubnetTimeOut twice for the way there and back.
std::optional<std::int64_t> Mads::allowed_ns(const MadContext& c, const MadPeer& peer, const MadNode* node) const {
  constexpr std::int64_t unit_ns = 4096;
  std::optional<std::int64_t> response, fabric;
  const auto known = node ? node : [&]() -> const MadNode* {
    const auto found = addresses_.find(peer.to);
    const auto of = found == addresses_.end() ? nodes_.end() : nodes_.find(found->second);
    return of == nodes_.end() ? nullptr : of->second.get();
  }();
  if (known && !known->port.empty()) {
    const View<PortInfo> port = known->port.begin()->second.view();
    fabric = 2 * (unit_ns << port.get<"subnettimeout">());
    if (c.subn()) response = unit_ns << port.get<"resptimevalue">();
  }
  if (!c.subn())
    if (const auto time = response_times_.find({peer.to, c.class_code()}); time != response_times_.end())
      response = unit_ns << time->second;
  if (!response || !fabric) return std::nullopt;
  return *response + *fabric;
}

std::vector<const MadQuestion*> Mads::open() const {
  std::vector<const MadQuestion*> out;
  for (const auto& [key, question] : questions_) {
    const std::optional<MadStream>& stream = question->stream;
    const bool cut = stream && (stream->last_segment == 0 || stream->in_order < stream->last_segment);
    if (!question->answered() || cut) out.push_back(question.get());
  }
  std::ranges::sort(out, {}, &MadQuestion::frame);
  return out;
}

std::vector<const MadQuestion*> Mads::unanswered(std::int64_t end_ns) const {
  std::vector<const MadQuestion*> out;
  for (const auto& [key, question] : questions_) {
    const MadQuestion& q = *question;
    const bool silent = q.wants_answer && !q.answered() && heard_.contains({q.peer.from, q.peer.to});
    const bool no_end = q.stream && !q.stream->ended && q.stream->acknowledged;
    if ((silent || no_end) && end_ns - q.last_ns > answer_due_ns) out.push_back(&q);
  }
  std::ranges::sort(out, {}, &MadQuestion::frame);
  return out;
}

const MadNode* Mads::node_by_guid(std::uint64_t guid) const {
  const auto found = nodes_.find(guid);
  return found == nodes_.end() ? nullptr : found->second.get();
}

std::vector<const MadNode*> Mads::nodes() const {
  std::vector<const MadNode*> out;
  for (const auto& [guid, node] : nodes_) out.push_back(node.get());
  return out;
}

}  // namespace rdmascope::check
