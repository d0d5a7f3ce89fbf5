#include "dissect/components.h"

#include <fmt/format.h>

#include <bit>

namespace rdmascope::dissect {
namespace {

void put_text(Value& out, std::string_view text) {
  out.kind = Value::Kind::text;
  out.text = text;
}

}  // namespace

bool component_title(std::span<const Header* const> record, unsigned component, Value& out) {
  for (const Header* h : record) {
    unsigned covered = 0;  // bits up to here belong to a view
    for (const Field& f : h->fields) {
      const bool bits = f.kind == Field::Kind::wire || f.kind == Field::Kind::view;
      if (!(bits || (f.kind == Field::Kind::rest && f.width > 0)) || f.at < covered) continue;
      if (f.kind == Field::Kind::view) covered = f.at + (f.count - 1u) * f.stride + f.width;
      if (component >= f.component_count) {
        component -= f.component_count;
        continue;
      }
      if (f.component_count == 1) {
        put_text(out, f.title);
      } else {
        const auto end = fmt::format_to_n(out.scratch.data(), out.scratch.size(), "{} {}", f.title, component + 1).out;
        put_text(out, {out.scratch.data(), end});
      }
      return true;
    }
  }
  return false;
}

int set_bit(std::uint64_t mask, unsigned n) {
  for (; n > 0; --n) mask &= mask - 1;
  return mask == 0 ? -1 : std::countr_zero(mask);
}

bool selected_component(std::span<const Header* const> record, std::uint64_t mask, unsigned n, Value& out) {
  if (n >= 64) return false;
  const int bit = set_bit(mask, n);
  if (bit < 0) return false;
  if (!component_title(record, static_cast<unsigned>(bit), out)) {
    const auto end = fmt::format_to_n(out.scratch.data(), out.scratch.size(), "bit {}", bit).out;
    put_text(out, {out.scratch.data(), end});
  }
  return true;
}

}  // namespace rdmascope::dissect
