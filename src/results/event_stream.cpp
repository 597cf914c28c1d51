// SPDX-License-Identifier: Apache-2.0
#include <benanza/error.hpp>
#include <benanza/results/detail/event_stream.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace benanza::results {

namespace {

constexpr std::size_t first_capacity = std::size_t{1} << 22;
constexpr std::size_t deepest = 1000;                          // simdjson's own limit is 1024
constexpr std::uint64_t most_reread = std::uint64_t{1} << 30;  // a second or two

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

EventStream::EventStream(Source& source, std::string_view key, std::size_t longest)
    : source_(source),
      key_(key),
      longest_(longest),
      buffer_(new char[first_capacity + padding]),
      capacity_(first_capacity) {}

void EventStream::cut_off() {
  source_.fail(base_ + end_, found_ || object_ || state_ != State::start
                                 ? "the file ends in the middle of the JSON: it was cut off"
                                 : "the file is empty");
}

std::string EventStream::found(const char* expected) const {
  return "found '" + std::string(1, buffer_[at_]) + "', expected " + expected;
}

void EventStream::unexpected(const char* expected) { source_.fail(base_ + at_, found(expected)); }

EventStream::Scan EventStream::broken(std::string why) {
  why_ = std::move(why);
  return Scan::broken;
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

/// Goes to the next byte that is not whitespace. Returns false at the end.
bool EventStream::seek() {
  while (true) {
    while (at_ < end_ && is_space(buffer_[at_])) ++at_;
    if (at_ < end_) return true;
    if (!more()) return false;
  }
}

char EventStream::peek() {
  if (!seek()) cut_off();
  return buffer_[at_];
}

void EventStream::expect(char wanted, const char* where) {
  if (peek() != wanted) unexpected(where);
  ++at_;
}

EventStream::Scan EventStream::take_string() {
  std::size_t end = ++at_;
  while (true) {
    while (end < end_ && buffer_[end] != '"' && buffer_[end] != '\n') ++end;
    if (end < end_ && buffer_[end] == '\n') return broken("a string that does not end in its line");
    if (end == end_) {
      if (end_ - item_ > longest_) return broken("one element takes more than " + std::to_string(longest_) + " bytes");
      const std::size_t before = at_ - item_, scanned = end - item_;
      if (!more()) return Scan::cut;
      at_ = item_ + before;
      end = item_ + scanned;
      continue;
    }
    std::size_t backslashes = 0;
    while (end - backslashes > at_ && buffer_[end - backslashes - 1] == '\\') ++backslashes;
    at_ = ++end;
    if (backslashes % 2 == 0) return Scan::whole;
  }
}

/// Whether a bracket may be here: in an object after a colon, in an array as its first element or after a comma, but
/// not where a line begins like an element.
bool EventStream::may_open() const {
  std::size_t before = at_;
  while (before > item_ && is_space(buffer_[before - 1])) --before;
  const char last = before > item_ ? buffer_[before - 1] : '\0';
  if (open_.back() == '{') return last == ':';
  if (last != '[' && last != ',') return false;
  const auto brace = mark_.find('{');
  return mark_.empty() || mark_[0] != '\n' || at_ < item_ + brace || end_ - at_ < mark_.size() - brace ||
         std::memcmp(buffer_.get() + at_ - brace, mark_.data(), mark_.size()) != 0;
}

EventStream::Scan EventStream::take_bracketed() {
  open_.clear();
  while (true) {
    while (at_ < end_ && structure[static_cast<unsigned char>(buffer_[at_])] == 0) ++at_;
    if (at_ == end_) {
      if (end_ - item_ > longest_) return broken("one element takes more than " + std::to_string(longest_) + " bytes");
      if (!more()) return Scan::cut;
      continue;
    }
    const char c = buffer_[at_];
    switch (structure[static_cast<unsigned char>(c)]) {
      case 1:
        if (!open_.empty() && !may_open()) return broken(found("the end of this element"));
        if (open_.size() == deepest) return broken("nested more than " + std::to_string(deepest) + " deep");
        open_ += c;
        ++at_;
        break;
      case 2:
        if (open_.back() != (c == '}' ? '{' : '[')) return broken(found("another bracket"));
        ++at_;
        open_.pop_back();
        if (open_.empty()) return Scan::whole;
        break;
      default:
        if (const Scan scan = take_string(); scan != Scan::whole) return scan;
    }
  }
}

/// Makes the value that begins here the current item.
EventStream::Scan EventStream::take_value() {
  const char first = peek();
  item_ = at_;
  in_item_ = true;
  Scan scan = Scan::whole;
  if (first == '{' || first == '[') scan = take_bracketed();
  else if (first == '"') scan = take_string();
  else if (first != '-' && first != 't' && first != 'f' && first != 'n' && first != 'N' && first != 'I' &&
           (first < '0' || first > '9'))
    scan = broken(found("a JSON value"));
  else {
    while (scan == Scan::whole) {
      while (at_ < end_ && !is_space(buffer_[at_]) && buffer_[at_] != ',' && buffer_[at_] != '}' && buffer_[at_] != ']')
        ++at_;
      if (at_ < end_) break;
      if (!more()) scan = Scan::cut;
    }
  }
  if (scan == Scan::whole) {
    in_item_ = false;
    item_size_ = at_ - item_;
  } else {
    reread_ += at_ - item_;
  }
  return scan;
}

/// Remembers how the element that begins here does.
void EventStream::set_mark() {
  if (!mark_.empty() || buffer_[at_] != '{') return;
  std::size_t from = at_, key = at_ + 1;
  while (from > 0 && (buffer_[from - 1] == ' ' || buffer_[from - 1] == '\t')) --from;
  from = from > 0 && buffer_[from - 1] == '\n' ? from - 1 : at_;
  while (key < end_ && is_space(buffer_[key])) ++key;
  if (key == end_ || buffer_[key] != '"') return;
  const std::string_view rest(buffer_.get() + key + 1, end_ - key - 1);
  const auto length = rest.substr(0, 64).find('"');  // no writer's first key is longer
  if (length != std::string_view::npos) mark_.assign(buffer_.get() + from, key + 2 + length - from);
}

/// Goes on from the second byte of a broken element to the next one. Returns false if there is none.
bool EventStream::find_next_event() {
  if (reread_ > most_reread) source_.fail(base_ + item_, "too much of the file is no JSON");
  at_ = item_ + 1;
  in_item_ = false;
  const std::string mark = mark_.empty() ? "{" : mark_;
  while (true) {
    const std::string_view rest(buffer_.get() + at_, end_ - at_);
    if (const auto next = rest.find(mark); next != std::string_view::npos) {
      at_ += next + mark.find('{');
      separated_ = true;
      return true;
    }
    at_ = std::max(at_, end_ - std::min(end_, mark.size() - 1));
    if (!more()) return false;
  }
}

/// Goes on from the broken member to the array. Returns false if it is not there.
bool EventStream::find_key() {
  at_ = in_item_ ? item_ : at_;
  in_item_ = false;
  const std::string wanted = "\"" + key_ + "\"";
  while (true) {
    const std::string_view rest(buffer_.get() + at_, end_ - at_);
    if (const auto next = rest.find(wanted); next != std::string_view::npos) {
      at_ += next + wanted.size();
      if (!seek() || buffer_[at_] != ':') continue;
      ++at_;
      if (!seek() || buffer_[at_] != '[') continue;
      ++at_;
      return true;
    }
    at_ = std::max(at_, end_ - std::min(end_, wanted.size() - 1));
    if (!more()) return false;
  }
}

EventStream::Item EventStream::end() {
  state_ = State::after;
  in_item_ = false;
  item_size_ = 0;
  if (events_ == 0 && source_.left_out() > 0) throw InputError(source_.first_left_out());
  return Item::end;
}

/// The file ends after whole elements, or in one that began at the current item.
EventStream::Item EventStream::end_of_file() {
  if ((object_ && !may_be_cut_) || events_ == 0) {
    if (source_.left_out() > 0 && !in_item_ && events_ == 0) return end();  // which says why
    cut_off();
  }
  source_.warn(base_ + end_, std::string("the array has no end") +
                                 (in_item_ ? ", and its last record is cut off: it is left out"
                                           : ": what was still to be written is missing") +
                                 "; whole records: " + std::to_string(events_));
  at_ = end_;
  return end();
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
    case State::in_object: try { return next_in_object();
      } catch (const InputError& error) {
        if (state_ != State::in_object) throw;
        if (!found_ && !find_key()) throw;
        source_.warn(base_ + at_, std::string("a member of the object is no JSON and is left out: ") + error.what());
        if (found_) return end();
        found_ = true;
        state_ = State::in_events;
        first_ = true;
        return next_in_events();
      }
    case State::in_events: return next_in_events();
    case State::after: break;
  }
  return end();
}

EventStream::Item EventStream::next_in_object() {
  if (found_ && !seek()) {
    source_.warn(base_ + end_, "the object has no end: what was still to be written is missing");
    return end();
  }
  if (peek() == '}') {
    ++at_;
    state_ = State::after;
    if (!found_) source_.fail(base_ + at_, "the object ends without '" + key_ + "'");
    if (seek()) {
      if (buffer_[at_] == '{' || buffer_[at_] == '[')
        source_.fail(base_ + at_, "more text after the end of the document: two documents in one file");
      source_.warn(base_ + at_, "the text after the end of the JSON is left out");
    }
    return end();
  }
  if (!first_) expect(',', "',' or '}'");
  first_ = false;
  const auto value = [this] {
    if (const Scan scan = take_value(); scan == Scan::cut) cut_off();
    else if (scan == Scan::broken) source_.fail(base_ + at_, why_);
  };
  if (peek() != '"') unexpected("the name of a member");
  value();
  name_ = std::string(text().substr(1, item_size_ - 2));
  expect(':', "':'");
  if (name_ == key_) {
    if (found_) {
      state_ = State::after;
      source_.fail(base_ + at_, "a second '" + key_ + "'");
    }
    if (peek() != '[') {
      state_ = State::after;
      unexpected("an array of events");
    }
    ++at_;
    found_ = true;
    state_ = State::in_events;
    first_ = true;
    return next_in_events();
  }
  value();
  return Item::member;
}

/// Whether the bracket before the current position ended the array too early: another element follows.
bool EventStream::is_stray_bracket() {
  if (!seek()) return false;
  if (buffer_[at_] == '{') return !mark_.empty() && (!object_ || mark_[0] == '\n');
  if (buffer_[at_] != ',') return false;
  std::size_t next = at_ + 1;
  while (next < end_ && is_space(buffer_[next])) ++next;
  if (next == end_ || buffer_[next] != '{') return false;
  at_ = next;
  return true;
}

EventStream::Item EventStream::next_in_events() {
  while (seek()) {
    const char c = buffer_[at_];
    if (c == ',') {  // Chrome's own reader accepts a comma after the last event, and some writers leave one there
      ++at_;
      separated_ = true;
      continue;
    }
    if (c == ']') {
      const std::uint64_t bracket = base_ + at_++;
      if (events_ > 0 && is_stray_bracket()) {
        source_.warn(bracket, "found ']' between two records");
        separated_ = true;
        continue;
      }
      if (object_) {
        state_ = State::in_object;
        first_ = false;
        return next();
      }
      state_ = State::after;
      if (seek()) {
        if (buffer_[at_] == '{' || buffer_[at_] == '[')
          source_.fail(base_ + at_, "more text after the end of the document: two documents in one file");
        source_.warn(base_ + at_, "the text after the end of the JSON is left out");
      }
      return end();
    }
    if (!first_ && !std::exchange(separated_, false)) {
      if (c == '{') source_.warn(base_ + at_, "found '{', expected ',' or ']'");
      else {
        source_.leave_out(base_ + at_, found("',' or ']'"));
        item_ = at_;
        if (!find_next_event()) return end();
        continue;
      }
    }
    first_ = false;
    set_mark();
    const Scan scan = take_value();
    separated_ = false;
    if (scan == Scan::whole) {
      ++events_;
      return Item::event;
    }
    // An element without an end may reach up to the end of the file, over others.
    const std::uint64_t position = base_ + item_;
    const bool more_events = find_next_event();
    in_item_ = !more_events && scan == Scan::cut;
    if (in_item_) return end_of_file();
    source_.leave_out(position, scan == Scan::broken ? why_ : "a record that does not end");
    if (!more_events) return end();
  }
  return end_of_file();
}

}  // namespace benanza::results
