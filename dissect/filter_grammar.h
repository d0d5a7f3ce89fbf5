// The grammar of filters (PEGTL) and the tree it makes. Anything that does not fit ends in a Failure that says what was
// expected and what stands there.
//
// Precedence, from the tightest: & and slices; comparisons; not; and; xor; or.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/parse_tree.hpp>
#include <utility>

#include "dissect/field.h"
#include "dissect/filter_literal.h"

namespace rdmascope::dissect::filter {

// Parentheses and functions inside each other; bounds the stack. People nest five deep, programs fifty.
inline constexpr unsigned max_depth = 200;

namespace grammar {

using namespace tao::pegtl;

// The word or symbol that stands here, and what may have been meant by it.
inline std::string found(std::string_view left) {
  if (left.empty()) return "found the end";
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  const bool word = is_word(left[0]);
  const auto end = std::find_if(left.begin() + 1, left.end(), [&](char c) {
    return is_word(c) != word || std::isspace(static_cast<unsigned char>(c)) || c == '"' || c == '(' || c == ')';
  });
  const std::string_view token = left.substr(0, static_cast<std::size_t>(end - left.begin()));
  constexpr std::pair<std::string_view, std::string_view> meant[] = {{"=", "=="},    {"=<", "<="}, {"=>", ">="},
                                                                     {"<>", "!="},   {"|", "||"},  {"^", "^^"},
                                                                     {"AND", "and"}, {"OR", "or"}, {"NOT", "not"}};
  for (const auto& [wrong, right] : meant)
    if (token == wrong) return fmt::format("found {}; did you mean {}?", quoted(wrong), quoted(right));
  return fmt::format("found {}", quoted(token));
}

// Ends parsing with a Failure that says what should stand here.
template <Name what>
struct missing {
  using rule_t = missing;
  using subs_t = empty_list;

  template <class Input, class... States>
  static bool match(Input& in, States&&...) {
    throw Failure(fmt::format("expected {}, {}", what.view(), found({in.current(), in.size()})), in.byte());
  }
};

struct unclosed {
  using rule_t = unclosed;
  using subs_t = empty_list;

  template <class Input, class... States>
  static bool match(Input& in, States&&...) {
    throw Failure("this quote is not closed", in.byte());
  }
};

template <class Rule, Name what>
struct need : sor<Rule, missing<what>> {};

// One level down; a Failure when that is too deep.
template <class Rule>
struct deeper {
  using rule_t = deeper;
  using subs_t = type_list<Rule>;

  template <apply_mode A, rewind_mode M, template <class...> class Action, template <class...> class Control,
            class Input, class... States>
  static bool match(Input& in, unsigned& depth, States&&... states) {
    if (depth == max_depth) throw Failure(fmt::format("nested more than {} deep", max_depth), in.byte());
    ++depth;
    const bool matched = Control<Rule>::template match<A, M, Action, Control>(in, depth, states...);
    --depth;
    return matched;
  }
};

struct blank : star<space> {};
template <class... Rules>
struct token : seq<Rules..., blank> {};

// A field's name, or a constant without quotes: letters, digits and what stands in addresses. Two dots end it.
struct word_char : sor<alnum, one<'_', ':', '-', '/'>, seq<one<'.'>, not_at<one<'.'>>>> {};
template <char... C>
struct keyword : seq<string<C...>, not_at<word_char>> {};

struct and_word : keyword<'a', 'n', 'd'> {};
struct or_word : keyword<'o', 'r'> {};
struct xor_word : keyword<'x', 'o', 'r'> {};
struct not_word : keyword<'n', 'o', 't'> {};
struct in_word : keyword<'i', 'n'> {};
struct any_word : keyword<'a', 'n', 'y'> {};
struct all_word : keyword<'a', 'l', 'l'> {};
struct mask_word : TAO_PEGTL_STRING("bitwise_and") {};

struct compare_symbol : sor<string<'=', '=', '='>, string<'=', '='>, string<'!', '=', '='>, string<'!', '='>,
                            string<'~', '='>, one<'~'>, string<'>', '='>, string<'<', '='>, one<'<', '>'>> {};
struct compare_word : seq<sor<TAO_PEGTL_STRING("any_eq"), TAO_PEGTL_STRING("all_ne"), TAO_PEGTL_STRING("all_eq"),
                              TAO_PEGTL_STRING("any_ne"), TAO_PEGTL_STRING("eq"), TAO_PEGTL_STRING("ne"),
                              TAO_PEGTL_STRING("gt"), TAO_PEGTL_STRING("lt"), TAO_PEGTL_STRING("ge"),
                              TAO_PEGTL_STRING("le"), TAO_PEGTL_STRING("contains"), TAO_PEGTL_STRING("matches")>,
                          not_at<word_char>> {};
struct reserved : sor<and_word, or_word, xor_word, not_word, in_word, any_word, all_word,
                      seq<mask_word, not_at<word_char>>, compare_word> {};

struct word : seq<not_at<reserved>, sor<alnum, one<'_', ':', '-'>>, star<word_char>> {};
template <char Quote>
struct enclosed
    : seq<at<one<Quote>>,
          sor<seq<one<Quote>, star<sor<seq<one<'\\'>, any>, not_one<Quote, '\\'>>>, one<Quote>>, unclosed>> {};
struct quoted_text : enclosed<'"'> {};
struct raw_text : seq<one<'r', 'R'>, enclosed<'"'>> {};
struct character : enclosed<'\''> {};
struct literal : token<sor<quoted_text, raw_text, character, word>> {};

// Slices and layers share the notation of positions.
struct position : seq<opt<one<'-'>>, plus<digit>> {};
struct first : position {};
struct last : position {};
struct length : plus<digit> {};
struct from_count : seq<token<first>, token<one<':'>>, token<length>> {};
struct from_on : seq<token<first>, token<one<':'>>> {};
struct head : seq<token<one<':'>>, token<length>> {};
struct from_last : seq<token<first>, token<one<'-'>>, token<last>> {};
struct single : token<first> {};
struct part : sor<from_count, from_on, head, from_last, single> {};
struct parts : seq<token<one<'['>>, need<part, "a position like 0:4, 2-5, -2: or 3">,
                   star<token<one<','>>, need<part, "a position like 0:4, 2-5, -2: or 3">>,
                   need<token<one<']'>>, "\",\" or \"]\"">> {};
struct slices : parts {};
struct layers : seq<token<one<'#'>>, need<sor<parts, single>, "a layer number like 2 or [1-2]">> {};
struct field : seq<token<word>, opt<layers>, opt<slices>> {};

struct operand;
struct function_name : word {};
struct function : seq<token<function_name>, token<one<'('>>,
                      deeper<seq<need<operand, "a field">, star<token<one<','>>, need<operand, "a field">>>>,
                      need<token<one<')'>>, "\",\" or \")\"">> {};
struct value : sor<token<quoted_text>, token<raw_text>, token<character>, function, field> {};
struct mask_op : token<sor<seq<one<'&'>, not_at<one<'&'>>>, seq<mask_word, not_at<word_char>>>> {};
struct operand : seq<value, star<mask_op, need<value, "a value or field">>> {};

struct element : seq<literal, opt<token<string<'.', '.'>>, need<literal, "a value or field">>> {};
struct set : seq<token<one<'{'>>, need<element, "a value or field">,
                 star<token<one<','>>, need<element, "a value or field">>, need<token<one<'}'>>, "\",\" or \"}\"">> {};

struct compare_op : sor<compare_symbol, compare_word> {};
struct in_op : seq<opt<token<not_word>>, in_word> {};
struct quantifier : sor<any_word, all_word> {};
struct comparisons : sor<seq<token<in_op>, need<set, "a set like {1, 2, 5..9}">>,
                         plus<token<compare_op>, need<operand, "a value or field">>> {};
struct relation : sor<seq<token<quantifier>, need<operand, "a field">, need<comparisons, "a comparison">>,
                      seq<operand, opt<comparisons>>> {};

struct or_expression;
struct not_op : sor<one<'!'>, not_word> {};
struct group
    : seq<token<one<'('>>, deeper<need<or_expression, "a field or comparison">>, need<token<one<')'>>, "\")\"">> {};
struct not_expression
    : sor<seq<plus<token<not_op>>, need<sor<group, relation>, "a field or comparison">>, group, relation> {};
struct and_op : token<sor<string<'&', '&'>, and_word>> {};
struct xor_op : token<sor<string<'^', '^'>, xor_word>> {};
struct or_op : token<sor<string<'|', '|'>, or_word>> {};
struct and_expression : seq<not_expression, star<and_op, need<not_expression, "a field or comparison">>> {};
struct xor_expression : seq<and_expression, star<xor_op, need<and_expression, "a field or comparison">>> {};
struct or_expression : seq<xor_expression, star<or_op, need<xor_expression, "a field or comparison">>> {};
struct whole : seq<blank, sor<eof, seq<need<or_expression, "a field or comparison">, need<eof, "\"and\" or \"or\"">>>> {
};

// What becomes a node of the tree. An operator with one operand is that operand.
template <class Rule>
using node_of = parse_tree::selector<
    Rule,
    parse_tree::store_content::on<word, quoted_text, raw_text, character, function_name, first, last, length,
                                  from_count, from_on, head, from_last, single, slices, layers, function, element, set,
                                  compare_op, in_op, quantifier, relation, not_op>,
    parse_tree::fold_one::on<or_expression, xor_expression, and_expression, not_expression, operand, field>>;

}  // namespace grammar

using Node = tao::pegtl::parse_tree::node;

template <class Rule>
bool is(const Node& node) {
  return node.is_type<Rule>();
}

inline std::string_view text_of(const Node& node) {
  std::string_view text = node.string_view();
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

inline std::size_t offset(const Node& node) { return node.m_begin.byte; }

[[noreturn]] inline void fail(const Node& node, const std::string& message) { throw Failure(message, offset(node)); }

// The tree of an expression; without children when it is blank. Nodes refer to `text`.
inline std::unique_ptr<Node> parse(std::string_view text) {
  tao::pegtl::memory_input in(text.data(), text.size(), "");
  unsigned depth = 0;
  return tao::pegtl::parse_tree::parse<grammar::whole, Node, grammar::node_of>(in, depth);
}

}  // namespace rdmascope::dissect::filter
