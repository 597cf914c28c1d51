// SPDX-License-Identifier: Apache-2.0
// A batch size that an exporter froze. Exporters trace a model with one batch size and write that size (mostly 1, or a
// product with it) into Reshape targets and constants. To change these, the graph is traversed with the requested
// batch, replacing each frozen number. At the first node that may have one, it is traversed with the file's own batch,
// to find where that occurs.
#pragma once

#include <benanza/model/graph.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace benanza::importer {

using Dims = std::vector<std::int64_t>;

/// What was known about a value in the pass with the file's own batch.
struct PastValue {
  Dims dims{};
  std::optional<std::vector<std::int64_t>> ints{};
};

/// By body (any pointer that identifies it), then by value name.
using History = std::unordered_map<const void*, std::unordered_map<std::string, PastValue>>;

/// A history that is made when it is first asked for, since that takes as long as an import. Graphs that are made from
/// one file share it.
class LazyHistory {
 public:
  using Shared = std::shared_ptr<const History>;
  explicit LazyHistory(std::function<Shared()> make) : make_(std::move(make)) {}
  [[nodiscard]] const History& get() {
    if (!made_) made_ = make_();
    return *made_;
  }

 private:
  std::function<Shared()> make_;
  Shared made_{};
};

/// Reshape's target with -1 and 0 resolved. Throws InputError if the numbers of elements do not match.
[[nodiscard]] Dims resolved_target(const Dims& x, const Dims& target, bool allow_zero);

/// The position of the batch in a value: the number of elements of the same axis outside of it.
/// 197 for [197 * batch, 768].
using Within = std::int64_t;

struct Rebatched {
  Dims dims{};
  Within within = 1;
};

/// Shapes that a frozen Reshape may give to x: its old result with the batch at positions that row-major order allows,
/// the most likely first. None if x has not changed, or has changed in more than one dimension.
[[nodiscard]] std::vector<Rebatched> rebatched_targets(const Dims& old_x, const Dims& x, Within within,
                                                       std::int64_t old_batch, const Dims& old_y, const Dims& target);

/// The one axis in which a value differs from what it was; empty if there is none or more than one.
[[nodiscard]] std::optional<std::size_t> changed_axis(const Dims& old_dims, const Dims& dims);

}  // namespace benanza::importer
