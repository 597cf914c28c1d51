// SPDX-License-Identifier: Apache-2.0
#include "support/results_support.hpp"
#include <benanza/results/ceiling_quantity.hpp>

#include <string>
#include <tuple>
#include <vector>

using namespace benanza;

TEST_CASE("a quantity is read from the text that it has") {
  using Kind = CeilingQuantity::Kind;
  const std::vector<std::tuple<std::string, CeilingQuantity, std::string>> quantities{
      {"Bandwidth/L2", {Kind::bandwidth, "L2"}, "B/s"},
      {"Bandwidth/memory", CeilingQuantity::bandwidth("memory"), "B/s"},
      {"Peak/bf16", CeilingQuantity::peak(DataType::bf16), "FLOP/s"},
      {"Peak/f1024", {Kind::peak, "f1024"}, "FLOP/s"},
      {"Timer/graph-launch", CeilingQuantity::timer("graph-launch"), "s"}};
  for (const auto& [text, quantity, unit] : quantities) {
    INFO(text);
    CHECK(quantity.text() == text);
    CHECK(CeilingQuantity::parse(text) == quantity);
    CHECK(quantity.unit() == unit);
    for (const auto& [other_text, other, other_unit] : quantities) CHECK((quantity < other) == (text < other_text));
  }
  CHECK(CeilingQuantity::parse("Peak/bf16")->type() == DataType::bf16);
  CHECK_FALSE(CeilingQuantity::parse("Peak/f1024")->type());
  CHECK_FALSE(CeilingQuantity::bandwidth("f32").type());
  for (const char* text : {"", "Peak", "peak/f32", "Colour/red"}) CHECK_FALSE(CeilingQuantity::parse(text));
}

TEST_CASE("a ceiling of an unknown quantity is left out, with its name") {
  const results_support::Folder folder;
  write_run(results_support::small_run(), folder / "run.json");
  std::string text = results_support::contents(folder / "run.json");
  text.replace(text.find("Peak/f32"), 8, "Colour/red");
  const Run read = read_run(folder.write("x.json", text));
  CHECK(read.ceilings.size() == results_support::small_run().ceilings.size() - 1);
  REQUIRE(read.faults.size() == 1);
  CHECK_THAT(read.faults[0], Catch::Contains("hot/Colour/red', expected Peak/<type>"));
}
