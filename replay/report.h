// What a run of a script has to tell: verdicts, and the story that led to them. Plain values; front ends choose the
// form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rdmascope::replay {

enum class Verdict : std::uint8_t {
  passed,
  failed,          // the device did not do what the test demands
  not_applicable,  // the device cannot do what the test needs
  skipped,         // the script says so
  error,           // neither: the script is wrong, or device or wire gave out
  known_deviation,  // failed, as the user knows it of this device
};
std::string_view name(Verdict verdict);  // "not applicable"

struct Event {
  enum class Kind : std::uint8_t {
    step,        // the script demanded something of the device and got it, or something else
    sent,        // by the tester
    received,    // from the device
    posted,      // the device was told to
    completion,  // the device said
    printed,     // by the script
    note,        // anything else worth telling
  };
  // Their names in JSON.
  static constexpr std::string_view kinds[] = {"step", "sent", "received", "posted", "completion", "printed", "note"};
  Kind kind = Kind::step;
  bool good = true;
  int line = 0;                  // of the script; 0: none
  std::int64_t time_ns = 0;      // since the script began
  std::uint32_t connection = 0;  // 0: none
  std::uint64_t frame = 0;       // sent and received: number in the record, from 1
  std::string text;              // "expect RC_RDMA_READ_REQUEST psn S+3", "RC_SEND_ONLY S+0 256 bytes"
};

// One verdict: of a script, or of a part of it that has its own (sub).
struct Case {
  std::string id;     // "C09-060-05", "C09-060-05/wrap"
  std::string title;  // of the script
  std::vector<std::string> covers;
  Verdict verdict = Verdict::passed;
  std::string message;               // why, if not passed: "c09.lua:9: infiniband.bth.psn: expected ..."
  std::vector<std::string> details;  // more of it: the packet at fault, further differences
  std::vector<Event> events;
  std::int64_t duration_ns = 0;  // on the wire's clock
};

struct ScriptReport {
  std::string script;  // file name without folder
  std::vector<Case> cases;
};

}  // namespace rdmascope::replay
