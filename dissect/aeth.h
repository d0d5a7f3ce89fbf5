// Acknowledge extended transport header: ACK, NAK, RNR NAK and READ responses. 4 bytes. ib-wire.md 4.
#pragma once

#include <array>
#include <string_view>

#include "dissect/field.h"

namespace rdmascope::dissect {

enum class SyndromeKind : std::uint8_t { ack, rnr_nak, reserved, nak };

struct Syndrome {
  SyndromeKind kind;
  std::uint8_t value;  // credit code, RNR timer code or NAK code
};

constexpr Syndrome decode_syndrome(std::uint8_t s) {
  return {static_cast<SyndromeKind>(s >> 5 & 3), static_cast<std::uint8_t>(s & 31)};
}

inline constexpr ValueName syndrome_kinds[] = {{0, "ACK"}, {1, "RNR NAK"}, {2, "Reserved"}, {3, "NAK"}};

inline constexpr ValueName nak_codes[] = {{0, "PSN Sequence Error"},
                                          {1, "Invalid Request"},
                                          {2, "Remote Access Error"},
                                          {3, "Remote Operational Error"},
                                          {4, "Invalid RD Request"}};

// Receive credits by code (ib-wire.md 4.2). Code 31 means no limit is given.
inline constexpr std::uint32_t credits_by_code[31] = {
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};
inline constexpr std::uint8_t no_credit_limit = 31;

// RNR timer in units of 10 microseconds (ib-wire.md 4.3).
inline constexpr std::uint32_t rnr_timer_10us[32] = {
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

// Texts of the two tables above, made while compiling: "8192" and "0.64 ms".
namespace aeth_table {

struct Texts {
  char text[32][16] = {};
  std::uint8_t length[32] = {};
  constexpr void put(unsigned code, char c) { text[code][length[code]++] = c; }
  constexpr void put(unsigned code, std::uint32_t number) {
    std::uint32_t unit = 1;
    while (number / unit >= 10) unit *= 10;
    for (; unit > 0; unit /= 10) put(code, static_cast<char>('0' + number / unit % 10));
  }
  constexpr void put(unsigned code, std::string_view s) {
    for (char c : s) put(code, c);
  }
};

consteval Texts make_credits() {
  Texts t;
  for (unsigned code = 0; code < 31; ++code) t.put(code, credits_by_code[code]);
  t.put(31, "no limit");
  return t;
}

consteval Texts make_timers() {
  Texts t;
  for (unsigned code = 0; code < 32; ++code) {
    t.put(code, rnr_timer_10us[code] / 100);
    t.put(code, '.');
    t.put(code, static_cast<char>('0' + rnr_timer_10us[code] / 10 % 10));
    t.put(code, static_cast<char>('0' + rnr_timer_10us[code] % 10));
    t.put(code, " ms");
  }
  return t;
}

inline constexpr Texts credits = make_credits(), timers = make_timers();

consteval std::array<ValueName, 32> value_names(const Texts& t) {
  std::array<ValueName, 32> out{};
  for (unsigned code = 0; code < 32; ++code) out[code] = {code, {t.text[code], t.length[code]}};
  return out;
}

}  // namespace aeth_table

inline constexpr auto credit_names = aeth_table::value_names(aeth_table::credits);
inline constexpr auto rnr_timer_names = aeth_table::value_names(aeth_table::timers);

constexpr bool is_ack(const std::uint8_t* aeth) { return decode_syndrome(aeth[0]).kind == SyndromeKind::ack; }
constexpr bool is_rnr_nak(const std::uint8_t* aeth) { return decode_syndrome(aeth[0]).kind == SyndromeKind::rnr_nak; }
constexpr bool is_reserved_kind(const std::uint8_t* aeth) {
  return decode_syndrome(aeth[0]).kind == SyndromeKind::reserved;
}
constexpr bool is_nak(const std::uint8_t* aeth) { return decode_syndrome(aeth[0]).kind == SyndromeKind::nak; }

struct Aeth {
  static constexpr std::string_view name = "infiniband.aeth", title = "ACK Extended Transport Header";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields =
      layout(bytes, {
                        view("syndrome", 8, Show::dec, "Syndrome"),
                        {"syndrome.reserved", 1, Show::reserved, "Reserved"},
                        {"syndrome.opcode", 2, Show::dec, "OpCode", syndrome_kinds},
                        view("syndrome.credit_count", 5, Show::dec, "Credit Count", credit_names).only_if(is_ack),
                        view("syndrome.timer", 5, Show::dec, "RNR Timer", rnr_timer_names).only_if(is_rnr_nak),
                        view("syndrome.reserved_value", 5, Show::dec, "Reserved").only_if(is_reserved_kind),
                        Field{"syndrome.error_code", 5, Show::dec, "Error Code", nak_codes}.only_if(is_nak),
                        {"msn", 24, Show::dec, "Message Sequence Number"},
                    });
};

}  // namespace rdmascope::dissect
