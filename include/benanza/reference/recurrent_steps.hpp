// SPDX-License-Identifier: Apache-2.0
// recurrent_steps: what a recurrent layer keeps of its steps in training.
#pragma once

#include <benanza/op/recurrent.hpp>

#include <span>
#include <vector>

namespace benanza::reference {

/// Row-major: of each step, direction and image the gates' values and, of an LSTM, the cell's, in the order in which
/// op::RecurrentGradient reads them. `gates` is empty for an RNN, `c` for all but LSTM.
struct RecurrentSteps {
  std::vector<double> gates{}, c{};
};

/// `inputs` are those of the layer, which has neither peepholes nor the batch first in memory.
[[nodiscard]] RecurrentSteps recurrent_steps(const op::Recurrent& layer, std::span<const void* const> inputs);

}  // namespace benanza::reference
