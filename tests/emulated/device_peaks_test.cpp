// SPDX-License-Identifier: Apache-2.0
// The cost of a failing kernel of a peak. The kernels are stand-ins that take 1000 cycles.
#include "backend/cuda/device_peaks.hpp"

#include "backend/cuda/device_kernels.hpp"
#include "emulated/cuda.hpp"
#include "support/catch.hpp"
#include "support/fake_device.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace {

using benanza::cuda::PeakKind;

/// The product of warp groups in f16 fails with this error.
cudaError_t group_f16 = cudaSuccess;

}  // namespace

namespace benanza::cuda {

bool has_peak(PeakKind) { return true; }
bool has_group_peak(PeakKind kind) { return kind == PeakKind::f16; }
double launch_peak(PeakKind, int processors, int, long long* cycles, cudaStream_t) {
  *cycles = 1000;
  return processors * 64e3;
}
double launch_group_peak(PeakKind, int processors, int, long long* cycles, cudaStream_t) {
  *cycles = 1000;
  test::fail_launch(group_f16);
  return processors * 4096e3;
}
double launch_walk(Traffic, const void*, const void*, void*, std::size_t bytes, int, cudaStream_t) {
  return static_cast<double>(bytes);
}

}  // namespace benanza::cuda

namespace {

using namespace benanza;

struct Peaks {
  test::FakeDevice device{};
  long long cycles = 0;
  std::vector<std::string> tried{};

  DeviceCeilings measure(cudaError_t error, std::map<std::string, std::string> crashing = {}) {
    device.memory = {2e8};
    group_f16 = error;
    const cuda::PeakContext context{.processors = 100, .clock_hz = 1e9, .l2_bytes = 1 << 20, .cycles = &cycles};
    return cuda::measure_peaks(
        device, context,
        {.trying = [this](std::string_view name) { tried.emplace_back(name); }, .crashing = std::move(crashing)});
  }
};

std::vector<double> peaks_of(const DeviceCeilings& ceilings, const std::string& quantity) {
  std::vector<double> values;
  for (const auto& row : ceilings.rows)
    if (row.quantity.text() == quantity) values.push_back(row.value);
  return values;
}

}  // namespace

TEST_CASE("peaks are FLOPs a cycle at the highest clock") {
  const DeviceCeilings ceilings = Peaks().measure(cudaSuccess);
  CHECK(ceilings.absent == std::vector<std::string>{});
  // 100 processors at 1 GHz, 64 and 4096 FLOPs per cycle.
  CHECK(peaks_of(ceilings, "Peak/f32") == std::vector<double>{6.4e12});
  CHECK(peaks_of(ceilings, "Peak/f16") == std::vector<double>{6.4e12, 4.096e14});
  CHECK_FALSE(peaks_of(ceilings, "Bandwidth/memory").empty());
}

TEST_CASE("a peak's kernel that cannot be launched costs its own ceiling, which is named") {
  const DeviceCeilings ceilings = Peaks().measure(cudaErrorLaunchOutOfResources);
  CHECK(peaks_of(ceilings, "Peak/f16") == std::vector<double>{6.4e12});
  CHECK(peaks_of(ceilings, "Peak/bf16") == std::vector<double>{6.4e12});
  CHECK_FALSE(peaks_of(ceilings, "Bandwidth/memory").empty());
  REQUIRE(ceilings.absent.size() == 1);
  CHECK_THAT(ceilings.absent[0],
             Catch::StartsWith("Peak/f16 by wgmma.m64n256k16: the launch of a peak's kernel failed"));
}

TEST_CASE("a peak's kernel that takes the device along is known by name, and left out the next time") {
  Peaks first;
  CHECK_THROWS_AS(first.measure(cudaErrorIllegalInstruction), DeviceLost);
  REQUIRE_FALSE(first.tried.empty());
  CHECK(first.tried.back() == "Peak/f16 by wgmma.m64n256k16");
  Peaks second;
  const DeviceCeilings ceilings = second.measure(cudaErrorIllegalInstruction, {{first.tried.back(), "crashed"}});
  CHECK(ceilings.absent == std::vector<std::string>{"Peak/f16 by wgmma.m64n256k16: crashed"});
  CHECK(peaks_of(ceilings, "Peak/f16") == std::vector<double>{6.4e12});
  CHECK_FALSE(peaks_of(ceilings, "Bandwidth/memory").empty());
}
