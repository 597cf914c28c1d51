// SPDX-License-Identifier: Apache-2.0
// What interpolation takes at least, counted by hand: one operation for each result between two elements, and one more
// for each two neighbours, unless their only result is in the middle.
#include "least_work.hpp"
#include <benanza/bounds/detail/occurrence_floors.hpp>

#include <algorithm>
#include <string>

namespace interpolated_places {

using namespace benanza;

/// The least arithmetic of any algorithm.
double least_flops(const std::string& text) {
  double sum = 0;
  for (const Occurrence& at : benanza::testing::least_layers(text).single.layers)
    sum += detail::least_of(at.needed.flops, at).value * static_cast<double>(at.repeat);
  return sum;
}
double resized(const std::string& x, const std::string& y, const std::string& scales,
               const std::string& attributes = R"(mode = "linear")") {
  return least_flops("(float[" + x + "] x) => (float[" + y + "] y) <float[" +
                     std::to_string(std::count(scales.begin(), scales.end(), ',') + 1) + "] s = {" + scales +
                     "}> { y = Resize<" + attributes + ">(x, , s) }");
}

TEST_CASE("linear interpolation shares the differences of neighbours", "[floors]") {
  SECTION("one axis, 8 times as many results") {
    // The first and the last 4 of 512 results are elements. Between 63 pairs of neighbours are 8 results each.
    CHECK(resized("1, 8, 64", "1, 8, 512", "1, 1, 8") == 8 * 63 * (8 + 1));
  }
  SECTION("two axes, twice as many results") {
    // 2 results between each two of 8 elements. 8 lines along one axis, then 16 along the other.
    CHECK(resized("1, 8, 8, 8", "1, 8, 16, 16", "1, 1, 2, 2") == 8 * 7 * (2 + 1) * (8 + 16));
  }
  SECTION("two axes, 8 times as many results, which are no more than 122 different ones along an axis") {
    CHECK(resized("1, 8, 16, 16", "1, 8, 128, 128", "1, 1, 8, 8") == 8 * 15 * (8 + 1) * (16 + 122));
  }
  SECTION("three axes") {
    CHECK(resized("1, 2, 8, 8, 8", "1, 2, 16, 16, 16", "1, 1, 2, 2, 2") ==
          2 * 7 * (2 + 1) * (8 * 8 + 16 * 8 + 16 * 16));
  }
  SECTION("in the middle: one sum of two along each axis") {
    CHECK(resized("1, 3, 8, 8", "1, 3, 2, 2", "1, 1, 0.25, 0.25") == 3 * (4 * 2 + 2 * 2));
  }
}

TEST_CASE("results that are elements need no interpolation", "[floors]") {
  SECTION("corners that are aligned") {
    CHECK(least_flops(R"((float[1, 8, 33, 33] x) => (float[1, 8, 17, 17] y) <int64[4] s = {1, 8, 17, 17}> {
        y = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(x, , , s) })") == 0);
  }
  SECTION("every fourth element") {
    CHECK(resized("1, 8, 32, 32", "1, 8, 8, 8", "1, 1, 0.25, 0.25",
                  R"(mode = "linear", coordinate_transformation_mode = "asymmetric")") == 0);
  }
  SECTION("every second element of an odd number: the node's scale counts, not that of the sizes") {
    CHECK(resized("1, 8, 33", "1, 8, 16", "1, 1, 0.5",
                  R"(mode = "linear", coordinate_transformation_mode = "asymmetric")") == 0);
  }
  SECTION("every third element, with a scale that is rounded") {
    CHECK(resized("1, 1, 300", "1, 1, 100", "1, 1, 0.333333343") == 0);
  }
}

TEST_CASE("cubic interpolation adds up to four elements", "[floors]") {
  // 9 elements, 17 results: 8 between neighbours, of which the first and the last have 3 elements with a weight.
  CHECK(resized("1, 8, 9, 9", "1, 8, 17, 17", "1, 1, 1.88888889, 1.88888889",
                R"(mode = "cubic", coordinate_transformation_mode = "align_corners")") ==
        8 * (6 * 3 + 2 * 2) * (9 + 17));
}

TEST_CASE("antialiasing adds up the elements of its windows", "[floors]") {
  // 64 elements, 16 results of windows that overlap: each element is added to one sum at least.
  CHECK(resized("1, 1, 64", "1, 1, 16", "1, 1, 0.25", R"(mode = "linear", antialias = 1)") == 64 - 16);
}

}  // namespace interpolated_places
