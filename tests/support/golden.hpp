// SPDX-License-Identifier: Apache-2.0
// Output that people read is compared with a file in tests/golden. `BENANZA_ACCEPT=1 ctest` rewrites the files; look at
// the difference before you commit it.
#pragma once

#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace golden {

/// The folder of golden files.
inline std::filesystem::path folder() { return std::filesystem::path(BENANZA_TEST_DATA).parent_path() / "golden"; }

inline void check(const std::string& name, const std::string& text) {
  const auto file = folder() / name;
  const char* accept = std::getenv("BENANZA_ACCEPT");
  if (accept != nullptr && *accept != '\0') std::ofstream(file, std::ios::binary) << text;
  std::ostringstream expected;
  expected << std::ifstream(file, std::ios::binary).rdbuf();
  INFO("golden file " << file.string() << "; BENANZA_ACCEPT=1 accepts the new text");
  CHECK(text == expected.str());
}

}  // namespace golden
