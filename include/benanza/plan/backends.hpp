// SPDX-License-Identifier: Apache-2.0
// The backends that this Benanza was built with.
#pragma once

#include <benanza/plan/backend.hpp>

#include <memory>
#include <vector>

namespace benanza::bench {

/// One of each, in the order of BENANZA_BACKENDS in CMakeLists.txt. The reference is not among them: it checks results
/// and is never measured.
[[nodiscard]] std::vector<std::shared_ptr<const Backend>> all_backends();

}  // namespace benanza::bench
