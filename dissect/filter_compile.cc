// From the tree of an expression to a program: operands, tests, jumps.
#include <fmt/core.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "dissect/field_index.h"
#include "dissect/filter.h"
#include "dissect/filter_grammar.h"
#include "dissect/filter_literal.h"
#include "dissect/filter_program.h"

namespace rdmascope::dissect {
namespace filter {
namespace {

// --- operands ---

Source make_source(const FieldRef& ref) {
  Source s;
  s.header = ref.header;
  s.field = ref.field;
  if (!ref.field) return s;
  const Field& f = *ref.field;
  const bool whole_number =
      f.width > 0 && f.width <= 64 && f.at % 8u + f.width <= 64 && !f.little_endian && f.count == 1;
  const bool bits = f.kind == Field::Kind::wire || f.kind == Field::Kind::view;
  s.direct = bits && whole_number && (f.show <= Show::reserved || f.show == Show::mac || f.show == Show::ipv4);
  if (!s.direct) return s;
  s.byte = static_cast<std::uint16_t>(f.at / 8);
  s.needed = static_cast<std::uint16_t>((f.at + f.width + 7) / 8);
  s.shift = static_cast<std::uint8_t>(64 - f.at % 8 - f.width);
  s.mask = f.mask();
  s.scale = f.scale;
  return s;
}

Type type_of(const FieldRef& ref) {
  if (!ref.field) return Type::bytes;
  const Field& f = *ref.field;
  const bool generated = f.kind == Field::Kind::generated;
  switch (f.show) {
    case Show::dec:
    case Show::hex:
    case Show::named:
    case Show::reserved:
      return f.kind == Field::Kind::rest ? Type::bytes : Type::number;
    case Show::flag:
      return Type::flag;
    case Show::mac:
      return generated || f.width == 48 ? Type::mac : Type::bytes;
    case Show::ipv4:
      return generated || f.width == 32 ? Type::ipv4 : Type::bytes;
    case Show::ipv6:
      return generated || f.width == 128 ? Type::ipv6 : Type::bytes;
    case Show::bytes:
      return Type::bytes;
    case Show::text:
      return Type::text;
    case Show::time:
      return generated ? Type::time : Type::bytes;
  }
  return Type::bytes;
}

std::optional<Operand> find_operand(std::string_view name) {
  const std::vector<FieldRef> refs = find_fields(name);
  if (refs.empty()) return std::nullopt;
  Operand o;
  o.name = name;
  o.type = type_of(refs[0]);
  const std::string prefix = o.name + ".";
  const auto below = [&prefix](const FieldRef& r) { return !r.field && r.header->name.starts_with(prefix); };
  if (std::all_of(refs.begin(), refs.end(), below)) {
    o.kind = Operand::Kind::span;
    o.prefix = prefix;
    return o;
  }
  o.limit = 0;
  for (const FieldRef& ref : refs) {
    if (type_of(ref) != o.type) continue;  // one name, two types: the first counts
    o.sources.push_back(make_source(ref));
    if (!ref.field) continue;
    const bool generated = ref.field->kind == Field::Kind::generated;
    o.limit = std::max<std::uint64_t>(o.limit, generated ? ~0ULL : ref.field->mask() * ref.field->scale);
    if (o.names.empty()) o.names = ref.field->names;
  }
  return o;
}

std::int32_t number_of(const Node& node) {
  const std::string_view text = text_of(node);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > 1000000 || value < -1000000)
    fail(node, fmt::format("{} is too large", quoted(text)));
  return value;
}

Slice make_slice(const Node& part) {
  using namespace grammar;
  const bool from_start = is<head>(part);
  Slice s;
  s.from = from_start ? 0 : number_of(*part.children[0]);
  if (is<from_on>(part)) return s;
  s.kind = is<from_last>(part) ? Slice::End::last : Slice::End::count;
  s.to = is<single>(part) ? 1 : number_of(*part.children[from_start ? 0 : 1]);
  if (s.kind == Slice::End::count && s.to == 0) fail(part, "a slice of no bytes");
  if (s.kind == Slice::End::last && (s.from < 0) == (s.to < 0) && s.to < s.from)
    fail(part, fmt::format("the slice {} ends before it starts", text_of(part)));
  return s;
}

std::uint64_t make_layers(const Node& node) {
  std::uint64_t mask = 0;
  static_assert(Packet::max_layers <= 64);
  for (const auto& part : node.children) {
    const Slice s = make_slice(*part);
    std::int32_t end = static_cast<std::int32_t>(Packet::max_layers);
    if (s.kind == Slice::End::count) end = s.from + s.to - 1;
    if (s.kind == Slice::End::last) end = s.to;
    const std::int32_t from = is<grammar::head>(*part) ? 1 : s.from;
    if (is<grammar::head>(*part)) end = s.to;
    if (from < 1 || end < 1) fail(*part, "layers count from 1");
    for (std::int32_t n = from; n <= end && n <= static_cast<std::int32_t>(Packet::max_layers); ++n)
      mask |= std::uint64_t{1} << (n - 1);
  }
  return mask;
}

// How many bytes a value has, where that is certain.
std::optional<std::size_t> size_of(const Operand& o) {
  if (!o.slices.empty()) {
    std::size_t size = 0;
    for (const Slice& s : o.slices) {
      if (s.kind == Slice::End::end || (s.kind == Slice::End::last && (s.from < 0) != (s.to < 0))) return std::nullopt;
      size += static_cast<std::size_t>(s.kind == Slice::End::count ? s.to : s.to - s.from + 1);
    }
    return size;
  }
  switch (o.type) {
    case Type::mac:
      return 6;
    case Type::ipv4:
      return 4;
    case Type::ipv6:
      return 16;
    default:
      return std::nullopt;
  }
}

std::optional<Literal> as_literal(const Node& node) {
  using namespace grammar;
  using Form = Literal::Form;
  const auto make = [&node](Form form) { return Literal{form, text_of(node), offset(node)}; };
  if (is<word>(node)) return make(Form::word);
  if (is<quoted_text>(node)) return make(Form::string);
  if (is<raw_text>(node)) return make(Form::raw_string);
  if (is<character>(node)) return make(Form::character);
  return std::nullopt;
}

Operand need_operand(const Node& node);

Operand make_function(const Node& node) {
  using Kind = Operand::Kind;
  constexpr std::pair<std::string_view, Kind> functions[] = {
      {"len", Kind::len},       {"count", Kind::count}, {"lower", Kind::lower}, {"upper", Kind::upper},
      {"string", Kind::string}, {"max", Kind::max},     {"min", Kind::min}};
  const Node& name_node = *node.children[0];
  const std::string_view name = text_of(name_node);
  const auto found =
      std::find_if(std::begin(functions), std::end(functions), [&](const auto& f) { return f.first == name; });
  if (found == std::end(functions))
    fail(name_node,
         fmt::format("no function {}; there are len, count, lower, upper, string, max and min", quoted(name)));
  Operand o;
  o.kind = found->second;
  o.name = fmt::format("{}()", name);
  for (std::size_t i = 1; i < node.children.size(); ++i) o.arguments.push_back(need_operand(*node.children[i]));
  const Operand& a = o.arguments[0];
  const auto refuse = [&](std::size_t i, std::string_view wants) {
    fail(*node.children[i + 1],
         fmt::format("{} takes {}, {} is {}", o.name, wants, o.arguments[i].name, describe(o.arguments[i].type)));
  };
  const bool many = o.kind == Kind::max || o.kind == Kind::min;
  if (!many && o.arguments.size() > 1) fail(*node.children[2], fmt::format("{} takes one field", o.name));
  switch (o.kind) {
    case Kind::len:
      if (is_numeric(a.type)) refuse(0, "bytes, addresses or text");
      break;
    case Kind::lower:
    case Kind::upper:
      if (a.type != Type::text) refuse(0, "text");
      o.type = Type::text;
      break;
    case Kind::string:
      if (a.type == Type::text || a.type == Type::bytes) refuse(0, "numbers, times and addresses");
      o.type = Type::text;
      break;
    case Kind::max:
    case Kind::min:
      for (std::size_t i = 0; i < o.arguments.size(); ++i) {
        if (o.arguments[i].type == Type::text || o.arguments[i].type == Type::bytes || o.arguments[i].masked)
          refuse(i, "numbers, times and addresses");
        if (o.arguments[i].type != a.type) refuse(i, "fields of one type");
      }
      o.type = a.type;
      break;
    case Kind::fields:
    case Kind::span:
    case Kind::count:
      break;
  }
  return o;
}

void add_mask(Operand& o, const Node& node) {
  const std::optional<Literal> literal = as_literal(node);
  if (!literal) fail(node, "the right side of & must be a constant");
  if (o.type == Type::time || o.type == Type::text)
    fail(node, fmt::format("{} is {} and has no bits to test", o.name, describe(o.type)));
  if (is_numeric(o.type)) {
    o.mask &= parse_mask(*literal, o);
  } else {
    const std::string mask = parse_byte_mask(*literal, o);
    const std::optional<std::size_t> size = size_of(o);
    if ((size && *size != mask.size()) || (o.masked && o.byte_mask.size() != mask.size()))
      fail(node, fmt::format("the mask has {} byte{}, the value {}", mask.size(), mask.size() == 1 ? "" : "s",
                             size ? *size : o.byte_mask.size()));
    for (std::size_t i = 0; i < o.byte_mask.size() && i < mask.size(); ++i)
      o.byte_mask[i] = static_cast<char>(o.byte_mask[i] & mask[i]);
    if (!o.masked) o.byte_mask = mask;
  }
  o.masked = true;
}

// A field, header or function; nothing when the node is a constant.
std::optional<Operand> make_operand(const Node& node) {
  using namespace grammar;
  if (is<function>(node)) return make_function(node);
  if (is<word>(node)) return find_operand(text_of(node));
  if (is<field>(node)) {
    std::optional<Operand> o = find_operand(text_of(*node.children[0]));
    if (!o) fail(*node.children[0], no_field(text_of(*node.children[0])));
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const Node& child = *node.children[i];
      if (is<layers>(child)) {
        if (o->kind == Operand::Kind::span)
          fail(child, fmt::format("{} is several headers; take one of them", o->name));
        o->layers = make_layers(child);
        continue;
      }
      if (is_numeric(o->type))
        fail(child, fmt::format("{} is {}; only bytes, addresses and text have slices", o->name, describe(o->type)));
      for (const auto& p : child.children) o->slices.push_back(make_slice(*p));
      o->type = Type::bytes;
    }
    return o;
  }
  if (is<operand>(node)) {
    Operand o = need_operand(*node.children[0]);
    for (std::size_t i = 1; i < node.children.size(); ++i) add_mask(o, *node.children[i]);
    return o;
  }
  return std::nullopt;
}

Operand need_operand(const Node& node) {
  std::optional<Operand> o = make_operand(node);
  if (o) return std::move(*o);
  const Literal literal = *as_literal(node);
  const bool name = literal.form == Literal::Form::word && std::isalpha(static_cast<unsigned char>(literal.text[0]));
  fail(node,
       name ? no_field(literal.text) : fmt::format("a field must stand here, {} is a constant", quoted(literal.text)));
}

bool only_headers(const Operand& o) {
  const auto is_header = [](const Source& s) { return !s.field; };
  return o.kind == Operand::Kind::span || (o.kind == Operand::Kind::fields && o.slices.empty() &&
                                           std::all_of(o.sources.begin(), o.sources.end(), is_header));
}

// --- tests ---

enum class Op : std::uint8_t {
  equal,
  not_equal,
  all_equal,
  any_differs,
  greater,
  less,
  greater_equal,
  less_equal,
  contains,
  matches
};

Op op_of(const Node& node) {
  constexpr std::pair<std::string_view, Op> ops[] = {{"==", Op::equal},         {"eq", Op::equal},
                                                     {"any_eq", Op::equal},     {"!=", Op::not_equal},
                                                     {"ne", Op::not_equal},     {"all_ne", Op::not_equal},
                                                     {"===", Op::all_equal},    {"all_eq", Op::all_equal},
                                                     {"!==", Op::any_differs},  {"any_ne", Op::any_differs},
                                                     {"~=", Op::any_differs},   {">", Op::greater},
                                                     {"gt", Op::greater},       {"<", Op::less},
                                                     {"lt", Op::less},          {">=", Op::greater_equal},
                                                     {"ge", Op::greater_equal}, {"<=", Op::less_equal},
                                                     {"le", Op::less_equal},    {"contains", Op::contains},
                                                     {"matches", Op::matches},  {"~", Op::matches}};
  const std::string_view text = text_of(node);
  return std::find_if(std::begin(ops), std::end(ops), [text](const auto& o) { return o.first == text; })->second;
}

Op mirrored(Op op) {
  switch (op) {
    case Op::greater:
      return Op::less;
    case Op::less:
      return Op::greater;
    case Op::greater_equal:
      return Op::less_equal;
    case Op::less_equal:
      return Op::greater_equal;
    default:
      return op;
  }
}

std::uint64_t to_number(std::string_view bytes) {
  std::uint64_t v = 0;
  for (char c : bytes) v = v << 8 | static_cast<unsigned char>(c);
  return v;
}

// Number and byte ranges [x, end) and [start, x], so that ordering needs one text for both.
NumberRange from_on(const NumberRange& r) { return {r.low, ~0ULL}; }
NumberRange up_to(const NumberRange& r) { return {0, r.high}; }
BytesRange from_on(const BytesRange& r) { return {r.low, {}, true}; }
BytesRange up_to(const BytesRange& r) { return {{}, r.high, false}; }

// Turns the values a constant stands for into those that fit, or those that do not when is_inverse(op).
template <class Range>
void order(Op op, std::vector<Range>& ranges) {
  if (ranges.empty()) return;  // the list of the other type
  if (op == Op::greater || op == Op::less_equal) ranges = {up_to(ranges.back())};
  if (op == Op::less || op == Op::greater_equal) ranges = {from_on(ranges.front())};
}

bool is_inverse(Op op) { return op == Op::greater || op == Op::less || op == Op::not_equal || op == Op::any_differs; }

// Puts the ranges in the test; as numbers when the operand can be loaded as one.
void set_ranges(Test& t, Constant constant) {
  const bool direct =
      t.left.kind == Operand::Kind::fields && t.left.slices.empty() && t.left.layers == ~0ULL &&
      std::all_of(t.left.sources.begin(), t.left.sources.end(), [](const Source& s) { return s.direct; });
  const bool address = t.left.type == Type::mac || t.left.type == Type::ipv4;
  t.plain = direct && (is_numeric(t.left.type) || address);
  if (t.plain && address) {
    for (const BytesRange& r : constant.bytes)
      constant.numbers.push_back({to_number(r.low), r.endless ? ~0ULL : to_number(r.high)});
    if (t.left.masked) t.left.mask = to_number(t.left.byte_mask);
  }
  if (t.plain || is_numeric(t.left.type)) {
    t.kind = Test::Kind::numbers;
    t.numbers = NumberSet(std::move(constant.numbers));
  } else {
    t.kind = Test::Kind::bytes;
    t.bytes = std::move(constant.bytes);
  }
}

Test make_exists(const Node& node) {
  Test t;
  t.left = need_operand(node);
  if (t.left.kind != Operand::Kind::fields && t.left.kind != Operand::Kind::span && !t.left.masked)
    fail(node, fmt::format("{} needs a comparison", t.left.name));
  if (!t.left.masked) return t;
  t.invert = true;  // some bit of the mask is set
  Constant zero;
  if (is_numeric(t.left.type)) {
    zero.numbers = {{0, 0}};
  } else {
    const std::string zeros(t.left.byte_mask.size(), '\0');
    zero.bytes = {{zeros, zeros}};
  }
  set_ranges(t, std::move(zero));
  return t;
}

void compile_regex(Test& t, const Node& pattern) {
  const std::optional<Literal> literal = as_literal(pattern);
  if (!literal || (literal->form != Literal::Form::string && literal->form != Literal::Form::raw_string))
    fail(pattern, "matches needs a regular expression in double quotes");
  RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  if (t.left.type == Type::bytes) options.set_encoding(RE2::Options::EncodingLatin1);
  const std::shared_ptr<const RE2> regex = std::make_shared<RE2>(unquote(*literal), options);
  if (!regex->ok()) fail(pattern, fmt::format("the regular expression does not compile: {}", regex->error()));
  t.kind = Test::Kind::matches;
  t.regex = regex;
}

bool has_text(Type type) { return type == Type::bytes || type == Type::text; }

void set_relation(Test& t, Op op) {
  t.invert = op == Op::not_equal || op == Op::any_differs;
  switch (op) {
    case Op::greater:
      t.relation = Relation::greater;
      break;
    case Op::less:
      t.relation = Relation::less;
      break;
    case Op::greater_equal:
      t.relation = Relation::greater_equal;
      break;
    case Op::less_equal:
      t.relation = Relation::less_equal;
      break;
    case Op::contains:
      t.relation = Relation::contains;
      break;
    default:
      t.relation = Relation::equal;
      break;
  }
}

bool comparable(Type a, Type b) {
  if (is_numeric(a) || is_numeric(b)) return is_numeric(a) && is_numeric(b) && (a == Type::time) == (b == Type::time);
  return a == b || a == Type::bytes || b == Type::bytes;
}

Test make_comparison(const Node& left_node, const Node& op_node, const Node& right_node) {
  Op op = op_of(op_node);
  const Node *left = &left_node, *right = &right_node;
  std::optional<Operand> a = make_operand(*left), b = make_operand(*right);
  if (!a && b && op != Op::contains && op != Op::matches) {  // 5 < field
    std::swap(a, b);
    std::swap(left, right);
    op = mirrored(op);
  }
  if (!a) a = need_operand(*left);
  Test t;
  t.left = std::move(*a);
  t.all = op == Op::not_equal || op == Op::all_equal;

  if (op == Op::matches) {
    if (!has_text(t.left.type))
      fail(*left, fmt::format("{} is {}; matches needs text or bytes, as in string({}) matches \"...\"", t.left.name,
                              describe(t.left.type), t.left.name));
    compile_regex(t, *right);
    return t;
  }
  if (op == Op::contains && !has_text(t.left.type) && t.left.type != Type::mac)
    fail(*left, fmt::format("{} is {}; contains needs text or bytes", t.left.name, describe(t.left.type)));

  // A word may be a header and also the name of a value (ip.proto == udp) or text (frame.protocols contains udp).
  if (b && is<grammar::word>(*right) && only_headers(*b) &&
      (t.left.type == Type::text || names_value(t.left, text_of(*right))))
    b.reset();
  if (b) {
    if (!comparable(t.left.type, b->type))
      fail(*right, fmt::format("{} is {}, {} is {}", t.left.name, describe(t.left.type), b->name, describe(b->type)));
    t.kind = Test::Kind::pair;
    t.right = std::move(*b);
    set_relation(t, op);
    return t;
  }

  const Literal literal = *as_literal(*right);
  if (op == Op::contains) {
    Operand pattern = t.left;
    if (pattern.type == Type::mac) pattern.type = Type::bytes;  // part of an address
    t.kind = Test::Kind::contains;
    t.needle = parse_constant(literal, pattern).bytes[0].low;
    return t;
  }
  Constant constant = parse_constant(literal, t.left);
  if (constant.numbers.size() > 1 && op >= Op::greater)
    fail(*right, fmt::format("{} names several values of {}", quoted(literal.text), t.left.name));
  order(op, constant.numbers);
  order(op, constant.bytes);
  t.invert = is_inverse(op);
  set_ranges(t, std::move(constant));
  return t;
}

Test make_membership(const Node& left, const Node& set) {
  Test t;
  t.left = need_operand(left);
  Constant all;
  for (const auto& element : set.children) {
    const Node& low_node = *element->children[0];
    Constant low = parse_constant(*as_literal(low_node), t.left);
    if (element->children.size() > 1) {
      const Constant high = parse_constant(*as_literal(*element->children[1]), t.left);
      bool empty = false;
      if (is_numeric(t.left.type)) {
        low.numbers = {{low.numbers.front().low, high.numbers.back().high}};
        empty = low.numbers[0].low > low.numbers[0].high;
      } else {
        low.bytes[0].high = high.bytes[0].high;
        empty = before(t.by_length(), low.bytes[0].high, low.bytes[0].low);
      }
      if (empty) fail(low_node, fmt::format("the range {} is empty", text_of(*element)));
    }
    all.numbers.insert(all.numbers.end(), low.numbers.begin(), low.numbers.end());
    for (BytesRange& r : low.bytes) all.bytes.push_back(std::move(r));
  }
  set_ranges(t, std::move(all));
  return t;
}

// --- jumps ---

class Generator {
 public:
  explicit Generator(Program& program) : program_(program) {}

  // Steps that go to `yes` when the node is true, else to `no`; where they start. xor needs its right side twice, with
  // the ends exchanged; what was made before is taken again, so the program stays linear in the expression.
  std::int32_t make(const Node& node, std::int32_t yes, std::int32_t no) {
    const auto [found, is_new] = made_.try_emplace({&node, yes, no}, 0);
    if (is_new) {
      const std::int32_t entry = make_new(node, yes, no);
      made_[{&node, yes, no}] = entry;
      return entry;
    }
    return found->second;
  }

 private:
  std::int32_t make_new(const Node& node, std::int32_t yes, std::int32_t no) {
    using namespace grammar;
    if (is<relation>(node)) return make_relation(node, yes, no);
    if (is<not_expression>(node)) {
      const bool odd = node.children.size() % 2 == 0;  // the last child is the test
      return make(*node.children.back(), odd ? no : yes, odd ? yes : no);
    }
    const auto& children = node.children;
    if (is<xor_expression>(node)) return make_xor(node, children.size(), yes, no);
    std::int32_t entry = is<and_expression>(node) ? yes : no;
    for (std::size_t i = children.size(); i-- > 0;)
      entry = is<and_expression>(node) ? make(*children[i], entry, no) : make(*children[i], yes, entry);
    return entry;
  }

  // The first `count` operands, whose xor leads to yes or no: all that matters between two operands is the parity so
  // far.
  std::int32_t make_xor(const Node& node, std::size_t count, std::int32_t yes, std::int32_t no) {
    for (std::size_t i = count; i-- > 1;) {
      const std::int32_t if_odd = make(*node.children[i], no, yes);
      const std::int32_t if_even = make(*node.children[i], yes, no);
      yes = if_odd;
      no = if_even;
    }
    return make(*node.children[0], yes, no);
  }

  std::int32_t make_relation(const Node& node, std::int32_t yes, std::int32_t no) {
    const auto [found, is_new] = tests_.try_emplace(&node);
    if (is_new) found->second = make_tests(node);
    const Tests& tests = found->second;
    if (tests.negated) std::swap(yes, no);
    std::int32_t entry = yes;
    for (std::uint32_t i = tests.end; i-- > tests.begin;) {
      program_.steps.push_back({i, {no, entry}});
      entry = static_cast<std::int32_t>(program_.steps.size() - 1);
    }
    return entry;
  }

  // Tests of one relation: a < b < c has two.
  struct Tests {
    std::uint32_t begin = 0, end = 0;
    bool negated = false;
  };

  Tests make_tests(const Node& node) {
    Tests out;
    std::size_t i = 0;
    std::optional<bool> all;
    if (is<grammar::quantifier>(*node.children[0])) all = text_of(*node.children[i++]) == "all";
    out.begin = static_cast<std::uint32_t>(program_.tests.size());
    if (i + 1 == node.children.size()) program_.tests.push_back(make_exists(*node.children[i]));
    for (; i + 2 < node.children.size(); i += 2) {
      const Node& op = *node.children[i + 1];
      const bool member = is<grammar::in_op>(op);
      if (member) out.negated = text_of(op).starts_with("not");
      program_.tests.push_back(member ? make_membership(*node.children[i], *node.children[i + 2])
                                      : make_comparison(*node.children[i], op, *node.children[i + 2]));
      if (all) program_.tests.back().all = *all;
    }
    out.end = static_cast<std::uint32_t>(program_.tests.size());
    return out;
  }

  Program& program_;
  std::map<std::tuple<const Node*, std::int32_t, std::int32_t>, std::int32_t> made_;
  std::map<const Node*, Tests> tests_;
};

bool asks_for_annotations(const Operand& o) {
  return std::any_of(o.sources.begin(), o.sources.end(), [](const Source& s) { return s.header->annotation; }) ||
         std::any_of(o.arguments.begin(), o.arguments.end(), asks_for_annotations);
}

}  // namespace

NumberSet::NumberSet(std::vector<NumberRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const NumberRange& a, const NumberRange& b) { return a.low < b.low; });
  std::vector<NumberRange> merged;
  for (const NumberRange& r : ranges) {
    if (!merged.empty() && (merged.back().high == ~0ULL || r.low <= merged.back().high + 1))
      merged.back().high = std::max(merged.back().high, r.high);
    else
      merged.push_back(r);
  }
  low_ = merged[0].low;
  span_ = merged[0].high - low_;
  more_.assign(merged.begin() + 1, merged.end());
}

}  // namespace filter

std::variant<Filter, FilterError> Filter::compile(std::string_view text) {
  using namespace filter;
  try {
    const std::unique_ptr<Node> tree = parse(text);
    Filter out;
    if (!tree || tree->children.empty()) return out;
    const std::shared_ptr<Program> program = std::make_shared<Program>();
    program->entry = Generator(*program).make(*tree->children[0], accept, reject);
    for (const Test& test : program->tests)
      program->uses_annotations |= asks_for_annotations(test.left) || asks_for_annotations(test.right);
    out.program_ = program;
    return out;
  } catch (const Failure& failure) {
    return FilterError{failure.what(), failure.at + 1};
  }
}

std::string explain(const FilterError& error, std::string_view text) {
  constexpr std::size_t before = 60, after = 60;  // a long expression is cut around the column
  const std::size_t at = std::min(error.column - 1, text.size());
  const auto inside_character = [text](std::size_t i) { return i < text.size() && (text[i] & 0xc0) == 0x80; };
  std::size_t from = at > before ? at - before : 0, end = std::min(at + after, text.size());
  while (from > 0 && inside_character(from)) --from;
  while (inside_character(end)) ++end;
  std::string line = from > 0 ? "..." : "", caret(line.size(), ' ');
  for (std::size_t i = from; i < end; ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    line += c == '\t' || c == '\n' || c == '\r' ? ' ' : c < 0x20 || c == 0x7f ? '?' : static_cast<char>(c);
    if (i < at && !inside_character(i)) caret += ' ';
  }
  if (end < text.size()) line += "...";
  return line + "\n" + caret + "^\n" + error.message;
}

}  // namespace rdmascope::dissect
