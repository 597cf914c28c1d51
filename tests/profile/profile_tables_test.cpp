// SPDX-License-Identifier: Apache-2.0
// Profiles in tables: OpenVINO's counters, plain CSV, Google Benchmark's JSON; and files of unknown formats.
#include "support/profile_support.hpp"
#include <benanza/results/csv_table.hpp>

namespace {

using namespace profile_support;

std::string benchmark_row(const std::string& name, double time, const std::string& unit = "ms",
                          const std::string& more = "") {
  std::ostringstream text;
  text << R"({"name": ")" << name << R"(", "run_name": ")" << name
       << R"(", "run_type": "iteration", "iterations": 10, "real_time": )" << time
       << R"(, "cpu_time": 1.0, "time_unit": ")" << unit << '"' << more << "}";
  return text.str();
}

std::string benchmark_file(const std::string& rows) {
  return R"({"context": {"date": "2025-11-21", "host_name": "box", "num_cpus": 2, "library_build_type": "release"}, "benchmarks": [)" +
         rows + "]}";
}

}  // namespace

TEST_CASE("OpenVINO's detailed counters are a pass a block") {
  const std::string block =
      "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
      "Input3;Status.NOT_RUN;Parameter;unknown_f32;0.000;0.000\n"
      "conv1;Status.EXECUTED;Convolution;brgconv_avx512_f32;0.040;0.040\n"
      "relu1;Status.OPTIMIZED_OUT;Relu;undef;0.000;0.000\n"
      "conv1_reorder;Status.EXECUTED;Reorder;jit_avx512_f32;0.005;0.005\n"
      "Total;;;;0.045;0.045\n\n";
  std::string second = block;
  second.replace(second.find("0.040"), 5, "0.042");
  const auto profile = read_text(block + second);
  CHECK(profile.engine == "openvino");
  REQUIRE(profile.records.size() == 2);
  CHECK(profile.records[0].name == "conv1");
  CHECK(profile.records[0].op == "Convolution");
  CHECK(profile.records[0].algorithm == "brgconv_avx512_f32");
  CHECK(microseconds(profile.records[0].times) == std::vector<double>{40, 42});
  CHECK(profile.records[1].activity == Activity::conversion);
  CHECK(profile.latencies.empty());

  CHECK_THAT(error_of(block.substr(0, block.find("brgconv"))),
             Catch::Contains("profile: byte 123: a layer of 4 columns, expected 6: cut off?"));
  std::string wrong = block;
  wrong.replace(wrong.find("0.040"), 5, "-0.04");
  CHECK(warned(read_text(wrong), "byte 123: time '-0.04', expected 0 or a time from 1 ps to 1 year"));
  // A pass with a layer that cannot be read does not count if there is another one.
  CHECK(microseconds(read_text(wrong + second).records.at(0).times) == std::vector<double>{42});
}

TEST_CASE("a pass of OpenVINO's counters that is cut off does not count") {
  const std::string header = "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n",
                    conv = "conv;EXECUTED;Convolution;jit;0.040;0.040\n", out = "relu;OPTIMIZED_OUT;Relu;undef;0;0\n",
                    pool = "pool;EXECUTED;MaxPool;jit;0.005;0.005\n", total = "Total;;;;0.045;0.045\n\n";
  // With totals behind passes and without, at the end and before, after any layer and after the header.
  for (const std::string& end : {total, std::string()})
    for (const std::string& part : {std::string(), conv, conv + out, conv + out + "pool;EXEC"}) {
      const std::string whole = header + conv + out + pool + end;
      const auto last = read_text(whole + header + part, {.warm_ups = 0});
      REQUIRE(last.records.size() == 2);
      CHECK(microseconds(last.records[0].times) == std::vector<double>{40});
      CHECK(microseconds(last.records[1].times) == std::vector<double>{5});
      CHECK(last.warm_ups == 0);
      CHECK(last.unreadable == 0);
      const bool torn = part.ends_with("EXEC");
      if (!torn)
        CHECK(warned(last, "byte " + std::to_string(whole.size()) + ": a pass of " +
                               std::to_string(std::count(part.begin(), part.end(), '\n')) +
                               " layers, expected 3: it is cut off and does not count"));
      const auto first = read_text(header + part + "\n" + whole, {.warm_ups = 0});
      CHECK(microseconds(first.records.at(0).times) == std::vector<double>{40});
    }
  // What lacks its total alone is whole, and so is a pass in which other layers were executed.
  CHECK(read_text(header + conv + pool + total + header + conv + pool).records.at(0).times.size() == 2);
  const auto other =
      read_text(header + conv + pool + header + conv + "pool;NOT_RUN;MaxPool;jit;0;0\n", {.warm_ups = 0});
  CHECK(microseconds(other.records.at(1).times) == std::vector<double>{5, 0});
}

TEST_CASE("OpenVINO's sorted report is read, with a word about its order") {
  const auto profile = read_text(
      "layerName,execStatus,layerType,execType,realTime (ms),cpuTime (ms),\"proportion (%)\n\"\r\n"
      "conv2,Status.EXECUTED,Convolution,jit_f32,0.400,0.400,80.00%\r\n"
      "conv1,Status.EXECUTED,Convolution,jit_f32,0.100,0.100,20.00%\r\n\n"
      "Total time: 0.50 milliseconds\r\nTotal CPU time: 0.50 milliseconds\r\n\n\n");
  REQUIRE(profile.records.size() == 2);
  CHECK(microseconds(profile.records[1].times) == std::vector<double>{100});
  CHECK(warned(profile, "a sorted report"));
}

TEST_CASE("a plain CSV of layers is in the order of the engine") {
  const auto profile = read_text("layer,time_ms\nconv1,0.5\n\"a, \"\"b\"\"\",0.25\n\nrelu,1e-3\n");
  REQUIRE(profile.records.size() == 3);
  CHECK(profile.engine.empty());
  CHECK(profile.records[1].name == "a, \"b\"");
  CHECK(microseconds(profile.records[1].times) == std::vector<double>{250});
  CHECK(microseconds(profile.records[2].times) == std::vector<double>{1});
  CHECK(profile.records[0].nodes == std::vector<std::string>{"conv1"});

  const auto more = read_text("op,Layer,time_us,node,algorithm\r\nConv,c,5,/conv1/Conv,winograd\r\n");
  CHECK(microseconds(more.records[0].times) == std::vector<double>{5});
  CHECK(more.records[0].op == "Conv");
  CHECK(more.records[0].nodes == std::vector<std::string>{"/conv1/Conv"});
  CHECK(more.records[0].algorithm == "winograd");

  const auto passes = read_text("layer,time_ms\nconv,9\nrelu,1\nconv,4\nrelu,1\nconv,4.1\nrelu,1\n");
  CHECK(passes.warm_ups == 1);
  REQUIRE(passes.records.size() == 2);
  CHECK(microseconds(passes.records[0].times) == std::vector<double>{4000, 4100});
  CHECK(warned(passes, "3 passes found by repetition of 2 records"));
  // The same rows may be one pass of two equal blocks: the file does not show it, but the caller can tell.
  const std::string blocks = "layer,time_ms\nconv,4\nrelu,1\nconv,4\nrelu,1\n";
  CHECK(warned(read_text(blocks), "2 passes found by repetition of 2 records"));
  const auto one = read_text(blocks, {.passes = 1});
  CHECK(one.records.size() == 4);
  CHECK(one.warnings.empty());
  // A name that occurs twice in one pass is two layers.
  CHECK(read_text("layer,time_ms\nconv,9\nrelu,1\nfc,4\nrelu,1\n").records.size() == 4);
}

TEST_CASE("empty lines before the header of a table are skipped") {
  CHECK(microseconds(read_text("\n\r\nlayer,time_ms\nconv,9\n").records.at(0).times) == std::vector<double>{9000});
  const auto counters =
      read_text("\nlayerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\nc;EXECUTED;C;j;2;2\n");
  CHECK(microseconds(counters.records.at(0).times) == std::vector<double>{2000});
  results::CsvTable table("latencies.csv", "\n\r\nmodel,mean_ms\n\nresnet,4\n");
  REQUIRE(table.next());
  CHECK(table["model"] == "resnet");
  CHECK_FALSE(table.next());
  CHECK_FALSE(results::CsvTable("empty.csv", "\n\n").next());
  CHECK_THAT(error_of("\n\n"), Catch::Contains("the file is empty"));
}

TEST_CASE("a broken CSV of layers is refused with the byte") {
  CHECK_THAT(error_of("layer,time_ms\nconv1"),
             Catch::Contains("profile: byte 14: a row of 1 columns, expected 2: cut off?"));
  for (const std::string time : {"fast", "-1", "nan", "", "0.041 ms", "1e300", "1e-300", "inf", "4e10"})
    CHECK_THAT(error_of("layer,time_ms\nconv1," + time + "\n"),
               Catch::Contains("profile: byte 14: time '" + time + "', expected 0 or a time from 1 ps to 1 year"));
  CHECK(error_of("model,layer,time_ms\nresnet,conv1,1\nvgg,conv1,2\n") ==
        "profile: byte 35: model 'vgg' after rows of 'resnet': expected the layers of one run");
  CHECK_THAT(error_of("layer,time_ms\n"), Catch::Contains("a header, but no layer"));
}

TEST_CASE("rows without a time are counted where the passes that count lack them") {
  const std::string rows = "conv,4\nrelu,1\n", damaged = "conv,nan\nrelu,1\n";
  CHECK(read_text("layer,time_ms\n" + rows).unreadable == 0);
  const auto lacking = read_text("layer,time_ms\n" + damaged);
  CHECK(lacking.unreadable == 1);
  CHECK(lacking.records.size() == 1);
  // The other two passes are whole: the one that is not does not count.
  CHECK(read_text("layer,time_ms\n" + rows + damaged + rows).unreadable == 0);
  CHECK(read_text("layer,time_ms\n" + damaged + damaged).unreadable == 2);
}

TEST_CASE("a year is the longest time of a row, in any unit") {
  // 365 days have 31,536,000 s.
  for (const std::string unit : {"s,31536", "ms,31536000", "us,31536000000", "ns,31536000000000"}) {
    const std::string name = unit.substr(0, unit.find(',')), digits = unit.substr(unit.find(',') + 1);
    const std::string header = "layer,time_" + name + "\na,", year = digits + "000";
    CHECK(read_text(header + digits + "\n").unreadable == 0);
    CHECK_FALSE(error_of(header + year + "9\n").empty());
  }
}

TEST_CASE("bytes that are no text cost a row of a table, and are counted") {
  for (const std::string bad : {"\xFF", "\xC3(", "\x01"}) {
    const auto csv = read_text("layer,time_ms\nco" + bad + "nv,4\nrelu,1\n");
    CHECK(csv.records.size() == 1);
    CHECK(csv.unreadable == 1);
    CHECK(
        warned(csv, bad == "\x01" ? "byte 14: a line with a control character" : "byte 14: a line that is not UTF-8"));
    const auto counters = read_text("layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\nc" + bad +
                                    ";EXECUTED;C;j;2;2\nd;EXECUTED;C;j;2;2\n");
    CHECK(counters.records.size() == 1);
    CHECK(counters.unreadable == 1);
    const std::string rest = " EXECUTED layerType: Convolution execType: jit realTime (ms): 2 cpuTime (ms): 2\n";
    const auto printed = read_text("c" + bad + rest + "d" + rest);
    CHECK(printed.records.size() == 1);
    CHECK(printed.unreadable == 1);
    const std::string damaged = " EXECUTED la" + bad + "yerType: Convolution execType: jit realTime (ms): 2\n";
    CHECK(read_text("c" + rest + "e" + damaged + "d" + rest).unreadable == 1);
  }
  CHECK(read_text("layer,time_ms\nBl\xC3\xB6"
                  "ck\t1,4\n")
            .unreadable == 0);  // UTF-8, and a tab
}

TEST_CASE("a second header begins another pass of a CSV of layers") {
  const std::string rows = "conv,4\nrelu,1\n";
  const auto two = read_text("layer,time_ms\n" + rows + "layer,time_ms\nconv,5\nrelu,1\n", {.warm_ups = 0});
  REQUIRE(two.records.size() == 2);
  CHECK(two.unreadable == 0);
  CHECK(microseconds(two.records[0].times) == std::vector<double>{4000, 5000});
  // Another unit and other columns.
  const auto other = read_text("layer,time_ms\n" + rows + "time_us,layer\n5000,conv\n1000,relu\n", {.warm_ups = 0});
  CHECK(microseconds(other.records.at(0).times) == std::vector<double>{4000, 5000});
  // A byte order mark and blanks, as of a file that was appended to another one.
  const auto joined =
      read_text("layer,time_ms\n" + rows + "\xEF\xBB\xBFlayer, time_ms \nconv,5\nrelu,1\n", {.warm_ups = 0});
  CHECK(microseconds(joined.records.at(0).times) == std::vector<double>{4000, 5000});
  CHECK(error_of("layer,time_ms\n" + rows + "layer,time_ms\nrelu,5\n") ==
        "profile: byte 28: another header, and after it 1 rows that are not the 2 before the first one: expected the "
        "layers of one run");
  const auto cut = read_text("layer,time_ms\n" + rows + "layer,time_ms\nconv,5\n");
  CHECK(microseconds(cut.records.at(0).times) == std::vector<double>{4000});
  CHECK(warned(cut, "profile: byte 28: only 1 of 2 rows follow the last header: this pass does not count"));
  CHECK(read_text("layer,time_ms\n" + rows + "layer,time_ms\n").records.size() == 2);  // a run that was killed
}

TEST_CASE("a last pass of a CSV of layers that is cut off does not count, without headers between passes too") {
  const auto pass = [](const std::string& first) { return "a," + first + "\nb,1\nc,1\nd,1\ne,1\n"; };
  const auto cut = read_text("layer,time_ms\n" + pass("4") + pass("4.2") + "a,4.4\nb,1\n");
  REQUIRE(cut.records.size() == 5);
  CHECK(microseconds(cut.records[0].times) == std::vector<double>{4000, 4200});
  CHECK(microseconds(cut.records[4].times) == std::vector<double>{1000, 1000});
  CHECK(warned(cut, "2 passes found by repetition of 5 records"));
  CHECK(warned(cut, "2 records outside of the 2 passes (a pass that is cut off) are left out"));
  // With one whole pass before it, the rows might also be one pass.
  const auto doubtful = read_text("layer,time_ms\n" + pass("4") + "a,4.4\nb,1\n");
  CHECK(doubtful.records.size() == 7);
  CHECK(warned(doubtful, "its 7 records are taken as one pass, although the last 2 are the first ones again"));
}

TEST_CASE("a last row without its line end is read with a warning: its time may be cut off") {
  const std::string csv = "layer,time_ms\nconv1,0.5\nrelu,12.345\n";
  CHECK(read_text(csv).warnings.empty());
  const auto cut = read_text(csv.substr(0, csv.size() - 6));  // relu,1
  CHECK(microseconds(cut.records.at(1).times) == std::vector<double>{1000});
  CHECK(warned(cut, "profile: byte 24: the last row has no line end"));
  const std::string counters =
      "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
      "conv1;Status.EXECUTED;Convolution;brgconv_avx512_f32;0.0";
  CHECK(warned(read_text(counters), "profile: byte 67: the last row has no line end"));
}

TEST_CASE("a number beyond what a double holds is refused with the file") {
  CHECK_THAT(error_of(R"({"context": {}, "benchmarks": [{"name": "a", "real_time": 1e999, "time_unit": "ms"}]})"),
             Catch::Contains("JSON that cannot be read") && Catch::Contains("1e999"));
}

TEST_CASE("repetitions of one Google Benchmark are samples of the latency") {
  const auto profile = read_text(benchmark_file(
      benchmark_row("BM_resnet50", 12.5) + "," + benchmark_row("BM_resnet50", 12.75) + "," +
      R"({"name": "BM_resnet50_mean", "run_name": "BM_resnet50", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 12.6, "time_unit": "ms"})"));
  CHECK(microseconds(profile.latencies) == std::vector<double>{12500, 12750});
  CHECK(profile.records.empty());
  CHECK(microseconds(read_text(benchmark_file(benchmark_row("a", 7, "us"))).latencies) == std::vector<double>{7});
  const auto aggregate = read_text(benchmark_file(
      R"({"name": "a_mean", "run_name": "a", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 3, "time_unit": "us"},
         {"name": "a_median", "run_name": "a", "run_type": "aggregate", "aggregate_name": "median", "real_time": 2, "time_unit": "us"})"));
  CHECK(microseconds(aggregate.latencies) == std::vector<double>{2});
  CHECK(warned(aggregate, "only aggregates"));
  const auto failed = read_text(
      benchmark_file(benchmark_row("a", 7) + "," +
                     benchmark_row("a", 0, "ms", R"(, "error_occurred": true, "error_message": "no device")")));
  CHECK(failed.latencies.size() == 1);
  CHECK(warned(failed, "benchmark 1 'a' is left out: no device"));
  CHECK_THAT(error_of(benchmark_file(benchmark_row("a", 7) + "," + benchmark_row("b", 7))),
             Catch::Contains("holds the benchmarks 'a' and 'b'; expected one"));
  CHECK_THAT(error_of(benchmark_file(benchmark_row("a", 7, "h"))),
             Catch::Contains("time_unit 'h', expected ns, us, ms or s"));
  CHECK_THAT(error_of(benchmark_file("")), Catch::Contains("no benchmark with a time"));
}

TEST_CASE("the whole repetitions of a Google Benchmark that was killed count, and a time of 0 does not") {
  const std::string whole = benchmark_file(benchmark_row("a", 7, "us") + ",\n" + benchmark_row("a", 0, "us") + ",\n" +
                                           benchmark_row("a", 8, "us") + ",\n" + benchmark_row("a", 9, "us"));
  const auto read_all = [](const std::string& text) { return read_text(text, {.warm_ups = 0}); };
  CHECK(microseconds(read_all(whole).latencies) == std::vector<double>{7, 8, 9});
  CHECK(warned(read_all(whole), "a time of 0"));
  const auto cut = read_all(whole.substr(0, whole.rfind("\"real_time\"")));
  CHECK(microseconds(cut.latencies) == std::vector<double>{7, 8});
  CHECK(warned(cut, "the array has no end"));
}

TEST_CASE("latencies of a file of their own are preferred to those of a profiled run") {
  const Folder folder;
  const fs::path trace =
      folder.write("trace.json", R"([{"cat":"Session","ph":"X","name":"model_run","ts":0,"dur":100,"tid":1,"args":{}},
    {"cat":"Node","ph":"X","name":"a_kernel_time","ts":5,"dur":60,"tid":1,"args":{"op_name":"Relu"}}])");
  const fs::path times = folder.write("times.json", benchmark_file(benchmark_row("BM", 90, "us")));
  for (const bool first : {true, false}) {
    const fs::path files[] = {first ? trace : times, first ? times : trace};
    const auto profile = read_profile(files);
    CHECK(microseconds(profile.latencies) == std::vector<double>{90});
    REQUIRE(profile.records.size() == 1);
    CHECK(profile.records[0].place.file == (first ? 0 : 1));
    CHECK(profile.latencies_apart);
    CHECK(warned(profile, "latencies are those of " + times.string()));
  }
  CHECK_FALSE(read_profile({&trace, 1}).latencies_apart);
  const fs::path both[] = {trace, trace};
  CHECK_THROWS_WITH(read_profile(both), Catch::Contains("has latencies, and so has"));
  const fs::path csv = folder.write("layers.csv", "layer,time_ms\na,1\n");
  const fs::path mixed[] = {trace, csv};
  CHECK_THROWS_WITH(read_profile(mixed), Catch::Contains("has times of layers, and so has"));
  const fs::path engines[] = {
      trace,
      folder.write("ov.csv",
                   "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\na;EXECUTED;b;c;1;1;\n")};
  CHECK_THROWS_WITH(read_profile(engines), Catch::Contains("of openvino, but"));
}

TEST_CASE("a foreign file is refused, with the formats that are known") {
  for (const std::string text : {"hello world\n",
                                 "\x7F"
                                 "ELF\x02",
                                 "{\"a\": 1}", "[1, 2, 3]", "a,b\n1,2\n", "[]", "{}", "<xml/>"}) {
    CAPTURE(text);
    CHECK_THAT(
        error_of(text),
        Catch::Contains("byte 0: a profile of no known format; known are: ONNX Runtime profile, PyTorch trace,"));
  }
  CHECK_THAT(error_of(""), Catch::Contains("byte 0: the file is empty"));
  CHECK_THROWS_AS(read_profile({}), UsageError);
  CHECK_THROWS_WITH(read("/nowhere/at/all"), Catch::Contains("/nowhere/at/all: cannot be read"));
}
