// SPDX-License-Identifier: Apache-2.0
// EventStream: the elements of a huge JSON array, one by one, in memory that does not grow with the file. The file is a
// bare array, or an object with the array under a key (`traceEvents`, `benchmarks`). The stream only finds where
// elements end (brackets outside strings); parsing their content is left to the reader. An element without an end, such
// as a torn line, is left out: the next one begins where the text is as at the beginning of the first element.
#pragma once

#include <benanza/results/detail/source.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace benanza::results {

class EventStream {
 public:
  static constexpr std::size_t padding = 64;
  static constexpr std::size_t usual_longest = std::size_t{1} << 26;

  /// The elements of the array; of the array under `key` if the file is an object. `longest`: the most bytes of one.
  EventStream(Source& source, std::string_view key, std::size_t longest = usual_longest);

  /// Has an object that ends in its array end with a warning too: its whole elements are of use without the others.
  void accept_cut_object() { may_be_cut_ = true; }

  enum class Item : std::uint8_t {
    event,   ///< an element of the array
    member,  ///< another member of the object: name() and text()
    end
  };
  /// Throws InputError with the byte offset if the file is not JSON of this form, or if an object ends too early. A
  /// bare array may end anywhere after its first element, with a warning: what writes it may be killed, and the format
  /// allows it.
  [[nodiscard]] Item next();

  /// JSON of the last item, valid until the next call; the `padding` bytes after it may be read, too.
  [[nodiscard]] std::string_view text() const { return {buffer_.get() + item_, item_size_}; }
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::uint64_t position() const { return base_ + item_; }

 private:
  enum class State : std::uint8_t { start, in_object, in_events, after };
  enum class Scan : std::uint8_t { whole, broken, cut };

  bool more();
  bool seek();
  char peek();
  void expect(char wanted, const char* where);
  Scan take_value();
  Scan take_bracketed();
  Scan take_string();
  Scan broken(std::string why);
  [[nodiscard]] bool may_open() const;
  void set_mark();
  bool find_next_event();
  bool find_key();
  bool is_stray_bracket();
  Item next_in_object();
  Item next_in_events();
  Item end_of_file();
  Item end();
  [[noreturn]] void cut_off();
  [[noreturn]] void unexpected(const char* expected);
  [[nodiscard]] std::string found(const char* expected) const;

  Source& source_;
  std::string key_, name_{};
  std::size_t longest_;
  State state_ = State::start;
  bool object_ = false, first_ = true, found_ = false, separated_ = true, may_be_cut_ = false;
  std::size_t events_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_;
  std::size_t at_ = 0, end_ = 0;  // unread bytes of the buffer
  std::size_t item_ = 0, item_size_ = 0;
  bool in_item_ = false;
  std::uint64_t base_ = 0;    // byte of the file at which the buffer begins
  std::string open_{};        // the brackets of the item that are open
  std::string why_{};         // why the item is broken
  std::string mark_{};        // how an element begins: its line up to the first key
  std::uint64_t reread_ = 0;  // bytes of broken elements, which are searched once more
};

}  // namespace benanza::results
