// Constants in filters: what 0x11, 10.0.0.0/8, aa:bb:cc, "text" or RC_ACKNOWLEDGE mean for an operand of a given type.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "dissect/filter_program.h"

namespace rdmascope::dissect::filter {

// Thrown and caught inside the compiler.
struct Failure : std::runtime_error {
  Failure(const std::string& message, std::size_t offset) : runtime_error(message), at(offset) {}
  std::size_t at;  // byte in the expression, from 0
};

struct Literal {
  enum class Form : std::uint8_t { word, string, raw_string, character };
  Form form;
  std::string_view text;  // as written, with quotes
  std::size_t at;
};

// All values a constant stands for: one, those of a prefix, or the codes of a name. One of the two lists is filled, by
// the operand's type; it is never empty.
struct Constant {
  std::vector<NumberRange> numbers;
  std::vector<BytesRange> bytes;
};

Constant parse_constant(const Literal& literal, const Operand& operand);

// A mask behind &.
std::uint64_t parse_mask(const Literal& literal, const Operand& operand);
std::string parse_byte_mask(const Literal& literal, const Operand& operand);

// The characters of a literal in quotes, escapes resolved (kept in raw strings).
std::string unquote(const Literal& literal);

// Whether the operand's values have a name `text`, in any case.
bool names_value(const Operand& operand, std::string_view text);

// `no field "x"; did you mean "y"?`
std::string no_field(std::string_view name);

// "a number"
std::string_view describe(Type type);

// In quotes, control characters replaced, cut when long.
std::string quoted(std::string_view text);

}  // namespace rdmascope::dissect::filter
