// SPDX-License-Identifier: Apache-2.0
// The functions that headers only declare for code that links this library (benanza/detail/compiled.hpp).
#define BENANZA_INLINE

#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/model_layers.hpp>
