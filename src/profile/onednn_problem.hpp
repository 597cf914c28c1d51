// SPDX-License-Identifier: Apache-2.0
// The operands of a oneDNN primitive, from the problem and the memory descriptors in a line of its log.
#pragma once

#include <benanza/profile/engine_profile.hpp>

#include <string_view>

namespace benanza::profile {

/// Sets the inputs and outputs of a record to the extent that the problem describes them:
/// `mb1_ic3oc64_ih224oh112kh7sh2dh0ph3_...` of convolutions, inner products and pooling, `MxK:KxN` of products, `AxBxC`
/// of the rest. Sizes are those of the problem, types those of `src_f32::blocked:abcd:f0` (version 0) or
/// `src:f32::blocked:abcd::f0` (version 1).
void set_tensors(ProfileRecord& record, std::string_view primitive, std::string_view memory, std::string_view problem);

}  // namespace benanza::profile
