// SPDX-License-Identifier: Apache-2.0
// The functions that headers only declare for code that links this library (benanza/detail/compiled.hpp).
#define BENANZA_INLINE

#include <benanza/model/detail/layer.hpp>
#include <benanza/model/detail/layer_signature.hpp>

template benanza::Layer benanza::detail::read_layer<>(std::string_view);
