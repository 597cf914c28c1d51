// SPDX-License-Identifier: Apache-2.0
// Libraries that a variable limits to an older instruction set: tests/backend/CMakeLists.txt sets it. Hidden, because
// it holds for the whole process.
#include "support/catch.hpp"
#include <benanza/backend/onednn.hpp>
#include <benanza/plan/backend.hpp>

using namespace benanza;

TEST_CASE("oneDNN's version states the instruction set that the library uses if it is not the processor's", "[.]") {
  CHECK_THAT(onednn::backend()->version(), Catch::EndsWith(" (sse41)"));
}
