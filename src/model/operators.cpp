// SPDX-License-Identifier: Apache-2.0
// The function that a header only declares for code that links this library (benanza/detail/compiled.hpp).
#define BENANZA_INLINE

#include <benanza/operators/detail/tables.hpp>
