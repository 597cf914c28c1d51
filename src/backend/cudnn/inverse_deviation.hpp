// SPDX-License-Identifier: Apache-2.0
// put_inverse_deviation: cuDNN's forward pass saves the inverse deviation, and its gradients take a variance in that
// form.
#pragma once

#include "candidates.hpp"
#include <benanza/plan/element.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace benanza::cudnn {

/// The epsilon with which normalisations are measured.
inline constexpr double measured_epsilon = 1e-5;

/// Converts input `i`, a variance of `count` statistics in f32.
inline void put_inverse_deviation(Draft& draft, std::size_t i, std::int64_t count) {
  draft.inputs.emplace_back(
      i, OtherLayout{{.name = "inverse_deviation", .bytes = static_cast<std::size_t>(count) * sizeof(float)},
                     [count](const void* from, void* to) {
                       for (std::int64_t k = 0; k < count; ++k)
                         store(to, DataType::f32, k, 1 / std::sqrt(load(from, DataType::f32, k) + measured_epsilon));
                     }});
}

}  // namespace benanza::cudnn
