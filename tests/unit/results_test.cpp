// SPDX-License-Identifier: Apache-2.0
#include "support/results_support.hpp"
#include <benanza/error.hpp>
#include <benanza/results/result_check.hpp>
#include <benanza/results/results.hpp>

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <set>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace benanza;
using namespace results_support;
namespace fs = std::filesystem;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

std::size_t sound_rows(const Run& run) {
  return static_cast<std::size_t>(std::count_if(
      run.rows.begin(), run.rows.end(), [](const Measurement& row) { return row.status != RowStatus::damaged; }));
}

}  // namespace

TEST_CASE("a run that was written is read back as it was") {
  const Folder folder;
  const Run run = small_run();
  write_run(run, folder / "run.json");
  const Run read = read_run(folder / "run.json");
  check_equal(run, read);
  CHECK(read.file == (folder / "run.json").string());
  SECTION("and written again it is the same file") {
    write_run(read, folder / "again.json");
    CHECK(contents(folder / "run.json") == contents(folder / "again.json"));
  }
  SECTION("and no other file is left") {
    CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
  }
}

TEST_CASE("a row with its rounds takes less than a kilobyte") {
  const Folder folder;
  Run run = small_run();
  const auto rows_of_40_rounds = [&run](std::size_t count) {
    Measurement long_row = row("onednn", conv, 1.2345678e-3);
    long_row.algorithm = "brgconv:avx512_core_amx_bf16,layout=aBcd16b,threads=2";
    long_row.rounds_s.clear();
    for (int i = 0; i < 40; ++i) long_row.rounds_s.push_back(1.2345678e-3 + 1.2345e-6 * i);
    run.rows.assign(count, long_row);
  };
  rows_of_40_rounds(10);
  write_run(run, folder / "ten.json");
  rows_of_40_rounds(20);
  write_run(run, folder / "twenty.json");
  CHECK(fs::file_size(folder / "twenty.json") - fs::file_size(folder / "ten.json") < 10 * 1024);
}

TEST_CASE("a file that is cut anywhere gives its whole rows and says how many, or is refused if it has none") {
  const Folder folder;
  const Run run = small_run();
  write_run(run, folder / "run.json");
  const std::string text = contents(folder / "run.json");
  // Each row is a line.
  std::vector<std::size_t> ends;
  for (std::size_t at = text.find("\n{", text.find('[')); at != std::string::npos; at = text.find("\n{", at + 1))
    ends.push_back(text.rfind('}', text.find('\n', at + 1)) + 1);
  const std::size_t array_end = text.rfind(']') + 1;
  REQUIRE(ends.size() == run.rows.size() + run.ceilings.size());
  std::set<std::size_t> counts;
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto cut = folder.write("cut.json", text.substr(0, size));
    const std::string error = input_error(cut);
    INFO("cut after byte " << size);
    const auto whole =
        static_cast<std::size_t>(std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= size; }));
    if (whole == 0) {
      CHECK(error.starts_with(cut.string() + ": "));
      continue;
    }
    REQUIRE(error.empty());
    const Run read = read_run(cut);
    counts.insert(read.rows.size() + read.ceilings.size());
    CHECK(read.rows.size() + read.ceilings.size() == whole);
    if (size >= array_end) check_equal(run, read);
    else {
      REQUIRE(read.faults.size() == 1);
      CHECK_THAT(read.faults[0], Catch::EndsWith("whole records: " + std::to_string(whole)));
    }
  }
  CHECK(counts.size() == run.rows.size() + run.ceilings.size());
}

TEST_CASE("a file with any one byte changed is read or refused, never more") {
  const Folder folder;
  write_run(small_run(), folder / "run.json");
  const std::string text = contents(folder / "run.json");
  for (std::size_t at = 0; at < text.size(); ++at)
    for (char byte : {'\0', '"', '{', ']', ',', '9', '\xff'}) {
      std::string broken = text;
      broken[at] = byte;
      CHECK_NOTHROW(input_error(folder.write("broken.json", broken)));
    }
}

TEST_CASE("a broken file is refused with its name, its place and what was expected") {
  const Folder folder;
  write_run(small_run(), folder / "run.json");
  const std::string text = contents(folder / "run.json");
  const auto error_of = [&](const std::string& what, const std::string& with) {
    return input_error(folder.write("x.json", replaced(text, what, with)));
  };
  CHECK_THAT(error_of("\"signature_version\": \"1\"", "\"signature_version\": \"1000\""),
             Catch::Contains("version 1000, expected at most"));
  CHECK_THAT(error_of("\"signature_version\"", "\"version\""), Catch::Contains("no 'signature_version'"));
  CHECK_THAT(error_of("\"machine/cores\"", "\"cores\""), Catch::Contains("no 'machine/cores'"));
  CHECK_THAT(error_of("\"machine/cores\": \"2\"", "\"machine/cores\": \"two\""),
             Catch::Contains("'two', expected a whole number"));
  CHECK_THAT(error_of("\"benchmarks\"", "\"rows\""), Catch::Contains("'benchmarks'"));
  CHECK_THAT(error_of("\"context\"", "\"about\""), Catch::Contains("no 'context' before 'benchmarks'"));
  CHECK_THAT(error_of("\n]\n}", "\n]\n}{"), Catch::Contains("more text after the end"));
  CHECK_THAT(input_error(folder / "absent.json"), Catch::Contains("absent.json: cannot be read: No such file"));
  CHECK_THAT(input_error(folder.path), Catch::Contains("cannot be read: Is a directory"));
  CHECK_THAT(input_error(folder.write("empty.json", "")),
             Catch::Contains("empty.json: byte 0") && Catch::Contains(". Expected a whole"));
}

TEST_CASE("a row that is no JSON costs that row, and a byte that is no UTF-8 does too") {
  const Folder folder;
  write_run(small_run(), folder / "run.json");
  const std::string text = contents(folder / "run.json");
  const auto whole = read_run(folder / "run.json");
  const auto [what, with] =
      GENERATE(table<std::string, std::string>({{"\"iterations\":480,", "\"iterations\":480"},
                                                {"\"iterations\":480,", "\"iterations\":\"\xFF\","},
                                                {"\"iterations\":480,", "\"iterations\":\"\x02\","},
                                                {"\"iterations\":480,", "\"iterations\":[{,"},
                                                {"\"iterations\":480,", "\"rounds_ns\":[:43],"},
                                                {"\"iterations\":480,", "\"rounds_ns\":[,43],"},
                                                {"\"iterations\":480,", "\"unknown\"::43,"},
                                                {"\"iterations\":480,", "\"iterations\":480,\"path\":\"C:\\\","}}));
  CAPTURE(with);
  const Run read = read_run(folder.write("x.json", replaced(text, what, with)));
  CHECK(sound_rows(read) + read.ceilings.size() + 1 == whole.rows.size() + whole.ceilings.size());
  CHECK(read.faults.size() == 1);
}

TEST_CASE("a row that cannot be read is a damaged row if its name can be read, unless another row has this name") {
  const Folder folder;
  write_run(small_run(), folder / "run.json");
  const std::string text = contents(folder / "run.json");
  const auto begin = text.find("{\"name\":\"onednn"), end = text.find('}', begin) + 1;
  REQUIRE(end != 0);
  const std::string row = text.substr(begin, end - begin), damaged = replaced(row, "\"ns\"", "\"fortnight\"");
  const Run alone = read_run(folder.write("x.json", replaced(text, row, damaged)));
  REQUIRE(alone.rows.size() == small_run().rows.size());
  CHECK(alone.rows[0].status == RowStatus::damaged);
  CHECK_THAT(alone.rows[0].reason, Catch::Contains("fortnight"));
  for (const std::string& both : {damaged + "," + row, row + "," + damaged}) {
    const Run read = read_run(folder.write("x.json", replaced(text, row, both)));
    REQUIRE(read.rows.size() == small_run().rows.size());
    CHECK(read.rows[0].measured());
    CHECK(read.faults.size() == 1);
  }
}

TEST_CASE("an unreadable remark in the context is left out, and a file with an unreadable fact is refused") {
  const Folder folder;
  write_run(small_run(), folder / "run.json");
  const std::string text = contents(folder / "run.json");
  const auto with = [&](const std::string& member) {
    return folder.write("x.json", replaced(text, "\"context\": {", "\"context\": {" + member + ","));
  };
  const auto [member, faults] = GENERATE(table<std::string, std::size_t>({{R"("executable": "C:\Users\x.exe")", 0},
                                                                          {R"("C:\Users": 1)", 0},
                                                                          {R"("\ud800": 1)", 0},
                                                                          {R"("load": NaN)", 0},
                                                                          {R"("warning/7": "\ud800")", 1},
                                                                          {R"("suite": "C:\Users")", 1},
                                                                          {"\"note\": \"caf\xE9\"", 1},
                                                                          {"\"note\": \"a\tb\x01\"", 1}}));
  CAPTURE(member);
  const auto whole = read_run(folder / "run.json");
  const Run read = read_run(with(member));
  CHECK(read.rows.size() == whole.rows.size());
  CHECK(read.machine.id() == whole.machine.id());
  CHECK(read.faults.size() == faults);
  CHECK_THAT(input_error(with(R"("machine/state/clock": "C:\Users")")),
             Catch::Contains("'machine/state/clock' in the context is not a JSON string"));
}

TEST_CASE("an element that is not a row is dropped with the reason and its number, and no other is") {
  const Folder folder;
  write_run(small_run(), folder / "run.json");
  const std::string text = contents(folder / "run.json");
  struct Case {
    std::string what{}, with{}, reason{};
  };
  const std::string excluded = "native/none/hot/" + conv;
  const std::vector<Case> cases{
      {excluded, "native/none/tepid/" + conv, "row 6: 'native/none/tepid/Conv"},
      {excluded, "native/none/hot/", "'native/none/hot/', expected <backend>/<algorithm>/<cache state>/<signature>"},
      {excluded, "BM_memcpy/1024", "row 6: 'BM_memcpy/1024', expected"},
      {"\"name\":\"" + excluded + "\",", "", "row 6: '', expected"},
      {"\"name\":\"" + excluded + "\"", "\"name\":[{\"a\":1}]", "row 6: "},
      {excluded, "native/none/hot/Convolution/f32/x=1", "row 6: signature 'Convolution/f32/x=1'"},
      {excluded, "native/none/hot/Unary/f32/x=4294967296x4294967296/fn=relu", "row 6: "},  // 2^64 elements
      {"\"real_time\":0.0,\"cpu_time\":0.0,\"time_unit\":\"ns\"", "\"time_unit\":\"parsec\"",
       "row 6: time_unit 'parsec', expected"},
  };
  for (const auto& [what, with, reason] : cases) {
    INFO(with);
    const Run read = read_run(folder.write("x.json", replaced(text, what, with)));
    CHECK(sound_rows(read) == 2);
    CHECK(read.ceilings.size() == 3);
    REQUIRE(read.faults.size() == 1);
    CHECK_THAT(read.faults[0], Catch::Contains(reason));
  }
  const Run read =
      read_run(folder.write("x.json", replaced(text, "\"benchmarks\": [", "\"benchmarks\": [null,1,\"x\",")));
  CHECK(read.rows.size() == 3);
  CHECK(read.faults.size() == 3);
}

TEST_CASE("a value that cannot be true costs its own row, with the reason, and no other") {
  const Folder folder;
  Run run = small_run();
  run.rows[0].algorithm = "jit:avx2";  // does not contain threads, so that the row's own count applies
  run.rows[0].threads = 3;
  run.machine.driver = "580.95";  // of a GPU, whose rows may have a launch
  write_run(run, folder / "run.json");
  const std::string text = contents(folder / "run.json");
  const auto read_with = [&](const std::string& what, const std::string& with) {
    return read_run(folder.write("x.json", replaced(text, what, with)));
  };
  const std::string samples = "\"samples\":12", launch = samples + ",\"launch_ns\":";
  struct Case {
    std::string what{}, with{}, reason{};
  };
  const std::vector<Case> cases{
      {"\"threads\":3", "\"threads\":NaN", "threads is not a count"},
      {"\"threads\":3", "\"threads\":0", "threads is not a count"},
      {samples, "\"samples\":NaN", "samples is not a count"},
      {samples, "\"samples\":-12", "samples is not a count"},
      {samples, "\"samples\":2.5", "samples is not a count"},
      {"\"calls_per_sample\":40", "\"calls_per_sample\":Infinity", "calls_per_sample is not a count"},
      {"\"calls_per_sample\":40", "\"calls_per_sample\":0", "calls_per_sample is not a count"},
      {"\"iterations\":480", "\"iterations\":-5", "iterations is not a count"},
      {"\"workspace_bytes\":4096", "\"workspace_bytes\":1e300", "workspace_bytes is not a count"},
      {"\"threads\":3", "\"threads\":[3]", "threads is not a count"},
      {"\"real_time\":1250000.0", "\"real_time\":NaN", "real_time is NaN, expected a positive number"},
      {"\"real_time\":1250000.0", "\"real_time\":-Infinity", "real_time is -Infinity, expected a positive number"},
      {"\"real_time\":1250000.0", "\"real_time\":-5", "real_time is -5, expected a positive number"},
      {"\"real_time\":1250000.0", "\"real_time\":0", "real_time is 0, expected a positive number"},
      {"\"real_time\":1250000.0", "\"real_time\":1e400", "real_time is 1e400, expected a positive number"},
      {"\"real_time\":1250000.0", "\"real_time\":null", "real_time is null, expected a positive number"},
      {"\"real_time\":1250000.0", "\"real_time\":\"fast\"", "real_time is \"fast\", expected a positive number"},
      {"\"real_time\":1250000.0", "\"time\":1250000.0", "no time was recorded"},
      {"\"p10_ns\":1250000.0", "\"at_least_ns\":-5.0,\"p10_ns\":1250000.0",
       "at_least_ns is -5.0, expected a positive number"},
      {"\"p10_ns\":1250000.0", "\"at_most_ns\":-5.0,\"p10_ns\":1250000.0",
       "at_most_ns is -5.0, expected a positive number"},
      {"\"p10_ns\":1250000.0", "\"at_least_ns\":3.0,\"at_most_ns\":2.0,\"p10_ns\":1250000.0",
       "at_least_ns is above at_most_ns"},
      {"\"median_ns\":", "\"median_ns\":Infinity,\"was\":", "median_ns is Infinity, expected a positive number"},
      {"\"rounds_ns\":[", "\"rounds_ns\":[NaN,", "rounds_ns is NaN, expected a positive number"},
      {"\"rounds_ns\":[", "\"visits_ns\":[-1],\"rounds_ns\":[", "visits_ns is -1, expected a positive number"},
      {samples, launch + "NaN", "launch_ns is not a number"},
      {samples, launch + "-1", "launch_ns is not between 0 and the time"},
      {samples, launch + "1250001", "launch_ns is not between 0 and the time"},  // the row's time is 1.25 ms
  };
  for (const auto& [what, with, reason] : cases) {
    INFO(with);
    const Run read = read_with(what, with);
    REQUIRE(read.rows.size() == run.rows.size());
    CHECK(read.rows[0].reason == reason);
    CHECK(read.rows[1].measured());
    CHECK(read.ceilings.size() == run.ceilings.size());
    CHECK(read.faults == std::vector<std::string>{run.rows[0].name() + ": " + reason});
  }
  const Run sound = read_with(samples, launch + "1000");
  CHECK(sound.rows[0].measured());
  CHECK(sound.rows[0].device.value().launch.value == Approx(1e-6));
  CHECK(sound.faults.empty());
}

TEST_CASE(
    "a row does not count if it has a launch without a GPU, an error without a message, or no number of threads") {
  const Folder folder;
  const Run run = small_run();
  write_run(run, folder / "run.json");
  const std::string text = contents(folder / "run.json"), samples = "\"samples\":12";
  const auto fault = [&](const std::string& what, const std::string& with) {
    const Run read = read_run(folder.write("x.json", replaced(text, what, with)));
    REQUIRE(read.rows.size() == run.rows.size());
    CHECK(read.rows[0].status == RowStatus::damaged);
    REQUIRE(read.faults.size() == 1);
    return read.faults[0];
  };
  CHECK_THAT(fault(samples, "\"launch_ns\":1000.0," + samples), Catch::Contains("launch_ns is of a GPU alone"));
  CHECK_THAT(fault(samples, "\"status\":\"failed\"," + samples), Catch::Contains("it has no error"));
  for (const std::string threads : {"99999999999", "0", "-1", "1x", "1.5"})
    CHECK_THAT(fault(run.rows[0].name(), replaced(run.rows[0].name(), "threads=2", "threads=" + threads)),
               Catch::Contains("threads is not a count"));
}

TEST_CASE("a row that no session can have written does not count, by the rule that db verify has") {
  const Folder folder;
  const Run run = small_run();
  write_run(run, folder / "run.json");
  const std::string text = contents(folder / "run.json"), samples = "\"samples\":12";
  const std::string time = R"("real_time":1250000.0,"cpu_time":1250000.0,"time_unit":)";
  struct Case {
    std::string what{}, with{}, fault{};
  };
  const std::vector<Case> cases{
      {"\"real_time\":1250000.0", "\"real_time\":1e300", "has a p10 that is not from 1 ps to 1 year"},
      {"\"real_time\":1250000.0", "\"real_time\":1e-300", "has a p10 that is not from 1 ps to 1 year"},
      {time + "\"ns\"", time + "\"us\"", "has quantiles out of order: min, p10, median, p90"},
      {"\"median_ns\":1262500.0", "\"median_ns\":1200000.0", "has quantiles out of order: min, p10, median, p90"},
      {samples, "\"samples\":0", "has a time and no sample that counts"},
      {"\"cv\":0.0125", "\"cv\":1e300", "has a cv that is not from 0 to 1000"},
      {"\"cv\":0.0125", "\"cv\":-1", "has a cv that is not a number"},
      {samples, "\"wander\":1e300," + samples, "has a wander that is not from 0 to 1000"},
      {samples, "\"methods_disagreement\":-1," + samples, "has a methods_disagreement that is not from 0 to 1000"},
      {samples, "\"other_method_ns\":1e300," + samples,
       "has a preparation or other time that is not from 1 ps to 1 year"},
      {samples, "\"clock_hz\":1e300," + samples, "has a clock that is not a frequency"},
      {samples, "\"clock_hz\":1.98," + samples, "has a clock that is not a frequency"},
      {"\"rounds_ns\":[1250000.0", "\"rounds_ns\":[1e300", "has a round that is not from 1 ps to 1 year"},
      {"\"rounds_ns\":[1250000.0,", "\"rounds_ns\":[", "has 2 rounds, others of the run have 3"},
      {"\"rounds_ns\":[1250000.0", "\"rounds_ns\":[125000.0", "has a round below its min"},
  };
  for (const auto& [what, with, fault] : cases) {
    INFO(with);
    const Run read = read_run(folder.write("x.json", replaced(text, what, with)));
    REQUIRE(read.rows.size() == run.rows.size());
    CHECK(read.rows[0].status == RowStatus::damaged);
    CHECK(read.rows[1].measured());
    CHECK(read.faults == std::vector<std::string>{run.rows[0].name() + " " + fault});
    CHECK(check(read).size() == 1);  // db verify names it once
  }
}

TEST_CASE("a row without rounds is said if only another cache state of its layer has them") {
  const Folder folder;
  Run run = small_run();
  run.rows = {row("onednn", conv, 1e-3), row("onednn", conv, 2e-3), row("onednn", relu, 1e-6)};
  run.rows[1].cache = CacheState::cold_weights;
  run.rows[0].rounds_s.clear();
  write_run(run, folder / "run.json");
  const Run read = read_run(folder / "run.json");
  REQUIRE(read.faults.size() == 1);
  CHECK_THAT(read.faults[0],
             Catch::StartsWith(run.rows[0].name() + " has no rounds") && Catch::Contains("its cold-weights rows have"));
  CHECK_FALSE(read.rows[0].measured());
  CHECK(check(read).size() == 1);
  ResultDatabase database;
  database.add(read);
  const auto said = left_out(database);
  REQUIRE(said.size() == 2);
  CHECK_THAT(said[1], Catch::Contains("no hot row can be used of 1 layer") && Catch::Contains(conv));
  run.rows[1].rounds_s.clear();  // a session that was killed before its rounds
  write_run(run, folder / "run.json");
  CHECK(read_run(folder / "run.json").faults.empty());
}

TEST_CASE("a second row of the same name does not count") {
  const Folder folder;
  Run run = small_run();
  run.rows = {row("onednn", conv, 1e-3), row("onednn", conv, 2e-3)};
  write_run(run, folder / "run.json");
  const Run read = read_run(folder / "run.json");
  REQUIRE(read.rows.size() == 1);
  CHECK(read.rows[0].times->p10.value == Approx(1e-3));
  CHECK(read.faults == std::vector<std::string>{run.rows[0].name() + " is there twice: the first one counts"});
}

TEST_CASE("a row whose thread count is not the one in its name is left out; Google Benchmark's 1 says nothing") {
  const Folder folder;
  write_run(small_run(), folder / "run.json");
  const std::string text = contents(folder / "run.json"), row = "\"name\":\"onednn/";
  const auto behind = text.find("\"threads\":2", text.find(row));
  const auto faults = [&](const std::string& threads) {
    return read_run(folder.write("x.json", std::string(text).replace(behind, 11, "\"threads\":" + threads))).faults;
  };
  CHECK(faults("1").empty());
  REQUIRE(faults("999").size() == 1);
  CHECK_THAT(faults("999")[0], Catch::Contains("threads is 999, its name says 2"));
}

TEST_CASE("repetitions of one benchmark are samples of one row") {
  const Folder folder;
  const std::string name = "onednn/jit:avx2,threads=1/hot/Conv/f32/x=1x3x8x8/w=8x3x3x3";
  const auto repetition = [&](int index, const std::string& rest) {
    return "{\"name\": \"" + name + "/repeats:3/real_time\", \"run_type\": \"iteration\", \"repetitions\": 3, " +
           "\"repetition_index\": " + std::to_string(index) + ", \"threads\": 1, \"time_unit\": \"us\", " + rest + "}";
  };
  const std::string aggregate =
      "{\"name\": \"" + name +
      "_mean\", \"run_type\": \"aggregate\", \"repetitions\": 3, \"threads\": 1, \"real_time\": 9}";
  const Run read = read_run(folder.write(
      "run.json", "{\"context\": {\"signature_version\": \"1\", \"machine/cores\": \"2\"}, \"benchmarks\": [" +
                      repetition(0, "\"real_time\": 30") + ", " + repetition(1, "\"real_time\": 10") + ", " +
                      repetition(2, "\"real_time\": 20") + ", " + aggregate + "]}"));
  REQUIRE(read.rows.size() == 1);
  CHECK(read.faults.empty());
  CHECK(read.rows[0].samples == 3);
  CHECK(read.rows[0].times->min.value == Approx(10e-6));
  CHECK(read.rows[0].times->p10.value == Approx(12e-6));  // linear between the order statistics: 10 + 0.2 * (20 - 10)
  CHECK(read.rows[0].times->median.value == Approx(20e-6));
  CHECK(read.rows[0].times->p90.value == Approx(28e-6));
  CHECK(read.rows[0].times->cv.value() == Approx(0.5));     // standard deviation 10 over 20
  for (const std::string impossible : {"1e-10", "1e15"}) {  // microseconds: below 1 ps, 31.7 years
    const Run damaged = read_run(folder.write(
        "damaged.json", "{\"context\": {\"signature_version\": \"1\", \"machine/cores\": \"2\"}, \"benchmarks\": [" +
                            repetition(0, "\"real_time\": 30") + ", " + repetition(1, "\"real_time\": " + impossible) +
                            "]}"));
    REQUIRE(damaged.rows.size() == 1);
    CHECK(damaged.rows[0].times->min.value == Approx(30e-6));
    REQUIRE(damaged.faults.size() == 1);
    CHECK_THAT(damaged.faults[0], Catch::Contains("its time is not from 1 ps to 1 year"));
  }
  const std::string failed = "\"error_occurred\": true, \"error_message\": \"no plan\", \"real_time\": 0.0";
  const Run refused = read_run(folder.write(
      "refused.json", "{\"context\": {\"signature_version\": \"1\", \"machine/cores\": \"2\"}, \"benchmarks\": [" +
                          repetition(0, failed) + ", " + repetition(1, failed) + "]}"));
  REQUIRE(refused.rows.size() == 1);
  CHECK_FALSE(refused.rows[0].measured());
  const Run once = read_run(folder.write(
      "once.json",
      "{\"context\": {\"signature_version\": \"1\", \"machine/cores\": \"2\"}, \"benchmarks\": [{\"name\": \"" + name +
          "/real_time\", \"run_type\": \"iteration\", \"repetitions\": 1, \"threads\": 1, \"time_unit\": \"us\", "
          "\"real_time\": 30}]}"));
  REQUIRE(once.rows.size() == 1);
  CHECK(once.rows[0].samples == 1);
  CHECK(once.rows[0].times->p90.value == Approx(30e-6));
}

TEST_CASE("a date in another zone is read in UTC, and a text that is no date says so") {
  const Folder folder;
  const auto read_with = [&](const std::string& date) {
    return read_run(folder.write("run.json", "{\"context\": {\"date\": \"" + date +
                                                 "\", \"signature_version\": \"1\", \"machine/cores\": \"2\"}, " +
                                                 "\"benchmarks\": []}"));
  };
  CHECK(read_with("2026-01-01T23:00:07+09:00").started == "2026-01-01T14:00:07Z");
  CHECK(read_with("2025-12-31T20:30:00-05:30").started == "2026-01-01T02:00:00Z");
  for (const std::string same : {"2026-01-01T23:00:07Z", "2026-01-01T23:00:07+00:00", "2026-01-01", ""}) {
    CHECK(read_with(same).started == same);
    CHECK(read_with(same).faults.empty());
  }
  for (const std::string wrong : {"yesterday", "2026-13-01", "2026-01-01T25:00:00Z", "2026-01-01T23:00:07 CET"}) {
    CHECK(read_with(wrong).started.empty());
    REQUIRE(read_with(wrong).faults.size() == 1);
    CHECK_THAT(read_with(wrong).faults[0], Catch::Contains("'" + wrong + "'"));
  }
}

TEST_CASE("a ceiling with a value that cannot be true does not count") {
  const Folder folder;
  write_run(small_run(), folder / "run.json");
  const std::string text = contents(folder / "run.json");
  const Run read =
      read_run(folder.write("x.json", replaced(text, "\"in_front_bytes\":", "\"in_front_bytes\":NaN,\"bytes\":")));
  CHECK(read.ceilings.size() == small_run().ceilings.size() - 1);
  CHECK(read.rows.size() == small_run().rows.size());
  CHECK(read.faults.size() == 1);
  const Run timer = read_run(folder.write("x.json", replaced(text, "\"real_time\":25.0", "\"real_time\":1e300")));
  CHECK(timer.faults ==
        std::vector<std::string>{"machine/steady_clock/hot/Timer/floor: its time is not from 1 ps to 1 year"});
  for (const char* value : {"NaN", "Infinity", "-1", "0", "1e40", "1e-40", "null"}) {
    INFO(value);
    const auto peak = folder.write(
        "x.json", replaced(text, "\"flops_per_second\":173000000000.0", std::string("\"flops_per_second\":") + value));
    const Run without = read_run(peak);
    CHECK(without.ceilings.size() == small_run().ceilings.size() - 1);
    CHECK(without.faults ==
          std::vector<std::string>{"machine/fma:avx512,threads=2/hot/Peak/f32: flops_per_second is not a valid rate"});
  }
}

TEST_CASE("a time that is not a positive number is never written as one") {
  const Folder folder;
  for (double time : {0.0, -1.0, not_a_number, infinity, -infinity}) {
    Run run = small_run();
    run.rows[0].times->p10 = run.rows[0].times->min = {time};
    run.rows[1].difference = run.rows[1].times->cv = run.rows[1].wander = time;
    run.rows[1].rounds_s = {time, 1e-6};
    run.rows[1].visits_s = {2e-6, time};
    run.ceilings[0].value = time;
    write_run(run, folder / "run.json");
    const std::string text = contents(folder / "run.json");
    CHECK_THAT(text, !Catch::Contains("NaN") && !Catch::Contains(":nan") && !Catch::Contains("inf") &&
                         !Catch::Contains("nfinity"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)  // without a time, a row is written as Google Benchmark does
      if (line.starts_with("{\"name\""))
        CHECK((line.find(R"("real_time":0.0,"cpu_time":0.0,"time_unit":"ns")") != std::string::npos) ==
              (line.find(R"("error_occurred":true,"error_message":"no )") != std::string::npos));
    const Run read = read_run(folder / "run.json");
    REQUIRE(read.rows.size() == run.rows.size());
    CHECK(read.rows[0].reason == "no time was measured");
    CHECK(read.rows[1].measured());
    CHECK(std::isnan(read.rows[1].rounds_s.at(0)));
    CHECK(read.rows[1].rounds_s.at(1) == Approx(1e-6));
    CHECK(read.rows[1].visits_s.at(0) == Approx(2e-6));
    CHECK(std::isnan(read.rows[1].visits_s.at(1)));
    CHECK(read.ceilings.size() == run.ceilings.size() - 1);
  }
}

TEST_CASE("text that is not UTF-8 does not cost the file") {
  const Folder folder;
  Run run = small_run();
  run.rows[2].exclude_for("status \xff of \"a\" library\n");
  write_run(run, folder / "run.json");
  CHECK(read_run(folder / "run.json").rows[2].reason == "status \xef\xbf\xbd of \"a\" library\n");
}

TEST_CASE("packed files are read, cut ones refused") {
  const Folder folder;
  write_run(small_run(), folder / "run.json");
  const std::string text = contents(folder / "run.json");
  const auto packed = folder / "run.json.gz";
  gzFile output = gzopen(packed.c_str(), "wb");
  REQUIRE(gzwrite(output, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  gzclose(output);
  check_equal(small_run(), read_run(packed));
  fs::resize_file(packed, fs::file_size(packed) / 2);
  CHECK_THAT(input_error(packed), Catch::Contains("run.json.gz: "));
}

TEST_CASE("what cannot be written is said with file and cause, and the old file stays") {
  const Folder folder;
  CHECK_THROWS_WITH(write_run(small_run(), folder / "absent" / "run.json"),
                    Catch::Contains("absent/run.json': No such file or directory"));
  CHECK_THROWS_AS(write_run(small_run(), folder.path), EnvironmentError);
  CHECK_THROWS_WITH(write_run(small_run(), "/dev/full"), Catch::Contains("'/dev/full': No space left on device"));
  CHECK(fs::is_character_file("/dev/full"));
  const auto file = folder.write("file", "old");
  ResultDatabase database;
  CHECK_THROWS_AS(database.append(small_run(), file), EnvironmentError);
  CHECK(database.runs().size() == 1);
  CHECK(contents(file) == "old");
  if (::geteuid() != 0) {
    fs::permissions(folder.path, fs::perms::owner_read | fs::perms::owner_exec);
    CHECK_THROWS_WITH(write_run(small_run(), file), Catch::Contains("Permission denied"));
    fs::permissions(folder.path, fs::perms::owner_all);
    CHECK(contents(file) == "old");
  }
}

TEST_CASE("a disk that is full costs neither the old file nor leaves a piece of the new one") {
  const Folder folder;
  const auto file = folder.write("run.json", "old");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 512, .rlim_max = before.rlim_max};  // bytes; the run needs more
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string written, appended;
  try {
    write_run(small_run(), file);
  } catch (const EnvironmentError& error) {
    written = error.what();
  }
  ResultDatabase database;
  try {
    database.append(small_run(), folder.path);
  } catch (const EnvironmentError& error) {
    appended = error.what();
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(written, Catch::Contains("cannot write '" + file.string() + "': File too large"));
  CHECK_THAT(appended, Catch::Contains("File too large"));
  CHECK(database.runs().size() == 1);  // the measured rows remain available
  CHECK(contents(file) == "old");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("a symbolic link stays one, a file keeps its permissions") {
  const Folder folder;
  const auto file = folder.write("file.json", "old");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(file, folder / "link.json");
  write_run(small_run(), folder / "link.json");
  CHECK(fs::is_symlink(folder / "link.json"));
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  check_equal(small_run(), read_run(file));
}
