// SPDX-License-Identifier: Apache-2.0
// Operators that move or convert elements, and operators that move nothing.
#include "support/catch.hpp"
#include "support/single_node.hpp"
#include <benanza/model/layer.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benanza;
using testing::check;
using testing::SingleNode;
using Dims = std::vector<std::int64_t>;

TEST_CASE("Transposes keep only what moves", "[op]") {
  const auto transpose = [](Dims x, Dims perm) {
    return SingleNode("Transpose").in(std::move(x)).out({1}).set("perm", std::move(perm));
  };
  check({
      {"heads", transpose({1, 128, 12, 64}, {0, 2, 1, 3}), "Transpose/f32/x=128x12x64/perm=1x0x2"},
      {"to channels last", transpose({1, 64, 56, 56}, {0, 2, 3, 1}), "Transpose/f32/x=64x3136/perm=1x0"},
      {"with a batch", transpose({2, 64, 56, 56}, {0, 2, 3, 1}), "Transpose/f32/x=2x64x3136/perm=0x2x1"},
      {"reversed by default", SingleNode("Transpose").in({3, 4, 5}).out({5, 4, 3}), "Transpose/f32/x=3x4x5/perm=2x1x0"},
      {"moves nothing", transpose({1, 64, 1, 5}, {2, 1, 0, 3}), "View/f32/rule=no_op/x=320"},
      {"a dimension of 1 within a run", transpose({4, 1, 5, 6}, {3, 0, 1, 2}), "Transpose/f32/x=20x6/perm=1x0"},
      {"nine dimensions that fold", transpose({2, 2, 2, 2, 2, 2, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 0}),
       "Transpose/f32/x=2x256/perm=1x0"},
      {"nine that do not", transpose({2, 2, 2, 2, 2, 2, 2, 2, 2}, {8, 7, 6, 5, 4, 3, 2, 1, 0}),
       "Opaque/f32/op=Transpose/read_bytes=2048/written_bytes=4"},
      {"broken", transpose({2, 2}, {0, 0}), "Opaque/f32/op=Transpose/read_bytes=16/written_bytes=4"},
      // ONNX DepthToSpace, DCR: [b, 2, 2, C/4, h, w] to [b, C/4, h, 2, w, 2]; the batch of 1 is dropped, C/4 and h stay
      // adjacent.
      {"depth to space", SingleNode("DepthToSpace").in({1, 8, 3, 5}).out({1, 2, 6, 10}).set("blocksize", 2),
       "Transpose/f32/x=2x2x6x5/perm=2x0x3x1"},
      {"column, row",
       SingleNode("DepthToSpace").in({1, 8, 3, 5}).out({1, 2, 6, 10}).set("blocksize", 2).set("mode", "CRD"),
       "Transpose/f32/x=2x2x2x3x5/perm=0x3x1x4x2"},
      // [b, C, h/2, 2, w/2, 2] to [b, 2, 2, C, h/2, w/2]; C and h/2 stay adjacent.
      {"space to depth", SingleNode("SpaceToDepth").in({1, 8, 6, 10}).out({1, 32, 3, 5}).set("blocksize", 2),
       "Transpose/f32/x=24x2x5x2/perm=1x3x0x2"},
  });
}

TEST_CASE("What changes no element is a view", "[op]") {
  check({
      {"reshape", SingleNode("Reshape").in({2, 3, 4}).ints({6, 4}).out({6, 4}), "View/f32/x=24"},
      {"rank above 8", SingleNode("Reshape").in({1, 1, 1, 1, 1, 1, 1, 1, 8}).ints({8}).out({8}), "View/f32/x=8"},
      {"flatten", SingleNode("Flatten").in({1, 512, 7, 7}).out({1, 25088}), "View/f32/x=25088"},
      {"identity", SingleNode("Identity").in({8}, DataType::i64).out({8}, DataType::i64), "View/i64/rule=identity/x=8"},
      {"dropout", SingleNode("Dropout").in({8}).out({8}).out({8}, DataType::boolean), "View/f32/rule=dropout/x=8"},
      {"cast to the same type", SingleNode("Cast").in({8}).out({8}).set("to", 1), "View/f32/rule=no_op/x=8"},
      {"concat of one", SingleNode("Concat").in({8}).out({8}).set("axis", 0), "View/f32/rule=no_op/x=8"},
      {"concat with nothing", SingleNode("Concat").in({1, 0, 4}).in({1, 8, 4}).out({1, 8, 4}).set("axis", 1),
       "View/f32/rule=no_op/x=32"},
      {"split into one", SingleNode("Split").in({8}).out({8}), "View/f32/rule=no_op/x=8"},
      {"expand to the same", SingleNode("Expand").in({8}).ints({1, 8}).out({1, 8}), "View/f32/rule=no_op/x=8"},
      {"tile once", SingleNode("Tile").in({2, 4}).ints({1, 1}).out({2, 4}), "View/f32/rule=no_op/x=8"},
      {"slice of everything",
       SingleNode("Slice").in({2, 4}).ints({0}).ints({9223372036854775807}).ints({1}).out({2, 4}),
       "View/f32/rule=no_op/x=8"},
      {"pad by nothing", SingleNode("Pad").in({2, 4}).ints({0, 0, 0, 0}).out({2, 4}), "View/f32/rule=no_op/x=8"},
      {"resize to the same", SingleNode("Resize").in({1, 1, 4, 4}).out({1, 1, 4, 4}).set("mode", "linear"),
       "View/f32/rule=no_op/x=16"},
      {"no elements", SingleNode("Relu").in({0, 4}).out({0, 4}), "View/f32/rule=no_op/x=0"},
  });
}

TEST_CASE("Concat and Split are three numbers around the axis", "[op]") {
  check({
      {"concat", SingleNode("Concat").in({2, 64, 7, 7}).in({2, 32, 7, 7}).out({2, 96, 7, 7}).set("axis", -3),
       "Concat/f32/outer=2/sizes=64x32/inner=49"},
      {"split", SingleNode("Split").in({2, 96}).out({2, 64}).out({2, 32}).set("axis", 1),
       "Split/f32/outer=2/sizes=64x32"},
  });
  SingleNode many("Concat");
  for (int i = 0; i < 33; ++i) many.in({1});
  CHECK(many.out({33}).set("axis", 0).signature() == "Opaque/f32/op=Concat/read_bytes=132/written_bytes=132");
}

TEST_CASE("Slices are boxes with positions in range", "[op]") {
  const auto slice = [](Dims x, Dims starts, Dims ends, Dims axes, Dims steps) {
    return SingleNode("Slice")
        .in(std::move(x))
        .ints(std::move(starts))
        .ints(std::move(ends))
        .ints(std::move(axes))
        .ints(std::move(steps))
        .out({1});
  };
  check({
      {"a part of the channels", slice({1, 64, 7, 7}, {0}, {32}, {1}, {1}), "Slice/f32/x=64x49/starts=0x0/y=32x49"},
      {"from the end", slice({10}, {-3}, {9223372036854775807}, {0}, {1}), "Slice/f32/x=10/starts=7/y=3"},
      {"every second", slice({10, 4}, {1}, {10}, {0}, {2}), "Slice/f32/x=10x4/starts=1x0/y=5x4/steps=2x1"},
      {"backwards", slice({10}, {-1}, {-9223372036854775807}, {0}, {-1}), "Slice/f32/x=10/starts=9/y=10/steps=-1"},
      {"backwards by 3", slice({10}, {20}, {2}, {0}, {-3}), "Slice/f32/x=10/starts=9/y=3/steps=-3"},
      {"opset 1",
       SingleNode("Slice", 9).in({4, 10}).out({4, 3}).set("starts", Dims{2}).set("ends", Dims{5}).set("axes", Dims{1}),
       "Slice/f32/x=4x10/starts=0x2/y=4x3"},
      {"positions at run time", SingleNode("Slice").in({10}).in({1}, DataType::i64).ints({5}).out({5}),
       "Slice/f32/x=10/starts=0/y=5"},
      {"positions at run time, all of it", SingleNode("Slice").in({10}).in({1}, DataType::i64).ints({10}).out({10}),
       "View/f32/rule=no_op/x=10"},
  });
}

TEST_CASE("Pad, Tile and Expand fold what they leave alone", "[op]") {
  check({
      {"pad", SingleNode("Pad").in({1, 64, 7, 7}).ints({0, 0, 1, 2, 0, 0, 1, 2}).out({1, 64, 9, 11}),
       "Pad/f32/x=64x7x7/begins=0x1x2/ends=0x1x2"},
      {"pad, axes",
       SingleNode("Pad", 18)
           .in({1, 64, 7, 7})
           .ints({1, 2})
           .none()
           .ints({-1})
           .out({1, 64, 7, 10})
           .set("mode", "reflect"),
       "Pad/f32/x=448x7/begins=0x1/ends=0x2/mode=reflect"},
      {"pad, attribute", SingleNode("Pad", 2).in({3, 4}).out({3, 6}).set("pads", Dims{0, 1, 0, 1}),
       "Pad/f32/x=3x4/begins=0x1/ends=0x1"},
      {"tile", SingleNode("Tile").in({2, 3, 4}).ints({1, 5, 1}).out({2, 15, 4}), "Tile/f32/x=2x12/repeats=1x5"},
      {"expand", SingleNode("Expand").in({1, 1, 64}).ints({8, 10, 64}).out({8, 10, 64}), "Expand/f32/x=1x64/y=80x64"},
  });
}

TEST_CASE("Gathers and scatters fold what lies around the indexed axes", "[op]") {
  const auto i64 = DataType::i64;
  check({
      {"embedding", SingleNode("Gather").weight({30522, 768}).in({1, 128}, i64).out({1, 128, 768}),
       "Gather/f32/x=1x30522x768/indices=128/constant=1"},
      {"inner axis", SingleNode("Gather").in({4, 10, 3}).in({}, DataType::i32).out({4, 3}).set("axis", 1),
       "Gather/f32/x=4x10x3/index_type=i32"},
      {"elements",
       SingleNode("GatherElements").in({2, 10, 3, 4}).in({2, 5, 3, 4}, i64).out({2, 5, 3, 4}).set("axis", 1),
       "GatherElements/f32/x=2x10x12/indices=2x5x12/axis=1"},
      {"elements of a part", SingleNode("GatherElements").in({2, 10}).in({1, 5}, i64).out({1, 5}).set("axis", 1),
       "GatherElements/f32/x=2x10/indices=1x5/axis=1"},
      {"tuples", SingleNode("GatherND").in({4, 5, 6, 7}).in({2, 3, 2}, i64).out({2, 3, 6, 7}),
       "GatherNd/f32/x=4x5x42/indices=6x2"},
      {"tuples of a batch",
       SingleNode("GatherND").in({2, 3, 5, 6}).in({2, 3, 9, 1}, i64).out({2, 3, 9, 6}).set("batch_dims", 2),
       "GatherNd/f32/x=6x5x6/indices=6x9x1/batch_dims=1"},
      {"scatter",
       SingleNode("ScatterElements")
           .in({2, 10})
           .in({2, 3}, i64)
           .in({2, 3})
           .out({2, 10})
           .set("axis", 1)
           .set("reduction", "add"),
       "ScatterElements/f32/x=2x10x1/indices=2x3x1/axis=1/reduction=add"},
      {"scatter of opset 9", SingleNode("Scatter", 9).in({10}).in({3}, i64).in({3}).out({10}),
       "ScatterElements/f32/x=1x10x1/indices=1x3x1/axis=1"},
      {"scatter tuples", SingleNode("ScatterND").in({4, 5, 6}).in({3, 1}, i64).in({3, 5, 6}).out({4, 5, 6}),
       "ScatterNd/f32/x=4x30/indices=3x1"},
  });
}

TEST_CASE("a lookup reads one row for certain, and as many as uniform indices are expected to hit", "[op]") {
  // Distinct rows, averaged over all V^n lists of n indices by Python:
  //   sum(len(set(i)) for i in itertools.product(range(V), repeat=n)) / V**n
  // V, n = 4, 2: 7/4; 5, 3: 61/25; 3, 4: 65/27; 1, 7: 1. A row has 2 x 3 elements.
  const op::Gather two{.x = {2, 4, 3}, .indices = 2};
  CHECK(two.certain_bytes().value == 2 * 3 * 4);
  CHECK(two.expected_bytes().value == Approx(24 * 7.0 / 4));
  CHECK(op::Gather{.type = DataType::f16, .x = {2, 5, 3}, .indices = 3}.expected_bytes().value ==
        Approx(12 * 61.0 / 25));
  CHECK(op::Gather{.x = {2, 3, 3}, .indices = 4}.expected_bytes().value == Approx(24 * 65.0 / 27));
  CHECK(op::Gather{.x = {2, 1, 3}, .indices = 7}.expected_bytes().value == Approx(24));
  // 30522 * (1 - Fraction(30521, 30522)**512) = 507.73781... distinct rows of 768 floats.
  const op::Gather embedding{.x = {1, 30522, 768}, .indices = 512, .constant = true};
  CHECK(embedding.certain_bytes().value == 3072);
  CHECK(embedding.expected_bytes().value == Approx(507.7378148614625 * 3072).epsilon(1e-9));
}

TEST_CASE("Resize and Upsample of every operator set name the same work", "[op]") {
  const auto resize = [](int opset) {
    return SingleNode("Resize", opset).in({1, 3, 8, 8}).none().none().ints({1, 3, 16, 16}).out({1, 3, 16, 16});
  };
  check({
      {"13, defaults", resize(13), "Resize/f32/x=1x3x8x8/y=1x3x16x16"},
      {"13, linear", resize(13).set("mode", "linear").set("coordinate_transformation_mode", "align_corners"),
       "Resize/f32/x=1x3x8x8/y=1x3x16x16/mode=linear/coordinates=align_corners"},
      {"11, as opset 10 did",
       resize(11).set("coordinate_transformation_mode", "asymmetric").set("nearest_mode", "floor"),
       "Resize/f32/x=1x3x8x8/y=1x3x16x16/coordinates=asymmetric/rounding=floor"},
      {"10", SingleNode("Resize", 10).in({1, 3, 8, 8}).in({4}).out({1, 3, 16, 16}),
       "Resize/f32/x=1x3x8x8/y=1x3x16x16/coordinates=asymmetric/rounding=floor"},
      {"upsample", SingleNode("Upsample", 9).in({1, 3, 8, 8}).in({4}).out({1, 3, 16, 16}).set("mode", "linear"),
       "Resize/f32/x=1x3x8x8/y=1x3x16x16/mode=linear/coordinates=asymmetric"},
      {"crops", resize(13).set("coordinate_transformation_mode", "tf_crop_and_resize"),
       "Resize/f32/x=1x3x8x8/y=1x3x16x16/coordinates=tf_crop_and_resize"},
      {"antialiased", resize(18).set("mode", "cubic").set("antialias", 1),
       "Resize/f32/x=1x3x8x8/y=1x3x16x16/mode=cubic/antialias=1"},
  });
}

TEST_CASE("Conversions name both types", "[op]") {
  check({
      {"cast", SingleNode("Cast").in({2, 4}).out({2, 4}, DataType::f16).set("to", 10), "Cast/f32/to=f16/x=8"},
      {"quantise",
       SingleNode("QuantizeLinear").in({2, 4}).weight({}).weight({}, DataType::u8).out({2, 4}, DataType::u8),
       "Quantize/f32/x=1x8x1"},
      {"quantise channels",
       SingleNode("QuantizeLinear").in({2, 4, 3}).weight({4}).weight({4}, DataType::i8).out({2, 4, 3}, DataType::i8),
       "Quantize/f32/to=i8/x=2x4x3"},
      {"quantise by range",
       SingleNode("DynamicQuantizeLinear").in({2, 4}).out({2, 4}, DataType::u8).out({}).out({}, DataType::u8),
       "Quantize/f32/x=1x8x1/dynamic=1"},
      {"dequantise",
       SingleNode("DequantizeLinear")
           .in({64, 3, 3, 3}, DataType::i8)
           .weight({64})
           .weight({64}, DataType::i8)
           .out({64, 3, 3, 3})
           .set("axis", 0),
       "Dequantize/i8/x=1x64x27"},
      {"dequantise elements",
       SingleNode("DequantizeLinear").in({1, 8}, DataType::u8).weight({8}).weight({8}, DataType::u8).out({1, 8}),
       "Dequantize/u8/x=1x8x1/block=1"},
      {"dequantise blocks",
       SingleNode("DequantizeLinear", 21).in({4, 8}, DataType::u8).weight({4, 2}).out({4, 8}).set("block_size", 4),
       "Dequantize/u8/x=4x8x1/block=4"},
      {"quantise blocks of rows",
       SingleNode("QuantizeLinear", 21)
           .in({7, 8})
           .weight({3, 8})
           .weight({3, 8}, DataType::i8)
           .out({7, 8}, DataType::i8)
           .set("block_size", 3)
           .set("axis", 0),
       "Quantize/f32/to=i8/x=1x7x8/block=3"},
      {"scales that do not fit",
       SingleNode("DequantizeLinear", 21).in({4, 8}, DataType::u8).weight({4, 3}).out({4, 8}).set("block_size", 4),
       "Opaque/f32/op=DequantizeLinear/read_bytes=80/written_bytes=128/constant_bytes=48"},
      {"the same bits", SingleNode("BitCast", 26).in({2, 4}).out({2, 4}, DataType::i32).set("to", 6),
       "View/f32/rule=bits/x=8"},
  });
}

TEST_CASE("What no operator describes is known by its bytes, each tensor once", "[op]") {
  CHECK(SingleNode("Compress").in({8}).weight({8}, DataType::boolean).out({8}).signature() ==
        "Opaque/f32/op=Compress/read_bytes=40/written_bytes=32/constant_bytes=8");
  CHECK(SingleNode("Twice", 1, "my.domain").in({8}).again(0).out({8}, DataType::i8).signature() ==
        "Opaque/i8/op=my.domain.Twice/read_bytes=32/written_bytes=8");
}

}  // namespace
