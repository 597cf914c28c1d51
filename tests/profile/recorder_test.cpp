// SPDX-License-Identifier: Apache-2.0
// The recorder, with times made up by the test.
#include "support/profile_support.hpp"
#include <benanza/profile/recorder.hpp>

#include <cstdlib>
#include <new>

namespace {

std::size_t allocations = 0;  // counted by the operator below

using namespace profile_support;

Recorder::Time at(double microseconds) {
  return Recorder::Time{
      std::chrono::duration_cast<Recorder::Clock::duration>(std::chrono::duration<double, std::micro>(microseconds))};
}

/// A pass of 100 us (times `scale`) from `start` on: a block of two layers, and one more layer.
void record_pass(Recorder& recorder, double start, double scale = 1) {
  recorder.start_pass(at(start));
  recorder.layer("relu", at(start + 40), at(start + 40 + 10 * scale));
  recorder.layer("conv1", at(start + 5), at(start + 5 + 30 * scale));
  recorder.layer("block", at(start + 5), at(start + 55 + 30 * (scale - 1)));
  recorder.layer("relu", at(start + 60), at(start + 61));
  recorder.end_pass(at(start + 100 * scale));
}

}  // namespace

// Not inline, because otherwise GCC reports one half of a pair as a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("a recorder gives the profile of what an engine recorded") {
  Recorder recorder({.engine = "mine", .version = "1.0", .threads = 2});
  for (int pass = 0; pass < 5; ++pass) record_pass(recorder, 1000.0 * pass, pass == 0 ? 3 : 1);
  recorder.describe({.name = "conv1", .op = "Conv", .nodes = {"/conv1/Conv"}, .algorithm = "winograd"});
  const auto profile = recorder.profile();
  CHECK(profile.engine == "mine");
  CHECK(profile.format == "recorder");
  CHECK(profile.threads == 2);
  CHECK(profile.warm_ups == 1);
  CHECK(microseconds(profile.latencies) == std::vector<double>{100, 100, 100, 100});
  REQUIRE(profile.records.size() == 4);
  CHECK(profile.records[0].name == "block");
  CHECK(!profile.records[0].parent);
  const auto& conv = profile.records[1];
  CHECK(conv.name == "conv1");
  CHECK(conv.parent == 0);
  CHECK(conv.op == "Conv");
  CHECK(conv.nodes == std::vector<std::string>{"/conv1/Conv"});
  CHECK(conv.algorithm == "winograd");
  CHECK(microseconds(conv.times) == std::vector<double>{30, 30, 30, 30});
  CHECK(conv.start->value == Approx(5e-6));
  CHECK(profile.records[2].name == "relu");
  CHECK(profile.records[2].parent == 0);
  CHECK(profile.records[2].nodes == std::vector<std::string>{"relu"});
  CHECK(profile.records[3].name == "relu");  // the second relu of the pass
  CHECK(!profile.records[3].parent);
  CHECK(microseconds(profile.records[3].times) == std::vector<double>{1, 1, 1, 1});
  CHECK(recorder.profile({.warm_ups = 3}).latencies.size() == 2);
  CHECK_THROWS_WITH(recorder.profile({.warm_ups = 5}), Catch::Contains("none is left"));
}

TEST_CASE("a pass that is not ended ends with its last layer, and the open one does not count") {
  Recorder recorder;
  for (int pass = 0; pass < 3; ++pass) {
    recorder.start_pass(at(1000.0 * pass));
    recorder.layer("a", at(1000.0 * pass + 10), at(1000.0 * pass + 70));
  }
  const auto profile = recorder.profile();
  CHECK(microseconds(profile.latencies) == std::vector<double>{70, 70});
  CHECK(profile.records[0].times.size() == 2);
}

TEST_CASE("lanes are apart, and layers that a pass lacks took no time in it") {
  Recorder recorder({.lanes = 2});
  for (int pass = 0; pass < 2; ++pass) {
    recorder.start_pass(at(1000.0 * pass));
    recorder.layer("a", at(1000.0 * pass + 10), at(1000.0 * pass + 70));
    recorder.layer("a", at(1000.0 * pass + 20), at(1000.0 * pass + 60), 1);
    if (pass == 1) recorder.layer("once", at(1080), at(1090), 1);
    recorder.end_pass(at(1000.0 * pass + 100));
  }
  const auto profile = recorder.profile();
  REQUIRE(profile.records.size() == 3);
  CHECK(profile.records[0].lane == 0);
  CHECK(profile.records[1].lane == 1);
  CHECK(!profile.records[1].parent);
  CHECK(microseconds(profile.records[2].times) == std::vector<double>{0, 10});
}

TEST_CASE("nothing is allocated within a pass that does what one before it did") {
  Recorder recorder({.layers = 1, .passes = 1});  // too small: it has to grow between passes
  for (int pass = 0; pass < 20; ++pass) {
    recorder.start_pass(at(1000.0 * pass));
    const std::size_t before = allocations;
    for (int layer = 0; layer < 100; ++layer) {
      const double start = 1000.0 * pass + layer;
      recorder.layer(layer % 3 == 0 ? "a layer with a name beyond small strings" : "b", at(start), at(start + 1));
    }
    recorder.end_pass(at(1000.0 * pass + 200));
    if (pass > 0) CHECK(allocations == before);
  }
  CHECK(recorder.profile().records.size() == 100);
}

TEST_CASE("wrong use of a recorder is refused") {
  Recorder recorder;
  CHECK_THROWS_WITH(recorder.layer("a", at(1), at(2)), Catch::Contains("layer() without start_pass()"));
  CHECK_THROWS_AS(recorder.end_pass(at(1)), UsageError);
  CHECK_THROWS_AS(Recorder({.lanes = 0}), UsageError);
  CHECK_THROWS_WITH(recorder.profile(), Catch::Contains("without start_pass()"));
  recorder.start_pass(at(0));
  CHECK_THROWS_WITH(recorder.start_pass(at(1)), Catch::Contains("start_pass() twice"));
  CHECK_THROWS_WITH(recorder.profile(), Catch::Contains("has no end_pass()"));
  CHECK_THROWS_AS(recorder.layer("a", at(1), at(2), 1), UsageError);
  CHECK_THROWS_WITH(recorder.layer("a", at(1), at(2), 1), Catch::Contains("on lane 1 of a recorder of 1 lanes"));
  recorder.layer("a", at(9), at(2));
  recorder.end_pass(at(10));
  CHECK_THROWS_WITH(recorder.profile(), Catch::Contains("layer 'a' of pass 0 ends before it starts"));
}
