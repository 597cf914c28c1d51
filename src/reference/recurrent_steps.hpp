// SPDX-License-Identifier: Apache-2.0
// recurrent_steps: what a recurrent layer stores about its steps in training.
#pragma once

#include <benanza/op/recurrent.hpp>

#include <span>
#include <vector>

namespace benanza::reference {

/// Row-major: for each step, direction and image the values of the gates and, for an LSTM, of the cell, in the order in
/// which op::RecurrentGradient reads them. `gates` is empty for an RNN, `c` for all but LSTM.
struct RecurrentSteps {
  std::vector<double> gates{}, c{};
};

/// `inputs` are the layer's inputs. The layer has no peepholes, and the batch is not first in memory.
[[nodiscard]] RecurrentSteps recurrent_steps(const op::Recurrent& layer, std::span<const void* const> inputs);

}  // namespace benanza::reference
