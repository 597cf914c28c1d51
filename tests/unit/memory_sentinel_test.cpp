// SPDX-License-Identifier: Apache-2.0
// Rows whose data exceed the caches, while another process streams through memory, on a host whose time is a counter.
#include "sampling/memory_sentinel.hpp"

#include "measure/known.hpp"
#include "measure/tuning_session.hpp"
#include "sampling/memory_probe.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stop_token>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::sampling;
using test::FakeBackend;
using test::FakeHost;

/// 64 KiB are read and 64 KiB are written, while the caches hold 100 kB.
constexpr std::int64_t beyond_caches = 16384, within_caches = 64;

Measurement memory_row(FakeHost& host, std::int64_t elements, Seconds budget = {10}) {
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<test::FakePlan>{{.name = "plan", .seconds = 1e-3, .memory_bound = true}});
  const std::vector<Wanted> wanted{{.layer = op::Unary{.fn = ElementwiseFn::relu, .x = {elements}}}};
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  return run_tuning_session(host, wanted, backends, {.budget = budget}, 1).front();
}

/// The number of rounds that count, and of those among them that were slowed down.
std::pair<int, int> counted_and_slow(const Measurement& row) {
  std::pair<int, int> result;
  for (const double time : row.rounds_s) {
    result.first += std::isfinite(time) ? 1 : 0;
    result.second += time > 1.01e-3 ? 1 : 0;
  }
  return result;
}

/// A separate process, which traverses 4 MiB whenever it is told to.
class Streamer {
 public:
  Streamer() {
    std::array<int, 2> to{}, from{};
    REQUIRE(pipe(to.data()) == 0);
    REQUIRE(pipe(from.data()) == 0);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      close(to[1]);
      close(from[0]);
      stream(to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    orders_ = to[1];
    answers_ = from[0];
  }
  ~Streamer() {
    close(orders_);  // this ends it
    close(answers_);
    waitpid(process_, nullptr, 0);
  }
  Streamer(const Streamer&) = delete;
  Streamer& operator=(const Streamer&) = delete;

  /// Makes it traverse once. Returns its number, 0 if it is not running.
  pid_t pass() {
    const char order = 'w';
    pid_t walked = 0;
    if (write(orders_, &order, 1) != 1 || read(answers_, &walked, sizeof walked) != sizeof walked) return 0;
    return walked;
  }
  [[nodiscard]] pid_t process() const { return process_; }

 private:
  [[noreturn]] static void stream(int orders, int answers) {
    static std::array<char, std::size_t{4} << 20> memory;
    const pid_t own = getpid();
    for (char order = 0; read(orders, &order, 1) == 1;) {
      for (std::size_t i = 0; i < memory.size(); i += 64) ++memory[i];
      if (write(answers, &own, sizeof own) != sizeof own) break;
    }
    _exit(0);
  }

  pid_t process_ = -1;
  int orders_ = -1, answers_ = -1;
};

/// A host on which all memory accesses take 1.5 times as long while a process streams.
struct StreamedHost {
  FakeHost host{};
  Streamer streamer{};
  bool streaming = false;
  StreamedHost() {
    host.memory_slowness = [this](double) { return streaming && streamer.pass() == streamer.process() ? 1.5 : 1.0; };
  }
};

/// Options with a session's readings of the memory as the readings of an earlier session.
MeasureOptions knowing(std::vector<CeilingRow> usual, Seconds budget) {
  return {.budget = budget, .ceilings = std::move(usual)};
}

MemoryTimes times_of(double chase, double stream) { return {.chase = {chase * 1e-6}, .stream = {stream * 1e-6}}; }

}  // namespace

TEST_CASE("a sample that leaves the caches does not count while another process streams through memory", "[memory]") {
  FakeHost host;
  // A process that runs for 0.4 s of every second: the registers are as fast as ever, calls take 1.5 times as long.
  host.memory_slowness = [](double now) { return std::fmod(now, 1.0) < 0.4 ? 1.5 : 1.0; };
  SECTION("it is measured again when the memory is quiet") {
    const Measurement row = memory_row(host, beyond_caches);
    const auto [counted, slow] = counted_and_slow(row);
    CHECK(counted >= 8);
    CHECK(slow <= 1);  // it may begin between a reading and the sample
    CHECK(row.times->median.value == Approx(1e-3));
  }
  SECTION("without the memory sentinel it goes unnoticed") {
    host.has_memory_probe = false;
    CHECK(counted_and_slow(memory_row(host, beyond_caches)).second > 4);
  }
  SECTION("a row that fits into the caches is not watched") {
    CHECK(counted_and_slow(memory_row(host, within_caches)).second > 4);
  }
}

TEST_CASE("samples beside a process that streams through memory are measured again when it has paused", "[memory]") {
  FakeHost host;
  Streamer streamer;
  int passes = 0;
  // Time is a counter: memory accesses take 1.5 times as long if the process has just traversed its own memory.
  host.memory_slowness = [&](double now) {
    if (std::fmod(now, 1.0) >= 0.4 || streamer.pass() != streamer.process()) return 1.0;
    ++passes;
    return 1.5;
  };
  const Measurement row = memory_row(host, beyond_caches, {3});
  const auto [counted, slow] = counted_and_slow(row);
  CHECK(passes > 100);
  CHECK(counted >= 8);
  CHECK(slow <= 1);
  CHECK(row.times->median.value == Approx(1e-3));
}

TEST_CASE("rounds beside a process that streams through memory until the session ends are measured by the next session",
          "[memory]") {
  StreamedHost streamed;
  FakeHost& host = streamed.host;
  bool& streaming = streamed.streaming;
  const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<FakeBackend>(
      host, std::vector<test::FakePlan>{{.name = "best", .seconds = 1e-3, .memory_bound = true},
                                        {.name = "close", .seconds = 1.1e-3, .memory_bound = true}})};
  const Layer layer = op::Unary{.fn = ElementwiseFn::relu, .x = {beyond_caches}};
  const Question question{.backends = {"fake"}, .caches = {CacheState::hot}, .threads = 1, .certain = true};
  // The process begins after the selection, which takes 21 quiet samples of each plan. Rounds of five tries each
  // follow. After 4 rounds, fewer than three quarters of the readings are slow; after 30, more than that.
  const std::size_t rounds = GENERATE(std::size_t{4}, std::size_t{30});
  std::stop_source stop;
  const auto progress = [&](const Progress& now) {
    streaming = streaming || now.phase == "rounds";
    if (now.phase == "rounds" && now.done == rounds) stop.request_stop();
  };
  const std::vector<Wanted> wanted{{.layer = layer}};
  const auto rows =
      run_tuning_session(host, wanted, backends, {.budget = {10}, .progress = progress, .stop = stop.get_token()}, 1);
  REQUIRE(rows.size() == 2);
  const Measurement& contended = rows.front();
  CHECK(contended.algorithm == "best,threads=1");
  CHECK(contended.rounds_s.size() == rounds);
  CHECK(counted_and_slow(contended).first == 0);
  CHECK(contended.noisy);
  CHECK(contended.times->median.value == Approx(1e-3));  // from the selection
  CHECK_FALSE(is_known(layer, rows, question));

  streaming = false;
  const std::vector<Wanted> known{{.layer = layer, .known = rows}};
  const auto again = run_tuning_session(host, known, backends, {.budget = {10}}, 1);
  REQUIRE(again.size() == 1);
  CHECK(counted_and_slow(again.front()) == std::pair(40, 0));
  CHECK_FALSE(again.front().noisy);
  CHECK(again.front().times->p10.value == Approx(1e-3));
  CHECK(is_known(layer, again, question));
}

TEST_CASE("beside a process that streams through memory for a whole session, each row beyond the caches is contended",
          "[memory]") {
  StreamedHost streamed;
  FakeHost& host = streamed.host;
  bool& streaming = streamed.streaming;
  const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<FakeBackend>(
      host, std::vector<test::FakePlan>{{.name = "best", .seconds = 1e-3, .memory_bound = true},
                                        {.name = "close", .seconds = 1.1e-3, .memory_bound = true},
                                        {.name = "slow", .seconds = 3e-3, .memory_bound = true}})};
  std::vector<Wanted> wanted;
  for (const std::int64_t elements : {beyond_caches, 2 * beyond_caches, within_caches})
    wanted.push_back({.layer = op::Unary{.fn = ElementwiseFn::relu, .x = {elements}}});
  const std::string within = LayerSignature(wanted.back().layer).text();
  // The first session of the machine, without the process.
  std::vector<CeilingRow> usual;
  const auto quiet = run_tuning_session(host, wanted, backends, {.budget = {3}}, 1, &usual);
  CHECK(quiet.size() == 9);  // three plans of three layers
  for (const auto& row : quiet) CHECK_FALSE(row.contended);
  REQUIRE(usual.size() == 2);
  CHECK(usual[0].quantity == CeilingQuantity::timer("memory_chase"));
  CHECK(usual[1].quantity == CeilingQuantity::timer("memory_stream"));
  for (const auto& row : usual) CHECK(row.value == Approx(50e-6));

  streaming = true;
  const auto beside = run_tuning_session(host, wanted, backends, knowing(usual, {3}), 1);
  CHECK(beside.size() == 9);
  for (const auto& row : beside) {
    INFO(row.name());
    CHECK(row.measured());
    CHECK(row.contended == (row.signature != within));
    CHECK((row.samples == 0) == row.contended);
    if (row.contended) CHECK(counted_and_slow(row).first == 0);
  }

  // Readings that were not as far beyond the caches show nothing.
  std::vector<CeilingRow> nearer = usual;
  for (auto& row : nearer) row.in_front_bytes /= 2;
  for (const auto& row : run_tuning_session(host, wanted, backends, knowing(nearer, {3}), 1))
    CHECK_FALSE(row.contended);

  streaming = false;
  for (auto& entry : wanted)
    for (const auto& row : beside)
      if (row.signature == LayerSignature(entry.layer).text()) entry.known.push_back(row);
  const auto again = run_tuning_session(host, wanted, backends, knowing(usual, {3}), 1);
  CHECK(again.size() == 7);  // all plans of the contended layers, the best one of the other layer
  for (const auto& row : again) {
    INFO(row.name());
    CHECK_FALSE(row.contended);
    if (row.algorithm == "best,threads=1") CHECK(row.times->median.value == Approx(1e-3));
  }
}

TEST_CASE("a quiet machine has no contended sample beyond the caches", "[memory]") {
  FakeHost host;
  double step = 0;
  // Readings that differ by up to 15 %, in no order.
  host.memory_slowness = [&step](double) { return 1 + 0.15 * std::fabs(std::sin(step += 1)); };
  const Measurement row = memory_row(host, beyond_caches);
  CHECK_FALSE(row.contended);
  CHECK(counted_and_slow(row).first == static_cast<int>(row.rounds_s.size()));
}

TEST_CASE("a clock that calls bound by memory lower is not contention", "[memory]") {
  // How much slower the loop was after such calls on a Zen 3: other samples saw other steps of the clock.
  constexpr std::array drops{1.0, 1.15, 1.45, 1.65, 1.26, 1.0, 1.62, 1.45, 1.16, 1.61};
  FakeHost host;
  std::size_t call = 0;
  host.clock_drop = [&call, &drops] { return drops[call++ % drops.size()]; };
  SECTION("if it is back within 2 ms of arithmetic") {
    host.clock_recovery = 2e-3;
    const Measurement row = memory_row(host, beyond_caches);
    REQUIRE_FALSE(row.rounds_s.empty());
    CHECK(counted_and_slow(row) == std::pair(static_cast<int>(row.rounds_s.size()), 0));
  }
  SECTION("if it is not, the processor is slow") {
    host.clock_recovery = 1;
    const Measurement row = memory_row(host, beyond_caches);
    CHECK(counted_and_slow(row).first < static_cast<int>(row.rounds_s.size()));
  }
  SECTION("slow phases of the processor are still found") {
    host.clock_recovery = 2e-3;
    host.slowness = [](double now) { return std::fmod(now, 1.0) < 0.4 ? 1.5 : 1.0; };
    const auto [counted, slow] = counted_and_slow(memory_row(host, beyond_caches));
    CHECK(counted >= 8);
    CHECK(slow <= 1);
  }
}

TEST_CASE("readings of memory are compared with those after the same work", "[memory]") {
  MemorySentinel sentinel;
  std::vector<MemorySentinel::Reading> light, heavy;
  for (int i = 0; i < 10; ++i) {
    light.push_back(sentinel.read("light", times_of(50 + i % 3, 50)));
    heavy.push_back(sentinel.read("heavy", times_of(110 + i % 3, 90)));
  }
  for (int i = 0; i < 10; ++i)
    CHECK(sentinel.quiet(light[static_cast<std::size_t>(i)], heavy[static_cast<std::size_t>(i)]));
  SECTION("slow before and after, in latency or in bandwidth") {
    const auto slow = sentinel.read("light", times_of(80, 50)), slower = sentinel.read("heavy", times_of(160, 90));
    CHECK_FALSE(sentinel.quiet(slow, slower));
    CHECK(sentinel.quiet(slow, heavy[0]));
    CHECK(sentinel.quiet(light[0], slower));
    CHECK(sentinel.quiet(slow, sentinel.read("heavy", times_of(110, 150))));
    CHECK(sentinel.quiet(slow, std::nullopt));
  }
  SECTION("with few readings after a work, none is slow") {
    for (int i = 0; i < 2; ++i) CHECK(sentinel.quiet(sentinel.read("new", times_of(50, 50)), heavy[0]));
    const auto slow = sentinel.read("new", times_of(500, 500));
    CHECK(sentinel.quiet(slow, slow));
  }
}

TEST_CASE("a machine whose readings differ more while it is quiet has a higher threshold", "[memory]") {
  // 50 to 69 us: the 10th percentile is 52, the 25th is 55, 5.3 % more. Up to 42 % more than 55 us is usual: 78 us.
  MemorySentinel sentinel;
  for (int i = 0; i < 40; ++i) static_cast<void>(sentinel.read("row", times_of(50 + i % 20, 50 + i % 20)));
  const auto slow = sentinel.read("row", times_of(75, 75)), very_slow = sentinel.read("row", times_of(130, 130));
  CHECK(sentinel.quiet(slow, slow));
  CHECK_FALSE(sentinel.quiet(very_slow, very_slow));
}

TEST_CASE("readings of which 80 % are slow, after each work, are slow", "[memory]") {
  MemorySentinel sentinel;
  std::vector<MemorySentinel::Reading> quiet, slow;
  for (const char* const work : {"a", "b", "c"}) {
    for (int i = 0; i < 10; ++i) quiet.push_back(sentinel.read(work, times_of(50 + i % 3, 50 + i % 3)));
    for (int i = 0; i < 40; ++i) slow.push_back(sentinel.read(work, times_of(75 + i % 3, 75 + i % 3)));
  }
  for (const auto& reading : quiet) CHECK(sentinel.quiet(reading, reading));
  for (const auto& reading : slow) CHECK_FALSE(sentinel.quiet(reading, reading));
}

TEST_CASE("a session whose readings take 1.35 times as long as those of earlier ones is slow", "[memory]") {
  const auto is_quiet = [](const std::vector<double>& at_intervals, MemoryTimes known) {
    MemorySentinel sentinel;
    sentinel.know(known);
    for (const double time : at_intervals) sentinel.watch(times_of(time, 40));
    const auto reading = sentinel.read("row", times_of(75, 40));
    return sentinel.quiet(reading, reading);
  };
  const std::vector<double> slow(10, 75), close(10, 65);
  CHECK(is_quiet(slow, {}));
  CHECK_FALSE(is_quiet(slow, times_of(50, 40)));
  CHECK_FALSE(is_quiet(slow, times_of(75, 20)));  // in bandwidth
  CHECK(is_quiet(close, times_of(50, 40)));
  CHECK(is_quiet(std::vector<double>(6, 75), times_of(50, 40)));  // too few
  std::vector<double> mostly(16, 75);
  mostly.insert(mostly.end(), 4, 50);  // the shortest of 20 are as before: the process was not always there
  CHECK(is_quiet(mostly, times_of(50, 40)));
}

TEST_CASE("what readings of a session usually take is their 25th percentile, or the shortest if most are slow",
          "[memory]") {
  MemorySentinel sentinel;
  for (const double time : {52, 50, 54, 62, 60, 58}) sentinel.watch(times_of(time, 100));
  CHECK(sentinel.usual().chase.value == 0);  // too few
  for (const double time : {56, 64, 66}) sentinel.watch(times_of(time, 150));
  CHECK(sentinel.usual().chase.value == Approx(54e-6));
  CHECK(sentinel.usual().stream.value == Approx(100e-6));
}

TEST_CASE("the probe of memory takes each of its times by the clock, the least of four parts", "[memory]") {
  // Differences between the readings of the clock: 4 3, 2 5, 6 1, 7 8 for the chase and the walk, 9 in between.
  const std::vector<double> steps{9, 4, 9, 3, 9, 2, 9, 5, 9, 6, 9, 1, 9, 7, 9, 8};
  std::size_t look = 0;
  double time = 0;
  MemoryProbe probe({1e6}, [&] { return Seconds{time += steps.at(look++)}; });
  const MemoryTimes times = probe.read();
  CHECK(times.chase.value == 2);
  CHECK(times.stream.value == 1);
  CHECK(look == steps.size());
}

TEST_CASE("a walk of the probe of memory looks at no clock", "[memory]") {
  int looks = 0;
  MemoryProbe probe({1e6}, [&] { return Seconds{static_cast<double>(++looks)}; });
  probe.walk({1e7});  // beyond the end of its memory, where it starts again
  CHECK(looks == 0);
  static_cast<void>(probe.read());
  CHECK(looks == 16);  // four parts of two times, each between two readings
}
