#include "check/cm.h"

#include "dissect/headers.h"

namespace rdmascope::check {
namespace {

using namespace dissect;

constexpr std::size_t most_talks = 1 << 16, most_ways = 1 << 16;

// Nobody asks again that soon; mirrors show a packet twice within this.
constexpr std::int64_t captured_twice_ns = 1'000'000;

constexpr std::uint16_t attribute_req = 0x10, attribute_mra = 0x11, attribute_rej = 0x12, attribute_rep = 0x13,
                        attribute_dreq = 0x15, attribute_drep = 0x16;

}  // namespace

CmTalk* CmTalks::find(const Address& address, std::uint32_t id) {
  const auto found = ends_.find({address, id});
  return found == ends_.end() ? nullptr : found->second.get();
}

void CmTalks::forget_oldest() {
  const std::shared_ptr<CmTalk> talk = std::move(order_.front());
  order_.pop_front();
  const auto erase = [&](const Address& address, std::uint32_t id) {
    if (const auto found = ends_.find({address, id}); found != ends_.end() && found->second == talk) ends_.erase(found);
  };
  erase(talk->active, talk->active_id);
  if (talk->passive_id) erase(talk->passive, *talk->passive_id);
}

CmFacts CmTalks::request(const Packet& packet, const std::uint8_t* mad, const Address& from, const Address& to) {
  const View<CmReq> req(mad + Mad::bytes);
  const auto id = static_cast<std::uint32_t>(req.get<"localcommid">());
  const std::uint64_t tid = View<Mad>(mad).get<"transactionid">();
  CmFacts facts;
  facts.from_active = true;
  CmTalk* const known = find(from, id);
  // The same ID with another transaction is a new conversation.
  if (known && known->active == from && known->active_id == id && known->passive == to && known->tid == tid) {
    facts.talk = known;
    facts.captured_again = packet.frame.time_ns - known->req_ns < captured_twice_ns;
    if (facts.captured_again) return facts;
    ++known->req_times;
    known->req_ns = packet.frame.time_ns;
    return facts;
  }
  auto talk = std::make_shared<CmTalk>();
  talk->active = from;
  talk->passive = to;
  talk->active_id = id;
  talk->tid = tid;
  talk->req_frame = packet.frame.number;
  talk->req_ns = packet.frame.time_ns;
  talk->responder_resources = static_cast<std::uint8_t>(req.get<"responderres">());
  talk->response_timeout = static_cast<std::uint8_t>(req.get<"remoteresptout">());
  talk->most_retries = static_cast<std::uint8_t>(req.get<"maxcmretr">());
  talk->ack_timeout = static_cast<std::uint8_t>(req.get<"prim_localacktout">());
  facts.talk = talk.get();
  ends_[{from, id}] = talk;
  if (last_.size() < most_ways || last_.contains({from, to})) last_[{from, to}] = talk;
  order_.push_back(std::move(talk));
  if (order_.size() > most_talks) forget_oldest();
  return facts;
}

CmFacts CmTalks::message(const Packet& packet, const std::uint8_t* mad, const Address& from, const Address& to) {
  const auto attribute = static_cast<std::uint16_t>(View<Mad>(mad).get<"attributeid">());
  if (ways_.size() < most_ways) ways_.insert({from, to});
  const bool both_ways = ways_.contains({to, from});
  if (attribute == attribute_req) {
    CmFacts facts = request(packet, mad, from, to);
    facts.both_ways = both_ways;
    return facts;
  }
  CmFacts facts;
  facts.both_ways = both_ways;
  if (attribute < attribute_mra || attribute > attribute_drep) return facts;  // SIDR, LAP and APR are not followed

  const View<CmRtu> ids(mad + Mad::bytes);  // all of them begin so
  const auto local = static_cast<std::uint32_t>(ids.get<"localcommid">());
  const auto remote = static_cast<std::uint32_t>(ids.get<"remotecommid">());
  CmTalk* talk = find(to, remote);
  const auto is_between = [&](const CmTalk& t) {
    return (t.active == from && t.passive == to) || (t.active == to && t.passive == from);
  };
  if (talk && !is_between(*talk)) return facts;
  if (talk) {
    facts.talk = talk;
    // Two processes of one host talk with one address: the IDs say who it is.
    facts.from_active = talk->active == from && (talk->active != talk->passive || remote != talk->active_id);
    if (facts.from_active) {
      if (local != talk->active_id && local != 0) facts.expected_local = talk->active_id;
    } else if (talk->passive_id) {
      if (local != *talk->passive_id && local != 0) facts.expected_local = *talk->passive_id;
    } else if (attribute == attribute_rep || attribute == attribute_mra) {
      talk->passive_id = local;
      const std::shared_ptr<CmTalk> shared = ends_.find({to, remote})->second;  // the next line may move it
      ends_[{from, local}] = shared;
    }
  } else if (CmTalk* const own = find(from, local); own && is_between(*own)) {
    // The sender is known, whom it means is not.
    const bool from_active = own->active == from && own->active_id == local;
    if (from_active && !own->passive_id) return facts;
    facts.talk = talk = own;
    facts.from_active = from_active;
    facts.expected_remote = from_active ? *own->passive_id : own->active_id;
    return facts;
  } else {
    if (attribute != attribute_rep) return facts;
    const auto last = last_.find({to, from});
    const std::shared_ptr<CmTalk> waiting = last == last_.end() ? nullptr : last->second.lock();
    if (waiting && waiting->rep_frame == 0 && !waiting->answered) facts.waiting = waiting.get();
    return facts;
  }
  const bool answers_req =
      !facts.from_active && (attribute == attribute_rep || attribute == attribute_mra || attribute == attribute_rej);
  if (answers_req && !talk->answered) {
    facts.wait_ns = packet.frame.time_ns - talk->req_ns;
    talk->answered = true;
  }
  if (attribute == attribute_rep && talk->rep_frame == 0) talk->rep_frame = packet.frame.number;
  if (attribute == attribute_dreq) talk->dreq[facts.from_active ? 0 : 1] = true;
  return facts;
}

}  // namespace rdmascope::check
