// SPDX-License-Identifier: Apache-2.0
// PyTorch's traces. Those that are made up here have the form that libkineto writes for a GPU; expected values are sums
// of the times in them.
#include "support/profile_support.hpp"

namespace {

using namespace profile_support;

std::string event(const std::string& category, const std::string& name, double start, double duration,
                  const std::string& args = "", int thread = 7, int process = 1) {
  std::ostringstream text;
  text.precision(17);
  text << R"({"ph":"X","cat":")" << category << R"(","name":")" << name << R"(","pid":)" << process << R"(,"tid":)"
       << thread << R"(,"ts":)" << start << R"(,"dur":)" << duration << R"(,"args":{)" << args << "}}";
  return text.str();
}

std::string trace(const std::vector<std::string>& events) {
  std::string text =
      R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB","numSms":108}],"traceEvents":[)";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "" : ",\n") + events[i];
  return text + R"(],"traceName":"x.json","displayTimeUnit":"ms"})";
}

/// Steps of 1000 us: linear (100) launches a kernel (15) that waits for 20 us, then a synchronisation.
std::vector<std::string> step(int number, double scale = 1) {
  const double at = 1e6 + 10'000.0 * number;
  const std::string id = std::to_string(100 + number), correlation = std::to_string(900 + number);
  return {event("user_annotation", "ProfilerStep#" + std::to_string(number), at, 1000 * scale),
          event("cpu_op", "aten::linear", at + 10, 100,
                R"("External id":)" + id +
                    R"(,"Input Dims":[[4,8],[16,8],[16],[]],"Input type":["float","float","float","Scalar"])"),
          event("cpu_op", "aten::addmm", at + 20.5, 60.25),
          event("cuda_runtime", "cudaLaunchKernel", at + 30, 8.125, R"("correlation":)" + correlation),
          event("kernel", "ampere_sgemm_32x32", at + 58.125, 15 * scale,
                R"("device":0,"stream":7,"correlation":)" + correlation + R"(,"External id":)" + id, 70),
          event("gpu_memcpy", "Memcpy DtoH", at + 80, 2.5, R"("device":0,"stream":7,"External id":)" + id, 70),
          event("cuda_runtime", "cudaDeviceSynchronize", at + 120, 30, R"("correlation":5)")};
}

std::vector<std::string> steps(std::initializer_list<double> scales) {
  std::vector<std::string> all{R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}})",
                               R"({"ph":"i","name":"Record Window End","pid":"","tid":"","ts":9,"s":"g"})"};
  int number = 1;
  for (double scale : scales)
    for (auto& each : step(number++, scale)) all.push_back(each);
  return all;
}

}  // namespace

TEST_CASE("a trace of a GPU gives operators, calls and kernels, each under what launched it") {
  const auto profile = read_text(trace(steps({3, 1, 2, 1})));
  CHECK(profile.engine == "pytorch");
  CHECK(profile.format == "PyTorch trace");
  CHECK(profile.device == "NVIDIA A100-SXM4-40GB");
  CHECK(profile.warm_ups == 0);  // 3, 1 | 2, 1: the last half, 1.5 +- 0.5, explains 3
  CHECK(microseconds(profile.latencies) == std::vector<double>{3000, 1000, 2000, 1000});
  REQUIRE(profile.records.size() == 6);

  const auto& linear = profile.records[0];
  CHECK(linear.name == "aten::linear");
  CHECK(linear.activity == Activity::layer);
  CHECK(linear.inputs ==
        std::vector<ProfiledTensor>{{DataType::f32, {4, 8}}, {DataType::f32, {16, 8}}, {DataType::f32, {16}}});
  CHECK(linear.start->value == Approx(10e-6));
  CHECK(linear.times.size() == 4);
  const auto& addmm = profile.records[1];
  CHECK(addmm.parent == 0);
  CHECK(addmm.times[3].value == Approx(60.25e-6));
  const auto& launch = profile.records[2];
  CHECK(launch.activity == Activity::call);
  CHECK(launch.parent == 1);
  const auto& kernel = profile.records[3];
  CHECK(kernel.name == "ampere_sgemm_32x32");
  CHECK(kernel.activity == Activity::kernel);
  CHECK(kernel.algorithm == "ampere_sgemm_32x32");
  CHECK(kernel.parent == 2);
  CHECK(kernel.lane != launch.lane);
  CHECK(microseconds(kernel.times)[0] == Approx(45));
  const auto& copy = profile.records[4];
  CHECK(copy.activity == Activity::copy);
  CHECK(copy.parent == 0);  // no call with its correlation: the operator of its External id
  CHECK(profile.records[5].activity == Activity::wait);
  CHECK(!profile.records[5].parent);
  CHECK(profile.total_only.empty());
}

TEST_CASE("warm-ups of a trace are dropped, as found or as told") {
  const auto text = trace(steps({5, 1, 1.01, 1, 0.99}));
  const auto profile = read_text(text);
  CHECK(profile.warm_ups == 1);
  CHECK(microseconds(profile.latencies) == std::vector<double>{1000, 1010, 1000, 990});
  CHECK(profile.records[0].times.size() == 4);
  CHECK(read_text(text, {.warm_ups = 3}).latencies.size() == 2);
  CHECK(read_text(text, {.warm_ups = 0}).latencies.size() == 5);
  CHECK_THAT(error_of(text, {.warm_ups = 5}), Catch::Contains("holds 5 passes, of which 5 are to be dropped"));
}

TEST_CASE("a pass lasts until the device is done") {
  auto events = steps({1, 1});
  // Launched at 1010200 within the first step, done 500 us after the step's end at 1011000.
  events.push_back(event("cuda_runtime", "cudaLaunchKernel", 1'010'200, 1, R"("correlation":77)"));
  events.push_back(event("kernel", "late", 1'011'400, 100, R"("device":0,"stream":8,"correlation":77)", 70));
  CHECK(microseconds(read_text(trace(events), {.warm_ups = 0}).latencies) == std::vector<double>{1500, 1000});
}

TEST_CASE("without steps the passes are a repeated annotation, without one the repetition of operators") {
  std::vector<std::string> annotated, bare;
  for (int pass = 0; pass < 4; ++pass) {
    const double at = 1000.0 * pass;
    annotated.push_back(event("user_annotation", "forward", at, 500));
    for (auto* events : {&annotated, &bare}) {
      events->push_back(event("cpu_op", "aten::conv2d", at + 10, 200));
      events->push_back(event("cpu_op", "aten::convolution", at + 20, 180));
      events->push_back(event("cpu_op", "aten::relu", at + 220, 30));
    }
  }
  const auto first = read_text(trace(annotated));
  CHECK(microseconds(first.latencies) == std::vector<double>{500, 500, 500, 500});
  REQUIRE(first.records.size() == 3);
  CHECK(!first.records[0].parent);  // the annotation that is the pass encloses nothing
  CHECK(first.records[1].parent == 0);
  const auto second = read_text(trace(bare));
  CHECK(second.latencies.size() == 4);
  CHECK(second.latencies[0].value == Approx(240e-6));  // from 10 to 250 us
  CHECK(warned(second, "4 passes found by repetition of 2 records"));
  const auto told = read_text(trace(bare), {.warm_ups = 0, .passes = 2});
  REQUIRE(told.latencies.size() == 2);
  CHECK(told.latencies[0].value == Approx(1240e-6));  // two repetitions: from 10 to 1250 us
  CHECK(!warned(told, "found by repetition"));
}

TEST_CASE("times of a trace may have exponents") {
  auto text = trace(steps({1, 1}));
  const auto at = text.find(R"("dur":1000)");
  const auto profile = read_text(text.replace(at, 10, R"("dur":1.0e3)"), {.warm_ups = 0});
  CHECK(microseconds(profile.latencies) == std::vector<double>{1000, 1000});
  CHECK(profile.unreadable == 0);
}

TEST_CASE("the categories of traces before 2022 are read too") {
  std::vector<std::string> events;
  for (int pass = 0; pass < 3; ++pass) {
    const double at = 1621401187223197.0 + 1000 * pass;
    events.push_back(event("Operator", "aten::mm", at, 197, R"("External id": 41)"));
    events.push_back(event("Runtime", "cudaLaunchKernel", at + 50, 9, R"("correlation":)" + std::to_string(20 + pass)));
    events.push_back(event("Kernel", "volta_sgemm", at + 90, 33, R"("correlation":)" + std::to_string(20 + pass)));
  }
  const auto profile = read_text(trace(events));
  CHECK(record(profile, "volta_sgemm").activity == Activity::kernel);
  CHECK(microseconds(record(profile, "volta_sgemm").times)[2] == Approx(33));
  CHECK(record(profile, "volta_sgemm").parent == 1);
}

TEST_CASE("what a trace cannot say is said") {
  std::vector<std::string> events;
  for (int pass = 0; pass < 3; ++pass)
    for (const char* name : {"cudaLaunchKernel", "cudaStreamSynchronize"})
      events.push_back(event("cuda_runtime", name, 1000.0 * pass + (name[4] == 'S' ? 50 : 0), 9));
  events.push_back(event("cpu_op", "aten::mm", 1, 5));
  CHECK_THAT(read_text(trace(events)).total_only, Catch::Contains("kernels were launched, but the trace has none"));

  events = steps({1, 1});
  events.push_back(
      event("kernel", "orphan", 1'010'500, 5, R"("device":0,"stream":7,"correlation":4242,"graph id":3)", 70));
  const auto profile = read_text(trace(events));
  CHECK(warned(profile, "1 of 5 kernels and copies have no launch"));
  CHECK(warned(profile, "1 of 5 kernels ran as part of a CUDA graph"));

  events = steps({1, 1});
  events.push_back(event("cpu_op", "crossing", 1'010'050, 100));  // begins in aten::linear, ends after it
  CHECK(warned(read_text(trace(events)), "1 events begin inside another one of their thread and end after it"));
  auto text = trace(steps({1, 1}));
  text.replace(text.find("schemaVersion\":1"), 16, "schemaVersion\":9");
  CHECK(warned(read_text(text), "schemaVersion 9; known is 1"));
}

TEST_CASE("steps of two models in one trace support the total alone") {
  const auto alternating = [](std::initializer_list<const char*> models) {
    std::vector<std::string> events;
    double at = 0;
    int number = 1;
    for (const std::string model : models) {
      events.push_back(event("user_annotation", "ProfilerStep#" + std::to_string(number++), at, 500));
      events.push_back(event("cpu_op", "aten::empty", at + 1, 2));  // both models do this
      for (int layer = 0; layer < 3; ++layer)
        events.push_back(event("cpu_op", model + std::to_string(layer), at + 10 + 100 * layer, 50));
      at += 1000;
    }
    return read_text(trace(events), {.warm_ups = 0});
  };
  const auto two = alternating({"a", "b", "a", "b"});
  // Only one of the four records of a pass is in more than half of the passes.
  CHECK_THAT(two.total_only, Catch::Contains("4 of 4 passes share less than half of their records"));
  CHECK(two.latencies.size() == 4);
  CHECK(alternating({"a", "a", "a", "a"}).total_only.empty());
  CHECK(alternating({"a", "a", "b", "a", "a"}).total_only.empty());  // one odd pass out of five
  CHECK_THAT(alternating({"a", "a", "b"}).total_only, Catch::Contains("1 of 3 passes"));
}

TEST_CASE("events of two processes are refused, whether they ran at once or one after the other") {
  for (const double later : {0.0, 1e6}) {
    auto events = steps({1, 1});
    events.push_back(event("user_annotation", "ProfilerStep#1", 1'010'000 + later, 1000, "", 8, 2));
    const auto text = trace(events);
    CHECK_THAT(error_of(text), Catch::Contains("byte " + std::to_string(text.rfind(R"({"ph":"X")")) +
                                               ": an event of another process than those before it"));
  }
  // The events of a device have its number, not that of a process.
  auto events = steps({1, 1});
  events.push_back(event("kernel", "on the device", 1'010'500, 5, R"("device":2,"stream":7)", 7, 2));
  CHECK(read_text(trace(events), {.warm_ups = 0}).latencies.size() == 2);
}

TEST_CASE("passes that threads run at once support the total alone") {
  // Passes of 500 us, of two threads: they begin together, or the second thread's 100 us later.
  for (const double shift : {0.0, 100.0}) {
    std::vector<std::string> marked, annotated;
    for (int pass = 0; pass < 4; ++pass)
      for (int thread = 1; thread <= 2; ++thread) {
        const double at = 600.0 * pass + shift * (thread - 1);
        marked.push_back(event("user_annotation", "ProfilerStep#" + std::to_string(pass), at, 500, "", thread));
        annotated.push_back(event("user_annotation", "forward", at, 500, "", thread));
        for (auto* events : {&marked, &annotated})
          events->push_back(event("cpu_op", "aten::conv2d", at + 10, 400, "", thread));
      }
    for (const auto& events : {marked, annotated}) {
      const auto profile = read_text(trace(events));
      CHECK(microseconds(profile.latencies) == std::vector<double>(8, 500));
      CHECK(profile.records.empty());
      CHECK_THAT(profile.total_only, Catch::Contains("several threads ran the model at once"));
    }
  }
}

TEST_CASE("a pass that ends a little after the start of the next is cut there") {
  // 20 of 1000 us.
  auto events = steps({1, 1});
  events.push_back(event("user_annotation", "ProfilerStep#3", 1'020'980, 1000));
  const auto profile = read_text(trace(events), {.warm_ups = 0});
  CHECK(microseconds(profile.latencies) == std::vector<double>{1000, 980, 1000});
  CHECK(warned(profile, "1 passes end after the start of the next"));
}

TEST_CASE("an annotation that takes no time marks no pass") {
  std::vector<std::string> events;
  for (int pass = 0; pass < 3; ++pass) {
    events.push_back(event("user_annotation", "instant", 1000.0 * pass, 0));
    events.push_back(event("cpu_op", "aten::conv2d", 1000.0 * pass + 10, 200));
  }
  CHECK(microseconds(read_text(trace(events)).latencies) == std::vector<double>{200, 200, 200});
}

TEST_CASE("a broken trace is refused with the byte") {
  const auto text = trace(steps({1, 1}));
  CHECK_THAT(error_of(text.substr(0, 1000)), Catch::Contains("byte 1000: the file ends in the middle of the JSON"));
  auto events = steps({1});
  events.push_back(event("cpu_op", "aten::mm", 5, -3));
  const auto negative = trace(events);
  CHECK(warned(read_text(negative),
               "profile: byte " + std::to_string(negative.rfind(R"({"ph":"X")")) +
                   ": event 'aten::mm' has a negative duration, expected microseconds; this record"));
  CHECK_THAT(
      error_of(R"({"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","ts":"soon","dur":1}]})"),
      Catch::Contains("byte 34: event 'a' has no time 'ts'"));
  CHECK_THAT(error_of(R"({"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":7,"ts":1,"dur":1}]})"),
             Catch::Contains("byte 34: an event that cannot be read"));
  CHECK_THAT(error_of(R"({"schemaVersion":1,"traceEvents":[{"ph":"B","cat":"cpu_op","name":"a","ts":1}]})"),
             Catch::Contains("byte 34: a begin or end event"));
  CHECK_THAT(error_of(R"({"schemaVersion":1,"traceEvents":[]})"), Catch::Contains("neither operators nor kernels"));
}
