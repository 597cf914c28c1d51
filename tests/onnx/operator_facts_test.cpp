// SPDX-License-Identifier: Apache-2.0
// The tables of facts about operators against the linked ONNX library and the headers of the operators.
#include "onnx/rules.hpp"
#include "support/catch.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/operators/detail/tables.hpp>
#include <benanza/operators/lookup.hpp>

#include <onnx/defs/schema.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace benanza;

std::string title(std::string_view domain, std::string_view type) {
  return std::string(domain) + ":" + std::string(type);
}

}  // namespace

TEST_CASE("Every operator of the linked ONNX library has a row of facts", "[onnx]") {
  std::set<std::string> lacking;
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas())
    if (facts_of(schema.domain(), schema.Name()).type.empty()) lacking.insert(title(schema.domain(), schema.Name()));
  CHECK(lacking == std::set<std::string>{});
}

TEST_CASE("Every ONNX type that an operator describes has a row of facts", "[onnx]") {
  std::set<std::string> lacking;
  for_each_operator([&]<class Op>(std::type_identity<Op>) {
    for (const std::string_view type : Op::onnx_types)
      if (facts_of(type).type.empty()) lacking.insert(std::string(type));
  });
  CHECK(lacking == std::set<std::string>{});
}

TEST_CASE("No operator has two rows of facts", "[onnx]") {
  std::set<std::string> seen;
  for (const auto& table : operators::tables)
    for (const OperatorFacts& facts : table) {
      INFO(title(facts.domain, facts.type));
      CHECK(seen.insert(title(facts.domain, facts.type)).second);
    }
}

TEST_CASE("Of an unknown operator nothing is certain", "[onnx]") {
  const OperatorFacts& facts = facts_of("com.example", "Conv");
  CHECK_FALSE(facts.reads_all(0));
  CHECK_FALSE(facts.is_setting(1));
  CHECK(facts.demand == Demand::of_layer);
}

TEST_CASE("Roles of inputs are those in ONNX's specification, and the last one stands for all further ones", "[onnx]") {
  CHECK(facts_of("Slice").inputs[0] == InputRole::chosen);
  CHECK(facts_of("Slice").is_setting(4));
  CHECK(facts_of("ai.onnx", "Gather").inputs[1] == InputRole::indices);
  CHECK(facts_of("Concat").inputs[100] == InputRole::data);
  CHECK(facts_of("com.microsoft.QGemm").is_setting(8));
}

TEST_CASE("ONNX's schemas have every input that the tables call a setting", "[onnx]") {
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    const OperatorFacts& facts = facts_of(schema.domain(), schema.Name());
    INFO(title(schema.domain(), schema.Name()));
    const auto* newest = onnx::OpSchemaRegistry::Schema(schema.Name(), schema.domain());
    for (std::size_t i = newest->inputs().size(); i < 12; ++i) CHECK((!facts.is_setting(i) || newest->deprecated()));
  }
}

TEST_CASE("Every shape rule has a function, and a row that names it", "[onnx]") {
  std::set<ShapeRule> named;
  for (const auto& table : operators::tables)
    for (const OperatorFacts& facts : table) {
      INFO(title(facts.domain, facts.type));
      CHECK((facts.shape == ShapeRule::of_library || facts.absent_shape == ShapeRule::of_library));
      named.insert({facts.shape, facts.absent_shape});
    }
  CHECK(importer::function_of(ShapeRule::of_library) == nullptr);
  for (int i = 1; i < static_cast<int>(ShapeRule::count); ++i) {
    INFO(i);
    CHECK(importer::function_of(static_cast<ShapeRule>(i)) != nullptr);
    CHECK(named.contains(static_cast<ShapeRule>(i)));
  }
}
