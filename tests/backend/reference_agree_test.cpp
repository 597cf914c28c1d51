// SPDX-License-Identifier: Apache-2.0
#include "backend/reference_support.hpp"
#include "support/catch.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <set>

using namespace benanza;
using Values = std::vector<double>;
namespace {
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("a difference is relative to the largest expected magnitude") {
  CHECK(reference::difference(Values{1, -4, 2}, Values{1, -4, 2}) == 0);
  CHECK(reference::difference(Values{1, -4, 2}, Values{1.5, -4, 2}) == 0.125);  // 0.5 / 4
  CHECK(reference::difference(Values{0, 0}, Values{0, 0.25}) == 0.25);          // absolute: all expected are 0
  CHECK(reference::difference(Values{infinity, 2}, Values{infinity, 2.5}) == 0.25);
}

TEST_CASE("what is not a number, infinite on one side or of another length never agrees") {
  CHECK(reference::difference(Values{1, 2}, Values{1, not_a_number}) == infinity);
  CHECK(reference::difference(Values{not_a_number, 2}, Values{not_a_number, 2}) == infinity);
  CHECK(reference::difference(Values{1, 2}, Values{1, infinity}) == infinity);
  CHECK(reference::difference(Values{1, 2}, Values{1}) == infinity);
  const Layer relu = op::Unary{.x = {2}};
  CHECK_FALSE(reference::agree(relu, 0, Values{not_a_number, 2}, Values{not_a_number, 2}, 1));
  CHECK(reference::agree(relu, 0, Values{1, 2}, Values{1, 2.001}, 1e-3));
  CHECK_FALSE(reference::agree(relu, 0, Values{1, 2}, Values{1, 2.01}, 1e-3));
}

TEST_CASE("integer outputs must be equal, but for one unit where the operator rounds to 8 bits") {
  const Layer add = op::Binary{.type = DataType::u8, .a = {2}, .b = {2}};
  CHECK(reference::agree(add, 0, Values{1, 2}, Values{1, 2}, 0));
  CHECK_FALSE(reference::agree(add, 0, Values{1, 2}, Values{1, 3}, 10));
  const Layer less = op::Binary{.fn = ElementwiseFn::less, .a = {2}, .b = {2}};
  CHECK_FALSE(reference::agree(less, 0, Values{1, 0}, Values{1, 1}, 10));
  const Layer quantize = op::Quantize{.x = {1, 2, 1}};
  CHECK(reference::agree(quantize, 0, Values{1, 2}, Values{1, 3}, 0));
  CHECK_FALSE(reference::agree(quantize, 0, Values{1, 2}, Values{1, 4}, 0));
  CHECK_FALSE(reference::agree(quantize, 0, Values{1, 2}, Values{1, not_a_number}, 0));
  const Layer accumulators = op::MatMul{.type = DataType::u8, .a = {1, 2}, .b = {2, 2}, .y_type = DataType::i32};
  CHECK_FALSE(reference::agree(accumulators, 0, Values{1, 2}, Values{1, 3}, 0));
}

// ONNX, "Float stored in 8 bits": the least numbers of E4M3FN are multiples of 2^-9, the largest is 448.
TEST_CASE("floats of 8 bits agree with what their type has of the expected values") {
  const Layer relu = op::Unary{.type = DataType::f8e4m3, .x = {2}};
  CHECK(reference::agree(relu, 0, Values{0.0011, 0.0015}, Values{0.001953125, 0.001953125}, 0.125));
  CHECK(reference::agree(relu, 0, Values{0.003, 0.004}, Values{0.001953125, 0.00390625}, 0.125));  // one step off
  CHECK_FALSE(reference::agree(relu, 0, Values{0.006, 0.004}, Values{0.001953125, 0.00390625}, 0.125));
  CHECK(reference::agree(relu, 0, Values{500, 1}, Values{448, 1}, 0));
  CHECK_FALSE(reference::agree(relu, 0, Values{400, 1}, Values{300, 1}, 0.125));
}

TEST_CASE("floats of 16 bits agree with what their type has of the expected values") {
  const auto agrees = [](DataType type, double expected, double got) {
    return reference::agree(op::Unary{.type = type, .x = {1}}, 0, std::array{expected}, std::array{got}, 1e-3);
  };
  CHECK(agrees(DataType::f16, 9e4, infinity));  // the largest number is 65504
  CHECK_FALSE(agrees(DataType::f16, 6e4, infinity));
  CHECK(agrees(DataType::f16, 2.6 * 0x1p-24, 0x1p-23));  // one step of the subnormal numbers
  CHECK_FALSE(agrees(DataType::f16, 2.6 * 0x1p-24, 0));
  CHECK(agrees(DataType::bf16, 9e4, 9e4 * (1 + 5e-4)));
}

TEST_CASE("sampled indices are distinct, ascending, reproducible and hold both ends") {
  const auto samples = reference::sample_indices(1'000'000'007, 200, 3);
  CHECK(samples.size() > 190);
  CHECK(samples.size() <= 200);
  CHECK(samples.front() == 0);
  CHECK(samples.back() == 1'000'000'006);
  CHECK(std::is_sorted(samples.begin(), samples.end()));
  CHECK(std::set<std::int64_t>(samples.begin(), samples.end()).size() == samples.size());
  CHECK(samples == reference::sample_indices(1'000'000'007, 200, 3));
  CHECK(samples != reference::sample_indices(1'000'000'007, 200, 4));
  CHECK(reference::sample_indices(3, 200) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(reference::sample_indices(0, 200).empty());
  CHECK(reference::sample_indices(9, 1) == std::vector<std::int64_t>{0});
}

TEST_CASE("what an update writes is checked too") {
  const std::int64_t index = 777'777;
  const std::vector<float> data(2'000'000), updates(2);
  const std::vector<const void*> inputs{data.data(), &index, updates.data()};
  const auto checked = reference::checked_indices(op::ScatterNd{.x = {1'000'000, 2}, .indices = {1, 1}}, inputs, 0, 20);
  CHECK(checked.size() <= 22);
  CHECK(std::is_sorted(checked.begin(), checked.end()));
  CHECK(std::count(checked.begin(), checked.end(), 1'555'554) == 1);
  CHECK(std::count(checked.begin(), checked.end(), 1'555'555) == 1);
}

TEST_CASE("the first step of each direction of a recurrence with an initial state is checked too") {
  // y has 1000 steps of 2 directions of 2 units: the backward direction begins at 999 * 4 + 2.
  op::Recurrent layer{.x = {1000, 1, 1}, .hidden = 2, .directions = 2, .initial_state = true};
  const auto checked = reference::checked_indices(layer, {}, 0, 20);
  CHECK(checked.size() <= 24);
  CHECK(std::is_sorted(checked.begin(), checked.end()));
  for (const std::int64_t place : {0, 1, 3998, 3999}) CHECK(std::count(checked.begin(), checked.end(), place) == 1);
  layer.initial_state = false;
  CHECK(reference::checked_indices(layer, {}, 0, 20) == reference::sample_indices(4000, 20));
}

TEST_CASE("the reference refuses what does not match the layer") {
  const Layer relu = op::Unary{.x = {2}};
  const float x[]{1, 2};
  const void* const one[]{x};
  CHECK(reference::evaluate(relu, one, 0, std::vector<std::int64_t>{1}) == Values{2});
  CHECK_THROWS_AS(reference::evaluate(relu, {}, 0, std::vector<std::int64_t>{1}), UsageError);
  CHECK_THROWS_AS(reference::evaluate(relu, one, 1, std::vector<std::int64_t>{1}), UsageError);
  CHECK_THROWS_AS(reference::evaluate(relu, one, 0, std::vector<std::int64_t>{2}), UsageError);
  CHECK_THROWS_AS(reference::evaluate(relu, one, 0, std::vector<std::int64_t>{-1}), UsageError);
  CHECK_THROWS_AS(reference::evaluate(op::Opaque{.op = "Hardmax", .read_bytes = 8, .written_bytes = 8}, one, 0, {}),
                  UsageError);
}

TEST_CASE("elements are read back as they were stored") {
  const std::byte none{};
  std::byte buffer[16]{none};
  const auto round_trip = [&](DataType type, double value) {
    store(buffer, type, 1, value);
    return load(buffer, type, 1);
  };
  // IEEE 754 half: 11 significant bits, largest 65504, smallest 2^-24; bfloat16: 8 bits.
  CHECK(round_trip(DataType::f16, 2049) == 2048);  // ties go to even
  CHECK(round_trip(DataType::f16, 2051) == 2052);
  CHECK(round_trip(DataType::f16, 65504) == 65504);
  CHECK(round_trip(DataType::f16, 65520) == infinity);
  CHECK(round_trip(DataType::f16, -0x1p-24) == -0x1p-24);
  CHECK(round_trip(DataType::f16, 0x1p-25) == 0);
  CHECK(std::isnan(round_trip(DataType::f16, not_a_number)));
  CHECK(round_trip(DataType::bf16, 257) == 256);
  CHECK(round_trip(DataType::bf16, 259) == 260);
  CHECK(round_trip(DataType::bf16, 0x1p-133) == 0x1p-133);
  CHECK(std::isnan(round_trip(DataType::bf16, not_a_number)));
  // ONNX, "Float stored in 8 bits": E4M3FN up to 448, E5M2 up to 57344; casts saturate.
  CHECK(round_trip(DataType::f8e4m3, 449) == 448);
  CHECK(round_trip(DataType::f8e4m3, 1000) == 448);
  CHECK(round_trip(DataType::f8e4m3, 0x1p-9) == 0x1p-9);
  CHECK(std::isnan(round_trip(DataType::f8e4m3fnuz, not_a_number)));
  CHECK(round_trip(DataType::f8e4m3fnuz, 1000) == 240);
  CHECK(round_trip(DataType::f8e5m2, 9) == 8);
  CHECK(round_trip(DataType::f8e5m2fnuz, -1e9) == -57344);
  CHECK(round_trip(DataType::f4e2m1, 5.1) == 6);
  CHECK(round_trip(DataType::f8e8m0, 3) == 4);
  CHECK(round_trip(DataType::i8, -200) == -128);
  CHECK(round_trip(DataType::u8, 2.5) == 2);
  CHECK(round_trip(DataType::u64, 0x1p63) == 0x1p63);
  CHECK(round_trip(DataType::i4, -3) == -3);
  CHECK(round_trip(DataType::u4, 99) == 15);
  CHECK(round_trip(DataType::i2, -9) == -2);
  CHECK(round_trip(DataType::u2, 2.4) == 2);
  // OCP Microscaling Formats, tables of the 6-bit formats: largest 7.5 and 28, smallest subnormal 0.125 and 0.0625
  CHECK(round_trip(DataType::f6e2m3, 100) == 7.5);
  CHECK(round_trip(DataType::f6e2m3, -0.13) == -0.125);
  CHECK(round_trip(DataType::f6e3m2, 100) == 28);
  CHECK(round_trip(DataType::f6e3m2, 0.06) == 0.0625);
  CHECK_THROWS_AS(load(buffer, DataType::string, 0), UsageError);
}

TEST_CASE("every bit pattern of a small type survives being read and written") {
  for (auto type : {DataType::f16, DataType::bf16}) {
    for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
      const std::uint64_t in = pattern;  // little-endian: the element is in the low bytes
      const double value = load(&in, type, 0);
      std::uint64_t out = 0;
      store(&out, type, 0, value);
      if (std::isnan(value) ? !std::isnan(load(&out, type, 0)) : in != out)
        FAIL("pattern " << pattern << " of " << name(type));
      if (type == DataType::f16 && !std::isnan(value) && value != detail::decode(detail::small_float(type), pattern))
        FAIL("pattern " << pattern);
    }
  }
  for (auto type : {DataType::f8e4m3, DataType::f8e4m3fnuz, DataType::f8e5m2, DataType::f8e5m2fnuz, DataType::f8e8m0}) {
    for (std::uint32_t pattern = 0; pattern < 0x100; ++pattern) {
      const std::uint64_t in = pattern;
      const double value = load(&in, type, 0);
      std::uint64_t out = 0;
      store(&out, type, 0, value);
      if (std::isfinite(value) && in != out) FAIL("pattern " << pattern << " of " << name(type));
    }
  }
}
