// SPDX-License-Identifier: Apache-2.0
// ApiLog: the records of the logs that cuDNN and cuBLAS write: `I! <library> (v<version>) function <name>() called:`,
// one line for each parameter after `i!` (nested by indentation), and a trailer with time, process and thread. Threads
// write line by line: the records of two threads may interleave, and nothing before the trailer says to which thread a
// line belongs.
#pragma once

#include "source.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::profile {

struct ApiRecord {
  std::string function{};      ///< `cudnnConvolutionForward`, `cublasSgemm_v2`
  std::uint64_t position = 0;  ///< where its first line starts
  std::string thread{};        ///< Thread of its trailer, if it has one
  std::string math{};          ///< MathMode of its trailer, if it has one
  /// Name and value; a name within a descriptor is preceded by the descriptor's: `xDesc.dimA`.
  std::vector<std::pair<std::string, std::string>> parameters{};
  /// Lines of another thread's record are between its own, and the values cannot be told apart.
  bool uncertain = false;

  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  /// An integer; empty if the value is something else.
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;
  /// `[32,3,230,230]`; empty if it is absent or something else.
  [[nodiscard]] std::vector<std::int64_t> list(std::string_view name) const;
  /// An enumerator without its number: `CUDNN_DATA_FLOAT` of `CUDNN_DATA_FLOAT (0)`; empty if it is absent.
  [[nodiscard]] std::string_view word(std::string_view name) const;
};

struct ApiLog {
  std::string version{};                ///< in the log's spelling, without `v`: `7603`, `10.1`, `91002 17`
  std::vector<std::string> warnings{};  ///< about records that are cut off
};

/// Passes each record whose function is `wanted` to `take`, in the order in which they end. Other records cost little.
/// Throws InputError with the byte offset for a line that belongs to no record.
[[nodiscard]] ApiLog read_api_log(Source& source, const std::function<bool(std::string_view)>& wanted,
                                  const std::function<void(ApiRecord&&)>& take);

/// Whether a text starts like a log of that library: `I! CuDNN (v`.
[[nodiscard]] bool is_api_log(std::string_view head, std::string_view library);

}  // namespace benanza::profile
