// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's profiles: made-up ones, whose expected values are sums of the times in them, and real ones.
#include "support/profile_support.hpp"

namespace {

using namespace profile_support;

std::string event(const std::string& category, const std::string& name, int start, int duration,
                  const std::string& args = "", int thread = 7) {
  std::ostringstream text;
  text << R"({"cat" : ")" << category << R"(","pid" :1,"tid" :)" << thread << R"(,"dur" :)" << duration << R"(,"ts" :)"
       << start << R"(,"ph" : "X","name" :")" << name << R"(","args" : {)" << args << "}}";
  return text.str();
}

std::string node(const std::string& name, const std::string& op, int start, int duration,
                 const std::string& provider = "CPUExecutionProvider", const std::string& more = "") {
  return event("Node", name + "_kernel_time", start, duration,
               R"("op_name" : ")" + op + R"(","provider" : ")" + provider + R"(","node_index" : "3")" + more);
}

std::string trace(const std::vector<std::string>& events) {
  std::string text = "[\n";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "" : ",\n") + events[i];
  return text + "]\n";
}

/// Loading, then passes of 100 us each (times `scales`): a reorder, a convolution, an unnamed product.
std::vector<std::string> passes(std::initializer_list<int> scales,
                                const std::string& provider = "CPUExecutionProvider") {
  std::vector<std::string> events{event("Session", "model_loading_uri", 1, 900),
                                  event("Session", "session_initialization", 910, 5000)};
  int at = 10'000;
  for (int scale : scales) {
    events.push_back(event("Session", "model_run", at, 100 * scale));
    events.push_back(event("Session", "SequentialExecutor::Execute", at + 2, 97 * scale));
    events.push_back(event("Node", "conv1_fence_before", at + 3, 1, R"("op_name" : "Conv")"));
    events.push_back(node("reorder", "ReorderInput", at + 4, 5));
    events.push_back(node(
        "conv1", "Conv", at + 10, 40 * scale, provider,
        R"(,"input_type_shape" : [{"float":[1,3,8,8]},{"float16":[4,3,3,3]}],"output_type_shape" : [{"float":[1,4,8,8]}])"));
    events.push_back(node("", "MatMul", at + 10 + 40 * scale, 20));
    at += 1000;
  }
  return events;
}

}  // namespace

TEST_CASE("a profile of ONNX Runtime gives its passes and nodes") {
  const auto profile = read_text(trace(passes({9, 1, 1, 1})));
  CHECK(profile.engine == "onnxruntime");
  CHECK(profile.format == "ONNX Runtime profile");
  CHECK(profile.warm_ups == 1);
  CHECK(microseconds(profile.latencies) == std::vector<double>{100, 100, 100});
  REQUIRE(profile.records.size() == 3);
  const auto &reorder = profile.records[0], &conv = profile.records[1], &product = profile.records[2];
  CHECK(reorder.activity == Activity::conversion);
  CHECK(conv.name == "conv1");
  CHECK(conv.op == "Conv");
  CHECK(conv.activity == Activity::layer);
  CHECK(conv.nodes == std::vector<std::string>{"conv1"});
  CHECK(conv.provider == "CPUExecutionProvider");
  CHECK(microseconds(conv.times) == std::vector<double>{40, 40, 40});
  CHECK(conv.start->value == Approx(10e-6));
  CHECK(conv.inputs == std::vector<ProfiledTensor>{{DataType::f32, {1, 3, 8, 8}}, {DataType::f16, {4, 3, 3, 3}}});
  CHECK(conv.outputs == std::vector<ProfiledTensor>{{DataType::f32, {1, 4, 8, 8}}});
  CHECK(product.name == "MatMul_3");  // unnamed: operator and index
  CHECK(product.nodes.empty());
  CHECK(profile.total_only.empty());
  CHECK(profile.warnings.empty());
}

TEST_CASE("the order of events in the file does not matter") {
  auto events = passes({9, 1, 1, 1});
  std::reverse(events.begin(), events.end());
  const auto a = read_text(trace(events)), b = read_text(trace(passes({9, 1, 1, 1})));
  CHECK(a.latencies == b.latencies);
  REQUIRE(a.records.size() == b.records.size());
  for (std::size_t i = 0; i < a.records.size(); ++i) {
    CHECK(a.records[i].name == b.records[i].name);
    CHECK(a.records[i].times == b.records[i].times);
    CHECK(a.records[i].start == b.records[i].start);
  }
}

TEST_CASE("nodes of an asynchronous provider support no claim about layers, unless its kernels were recorded") {
  auto events = passes({1, 1}, "CUDAExecutionProvider");
  const auto bare = read_text(trace(events));
  CHECK_THAT(bare.total_only, Catch::Contains("the nodes of CUDAExecutionProvider return before their work is done"));
  CHECK(record(bare, "conv1").activity == Activity::call);
  CHECK(bare.latencies.size() == 2);

  // Kernels follow their node in the file; on the device they are later than the end of the first pass.
  for (int pass = 0; pass < 2; ++pass) {
    const auto after = std::find_if(events.begin(), events.end(), [&](const std::string& text) {
      return text.find("conv1_kernel_time") != std::string::npos &&
             text.find(std::to_string(10'010 + 1000 * pass)) != std::string::npos;
    });
    events.insert(after + 1, event("Kernel", "implicit_gemm", 10'150 + 1000 * pass, 77,
                                   R"("stream" : "9","grid_x" : "1","block_x" : "32","op_name" : "Conv")", -1));
  }
  const auto profile = read_text(trace(events));
  CHECK(profile.total_only.empty());
  const auto& kernel = record(profile, "implicit_gemm");
  CHECK(kernel.activity == Activity::kernel);
  CHECK(kernel.nodes == std::vector<std::string>{"conv1"});
  CHECK(profile.records[kernel.parent.value()].name == "conv1");
  CHECK(microseconds(kernel.times) == std::vector<double>{77, 77});
}

TEST_CASE("what the engine put in is told from what the model asked for") {
  auto events = passes({1, 1});
  for (int pass = 0; pass < 2; ++pass) {
    events.push_back(node("InsertedPrecisionFreeCast_x", "Cast", 10'070 + 1000 * pass, 1));
    events.push_back(node("cast_of_the_model", "Cast", 10'072 + 1000 * pass, 1));
    events.push_back(node("Memcpy_token_1", "MemcpyToHost", 10'074 + 1000 * pass, 2));
  }
  const auto profile = read_text(trace(events));
  CHECK(record(profile, "InsertedPrecisionFreeCast_x").activity == Activity::conversion);
  CHECK(record(profile, "cast_of_the_model").activity == Activity::layer);
  CHECK(record(profile, "Memcpy_token_1").activity == Activity::copy);
}

TEST_CASE("doubtful parts of a profile are left out and said") {
  auto events = passes({1, 1});
  events.push_back(node("stray", "Relu", 7'000, 1));
  events.push_back(node("sometimes", "Relu", 10'080, 1));
  const auto profile = read_text(trace(events));
  CHECK(warned(profile, "1 nodes lie in no model_run and are left out"));
  CHECK(warned(profile, "1 of 4 nodes are not in every pass"));
  CHECK(microseconds(record(profile, "sometimes").times) == std::vector<double>{1, 0});

  events = passes({1, 1});
  events.push_back(event("Session", "model_run", 10'050, 100, "", 8));
  const auto together = read_text(trace(events));
  CHECK_THAT(together.total_only, Catch::Contains("several threads ran the model at once"));
  CHECK(together.records.empty());

  events = passes({1, 1, 1});
  events.erase(std::remove_if(events.begin(), events.end(),
                              [](const std::string& text) { return text.find("model_run") != std::string::npos; }),
               events.end());
  const auto unmarked = read_text(trace(events));
  CHECK(unmarked.latencies.empty());
  CHECK(unmarked.records.size() == 3);
  CHECK(unmarked.records[0].times.size() == 3);
  CHECK(warned(unmarked, "no model_run event"));
  CHECK(warned(unmarked, "3 passes found by repetition of 3 records"));
}

TEST_CASE("a broken profile of ONNX Runtime is refused with the byte") {
  const auto text = trace(passes({1, 1}));
  CHECK(warned(read_text(text.substr(0, text.size() - 4)), "its last record is cut off"));
  auto events = passes({1});
  events.push_back(node("n", "Relu", 10, -1));
  CHECK(warned(read_text(trace(events)), "event 'n_kernel_time' has a negative duration"));
  auto idle = passes({1, 1});
  idle.push_back(event("Session", "model_run", 50'000, 0));
  CHECK(warned(read_text(trace(idle)), "event 'model_run' takes a time of 0"));
  events = passes({1});
  events.push_back(event("Session", "session_initialization", 20'000, 5));
  const auto two = trace(events);
  CHECK(error_of(two) == "profile: byte " + std::to_string(two.rfind(R"({"cat")")) +
                             ": a second session_initialization: the events of two models in one file; expected the "
                             "profile of one session");
  CHECK_THAT(error_of(trace({event("Session", "model_loading_uri", 1, 900)})),
             Catch::Contains("neither model_run nor node events"));
}
