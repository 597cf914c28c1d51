// SPDX-License-Identifier: Apache-2.0
// Profiles of odd or damaged forms: one record that cannot be read costs that record. The files in profile/public are
// rebuilt from public bug reports; what they hold was counted by a script in another language.
#include "support/profile_support.hpp"

#include <zlib.h>

#include <sys/stat.h>

namespace {

using namespace profile_support;

fs::path report(const std::string& name) { return data("public/" + name); }

std::string kineto_event(const std::string& name, double start, double duration,
                         const std::string& category = "cpu_op") {
  std::ostringstream text;
  text << std::fixed << R"({"ph": "X", "cat": ")" << category << R"(", "name": ")" << name
       << R"(", "pid": 1, "tid": 1, "ts": )" << start << R"(, "dur": )" << duration
       << R"(, "args": {"Input Dims": [[1]]}})";
  return text.str();
}

/// Four passes of three operators.
std::vector<std::string> kineto_events() {
  std::vector<std::string> events;
  for (int pass = 0; pass < 4; ++pass) {
    const double at = 1000.0 * pass;
    events.push_back(kineto_event("ProfilerStep#" + std::to_string(pass), at, 100, "user_annotation"));
    events.push_back(kineto_event("aten::conv2d", at + 1, 20));
    events.push_back(kineto_event("aten::relu", at + 30, 5));
    events.push_back(kineto_event("aten::linear", at + 40, 10));
  }
  return events;
}

std::string kineto_text(const std::vector<std::string>& events, const std::string& between = ",\n") {
  std::string text = "{\"schemaVersion\": 1, \"traceEvents\": [" + between.substr(1);
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "" : between) + events[i];
  return text + "]}";
}

std::size_t times_of(const EngineProfile& profile, const std::string& name) {
  const auto& times = record(profile, name).times;
  return static_cast<std::size_t>(
      std::count_if(times.begin(), times.end(), [](Seconds time) { return time.value > 0; }));
}

}  // namespace

TEST_CASE("profiles of ONNX Runtime without their last bracket, with times as text and in UTF-16 are read") {
  const bool without = GENERATE(true, false);
  const auto profile =
      without ? read(report("ort_no_bracket.json.gz"), {.warm_ups = 0})
              : read(report(GENERATE("ort_text_times.json.gz", "ort_utf16_powershell.json.gz")), {.warm_ups = 0});
  CHECK(microseconds(profile.latencies) == std::vector<double>{362, 92, 77, 75, 72, 71, 73, 83, 88, 71, 71, 87});
  CHECK(profile.records.size() == 8);
  for (const auto& each : profile.records) CHECK(each.times.size() == 12);
  CHECK(profile.warnings.size() == (without ? 1 : 0));
  CHECK(warned(profile, "the array has no end") == without);
}

TEST_CASE("a name with the backslashes of a Windows path costs nothing") {
  const auto profile = read(report("kineto_windows_backslash.json"), {.warm_ups = 0});
  CHECK(profile.latencies.size() == 4);
  CHECK(profile.records.size() == 9);
  CHECK(profile.warnings.empty());
  auto events = kineto_events();
  events[2] = kineto_event(R"(C:\Users\name)", 30, 5);
  CHECK(times_of(read_text(kineto_text(events), {.warm_ups = 0}), R"(C:\Users\name)") == 1);
}

TEST_CASE("an event that cannot be read is left out and counted, in whatever way it is broken") {
  const auto [what, with] = GENERATE(table<std::string, std::string>({
      {R"("aten::relu")", "\"aten::\x01relu\""},                     // a control character
      {R"("aten::relu")", "\"aten::\xFF\xC0relu\""},                 // bad UTF-8
      {R"("dur": 5.000000)", R"("dur": NaN)"},                       //
      {R"("dur": 5.000000)", R"("dur": -Infinity)"},                 //
      {R"("dur": 5.000000)", R"("dur": )"},                          //
      {R"(, "dur": 5.000000, "args": {"Input Dims": [[1]]}})", ""},  // a torn line
      {R"(::relu", "pid": 1, "tid": 1, "ts": 1030.000000, "dur": 5.000000, "args": {"Input Dims": [[1]]}})", ""},
      {R"([1]]}})", "[1"},                    //
      {R"([[1]]}})", "[[1],"},                //
      {R"([1]]}})", "[1]}]}"},                // brackets in the wrong order
      {R"("pid": 1,)", R"("path": "C:\",)"},  // a backslash before a quote
      {R"("pid": 1,)", R"("pid" 1 {)"},       //
      {R"("args": {)", R"("args": {"deep": )" + std::string(200'000, '[') + std::string(200'000, ']') + ", "},
  }));
  CAPTURE(what, with.substr(0, 100));
  for (const std::string between : {",\n", ",\n  ", ", "}) {
    if (between == ", " && (with.empty() || with.find('[') == 0 || with.find("C:") != std::string::npos)) continue;
    CAPTURE(between);
    auto events = kineto_events();
    std::string& broken = events[6];  // the second pass
    const auto at = broken.find(what);
    REQUIRE(at != std::string::npos);
    broken.replace(at, what.size(), with);
    const auto profile = read_text(kineto_text(events, between), {.warm_ups = 0});
    CHECK(profile.latencies.size() == 4);
    CHECK(times_of(profile, "aten::conv2d") == 4);
    CHECK(times_of(profile, "aten::relu") == 3);
    CHECK(times_of(profile, "aten::linear") == 4);
    CHECK(warned(profile, "this record is left out"));
  }
}

TEST_CASE("a byte too many between two events is counted, and no event is lost") {
  auto text = kineto_text(kineto_events());
  const std::string with = GENERATE("}", "]", "x", ";", "\x00");
  const auto at = text.find(",\n", text.size() / 2);
  text.replace(at, 1, with);
  const auto profile = read_text(text, {.warm_ups = 0});
  CHECK(times_of(profile, "aten::conv2d") == 4);
  CHECK(times_of(profile, "aten::relu") == 4);
  CHECK(times_of(profile, "aten::linear") == 4);
  CHECK(profile.warnings.size() == 1);
}

TEST_CASE("a trace without its last bracket is read, with a word") {
  const auto text = kineto_text(kineto_events());
  const auto profile = read_text(text.substr(0, text.size() - 1), {.warm_ups = 0});
  CHECK(profile.latencies.size() == 4);
  CHECK(warned(profile, "the object has no end"));
}

TEST_CASE("rows of a Google Benchmark with bare NaN are left out; a second document is refused") {
  const auto profile = read(report("gbench_nan_cv.json"));
  CHECK(microseconds(profile.latencies) == std::vector<double>{75});
  CHECK_THROWS_WITH(read(report("gbench_two_documents.json")), Catch::Contains("two documents"));
  CHECK(microseconds(read(report("gbench_repeats_suffix.json")).latencies) == std::vector<double>(5, 75));
}

TEST_CASE("the table of layers in a log of trtexec is read, in both of its forms") {
  const auto profile = read(report("trtexec_log_with_layer_table.log"));
  CHECK(microseconds(profile.latencies) == std::vector<double>{75});
  REQUIRE(profile.records.size() == 2);
  CHECK(profile.records[0].name == "Convolution28");
  CHECK(microseconds(profile.records[0].times) == std::vector<double>{20});
  CHECK(profile.records[1].name == "Convolution110 + Plus112 + ReLU114");
  CHECK(profile.records[1].nodes == std::vector<std::string>{"Convolution110", "Plus112", "ReLU114"});
  CHECK(microseconds(profile.records[1].times) == std::vector<double>{30});
  CHECK(warned(profile, "their sum exceeds the latency"));

  const auto older = read_text(R"(&&&& RUNNING TensorRT.trtexec # trtexec
[I] === Profile (200 iterations ) ===
[I]                    Layer   Time (ms)   Avg. Time (ms)   Time %
[I]            conv1 + relu1        4.00           0.0200     40.0
[I]                    torn  
[I]                      fc1        6.00           0.0300     60.0
[I]                    Total       10.00           0.0500    100.0
)");
  REQUIRE(older.records.size() == 2);
  CHECK(older.records[0].nodes == std::vector<std::string>{"conv1", "relu1"});
  CHECK(microseconds(older.records[0].times) == std::vector<double>{20});
  CHECK(microseconds(older.records[1].times) == std::vector<double>{30});
  CHECK(warned(older, "this record is left out"));

  const auto headless = read_text(R"(&&&& RUNNING TensorRT.trtexec # trtexec
[I] GPU Compute Time: min = 0.07 ms, max = 0.09 ms, mean = 0.075 ms, median = 0.075 ms, percentile(90%) = 0.08 ms
[I] === Profile (200 iterations ) ===
[I]                    Lay
[I]            conv1 + relu1        4.00           0.0200     40.0
)");
  CHECK(headless.records.empty());
  CHECK(warned(headless, "a table of layers whose header cannot be read is left out"));
}

TEST_CASE("what OpenVINO's -pc prints is read, of old versions too") {
  const auto profile = read(report("openvino_pc_stdout.txt"));
  CHECK(profile.engine == "openvino");
  REQUIRE(profile.records.size() == 2);
  CHECK(profile.records[0].nodes == std::vector<std::string>{"Convolution28"});
  CHECK(profile.records[0].op == "Convolution");
  CHECK(profile.records[0].algorithm == "jit_avx2_f32");
  CHECK(microseconds(profile.records[0].times) == std::vector<double>{20});
  CHECK(microseconds(profile.records[1].times) == std::vector<double>{30});

  const std::string old =
      "[ INFO ] Performance counts:\n"
      "conv 1                        EXECUTED       layerType: Convolution        realTime: 20        cpu: 20          "
      "  execType: jit_avx2_FP32\n"
      "relu1                         OPTIMIZED_OUT  layerType: ReLU               realTime: 0         cpu: 0           "
      "  execType: undef\n"
      "a_name_that_is_longer_tha... EXECUTED       layerType: Pooling            realTime: 7         cpu: 7           "
      "  execType: jit_avx2_FP32\n"
      "Total time: 27       microseconds\n";
  const auto two = read_text(old + old, {.warm_ups = 0});
  REQUIRE(two.records.size() == 2);
  CHECK(two.records[0].name == "conv 1");
  CHECK(microseconds(two.records[0].times) == std::vector<double>{20, 20});
}

TEST_CASE("passes of what OpenVINO's -pc prints are told by titles, by totals, or by repetition") {
  const auto layer = [](const std::string& name, const std::string& time) {
    return name + " EXECUTED layerType: Convolution execType: jit realTime (ms): " + time + " cpuTime (ms): 0\n";
  };
  const std::string layers = layer("a", "0.010") + layer("b", "0.002");
  const std::string title = "[ INFO ] Performance counts for 0-th infer request:\n", total = "Total time: 0.012 ms\n",
                    none;
  for (const auto& [begin, end] :
       {std::pair(title, total), std::pair(title, none), std::pair(none, total), std::pair(none, none)}) {
    const std::string pass = begin + layers + end;
    const bool marked = pass != layers;
    const auto profile = read_text(pass + pass + pass);
    REQUIRE(profile.records.size() == 2);
    CHECK(microseconds(profile.records[0].times) == std::vector<double>{10, 10, 10});
    CHECK(microseconds(profile.records[1].times) == std::vector<double>{2, 2, 2});
    CHECK(warned(profile, "3 passes found by repetition of 2 records") == !marked);
    // The last pass is cut off, unless nothing marks passes: then these may be the layers of one.
    const auto cut = read_text(pass + pass + begin + layer("a", "0.010"));
    CHECK(microseconds(cut.records.at(0).times) == std::vector<double>(marked ? 2 : 1, 10));
    CHECK(warned(cut, marked ? "a pass of 1 layers, expected 2" : "5 records are taken as one pass, although 4"));
  }
}

TEST_CASE("OpenVINO's JSON statistics are read, of one pass and of several") {
  const std::string node =
      R"({"cpu_time": 0.02, "exec_type": "jit_avx2_f32", "name": "conv1", "node_type": "Convolution", "real_time": )";
  const std::string rest =
      R"(, "status": "EXECUTED"}, {"cpu_time": 0, "exec_type": "undef", "name": "relu1", "node_type": "Relu", "real_time": 0.0, "status": "OPTIMIZED_OUT"}], "total_real_time": 0.02})";
  const auto average =
      read_text(R"({"avg_performance": {"nodes": [)" + node + "0.02" + rest + R"(, "report_type": "average"})");
  REQUIRE(average.records.size() == 1);
  CHECK(average.records[0].name == "conv1");
  CHECK(average.records[0].op == "Convolution");
  CHECK(average.records[0].algorithm == "jit_avx2_f32");
  CHECK(microseconds(average.records[0].times) == std::vector<double>{20});
  const auto detailed = read_text(R"({"detailed_performance": [{"nodes": [)" + node + "0.02" + rest +
                                      R"(, {"nodes": [)" + node + "0.03" + rest + R"(], "report_type": "detailed"})",
                                  {.warm_ups = 0});
  CHECK(microseconds(detailed.records.at(0).times) == std::vector<double>{20, 30});
}

TEST_CASE("a torn line of oneDNN's log costs its pass alone") {
  std::string log = "onednn_verbose,info,oneDNN v3.2.0 (commit 0)\n";
  const auto line = [](const char* size, const char* time) {
    return "onednn_verbose,exec,cpu,matmul,jit:avx2,undef,src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 "
           "dst_f32::blocked:ab:f0,,," +
           std::string(size) + "," + time + "\n";
  };
  for (const char* time : {"0.1", "0.2", "0.3", "0.4", "0.5"}) log += line("1x8:8x8", time) + line("1x8:8x9", "0.01");
  const std::string torn = GENERATE("one line into the next", "one line alone", "one number");
  CAPTURE(torn);
  const auto at = log.find(",0.3\n");
  if (torn == "one number") log.replace(at, 4, ",0.x");
  else if (torn == "one line alone") log.erase(at - 20, 24);
  else log.erase(at - 20, 25);
  const auto profile = read_text(log, {.warm_ups = 0});
  REQUIRE(profile.records.size() == 2);
  CHECK(microseconds(profile.records[0].times) == std::vector<double>{100, 200, 400, 500});
  CHECK(warned(profile, "this record is left out"));
}

TEST_CASE("a torn row of a CSV of layers costs that row") {
  const auto profile = read_text("layer,time_ms\nconv1,1\nrelu1\nfc1,3\nfc2,nan\n");
  REQUIRE(profile.records.size() == 2);
  CHECK(profile.records[1].name == "fc1");
  CHECK(microseconds(profile.records[1].times) == std::vector<double>{3000});
  CHECK(warned(profile, "byte 22: a row of 1 columns, expected 2: cut off?; this record and 1 more are left out"));
}

TEST_CASE("a CSV of layers with more than a million rows is refused") {
  std::string text = "layer,time_ms\n";
  for (int i = 0; i <= 1'000'000; ++i) text += "a,1\n";
  CHECK_THROWS_WITH(read_text(text), Catch::Contains("more than 1000000 rows"));
}

TEST_CASE("what is no regular file is refused without waiting for it") {
  const Folder folder;
  const fs::path pipe = folder.path / "pipe.json";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(read(pipe), Catch::Contains("pipe.json: cannot be read: not a regular file"));
  CHECK_THROWS_WITH(read("/dev/zero"), Catch::Contains("/dev/zero: cannot be read: not a regular file"));
}

TEST_CASE("a gzip file that unpacks to far more than text does is refused") {
  const Folder folder;
  const fs::path bomb = folder.path / "bomb.json.gz";
  gzFile out = gzopen(bomb.c_str(), "wb9");
  const std::string blanks(1 << 20, ' ');
  gzwrite(out, "[{\"name\": \"model_run\"},", 24);
  for (int i = 0; i < 64; ++i) gzwrite(out, blanks.data(), static_cast<unsigned>(blanks.size()));
  gzwrite(out, "{\"name\": \"model_run\"}]", 22);
  gzclose(out);
  REQUIRE(fs::file_size(bomb) < 100'000);
  CHECK_THROWS_WITH(read(bomb),
                    Catch::Contains("bomb.json.gz") && Catch::Contains("unpacks to more than 200 times its size"));
}
