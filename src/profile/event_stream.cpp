// SPDX-License-Identifier: Apache-2.0
#include "event_stream.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace benanza::profile {

namespace {

constexpr std::size_t first_capacity = std::size_t{1} << 22, longest_item = std::size_t{1} << 26;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// 1 opens, 2 closes, 3 begins a string.
constexpr std::array<std::uint8_t, 256> structure = [] {
  std::array<std::uint8_t, 256> table{};
  table['{'] = table['['] = 1;
  table['}'] = table[']'] = 2;
  table['"'] = 3;
  return table;
}();

}  // namespace

EventStream::EventStream(Source& source, std::string_view key)
    : source_(source), key_(key), buffer_(new char[first_capacity + padding]), capacity_(first_capacity) {}

void EventStream::cut_off() {
  source_.fail(base_ + end_, found_ || object_ || state_ != State::start
                                 ? "the file ends in the middle of the JSON: it was cut off"
                                 : "the file is empty");
}

void EventStream::unexpected(const char* expected) {
  source_.fail(base_ + at_, "found '" + std::string(1, buffer_[at_]) + "', expected " + expected);
}

/// Reads more bytes after the unread ones and drops what is before them, or before the item. Returns false at the end.
bool EventStream::more() {
  const std::size_t keep = in_item_ ? item_ : at_;
  if (keep > 0) {
    std::memmove(buffer_.get(), buffer_.get() + keep, end_ - keep);
    base_ += keep;
    at_ -= keep;
    end_ -= keep;
    item_ -= in_item_ ? keep : item_;
  }
  const std::string_view chunk = source_.next();
  if (chunk.empty()) return false;
  if (end_ == 0) base_ = source_.position();
  if (end_ + chunk.size() > capacity_) {
    if (end_ + chunk.size() > longest_item) source_.fail(base_, "one element takes more than 64 MiB");
    capacity_ = std::max(2 * capacity_, end_ + chunk.size());
    std::unique_ptr<char[]> larger(new char[capacity_ + padding]);
    std::memcpy(larger.get(), buffer_.get(), end_);
    buffer_ = std::move(larger);
  }
  std::memcpy(buffer_.get() + end_, chunk.data(), chunk.size());
  end_ += chunk.size();
  std::memset(buffer_.get() + end_, 0, padding);
  return true;
}

/// The next byte that is not whitespace.
char EventStream::peek() {
  while (true) {
    while (at_ < end_ && is_space(buffer_[at_])) ++at_;
    if (at_ < end_) return buffer_[at_];
    if (!more()) cut_off();
  }
}

void EventStream::expect(char wanted, const char* where) {
  if (peek() != wanted) unexpected(where);
  ++at_;
}

void EventStream::take_string() {
  ++at_;
  while (true) {
    const char* const from = buffer_.get() + at_;
    const void* const quote = std::memchr(from, '"', end_ - at_);
    if (quote == nullptr) {
      // A backslash must be seen together with the quote that it escapes, which may be in the next chunk: scan again
      // from here.
      const std::size_t before = at_ - item_;
      if (!more()) cut_off();
      at_ = item_ + before;
      continue;
    }
    const auto end = static_cast<std::size_t>(static_cast<const char*>(quote) - buffer_.get());
    std::size_t backslashes = 0;
    while (end - backslashes > at_ && buffer_[end - backslashes - 1] == '\\') ++backslashes;
    at_ = end + 1;
    if (backslashes % 2 == 0) return;
  }
}

void EventStream::take_bracketed() {
  std::size_t depth = 0;
  while (true) {
    while (at_ < end_ && structure[static_cast<unsigned char>(buffer_[at_])] == 0) ++at_;
    if (at_ == end_) {
      if (!more()) cut_off();
      continue;
    }
    switch (structure[static_cast<unsigned char>(buffer_[at_])]) {
      case 1:
        ++depth;
        ++at_;
        break;
      case 2:
        ++at_;
        if (--depth == 0) return;
        break;
      default: take_string();
    }
  }
}

/// Makes the value that begins here the current item.
void EventStream::take_value() {
  const char first = peek();
  item_ = at_;
  in_item_ = true;
  if (first == '{' || first == '[') take_bracketed();
  else if (first == '"') take_string();
  else {
    if (first != '-' && first != 't' && first != 'f' && first != 'n' && (first < '0' || first > '9'))
      unexpected("a JSON value");
    while (true) {
      while (at_ < end_ && !is_space(buffer_[at_]) && buffer_[at_] != ',' && buffer_[at_] != '}' && buffer_[at_] != ']')
        ++at_;
      if (at_ < end_) break;
      if (!more()) cut_off();
    }
  }
  in_item_ = false;
  item_size_ = at_ - item_;
}

EventStream::Item EventStream::next() {
  switch (state_) {
    case State::start:
      object_ = peek() == '{';
      if (!object_) {
        expect('[', "a JSON array or object");
        found_ = true;
      } else ++at_;
      state_ = object_ ? State::in_object : State::in_events;
      return next();
    case State::in_object: return next_in_object();
    case State::in_events: return next_in_events();
    case State::after: break;
  }
  while (at_ < end_ || more()) {
    if (!is_space(buffer_[at_])) unexpected("nothing after the end of the JSON");
    ++at_;
  }
  item_size_ = 0;
  return Item::end;
}

EventStream::Item EventStream::next_in_object() {
  if (peek() == '}') {
    ++at_;
    if (!found_) source_.fail(base_ + at_, "the object ends without '" + key_ + "'");
    state_ = State::after;
    return next();
  }
  if (!first_) expect(',', "',' or '}'");
  first_ = false;
  if (peek() != '"') unexpected("the name of a member");
  take_value();
  name_ = std::string(text().substr(1, item_size_ - 2));
  expect(':', "':'");
  if (name_ == key_) {
    if (found_) source_.fail(base_ + at_, "a second '" + key_ + "'");
    expect('[', "an array of events");
    found_ = true;
    state_ = State::in_events;
    first_ = true;
    return next_in_events();
  }
  take_value();
  return Item::member;
}

EventStream::Item EventStream::next_in_events() {
  if (peek() == ']') {
    ++at_;
    state_ = object_ ? State::in_object : State::after;
    first_ = false;
    return next();
  }
  if (!first_) {
    expect(',', "',' or ']'");
    // Chrome's own reader accepts a comma after the last event, and some writers leave one there.
    if (peek() == ']') return next_in_events();
  }
  first_ = false;
  take_value();
  return Item::event;
}

}  // namespace benanza::profile
