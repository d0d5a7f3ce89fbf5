// A table that is shown as aligned text, CSV or JSON from the same rows. Only the first rows are kept, to find the
// widths; a later value that is too long pushes the rest of its line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/choice.h"
#include "cli/output.h"

namespace rdmascope::cli {

enum class TableForm { text, csv, json };
inline constexpr Choice<TableForm> table_choices[] = {
    {"text", TableForm::text}, {"csv", TableForm::csv}, {"json", TableForm::json}};

// How a number is written in text and CSV. JSON has decimal numbers, except `address`.
enum class Shown : std::uint8_t {
  dec,
  qp,       // 0x00001a
  key,      // 0x00000e88
  address,  // 0x0000557932f59560; a string in JSON
  micros,   // nanoseconds in JSON, microseconds elsewhere
  seconds,  // nanoseconds; with nine decimals everywhere, a string in JSON
  number,   // the cell is a number that is written already
};

struct TableColumn {
  std::string_view key;    // JSON and CSV
  std::string_view title;  // text; empty: not shown there
  Shown shown = Shown::dec;
  bool left = false;  // words stand left, numbers right
};

// monostate: nothing to say here; JSON leaves the key out.
using TableCell = std::variant<std::monostate, std::uint64_t, std::string>;

class Table {
 public:
  Table(Output& output, TableForm form, std::vector<TableColumn> columns);

  // One cell for each column. `color` is an escape sequence for the last one. False: nobody reads any more.
  bool row(std::vector<TableCell> cells, std::string_view color = {});
  void end();

 private:
  struct Row {
    std::vector<TableCell> cells;
    std::string_view color;
  };
  std::string text_of(const TableCell& cell, const TableColumn& column) const;
  void put(const Row& row);
  void put_text(const Row& row);
  void flush_head();

  Output& output_;
  TableForm form_;
  std::vector<TableColumn> columns_;
  std::vector<std::size_t> widths_;
  std::vector<Row> head_;
  bool head_done_ = false, any_ = false;
};

}  // namespace rdmascope::cli
