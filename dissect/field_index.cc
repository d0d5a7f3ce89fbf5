#include "dissect/field_index.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "dissect/headers.h"

namespace rdmascope::dissect {
namespace {

struct Index {
  std::unordered_map<std::string, std::vector<FieldRef>> by_name;
  std::vector<std::string> names;
};

Index make_index() {
  Index index;
  for (const Header* h : all_headers()) {
    index.by_name[std::string(h->name)].push_back({h, nullptr});
    const std::size_t dot = h->name.find('.');
    if (dot != std::string_view::npos && h->name.starts_with("infiniband."))
      index.by_name[std::string(h->name.substr(0, dot))].push_back({h, nullptr});
    for (const Field& f : h->fields) {
      index.by_name[full_name(*h, f)].push_back({h, &f});
      if (!f.alias.empty()) index.by_name[std::string(h->name) + "." + std::string(f.alias)].push_back({h, &f});
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

// Edit distance, given up beyond `limit`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t k = 0; k <= b.size(); ++k) row[k] = k;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t substitute = diagonal + (a[i - 1] != b[k - 1]);
      diagonal = row[k];
      row[k] = std::min({substitute, row[k] + 1, row[k - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string full_name(const Header& header, const Field& field) {
  return std::string(header.name) + "." + std::string(field.name);
}

std::vector<FieldRef> find_fields(std::string_view name) {
  const auto found = index().by_name.find(std::string(name));
  return found == index().by_name.end() ? std::vector<FieldRef>{} : found->second;
}

const std::vector<std::string>& all_field_names() { return index().names; }

std::string nearest_field_name(std::string_view name) {
  if (name.size() > 100) return {};
  const auto ends_with_it = [name](const std::string& full) {
    return full.size() > name.size() + 1 && full[full.size() - name.size() - 1] == '.' && full.ends_with(name);
  };
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 4) + 1;
  for (const std::string& full : index().names) {
    if (!name.empty() && ends_with_it(full)) return full;  // "psn": the prefix was left out
    const std::size_t d = distance(name, full, best_distance);
    if (d < best_distance) {
      best_distance = d;
      best = full;
    }
  }
  return best;
}

}  // namespace rdmascope::dissect
