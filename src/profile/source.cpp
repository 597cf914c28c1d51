// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

#include <benanza/error.hpp>

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace benanza::profile {

namespace {
constexpr std::size_t head_size = std::size_t{1} << 16, chunk_size = std::size_t{1} << 20;
constexpr std::size_t longest_line = std::size_t{1} << 26;

std::string cause(int number) { return std::generic_category().message(number); }
}  // namespace

struct Source::File {
  gzFile handle = nullptr;
  ~File() {
    if (handle != nullptr) gzclose(handle);
  }
};

Source::Source(std::filesystem::path file, std::size_t index)
    : path_(std::move(file)), index_(index), file_(std::make_unique<File>()) {
  const auto refuse = [this](const std::string& why) { throw InputError(path_.string() + ": cannot be read: " + why); };
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) refuse(cause(EISDIR));
  errno = 0;
  file_->handle = gzopen(path_.c_str(), "rbe");
  if (file_->handle == nullptr) refuse(cause(errno != 0 ? errno : ENOMEM));
  gzbuffer(file_->handle, 1 << 17);
  first_.reset(new char[head_size]);
  chunk_.reset(new char[chunk_size]);
  head_ = read(first_.get(), head_size);
}

Source::~Source() = default;

std::size_t Source::read(char* to, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    errno = 0;
    const int got = gzread(file_->handle, to + done, static_cast<unsigned>(count - done));
    if (got > 0) done += static_cast<std::size_t>(got);
    int state = Z_OK;
    const char* message = gzerror(file_->handle, &state);
    if (state == Z_ERRNO) throw InputError(path_.string() + ": cannot be read: " + cause(errno));
    if (state != Z_OK && state != Z_STREAM_END)
      fail(position_ + given_ + done, std::string("the gzip file is damaged or cut off: ") + message);
    if (got <= 0) break;
  }
  return done;
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

}  // namespace benanza::profile
