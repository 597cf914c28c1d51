// SPDX-License-Identifier: Apache-2.0
// oneDNN (3.2 or later) on the CPU: every algorithm, implementation and activation layout that it offers for a layer,
// except its reference implementations, which take seconds and bound nothing.
#pragma once

#include <memory>

namespace benanza {
class Backend;
}

namespace benanza::onednn {

/// Its plans run on the threads of GNU OpenMP. A plan remembers the buffers of its last call, so that calls with the
/// same buffers cost least; it must not be executed from two threads at once.
[[nodiscard]] std::shared_ptr<const Backend> backend();

}  // namespace benanza::onednn
