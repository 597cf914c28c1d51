// SPDX-License-Identifier: Apache-2.0
// Source: the bytes of one file of results or of a profile, unzipped on the fly, never all of them at once. Lines: the
// same, as lines. A record that cannot be read does not lose the file: it is left out and counted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::results {

/// Thrown by what reads one record, and caught where records are counted: this record cannot be used.
struct Unreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Bytes count from the start of the unzipped text, here and in all messages. UTF-16, as PowerShell writes it, becomes
/// UTF-8.
class Source {
 public:
  /// Throws InputError for a file that is no regular file or cannot be read. `index` is its place in
  /// EngineProfile::files.
  explicit Source(std::filesystem::path file, std::size_t index = 0);
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t index() const { return index_; }
  /// The first bytes, up to 64 KiB, independent of what has been read; formats are recognized by them.
  [[nodiscard]] std::string_view head() const { return {first_.get(), head_}; }

  /// The next bytes; empty at the end. Valid until the next call. Throws InputError for a gzip file that is damaged or
  /// cut off, or that unpacks to far more than text does.
  [[nodiscard]] std::string_view next();
  /// The byte at which the last result of next() begins.
  [[nodiscard]] std::uint64_t position() const { return position_; }

  /// `trace.json: byte 17`
  [[nodiscard]] std::string place(std::uint64_t byte) const;
  /// Throws InputError `trace.json: byte 17: what`.
  [[noreturn]] void fail(std::uint64_t byte, const std::string& what) const;

  /// Counts a record that cannot be read.
  void leave_out(std::uint64_t byte, const std::string& why);
  /// How many of the records that were left out belong to passes that count. If a reader does not say so, all do.
  void only_lacks(std::size_t records) { lacking_ = records; }
  [[nodiscard]] std::size_t lacking() const { return lacking_.value_or(left_out_); }
  /// What the reader's user has to know; empty if the file is as it should be.
  void warn(std::uint64_t byte, const std::string& what) { warnings_.push_back(place(byte) + ": " + what); }
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  /// The place of the first record that was left out, and why it was.
  [[nodiscard]] const std::string& first_left_out() const { return first_left_out_; }
  /// The warnings, and one line for all records that were left out.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  std::size_t read(char* to, std::size_t count);
  std::size_t read_bytes(char* to, std::size_t count);
  std::size_t from_utf16(const char* from, std::size_t count, char* to);

  struct File;
  enum class Encoding : std::uint8_t { utf8, utf16_little, utf16_big };
  std::filesystem::path path_;
  std::size_t index_;
  std::unique_ptr<File> file_;
  std::unique_ptr<char[]> first_{}, chunk_{}, wide_{};
  std::size_t head_ = 0, given_ = 0, left_out_ = 0;
  std::optional<std::size_t> lacking_{};
  std::uint64_t position_ = 0;
  Encoding encoding_ = Encoding::utf8;
  std::uint32_t high_surrogate_ = 0;  ///< the first half of a character whose second half comes next
  bool at_start_ = true;
  std::string first_left_out_{};
  std::vector<std::string> warnings_{};
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

}  // namespace benanza::results
