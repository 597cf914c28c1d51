// SPDX-License-Identifier: Apache-2.0
// Expected values are counted by hand, in comments.
#include "support/catch.hpp"
#include <benanza/scale/make_scaling.hpp>

#include <cstdint>
#include <random>
#include <string>

namespace {

using namespace benanza;
using Kind = op::CollectiveKind;
using Algorithm = CollectiveAlgorithm;

/// Two layers, a and b: forward 1 s and 2 s, backward of b 3 s and of a 4 s, update 2 s, T1 = 12 s. Gradients of 100 B
/// (b) and 300 B (a).
Iteration two_layers() {
  return {.model = "two",
          .forward = {{"a", Phase::forward, {1}}, {"b", Phase::forward, {2}}},
          .backward = {{"b'", Phase::backward, {3}}, {"a'", Phase::backward, {4}}},
          .update = {2},
          .gradients = {{.name = "b", .made = 0, .needed = 1, .bytes = {100}},
                        {.name = "a", .made = 1, .needed = 0, .bytes = {300}}}};
}

/// Layers of random times and sizes.
Iteration random_iteration(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto number = [&](double most) { return std::uniform_real_distribution<double>(most / 100, most)(random); };
  Iteration result{.model = "random", .update = {number(0.01)}};
  const std::size_t layers = 1 + random() % 40;
  for (std::size_t i = 0; i < layers; ++i) {
    result.forward.push_back({std::to_string(i), Phase::forward, {number(0.01)}});
    result.backward.push_back({std::to_string(i), Phase::backward, {number(0.02)}});
    result.gradients.push_back(
        {.name = std::to_string(i), .made = i, .needed = layers - 1 - i, .bytes = {number(40e6)}});
  }
  return result;
}

constexpr ExchangeOptions one_bucket{.bucket = {1e18}};

}  // namespace

TEST_CASE("collectives take what the papers count") {
  const Network ring{.bandwidth = {1e9}, .latency = {1e-6}};
  // 4 ranks, 8 MB: reduce-scatter and all-gather have 3 steps of 2 MB each: 6 ms and 3 us. Both: 12 ms and 6 us.
  CHECK(collective_time(Kind::all_reduce, {8e6}, 4, ring).value == Approx(0.012006).epsilon(1e-12));
  CHECK(collective_time(Kind::reduce_scatter, {8e6}, 4, ring).value == Approx(0.006003).epsilon(1e-12));
  CHECK(collective_time(Kind::all_gather, {8e6}, 4, ring).value == Approx(0.006003).epsilon(1e-12));
  const Network tree{.bandwidth = {1e9}, .latency = {1e-6}, .algorithm = Algorithm::tree};
  // 2 steps up and 2 down of 8 MB each: 32 ms and 4 us. Halving: 4 MB, then 2 MB: 6 ms and 2 us.
  CHECK(collective_time(Kind::all_reduce, {8e6}, 4, tree).value == Approx(0.032004).epsilon(1e-12));
  CHECK(collective_time(Kind::reduce_scatter, {8e6}, 4, tree).value == Approx(0.006002).epsilon(1e-12));
  // 5 ranks: a tree of 3 steps.
  CHECK(collective_cost(Kind::all_reduce, Algorithm::tree, 5).messages == 6);
  CHECK(collective_time(Kind::all_reduce, {8e6}, 1, ring).value == 0);
}

TEST_CASE("the operands and additions of a collective are counted") {
  const op::AllReduce all{.n = 12, .ranks = 4};
  CHECK(all.operands().inputs[0].elements() == 12);
  CHECK(all.operands().outputs[0].elements() == 12);
  CHECK(all.arithmetic().flops == 9);  // 3 additions for each of 12 elements, over 4 ranks
  const op::ReduceScatter scatter{.n = 12, .ranks = 4};
  CHECK(scatter.operands().inputs[0].elements() == 12);
  CHECK(scatter.operands().outputs[0].elements() == 3);
  const op::AllGather gather{.n = 12, .ranks = 4};
  CHECK(gather.operands().inputs[0].elements() == 3);
  CHECK(gather.operands().outputs[0].elements() == 12);
  CHECK(gather.arithmetic().flops == 0);
  CHECK_FALSE(op::AllGather{.n = 13, .ranks = 4}.consistent());
  CHECK(op::AllReduce{.n = 13, .ranks = 4}.consistent());
  CHECK_FALSE(op::AllReduce{.n = 13, .ranks = 1}.consistent());
}

TEST_CASE("buckets close with the gradient that fills them") {
  Iteration iteration = two_layers();
  CHECK(make_buckets(iteration, {0}).size() == 2);
  CHECK(make_buckets(iteration, {100}).size() == 2);
  const auto one = make_buckets(iteration, {101});
  REQUIRE(one.size() == 1);
  CHECK(one[0].bytes == Bytes{400});
  CHECK(one[0].made == 1);
  CHECK(one[0].needed == 0);
}

TEST_CASE("the timeline of two layers is as calculated by hand") {
  const Iteration iteration = two_layers();
  const auto ten_a_second = [](Bytes bytes) { return Seconds{bytes.value / 50}; };  // b takes 2 s, a 6 s
  SECTION("fifo: the optimizer waits for all") {
    // Backward: b' 0-3, a' 3-7. Network: b 3-5, a 7-13. Computation waits 7-13; update 13-15, forward 15-18.
    const IterationTimeline timeline =
        make_iteration_timeline(iteration, make_buckets(iteration, {0}), {}, ten_a_second);
    CHECK(timeline.length == Seconds{18});
    CHECK(timeline.exposed == Seconds{6});
    REQUIRE(timeline.sent.size() == 2);
    CHECK(timeline.sent[0].start == Seconds{3});
    CHECK(timeline.sent[0].exposed == Seconds{0});
    CHECK(timeline.sent[1].start == Seconds{7});
    CHECK(timeline.sent[1].exposed == Seconds{6});
    CHECK(timeline.communication() == Seconds{8});
  }
  SECTION("one bucket overlaps nothing") {
    // 8 s after backward: 7 + 8 + 2 + 3 = T1 + 8.
    const IterationTimeline timeline =
        make_iteration_timeline(iteration, make_buckets(iteration, {1e9}), {}, ten_a_second);
    CHECK(timeline.length == Seconds{20});
  }
  SECTION("priority: what forward reads first overtakes") {
    // At 20 bytes per second b takes 5 s and a 15 s. A third gradient c, made with a and read by b, has 100 B. Network:
    // b 3-8, then a (needed first) 8-23, c 23-28. Forward: a waits until 23; its part of the update, 300 of 500 B,
    // takes 1.2 s, its forward 1 s: 25.2. b waits for c until 28, 0.8 s of update, 2 s: 30.8.
    Iteration three = iteration;
    three.gradients.insert(three.gradients.begin() + 1, {.name = "c", .made = 1, .needed = 1, .bytes = {100}});
    const IterationTimeline timeline =
        make_iteration_timeline(three, make_buckets(three, {0}), {.order = SendOrder::priority},
                                [](Bytes bytes) { return Seconds{bytes.value / 20}; });
    REQUIRE(timeline.sent.size() == 3);
    CHECK(timeline.sent[1].bucket.needed == 0);
    CHECK(timeline.length.value == Approx(30.8).epsilon(1e-12));
    CHECK(timeline.exposed.value == Approx(30.8 - 12).epsilon(1e-12));
    // Fifo sends c before a: all gradients have also arrived at 28, then 2 s of update and 3 s of forward.
    CHECK(make_iteration_timeline(three, make_buckets(three, {0}), {}, [](Bytes bytes) {
            return Seconds{bytes.value / 20};
          }).length == Seconds{33});
  }
  SECTION("packing and unpacking take the worker's time") {
    // 4 s for 400 B: 0.5 s to pack b and 0.5 s to unpack it, 1.5 s each for a. Backward: b' 0-3, packed 3.5, a' 7.5,
    // packed 9. Network: b 3.5-5.5, a 9-15. b is unpacked 9-9.5, a 15-16.5; update 16.5-18.5, forward 18.5-21.5.
    const IterationTimeline timeline =
        make_iteration_timeline(iteration, make_buckets(iteration, {0}), {.overhead = {4}}, ten_a_second);
    CHECK(timeline.sent[0].start == Seconds{3.5});
    CHECK(timeline.sent[1].start == Seconds{9});
    CHECK(timeline.exposed == Seconds{5.5});
    CHECK(timeline.overhead == Seconds{4});
    CHECK(timeline.length == Seconds{21.5});
    // By priority a goes into forward first: unpacked 15-16.5, 1.5 s of update, 1 s; then b: 0.5, 0.5 and 2 s.
    const IterationTimeline other = make_iteration_timeline(
        iteration, make_buckets(iteration, {0}), {.order = SendOrder::priority, .overhead = {4}}, ten_a_second);
    CHECK(other.overhead == Seconds{4});
    CHECK(other.length == Seconds{22});
    // One worker exchanges nothing.
    CHECK(make_iteration_timeline(iteration, 1, Network{}, {.overhead = {4}}).length == Seconds{12});
  }
}

TEST_CASE("the closed form of the break-even is 2 S / (n T1)") {
  const Iteration iteration = two_layers();
  // S = 400 B, T1 = 12 s. 4 workers: 800 / 48 = 16.67 B/s. Then Tn = 12 + 1.5 x 400 / 16.67 = 48 = 4 T1.
  const auto least = least_bandwidth_without_overlap(iteration, 4, break_even(4), {});
  REQUIRE(least);
  CHECK(least->value == Approx(800.0 / 48).epsilon(1e-12));
  CHECK(make_iteration_timeline(iteration, 4, {.bandwidth = *least}, one_bucket).length.value ==
        Approx(48.0).epsilon(1e-12));
  // 90 %: Tn = 13.333 s, so 1.333 s for 600 B.
  CHECK(least_bandwidth_without_overlap(iteration, 4, 0.9, {})->value == Approx(450.0).epsilon(1e-9));
  // 6 messages of 7 s take more than the remaining 36 s.
  CHECK_FALSE(least_bandwidth_without_overlap(iteration, 4, break_even(4), {.latency = {7}}));
  CHECK_FALSE(least_bandwidth(iteration, 4, break_even(4), {.latency = {7}}, one_bucket));
  // With 6 s of overhead 30 s are left for 600 B; 36 s leave nothing.
  const ExchangeOptions packed{.bucket = {1e18}, .overhead = {6}};
  CHECK(least_bandwidth_without_overlap(iteration, 4, break_even(4), {}, packed.overhead)->value ==
        Approx(20.0).epsilon(1e-12));
  CHECK(least_bandwidth(iteration, 4, break_even(4), {}, packed)->value == Approx(20.0).epsilon(2e-6));
  CHECK_FALSE(least_bandwidth_without_overlap(iteration, 4, break_even(4), {}, {36}));
}

TEST_CASE("the simulation and the closed form agree where nothing overlaps") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Iteration iteration = random_iteration(seed);
    for (const auto algorithm : {Algorithm::ring, Algorithm::tree})
      for (const std::int64_t workers : {2, 3, 8})
        for (const double wanted : {break_even(workers), 0.9}) {
          const Network network{.latency = {1e-6}, .algorithm = algorithm};
          const auto closed = least_bandwidth_without_overlap(iteration, workers, wanted, network);
          REQUIRE(closed);
          for (const auto order : {SendOrder::fifo, SendOrder::priority}) {
            ExchangeOptions options = one_bucket;
            options.order = order;
            const auto bisected = least_bandwidth(iteration, workers, wanted, network, options);
            REQUIRE(bisected);
            CHECK(bisected->value == Approx(closed->value).epsilon(2e-6));
          }
        }
  }
}

TEST_CASE("properties of timelines") {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    const Iteration iteration = random_iteration(seed);
    const double one = iteration.time().value;
    for (const auto order : {SendOrder::fifo, SendOrder::priority}) {
      const ExchangeOptions options{.order = order, .bucket = {25e6}};
      // One worker exchanges nothing.
      CHECK(make_iteration_timeline(iteration, 1, {.bandwidth = gigabits(1)}, options).length.value ==
            Approx(one).epsilon(1e-9));
      for (const double rate : {0.1, 1.0, 10.0, 100.0}) {
        const IterationTimeline at = make_iteration_timeline(iteration, 4, {.bandwidth = gigabits(rate)}, options);
        CHECK(at.length.value == Approx(one + at.exposed.value).epsilon(1e-9));
        double exposed = 0, bytes = 0;
        Seconds before{};
        for (const auto& sent : at.sent) {
          exposed += sent.exposed.value;
          bytes += sent.bucket.bytes.value;
          CHECK(sent.start >= before);
          CHECK(sent.start >= sent.ready);
          before = sent.end();
        }
        CHECK(exposed == Approx(at.exposed.value).margin(1e-9));
        CHECK(bytes == Approx(iteration.gradient_bytes().value).epsilon(1e-12));
        CHECK(at.exposed.value <= at.communication().value + 1e-9);
      }
    }
    // More bandwidth is never slower, and neither is the order by priority.
    double last = 1e300;
    for (double rate = 0.1; rate < 200; rate *= 1.7) {
      const Network network{.bandwidth = gigabits(rate), .latency = {1e-5}};
      const double fifo = make_iteration_timeline(iteration, 4, network, {.order = SendOrder::fifo}).length.value;
      const double priority =
          make_iteration_timeline(iteration, 4, network, {.order = SendOrder::priority}).length.value;
      CHECK(fifo <= last + 1e-9);
      CHECK(priority <= fifo + 1e-9);
      last = fifo;
    }
    // Bisection finds the bandwidth at which the timeline has the efficiency.
    const auto least = least_bandwidth(iteration, 4, 0.8, {}, {});
    REQUIRE(least);
    CHECK(efficiency(iteration, make_iteration_timeline(iteration, 4, {.bandwidth = *least}, {}).length) >= 0.8);
    CHECK(efficiency(iteration, make_iteration_timeline(iteration, 4, {.bandwidth = *least * 0.999}, {}).length) < 0.8);
  }
}

TEST_CASE("an iteration scaled to a measured time keeps its proportions") {
  // Forward 3 -> 6, backward 7 -> 3.5, the optimizer 2 -> 1: 10.5 instead of 12.
  const Iteration by_phase = with_phases(two_layers(), {.forward = {6}, .backward = {3.5}, .update = {1}});
  CHECK(by_phase.time().value == Approx(10.5));
  CHECK(by_phase.forward[1].time.value == Approx(4));
  CHECK(by_phase.backward[0].time.value == Approx(1.5));
  CHECK(by_phase.update.value == Approx(1));
  const Iteration scaled = scaled_to(two_layers(), {6});
  CHECK(scaled.time() == Seconds{6});
  CHECK(scaled.backward[1].time == Seconds{2});
  CHECK(scaled.update == Seconds{1});
}

TEST_CASE("a measured network knows what was measured, and what lies between") {
  MeasuredNetwork network;
  network.add(2, {100}, {.expected = {1}, .least = {0.9}, .most = {1.2}});
  network.add(2, {300}, {.expected = {3}, .least = {2.9}, .most = {3.2}});
  network.add(2, {300}, {.expected = {4}, .least = {3.9}, .most = {4.2}});  // longer: another plan
  CHECK(network.time(2, {100})->expected == Seconds{1});
  CHECK(network.time(2, {300})->expected == Seconds{3});
  CHECK(network.time(2, {150})->expected.value == Approx(1.5).epsilon(1e-12));
  CHECK(network.time(2, {150})->most.value == Approx(1.7).epsilon(1e-12));
  CHECK_FALSE(network.time(2, {99}));
  CHECK_FALSE(network.time(2, {301}));
  CHECK_FALSE(network.time(3, {100}));
}

TEST_CASE("workers on a measured network") {
  // Buckets of 100 B and 300 B of two_layers take 2 s and 6 s: fifo, as computed above: 18 s, T1 = 12 s.
  ScalingOptions options{.workers = 2, .measured = MeasuredNetwork{}, .exchange = {.bucket = {0}}};
  options.measured->add(2, {100}, {.expected = {2}, .least = {2}, .most = {2}});
  options.measured->add(2, {300}, {.expected = {6}, .least = {4}, .most = {8}});
  const Scaling scaling = make_scaling(two_layers(), options);
  REQUIRE(scaling.points.size() == 1);
  CHECK(scaling.points[0].length == Seconds{18});
  CHECK(scaling.points[0].speed_up == Approx(2 * 12.0 / 18).epsilon(1e-12));
  // With 8 s the second bucket ends at 15, an iteration takes 20 s; with 4 s 16 s.
  REQUIRE(scaling.points[0].speed_up_interval);
  CHECK(scaling.points[0].speed_up_interval->least == Approx(24.0 / 20).epsilon(1e-12));
  CHECK(scaling.points[0].speed_up_interval->most == Approx(24.0 / 16).epsilon(1e-12));
  // 8 s for 400 B: a ring of 2 sends 400 B for each bucket, so this equals 50 B/s.
  CHECK(scaling.points[0].bandwidth.value == Approx(50.0).epsilon(1e-12));
  options.workers = 3;
  CHECK_THROWS_AS(make_scaling(two_layers(), options), UsageError);
}

TEST_CASE("the least bandwidth has an interval from what is uncertain") {
  // Nothing overlaps: 2 S / (n T1) = 800 / 24 = 33.3 B/s for two workers, over the share that is reached, 0.8 to 1.
  ScalingOptions options{.workers = 2, .bandwidths = {{100}}, .exchange = one_bucket, .reached_least = 0.8};
  Iteration iteration = two_layers();
  iteration.uncertainty = 0.05;  // 11.4 s to 12.6 s
  const LeastBandwidths least = make_scaling(iteration, options).least.at(0);
  CHECK(least.break_even->value == Approx(800.0 / 24 / 0.9).epsilon(2e-6));
  REQUIRE(least.break_even_interval);
  CHECK(least.break_even_interval->least.value == Approx(800.0 / 25.2).epsilon(2e-6));
  CHECK(least.break_even_interval->most.value == Approx(800.0 / 22.8 / 0.8).epsilon(2e-6));
  CHECK_FALSE(make_scaling(two_layers(), {.workers = 2, .bandwidths = {{100}}}).least.at(0).break_even_interval);
  // 2 s of overhead, plus or minus a tenth: 400 B in 12.6 - 1.8 = 10.8 s to 11.4 - 2.2 = 9.2 s.
  options.exchange.overhead = {2};
  options.overhead_uncertainty = 0.1;
  const auto packed = make_scaling(iteration, options).least.at(0).break_even_interval;
  REQUIRE(packed);
  CHECK(packed->least.value == Approx(400.0 / 10.8).epsilon(2e-6));
  CHECK(packed->most.value == Approx(400.0 / 9.2 / 0.8).epsilon(2e-6));
}
