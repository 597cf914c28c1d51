// SPDX-License-Identifier: Apache-2.0
// A CSV file that is read row by row, with its columns by name.
#pragma once

#include <benanza/model/units.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::results {

/// The text must outlive the table. Every message begins with file and line.
class CsvTable {
 public:
  /// Reads the header. Throws InputError for a quote that is not closed, as `next` does.
  CsvTable(std::string file, std::string_view text);

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] bool has(std::string_view column) const;
  /// Goes to the next row; false at the end. Empty lines are skipped. Throws InputError for a row that does not have as
  /// many fields as the header.
  bool next();
  /// The row's text in this column; empty if the table lacks the column.
  [[nodiscard]] std::string operator[](std::string_view column) const;
  /// A number that is not negative. Throws InputError for anything else.
  [[nodiscard]] double number(std::string_view column) const;
  /// A time in milliseconds that can be (base/detail/limits.hpp), or 0. Throws InputError for anything else.
  [[nodiscard]] Seconds milliseconds(std::string_view column) const;
  /// A whole number of at least 1, such as a batch size. Throws InputError for anything else.
  [[nodiscard]] std::int64_t positive(std::string_view column) const;
  [[noreturn]] void fail(const std::string& why) const;

 private:
  [[nodiscard]] std::vector<std::string> fields_of_line();

  std::string file_;
  std::string_view text_;
  std::size_t at_ = 0, line_ = 0;
  std::vector<std::string> columns_{}, fields_{};
};

/// The device of a row: its column `gpu`, or `device`.
[[nodiscard]] inline std::string device_of(const CsvTable& table) { return table[table.has("gpu") ? "gpu" : "device"]; }

}  // namespace benanza::results
