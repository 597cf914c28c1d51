// SPDX-License-Identifier: Apache-2.0
// Operators that move elements and compute nothing, and operators that move them by indices.
#include "backend/reference_support.hpp"
#include "support/catch.hpp"

using namespace benanza;
using test::run;
using Values = std::vector<double>;

TEST_CASE("movements put every element where ONNX says") {
  CHECK(run(op::Transpose{.x = {2, 3}, .perm = {1, 0}}, {{1, 2, 3, 4, 5, 6}}) == Values{1, 4, 2, 5, 3, 6});
  CHECK(run(op::Transpose{.x = {2, 1, 3}, .perm = {2, 0, 1}}, {{1, 2, 3, 4, 5, 6}}) == Values{1, 4, 2, 5, 3, 6});
  CHECK(run(op::Concat{.outer = 2, .sizes = {1, 2}, .inner = 1}, {{1, 2}, {3, 4, 5, 6}}) == Values{1, 3, 4, 2, 5, 6});
  // The first operand is the memory of the result: 1 and 2 stay, the elements behind them are replaced.
  CHECK(run(op::Concat{.outer = 2, .sizes = {1, 2}, .inner = 1, .in_place = true},
            {{1, 7, 8, 2, 9, 9}, {3, 4, 5, 6}}) == Values{1, 3, 4, 2, 5, 6});
  const op::Split split{.outer = 2, .sizes = {1, 2}, .inner = 1};
  CHECK(run(split, {{1, 2, 3, 4, 5, 6}}) == Values{1, 4});
  CHECK(run(split, {{1, 2, 3, 4, 5, 6}}, 1) == Values{2, 3, 5, 6});
  CHECK(run(op::Slice{.x = {2, 4}, .starts = {1, 3}, .y = {1, 2}, .steps = {1, -2}}, {{1, 2, 3, 4, 5, 6, 7, 8}}) ==
        Values{8, 6});
  CHECK(run(op::Slice{.x = {4}, .starts = {1}, .y = {2}}, {{1, 2, 3, 4}}) == Values{2, 3});
  CHECK(run(op::Expand{.x = {2, 1}, .y = {2, 3}}, {{1, 2}}) == Values{1, 1, 1, 2, 2, 2});
  CHECK(run(op::Tile{.x = {1, 2}, .repeats = {2, 2}}, {{1, 2}}) == Values{1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(run(op::View{.x = {4}}, {{1, 2, 3, 4}}) == Values{1, 2, 3, 4});
}

TEST_CASE("padding repeats a constant, the border, a mirror image or the other end") {
  op::Pad pad{.x = {3}, .begins = {2}, .ends = {1}};
  CHECK(run(pad, {{1, 2, 3}}) == Values{0, 0, 1, 2, 3, 0});
  CHECK(run(pad, {{1, 2, 3}}, 0, {.pad_value = 7}) == Values{7, 7, 1, 2, 3, 7});
  pad.mode = op::PadMode::edge;
  CHECK(run(pad, {{1, 2, 3}}) == Values{1, 1, 1, 2, 3, 3});
  pad.mode = op::PadMode::reflect;
  CHECK(run(pad, {{1, 2, 3}}) == Values{3, 2, 1, 2, 3, 2});
  pad.mode = op::PadMode::wrap;
  CHECK(run(pad, {{1, 2, 3}}) == Values{2, 3, 1, 2, 3, 1});
  CHECK(run(op::Pad{.x = {4}, .begins = {-1}, .ends = {1}}, {{1, 2, 3, 4}}) ==
        Values{2, 3, 4, 0});  // a negative pad removes elements
}

TEST_CASE("gathers read where the indices point, negative ones from the end") {
  CHECK(run(op::Gather{.x = {2, 3, 1}, .indices = 2}, {{1, 2, 3, 4, 5, 6}, {-1, 0}}) == Values{3, 1, 6, 4});
  const op::GatherElements elements{.x = {2, 2}, .indices = {2, 2}, .axis = 1};
  CHECK(run(elements, {{1, 2, 3, 4}, {0, 0, -1, 0}}) == Values{1, 1, 4, 3});
  CHECK(run(op::GatherNd{.x = {2, 2}, .indices = {2, 2}}, {{1, 2, 3, 4}, {0, 1, 1, -1}}) == Values{2, 4});
  CHECK(run(op::GatherNd{.x = {2, 2}, .indices = {2, 1}}, {{1, 2, 3, 4}, {1, 0}}) == Values{3, 4, 1, 2});
  CHECK(run(op::GatherNd{.x = {2, 2, 2}, .indices = {2, 1}, .batch_dims = 1}, {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 0}}) ==
        Values{3, 4, 5, 6});
  CHECK_THROWS_AS(run(op::Gather{.x = {1, 3, 1}}, {{1, 2, 3}, {3}}), UsageError);
}

TEST_CASE("scatters write where the indices point, the later update last") {
  op::ScatterElements elements{.x = {1, 4}, .indices = {1, 3}, .axis = 1};
  const std::vector<Values> inputs{{1, 2, 3, 4}, {1, -1, 1}, {10, 20, 30}};
  CHECK(run(elements, inputs) == Values{1, 30, 3, 20});
  elements.reduction = op::ScatterReduction::add;
  CHECK(run(elements, inputs) == Values{1, 42, 3, 24});
  elements.reduction = op::ScatterReduction::mul;
  CHECK(run(elements, inputs) == Values{1, 600, 3, 80});
  elements.reduction = op::ScatterReduction::max;
  CHECK(run(elements, inputs) == Values{1, 30, 3, 20});
  elements.reduction = op::ScatterReduction::min;
  CHECK(run(elements, inputs) == Values{1, 2, 3, 4});
  CHECK(run(op::ScatterNd{.x = {3, 2}, .indices = {2, 1}}, {{1, 2, 3, 4, 5, 6}, {2, 0}, {10, 20, 30, 40}}) ==
        Values{30, 40, 3, 4, 10, 20});
  CHECK(run(op::ScatterNd{.x = {2, 2}, .indices = {2, 2}, .reduction = op::ScatterReduction::add},
            {{1, 2, 3, 4}, {0, 1, 0, 1}, {10, 20}}) == Values{1, 32, 3, 4});
}
