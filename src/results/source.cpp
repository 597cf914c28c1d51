// SPDX-License-Identifier: Apache-2.0
#include <benanza/base/detail/regular_file.hpp>
#include <benanza/error.hpp>
#include <benanza/results/detail/source.hpp>

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace benanza::results {

namespace {
constexpr std::size_t head_size = std::size_t{1} << 16, chunk_size = std::size_t{1} << 20;
constexpr std::size_t longest_line = std::size_t{1} << 26;

// gzip packs zeros by 1032; logs, traces and results by up to 40.
constexpr std::uint64_t most_unpacked = 200, always_unpacked = std::uint64_t{1} << 24;

// A unit of two bytes becomes at most three bytes, a pair of them four.
constexpr std::size_t longest_unit = 3;

/// zlib begins a message with the name of a file that it opened by descriptor: `<fd:3>: `.
std::string_view without_descriptor(std::string_view message) {
  const auto end = message.starts_with("<fd:") ? message.find(": ") : std::string_view::npos;
  return end == std::string_view::npos ? message : message.substr(end + 2);
}

std::string system_error(int number) { return std::generic_category().message(number); }

std::size_t append_utf8(char* to, std::uint32_t point) {
  const auto rest = [point](unsigned shift) { return static_cast<char>(0x80 | ((point >> shift) & 0x3F)); };
  if (point < 0x80) return to[0] = static_cast<char>(point), 1;
  if (point < 0x800) return to[0] = static_cast<char>(0xC0 | point >> 6), to[1] = rest(0), 2;
  if (point < 0x10000) return to[0] = static_cast<char>(0xE0 | point >> 12), to[1] = rest(6), to[2] = rest(0), 3;
  to[0] = static_cast<char>(0xF0 | point >> 18), to[1] = rest(12), to[2] = rest(6), to[3] = rest(0);
  return 4;
}
}  // namespace

struct Source::File {
  gzFile handle = nullptr;
  std::uint64_t packed = 0, unpacked = 0;
  ~File() {
    if (handle != nullptr) gzclose(handle);
  }
};

Source::Source(std::filesystem::path file, std::size_t index)
    : path_(std::move(file)), index_(index), file_(std::make_unique<File>()) {
  const auto refuse = [this](const std::string& why) { throw InputError(path_.string() + ": cannot be read: " + why); };
  try {
    detail::RegularFile opened(path_);
    file_->packed = opened.size();
    file_->handle = gzdopen(opened.descriptor(), "rb");
    if (file_->handle == nullptr) refuse(system_error(ENOMEM));
    static_cast<void>(opened.release());
  } catch (const InputError& error) {
    refuse(error.what());
  }
  gzbuffer(file_->handle, 1 << 17);
  first_.reset(new char[longest_unit * head_size]);
  chunk_.reset(new char[chunk_size]);
  head_ = read_bytes(first_.get(), head_size);
  const std::string_view start = head().substr(0, 4);
  const auto zero = [&](std::size_t i) { return start.size() == 4 && start[i] == 0; };
  const auto text = [&](std::size_t i) { return start.size() == 4 && start[i] > 0; };
  if (start.starts_with("\xFF\xFE") || (text(0) && zero(1) && text(2) && zero(3))) encoding_ = Encoding::utf16_little;
  if (start.starts_with("\xFE\xFF") || (zero(0) && text(1) && zero(2) && text(3))) encoding_ = Encoding::utf16_big;
  if (encoding_ == Encoding::utf8) return;
  wide_.reset(new char[chunk_size]);
  std::memcpy(wide_.get(), first_.get(), head_);
  head_ = from_utf16(wide_.get(), head_, first_.get());
}

Source::~Source() = default;

std::size_t Source::read_bytes(char* to, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    errno = 0;
    const int got = gzread(file_->handle, to + done, static_cast<unsigned>(count - done));
    if (got > 0) done += static_cast<std::size_t>(got);
    int state = Z_OK;
    const char* message = gzerror(file_->handle, &state);
    if (state == Z_ERRNO) throw InputError(path_.string() + ": cannot be read: " + system_error(errno));
    if (state != Z_OK && state != Z_STREAM_END)
      fail(position_ + given_ + done,
           "the gzip file is damaged or cut off: " + std::string(without_descriptor(message)));
    if (got <= 0) break;
    file_->unpacked += static_cast<std::uint64_t>(got);
    if (file_->unpacked > always_unpacked && file_->unpacked / most_unpacked > file_->packed &&
        gzdirect(file_->handle) == 0)
      fail(position_ + given_ + done,
           "the gzip file unpacks to more than " + std::to_string(most_unpacked) + " times its size");
  }
  return done;
}

std::size_t Source::from_utf16(const char* from, std::size_t count, char* to) {
  constexpr std::uint32_t replacement = 0xFFFD;
  const char* const begin = to;
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    const auto byte = [&](std::size_t k) { return std::uint32_t{static_cast<unsigned char>(from[i + k])}; };
    const std::uint32_t unit = encoding_ == Encoding::utf16_little ? byte(0) | byte(1) << 8 : byte(0) << 8 | byte(1);
    const bool second = unit >= 0xDC00 && unit < 0xE000;
    const std::uint32_t first = std::exchange(high_surrogate_, 0);
    if (first != 0 && second) {
      to += append_utf8(to, 0x10000 + ((first - 0xD800) << 10) + (unit - 0xDC00));
      continue;
    }
    if (first != 0) to += append_utf8(to, replacement);
    if (unit >= 0xD800 && unit < 0xDC00) high_surrogate_ = unit;
    else to += append_utf8(to, second ? replacement : unit);
  }
  return static_cast<std::size_t>(to - begin);
}

std::size_t Source::read(char* to, std::size_t count) {
  if (encoding_ == Encoding::utf8) return read_bytes(to, count);
  // A first half that waits takes three more bytes if its second half is missing.
  const std::size_t units = count / longest_unit - 1;
  while (true) {
    const std::size_t got = read_bytes(wide_.get(), 2 * units), made = from_utf16(wide_.get(), got, to);
    if (made > 0 || got < 2 * units) return made;
  }
}

std::string_view Source::next() {
  position_ += given_;
  given_ = 0;
  if (at_start_) {
    at_start_ = false;
    std::string_view text = head();
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) {
      text.remove_prefix(byte_order_mark.size());
      position_ = byte_order_mark.size();
    }
    given_ = text.size();
    if (!text.empty()) return text;
  }
  given_ = read(chunk_.get(), chunk_size);
  return {chunk_.get(), given_};
}

void Source::leave_out(std::uint64_t byte, const std::string& why) {
  if (left_out_++ == 0) first_left_out_ = place(byte) + ": " + why;
}

std::vector<std::string> Source::warnings() const {
  std::vector<std::string> all = warnings_;
  if (left_out_ == 1) all.push_back(first_left_out_ + "; this record is left out");
  else if (left_out_ > 1)
    all.push_back(first_left_out_ + "; this record and " + std::to_string(left_out_ - 1) + " more are left out");
  return all;
}

std::string Source::place(std::uint64_t byte) const { return path_.string() + ": byte " + std::to_string(byte); }

void Source::fail(std::uint64_t byte, const std::string& what) const { throw InputError(place(byte) + ": " + what); }

bool Lines::next(std::string_view& line) {
  joined_.clear();
  position_ = following_;
  bool any = false;
  while (true) {
    if (rest_.empty()) {
      rest_ = source_.next();
      if (!any && joined_.empty()) position_ = source_.position();
      if (rest_.empty()) break;
    }
    any = true;
    const std::size_t end = rest_.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view part = rest_.substr(0, end);
    rest_.remove_prefix(whole ? end + 1 : rest_.size());
    if (whole && joined_.empty()) {
      line = part;
    } else {
      if (joined_.size() + part.size() > longest_line) source_.fail(position_, "a line of more than 64 MiB");
      joined_ += part;
      line = joined_;
    }
    unterminated_ = !whole;
    if (whole) {
      following_ = position_ + line.size() + 1;
      break;
    }
  }
  if (!any) return false;
  ++number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

}  // namespace benanza::results
