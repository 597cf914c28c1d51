// SPDX-License-Identifier: Apache-2.0
// The backends that this Benanza was built with, and those that it was built without.
#pragma once

#include <benanza/plan/backend.hpp>

#include <memory>
#include <string>
#include <vector>

namespace benanza::plan {

/// One of each, in the order of BENANZA_BACKENDS in CMakeLists.txt. The reference is not among them: it checks results
/// and is never measured.
[[nodiscard]] std::vector<std::shared_ptr<const Backend>> all_backends();

/// A backend that this Benanza has, but was built without.
struct AbsentBackend {
  std::string name{};
  std::string needs{};       ///< what a build with it needs: `the CUDA toolkit and cuDNN 9`, `BENANZA_CUDNN=ON`
  bool on_device = false;    ///< it runs on an accelerator
  bool collectives = false;  ///< it only runs collectives, which no model has
};

/// Those in `benanza_optional_backend` in CMakeLists.txt that this build lacks, in the same order.
[[nodiscard]] std::vector<AbsentBackend> absent_backends();

}  // namespace benanza::plan
