// SPDX-License-Identifier: Apache-2.0
// cuDNN 9 on an NVIDIA GPU: the legacy calls with every forward algorithm by name, as in the paper, and every plan that
// its graph API lists for modes A, B and fallback, with the plan's tag (engine and knobs) as the algorithm's name. A
// graph plan is finalised when it is tried. The library is loaded when it is first used.
#pragma once

#include <memory>

namespace benanza {
class Backend;
}

namespace benanza::cudnn {

/// On `cuda::device()`.
[[nodiscard]] std::shared_ptr<const Backend> backend();

}  // namespace benanza::cudnn
