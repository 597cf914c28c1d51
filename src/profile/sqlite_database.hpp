// SPDX-License-Identifier: Apache-2.0
// Database: an SQLite file for reading, from its file, or from memory if the file is gzip.
#pragma once

#include "source.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace benanza::profile {

class Database {
 public:
  explicit Database(Source& source) : source_(source) {
    std::ifstream file(source.path(), std::ios::binary);
    char magic[16] = {};
    file.read(magic, sizeof magic);
    sqlite3* raw = nullptr;
    if (std::string_view(magic, 15) == "SQLite format 3") {
      const int status = sqlite3_open_v2(source.path().c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
      check(status, raw);
    } else {
      const int status = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
      check(status, raw);
      unpack();
    }
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// The columns of a table; empty if there is no such table.
  [[nodiscard]] std::set<std::string> columns(const std::string& table) {
    std::set<std::string> names;
    each("pragma table_info(" + table + ")", [&](sqlite3_stmt* row) { names.insert(text(row, 1)); });
    return names;
  }
  [[nodiscard]] bool has(const std::string& table) { return !columns(table).empty(); }

  template <class Use>
  void each(const std::string& query, Use&& use) {
    sqlite3_stmt* raw = nullptr;
    check(sqlite3_prepare_v2(handle_.get(), query.c_str(), -1, &raw, nullptr), nullptr);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(raw)) == SQLITE_ROW) use(raw);
    if (status != SQLITE_DONE) fail(sqlite3_errmsg(handle_.get()));
  }

  [[nodiscard]] static std::string text(sqlite3_stmt* row, int column) {
    const auto* value = sqlite3_column_text(row, column);
    return value ? reinterpret_cast<const char*>(value) : "";
  }
  [[nodiscard]] static std::int64_t number(sqlite3_stmt* row, int column) { return sqlite3_column_int64(row, column); }

  [[noreturn]] void fail(const std::string& what) const {
    source_.fail(0, what + "; expected a whole SQLite export of Nsight Systems");
  }

 private:
  void check(int status, sqlite3* made) {
    if (made) handle_.reset(made);
    if (status != SQLITE_OK) fail(handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(status));
  }

  void unpack() {
    std::string bytes;
    for (std::string_view part = source_.next(); !part.empty(); part = source_.next()) bytes += part;
    auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
    if (!copy) fail("out of memory");
    std::memcpy(copy, bytes.data(), bytes.size());
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    check(sqlite3_deserialize(handle_.get(), "main", copy, size, size,
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY),
          nullptr);
  }

  Source& source_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, sqlite3_close};
};

}  // namespace benanza::profile
