// Codes that several headers of InfiniBand share, with their names: times, rates, MTUs, widths, speeds.
// mad.md 3.5, 4.1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dissect/field.h"

namespace rdmascope::dissect {

// Times are codes: code n is 4.096 us * 2^n. Their texts, "4.096 us" to "8796.093 s", are made while compiling.
struct IbTimes {
  char text[32][16] = {};
};

consteval IbTimes make_ib_times() {
  IbTimes t;
  for (unsigned code = 0; code < 32; ++code) {
    const std::uint64_t ns = 4096ULL << code;
    const std::uint64_t unit = ns < 1000000 ? 1000 : ns < 1000000000 ? 1000000 : 1000000000;
    const std::uint64_t thousandths = (ns * 1000 + unit / 2) / unit;
    char* out = t.text[code];
    std::uint64_t digit = 1000;
    while (thousandths / digit >= 10) digit *= 10;
    for (; digit > 0; digit /= 10) {
      *out++ = static_cast<char>('0' + thousandths / digit % 10);
      if (digit == 1000) *out++ = '.';
    }
    for (char c : std::string_view(unit == 1000 ? " us" : unit == 1000000 ? " ms" : " s")) *out++ = c;
  }
  return t;
}

inline constexpr IbTimes ib_time_texts = make_ib_times();

// With a name of its own for code 0, unless empty, and one for all codes above `last`.
consteval std::array<ValueName, 32> ib_time_names(std::string_view zero, unsigned last = 31,
                                                  std::string_view above = {}) {
  std::array<ValueName, 32> out{};
  for (unsigned code = 0; code < 32; ++code) out[code] = {code, code > last ? above : ib_time_texts.text[code]};
  if (!zero.empty()) out[0].name = zero;
  return out;
}

inline constexpr auto ib_times = ib_time_names({});
inline constexpr auto ib_lifetimes = ib_time_names({}, 19, "infinite");  // of packets in a switch

inline constexpr ValueName ib_mtus[] = {
    {1, "256 bytes"}, {2, "512 bytes"}, {3, "1024 bytes"}, {4, "2048 bytes"}, {5, "4096 bytes"}};

inline constexpr ValueName ib_rates[] = {
    {2, "2.5 Gb/s"},  {3, "10 Gb/s"},   {4, "30 Gb/s"},   {5, "5 Gb/s"},    {6, "20 Gb/s"},   {7, "40 Gb/s"},
    {8, "60 Gb/s"},   {9, "80 Gb/s"},   {10, "120 Gb/s"}, {11, "14 Gb/s"},  {12, "56 Gb/s"},  {13, "112 Gb/s"},
    {14, "168 Gb/s"}, {15, "25 Gb/s"},  {16, "100 Gb/s"}, {17, "200 Gb/s"}, {18, "300 Gb/s"}, {19, "28 Gb/s"},
    {20, "50 Gb/s"},  {21, "400 Gb/s"}, {22, "600 Gb/s"}, {23, "800 Gb/s"}, {24, "1200 Gb/s"}};

inline constexpr ValueName ib_selectors[] = {
    {0, "greater than"}, {1, "less than"}, {2, "exactly"}, {3, "largest available"}};
inline constexpr ValueName ib_lifetime_selectors[] = {
    {0, "greater than"}, {1, "less than"}, {2, "exactly"}, {3, "smallest available"}};

inline constexpr ValueName ib_node_types[] = {{1, "Channel Adapter"}, {2, "Switch"}, {3, "Router"}};
inline constexpr ValueName ib_vls[] = {{1, "VL0"}, {2, "VL0-1"}, {3, "VL0-3"}, {4, "VL0-7"}, {5, "VL0-14"}};

// Names of sums of bits: "1x 4x 8x" for 7. Made while compiling.
template <std::size_t N>
struct BitTexts {
  char text[1U << N][48] = {};
};

template <std::size_t N>
consteval BitTexts<N> bit_texts(const std::string_view (&bits)[N], std::string_view unit = {}) {
  BitTexts<N> out;
  for (unsigned sum = 1; sum < 1U << N; ++sum) {
    char* to = out.text[sum];
    for (unsigned bit = 0; bit < N; ++bit) {
      if (!(sum >> bit & 1)) continue;
      if (to != out.text[sum]) *to++ = ' ';
      to = std::copy(bits[bit].begin(), bits[bit].end(), to);
    }
    std::copy(unit.begin(), unit.end(), to);
  }
  return out;
}

// `zero`, and a name for one more value: all bits of the field are set.
template <std::size_t N>
consteval std::array<ValueName, (1U << N) + 1> bit_names(const BitTexts<N>& texts, std::string_view zero,
                                                         ValueName all) {
  std::array<ValueName, (1U << N) + 1> out{};
  for (unsigned sum = 0; sum < 1U << N; ++sum) out[sum] = {sum, texts.text[sum]};
  out[0].name = zero;
  if (all.value < 1U << N) out[all.value].name = all.name;
  out[1U << N] = all;
  return out;
}

inline constexpr BitTexts<5> ib_width_texts = bit_texts({"1x", "4x", "8x", "12x", "2x"});
inline constexpr auto ib_widths = bit_names(ib_width_texts, {}, {255, {}});
inline constexpr auto ib_enabled_widths = bit_names(ib_width_texts, "no change", {255, "as supported"});

inline constexpr BitTexts<3> ib_speed_texts = bit_texts({"2.5", "5", "10"}, " Gb/s");
inline constexpr auto ib_speeds = bit_names(ib_speed_texts, {}, {15, {}});
inline constexpr auto ib_active_speeds = bit_names(ib_speed_texts, "extended", {15, {}});
inline constexpr auto ib_enabled_speeds = bit_names(ib_speed_texts, "no change", {15, "as supported"});

// Per lane.
inline constexpr BitTexts<4> ib_ext_speed_texts = bit_texts({"14.0625", "25.78125", "53.125", "106.25"}, " Gb/s");
inline constexpr auto ib_ext_speeds = bit_names(ib_ext_speed_texts, "none", {31, {}});
inline constexpr auto ib_enabled_ext_speeds = bit_names(ib_ext_speed_texts, "no change", {31, "as supported"});

}  // namespace rdmascope::dissect
