// SPDX-License-Identifier: Apache-2.0
#include "backend/reference_support.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>

using namespace benanza;

namespace {

std::vector<double> filled(const Operand& operand, std::uint64_t seed = 1) {
  const test::Buffer buffer(operand, seed);
  std::vector<double> result;
  for (std::int64_t i = 0; i < operand.elements(); ++i) result.push_back(load(buffer.data(), operand.type, i));
  return result;
}

}  // namespace

TEST_CASE("uniform contents are non-zero, of both signs, and neither large nor tiny") {
  for (auto type : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    CAPTURE(name(type));
    double sum = 0;
    for (double value : filled({.type = type, .shape = {10'000}})) {
      sum += value;
      if (!(std::fabs(value) >= 0x1p-6 && std::fabs(value) <= 1)) FAIL(value);
    }
    CHECK(std::fabs(sum) < 300);  // five standard deviations of 10,000 draws are about 290
  }
}

TEST_CASE("integers are small, so that sums of products stay in range") {
  for (double value : filled({.type = DataType::i8, .shape = {1000}})) CHECK((value != 0 && std::fabs(value) <= 3));
  for (double value : filled({.type = DataType::u8, .shape = {1000}})) CHECK((value >= 1 && value <= 3));
  for (double value : filled({.type = DataType::i64, .shape = {1000}})) CHECK((value != 0 && std::fabs(value) <= 8));
  for (double value : filled({.type = DataType::boolean, .shape = {1000}})) CHECK((value == 0 || value == 1));
}

TEST_CASE("positive, index and boolean contents keep to their ranges") {
  for (double value : filled({.shape = {1000}, .contents = Contents::positive})) CHECK((value >= 0.5 && value <= 1.5));
  for (double value : filled({.shape = {1000}, .contents = Contents::settling, .limit = 16}))
    CHECK((std::abs(value) > 0 && std::abs(value) <= 0.25));  // 1 / sqrt(16)
  for (double value : filled({.shape = {1000}, .contents = Contents::boolean})) CHECK((value == 0 || value == 1));
  for (auto type : {DataType::i64, DataType::i32, DataType::u8}) {
    std::vector<int> seen(7);
    for (double value : filled({.type = type, .shape = {7000}, .contents = Contents::indices, .limit = 7})) {
      if (!(value >= 0 && value < 7)) FAIL(value);
      ++seen[static_cast<std::size_t>(value)];
    }
    for (int count : seen) CHECK(std::abs(count - 1000) < 200);  // more than six standard deviations of 29
  }
}

TEST_CASE("contents depend on the seed alone, and every byte of a large operand is written") {
  const Operand large{.type = DataType::f32, .shape = {3'000'001}};
  const auto values = filled(large, 7);
  CHECK(values == filled(large, 7));
  CHECK(values != filled(large, 8));
  CHECK(std::none_of(values.begin(), values.end(), [](double value) { return value == 0; }));
  const auto nibbles = filled({.type = DataType::u4, .shape = {2'500'001}});
  CHECK(std::none_of(nibbles.begin(), nibbles.end(), [](double value) { return value == 0; }));
}

TEST_CASE("contents of neighbouring seeds are not the same ones, shifted") {
  const Operand operand{.type = DataType::i8, .shape = {2000}};
  const auto first = filled(operand, 1);
  for (std::uint64_t seed = 2; seed < 40; ++seed) {
    const auto second = filled(operand, seed);
    // 50 draws of six values: two such lists are equal by chance once in 6^50.
    CHECK(std::search(first.begin(), first.end(), second.begin(), second.begin() + 50) == first.end());
  }
}
