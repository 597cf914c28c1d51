// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/golden.hpp"
#include <benanza/codegen.hpp>
#include <benanza/error.hpp>

#include <set>
#include <sstream>

namespace {

using namespace benanza;
using enum ElementwiseFn;

std::string emitted(const SuiteSource& source) {
  std::ostringstream out;
  emit_suite(source, out);
  return out.str();
}

SuiteSource source(LayerSet layers) {
  return {.name = "two",
          .command = "benanza generate one.onnx two.onnx --name two --backend onednn,native",
          .backends = {"onednn", "native"},
          .layers = std::move(layers)};
}

void add_model_one(LayerSet& set) {
  const op::Conv stem{.x = {1, 3, 224, 224}, .w = {64, 3, 7, 7}, .pads = {3, 3, 3, 3}, .strides = {2, 2}};
  op::Conv fused = stem;
  fused.post = {bias, relu};
  set.add(stem, "one", "conv1");
  set.add(stem, {.model = "one", .node = "conv1", .parts = 1});  // a batch norm that was folded into it
  set.add(fused, {.model = "one", .node = "conv1", .fused = 1});
  op::Conv part{.x = {1, 64, 56, 56}, .w = {64, 64, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, {clip, 0, 6}}};
  set.add(part, {.model = "one", .node = "layer1.0.conv2", .parts = 3});
  part.post.push_back({mul, {1, 64, 1, 1}});
  set.add(part, {.model = "one", .node = "layer1.0.conv2", .fused = 3});
  const op::MatMul dense{.a = {1, 2048}, .b = {2048, 1000}, .b_constant = true, .post = {bias}};
  set.add(dense, {.model = "one", .count = 1, .node = "fc"});
  set.add(dense, {.model = "one", .node = "fc", .fused = 1});
  set.add(op::Unary{.fn = relu, .x = {802816}}, "one", "relu");
  set.add(op::View{.x = {2048}}, "one", "flatten");
  set.add(op::Opaque{.op = "NonZero", .read_bytes = 16, .written_bytes = 16}, "one", "nonzero");
}

void add_model_two(LayerSet& set) {
  set.add(op::Conv{.x = {1, 64, 56, 56},
                   .w = {64, 64, 3, 3},
                   .pads = {1, 1, 1, 1},
                   .post = {bias, {clip, 0, 6}, {mul, {1, 64, 1, 1}}}},
          "two", "a\tname \\");
  set.add(op::Conv{.x = {1, 64, 7, 7}, .w = {64, 64, 3, 3}}, "two", "late");
  set.add(op::Pool{.x = {1, 64, 112, 112}}, "two", "pool");
  set.add(op::Softmax{.x = {1, 1000, 1}}, "two", "prob");
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

}  // namespace

TEST_CASE("a suite is written as people read it") {
  LayerSet set;
  add_model_one(set);
  add_model_two(set);
  golden::check("suite.cpp", emitted(source(std::move(set))));
}

TEST_CASE("adding a model inserts lines and edits none") {
  LayerSet one, both;
  add_model_one(one);
  add_model_one(both);
  add_model_two(both);
  const auto before = lines(emitted(source(std::move(one)))), after = lines(emitted(source(std::move(both))));
  CHECK(after.size() > before.size());
  std::size_t found = 0;
  for (const auto& line : after) found += found < before.size() && line == before[found];
  CHECK(found == before.size());
}

TEST_CASE("nothing from a model reaches the code but a plain comment") {
  LayerSet set;
  set.add(op::Conv{.x = {1, 3, 8, 8}, .w = {8, 3, 3, 3}}, "model\n#error\r",
          "node\\\n} ; \x01 \xe2\x80\xae ?"
          "?/");
  set.add(op::Conv{.x = {1, 3, 8, 8}, .w = {9, 3, 3, 3}}, "m", std::string(100000, 'n'));
  SuiteSource hostile{
      .name = "a\"; int x\n", .command = "benanza \n#error \\", .backends = {}, .layers = std::move(set)};
  const std::string text = emitted(hostile);
  CHECK(text.size() < 2500);
  for (char c : text) CHECK((c == '\n' || (c >= ' ' && c <= '~' && c != '\\')));
  CHECK(text.find("?"
                  "?/") == std::string::npos);
  CHECK(text.find("\n#error") == std::string::npos);
  CHECK(text.find(".name = \"a___int_x_\"") != std::string::npos);
  for (const char* name : {"", "../x", "a b", "3d", "one;two", "X"}) {
    hostile.backends = {name};
    CHECK_THROWS_AS(emitted(hostile), UsageError);
  }
}

TEST_CASE("a suite without layers is a suite") {
  CHECK(emitted({.name = "none"}).find(".tables = {\n                           },") != std::string::npos);
}
