// SPDX-License-Identifier: Apache-2.0

#include <benanza/base/detail/limits.hpp>
#include <benanza/error.hpp>
#include <benanza/results/csv_table.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace benanza::results {

CsvTable::CsvTable(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {
  do columns_ = fields_of_line();
  while (columns_.size() == 1 && columns_.front().empty() && at_ < text_.size());
}

bool CsvTable::has(std::string_view column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

bool CsvTable::next() {
  while (at_ < text_.size()) {
    fields_ = fields_of_line();
    if (fields_.size() == 1 && fields_.front().empty()) continue;
    if (fields_.size() != columns_.size())
      fail(std::to_string(fields_.size()) + " fields, expected " + std::to_string(columns_.size()));
    return true;
  }
  return false;
}

std::string CsvTable::operator[](std::string_view column) const {
  const auto at = std::find(columns_.begin(), columns_.end(), column);
  return at == columns_.end() ? "" : fields_[static_cast<std::size_t>(at - columns_.begin())];
}

double CsvTable::number(std::string_view column) const {
  const std::string text = (*this)[column];
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    fail(std::string(column) + " is '" + text + "', expected a number");
  return value;
}

Seconds CsvTable::milliseconds(std::string_view column) const {
  const Seconds time = benanza::milliseconds(number(column));
  if (time != Seconds{} && !detail::is_possible(time))
    fail(std::string(column) + " is '" + (*this)[column] + "', expected 0 or a time from " +
         std::string(detail::time_range));
  return time;
}

std::int64_t CsvTable::positive(std::string_view column) const {
  const std::string text = (*this)[column];
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1)
    fail(std::string(column) + " is '" + text + "', expected a positive whole number");
  return value;
}

void CsvTable::fail(const std::string& why) const {
  throw InputError(file_ + ": line " + std::to_string(line_) + ": " + why);
}

std::vector<std::string> CsvTable::fields_of_line() {
  const auto end = std::min(text_.find('\n', at_), text_.size());
  std::string_view line = text_.substr(at_, end - at_);
  at_ = end + 1;
  ++line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') fields.back() += line[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) fields.emplace_back();
    else fields.back() += c;
  }
  if (quoted) fail("a quote is not closed");
  return fields;
}

}  // namespace benanza::results
