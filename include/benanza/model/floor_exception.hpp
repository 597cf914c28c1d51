// SPDX-License-Identifier: Apache-2.0
// FloorException: work that the floors of a model count, although an engine can avoid it.
#pragma once

#include <benanza/model/units.hpp>

#include <string>

namespace benanza {

/// Floors do not trace this. They may be too high by at most these amounts, in all passes together.
struct FloorException {
  std::string node{};  ///< the node whose work is counted
  std::string kind{};  ///< why: "its weights and those of 'x' can be multiplied in advance"
  Flops flops{};
  Bytes bytes{};
};

}  // namespace benanza
