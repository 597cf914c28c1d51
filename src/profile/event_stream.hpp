// SPDX-License-Identifier: Apache-2.0
// EventStream: the elements of a huge JSON array, one by one, in memory that does not grow with the file. The file is a
// bare array, or an object with the array under a key (`traceEvents`). The stream only finds where elements end
// (brackets outside strings); parsing their content is left to the reader.
#pragma once

#include "source.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace benanza::profile {

class EventStream {
 public:
  /// The elements of the array; of the array under `key` if the file is an object.
  EventStream(Source& source, std::string_view key);

  enum class Item : std::uint8_t {
    event,   ///< an element of the array
    member,  ///< another member of the object: name() and text()
    end
  };
  /// Throws InputError with the byte offset if the file ends too early or is not JSON of this form.
  [[nodiscard]] Item next();

  /// JSON of the last item, valid until the next call; the `padding` bytes after it may be read, too.
  [[nodiscard]] std::string_view text() const { return {buffer_.get() + item_, item_size_}; }
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::uint64_t position() const { return base_ + item_; }

  static constexpr std::size_t padding = 64;

 private:
  enum class State : std::uint8_t { start, in_object, in_events, after };

  bool more();
  char peek();
  void expect(char wanted, const char* where);
  void take_value();
  void take_bracketed();
  void take_string();
  Item next_in_object();
  Item next_in_events();
  [[noreturn]] void cut_off();
  [[noreturn]] void unexpected(const char* expected);

  Source& source_;
  std::string key_, name_{};
  State state_ = State::start;
  bool object_ = false, first_ = true, found_ = false;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_;
  std::size_t at_ = 0, end_ = 0;  // unread bytes of the buffer
  std::size_t item_ = 0, item_size_ = 0;
  bool in_item_ = false;
  std::uint64_t base_ = 0;  // byte of the file at which the buffer begins
};

}  // namespace benanza::profile
