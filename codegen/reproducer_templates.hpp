// SPDX-License-Identifier: Apache-2.0
// The text of reproducers, embedded from the files `reproducer_<library>.cpp.txt` beside this one.
#pragma once

#include <string_view>

namespace benanza::codegen {

extern const std::string_view reproducer_onednn, reproducer_cuda, reproducer_cublaslt, reproducer_cudnn,
    reproducer_cudnn_graph;

}  // namespace benanza::codegen
