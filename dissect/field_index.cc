#include "dissect/field_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "dissect/headers.h"

namespace rdmascope::dissect {
namespace {

struct Index {
  std::unordered_map<std::string, std::vector<FieldRef>> by_name;
  std::vector<std::string> names;
};

// All of whose headers go by the first part of their names.
bool is_protocol(std::string_view name) { return name == "infiniband" || name == "cdi" || name == "efa"; }

Index make_index() {
  Index index;
  for (const Header* h : all_headers()) {
    // An annotation has no bytes, and its name may be another's: "rdmascope", "infiniband".
    if (!h->annotation) index.by_name[std::string(h->name)].push_back({h, nullptr});
    const std::size_t dot = h->name.find('.');
    if (!h->annotation && dot != std::string_view::npos && is_protocol(h->name.substr(0, dot)))
      index.by_name[std::string(h->name.substr(0, dot))].push_back({h, nullptr});
    for (const Field& f : h->fields) {
      index.by_name[full_name(*h, f)].push_back({h, &f});
      if (const std::string shared = shared_name(*h, f); !shared.empty()) index.by_name[shared].push_back({h, &f});
    }
  }
  for (const auto& [name, refs] : index.by_name) index.names.push_back(name);
  std::sort(index.names.begin(), index.names.end());
  return index;
}

const Index& index() {
  static const Index made = make_index();
  return made;
}

// Typing errors between two words: letters left out, added, taken for another, or swapped with their neighbour. Given
// up beyond `limit`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t k = 0; k <= b.size(); ++k) row[k] = k;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t k = 1; k <= b.size(); ++k) {
      row[k] = std::min({last[k - 1] + (a[i - 1] != b[k - 1]), last[k] + 1, row[k - 1] + 1});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) row[k] = std::min(row[k], before[k - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

std::string full_name(const Header& header, const Field& field) {
  return std::string(header.name) + "." + std::string(field.name);
}

std::string shared_name(const Header& header, const Field& field) {
  if (field.alias.find('.') != std::string_view::npos) return std::string(field.alias);
  const std::string_view before = header.shared.empty() ? header.name : header.shared;
  const std::string_view last = !field.alias.empty() ? field.alias : !header.shared.empty() ? field.name : "";
  return last.empty() ? std::string() : std::string(before) + "." + std::string(last);
}

void put_values(Text& out, const Packet& packet, const std::vector<FieldRef>& fields, Occurrence which, char between) {
  const std::size_t start = out.size();
  bool any = false;
  Value value;
  for (const Layer& layer : packet.layers())
    for (const FieldRef& ref : fields) {
      if (layer.header != ref.header) continue;
      for (unsigned n = 0; ref.field ? read(packet, layer, *ref.field, n, value) : n == 0; ++n) {
        if (any && which == Occurrence::all) out.put(between);
        if (any && which == Occurrence::last) out.truncate(start);
        any = true;
        if (ref.field)
          put_value(out, *ref.field, value);
        else
          out.hex_bytes({packet.data(layer), layer.bytes});
        if (which == Occurrence::first) return;
        if (ref.field && !ref.field->many) break;
      }
    }
}

std::vector<FieldRef> find_fields(std::string_view name) {
  const auto found = index().by_name.find(std::string(name));
  return found == index().by_name.end() ? std::vector<FieldRef>{} : found->second;
}

const std::vector<std::string>& all_field_names() { return index().names; }

std::string nearest_field_name(std::string_view name) {
  if (name.empty() || name.size() > 100) return {};
  const bool is_word = name.find('.') == std::string_view::npos;
  const std::size_t limit = std::max<std::size_t>(is_word ? 1 : 2, name.size() / 4);
  // Fewest errors first, then packets before completion entries, then fewest parts: "opcode" is rather that of the BTH
  // than that of the AETH's syndrome.
  std::tuple<std::size_t, bool, std::ptrdiff_t> best_rank{limit, true, PTRDIFF_MAX};
  std::string_view best;
  for (const std::string& full : index().names) {
    std::size_t errors = distance(name, full, limit);
    // What stands before may have been left out: "psn", "syndrome.opcode".
    if (full.ends_with(name) && full.size() > name.size() && full[full.size() - name.size() - 1] == '.') errors = 0;
    if (is_word) errors = std::min(errors, distance(name, last_part(full), limit));
    const std::tuple<std::size_t, bool, std::ptrdiff_t> rank{errors, full.starts_with("cqe."),
                                                             std::count(full.begin(), full.end(), '.')};
    if (rank < best_rank) {
      best_rank = rank;
      best = full;
    }
  }
  return std::string(best);
}

}  // namespace rdmascope::dissect
