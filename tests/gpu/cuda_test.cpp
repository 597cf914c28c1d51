// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/activity.hpp"
#include "backend/cuda/availability.hpp"
#include "backend/cuda/peak_work.hpp"
#include "plan/shared_library.hpp"
#include "support/device_support.hpp"
#include <benanza/backend/cuda.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

using namespace benanza;

TEST_CASE("without a device there is one line that says why") {
  const auto state = cuda::availability();
  if (const auto* why = std::get_if<Unsupported>(&state)) {
    CHECK(why->reason.find('\n') == std::string::npos);
    CHECK_THROWS_WITH(cuda::device(), why->reason);
  } else {
    CHECK(cuda::device()->machine().is_device());
  }
}

TEST_CASE("what the runtime answers becomes the reason that there is no device") {
  struct Case {
    cuda::Answers answers{};
    int runtime = 13000;
    std::string says{};  // empty: there is a device
  };
  // CUDA Compatibility: a driver runs programs of its own major version; CUDA 13 supports Turing (7.5) and newer.
  const std::vector<Case> cases{
      {{}, 13000, "no NVIDIA driver"},
      {{.driver = 12040, .counted = cudaErrorInsufficientDriver}, 13000, "is for CUDA 12.4, at least 13.0 expected"},
      {{.driver = 12040, .count = 1, .device = "V100", .capability = 70}, 13000, "is for CUDA 12.4"},
      {{.driver = 13000, .counted = cudaErrorNoDevice}, 13000, "no CUDA device: "},
      {{.driver = 13000, .count = 0}, 13000, "CUDA_VISIBLE_DEVICES"},
      {{.driver = 13000, .count = 1, .device = "V100", .capability = 70}, 13000, "capability 7.0, at least 7.5"},
      {{.driver = 13000, .count = 1, .device = "V100", .capability = 70}, 12040, ""},
      {{.driver = 12040, .count = 1, .device = "M40", .capability = 52}, 12040, "capability 5.2, at least 7.0"},
      {{.driver = 13000, .count = 1, .device = "T4", .capability = 75}, 13000, ""},
  };
  for (const auto& [answers, runtime, says] : cases) {
    const auto reason = cuda::reason_of(answers, runtime);
    INFO(says);
    REQUIRE(reason.has_value() == !says.empty());
    if (reason) CHECK_THAT(*reason, Catch::Contains(says));
  }
}

TEST_CASE("a library that is nowhere gives the loader's reason and every place that it was looked for in") {
  const auto opened = SharedLibrary::open({"libno_such_library_of_benanza.so.1"});
  REQUIRE(std::holds_alternative<std::string>(opened));
  const auto& reason = std::get<std::string>(opened);
  CHECK_THAT(reason, Catch::Contains("libno_such_library_of_benanza.so.1"));
  CHECK(reason.find('\n') == std::string::npos);
  for (const auto& folder : nvidia_folders()) CHECK_THAT(reason, Catch::Contains(folder));
}

TEST_CASE("vendors' libraries are looked for where conda, scripts/bootstrap and any Python on the PATH put them") {
  namespace fs = std::filesystem;
  const fs::path at = fs::temp_directory_path() / ("benanza_nvidia_folders_" + std::to_string(getpid()));
  const fs::path conda = at / "conda/lib", cudnn = at / "cache/deps/cudnn-9.19.0.56-cu13/lib",
                 headers = at / "cache/deps/cudnn-frontend-1.32.0/include",
                 wheels = at / "venv/lib/python3.12/site-packages/nvidia/cu13/lib";
  for (const auto& folder : {conda, cudnn, headers, wheels, at / "venv/bin"}) fs::create_directories(folder);
  std::ofstream(at / "venv/bin/python3") << '\n';  // an environment that is in no variable
  std::map<const char*, std::optional<std::string>> before;
  for (const auto& [variable, value] : {std::pair{"CONDA_PREFIX", at / "conda"},
                                        std::pair{"BENANZA_CACHE", at / "cache"}, std::pair{"PATH", at / "venv/bin"}}) {
    const char* const old = std::getenv(variable);
    before[variable] = old == nullptr ? std::nullopt : std::optional<std::string>(old);
    setenv(variable, value.c_str(), 1);
  }
  const auto folders = nvidia_folders();
  for (const auto& [variable, value] : before)
    static_cast<void>(value ? setenv(variable, value->c_str(), 1) : unsetenv(variable));
  fs::remove_all(at);
  for (const auto& folder : {conda, cudnn, wheels})
    CHECK(std::find(folders.begin(), folders.end(), folder.string()) != folders.end());
}

TEST_CASE("the work of a peak's kernel is that of its instructions") {
  using enum cuda::PeakKind;
  // 1,024 threads, 16 chains, two FLOPs.
  CHECK(cuda::fma_work::flops() == 32768);
  // mma.m16n8k16: 2 * 16 * 8 * 16 = 4,096 FLOPs, by 32 warps in 8 chains; k8 of tf32, k32 of 8 bits.
  CHECK(cuda::mma_work::flops(f16) == 4096 * 256);
  CHECK(cuda::mma_work::flops(tf32) == 2048 * 256);
  CHECK(cuda::mma_work::flops(i8) == 8192 * 256);
  // wgmma.m64n256k16: 2 * 64 * 256 * 16 = 524,288 FLOPs, by two groups in 4 steps; k8 of tf32, k32 of 8 bits.
  for (const auto kind : {f16, bf16}) CHECK(cuda::group_work::flops(kind) == 524288 * 8);
  CHECK(cuda::group_work::flops(tf32) == 262144 * 8);
  for (const auto kind : {i8, f8e4m3, f8e5m2}) CHECK(cuda::group_work::flops(kind) == 1048576 * 8);
  // Four steps are rows of 128 bytes: 64 elements of f16.
  CHECK(cuda::product_depth(f16) * 2 * cuda::group_work::steps == cuda::group_work::row_bytes);
}

// Here a record of an empty kernel lasts 1.5 us, that of a copy 2 us, and that of a fill 1 us.
TEST_CASE("records of kernels, copies and fills are compared with empty ones of the same kind") {
  const cuda::Activities empty{.kinds = {{{10, {15e-6}}, {4, {8e-6}}, {2, {2e-6}}}}};
  const cuda::Activities calls{.kinds = {{{3, {30e-6}}, {0, {}}, {1, {2e-6}}}}};
  const KernelTime time = cuda::kernel_time_of(calls, empty);
  CHECK(time.whole.value == Approx(32e-6));
  CHECK(time.empty.value == Approx(3 * 1.5e-6 + 1e-6));
}

TEST_CASE("ten empty kernels are not work by the device's own records", "[gpu]") {
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  Device& device = *backend->device();
  const auto empty = device.kernel_time([&] { device.launch_empty(10); });
  if (!empty) {
    WARN("no records: CUPTI is missing, or may not be used here");
    return;
  }
  // Single records differ by some tenths of a microsecond.
  CHECK(empty->empty.value > 0);
  CHECK(empty->whole.value == Approx(empty->empty.value).margin(5e-6));
}

TEST_CASE("a device measures its ceilings", "[gpu]") {
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  const auto [rows, absent] = backend->device()->ceilings({.budget = {1}});
  CHECK(absent == std::vector<std::string>{});
  CHECK(rows.size() >= 2);
  for (const auto& row : rows) CHECK(row.value > 0);
}
