// SPDX-License-Identifier: Apache-2.0
// OpenBLAS: a second library for f32 matrix products on the CPU.
#pragma once

#include <memory>

namespace benanza {
class Backend;
}

namespace benanza::openblas {

/// Its plans run on the OpenMP threads that oneDNN uses, so that no second runtime's threads spin inside a timed
/// region.
[[nodiscard]] std::shared_ptr<const Backend> backend();

}  // namespace benanza::openblas
