#include "replay/expectation.h"

#include <fmt/format.h>

#include <algorithm>

#include "dissect/headers.h"
#include "dissect/summary.h"
#include "dissect/text.h"

namespace rdmascope::replay {
namespace {

using dissect::Field;
using dissect::Header;
using dissect::Layer;
using dissect::Packet;
using dissect::Value;

bool is_psn(const Header& header, const Field& field) {
  return &header == &dissect::header<dissect::Bth> && field.name == "psn";
}

bool is_opcode(const Header& header, const Field& field) {
  return &header == &dissect::header<dissect::Bth> && field.name == "opcode";
}

std::string number_text(const Field& field, std::uint64_t number) {
  dissect::Text out;
  Value value;
  value.number = number;
  dissect::put_value(out, field, value);
  std::string text(out.view());
  const std::string_view known = dissect::name_of(field.names, number);
  if (!known.empty() && known != text) text = fmt::format("{} ({})", known, text);
  return text;
}

std::string shown(const Field& field, const Allowed& allowed) {
  if (!allowed.shown.empty()) return allowed.shown;
  std::vector<std::string> parts;
  for (const Allowed::Range& r : allowed.ranges)
    if (r.low == r.high)
      parts.push_back(number_text(field, r.low));
    else if (r.low == 0 && r.high == ~0ULL)
      parts.push_back("anything");
    else if (r.high == ~0ULL)
      parts.push_back("at least " + number_text(field, r.low));
    else if (r.low == 0)
      parts.push_back("at most " + number_text(field, r.high));
    else
      parts.push_back(number_text(field, r.low) + " to " + number_text(field, r.high));
  for (const std::string& bytes : allowed.bytes) {
    dissect::Text hex;
    hex.hex_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    parts.emplace_back(hex.view());
  }
  return fmt::format("{}", fmt::join(parts, " or "));
}

}  // namespace

bool Allowed::holds(std::uint64_t value) const {
  return std::any_of(ranges.begin(), ranges.end(),
                     [value](const Range& r) { return value >= r.low && value <= r.high; });
}

Allowed Allowed::anything() { return {{{0, ~0ULL}}, {}, "anything"}; }

Psn PsnStarts::relative(std::uint8_t opcode, std::uint32_t psn, bool from_tester) const {
  const bool of_tester_stream = dissect::opcodes[opcode].response != from_tester;
  return of_tester_stream ? Psn::relative(psn, tester, 'T') : Psn::relative(psn, dut, 'S');
}

Result<const Header*> script_header(std::string_view name) {
  if (const Header* found = dissect::find_header(name)) return found;
  return Error{fmt::format("no such header: {}", name)};
}

Result<dissect::FieldRef> script_field(std::string_view name) {
  std::string full(name);
  const std::size_t dot = name.find('.');
  if (full.ends_with(".rkey")) full.replace(full.size() - 4, 4, "r_key");
  std::vector<dissect::FieldRef> found;
  if (dot == std::string_view::npos)
    found = dissect::find_fields("infiniband.bth." + full);
  else if (found = dissect::find_fields(full); found.empty())
    found = dissect::find_fields("infiniband." + full);
  for (const dissect::FieldRef& ref : found)
    if (ref.field) return ref;
  std::string near = dissect::nearest_field_name(full);
  return Error{near.empty() ? fmt::format("no such field: {}", name)
                            : fmt::format("no such field: {}; perhaps {}", name, near)};
}

Result<void> Expectation::field(std::string_view name, Allowed allowed) {
  Result<dissect::FieldRef> ref = script_field(name);
  if (!ref) return Error{ref.error()};
  fields_.push_back({ref->header, ref->field, std::move(allowed)});
  return {};
}

Result<void> Expectation::header(std::string_view name, bool present) {
  Result<const Header*> found = script_header(name);
  if (!found) return Error{found.error()};
  headers_.push_back({*found, present});
  return {};
}

std::vector<std::string> Expectation::differences(const Packet& packet, const PsnStarts& starts) const {
  std::vector<std::string> out;
  const auto bth = packet.find<dissect::Bth>();
  const std::uint8_t opcode = bth ? static_cast<std::uint8_t>(bth->get<"opcode">()) : 0;
  if (!opcodes_.empty() && (!bth || std::find(opcodes_.begin(), opcodes_.end(), opcode) == opcodes_.end())) {
    std::vector<std::string> wanted;
    for (std::uint8_t o : opcodes_) wanted.push_back(opcode_text(o));
    out.push_back(fmt::format("infiniband.bth.opcode: expected {}, got {}", fmt::join(wanted, " or "),
                              bth ? opcode_text(opcode) : "no transport packet"));
  }
  for (const HeaderTest& test : headers_)
    if ((packet.find(*test.header) != nullptr) != test.present)
      out.push_back(fmt::format("{}: {}", test.header->name,
                                test.present ? "expected, but not there" : "not expected, but there"));
  for (const FieldTest& test : fields_) {
    const std::string name = dissect::full_name(*test.header, *test.field);
    const Layer* layer = packet.find(*test.header);
    Value value;
    if (!layer || !dissect::read(packet, *layer, *test.field, 0, value)) {
      out.push_back(fmt::format("{}: expected {}, but the packet has none", name, shown(*test.field, test.allowed)));
    } else if (value.kind == Value::Kind::number) {
      if (test.allowed.holds(value.number)) continue;
      std::string got = is_psn(*test.header, *test.field)
                            ? to_text(starts.relative(opcode, static_cast<std::uint32_t>(value.number), false))
                        : is_opcode(*test.header, *test.field) ? opcode_text(opcode)
                                                               : number_text(*test.field, value.number);
      out.push_back(fmt::format("{}: expected {}, got {}", name, shown(*test.field, test.allowed), got));
    } else {
      const std::string_view got =
          value.kind == Value::Kind::text
              ? value.text
              : std::string_view(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
      const std::vector<std::string>& choices = test.allowed.bytes;
      if ((choices.empty() && !test.allowed.ranges.empty()) ||
          std::find(choices.begin(), choices.end(), got) != choices.end())
        continue;
      dissect::Text text;
      dissect::put_value(text, *test.field, value);
      out.push_back(fmt::format("{}: expected {}, got {}", name, shown(*test.field, test.allowed), text.view()));
    }
  }
  // A receiver drops a packet with a wrong ICRC, so the tester takes none either, unless it is what the script looks
  // for.
  const bool looks_at_icrc = std::any_of(fields_.begin(), fields_.end(), [](const FieldTest& test) {
    return test.header == &dissect::header<dissect::Icrc>;
  });
  if (const Layer* icrc = packet.find(dissect::header<dissect::Icrc>);
      icrc && !looks_at_icrc && packet.icrc().status == dissect::CrcStatus::bad)
    out.push_back(fmt::format("infiniband.invariant.crc: expected 0x{:08x}, got 0x{:08x}", packet.icrc().expected,
                              dissect::load(packet.data(*icrc), dissect::field<dissect::Icrc, "crc">())));
  const std::span<const std::uint8_t> payload = payload_of(packet);
  if (payload_bytes_ && !payload_bytes_->holds(payload.size())) {
    static constexpr Field bytes{"payload", 32, dissect::Show::dec, "Payload"};
    out.push_back(fmt::format("payload: expected {} bytes, got {}", shown(bytes, *payload_bytes_), payload.size()));
  }
  if (payload_) {
    const std::string difference =
        byte_difference({reinterpret_cast<const std::uint8_t*>(payload_->data()), payload_->size()}, payload);
    if (!difference.empty()) out.push_back("payload: " + difference);
  }
  return out;
}

std::string Expectation::text() const {
  std::vector<std::string> parts;
  for (std::uint8_t opcode : opcodes_) parts.push_back(opcode_text(opcode));
  std::string out = parts.empty() ? "any packet" : fmt::format("{}", fmt::join(parts, " or "));
  for (const FieldTest& test : fields_)
    if (is_psn(*test.header, *test.field)) out += " psn " + shown(*test.field, test.allowed);
  return out;
}

std::string opcode_text(std::uint8_t opcode) {
  const std::string_view name = dissect::opcodes[opcode].name;
  return name.empty() ? fmt::format("0x{:02x}", opcode) : std::string(name);
}

std::span<const std::uint8_t> payload_of(const Packet& packet) {
  if (packet.bth_layer < 0 || packet.payload_bytes == 0) return {};
  // Whatever the payload was decoded as, it ends where pad and ICRC begin.
  std::size_t end = packet.bytes.size();
  if (const Layer* icrc = packet.find(dissect::header<dissect::Icrc>)) end = icrc->at;
  const std::size_t behind = std::size_t{packet.pad_bytes} + packet.payload_bytes;
  if (behind > end) return {};
  return packet.bytes.subspan(end - behind, packet.payload_bytes);
}

std::string line_of(const Packet& packet, const PsnStarts& starts, bool from_tester) {
  const auto bth = packet.find<dissect::Bth>();
  if (!bth) {
    dissect::Text out;
    out.put(dissect::protocol(packet));
    out.put(' ');
    dissect::put_info(out, packet);
    return std::string(out.view());
  }
  const auto opcode = static_cast<std::uint8_t>(bth->get<"opcode">());
  std::string out =
      fmt::format("{} {}", opcode_text(opcode),
                  to_short_text(starts.relative(opcode, static_cast<std::uint32_t>(bth->get<"psn">()), from_tester)));
  if (const auto aeth = packet.find<dissect::Aeth>()) {
    const auto syndrome = dissect::decode_syndrome(static_cast<std::uint8_t>(aeth->get<"syndrome">()));
    using enum dissect::SyndromeKind;
    if (syndrome.kind == nak) {
      const std::string_view code = dissect::name_of(dissect::nak_codes, syndrome.value);
      out += fmt::format(" NAK {}", code.empty() ? fmt::format("{}", syndrome.value) : std::string(code));
    } else if (syndrome.kind == rnr_nak) {
      out += fmt::format(" RNR NAK {}", dissect::rnr_timer_names[syndrome.value].name);
    }
    out += fmt::format(" MSN {}", aeth->get<"msn">());
  }
  if (const auto reth = packet.find<dissect::Reth>())
    out += fmt::format(" VA 0x{:x} length {}", reth->get<"va">(), reth->get<"dmalen">());
  if (const auto atomic = packet.find<dissect::Atomiceth>()) out += fmt::format(" VA 0x{:x}", atomic->get<"va">());
  if (packet.payload_bytes > 0) out += fmt::format(" {} bytes", packet.payload_bytes);
  if (bth->get<"a">()) out += " A";
  if (bth->get<"se">()) out += " SE";
  if (packet.icrc().status == dissect::CrcStatus::bad) out += " ICRC wrong";
  return out;
}

std::string byte_difference(std::span<const std::uint8_t> expected, std::span<const std::uint8_t> actual) {
  if (expected.size() != actual.size()) return fmt::format("expected {} bytes, got {}", expected.size(), actual.size());
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin());
  if (e == expected.end()) return {};
  return fmt::format("differs at byte {} of {}: expected 0x{:02x}, got 0x{:02x}", e - expected.begin(), expected.size(),
                     *e, *a);
}

}  // namespace rdmascope::replay
