// SPDX-License-Identifier: Apache-2.0
// DeadWork: arithmetic of a model that none of its outputs needs.
#pragma once

#include <benanza/model/units.hpp>

#include <string>
#include <vector>

namespace benanza {

struct DeadWork {
  std::vector<std::string> readers{};  ///< readers of only a part: `'Slice_7' (Slice) reads 1 of 197 along axis 1`
  std::vector<std::string> nodes{};    ///< nodes that compute more than is read
  Flops flops{};                       ///< sum over all passes
};

}  // namespace benanza
