// SPDX-License-Identifier: Apache-2.0
// Source: the bytes of one file of a profile, unzipped on the fly, never all of them at once. Lines: the same, as
// lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace benanza::profile {

/// Bytes count from the start of the unzipped text, here and in all messages.
class Source {
 public:
  /// Throws InputError for a file that cannot be read. `index` is its place in EngineProfile::files.
  Source(std::filesystem::path file, std::size_t index);
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t index() const { return index_; }
  /// The first bytes, up to 64 KiB, independent of what has been read; formats are recognized by them.
  [[nodiscard]] std::string_view head() const { return {first_.get(), head_}; }

  /// The next bytes; empty at the end. Valid until the next call. Throws InputError for a gzip file that is damaged or
  /// cut off.
  [[nodiscard]] std::string_view next();
  /// The byte at which the last result of next() begins.
  [[nodiscard]] std::uint64_t position() const { return position_; }

  /// `trace.json: byte 17`
  [[nodiscard]] std::string place(std::uint64_t byte) const;
  /// Throws InputError `trace.json: byte 17: what`.
  [[noreturn]] void fail(std::uint64_t byte, const std::string& what) const;

 private:
  std::size_t read(char* to, std::size_t count);

  struct File;
  std::filesystem::path path_;
  std::size_t index_;
  std::unique_ptr<File> file_;
  std::unique_ptr<char[]> first_{}, chunk_{};
  std::size_t head_ = 0, given_ = 0;
  std::uint64_t position_ = 0;
  bool at_start_ = true;
};

/// The lines of a source, without their ends (`\n` or `\r\n`).
class Lines {
 public:
  explicit Lines(Source& source) : source_(source) {}
  /// Returns false at the end. The text is valid until the next call.
  [[nodiscard]] bool next(std::string_view& line);
  /// Byte at which the last line begins.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// Counts from 1.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// Whether the last line ended with the file instead of a line end. If so, it may be cut off, possibly inside a
  /// number.
  [[nodiscard]] bool unterminated() const { return unterminated_; }

 private:
  Source& source_;
  std::string_view rest_{};
  std::string joined_{};  // a line that spans two chunks
  std::uint64_t position_ = 0, following_ = 0, number_ = 0;
  bool unterminated_ = false;
};

}  // namespace benanza::profile
