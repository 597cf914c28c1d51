// SPDX-License-Identifier: Apache-2.0
// native: Benanza's own CPU kernels for layers that no library offers, or that libraries run badly: element-wise chains
// with broadcasting in one pass, reductions, normalisations, movement of elements of any size, resizing, casts,
// attention. They are vectorised for the widest instruction set of the processor, which is chosen at run time. They run
// on a pool of bound threads. If results outgrow the caches, plans with non-temporal stores are candidates too.
#pragma once

#include <memory>

namespace benanza {
class Backend;
}

namespace benanza::native {

/// Each instance owns one ThreadPool over `cpus()`. The pool starts with the first plan of more than one thread and
/// sleeps between calls. A plan may be executed from several threads; calls that use more than one thread themselves
/// run one after another.
[[nodiscard]] std::shared_ptr<const Backend> backend();

}  // namespace benanza::native
