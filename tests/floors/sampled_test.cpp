// SPDX-License-Identifier: Apache-2.0
// Images from which a GridSample or a RoiAlign reads positions that are constants. A layer of four channels in front of
// it multiplies by 4 x 4 weights at each position that is read. A multiply-add is two operations, floats have 4 bytes.
#include "least_work.hpp"

namespace sampled_images {

using benanza::testing::check_least;
using benanza::testing::Least;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT;

/// `cells` of four channels are read, and the weights; `results` positions of four channels are made, with `flops`
/// each.
Least least(double cells, double results, double flops) {
  return {2 * 16 * cells + 4 * results * flops, cells > 0 ? 16 * cells + 64 : 0, 16 * results};
}

/// An image of 8 x 8 positions, sampled at one position: along its rows, then along its columns.
benanza::ModelLayers at_position(const std::string& position, const std::string& attributes) {
  return least_layers("(float[1, 4, 8, 8] x) => (float[1, 4, 1, 1] y) <float[1, 1, 1, 2] g = {" + position +
                          "}> { c = Conv(x, w) y = GridSample<" + attributes + ">(c, g) }",
                      {{"w", f32, {4, 4, 1, 1}}});
}

TEST_CASE("a GridSample at constant positions", "[floors]") {
  // Place p of 8 is at (2 p + 1) / 8 - 1: -0.5 is place 1.5, 0.625 is place 6, 3 is place 15.5.
  SECTION("copies the nearest place") { check_least(at_position("-0.6, 0.6", "mode = \"nearest\""), least(1, 1, 0)); }
  SECTION("between two places of one row") {
    check_least(at_position("-0.5, 0.625", "mode = \"linear\""), least(2, 1, 2 * 4));
    check_least(at_position("-0.5, 0.625", "mode = \"cubic\""), least(4, 1, 2 * 16));
  }
  SECTION("between four places of one column, the first of which is outside") {
    // 0.5 is among the places -1, 0, 1 and 2.
    check_least(at_position("0.625, -0.75", "mode = \"cubic\""), least(3, 1, 2 * 16));
    check_least(at_position("0.625, -0.75", "mode = \"cubic\", padding_mode = \"border\""), least(3, 1, 2 * 16));
  }
  SECTION("at a corner: 1 and -1 are places 7 and 0") {
    check_least(at_position("1, -1", "mode = \"linear\", align_corners = 1"), least(1, 1, 2 * 4));
  }
  SECTION("outside of the image") {
    check_least(at_position("3, 0.625", "mode = \"linear\""), least(0, 1, 0));
    check_least(at_position("3, 0.625", "mode = \"linear\", padding_mode = \"border\""), least(1, 1, 2 * 4));
    // 15.5 is mirrored at 7.5, which gives -0.5: between place 0 and itself. The floor counts all 8 places of the row.
    check_least(at_position("3, 0.625", "mode = \"linear\", padding_mode = \"reflection\""), least(8, 1, 2 * 4));
  }
  SECTION("in depth: place 1 of 4, row 2 of 4, and between places 0 and 1 of 2") {
    check_least(least_layers("(float[1, 4, 4, 4, 2] x) => (float[1, 4, 1, 1, 1] y) "
                             "<float[1, 1, 1, 1, 3] g = {0, 0.25, -0.25}> { c = Conv(x, w) "
                             "y = GridSample<mode = \"linear\">(c, g) }",
                             {{"w", f32, {4, 4, 1, 1, 1}}}),
                least(2, 1, 2 * 8));
  }
  SECTION("of two images, of which one is at place 1 of each axis and the other at place 6") {
    check_least(least_layers("(float[2, 4, 8, 8] x) => (float[2, 4, 1, 1] y) "
                             "<float[2, 1, 1, 2] g = {-0.625, -0.625, 0.625, 0.625}> { c = Conv(x, w) "
                             "y = GridSample<mode = \"nearest\">(c, g) }",
                             {{"w", f32, {4, 4, 1, 1}}}),
                least(2, 2, 0));
  }
  SECTION("of which one is read") {
    check_least(least_layers("(float[1, 4, 8, 8] x) => (float[1, 4, 1, 1] y) <float[1, 1, 2, 2] g = {-0.625, -0.625, "
                             "0.625, 0.625}, int64[1] a = {1}, int64[1] b = {2}, int64[1] axis = {3}> { "
                             "c = Conv(x, w) s = GridSample<mode = \"nearest\">(c, g) y = Slice(s, a, b, axis) }",
                             {{"w", f32, {4, 4, 1, 1}}}),
                least(1, 1, 0));
  }
}

TEST_CASE("a grid of 64 positions in the middle of the image", "[floors]") {
  // 0 is place 3.5 of 8: between places 3 and 4 along both axes.
  SECTION("as a tensor of the file") {
    check_least(least_layers("(float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) { c = Conv(x, w) "
                             "y = GridSample<mode = \"linear\">(c, g) }",
                             {{"w", f32, {4, 4, 1, 1}}, {"g", f32, {1, 8, 8, 2}}}),
                least(4, 64, 2 * 4));
  }
  SECTION("as a node") {
    std::string zeros = "0";
    for (int i = 1; i < 128; ++i) zeros += ", 0";
    check_least(least_layers("(float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) { c = Conv(x, w) "
                             "g = Constant<value = float[1, 8, 8, 2] {" +
                                 zeros + "}>() y = GridSample<mode = \"linear\">(c, g) }",
                             {{"w", f32, {4, 4, 1, 1}}}),
                least(4, 64, 2 * 4));
  }
}

/// Boxes in images of 16 x 16 positions; the result has `bins` along each axis.
benanza::ModelLayers in_boxes(const std::string& images, const std::string& boxes, const std::string& indices,
                              const std::string& bins, const std::string& attributes) {
  const std::string count = std::to_string(1 + std::count(indices.begin(), indices.end(), ','));
  return least_layers("(float[" + images + ", 4, 16, 16] x) => (float[" + count + ", 4, " + bins + ", " + bins +
                          "] y) <float[" + count + ", 4] r = {" + boxes + "}, int64[" + count + "] n = {" + indices +
                          "}> { c = Conv(x, w) y = RoiAlign<output_height = " + bins + ", output_width = " + bins +
                          attributes + ">(c, r, n) }",
                      {{"w", f32, {4, 4, 1, 1}}});
}

// A result takes at least one addition, in a box within one cell.
TEST_CASE("a RoiAlign of constant boxes", "[floors]") {
  const std::string one = ", sampling_ratio = 1";
  SECTION("of two bins of two places") {
    // The box begins at -0.5, so its samples are at 0.5 and 2.5: in all they lie between four places along an axis.
    check_least(in_boxes("1", "0, 0, 4, 4", "0", "2", one), least(16, 4, 1));
    check_least(in_boxes("1", "0, 0, 8, 8", "0", "2", one + ", spatial_scale = 0.5"), least(16, 4, 1));
    // Without the shift they are at places 1 and 3.
    const std::string unshifted = ", coordinate_transformation_mode = \"output_half_pixel\"";
    check_least(in_boxes("1", "0, 0, 4, 4", "0", "2", one + unshifted), least(4, 4, 1));
  }
  SECTION("as many samples as a bin has places") {
    // Two samples per bin along an axis, at places 0, 1, 2 and 3.
    check_least(in_boxes("1", "0, 0, 4, 4", "0", "2", ""), least(16, 4, 1));
  }
  SECTION("at row 8.5 and column 0.5 of 16 rows of 4 columns") {
    check_least(least_layers("(float[1, 4, 16, 4] x) => (float[1, 4, 1, 1] y) <float[1, 4] r = {0, 8, 2, 10}, "
                             "int64[1] n = {0}> { c = Conv(x, w) y = RoiAlign<sampling_ratio = 1>(c, r, n) }",
                             {{"w", f32, {4, 4, 1, 1}}}),
                least(4, 1, 1));
  }
  SECTION("of the last of three images") { check_least(in_boxes("3", "0, 0, 2, 2", "2", "1", one), least(4, 1, 1)); }
  SECTION("one in each of nine images") {
    std::string boxes = "0, 0, 2, 2", indices = "0";
    for (int i = 1; i < 9; ++i) boxes += ", 0, 0, 2, 2", indices += ", " + std::to_string(i);
    check_least(in_boxes("9", boxes, indices, "1", one), least(9 * 4, 9, 1));
  }
  SECTION("in two corners of an image") {
    check_least(in_boxes("1", "0, 0, 2, 2, 12, 12, 14, 14", "0, 0", "1", one), least(8, 2, 1));
  }
  SECTION("outside of the image") { check_least(in_boxes("1", "40, 40, 42, 42", "0", "1", one), least(0, 1, 1)); }
}

}  // namespace sampled_images
