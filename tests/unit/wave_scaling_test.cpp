// SPDX-License-Identifier: Apache-2.0
// The formulas of wave scaling, by their properties and by hand.
#include "support/catch.hpp"
#include <benanza/predict/detail/occupancy.hpp>
#include <benanza/predict/detail/wave_scaling.hpp>

#include <array>
#include <cmath>

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define BENANZA_HAS_CUDA_OCCUPANCY 1
#endif

namespace {

using namespace benanza;

const DeviceRates v100{.bandwidth = {900e9}, .processors = 80, .rate = 1.312e9, .peak = {2 * 64 * 80 * 1.312e9}};
const DeviceRates t4{.bandwidth = {320e9}, .processors = 40, .rate = 585e6, .peak = {2 * 64 * 40 * 585e6}};

}  // namespace

TEST_CASE("from a device to itself time stays the same") {
  for (const double weight : {0.0, 0.3, 1.0}) {
    CHECK(large_wave_ratio(v100, v100, weight) == Approx(1));
    CHECK(wave_ratio(v100, v100, weight, 1234, 160, 160) == Approx(1));
  }
}

TEST_CASE("memory decides half of the time at the ridge, from both sides") {
  const double ridge = t4.ridge();
  CHECK(ridge == Approx(9.36));  // 2 x 64 x 40 x 585e6 / 320e9
  CHECK(memory_weight(0, ridge) == 1);
  CHECK(memory_weight(ridge, ridge) == Approx(0.5));
  CHECK(memory_weight(ridge * (1 - 1e-9), ridge) == Approx(0.5));
  CHECK(memory_weight(ridge * (1 + 1e-9), ridge) == Approx(0.5));
  CHECK(memory_weight(ridge / 2, ridge) == Approx(0.75));  // 1 - 1/4
  CHECK(memory_weight(ridge * 2, ridge) == Approx(0.25));  // 1/4
  CHECK(memory_weight(ridge * 1e6, ridge) == Approx(0).margin(1e-6));
}

TEST_CASE("the ends of the scale are the ratios of bandwidths and of processors times clocks") {
  CHECK(large_wave_ratio(v100, t4, 1) == Approx(900.0 / 320));
  CHECK(large_wave_ratio(v100, t4, 0) == Approx(2 * 1312.0 / 585));
  CHECK(large_wave_ratio(v100, t4, 0.5) == Approx(std::sqrt(900.0 / 320 * 2 * 1312 / 585)));
}

TEST_CASE("the wave form tends to the large-wave form for many blocks") {
  // Two blocks on each of 80 and of 40 multiprocessors: waves of 160 and of 80 blocks.
  for (const double weight : {0.0, 0.4, 1.0}) {
    CHECK(wave_ratio(v100, t4, weight, 160'000'000, 160, 80) ==
          Approx(large_wave_ratio(v100, t4, weight)).epsilon(1e-6));
    CHECK(wave_ratio(v100, t4, weight, 1'600'001, 160, 80) == Approx(large_wave_ratio(v100, t4, weight)).epsilon(1e-3));
  }
  // 81 blocks: one wave of 160 there, two of 80 here. (900/320 x 80/160)^g (1312/585)^(1-g) x 2/1
  CHECK(wave_ratio(v100, t4, 1, 81, 160, 80) == Approx(900.0 / 320));
  CHECK(wave_ratio(v100, t4, 1, 80, 160, 80) == Approx(900.0 / 320 / 2));
  CHECK(wave_ratio(v100, t4, 0, 80, 160, 80) == Approx(1312.0 / 585));
}

TEST_CASE("with a fixed weight, more bandwidth, processors or clock never takes longer") {
  for (const double weight : {0.0, 0.25, 0.5, 1.0}) {
    double last[3] = {1e9, 1e9, 1e9};
    for (double factor = 0.5; factor < 4; factor *= 1.1) {
      DeviceRates bandwidth = t4, processors = t4, clock = t4;
      bandwidth.bandwidth.value *= factor;
      processors.processors *= factor;
      clock.rate *= factor;
      const DeviceRates* const all[] = {&bandwidth, &processors, &clock};
      for (std::size_t i = 0; i < 3; ++i) {
        const double ratio = large_wave_ratio(v100, *all[i], weight);
        CHECK(ratio <= last[i] * (1 + 1e-12));
        last[i] = ratio;
      }
    }
  }
}

TEST_CASE("with the weight of the target, a higher clock takes longer if arithmetic outgrows memory by more than e") {
  // The derivative of ln(T_d / T_o) by the logarithm of the clock is (1 - g)(L - 1) below the ridge, where L is the
  // logarithm of the ratio by which arithmetic outgrows memory.
  const double intensity = 2;
  const auto ratio = [&](double arithmetic) {
    DeviceRates to = t4;
    to.rate *= arithmetic;
    to.peak.value *= arithmetic;
    return large_wave_ratio(t4, to, memory_weight(intensity, to.ridge()));
  };
  for (double arithmetic = 1; arithmetic < 2.7; arithmetic *= 1.05) CHECK(ratio(arithmetic * 1.01) < ratio(arithmetic));
  for (double arithmetic = 2.8; arithmetic < 8; arithmetic *= 1.05) CHECK(ratio(arithmetic * 1.01) > ratio(arithmetic));
}

TEST_CASE("occupancy is the least of four limits") {
  const SmLimits volta{
      .major = 7, .minor = 0, .threads = 2048, .registers = 65536, .shared_bytes = 98304, .blocks = 32};
  CHECK(blocks_per_multiprocessor({.threads = 32}, volta) == 32);                              // slots
  CHECK(blocks_per_multiprocessor({.threads = 256}, volta) == 8);                              // 2048 / 256
  CHECK(blocks_per_multiprocessor({.threads = 256, .registers_per_thread = 64}, volta) == 4);  // 65536 / 16384
  CHECK(blocks_per_multiprocessor({.threads = 64, .shared_bytes = 32768}, volta) == 3);        // 98304 / 32768
  CHECK(blocks_per_multiprocessor({.threads = 64, .shared_bytes = 98305}, volta) == 0);
  CHECK(blocks_per_multiprocessor({.threads = 1025}, volta) == 0);
  CHECK(blocks_per_multiprocessor({.threads = 1024, .registers_per_thread = 65}, volta) == 0);
}

#ifdef BENANZA_HAS_CUDA_OCCUPANCY
TEST_CASE("occupancy is what NVIDIA's own calculation says") {
  struct Device {
    SmLimits limits;
    std::size_t most_shared_of_block, reserved;
  };
  // CUDA C++ programming guide, technical specifications per compute capability.
  const std::array devices{
      Device{{7, 0, 2048, 65536, 98304, 32}, 98304, 0},      Device{{7, 5, 1024, 65536, 65536, 16}, 65536, 0},
      Device{{6, 1, 2048, 65536, 98304, 32}, 49152, 0},      Device{{8, 0, 2048, 65536, 167936, 32}, 166912, 1024},
      Device{{8, 9, 1536, 65536, 102400, 24}, 101376, 1024}, Device{{9, 0, 2048, 65536, 233472, 32}, 232448, 1024}};
  for (const auto& [limits, most_shared, reserved] : devices)
    for (const int threads : {1, 32, 96, 128, 250, 256, 384, 512, 1000, 1024})
      for (const int registers : {16, 24, 33, 40, 64, 72, 96, 128, 168, 255})
        for (const std::size_t shared :
             {std::size_t{0}, std::size_t{100}, std::size_t{1024}, std::size_t{16384}, std::size_t{49152}}) {
          cudaOccDeviceProp device{};
          device.computeMajor = limits.major;
          device.computeMinor = limits.minor;
          device.maxThreadsPerBlock = 1024;
          device.maxThreadsPerMultiprocessor = static_cast<int>(limits.threads);
          device.regsPerBlock = 65536;
          device.regsPerMultiprocessor = static_cast<int>(limits.registers);
          device.warpSize = 32;
          device.sharedMemPerBlock = 49152;
          device.sharedMemPerBlockOptin = most_shared;
          device.sharedMemPerMultiprocessor = static_cast<std::size_t>(limits.shared_bytes);
          device.reservedSharedMemPerBlock = reserved;
          device.numSms = 10;
          cudaOccFuncAttributes kernel{};
          kernel.maxThreadsPerBlock = 1024;
          kernel.numRegs = registers;
          kernel.maxDynamicSharedSizeBytes = most_shared;
          kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          const cudaOccDeviceState state{};
          cudaOccResult result{};
          REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, shared) ==
                  CUDA_OCC_SUCCESS);
          INFO(limits.major << "." << limits.minor << " threads " << threads << " registers " << registers << " shared "
                            << shared);
          CHECK(blocks_per_multiprocessor({threads, registers, static_cast<std::int64_t>(shared)}, limits) ==
                result.activeBlocksPerMultiprocessor);
        }
}
#endif
