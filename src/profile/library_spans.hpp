// SPDX-License-Identifier: Apache-2.0
// LibrarySpans: when the host's threads were in calls of vendor libraries, and which calls surround a moment.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::profile {

/// A call of a vendor library.
struct LibrarySpan {
  std::int64_t start = 0, end = 0;  ///< ns
  std::string library{};            ///< cudnn, cublas
  std::string function{};           ///< cudnnConvolutionForward ...
};

/// The library of a function by its name: `cublas` of `cublasSgemm_v2`; empty for other functions.
[[nodiscard]] std::string library_of_function(const std::string& function);

class LibrarySpans {
 public:
  void add(std::int64_t thread, LibrarySpan span) { by_thread_[thread].push_back(std::move(span)); }
  /// To be called after all spans are added: a call inside another one is merged into the outer one.
  void finish();

  /// The call that the thread is in at that moment; null if it is in none.
  [[nodiscard]] const LibrarySpan* inside(std::int64_t thread, std::int64_t moment) const;
  /// The calls before and after a moment that is not inside a call; null if there is none.
  [[nodiscard]] std::pair<const LibrarySpan*, const LibrarySpan*> around(std::int64_t thread,
                                                                         std::int64_t moment) const;

 private:
  std::map<std::int64_t, std::vector<LibrarySpan>> by_thread_{};
};

}  // namespace benanza::profile
