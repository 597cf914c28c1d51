// SPDX-License-Identifier: Apache-2.0
// Expected values: queried from the same databases by an independent script (Python, sqlite3).
#include "report/gap/tensor_cores.hpp"
#include "support/catch.hpp"
#include "support/data2019.hpp"
#include "support/gap_support.hpp"
#include "support/results_support.hpp"
#include <benanza/base/detail/quantile.hpp>
#include <benanza/profile/engine_profile.hpp>
#include <benanza/profile/kernel_class.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace benanza;

namespace {

EngineProfile read(const std::string& name) {
  const auto path = data2019::file(name);
  return read_profile({&path, 1});
}

Seconds median(const ProfileRecord& record) {
  std::vector<double> times;
  for (const Seconds time : record.times) times.push_back(time.value);
  return {detail::quantile(times, 0.5)};
}

/// The median over the counted passes of the time of the kernels for which `counts` holds, in ms.
template <class Counts>
double kernel_ms(const EngineProfile& profile, Counts&& counts) {
  std::vector<double> sums(profile.latencies.size(), 0);
  for (const auto& record : profile.records)
    if ((record.activity == Activity::kernel || record.activity == Activity::conversion) && counts(record))
      for (std::size_t i = 0; i < record.times.size(); ++i) sums[i] += record.times[i].value * 1e3;
  std::sort(sums.begin(), sums.end());
  const std::size_t middle = sums.size() / 2;
  return sums.size() % 2 == 1 ? sums[middle] : (sums[middle - 1] + sums[middle]) / 2;
}

std::int64_t kernels(const EngineProfile& profile) {
  return std::count_if(profile.records.begin(), profile.records.end(), [](const auto& record) {
    return record.activity == Activity::kernel || record.activity == Activity::conversion;
  });
}

constexpr auto all = [](const ProfileRecord&) { return true; };

}  // namespace

TEST_CASE("ONNX Runtime's MNIST has sixteen kernels a pass, which take 0.0463 ms") {
  const auto made = read("onnxruntime_b1_MNIST.nsys.sqlite.gz");
  CHECK(made.engine == "onnxruntime");
  CHECK(made.device == "Tesla V100-SXM2-16GB");
  CHECK(kernels(made) == 16);
  CHECK(static_cast<std::int64_t>(made.latencies.size()) + made.warm_ups == 9);
  CHECK(kernel_ms(made, all) == Approx(0.046287).margin(2e-5));
  // 3,136 bytes to the device before the kernels, 40 bytes back after them.
  CHECK(std::count_if(made.records.begin(), made.records.end(),
                      [](const auto& record) { return record.activity == Activity::copy; }) == 2);
  for (const auto& latency : made.latencies) CHECK(latency.value * 1e3 > 0.1);
}

TEST_CASE("MXNet's passes alternate between two streams, after the kernels that set its parameters") {
  const auto made = read("mxnet_b32_ResNet050-v1.nsys.sqlite.gz");
  CHECK(made.engine == "mxnet");
  CHECK(kernels(made) == 340);
  CHECK(made.latencies.size() + static_cast<std::size_t>(made.warm_ups) == 10);
  CHECK(kernel_ms(made, all) == Approx(38.33).margin(0.05));
}

TEST_CASE("MXNet pads before each of 53 convolutions, at 4.4 ms a pass") {
  const auto made = read("mxnet_b32_ResNet050-v1.nsys.sqlite.gz");
  const auto pads = [](const ProfileRecord& record) { return record.name == "image_2d_pad_constant_kernel"; };
  CHECK(std::count_if(made.records.begin(), made.records.end(), pads) == 53);
  CHECK(std::all_of(made.records.begin(), made.records.end(),
                    [&](const auto& record) { return !pads(record) || record.op == "padding"; }));
  CHECK(kernel_ms(made, pads) == Approx(4.397).margin(0.01));
}

TEST_CASE("Half precision in NHWC ran 52 of 53 convolutions on tensor cores") {
  const auto made = read("mxnet_f16_nhwc_b32_ResNet050-v1.nsys.sqlite.gz");
  CHECK(kernels(made) == 259);
  const auto on_tensor_cores = [](const ProfileRecord& record) {
    return record.op == "convolution" && uses_tensor_cores(record.name);
  };
  CHECK(std::count_if(made.records.begin(), made.records.end(), on_tensor_cores) == 52);
  // The first convolution, with three channels, has no such kernel, and takes nearly all of the time.
  const auto without = [](const ProfileRecord& record) {
    return record.op == "convolution" && !uses_tensor_cores(record.name);
  };
  CHECK(std::count_if(made.records.begin(), made.records.end(), without) == 1);
  const auto f32 = read("mxnet_b32_ResNet050-v1.nsys.sqlite.gz");
  CHECK(std::none_of(f32.records.begin(), f32.records.end(), [](const auto& r) { return uses_tensor_cores(r.name); }));
}

// sqlite3: over the passes, 3.75 + 7.00 ms of 2451.08 ms are kernels with s884 in their names, and most of the rest is
// one batch normalisation; there are 52 convolutions and one product per pass.
TEST_CASE("The half-precision run spends 0.44 % of its kernels' time on tensor cores") {
  GapReport report{.profile = read("mxnet_f16_nhwc_b32_ResNet050-v1.nsys.sqlite.gz")};
  for (std::size_t i = 0; i < report.profile.records.size(); ++i)
    report.gap.records.push_back({.record = i, .time = median(report.profile.records[i])});
  const auto use = report::tensor_core_use(report);
  CHECK(use.records == 53);
  CHECK(use.of_records == 259);
  CHECK(use.share().value() == Approx(0.00439).epsilon(0.03));

  CHECK(!report::on_tensor_cores({.name = "s884", .activity = Activity::copy}));
  CHECK(!report::on_tensor_cores({.name = "/block/hmma/Conv"}));
  CHECK(report::on_tensor_cores({.name = "conv1", .algorithm = "sm80_xmma_fprop"}) == std::optional(true));
  CHECK(report::on_tensor_cores({.name = "elementwise", .activity = Activity::kernel}) == std::optional(false));
}

TEST_CASE("Each of ten passes of a small model has 28 kernels") {
  const auto made = read("mxnet_b1_MNIST.nsys.sqlite.gz");
  CHECK(kernels(made) == 28);
  CHECK(made.latencies.size() + static_cast<std::size_t>(made.warm_ups) == 10);
  CHECK(kernel_ms(made, all) == Approx(0.0602).margin(2e-4));
}

// sqlite3, over the ten passes: 1650 kernels were launched within calls of cuDNN and 10 within cuBLAS; 1000 launches
// lie between cudnnAddTensor and the next cudnnConvolutionForward, 640 between two convolutions. In MNIST there are 110
// and 30 kernels.
TEST_CASE("Kernels are of the library whose call launched them, and what lies between such calls is counted") {
  const auto made = read("mxnet_b32_ResNet050-v1.nsys.sqlite.gz"), small = read("mxnet_b1_MNIST.nsys.sqlite.gz");
  const auto of = [](const EngineProfile& profile, const std::string& library) {
    return std::count_if(profile.records.begin(), profile.records.end(),
                         [&](const auto& record) { return record.library == library; });
  };
  CHECK(of(made, "cudnn") == 165);
  CHECK(of(made, "cublas") == 1);
  CHECK(of(small, "cudnn") == 11);
  CHECK(of(small, "cublas") == 3);
  const auto count = [&](const std::string& name, const std::string& after, const std::string& before) {
    for (const auto& each : made.between)
      if (each.name == name && each.after == after && each.before == before) return each.count;
    return 0.0;
  };
  CHECK(count("cudaLaunchKernel", "cudnnAddTensor", "cudnnConvolutionForward") == Approx(100));
  CHECK(count("cudaLaunchKernel", "cudnnConvolutionForward", "cudnnConvolutionForward") == Approx(64));
}

// Only the first pass (tests/data/2019/first_pass.py). sqlite3: MXNet's pool queries the free memory nine times between
// two calls of cuDNN, which takes 264.328 us.
TEST_CASE("MXNet's first pass asks for free memory between calls of cuDNN") {
  const auto path = data2019::file("mxnet_b1_ResNet050-v1.first_pass.nsys.sqlite.gz");
  const auto made = read_profile({&path, 1}, {.warm_ups = 0, .passes = 1});
  REQUIRE(made.latencies.size() == 1);
  double count = 0, us = 0, in_records = 0;
  for (const auto& each : made.between)
    if (each.activity == Activity::call && each.name == "cudaMemGetInfo") {
      count += each.count;
      us += each.time.value * 1e6;
    }
  CHECK(count == 9);
  CHECK(us == Approx(264.328));
  for (const auto& record : made.records) {
    if (!record.between_libraries) continue;
    CHECK(record.name == "cudaMemGetInfo");
    for (const auto& time : record.times) in_records += time.value * 1e6;
  }
  CHECK(in_records == Approx(264.328));
}

// Each layer of the bound has a made-up time: how a pass spends its time does not depend on these times. sqlite3: in
// 240.506 us of the 264.328 us no kernel runs, and nothing is copied or set.
TEST_CASE("Calls between library calls cost the time in which the device is idle") {
  const auto path = data2019::file("mxnet_b1_ResNet050-v1.first_pass.nsys.sqlite.gz");
  const Machine v100{.device = "Tesla V100-SXM2-16GB", .isa = "sm_70", .cores = 1, .driver = "418"};
  const auto resnet = gap_support::make_case(data2019::model("ResNet050-v1"), false, {}, v100);
  const Gap gap = compare(resnet.analysis, resnet.model, read_profile({&path, 1}, {.warm_ups = 0, .passes = 1}));
  INFO(gap.outside);
  CHECK(gap_support::part_us(gap, Cause::between_calls) == Approx(240.506));
  const auto advice = std::find_if(gap.advice.begin(), gap.advice.end(),
                                   [](const Advice& each) { return each.change == Change::call; });
  REQUIRE(advice != gap.advice.end());
  CHECK(advice->text == "no runtime calls between library calls: 9 x cudaMemGetInfo");
}

TEST_CASE("A database that is cut off or none is refused") {
  const results_support::Folder folder;
  const auto path = folder.write("p.sqlite", "SQLite format 3" + std::string(5000, '\1'));
  CHECK_THROWS_AS(read_profile({&path, 1}), Error);
}

TEST_CASE("A kernel's class and its use of tensor cores are read from its name") {
  struct Row {
    const char* name;
    KernelClass what;
    bool tensor;
  };
  const auto row = GENERATE(
      Row{"volta_scudnn_128x64_relu_interior_nn_v1", KernelClass::convolution, false},
      Row{"volta_fp16_s884cudnn_fp16_128x128_ldg8_relu_f2f_exp_interior_nhwc_tn_v1", KernelClass::convolution, true},
      Row{"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16",
          KernelClass::convolution, true},
      Row{"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", KernelClass::product, true},
      Row{"nvjet_tst_128x8_64x12_2x1_v_bz_TNT", KernelClass::product, true},
      Row{"image_2d_pad_edge_kernel", KernelClass::padding, false},
      Row{"winogradForwardData4x4", KernelClass::transform, false},
      Row{"nchwToNhwcKernel", KernelClass::conversion, false},
      Row{"BatchNormalizationUpdateOutputInferenceKernel", KernelClass::normalization, false},
      Row{"op_generic_tensor_kernel", KernelClass::elementwise, false},
      Row{"pooling_fw_4d_kernel", KernelClass::pooling, false}, Row{"mxnet_generic_kernel", KernelClass::other, false});
  CAPTURE(row.name);
  CHECK(kernel_class(row.name) == row.what);
  CHECK(uses_tensor_cores(row.name) == row.tensor);
}
