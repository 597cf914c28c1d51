// SPDX-License-Identifier: Apache-2.0
// Folding of leading dimensions, shared with the reproducers, which must fold in the same way.
#pragma once

#include <benanza/base/detail/fold_leading.hpp>

namespace benanza::onednn {

using benanza::detail::fold_leading;

}  // namespace benanza::onednn
