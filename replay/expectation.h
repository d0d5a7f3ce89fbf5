// What a packet should look like: opcodes, values and ranges of fields by their dissect names, headers that must or
// must not be there, payload. Says what differs in the words of the field.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dissect/field_index.h"
#include "dissect/packet.h"
#include "replay/psn.h"

namespace rdmascope::replay {

// What a number may be: any of some ranges.
struct Allowed {
  struct Range {
    std::uint64_t low, high;
  };
  std::vector<Range> ranges;
  std::vector<std::string> bytes;  // or one of these, for fields that are bytes
  std::string shown;               // "S+3 (0x000001)", "at least 5"; empty: made from the field

  bool holds(std::uint64_t value) const;
  static Allowed anything();
};

// PSNs of a connection: how far a value is from the start of its stream.
struct PsnStarts {
  std::uint32_t dut = 0, tester = 0;
  Psn of_dut(std::int64_t n) const { return Psn{dut, 0, 'S'}.plus(n); }
  Psn of_tester(std::int64_t n) const { return Psn{tester, 0, 'T'}.plus(n); }
  // Of a packet from the DUT or the tester: responses count in the other one's stream.
  Psn relative(std::uint8_t opcode, std::uint32_t psn, bool from_tester) const;
};

class Expectation {
 public:
  // Any of those added; none: any opcode.
  void opcode(std::uint8_t opcode) { opcodes_.push_back(opcode); }
  // "psn", "bth.psn", "infiniband.bth.psn"; a word alone is a field of the BTH.
  Result<void> field(std::string_view name, Allowed allowed);
  Result<void> header(std::string_view name, bool present);
  void payload(std::string bytes) { payload_ = std::move(bytes); }
  void payload_bytes(Allowed allowed) { payload_bytes_ = std::move(allowed); }

  // What differs, one sentence each, the most telling first; empty: it is as expected.
  std::vector<std::string> differences(const dissect::Packet& packet, const PsnStarts& starts) const;

  // "RC_RDMA_READ_REQUEST psn S+3"
  std::string text() const;

 private:
  struct FieldTest {
    const dissect::Header* header;
    const dissect::Field* field;
    Allowed allowed;
  };
  struct HeaderTest {
    const dissect::Header* header;
    bool present;
  };
  std::vector<std::uint8_t> opcodes_;
  std::vector<FieldTest> fields_;
  std::vector<HeaderTest> headers_;
  std::optional<std::string> payload_;
  std::optional<Allowed> payload_bytes_;
};

// A header or field by the names scripts use; the error says what is near.
Result<dissect::FieldRef> script_field(std::string_view name);
Result<const dissect::Header*> script_header(std::string_view name);

// "RC_SEND_ONLY", or "0x1f" where there is none.
std::string opcode_text(std::uint8_t opcode);

// The transport payload, without pad.
std::span<const std::uint8_t> payload_of(const dissect::Packet& packet);

// The packet in one line: opcode, PSN as it stands to its start, what else matters.
std::string line_of(const dissect::Packet& packet, const PsnStarts& starts, bool from_tester);

// "differs at byte 12 of 256: expected 0x0c, got 0x00"; empty: equal.
std::string byte_difference(std::span<const std::uint8_t> expected, std::span<const std::uint8_t> actual);

}  // namespace rdmascope::replay
