// SPDX-License-Identifier: Apache-2.0
// nothing: a library that can run no layer.
#pragma once

#include <memory>

namespace benanza {
class Backend;
}

namespace benanza::nothing {

[[nodiscard]] std::shared_ptr<const Backend> backend();

}  // namespace benanza::nothing
