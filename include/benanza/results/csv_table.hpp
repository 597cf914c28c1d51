// SPDX-License-Identifier: Apache-2.0
// A CSV file row by row, its columns by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::results {

/// The text outlives the table. Every message begins with file and line.
class CsvTable {
 public:
  /// Reads the head. Throws InputError for a quote that is not closed, as `next` does.
  CsvTable(std::string file, std::string_view text);

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] bool has(std::string_view column) const;
  /// Goes to the next row; false at the end. Empty lines are passed over. Throws InputError for a row with another
  /// number of fields than the head.
  bool next();
  /// The row's field; empty where the table lacks the column.
  [[nodiscard]] std::string operator[](std::string_view column) const;
  /// A number that is not negative. Throws InputError for anything else.
  [[nodiscard]] double number(std::string_view column) const;
  /// A whole number from 1 on, such as a batch size. Throws InputError for anything else.
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
