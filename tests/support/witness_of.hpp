// SPDX-License-Identifier: Apache-2.0
// The witness of a model that is given as text, with rows that were not measured and random weights.
#pragma once

#include "execution/make_witness.hpp"
#include "support/onnx_text.hpp"
#include "support/witness_rows.hpp"
#include <benanza/session/backends.hpp>

#include <string>

namespace benanza::testing {

/// `only_in_place` means the same as for `rows_for`.
inline Witness witness_of(const std::string& model, bool only_in_place = false) {
  const auto backends = usable_backends();
  const Graph graph = import_text(model, {.executable = true});
  return make_witness(graph, rows_for(graph, backends, only_in_place),
                      {.backends = backends, .budget = {0.01}, .weight_seed = 7});
}

}  // namespace benanza::testing
