// Management datagrams: which question an answer belongs to, what is asked again, and what the nodes have said of
// themselves. A MAD is no packet of a connection: its state lives here, by who asks whom, class and transaction.
// mad.md 1.4, 2.2, 2.3.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "check/cm.h"
#include "check/connection.h"
#include "check/context.h"
#include "dissect/headers.h"
#include "dissect/mad_attributes.h"

namespace rdmascope::check {

// Whom a question is about: a port by its address, or by the way to it (directed route).
struct MadPeer {
  Address from, to;        // the asker's and the answerer's
  std::uint64_t path = 0;  // directed route: HopCount, DrSLID, DrDLID and InitialPath as one number
  bool operator==(const MadPeer&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const MadPeer& p) {
    return H::combine(std::move(h), p.from, p.to, p.path);
  }
};

// What a node said of one attribute, under one modifier.
struct MadSaid {
  std::uint64_t frame = 0;
  bool to_set = false;  // in answer to a Set
  std::array<std::uint8_t, dissect::smp_data_bytes> data{};
};

// What a node has said of itself in answers of the capture. Nothing is known before it was said.
struct MadPort {
  std::uint64_t frame = 0;  // of the last PortInfo
  std::array<std::uint8_t, dissect::PortInfo::bytes> info{};
  dissect::View<dissect::PortInfo> view() const { return dissect::View<dissect::PortInfo>(info.data()); }
};
// A Set that was carried out.
struct MadKeySet {
  std::uint64_t question_frame = 0, answer_frame = 0, key = 0;  // the M_Key it came with
};
struct MadNode {
  std::uint64_t guid = 0;
  std::map<std::pair<std::uint16_t, std::uint32_t>, MadSaid> said;  // by attribute and modifier
  std::uint8_t type = 0, ports = 0;                                 // NodeInfo
  std::uint16_t partition_cap = 0;
  std::string description;
  std::optional<std::array<std::uint8_t, dissect::SwitchInfo::bytes>> switch_info;
  std::map<std::uint8_t, MadPort> port;  // by number
  // M_Key that PortInfo said, and a Set with another one that was carried out since.
  std::uint64_t key = 0;
  std::optional<MadKeySet> other_key;
  std::uint64_t first_frame = 0;

  bool is_switch() const { return type == 2; }
  std::optional<dissect::View<dissect::SwitchInfo>> switch_view() const {
    if (!switch_info) return std::nullopt;
    return dissect::View<dissect::SwitchInfo>(switch_info->data());
  }
};

// An end of a link.
struct MadLinkEnd {
  std::uint64_t guid = 0;  // of the node
  std::uint8_t port = 0;
  auto operator<=>(const MadLinkEnd&) const = default;
};

// The state of a long answer (RMPP), by the segments that were seen.
struct MadStream {
  std::uint32_t segments = 0;      // highest number seen
  std::uint32_t in_order = 0;      // all up to this one were seen
  std::uint32_t window_last = 1;   // the sender may send so far; 1 until the receiver says more
  std::uint32_t acked = 0;         // by the receiver
  std::uint32_t first_length = 0;  // PayloadLength of the first segment; 0: not told
  std::uint32_t last_segment = 0;  // the one with Last; 0: not seen
  std::uint64_t last_frame = 0;
  std::uint16_t offset = 0;  // AttributeOffset of the first segment seen
  bool offset_known = false, ended = false, stopped = false;
  bool acknowledged = false;  // its receiver was heard
  // SA: the bytes at the end of the last segment in order that belong to a record which the next one ends.
  std::array<std::uint8_t, dissect::sa_data_bytes> tail{};
  std::uint32_t tail_bytes = 0;
};

// The way of a directed route, as a question says it.
struct MadRoute {
  std::uint8_t hop_count = 0;
  std::uint16_t drslid = 0, drdlid = 0;
  std::array<std::uint8_t, dissect::smp_path_ports> initial{};
};

// A question, as it was first asked.
struct MadQuestion {
  std::uint64_t frame = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  std::uint64_t tid = 0;
  MadPeer peer;
  std::uint8_t mad_class = 0, method = 0, base_version = 0, class_version = 0;
  std::uint16_t attribute = 0;
  std::uint32_t modifier = 0;
  std::uint64_t component_mask = 0, m_key = 0;
  std::uint32_t content = 0;  // CRC of what does not change on the way
  std::uint32_t times = 1;    // sent
  std::uint8_t hop_pointer = 0;
  // Its answer.
  std::uint64_t answer_frame = 0;
  std::int64_t answer_ns = 0;
  std::uint32_t answers = 0, answer_content = 0;
  std::uint8_t answer_hop_pointer = 0;
  std::uint16_t status = 0;         // without D
  std::optional<MadStream> stream;  // if the answer is a long one
  bool wants_answer = true;
  std::uint64_t set_before = 0;  // frame of the Set before it of the same, answered or not
  using CommonHeader = std::array<std::uint8_t, dissect::Mad::bytes>;
  CommonHeader header{}, answer_header{};
  std::unique_ptr<MadRoute> route;  // directed route
  std::unique_ptr<std::array<std::uint8_t, dissect::smp_data_bytes>> data;  // Set and Trap of subnet management
  std::unique_ptr<MadQuestion> replaced;  // open with the same transaction ID when this one was asked

  bool answered() const { return answer_frame != 0; }
};

// How a MAD stands to those before it.
struct MadFacts {
  enum class Kind : std::uint8_t {
    request,   // wants an answer
    response,  // R, or a TrapRepress
    notice,    // Trap: may be answered, and is repeated until then
    message,   // Send: nobody answers at this level
    rmpp,      // ACK, STOP or ABORT of a long answer
  };
  Kind kind = Kind::request;
  bool on_wire = false;         // the capture shows SMPs as they are between two nodes
  bool captured_again = false;  // the same datagram at another place of its way, or twice
  // Questions.
  bool retry = false;              // asked again, and not answered since
  bool retry_differs = false;      // in other words
  bool after_answer = false;       // asked again although an answer is in the capture
  std::int64_t since_last_ns = 0;  // from the last time it was asked
  // Answers.
  bool unpaired = false;  // to nothing in the capture
  bool first_answer = false;
  bool route_differs = false;  // from the question's
  // A later question with the same transaction ID, which was asked before this answer came.
  const MadQuestion* overlapping = nullptr;
  bool second_answer = false;              // more of them than questions
  std::int64_t wait_ns = 0;                // since the question was last asked
  std::optional<std::int64_t> allowed_ns;  // as the answerer has said it takes, and the fabric
  // What was asked first, of retries, answers and RMPP. `near`: an open question in the same words, but for the
  // transaction ID, when there is none.
  const MadQuestion* question = nullptr;
  const MadQuestion* near = nullptr;
  const MadNode* node = nullptr;   // who answers or is asked, if it has said who it is
  const MadNode* asker = nullptr;  // who sent a notice
  std::optional<MadSaid> before;   // what it said last of the attribute; SMPs
  // RMPP: the stream before this segment or acknowledge; nullopt: it was not seen from its beginning.
  std::optional<MadStream> stream;
  bool part_of_stream = false;
  std::span<const std::uint8_t> joined;  // the record that this segment ends; until the next datagram
  bool wrong_direction = false;          // acknowledges, stops or aborts a stream of its own
  // M_Keys: an earlier Set with another key than the node's was carried out, as this datagram proves.
  std::optional<MadKeySet> wrong_key;
  std::uint64_t key = 0;      // the node's
  std::optional<CmFacts> cm;  // messages of the connection manager
};

struct MadContext {
  const dissect::Packet& packet;
  dissect::View<dissect::Mad> mad;
  const std::uint8_t* bytes;  // of the MAD
  std::uint32_t size;         // that are there; 256 if it is whole
  const Context& transport;
  const dissect::MadClass* mad_class;      // nullptr: reserved
  const dissect::MadAttribute* attribute;  // nullptr: not known
  MadFacts facts;

  std::uint8_t class_code() const { return bytes[1]; }
  std::uint8_t method() const { return bytes[3]; }
  std::uint16_t attribute_id() const { return static_cast<std::uint16_t>(mad.get<"attributeid">()); }
  std::uint32_t modifier() const { return static_cast<std::uint32_t>(mad.get<"attributemodifier">()); }
  bool directed() const { return class_code() == dissect::mad_class_directed; }
  bool subn() const { return directed() || class_code() == dissect::mad_class_subn; }
  bool sa() const { return class_code() == dissect::mad_class_sa; }
  bool is_response() const { return facts.kind == MadFacts::Kind::response; }
  bool whole() const { return size == dissect::mad_bytes; }
  // Bits 4:2, and all but D.
  std::uint8_t status_code() const { return static_cast<std::uint8_t>(mad.get<"status.code">()); }
  std::uint16_t status() const {
    return static_cast<std::uint16_t>(mad.get<"status">() & (directed() ? 0x7fff : 0xffff));
  }
};

class Mads {
 public:
  // A MAD that a receiver would take: what it says of those before it, and remembers it.
  MadFacts mad(const MadContext& c);

  // After the last frame, at this time: questions that were never answered, though their like was and there was time
  // for it; and those whose long answer has no end. Oldest first. They live as long as this.
  std::vector<const MadQuestion*> unanswered(std::int64_t end_ns) const;

  // All without an answer in the capture, or without the end of a long one; also such as need none. Oldest first.
  std::vector<const MadQuestion*> open() const;

  // The fabric as its nodes have described it, by GUID.
  std::vector<const MadNode*> nodes() const;
  const std::map<MadLinkEnd, MadLinkEnd>& links() const { return links_; }  // each in both directions
  const MadNode* node_by_guid(std::uint64_t guid) const;
  std::size_t questions() const { return questions_.size(); }
  const CmTalks& talks() const { return talks_; }

 private:
  struct Key {
    MadPeer peer;
    std::uint64_t tid = 0;
    std::uint8_t mad_class = 0;
    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.peer, k.tid, k.mad_class);
    }
  };
  // What is asked, whoever's transaction it is.
  struct Subject {
    MadPeer peer;
    std::uint8_t mad_class = 0;
    std::uint16_t attribute = 0;
    std::uint32_t modifier = 0;
    bool operator==(const Subject&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Subject& s) {
      return H::combine(std::move(h), s.peer, s.mad_class, s.attribute, s.modifier);
    }
  };

  MadQuestion* find(const Key& key);
  bool reuses(const Key& key) const { return key.tid == 0 || reusers_.contains({key.peer.from, key.mad_class}); }
  void judge_key(const MadContext& c, MadNode& node, MadFacts& facts);
  void ask(const MadContext& c, const Key& key, MadFacts& facts);
  void answer(const MadContext& c, const Key& key, MadFacts& facts);
  void segment(const MadContext& c, MadQuestion& question, MadFacts& facts);
  void learn(const MadContext& c, const MadPeer& peer, MadFacts& facts);
  void learn_node(const MadContext& c, const MadPeer& peer);
  void join(const MadContext& c, MadStream& stream, std::uint32_t number, MadFacts& facts);
  void learn_records(const MadContext& c, std::span<const std::uint8_t> joined);
  void link(MadLinkEnd a, MadLinkEnd b);
  MadNode& node(std::uint64_t guid);
  MadNode* node_of(const MadPeer& peer, bool directed);
  std::optional<std::int64_t> allowed_ns(const MadContext& c, const MadPeer& peer, const MadNode* node) const;

  absl::flat_hash_map<Key, std::unique_ptr<MadQuestion>> questions_;
  absl::flat_hash_map<Subject, Key> by_subject_;  // the last one asked
  std::deque<Key> order_;                         // of questions_, oldest first

  std::vector<std::uint8_t> joined_;        // the last record of two segments
  std::unique_ptr<MadQuestion> forgotten_;  // replaced last; facts may point to it

  std::map<std::uint64_t, std::unique_ptr<MadNode>> nodes_;  // by GUID
  absl::flat_hash_map<MadPeer, std::uint64_t> ways_;         // directed route to GUID; 0: to several
  absl::flat_hash_map<Address, std::uint64_t> addresses_;    // LID to GUID; 0: of several
  std::map<MadLinkEnd, MadLinkEnd> links_;
  std::size_t said_ = 0;  // in all nodes
  bool wire_ = false;     // see MadFacts::on_wire

  // By asker and class: those that use a transaction ID for one question after the other.
  absl::flat_hash_set<std::pair<Address, std::uint8_t>> reusers_;
  absl::flat_hash_set<std::pair<Address, Address>> heard_;  // askers whose questions to an address were answered
  // Directed routes by asker, answerer and transaction ID alone: the way is compared.
  absl::flat_hash_map<std::pair<Address, std::uint64_t>, Key> by_tid_;
  absl::flat_hash_map<Subject, std::uint64_t> last_set_;  // frame of the question
  // Answers to nothing, the latest ones: some captures show neighbours in the wrong order.
  struct Early {
    Key key;
    std::uint16_t attribute = 0;
    std::uint32_t modifier = 0;
    std::uint64_t frame = 0;
    std::int64_t time_ns = 0;
  };
  std::array<Early, 8> early_;
  std::size_t next_early_ = 0;
  CmTalks talks_;
  // RespTimeValue in the ClassPortInfo of a manager, by its address and class.
  absl::flat_hash_map<std::pair<Address, std::uint8_t>, std::uint8_t> response_times_;
};

}  // namespace rdmascope::check
