// SPDX-License-Identifier: Apache-2.0
// What convolutions of 8-bit integers share: their types, and the conversion of sums to results.
#pragma once

#include "launch.cuh"

namespace benanza::cuda {

template <class Y, int n>
__device__ void store_sums(Y* to, const std::int32_t (&sum)[n], const IntegerWindows& windows) {
  if constexpr (std::is_same_v<Y, std::int32_t>) {
    for (int j = 0; j < n; ++j) to[j] = windows.relu ? max(sum[j], 0) : sum[j];
  } else {
    float value[n];
    for (int j = 0; j < n; ++j) {
      value[j] = static_cast<float>(sum[j]) * windows.rescale;
      if (windows.relu) value[j] = fmaxf(value[j], 0.0F);
    }
    store(to, value);
  }
}

template <class Body>
void with_integer(Element element, const Body& body) {
  if (element == Element::u8) body(std::uint8_t{});
  else body(std::int8_t{});
}
template <class Body>
void with_result(IntegerResult result, const Body& body) {
  switch (result) {
    case IntegerResult::i8: return body(std::int8_t{});
    case IntegerResult::u8: return body(std::uint8_t{});
    case IntegerResult::i32: return body(std::int32_t{});
    case IntegerResult::f32: return body(float{});
  }
}

}  // namespace benanza::cuda
