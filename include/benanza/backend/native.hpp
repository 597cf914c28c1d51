// SPDX-License-Identifier: Apache-2.0
// native: Benanza's own CPU kernels for layers that no library offers, or runs badly: element-wise chains with
// broadcasting in one pass, reductions, normalisations, movement of elements of any size, resizing, casts, attention.
// Vectorised for the widest instruction set that the processor has (chosen at run time), threaded by a bound pool, with
// non-temporal stores as a candidate where results outgrow the caches.
#pragma once

#include <memory>

namespace benanza {
class Backend;
}

namespace benanza::native {

/// Each instance owns one ThreadPool over `cpus()`, started with the first plan of more than one thread and asleep
/// between calls. A plan may be executed from several threads; their calls follow one another where they use more than
/// one thread themselves.
[[nodiscard]] std::shared_ptr<const Backend> backend();

}  // namespace benanza::native
