// SPDX-License-Identifier: Apache-2.0
#include "ceilings/ceilings.hpp"

#include "ceilings/peak_kernels.hpp"
#include "plan/processor.hpp"
#include "support/catch.hpp"
#include <benanza/results/ceiling_rows.hpp>

#include <limits>

namespace {

using namespace benanza;
using namespace benanza::ceilings;

constexpr const char* product = "MatMul/f32/a=512x1024/b=1024x256/b_constant=1";  // 2 * 2^27 = 268,435,456 FLOPs
constexpr const char* relu = "Unary/f32/x=16777216/fn=relu";                      // 64 MiB read, 64 MiB written

std::vector<CeilingRow> ceiling_rows() {
  return {{.quantity = CeilingQuantity::peak(DataType::f32),
           .algorithm = "fma:avx2,threads=1",
           .threads = 1,
           .value = 100e9},
          {.quantity = CeilingQuantity::bandwidth("memory"),
           .algorithm = "read,threads=1",
           .threads = 1,
           .value = 10e9,
           .in_front_bytes = 32.0 * (1 << 20)}};
}

Measurement row(const char* signature, double seconds) {
  return {
      .backend = "fake", .algorithm = "a,threads=1", .signature = signature, .times = MeasuredTimes{.p10 = {seconds}}};
}

}  // namespace

TEST_CASE("a row that beats a ceiling by a little raises it and is named") {
  auto rows = ceiling_rows();
  raise_ceilings(rows, std::vector{row(product, 2.64e-3)});  // 101.7 GFLOP/s
  REQUIRE(rows.size() == 3);
  CHECK(rows[2].quantity == CeilingQuantity::peak(DataType::f32));
  CHECK(rows[2].value == Approx(268435456 / 2.64e-3));
  CHECK(rows[2].algorithm == "fake/a,threads=1/hot/" + std::string(product));
}

TEST_CASE("a ceiling is raised to the least time that a bound may count, over samples or rounds") {
  auto rows = ceiling_rows();
  Measurement few_rounds = row(product, 2.7e-3);  // 99.4 GFLOP/s
  few_rounds.rounds_s = {2.65e-3, 2.65e-3, 2.65e-3};
  raise_ceilings(rows, std::vector{few_rounds});
  REQUIRE(rows.size() == 3);
  CHECK(rows[2].value == Approx(268435456 / 2.65e-3));
}

TEST_CASE("only bytes that must cross a level are held against its bandwidth") {
  auto rows = ceiling_rows();
  raise_ceilings(rows, std::vector{row(relu, 8e-3)});  // (64 - 32) MiB twice in 8 ms: 8.4 GB/s
  CHECK(rows.size() == 2);
  raise_ceilings(rows, std::vector{row(relu, 6.6e-3)});  // 10.17 GB/s
  REQUIRE(rows.size() == 3);
  CHECK(rows[2].quantity == CeilingQuantity::bandwidth("memory"));
  CHECK(rows[2].value == Approx(64.0 * (1 << 20) / 6.6e-3));
  CHECK(rows[2].in_front_bytes == 32.0 * (1 << 20));
}

TEST_CASE("a row that beats a ceiling by more than 3 % contradicts it and raises nothing") {
  auto rows = ceiling_rows();
  CeilingCheck check(rows);
  CHECK(check.contradictions(row(product, 2.61e-3)).empty());  // 2^28 FLOPs in 2.61 ms: 1.0285 of 100 GFLOP/s
  const auto peak = check.contradictions(row(product, 2e-3));  // 1.342 of it
  REQUIRE(peak.size() == 1);
  CHECK_THAT(peak[0], Catch::Contains("1.34 times Peak/f32") && Catch::Contains("FLOPs are counted too high"));
  const auto bandwidth = check.contradictions(row(relu, 4e-3));  // 64 MiB in 4 ms: 1.678 of 10 GB/s
  REQUIRE(bandwidth.size() == 1);
  CHECK_THAT(bandwidth[0], Catch::Contains("1.68 times Bandwidth/memory") && Catch::Contains("bytes are counted"));
  raise_ceilings(rows, std::vector{row(product, 2e-3), row(relu, 4e-3)});
  CHECK(rows.size() == 2);
}

TEST_CASE("rows cannot raise a ceiling step by step beyond 3 % of what loops reached") {
  auto rows = ceiling_rows();
  raise_ceilings(rows, std::vector{row(product, 2.61e-3)});  // 102.85 GFLOP/s
  REQUIRE(rows.size() == 3);
  raise_ceilings(rows, std::vector{row(product, 2.58e-3)});  // 104.05: 1.012 of the raised one, 1.04 of the loop's
  CHECK(rows.size() == 3);
}

TEST_CASE("a stored ceiling that a layer raised too far does not count") {
  auto rows = ceiling_rows();
  rows.push_back({.quantity = CeilingQuantity::peak(DataType::f32),
                  .algorithm = "fake/a,threads=1/hot/" + std::string("Conv/f32/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1"),
                  .threads = 1,
                  .value = 150e9});
  CHECK(ceilings_of(rows, 1).peaks.at(DataType::f32).value == 100e9);
  CHECK(highest_ceilings(rows).size() == 2);
  // A square product does not count either if there is a loop.
  rows.push_back({.quantity = CeilingQuantity::peak(DataType::f32),
                  .algorithm = "fake/a,threads=1/hot/MatMul/f32/a=512x512/b=512x512/b_constant=1",
                  .threads = 1,
                  .value = 104e9});
  CHECK(ceilings_of(rows, 1).peaks.at(DataType::f32).value == 100e9);
}

TEST_CASE("a square product stands in for a loop of a type that has none") {
  auto rows = ceiling_rows();
  const auto of_bf16 = [](const std::string& layer, double value) {
    return CeilingRow{.quantity = CeilingQuantity::peak(DataType::bf16),
                      .algorithm = "fake/a,threads=1/hot/" + layer,
                      .threads = 1,
                      .value = value};
  };
  rows.push_back(of_bf16("MatMul/bf16/a=512x512/b=512x512/b_constant=1", 100e9));
  rows.push_back(of_bf16("Conv/bf16/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1", 102e9));
  CHECK(ceilings_of(rows, 1).peaks.at(DataType::bf16).value == 102e9);
  // A square product of a device counts in addition to its loop.
  auto of_device = ceiling_rows();
  of_device.push_back(
      {.quantity = CeilingQuantity::peak(DataType::bf16), .algorithm = "mma,threads=1", .threads = 1, .value = 60e9});
  of_device.push_back(of_bf16("MatMul/bf16/a=8192x8192/b=8192x8192/b_constant=1", 100e9));
  CHECK(ceilings_of(of_device, 1).peaks.at(DataType::bf16).value == 100e9);
  rows.push_back(of_bf16("Conv/bf16/x=1x64x28x28/w=64x64x3x3/pads=1x1x1x1", 104e9));  // more than 3 % above the product
  CHECK(ceilings_of(rows, 1).peaks.at(DataType::bf16).value == 102e9);
}

TEST_CASE("rows that cannot be trusted or save multiplications raise no peak") {
  auto rows = ceiling_rows();
  Measurement excluded = row(product, 1e-3), contended = excluded, winograd = excluded, other = excluded;
  excluded.exclude(RowStatus::wrong, "differs by 1");
  contended.contended = true;
  winograd.saves_multiplications = true;
  other.threads = 2;  // no ceiling with two threads was measured
  raise_ceilings(rows, std::vector{excluded, contended, winograd, other, row(product, 4e-3)});
  CHECK(rows.size() == 2);
}

TEST_CASE("what fewer threads reached more threads can reach too, of what was measured with them") {
  auto rows = ceiling_rows();
  rows.push_back(
      {.quantity = CeilingQuantity::bandwidth("memory"), .algorithm = "read,threads=2", .threads = 2, .value = 5e9});
  const Ceilings two = ceilings_of(rows, 2);
  REQUIRE(two.levels.size() == 1);
  CHECK(two.levels[0].bandwidth.value == 10e9);
  CHECK(two.levels[0].reached_by == "read,threads=1");
  CHECK(two.levels[0].in_front.value == 32.0 * (1 << 20));
  CHECK(two.peaks.empty());  // one thread's peak would be too low a ceiling for two
  CHECK(ceilings_of(rows, 1).levels[0].bandwidth.value == 10e9);

  // (64 - 32) MiB twice in 8 ms: 8.4 GB/s, above what was measured with two threads and below what one thread reached.
  Measurement both = row(relu, 8e-3);
  both.threads = 2;
  raise_ceilings(rows, std::vector{both});
  CHECK(rows.size() == 3);
}

TEST_CASE("a row that beats a ceiling more than ten times is damaged and raises none") {
  auto rows = ceiling_rows();
  CeilingCheck check(rows);
  CHECK(check.damage(row(product, 0.3e-3)).empty());                        // 8.9 times
  CHECK_THAT(check.damage(row(product, 0.2e-3)), Catch::Contains("13.4"));  // 2^28 FLOPs / 0.2 ms / 100 GFLOP/s
  CHECK_THAT(check.damage(row(relu, 0.5e-3)), Catch::Contains("13.4"));     // 64 MiB / 0.5 ms / 10 GB/s
  // 2 * 128 * 128 * 190 * 190 FLOPs of direct taps in 0.9 ms are 1.31 TFLOP/s; any algorithm needs 64 * 64 of 190 *
  // 190.
  Measurement convolution = row("Conv/f32/x=1x128x64x64/w=128x128x3x3/pads=1x1x1x1", 0.9e-3);
  CHECK_THAT(check.damage(convolution), Catch::Contains("13.1"));
  Measurement winograd = convolution, rounds = row(product, 3e-3);
  winograd.saves_multiplications = true;
  rounds.rounds_s = {0.2e-3, 0.2e-3};
  CHECK(check.damage(winograd).empty());
  CHECK(!check.damage(rounds).empty());
  raise_ceilings(rows, std::vector{row(product, 0.2e-3), row(relu, 0.5e-3), rounds});
  CHECK(rows.size() == 2);
}

TEST_CASE("a footprint is four times what is in front and half of the level at most") {
  constexpr double kib = 1024;
  const auto l2 = footprint({32 * kib}, {512 * kib});
  REQUIRE(l2.has_value());
  CHECK(l2->value >= 4 * 32 * kib);
  CHECK(l2->value <= 256 * kib);
  CHECK_FALSE(footprint({2048 * kib}, {8192 * kib}).has_value());  // a large L2 in front of a small share of L3
  CHECK(footprint({0}, {32 * kib})->value == 16 * kib);
}

TEST_CASE("a row of 8-bit operands raises the peak of 8 bits, with and without sign") {
  const char* const signature = "MatMul/u8/a=512x512/b=512x512/b_constant=1/b_type=i8";
  std::vector<CeilingRow> rows{{.quantity = CeilingQuantity::peak(DataType::i8),
                                .algorithm = "maddubs:avx2,threads=1",
                                .threads = 1,
                                .value = 100e9}};
  raise_ceilings(rows, std::vector{row(signature, 2.64e-3)});  // 268,435,456 operations in 2.64 ms
  REQUIRE(rows.size() == 2);
  CHECK(rows.back().quantity == CeilingQuantity::peak(DataType::i8));
  CHECK(rows.back().value == Approx(268435456 / 2.64e-3));
}

#if defined(__x86_64__)
// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1: each of VNNI, BF16 and FP16 comes with a
// processor that also has the ones before it.
TEST_CASE("peaks are taken in the types that the instruction set multiplies") {
  const auto types = [](const char* isa) {
    std::vector<DataType> result;
    for (const auto& each : multiply_adds(isa)) result.push_back(each.type);
    return result;
  };
  using enum DataType;
  // Numbers of 16 bits are widened to f32 where nothing multiplies them as they are.
  CHECK(types("sse41") == std::vector{f32, f64, bf16, f16});
  CHECK(types("avx2") == std::vector{f32, f64, i8, bf16, f16});
  CHECK(types("avx512_core_vnni") == std::vector{f32, f64, i8, bf16, f16});
  CHECK(types("avx512_core_bf16") == std::vector{f32, f64, i8, bf16, f16});
  CHECK(multiply_adds("avx2")[4].run(10) == multiply_adds("avx2")[0].run(10));
  CHECK(types("avx512_core_amx") == std::vector{f32, f64, i8, bf16, f16, i8, bf16});  // vectors, then tiles
  CHECK(2 * multiply_adds("avx2")[1].run(10) == multiply_adds("avx2")[0].run(10));    // a register holds half as many
  // 12 chains of 32 byte products with an addition each, ten times.
  if (processor_isa() == "avx2") CHECK(multiply_adds("avx2")[2].run(10) == 2.0 * 12 * 32 * 10);
  // 4 pairs of tiles, 16 x 16 sums of 64 byte products or of 32 bf16 products each, ten times; nothing if Linux refuses
  // tiles.
  const bool has_tiles = processor_isa() == "avx512_core_amx";
  CHECK(tile_multiply_adds()[0].run(10) == (has_tiles ? 2.0 * 4 * 16 * 16 * 64 * 10 : 0));
  CHECK(tile_multiply_adds()[1].run(10) == (has_tiles ? 2.0 * 4 * 16 * 16 * 32 * 10 : 0));
}
#endif

TEST_CASE("the 25th percentile of what sessions read of the memory counts, not the least") {
  const auto reading = [](double seconds) {
    return CeilingRow{CeilingQuantity::timer("memory_chase"), "memory_probe,threads=1", 1, seconds, 0};
  };
  const std::vector<CeilingRow> rows{reading(3e-5), reading(1e-5), reading(5e-5), reading(2e-5), reading(4e-5)};
  const auto usual = highest_ceilings(rows);
  REQUIRE(usual.size() == 1);
  CHECK(usual[0].value == Approx(2e-5));
  // Two sessions agree that the memory became slower. Sessions before the latest eight do not count.
  CHECK(highest_ceilings(std::vector{reading(1e-5), reading(1e-5), reading(1e-5), reading(1e-5), reading(3e-5)})[0]
            .value == Approx(1e-5));
  CHECK(highest_ceilings(std::vector{reading(1e-5), reading(1e-5), reading(1e-5), reading(4e-5), reading(3e-5)})[0]
            .value == Approx(3e-5));
  std::vector<CeilingRow> many(8, reading(1e-5));
  many.insert(many.end(), 7, reading(2e-5));
  many.push_back(reading(1e-5));
  CHECK(highest_ceilings(many)[0].value == Approx(2e-5));
}
