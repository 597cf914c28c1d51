// SPDX-License-Identifier: Apache-2.0
// Lanes, nesting, kernels below layers, and time that no record covers.
#include "support/gap_support.hpp"

#include <array>

namespace {

using namespace gap_support;

ProfileRecord at(ProfileRecord made, double start_us, std::int64_t lane, Activity activity = Activity::layer) {
  made.start = Seconds{start_us * us};
  made.lane = lane;
  made.activity = activity;
  return made;
}
ProfileRecord below(ProfileRecord made, std::size_t parent) {
  made.parent = parent;
  return made;
}

Gap gap_of(const EngineProfile& p) {
  const Case c = three_layers();
  Gap gap = compare(c.analysis, c.model, p);
  check_sums(gap);
  return gap;
}

}  // namespace

TEST_CASE("a nested record's time is not counted twice") {
  // Conv_0 takes 140, of which 10 are a reorder inside it
  const Gap gap = gap_of(
      one_after_another(profile(200, {record("Conv_0", 140), below(record("ReorderInput", 10, "ReorderInput"), 0),
                                      record("Relu_1", 25), record("Softmax_2", 30)})));
  CHECK(gap.records[0].time.value == Approx(130 * us));
  CHECK(part_us(gap, Cause::conversions) == Approx(10));
  CHECK(part_us(gap, Cause::between_layers) == Approx(200 - 195));
}

TEST_CASE("records that nest deeply are read in time that grows with their number") {
  constexpr std::size_t deep = 100'000;
  std::vector<ProfileRecord> records{record("scope", 140)};
  for (std::size_t i = 0; i < deep; ++i) records.push_back(below(record("frame", 140), i));
  records.push_back(below(record("Conv_0", 140), deep));
  records.push_back(record("Relu_1", 25));
  records.push_back(record("Softmax_2", 30));
  const Gap gap = gap_of(profile(200, records));
  CHECK(gap.records.at(deep + 1).time.value == Approx(140 * us));
  // 140 + 25 against 105 fused or 100 + 20 separately; the softmax takes 30 in both
  CHECK(part_us(gap, Cause::not_fused) == Approx(15));
  CHECK(part_us(gap, Cause::slower_layers) == Approx(45));
}

TEST_CASE("where there are kernels, their time counts, and the layers above say what they are") {
  // Device: padding 5, convolution 100, relu 22, softmax 30. The host finishes before the device.
  EngineProfile p = profile(170, {at(record("Conv_0", 8, "Conv"), 0, 1), at(record("Relu_1", 8, "Relu"), 8, 1),
                                  at(record("Softmax_2", 8, "Softmax"), 16, 1)});
  p.records.push_back(below(at(record("padding_kernel", 5), 4, 7, Activity::kernel), 0));
  p.records.push_back(below(at(record("volta_scudnn_128x64", 100), 10, 7, Activity::kernel), 0));
  p.records.push_back(below(at(record("op_generic_tensor", 22), 112, 7, Activity::kernel), 1));
  p.records.push_back(below(at(record("softmax_fw", 30), 136, 7, Activity::kernel), 2));
  Case c = three_layers();
  c.analysis.machine = {};
  const Gap gap = compare(c.analysis, c.model, p);
  check_sums(gap);
  CHECK(part_us(gap, Cause::extra_calls) == Approx(5));
  CHECK(gap.part(Cause::extra_calls)->items[0].name == "padding_kernel");
  // Gaps of the device: 0..4, 9..10, 110..112, 134..136 and 166..170 = 13, of which the host's layers cover 0..4 and
  // 9..10 = 5
  CHECK(part_us(gap, Cause::host) == Approx(5));
  CHECK(part_us(gap, Cause::between_layers) == Approx(8));
  // 100 + 22 against 105 fused or 100 + 20 separately; the softmax takes 30 in both
  CHECK(part_us(gap, Cause::not_fused) == Approx(15));
  CHECK(part_us(gap, Cause::slower_layers) == Approx(2));
  CHECK(gap.records[4].by == MatchedBy::parent);
  CHECK_FALSE(gap.records[0].counted);
}

TEST_CASE("records of two lanes that run at the same time give time back") {
  // Conv_0 0..140, Relu_1 140..165 and, on another lane, Softmax_2 150..180: 15 at the same time, all done at 180
  const Gap gap = gap_of(profile(
      185, {at(record("Conv_0", 140), 0, 1), at(record("Relu_1", 25), 140, 1), at(record("Softmax_2", 30), 150, 2)}));
  CHECK(part_us(gap, Cause::side_by_side) == Approx(-15));
  CHECK(part_us(gap, Cause::between_layers) == Approx(5));
}

TEST_CASE("waits and calls count as far as nothing runs meanwhile") {
  // Layers 0..140, 150..175 and 175..205; a wait 135..150 covers 10 of the gap, a call 205..208 the 3 after it
  const Gap gap = gap_of(profile(
      210, {at(record("Conv_0", 140), 0, 1), at(record("Relu_1", 25), 150, 1), at(record("Softmax_2", 30), 175, 1),
            at(record("barrier", 15), 135, 2, Activity::wait), at(record("malloc", 3), 205, 2, Activity::call)}));
  CHECK(part_us(gap, Cause::waits) == Approx(10));
  CHECK(part_us(gap, Cause::calls) == Approx(3));
  CHECK(part_us(gap, Cause::between_layers) == Approx(2));
}

TEST_CASE("runtime calls between library calls are a cause of their own, with an advice that names them") {
  // As above. Two calls between library calls cover 3 + 4 of the 10 after Conv_0, a launch covers 2 of the last 5.
  EngineProfile p =
      profile(210, {at(record("Conv_0", 140), 0, 1), at(record("Relu_1", 25), 150, 1),
                    at(record("Softmax_2", 30), 175, 1), at(record("cudaStreamWaitEvent", 3), 141, 2, Activity::call),
                    at(record("cudaStreamWaitEvent", 4), 144, 2, Activity::call),
                    at(record("cudaLaunchKernel", 2), 206, 2, Activity::call)});
  p.records[3].between_libraries = p.records[4].between_libraries = true;
  p.between = {{.name = "cudaStreamWaitEvent", .after = "cudnnConvolutionForward", .before = "cudnnAddTensor"}};
  const Gap gap = gap_of(p);
  CHECK(part_us(gap, Cause::between_calls) == Approx(7));
  CHECK(part_us(gap, Cause::calls) == Approx(2));
  CHECK(part_us(gap, Cause::between_layers) == Approx(6));
  const auto advice =
      std::find_if(gap.advice.begin(), gap.advice.end(), [](const auto& each) { return each.change == Change::call; });
  REQUIRE(advice != gap.advice.end());
  CHECK(advice->gain.value == Approx(7 * us));
  CHECK_THAT(advice->text, Catch::Contains("2 x cudaStreamWaitEvent"));
  CHECK(advice->layers ==
        std::vector<std::string>{"cudaStreamWaitEvent between cudnnConvolutionForward and cudnnAddTensor"});
  // Without claims about layers, the same cause and advice, and the rest of 210 - 135 is unexplained.
  p.total_only = "the rules of 2019";
  for (std::size_t i = 0; i < 3; ++i) p.records[i].activity = Activity::kernel;
  Case c = three_layers();
  c.analysis.machine = {};
  const Gap total = compare(c.analysis, c.model, p);
  CHECK(part_us(total, Cause::between_calls) == Approx(7));
  CHECK(part_us(total, Cause::unexplained) == Approx(68));
  CHECK(total.explained().value() == Approx(7.0 / 75));
  check_sums(total);
  CHECK(std::any_of(total.advice.begin(), total.advice.end(),
                    [](const auto& each) { return each.change == Change::call && each.gain.value == Approx(7 * us); }));
}

TEST_CASE("time is split by library: by who launched a kernel, else by names, and what nobody knows is other") {
  EngineProfile p =
      profile(200, {at(record("implicit_gemm", 100), 0, 7, Activity::kernel),
                    at(record("volta_scudnn_128x64", 40), 100, 7, Activity::kernel),
                    at(record("gemv2T", 25), 140, 7, Activity::kernel), at(record("pad", 5), 165, 7, Activity::kernel),
                    at(record("launch", 9), 180, 1, Activity::call)});
  p.records[0].library = "cudnn";
  p.records[2].library = "cublas";
  Case c = three_layers();
  c.analysis.machine = {};
  const Gap gap = compare(c.analysis, c.model, p);
  REQUIRE(gap.by_library.size() == 3);
  CHECK(gap.by_library[0].library == "cudnn");
  CHECK(gap.by_library[0].time.value == Approx(140 * us));
  CHECK(gap.by_library[0].records == 2);
  CHECK(gap.by_library[1].library == "cublas");
  CHECK(gap.by_library[1].time.value == Approx(25 * us));
  CHECK(gap.by_library[2].library == "other");
  CHECK(gap.by_library[2].time.value == Approx(5 * us));
  CHECK(gap_of(profile(200, {record("Conv_0", 140), record("Relu_1", 25)})).by_library.empty());
}

TEST_CASE("over several passes medians count, and what they do not add up to is unexplained") {
  // Passes: latencies 200, 206, 203: median 203. Conv_0 140, 150, 141: 141. Others 25 and 30. Idle 5, 1, 7: median 5.
  // 203 - (141 + 25 + 30 + 5) = 2
  EngineProfile p = profile(0, {record("Conv_0", 0), record("Relu_1", 0), record("Softmax_2", 0)});
  p.latencies = {Seconds{200 * us}, Seconds{206 * us}, Seconds{203 * us}};
  p.records[0].times = {Seconds{140 * us}, Seconds{150 * us}, Seconds{141 * us}};
  p.records[1].times = std::vector<Seconds>(3, Seconds{25 * us});
  p.records[2].times = std::vector<Seconds>(3, Seconds{30 * us});
  const Gap gap = gap_of(one_after_another(p));
  CHECK(gap.latency->value == Approx(203 * us));
  CHECK(part_us(gap, Cause::between_layers) == Approx(5));
  CHECK(part_us(gap, Cause::unexplained) == Approx(2));
  // Half of the range over three passes
  CHECK(gap.records[0].uncertainty->value == Approx(5 * us));
  CHECK(gap.latency_uncertainty->value == Approx(3 * us));
  CHECK(*gap.explained() == Approx(1 - 2.0 / (203 - 135)));
}

TEST_CASE("records that take longer than the latency do not add up, which is unexplained") {
  // A profiler's own events between layers: 140 + 25 + 30 = 195 in a pass of 180
  const Gap gap = gap_of(profile(180, {record("Conv_0", 140), record("Relu_1", 25), record("Softmax_2", 30)}));
  CHECK(part_us(gap, Cause::unexplained) == Approx(-15));
  CHECK(gap.part(Cause::between_layers) == nullptr);
}

TEST_CASE("where each pass has another slow layer, the layers' times still add up to the latency") {
  // Eight passes of 480. 90 of the 450 in layers are a delay that hits Conv_0 in three passes, Relu_1 in three and
  // Softmax_2 in two. Medians: 200 + 100 + 60 = 360. Means: 200 + 90 * 3 / 8, 100 + 90 * 3 / 8, 60 + 90 * 2 / 8.
  EngineProfile p = profile(0, {record("Conv_0", 0), record("Relu_1", 0), record("Softmax_2", 0)});
  const double usual[] = {200, 100, 60};
  for (std::size_t pass = 0; pass < 8; ++pass) {
    p.latencies.push_back(Seconds{480 * us});
    for (std::size_t r = 0; r < 3; ++r) {
      auto& times = p.records[r].times;
      if (pass == 0) times.clear();
      times.push_back(Seconds{(usual[r] + (pass % 3 == r ? 90 : 0)) * us});
    }
  }
  const Gap gap = gap_of(one_after_another(p));
  CHECK(gap.records[0].time.value == Approx(233.75 * us));
  CHECK(gap.records[1].time.value == Approx(133.75 * us));
  CHECK(gap.records[2].time.value == Approx(82.5 * us));
  // Three of 8 are 56.25 above the mean, five are 33.75 below it: sqrt((3 * 56.25^2 + 5 * 33.75^2) / 7 / 8)
  CHECK(gap.records[0].uncertainty->value == Approx(16.468 * us).epsilon(1e-4));
  CHECK(part_us(gap, Cause::between_layers) == Approx(30));
  CHECK(part_us(gap, Cause::unexplained) == Approx(0).margin(1e-9));
}

TEST_CASE("without starts it is not known that nothing ran: what no record covers is unexplained") {
  // 200 - (140 + 25 + 28) = 7 of a gap of 65
  const Gap gap = gap_of(profile(200, {record("Conv_0", 140), record("Relu_1", 25), record("Softmax_2", 28)}));
  CHECK(gap.part(Cause::between_layers) == nullptr);
  CHECK(part_us(gap, Cause::unexplained) == Approx(7));
  CHECK(*gap.explained() == Approx(1 - 7.0 / 65));
}

TEST_CASE("a latency of another run tells nothing of the time between records, nor are its passes theirs") {
  // As many latencies as passes: their median is 201.5, and their middle half, by time, is the passes 2, 5, 6 and 7, in
  // which Conv_0 takes 147.5 on average. In a single run those are the passes of the usual length. With two runs the
  // median of Conv_0 counts, 140, and 201.5 - (140 + 25 + 30) = 6.5 are unexplained.
  EngineProfile p = profile(0, {record("Conv_0", 0), record("Relu_1", 25), record("Softmax_2", 30)});
  for (const double latency : {180.0, 181.0, 218.0, 219.0, 220.0, 200.0, 201.0, 202.0})
    p.latencies.push_back(Seconds{latency * us});
  p.records[0].times.clear();
  for (const double time : {140.0, 140.0, 140.0, 140.0, 140.0, 150.0, 150.0, 150.0})
    p.records[0].times.push_back(Seconds{time * us});
  for (std::size_t r = 1; r < 3; ++r) p.records[r].times.resize(8, p.records[r].times[0]);
  p = one_after_another(p);
  CHECK(gap_of(p).records[0].time.value == Approx(147.5 * us));
  p.latencies_apart = true;
  const Gap gap = gap_of(p);
  CHECK(gap.records[0].time.value == Approx(140 * us));
  CHECK(gap.part(Cause::between_layers) == nullptr);
  CHECK(part_us(gap, Cause::unexplained) == Approx(6.5));
}

TEST_CASE("a single slow pass shows in the uncertainty of a layer's mean, and in what is summed from it") {
  // Sixteen passes of 5000: the others wait if Conv_0 takes 4100 instead of 140. Mean (15 * 140 + 4100) / 16 = 387.5;
  // its standard error is 3960 / 16 = 247.5
  EngineProfile p = profile(0, {record("Conv_0", 0), record("Relu_1", 25), record("Softmax_2", 30)});
  p.latencies.assign(16, Seconds{5000 * us});
  p.records[0].times.assign(16, Seconds{140 * us});
  p.records[0].times[5] = Seconds{4100 * us};
  for (std::size_t r = 1; r < 3; ++r) p.records[r].times.resize(16, p.records[r].times[0]);
  const Gap gap = gap_of(one_after_another(p));
  CHECK(gap.records[0].time.value == Approx(387.5 * us));
  CHECK(gap.records[0].uncertainty->value == Approx(247.5 * us));
  CHECK(gap.part(Cause::slower_layers)->uncertainty->value >= 247.5 * us);
  CHECK(gap.part(Cause::between_layers)->uncertainty->value == Approx(247.5 * us));
}

TEST_CASE("if passes differ by more than a fifth, the quiet ones count, with a warning") {
  // Ten passes of 200, six of 300, in which Conv_0 takes 100 more
  EngineProfile p = profile(0, {record("Conv_0", 0), record("Relu_1", 25), record("Softmax_2", 30)});
  p.records[0].times.clear();
  for (int pass = 0; pass < 16; ++pass) {
    const bool slow = pass % 8 >= 5;
    p.latencies.push_back(Seconds{(slow ? 300 : 200) * us});
    p.records[0].times.push_back(Seconds{(slow ? 240 : 140) * us});
  }
  for (std::size_t r = 1; r < 3; ++r) p.records[r].times.resize(16, p.records[r].times[0]);
  p = one_after_another(p);
  const Gap gap = gap_of(p);
  CHECK(gap.quiet_passes == 10);
  CHECK(gap.passes == 16);
  CHECK(gap.latency->value == Approx(200 * us));
  CHECK(gap.records[0].time.value == Approx(140 * us));
  CHECK(part_us(gap, Cause::between_layers) == Approx(5));
  REQUIRE(gap.warnings.size() == 1);
  CHECK_THAT(gap.warnings[0], Catch::Contains("1.50 times p10") && Catch::Contains("only the 10 passes"));

  // With seven quiet passes all count: their median is 300.
  for (std::size_t pass : {0U, 1U, 2U}) p.latencies[pass] = Seconds{300 * us};
  const Gap noisy = gap_of(p);
  CHECK(noisy.quiet_passes == 16);
  CHECK(noisy.latency->value == Approx(300 * us));
  CHECK_THAT(noisy.warnings.at(0), Catch::Contains("so that all count"));
}

TEST_CASE("the uncertainty of a part is that of its sum in each pass, since a pass disturbs all its layers alike") {
  // Sixteen passes of 400. Conv_0 and Relu_1 of the same call both take 10 more in each odd pass: their sum varies by
  // 20, half of it from the mean, sqrt(16 * 10^2 / 15 / 16) = 2.582. Independent records would give 1.826.
  EngineProfile p = profile(0, {record("Conv_0", 0), record("Relu_1", 0), record("Softmax_2", 30)});
  p.latencies.assign(16, Seconds{400 * us});
  for (std::size_t r = 0; r < 2; ++r) {
    p.records[r].times.clear();
    for (int pass = 0; pass < 16; ++pass) p.records[r].times.push_back(Seconds{(100 + pass % 2 * 10) * us});
  }
  p.records[2].times.assign(16, Seconds{30 * us});
  const Gap gap = gap_of(one_after_another(p));
  CHECK(gap.part(Cause::slower_layers)->uncertainty->value == Approx(2.582 * us).epsilon(1e-3));
  // Softmax_2 and both others are opposite in each pass: their sum does not vary.
  for (int pass = 0; pass < 16; ++pass)
    p.records[2].times[static_cast<std::size_t>(pass)] = Seconds{(60 - pass % 2 * 20) * us};
  const Gap opposite = gap_of(one_after_another(p));
  CHECK(opposite.part(Cause::slower_layers)->uncertainty->value == Approx(0).margin(1e-12));
}

TEST_CASE("where the time of a pass is the sum of its records, quiet passes count as where passes are timed") {
  // 140 + 25 + 30 = 195 us, or three times that in every second pass
  const auto alternating = [](std::size_t passes, double slower) {
    EngineProfile p = profile(0, {record("Conv_0", 0), record("Relu_1", 0), record("Softmax_2", 0)});
    const double quiet_us[] = {140, 25, 30};
    for (std::size_t r = 0; r < p.records.size(); ++r) {
      p.records[r].times.clear();
      for (std::size_t pass = 0; pass < passes; ++pass)
        p.records[r].times.push_back(Seconds{quiet_us[r] * us * (pass % 2 == 0 ? 1 : slower)});
    }
    return p;
  };
  const auto warned = [](const Gap& gap, const std::string& words) {
    return std::any_of(gap.warnings.begin(), gap.warnings.end(),
                       [&words](const std::string& text) { return text.find(words) != std::string::npos; });
  };
  const Gap ten = gap_of(alternating(20, 3));
  CHECK(ten.latency_of_records);
  CHECK(ten.latency->value == Approx(195 * us));
  CHECK(ten.passes == 20);
  CHECK(ten.quiet_passes == 10);
  CHECK(ten.p10->value == Approx(195 * us));
  CHECK(ten.p90->value == Approx(585 * us));
  CHECK(ten.latency_uncertainty->value == Approx(0).margin(1e-12));
  CHECK(warned(ten, "p90 is 3.00 times p10"));
  CHECK(warned(ten, "only the 10 passes within 10 % of p10 count"));
  CHECK(ten.records[0].time.value == Approx(140 * us));
  for (const GapPart& part : ten.parts)
    if (part.uncertainty) CHECK(part.uncertainty->value == Approx(0).margin(1e-12));
  // Five quiet and five slow passes: all ten count. The median of each record is twice its quiet time.
  const Gap five = gap_of(alternating(10, 3));
  CHECK(five.latency->value == Approx(390 * us));
  CHECK(five.quiet_passes == 10);
  CHECK(warned(five, "too few of them are quiet, so that all count"));
  // Passes that are alike within 1.2: the median is between 195 and 1.1 x 195.
  const Gap alike = gap_of(alternating(20, 1.1));
  CHECK(alike.latency->value == Approx(1.05 * 195 * us));
  CHECK(alike.quiet_passes == 20);
  CHECK_FALSE(warned(alike, "the passes differ"));
  // A file that has means only, and records that took no time that shows.
  CHECK_FALSE(gap_of(alternating(1, 3)).p10);
  EngineProfile none = alternating(20, 3);
  for (auto& each : none.records) each.times[0] = Seconds{};
  const Gap lacking = gap_of(none);
  CHECK(lacking.passes == 20);
  CHECK_FALSE(lacking.p10);
}

TEST_CASE("a latency that is a sum of records is the median of these sums, not the sum of medians") {
  // In each pass, another record takes 100 us longer than 140, 25 and 30 us: every pass takes 295 us.
  const auto turns = [](std::size_t passes) {
    EngineProfile p = profile(0, {record("Conv_0", 0), record("Relu_1", 0), record("Softmax_2", 0)});
    const double usual_us[] = {140, 25, 30};
    for (std::size_t r = 0; r < p.records.size(); ++r) {
      p.records[r].times.clear();
      for (std::size_t pass = 0; pass < passes; ++pass)
        p.records[r].times.push_back(Seconds{(usual_us[r] + (pass % 3 == r ? 100 : 0)) * us});
    }
    return p;
  };
  const Gap three = gap_of(turns(3));
  CHECK(three.latency->value == Approx(295 * us));
  CHECK(three.records[0].time.value == Approx(140 * us));  // a median
  CHECK(part_us(three, Cause::unexplained) == Approx(100));
  const Gap nine = gap_of(turns(9));
  CHECK(nine.latency->value == Approx(295 * us));
  CHECK(nine.records[0].time.value == Approx((140 + 100.0 / 3) * us));  // a mean, as where passes are timed
  CHECK(part_us(nine, Cause::unexplained) == Approx(0).margin(1e-6));
}

TEST_CASE("starts of records, too, are those of the quiet passes") {
  // Quiet: Conv_0 0..140 on one lane, Softmax_2 120..150 and Relu_1 150..175 on another: 175, of which 20 side by side.
  EngineProfile p =
      profile(0, {at(record("Conv_0", 0), 0, 1), at(record("Softmax_2", 0), 0, 2), at(record("Relu_1", 0), 0, 2)});
  const std::array<std::pair<double, double>, 3> quiet_us{{{0, 140}, {120, 30}, {150, 25}}};
  for (std::size_t r = 0; r < p.records.size(); ++r) {
    ProfileRecord& each = p.records[r];
    each.times.clear();
    for (std::size_t pass = 0; pass < 16; ++pass) {
      const double scale = pass % 2 == 0 ? 1 : 3;
      each.times.push_back(Seconds{quiet_us[r].second * us * scale});
      each.starts_s.push_back(static_cast<float>(quiet_us[r].first * us * scale));
    }
    each.start = Seconds{quiet_us[r].first * us * 2};  // the median over all passes
  }
  const Gap gap = gap_of(p);
  CHECK(gap.quiet_passes == 8);
  CHECK(gap.latency->value == Approx(175 * us));
  CHECK(part_us(gap, Cause::side_by_side) == Approx(-20));
  for (std::size_t pass = 0; pass < 16; ++pass) p.latencies.push_back(Seconds{180 * us * (pass % 2 == 0 ? 1 : 3)});
  CHECK(part_us(gap_of(p), Cause::side_by_side) == Approx(-20));
  CHECK(part_us(gap_of(p), Cause::between_layers) == Approx(5));
}
