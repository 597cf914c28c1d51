// SPDX-License-Identifier: Apache-2.0
// Generated code is compiled and read back: `every_field.cpp` is what emit_every_field wrote, with the `run_suite`
// below instead of benanza::bench and without a library behind the backends.
#define main generated_main
#include "every_field.cpp"
#undef main

#include "codegen/every_field.hpp"
#include "support/catch.hpp"

namespace {
std::vector<benanza::LayerSignature> compiled;
}

namespace benanza {
int bench::run_suite(const Suite& suite, int, char**) {
  compiled.clear();
  for (const auto& table : suite.tables)
    for (std::size_t i = 0; i < table.size(); ++i) compiled.emplace_back(table[i]);
  return 0;
}
std::shared_ptr<const Backend> onednn::backend() { return nullptr; }
std::shared_ptr<const Backend> native::backend() { return nullptr; }
}  // namespace benanza

TEST_CASE("a generated suite compiles to exactly the layers it was made from, in their order") {
  const benanza::LayerSet set = every_field::layers();
  std::vector<benanza::LayerSignature> expected;
  for (const auto& [signature, unique] : set.layers())
    if (!is_free(unique.layer) && !is_opaque(unique.layer)) expected.push_back(signature);
  REQUIRE(expected.size() > 300);
  generated_main(0, nullptr);
  CHECK(compiled.size() == expected.size());
  for (std::size_t i = 0; i < std::min(compiled.size(), expected.size()); ++i)
    CHECK(compiled[i].text() == expected[i].text());
}
