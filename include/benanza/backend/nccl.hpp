// SPDX-License-Identifier: Apache-2.0
// nccl: collectives of the NVIDIA GPUs of one machine with NCCL 2: one process, with a communicator and a stream for
// each GPU that CUDA_VISIBLE_DEVICES allows. The first GPU is timed. The library is loaded when it is first used.
#pragma once

#include <memory>

namespace benanza {
class Backend;
}

namespace benanza::nccl {

/// On `cuda::device()` and the other visible devices.
[[nodiscard]] std::shared_ptr<const Backend> backend();

}  // namespace benanza::nccl
