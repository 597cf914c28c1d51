// SPDX-License-Identifier: Apache-2.0
// Database: an SQLite file for reading, from its file, or from memory if the file is gzip. The file is not trusted
// (https://sqlite.org/security.html): only its tables are read, and a query may not take more steps than its size
// explains.
#pragma once

#include "source.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

namespace benanza::profile {

class Database {
 public:
  explicit Database(Source& source) : source_(source) {
    sqlite3* raw = nullptr;
    std::uint64_t bytes = 0;
    std::ifstream file(source.path(), std::ios::binary);
    char magic[16] = {};
    file.read(magic, sizeof magic);
    if (std::string_view(magic, 15) == "SQLite format 3") {
      const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
      const int status = sqlite3_open_v2(uri(source.path()).c_str(), &raw, flags, nullptr);
      check(status, raw);
      std::error_code unknown;
      bytes = std::filesystem::file_size(source.path(), unknown);
    } else {
      const int status = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
      check(status, raw);
      bytes = unpack();
    }
    distrust(bytes);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// The columns of a table; empty if there is no such table. A view is none.
  [[nodiscard]] std::set<std::string> columns(const std::string& table) {
    std::set<std::string> names;
    bool exists = false;
    each("select 1 from sqlite_master where type = 'table' and name = '" + table +
             "' and sql not like 'create virtual%'",
         [&](sqlite3_stmt*) { exists = true; });
    if (exists) each("pragma table_info(" + table + ")", [&](sqlite3_stmt* row) { names.insert(text(row, 1)); });
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
    if (status == SQLITE_INTERRUPT) fail("reading it takes more steps than a file of its size can need");
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

  /// The file's URI. The file is opened as immutable unless its write-ahead log or rollback journal has content: SQLite
  /// creates no files beside an immutable one, but ignores both.
  static std::string uri(const std::filesystem::path& file) {
    std::error_code failed;
    const auto real =
        std::filesystem::canonical(file, failed);  // SQLite, too, looks for both beside the target of a link
    const std::string path = failed ? std::filesystem::absolute(file).string() : real.string();
    std::string text = "file:";
    for (const char c : path)
      if (c == '%' || c == '?' || c == '#') text += c == '%' ? "%25" : c == '?' ? "%3f" : "%23";
      else text += c;
    const auto holds_something = [&path](const char* suffix) {
      std::error_code absent;
      const auto bytes = std::filesystem::file_size(path + suffix, absent);
      return !absent && bytes > 0;
    };
    return holds_something("-wal") || holds_something("-journal") ? text : text + "?immutable=1";
  }

  void distrust(std::uint64_t bytes) {
    for (const int setting : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW,
                              SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION})
      sqlite3_db_config(handle_.get(), setting, 0, nullptr);
    sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    constexpr int longest_value = 1 << 24, longest_query = 1 << 16;
    sqlite3_limit(handle_.get(), SQLITE_LIMIT_LENGTH, longest_value);
    sqlite3_limit(handle_.get(), SQLITE_LIMIT_SQL_LENGTH, longest_query);
    sqlite3_limit(handle_.get(), SQLITE_LIMIT_ATTACHED, 0);
    // A row of the tables takes some ten bytes at least and some fifty steps to read; it is read and sorted a few
    // times.
    constexpr std::uint64_t steps_of_byte = 64, always = 20'000'000;
    steps_left_ = always + steps_of_byte * bytes;
    sqlite3_progress_handler(
        handle_.get(), steps_at_a_time,
        [](void* left) {
          auto& steps = *static_cast<std::uint64_t*>(left);
          steps -= std::min<std::uint64_t>(steps, steps_at_a_time);
          return steps == 0 ? 1 : 0;
        },
        &steps_left_);
  }

  std::uint64_t unpack() {
    std::string bytes;
    for (std::string_view part = source_.next(); !part.empty(); part = source_.next()) bytes += part;
    auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
    if (!copy) fail("out of memory");
    std::memcpy(copy, bytes.data(), bytes.size());
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    check(sqlite3_deserialize(handle_.get(), "main", copy, size, size,
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY),
          nullptr);
    return bytes.size();
  }

  static constexpr int steps_at_a_time = 10'000;
  Source& source_;
  std::uint64_t steps_left_ = 0;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, sqlite3_close};
};

}  // namespace benanza::profile
