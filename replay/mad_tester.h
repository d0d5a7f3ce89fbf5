// The tester's side of management datagrams (MADs): requests by class and attribute, answers told by their transaction
// IDs, many of them outstanding at a time. Part of the tester; what goes wrong is a Stop. mad.md sections 1, 2 and 9.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dissect/field.h"
#include "dissect/packet.h"
#include "replay/expectation.h"
#include "replay/mad_frame.h"
#include "replay/tester.h"

namespace rdmascope::replay {

// A field of any header of the frame that a script sets by hand.
struct MadSetting {
  const dissect::Header* header;
  const dissect::Field* field;
  std::uint64_t number = 0;
  std::vector<std::uint8_t> bytes;  // of fields that are bytes
  unsigned index = 0;               // of an array
};

struct MadRequest {
  std::optional<std::uint8_t> mgmt_class;  // nullopt: SMP as the device is reached
  std::uint8_t method = 1;
  std::uint16_t attribute = 0;
  std::uint32_t modifier = 0;
  std::optional<std::vector<std::uint8_t>> route;  // nullopt: as the device is reached
  std::optional<std::uint16_t> lid;
  std::optional<std::uint64_t> m_key, tid;
  std::string data;  // of the attribute, from its first byte
  std::vector<MadSetting> settings;
  std::optional<std::uint32_t> bytes;  // of the MAD, instead of 256
};

std::string_view node_type(std::uint64_t type);  // of NodeInfo: "switch"

// What an answer must be like.
struct MadWanted {
  std::vector<Allowed> status{};  // code in bits 4:2; empty: 0
  bool echo = true;               // class, method, attribute and modifier are those of the request
  std::optional<Expectation> fields;
  std::int64_t within_ns = 1'000'000'000;
  unsigned tries = 3;  // a MAD may be lost
};

struct MadSent {
  std::uint64_t tid = 0;
  std::uint64_t frame = 0;  // its number in the record
};

class MadTester {
 public:
  explicit MadTester(Tester& tester);

  // What the device says of itself; asked once.
  struct Node {
    std::uint64_t type = 0;  // 1 CA, 2 switch, 3 router
    std::uint64_t ports = 0;
    std::uint64_t local_port = 0;  // where the tester's SMPs arrive
  };
  const Node& node();
  // Of the port that answers; 0: it has none.
  std::uint16_t lid();

  MadSent send(const MadRequest& request, bool told = true);
  // The answer's frame; 0: none came until then.
  std::uint64_t wait_for(std::uint64_t tid, std::int64_t within_ns);
  // Sends, waits, sends again when nothing came or the device was busy. 0: no answer.
  std::uint64_t exchange(const MadRequest& request, const MadWanted& wanted);
  // Fails unless the answer is as wanted.
  void check(const MadSent& request, std::uint64_t answer, const MadWanted& wanted);
  void expect_no_answer(const MadSent& request, std::int64_t within_ns);
  void show(std::uint64_t answer);  // in the story of the test
  const MadSent& last() const;

  struct Pipeline {
    std::uint64_t count = 0;
    unsigned window = 0;  // 0: as many as the wire bears
    std::function<std::pair<MadRequest, MadWanted>(std::uint64_t)> request;
    std::function<void(std::uint64_t, std::uint64_t answer)> answer;  // may be empty
  };
  void run(const Pipeline& pipeline);

  // At the end of a test: answers that nobody asked for.
  void finish();
  // Of another test: forgets what is outstanding.
  void abandon();

  // Code in bits 4:2 of the status word, and the word, both without the D bit of a directed route.
  static unsigned status_code(std::span<const std::uint8_t> mad);
  static unsigned status_word(std::span<const std::uint8_t> mad);
  std::span<const std::uint8_t> mad(std::uint64_t frame) const;  // its 256 bytes, or fewer
  std::string line(std::uint64_t frame) const;                   // "SubnDirectedRoute Get NodeInfo 0x0"

 private:
  std::vector<std::uint8_t> build(const MadRequest& request);
  std::uint64_t send_again(const MadSent& sent);  // its new frame
  void keep_from_harm(std::span<const std::uint8_t> mad);
  bool take(std::int64_t deadline_ns);  // one arriving MAD
  std::vector<std::string> differences(std::uint64_t request, std::uint64_t answer, const MadWanted& wanted) const;
  void tell_exchange(const MadSent& request, std::uint64_t answer);

  Tester& tester_;
  MadTarget target_;
  MadCarriage carriage_;
  std::uint64_t next_tid_;
  std::uint32_t next_psn_ = 0;
  std::optional<Node> node_;
  std::optional<std::uint16_t> lid_;
  MadSent last_;
  struct Outstanding {
    std::uint64_t frame = 0;
    unsigned sent = 1, answered = 0;
  };
  std::map<std::uint64_t, Outstanding> requests_;                  // by transaction ID
  std::map<std::uint64_t, std::uint64_t> answers_;                 // arrived, not looked at
  std::vector<std::pair<std::uint64_t, std::string>> unexpected_;  // frame, why
  bool asking_ = false;                                            // about the device itself
};

}  // namespace rdmascope::replay
