// SPDX-License-Identifier: Apache-2.0
// largest_batch: the number of inputs that fit into a memory at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace benanza::tool {

/// `80GB`, `16GiB`, `512MB`, `4096`. Throws UsageError.
[[nodiscard]] double parse_bytes(const std::string& option, const std::string& text);

/// The peak of a model's memory at a batch.
struct PeakAt {
  std::int64_t batch = 1;
  double bytes = 0;
  double fixed = 0;  ///< the part of `bytes` that does not depend on the batch, as far as it is known
};

/// The largest batch of at least 1 whose peak is at most `capacity`; 0 if not even one input fits; empty if the batch
/// does not change the peak, or if the model cannot have another batch. `peak` must increase with the batch. It is
/// called few times, and not for the batch that is `known`, since it may take long.
[[nodiscard]] std::optional<std::int64_t> largest_batch(double capacity, const PeakAt& known,
                                                        const std::function<double(std::int64_t)>& peak);

}  // namespace benanza::tool
