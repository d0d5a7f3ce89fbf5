// BTH opcodes: transport class in bits 7:5, operation in bits 4:0. One table says what each operation is called, which
// headers follow BTH and what payload it may carry; names for people, filters and scripts are made from it.
// ib-wire.md 3.1 and 3.2.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "dissect/field.h"

namespace rdmascope::dissect {

enum class Transport : std::uint8_t { rc, uc, rd, ud, cnp, xrc, vendor6, vendor7 };

// Headers that may follow BTH, in the order they stand on the wire. The walker's extension_headers follows these bits.
enum Extension : std::uint16_t {
  ext_rdeth = 1 << 0,
  ext_deth = 1 << 1,
  ext_xrceth = 1 << 2,
  ext_feth = 1 << 3,
  ext_reth = 1 << 4,
  ext_atomiceth = 1 << 5,
  ext_aeth = 1 << 6,
  ext_atomicacketh = 1 << 7,
  ext_immdt = 1 << 8,
  ext_ieth = 1 << 9,
  ext_cnp = 1 << 10,
};

enum class Position : std::uint8_t { first, middle, last, only };

// How many payload bytes a packet may carry; pmtu is the path MTU.
enum class PayloadRule : std::uint8_t { none, pmtu, one_to_pmtu, zero_to_pmtu, eight };

struct Opcode {
  std::string_view name;         // "RC_SEND_FIRST"; empty: not defined
  std::uint16_t extensions = 0;  // Extension bits
  Position position = Position::only;
  PayloadRule payload = PayloadRule::zero_to_pmtu;
  Transport transport = Transport::vendor7;
  bool response = false;
  bool defined = false;
  bool confirmed = true;  // false: the code is not confirmed by any public source (RD and XRC ATOMIC WRITE, RD FLUSH)
};

namespace opcode_table {

enum In : std::uint8_t { rc = 1, uc = 2, rd = 4, ud = 8, xrc = 16, unconfirmed_rd = 32, unconfirmed_xrc = 64 };

struct Operation {
  std::uint8_t code;
  std::string_view name;
  std::uint8_t in;  // classes that define it
  Position position;
  std::uint16_t extensions;  // as in RC; the class adds its own
  PayloadRule payload;
  bool response = false;
};

using enum Position;
using enum PayloadRule;

inline constexpr Operation operations[] = {
    {0x00, "SEND_FIRST", rc | uc | rd | xrc, first, 0, pmtu},
    {0x01, "SEND_MIDDLE", rc | uc | rd | xrc, middle, 0, pmtu},
    {0x02, "SEND_LAST", rc | uc | rd | xrc, last, 0, one_to_pmtu},
    {0x03, "SEND_LAST_WITH_IMMEDIATE", rc | uc | rd | xrc, last, ext_immdt, one_to_pmtu},
    {0x04, "SEND_ONLY", rc | uc | rd | ud | xrc, only, 0, zero_to_pmtu},
    {0x05, "SEND_ONLY_WITH_IMMEDIATE", rc | uc | rd | ud | xrc, only, ext_immdt, zero_to_pmtu},
    {0x06, "RDMA_WRITE_FIRST", rc | uc | rd | xrc, first, ext_reth, pmtu},
    {0x07, "RDMA_WRITE_MIDDLE", rc | uc | rd | xrc, middle, 0, pmtu},
    {0x08, "RDMA_WRITE_LAST", rc | uc | rd | xrc, last, 0, one_to_pmtu},
    {0x09, "RDMA_WRITE_LAST_WITH_IMMEDIATE", rc | uc | rd | xrc, last, ext_immdt, one_to_pmtu},
    {0x0a, "RDMA_WRITE_ONLY", rc | uc | rd | xrc, only, ext_reth, zero_to_pmtu},
    {0x0b, "RDMA_WRITE_ONLY_WITH_IMMEDIATE", rc | uc | rd | xrc, only, ext_reth | ext_immdt, zero_to_pmtu},
    {0x0c, "RDMA_READ_REQUEST", rc | rd | xrc, only, ext_reth, none},
    {0x0d, "RDMA_READ_RESPONSE_FIRST", rc | rd | xrc, first, ext_aeth, pmtu, true},
    {0x0e, "RDMA_READ_RESPONSE_MIDDLE", rc | rd | xrc, middle, 0, pmtu, true},
    {0x0f, "RDMA_READ_RESPONSE_LAST", rc | rd | xrc, last, ext_aeth, one_to_pmtu, true},
    {0x10, "RDMA_READ_RESPONSE_ONLY", rc | rd | xrc, only, ext_aeth, zero_to_pmtu, true},
    {0x11, "ACKNOWLEDGE", rc | rd | xrc, only, ext_aeth, none, true},
    {0x12, "ATOMIC_ACKNOWLEDGE", rc | rd | xrc, only, ext_aeth | ext_atomicacketh, none, true},
    {0x13, "CMP_SWAP", rc | rd | xrc, only, ext_atomiceth, none},
    {0x14, "FETCH_ADD", rc | rd | xrc, only, ext_atomiceth, none},
    {0x15, "RESYNC", rd, only, 0, none},
    {0x16, "SEND_LAST_WITH_INVALIDATE", rc | xrc, last, ext_ieth, one_to_pmtu},
    {0x17, "SEND_ONLY_WITH_INVALIDATE", rc | xrc, only, ext_ieth, zero_to_pmtu},
    {0x1c, "FLUSH", rc | xrc | unconfirmed_rd, only, ext_feth | ext_reth, none},
    {0x1d, "ATOMIC_WRITE", rc | unconfirmed_rd | unconfirmed_xrc, only, ext_reth, eight},
};

// "RC_" + "SEND_FIRST", kept in static storage.
inline constexpr std::size_t name_room = 40;
struct Names {
  char text[256][name_room] = {};
  std::uint8_t length[256] = {};
};

consteval Names make_names() {
  constexpr std::string_view prefix[] = {"RC_", "UC_", "RD_", "UD_", "", "XRC_"};
  constexpr std::uint8_t bit[] = {rc, uc, rd | unconfirmed_rd, ud, 0, xrc | unconfirmed_xrc};
  Names names;
  const auto put = [&names](unsigned code, std::string_view a, std::string_view b) {
    for (char c : a) names.text[code][names.length[code]++] = c;
    for (char c : b) names.text[code][names.length[code]++] = c;
  };
  for (const Operation& op : operations)
    for (unsigned c = 0; c < 6; ++c)
      if (op.in & bit[c]) put(c << 5 | op.code, prefix[c], op.name);
  put(0x80, "CNP", "_NATIVE");
  put(0x81, "CNP", "");
  return names;
}

inline constexpr Names names = make_names();

consteval std::array<Opcode, 256> make_opcodes() {
  std::array<Opcode, 256> table{};
  for (unsigned code = 0; code < 256; ++code) table[code].transport = static_cast<Transport>(code >> 5);
  const auto put = [&table](unsigned c, const Operation& op, std::uint16_t added, bool confirmed) {
    const unsigned code = c << 5 | op.code;
    Opcode& o = table[code];
    o.name = {names.text[code], names.length[code]};
    o.extensions = static_cast<std::uint16_t>(op.extensions | added);
    o.position = op.position;
    o.payload = op.payload;
    o.response = op.response;
    o.defined = true;
    o.confirmed = confirmed;
  };
  for (const Operation& op : operations) {
    if (op.in & rc) put(0, op, 0, true);
    if (op.in & uc) put(1, op, 0, true);
    // RD FLUSH is drawn without DETH in the only public source (ib-wire.md 3.2, UNCONFIRMED).
    const bool rd_flush = op.code == 0x1c;
    if (op.in & (rd | unconfirmed_rd))
      put(2, op, op.response || rd_flush ? ext_rdeth : ext_rdeth | ext_deth, (op.in & rd) != 0);
    if (op.in & ud) put(3, op, ext_deth, true);
    if (op.in & (xrc | unconfirmed_xrc)) put(5, op, op.response ? 0 : ext_xrceth, (op.in & xrc) != 0);
  }
  for (unsigned code : {0x80u, 0x81u}) {
    Opcode& o = table[code];
    o.name = {names.text[code], names.length[code]};
    o.extensions = code == 0x81 ? ext_cnp : 0;
    o.payload = none;
    o.defined = true;
  }
  return table;
}

consteval std::size_t count_names() {
  std::size_t n = 0;
  for (unsigned code = 0; code < 256; ++code) n += names.length[code] > 0;
  return n;
}

template <std::size_t N>
consteval std::array<ValueName, N> make_value_names() {
  std::array<ValueName, N> out{};
  std::size_t n = 0;
  for (unsigned code = 0; code < 256; ++code)
    if (names.length[code] > 0) out[n++] = {code, {names.text[code], names.length[code]}};
  return out;
}

}  // namespace opcode_table

// By opcode byte. Undefined ones have no name, but a class.
inline constexpr std::array<Opcode, 256> opcodes = opcode_table::make_opcodes();

// For the header table: code and name.
inline constexpr auto opcode_names = opcode_table::make_value_names<opcode_table::count_names()>();

}  // namespace rdmascope::dissect
