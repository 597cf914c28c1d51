// SPDX-License-Identifier: Apache-2.0
// A batch that an exporter froze. Exporters trace a model at one batch size and write that size (mostly 1, or a product
// with it) into Reshape targets and constants. So that another batch reaches them, the graph is walked twice: at the
// file's own batch, to learn where it stands, and at the wanted one, where each frozen number is replaced.
#pragma once

#include <benanza/model/graph.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza::importer {

using Dims = std::vector<std::int64_t>;

/// What was known of a value in the walk at the file's own batch.
struct PastValue {
  Dims dims{};
  std::optional<std::vector<std::int64_t>> ints{};
};

/// By body (any pointer that names it) and value name.
using History = std::map<std::pair<const void*, std::string>, PastValue>;

/// Where Reshape's target stands for -1 and 0; throws InputError when the elements do not multiply out.
[[nodiscard]] Dims resolved_target(const Dims& x, const Dims& target, bool allow_zero);

/// Where the batch stands in a value: elements of the same axis that lie outside of it. 197 for [197 * batch, 768].
using Within = std::int64_t;

struct Rebatched {
  Dims dims{};
  Within within = 1;
};

/// Shapes that a frozen Reshape may give to x: its old result with the batch put where row-major order allows it, the
/// likeliest first. None when x has not changed, or in more than one dimension.
[[nodiscard]] std::vector<Rebatched> rebatched_targets(const Dims& old_x, const Dims& x, Within within,
                                                       std::int64_t old_batch, const Dims& old_y, const Dims& target);

/// The one axis in which a value differs from what it was; nothing when there is none or more than one.
[[nodiscard]] std::optional<std::size_t> changed_axis(const Dims& old_dims, const Dims& dims);

}  // namespace benanza::importer
