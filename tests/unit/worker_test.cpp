// SPDX-License-Identifier: Apache-2.0
#include "isolation/worker.hpp"

#include "isolation/request.hpp"
#include "isolation/surroundings.hpp"
#include "support/results_support.hpp"
#include <benanza/base/detail/running_clock.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/plan/kernel_settings.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <tuple>

using namespace benanza;
using namespace results_support;
using isolation::Worker;

namespace {

Worker misbehaving(const std::string& what, isolation::WorkerOptions options = {}) {
  return Worker({BENANZA_MISBEHAVING, what}, std::move(options));
}

Run measured(const std::string& what, const measure::MeasureOptions& options = {}) {
  return misbehaving(what).measure({}, {}, options);
}

}  // namespace

TEST_CASE("a crash, a hang, a runaway allocation and a lost device cost a row each; the rest is measured") {
  std::vector<std::string> said;
  std::vector<std::size_t> kept;
  const Worker worker =
      misbehaving("rows", {.silence = {4}, .memory = {200e6}, .warn = [&](const auto& text) { said.push_back(text); }});
  const Run run =
      worker.measure({}, {}, {.budget = {100}, .keep = [&](const Run& so_far) { kept.push_back(so_far.rows.size()); }});
  std::vector<std::string> rows;
  for (const auto& row : run.rows) rows.push_back(row.algorithm + " " + (row.measured() ? "measured" : row.reason));
  CHECK(rows == std::vector<std::string>{"first,threads=1 measured", "crashes,threads=1 crashed: Segmentation fault",
                                         "hangs,threads=1 hung: no sign of life for 4 s",
                                         "eats,threads=1 out of memory: the process grew beyond 0.2 GiB",
                                         "loses,threads=1 lost the device", "last,threads=1 measured"});
  REQUIRE(said.size() == 4);
  CHECK(said[0] == "crashed: Segmentation fault in lib/crashes,threads=1/hot/Unary/f32/x=3: going on without it");
  // The last child has the rows that the previous one had kept, and a part of the budget.
  CHECK(run.warnings == std::vector<std::string>{"budget: what is left", "4 earlier rows"});
  CHECK(kept == std::vector<std::size_t>{1, 1, 2, 1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("a child that is stopped does not hang") {
  pid_t child = 0;
  std::jthread wake;  // after several times as long as a child may be silent
  const auto keep = [&](const Run& run) {
    if (child != 0) return;
    child = std::stoi(run.warnings.front());
    wake = std::jthread([child] {
      std::this_thread::sleep_for(std::chrono::seconds(4));
      kill(child, SIGCONT);
    });
  };
  std::vector<std::string> said;
  const Worker worker = misbehaving("stops", {.silence = {1}, .warn = [&](const auto& text) { said.push_back(text); }});
  const Run run = worker.measure({}, {}, {.budget = {100}, .keep = keep});
  CHECK(run.warnings == std::vector{std::to_string(child)});
  CHECK(said.empty());
}

TEST_CASE("time for which a process was stopped is no time") {
  detail::StoppedTime stopped;
  double now = 100;
  const auto run_for = [&](double seconds) {
    for (const double end = now + seconds; now < end; now += detail::StoppedTime::period.value) stopped.saw({now});
  };
  run_for(10);
  CHECK(stopped.total().value == 0);
  now += 1.5;  // the processors were busy
  run_for(10);
  CHECK(stopped.total().value == 0);
  now += 3600;  // a break
  run_for(10);
  CHECK(stopped.total().value == Approx(3600).margin(2 * detail::StoppedTime::period.value));
  now += 60;
  run_for(10);
  CHECK(stopped.total().value == Approx(3660).margin(4 * detail::StoppedTime::period.value));
}

TEST_CASE("variables that change kernels do not reach a worker, and are part of the identity elsewhere") {
  const std::vector<std::string> names{"ONEDNN_MAX_CPU_ISA",      "DNNL_MAX_CPU_ISA",
                                       "ONEDNN_CPU_ISA_HINTS",    "ONEDNN_DEFAULT_FPMATH_MODE",
                                       "OPENBLAS_CORETYPE",       "OPENBLAS_NUM_THREADS",
                                       "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR",
                                       "BLIS_ARCH_TYPE",          "KMP_AFFINITY",
                                       "GOMP_CPU_AFFINITY",       "OMP_PROC_BIND",
                                       "CUDNN_LOGLEVEL_DBG",      "CUBLAS_EMULATION_STRATEGY",
                                       "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE",
                                       "GLIBC_TUNABLES"};
  for (const auto& name : names) {
    INFO(name);
    unsetenv(name.c_str());
    const Machine before = measure::this_machine();
    setenv(name.c_str(), "some=value", 1);
    const Machine with = measure::this_machine();
    CHECK(measured("settings", {.budget = {100}}).warnings.empty());
    unsetenv(name.c_str());
    CHECK(with.settings.find(name + "=some=value") != std::string::npos);
    CHECK(before.differences(with) == std::vector<std::string>{"settings"});
  }
  CHECK_FALSE(is_kernel_setting("OMPI_COMM_WORLD_RANK=0"));  // of Open MPI, not of OpenMP
  CHECK_FALSE(is_kernel_setting("PATH=/usr/bin"));
}

TEST_CASE("a child that ends outside any row ends the run") {
  CHECK_THROWS_WITH(measured("outside"), "crashed: Aborted, outside any row that could be left out");
  CHECK_THROWS_WITH(measured("leaves"), "crashed: it ended with exit code 7, outside any row that could be left out");
}

TEST_CASE("how a child ends does not matter once its rows are written") { CHECK(measured("ends badly").rows.empty()); }

TEST_CASE("what a child throws is thrown by its parent") {
  CHECK_THROWS_AS(measured("throws"), UsageError);
  CHECK_THROWS_WITH(measured("throws"), "wrong on purpose");
  CHECK_THROWS_AS(Worker({"/nowhere/no-program"}).measure({}, {}, {}), EnvironmentError);
}

TEST_CASE("a child is asked to stop, and says how far it is") {
  std::stop_source stop;
  std::string shown;
  const auto show = [&](const measure::Progress& progress) {
    shown = std::string(progress.phase) + " " + std::to_string(progress.done) + "/" + std::to_string(progress.total) +
            " " + std::string(progress.what);
    stop.request_stop();
  };
  CHECK(measured("waits", {.budget = {100}, .progress = show, .stop = stop.get_token()}).warnings ==
        std::vector<std::string>{"asked to stop"});
  CHECK(shown == "select 3/4 a layer");
}

TEST_CASE("rows that cannot be kept cost no measurement") {
  std::string reason;
  const Run run = misbehaving("rows", {.silence = {4}, .memory = {200e6}})
                      .measure({}, {},
                               {.keep = [](const Run&) { throw EnvironmentError("the disk is full"); },
                                .keep_failed = [&](std::string_view text) { reason = text; }});
  CHECK(reason == "the disk is full");
  CHECK(run.rows.size() == 6);
}

TEST_CASE("a request comes back as it was written") {
  const Folder folder;
  Run rows = small_run();
  rows.rows.resize(1);
  const Measurement& row = rows.rows.front();
  isolation::Request request{
      .backends = {"onednn", "native"},
      .layers = {{.layer = parse_layer(row.signature), .weight = 0.1, .known = rows.rows},
                 {.layer = parse_layer("MatMul/f32/a=1x256/b=256x10/b_constant=1/post=bias"), .weight = 3}},
      .filter = "native/.*/hot|a\tb",
      .options = {.threads = 3,
                  .caches = {CacheState::cold, CacheState::hot},
                  .budget = {1.0 / 3},
                  .ceilings = {{{.quantity = CeilingQuantity::peak(DataType::f32),
                                 .algorithm = "fma,threads=1",
                                 .value = 1e11 / 3}}},
                  .crashing_plans = {{row.name(), "crashed: Segmentation fault"}},
                  .earlier = std::make_shared<const Run>(rows),
                  .metrics = {KernelMetric::dram, KernelMetric::occupancy}}};
  write_request(request, folder.path);
  const isolation::Request back = isolation::read_request(folder.path);
  CHECK(back.measures);
  CHECK(back.backends == request.backends);
  REQUIRE(back.layers.size() == 2);
  CHECK(LayerSignature(back.layers[1].layer).text() == "MatMul/f32/a=1x256/b=256x10/b_constant=1/post=bias");
  CHECK(back.layers[0].weight == 0.1);
  REQUIRE(back.layers[0].known.size() == 1);
  CHECK(back.layers[0].known[0].name() == row.name());
  CHECK(back.layers[0].known[0].times->p10 == row.times->p10);
  CHECK(back.layers[1].known.empty());
  CHECK(back.filter == request.filter);
  CHECK(back.options.threads == 3);
  CHECK(back.options.caches == request.options.caches);
  CHECK(back.options.budget == request.options.budget);
  REQUIRE(back.options.ceilings);
  CHECK(back.options.ceilings->front().value == 1e11 / 3);
  CHECK(back.options.metrics == request.options.metrics);
  CHECK(back.options.crashing_plans == request.options.crashing_plans);
  REQUIRE(back.options.earlier);
  CHECK(back.options.earlier->rows.front().name() == row.name());

  request.options.earlier = nullptr;  // the next child has no earlier rows
  write_request(request, folder.path);
  CHECK(isolation::read_request(folder.path).options.earlier == nullptr);
}

TEST_CASE("a request of another version is refused") {
  const Folder folder;
  std::ignore = folder.write("request", "version\t0.0.1\n");
  CHECK_THROWS_WITH(isolation::read_request(folder.path), Catch::Contains("Benanza 0.0.1"));
  std::ignore = folder.write("request", "colour\tred\n");
  CHECK_THROWS_WITH(isolation::read_request(folder.path), Catch::Contains("'colour'"));
  CHECK_THROWS_AS(isolation::read_request(folder / "absent"), InputError);
}

TEST_CASE("surroundings come back as they were written") {
  const Folder folder;
  const isolation::Surroundings here{.machine = small_run().machine,
                                     .backends = {{"native", "5"}},
                                     .all = {{"native", "5", ""}, {"cuda", "none", "no driver"}},
                                     .warnings = {"backend cuda is not available: no driver"}};
  isolation::write_surroundings(here, folder.path);
  const isolation::Surroundings back = isolation::read_surroundings(folder.path);
  CHECK(back.machine == here.machine);
  CHECK(back.backends == here.backends);
  CHECK(back.all == here.all);
  CHECK(back.warnings == here.warnings);
}
