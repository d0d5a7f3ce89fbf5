#include "cli/check_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/check_json.h"

namespace rdmascope::cli {
namespace {
constexpr std::size_t head_rows = 200;
}

Table::Table(Output& output, TableForm form, std::vector<TableColumn> columns)
    : output_(output), form_(form), columns_(std::move(columns)) {
  if (form_ == TableForm::csv) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) output_.text().put(',');
      output_.text().put(columns_[i].key);
    }
    output_.text().put('\n');
  } else if (form_ == TableForm::json) {
    output_.text().put('[');
  }
}

std::string Table::text_of(const TableCell& cell, const TableColumn& column) const {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const auto* number = std::get_if<std::uint64_t>(&cell);
  if (!number) return {};
  switch (column.shown) {
    case Shown::dec:
    case Shown::number:
      break;
    case Shown::qp:
      return fmt::format("0x{:06x}", *number);
    case Shown::key:
      return fmt::format("0x{:08x}", *number);
    case Shown::address:
      return fmt::format("0x{:016x}", *number);
    case Shown::micros:
      return fmt::format("{}.{:03}", *number / 1000, *number % 1000);
    case Shown::seconds: {
      dissect::Text text;
      text.seconds(static_cast<std::int64_t>(*number));
      return std::string(text.view());
    }
  }
  return fmt::format("{}", *number);
}

bool Table::row(std::vector<TableCell> cells, std::string_view color) {
  Row row{std::move(cells), color};
  any_ = true;
  if (form_ == TableForm::text && !head_done_) {
    head_.push_back(std::move(row));
    if (head_.size() < head_rows) return true;
    flush_head();
  } else {
    put(row);
  }
  return output_.packet_done();
}

void Table::put(const Row& row) {
  dissect::Text& out = output_.text();
  if (form_ == TableForm::text) return put_text(row);
  if (form_ == TableForm::csv) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out.put(',');
      std::string text = text_of(row.cells[i], columns_[i]);
      if (text.find_first_of(",\"\n") == std::string::npos) {
        out.put(text);
        continue;
      }
      out.put('"');
      for (char c : text) {
        if (c == '"') out.put(c);
        out.put(c);
      }
      out.put('"');
    }
    out.put('\n');
    return;
  }
  out.put(head_done_ ? std::string_view(",\n") : std::string_view("\n"));
  head_done_ = true;
  JsonOut json(out);
  json.open('{');
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const TableColumn& column = columns_[i];
    const auto* number = std::get_if<std::uint64_t>(&row.cells[i]);
    if (number && column.shown != Shown::address && column.shown != Shown::seconds)
      json.member(column.key, *number);
    else if (row.cells[i].index() != 0 && column.shown == Shown::number)
      json.key(column.key).raw(text_of(row.cells[i], column));
    else if (row.cells[i].index() != 0)
      json.member(column.key, std::string_view(text_of(row.cells[i], column)));
  }
  json.close('}');
}

void Table::put_text(const Row& row) {
  dissect::Text& out = output_.text();
  std::size_t last = columns_.size();
  while (last > 0 && columns_[last - 1].title.empty()) --last;
  bool first = true;
  for (std::size_t i = 0; i < last; ++i) {
    if (columns_[i].title.empty()) continue;
    if (!first) out.put("  ");
    first = false;
    const std::string text = text_of(row.cells[i], columns_[i]);
    const std::size_t missing = widths_[i] > text.size() ? widths_[i] - text.size() : 0;
    if (!columns_[i].left) out.spaces(missing);
    const bool colored = i + 1 == last && !row.color.empty();
    if (colored) out.put(row.color);
    out.put(text);
    if (colored) out.put("\033[0m");
    if (columns_[i].left && i + 1 < last) out.spaces(missing);
  }
  while (out.view().ends_with(' ')) out.truncate(out.size() - 1);
  out.put('\n');
}

void Table::flush_head() {
  if (head_done_) return;
  head_done_ = true;
  widths_.resize(columns_.size());
  Row titles;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.cells.emplace_back(std::string(columns_[i].title));
    widths_[i] = columns_[i].title.size();
    for (const Row& row : head_) widths_[i] = std::max(widths_[i], text_of(row.cells[i], columns_[i]).size());
  }
  put_text(titles);
  for (const Row& row : head_) put_text(row);
  head_.clear();
}

void Table::end() {
  if (form_ == TableForm::text && any_) flush_head();
  if (form_ == TableForm::json) output_.text().put(any_ ? std::string_view("\n]\n") : std::string_view("]\n"));
}

}  // namespace rdmascope::cli
