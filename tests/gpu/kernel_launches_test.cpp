// SPDX-License-Identifier: Apache-2.0
// From CUPTI's records and counters to the kernels of a row. The records are of kernels that ran on a V100 in 2019
// (tests/data/2019/*.nsys.sqlite.gz, table CUPTI_ACTIVITY_KIND_KERNEL); the metrics come from the installed CUPTI,
// which knows all chips without a device.
#include "backend/cuda/activity.hpp"
#include "backend/cuda/counter_host.hpp"
#include "backend/cuda/counters.hpp"
#include "backend/cuda/kernel_record.hpp"
#include "backend/cuda/range_profiler.hpp"
#include "support/device_support.hpp"
#include <benanza/backend/cuda.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

using namespace benanza;

namespace {

constexpr std::array every_metric{KernelMetric::dram, KernelMetric::flops, KernelMetric::occupancy};

std::vector<std::string> metrics_of(const std::vector<cuda::Counter>& counters) {
  std::vector<std::string> names;
  for (const auto& counter : counters) names.push_back(counter.metric);
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("a record of a kernel becomes a launch, field by field") {
  struct Case {
    const char* recorded;  // as compilers mangle it
    std::string name;
    std::array<int, 3> grid, block;
    int registers, static_shared, dynamic_shared;
    std::uint64_t ns;
  };
  const std::vector<Case> cases{
      {"volta_scudnn_128x64_relu_interior_nn_v1",
       "volta_scudnn_128x64_relu_interior_nn_v1",
       {3136, 1, 1},
       {128, 1, 1},
       128,
       16384,
       0,
       643357},
      {"volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
       "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
       {64, 7, 4},
       {256, 1, 1},
       126,
       49152,
       0,
       383582},
      {"_Z15im2col4d_kernelIfiEv15im2col4d_params22cudnnConvolutionStruct19cudnnTensor4dStructPKfPfT0_",
       "void im2col4d_kernel<float, int>(im2col4d_params, cudnnConvolutionStruct, cudnnTensor4dStruct, float const*, "
       "float*, int)",
       {1, 1, 1},
       {512, 1, 1},
       28,
       0,
       0,
       19744},
      {"fft2d_r2c_32x32", "fft2d_r2c_32x32", {1, 1, 1}, {512, 1, 1}, 64, 0, 35904, 14464}};
  for (const auto& each : cases) {
    INFO(each.name);
    cuda::KernelRecord record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.name = each.recorded;
    record.gridX = each.grid[0], record.gridY = each.grid[1], record.gridZ = each.grid[2];
    record.blockX = each.block[0], record.blockY = each.block[1], record.blockZ = each.block[2];
    record.registersPerThread = static_cast<std::uint16_t>(each.registers);
    record.staticSharedMemory = each.static_shared;
    record.dynamicSharedMemory = each.dynamic_shared;
    record.start = 1'700'000'000'000'000'000;
    record.end = record.start + each.ns;
    const KernelLaunch launch = cuda::launch_of(record);
    CHECK(launch.name == each.name);
    CHECK(launch.grid == LaunchSize{each.grid[0], each.grid[1], each.grid[2]});
    CHECK(launch.block == LaunchSize{each.block[0], each.block[1], each.block[2]});
    CHECK(launch.registers_per_thread == each.registers);
    CHECK(launch.static_shared_bytes == each.static_shared);
    CHECK(launch.dynamic_shared_bytes == each.dynamic_shared);
    CHECK(launch.time.value == Approx(static_cast<double>(each.ns) * 1e-9));
    CHECK_FALSE(launch.dram_read);
    CHECK_FALSE(launch.flops);
    CHECK_FALSE(launch.occupancy);
  }
}

TEST_CASE("counters are chosen among those that a chip offers, whatever it calls them") {
  const std::vector<std::string> hopper{"dram__bytes_read", "dram__bytes_write", "sm__warps_active",
                                        "sm__ops_path_tensor_src_fp16", "sm__ops_path_tensor_src_fp8_sparsity_on"};
  CHECK(metrics_of(cuda::counters_among(hopper, every_metric)) ==
        std::vector<std::string>{"dram__bytes_read.sum", "dram__bytes_write.sum", "sm__ops_path_tensor_src_fp16.sum",
                                 "sm__warps_active.avg.pct_of_peak_sustained_active"});
  const std::vector<std::string> blackwell{"dram__bytes_op_read", "dram__bytes_op_write",
                                           "sm__ops_path_tensor_src_fp16_dst_fp32_realtime"};
  CHECK(metrics_of(cuda::counters_among(blackwell, every_metric)) ==
        std::vector<std::string>{"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"});
  CHECK(cuda::counters_among(hopper, std::array{KernelMetric::kernels}).empty());
  CHECK(metrics_of(cuda::counters_among(hopper, std::array{KernelMetric::occupancy})).size() == 1);
}

TEST_CASE("instructions become operations of their type, tensor cores count their own") {
  // As offered for GA100, which has two metrics for products of f16, by the type of the sums.
  const std::vector<std::string> offered{"smsp__sass_thread_inst_executed_op_fadd_pred_on",
                                         "smsp__sass_thread_inst_executed_op_ffma_pred_on",
                                         "smsp__sass_thread_inst_executed_op_hfma_pred_on",
                                         "smsp__sass_thread_inst_executed_op_dmul_pred_on",
                                         "sm__ops_path_tensor_src_fp16_dst_fp16",
                                         "sm__ops_path_tensor_src_fp16_dst_fp32",
                                         "sm__ops_path_tensor_src_int8"};
  const auto counters = cuda::counters_among(offered, std::array{KernelMetric::flops});
  CHECK(metrics_of(counters) == std::vector<std::string>{offered[3] + ".sum", offered[0] + ".sum", offered[1] + ".sum",
                                                         offered[2] + ".sum", offered[4] + ".sum", offered[5] + ".sum",
                                                         offered[6] + ".sum"});
  KernelLaunch kernel;
  // 10 additions and 1000 multiply-adds: 2010. 5 multiply-adds of pairs: 20. No product of f64 and none of i8.
  cuda::add_counters(kernel, counters, std::array{0.0, 10.0, 1000.0, 5.0, 4096.0, 8192.0, 0.0});
  REQUIRE(kernel.flops);
  CHECK(*kernel.flops == std::vector<KernelFlops>{{"f32", false, 2010}, {"f16", false, 20}, {"f16", true, 12288}});
  KernelLaunch unknown;
  cuda::add_counters(unknown, counters,
                     std::array{0.0, 10.0, std::numeric_limits<double>::quiet_NaN(), 5.0, 4096.0, 8192.0, 0.0});
  CHECK_FALSE(unknown.flops);  // a part of a sum is not the sum
  KernelLaunch idle;
  cuda::add_counters(idle, counters, std::array{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0});
  REQUIRE(idle.flops);
  CHECK(idle.flops->empty());
}

TEST_CASE("bytes and occupancy are noted as the counters tell them") {
  const std::vector<std::string> offered{"dram__bytes_read", "dram__bytes_write", "sm__warps_active"};
  const std::array metrics{KernelMetric::dram, KernelMetric::occupancy};
  const auto counters = cuda::counters_among(offered, metrics);
  KernelLaunch kernel;
  cuda::add_counters(kernel, counters, std::array{1.5e6, 0.0, 37.5});
  CHECK(kernel.dram_read == Bytes{1.5e6});
  CHECK(kernel.dram_written == Bytes{0});
  CHECK(kernel.occupancy == 0.375);
  CHECK_FALSE(kernel.flops);

  std::vector<KernelLaunch> launches(2);
  const cuda::CountedKernels counted{counters, {{1, 2, 50}}};
  CHECK(cuda::add_counted(launches, counted) == "the records are of 2 kernels, the counters of 1");
  CHECK_FALSE(launches[0].dram_read);
  CHECK(cuda::add_counted(std::span(launches).first(1), counted).empty());
  CHECK(launches[0].dram_written == Bytes{2});
}

TEST_CASE("a driver that keeps counters to administrators is said in one line") {
  for (const CUptiResult result :
       {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES}) {
    const std::string line = cuda::failure_of("cuptiRangeProfilerEnable", result);
    CHECK_THAT(line, Catch::Contains("ERR_NVGPUCTRPERM"));
    CHECK(line.find('\n') == std::string::npos);
  }
  CHECK_THAT(cuda::failure_of("cuptiRangeProfilerEnable", CUPTI_ERROR_INVALID_PARAMETER),
             Catch::StartsWith("cuptiRangeProfilerEnable: "));
}

TEST_CASE("every chip since Volta offers bytes, operations and occupancy, and a configuration that collects them") {
  if (const auto* why = std::get_if<std::string>(&cuda::cupti())) {
    WARN("no CUPTI: " << *why);
    return;
  }
  for (const std::string chip : {"GV100", "TU102", "GA100", "AD102", "GH100", "GB100", "GB202"}) {
    INFO(chip);
    const auto opened = cuda::CounterHost::open(chip);
    if (const auto* why = std::get_if<Unsupported>(&opened)) {
      WARN(why->reason);  // newer than this CUPTI
      continue;
    }
    const auto& host = *std::get<std::unique_ptr<cuda::CounterHost>>(opened);
    const auto offered = host.offered();
    REQUIRE(std::holds_alternative<std::vector<std::string>>(offered));
    const auto counters = cuda::counters_among(std::get<std::vector<std::string>>(offered), every_metric);
    const auto names = metrics_of(counters);
    const auto of = [&](auto kind) {
      return std::count_if(counters.begin(), counters.end(), [&](const auto& counter) { return counter.kind == kind; });
    };
    CHECK(of(cuda::Counter::Kind::dram_read) == 1);
    CHECK(of(cuda::Counter::Kind::dram_written) == 1);
    CHECK(of(cuda::Counter::Kind::occupancy) == 1);
    for (const char* instruction : {"dfma", "ffma", "hfma"})
      CHECK(contains(names, "smsp__sass_thread_inst_executed_op_" + std::string(instruction) + "_pred_on.sum"));
    CHECK(std::any_of(counters.begin(), counters.end(), [](const auto& counter) {
      return counter.each.tensor_cores && counter.each.type.find("f16") != std::string::npos;
    }));
    auto configuration = host.configuration(counters);
    REQUIRE(std::holds_alternative<std::vector<std::uint8_t>>(configuration));
    const auto passes = host.passes(std::get<std::vector<std::uint8_t>>(configuration));
    REQUIRE(std::holds_alternative<std::size_t>(passes));
    CHECK(std::get<std::size_t>(passes) >= 1);
  }
  CHECK(std::holds_alternative<Unsupported>(cuda::CounterHost::open("NV1")));
}

TEST_CASE("without a device counters are refused in one line") {
  if (std::holds_alternative<std::monostate>(cuda::availability())) return;
  bool called = false;
  const auto counted = cuda::count_kernels([&] { called = true; }, 1, every_metric);
  REQUIRE(std::holds_alternative<Unsupported>(counted));
  const std::string reason = std::get<Unsupported>(counted).reason;
  CHECK_FALSE(reason.empty());
  CHECK(reason.find('\n') == std::string::npos);
  CHECK_FALSE(called);
}

TEST_CASE("empty kernels are recorded with their geometry, and counted", "[gpu]") {
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  Device& device = *backend->device();
  const KernelRecords records = device.kernels([&] { device.launch_empty(3); }, every_metric);
  if (!records.missing.empty()) WARN(records.missing);
  if (records.launches.empty()) return;
  REQUIRE(records.launches.size() == 3);
  for (const auto& kernel : records.launches) {
    CHECK_FALSE(kernel.name.empty());
    CHECK(kernel.grid.count() >= 1);
    CHECK(kernel.block.count() >= 1);
    CHECK(kernel.time.value > 0);
    if (!records.missing.empty()) continue;
    CHECK(kernel.dram_read);
    REQUIRE(kernel.flops);
    CHECK(kernel.flops->empty());  // they compute nothing
    CHECK(kernel.occupancy);
  }
}
