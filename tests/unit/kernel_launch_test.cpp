// SPDX-License-Identifier: Apache-2.0
// Kernels of a row, in files and in databases. Names, geometry and times are those of the first convolution of
// ResNet50-v1 in MXNet at batch 32 on a V100 (tests/data/2019/mxnet_b32_ResNet050-v1.nsys.sqlite.gz).
#include "support/results_support.hpp"

namespace {

using namespace benanza;
using namespace results_support;

/// Its batch is 32, it has 64 filters of 3x7x7 and 112x112 outputs: 32 x 64 x 147 x 12544 multiply-adds are 7.55 GFLOP.
constexpr double first_convolution_flops = 2.0 * 32 * 64 * 147 * 112 * 112;

KernelLaunch first_convolution() {
  return {.name =
              "void cudnn::detail::implicit_convolve_sgemm<float, float, 128, 6, 7, 3, 3, 5, 1, true, false, true>("
              "int, int, int, float const*, int, float*, float*, kernel_conv_params, int, float, float, int, "
              "float*, float*, int, int)",
          .grid = {25, 16, 1},
          .block = {8, 32, 1},
          .registers_per_thread = 66,
          .static_shared_bytes = 6400,
          .time = nanoseconds(701661)};
}

KernelLaunch counted() {
  KernelLaunch kernel = first_convolution();
  kernel.dram_read = Bytes{123456789};
  kernel.dram_written = Bytes{102760448};
  kernel.flops = {{.type = "f32", .flops = first_convolution_flops},
                  {.type = "f16", .tensor_cores = true, .flops = 4096}};
  kernel.occupancy = 0.3125;
  return kernel;
}

Run run_with(std::vector<KernelLaunch> kernels, std::string started = "2026-11-21T10:54:00Z") {
  Run run = small_run();
  run.started = std::move(started);
  run.rows[0].kernel_launches = std::move(kernels);
  return run;
}

std::string with(std::string text, const std::string& what, const std::string& replacement) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), replacement);
}

}  // namespace

TEST_CASE("a file keeps the kernels of a row, with the counters that there are and no others") {
  const Folder folder;
  KernelLaunch nothing_computed = first_convolution();
  nothing_computed.flops.emplace();
  const Run run = run_with({counted(), first_convolution(), nothing_computed});
  write_run(run, folder / "run.json");
  const Run read = read_run(folder / "run.json");
  REQUIRE(read.rows.size() == run.rows.size());
  CHECK(read.faults.empty());
  CHECK(read.rows[0].kernel_launches == run.rows[0].kernel_launches);
  CHECK(read.rows[1].kernel_launches.empty());
  CHECK(read.rows[0].name() == small_run().rows[0].name());  // kernels are not a part of the key
}

TEST_CASE("a kernel with a value that cannot be true costs its row, with the reason") {
  const Folder folder;
  write_run(run_with({counted()}), folder / "run.json");
  const std::string text = contents(folder / "run.json");
  const auto reason_with = [&](const std::string& what, const std::string& replacement) {
    const Run read = read_run(folder.write("x.json", with(text, what, replacement)));
    REQUIRE(read.rows.size() == 3);
    CHECK(read.rows[1].measured());
    CHECK(read.faults.size() == (read.rows[0].measured() ? 0 : 1));
    return read.rows[0].reason;
  };
  CHECK(reason_with("\"registers\":66", "\"registers\":66.5") == "registers of a kernel is not a count");
  CHECK(reason_with("\"registers\":66", "\"registered\":66").ends_with("has no registers"));
  CHECK(
      reason_with("\"grid\":[25,16,1]", "\"grid\":[25,16]") ==
      "kernel void cudnn::detail::implicit_convolve_sgemm<fl"
      "oat, float, 128, 6, 7, 3, 3, 5, 1, true, false, true>(int, int, int, float const*, int, float*, float*, kernel_"
      "conv_params, int, float, float, int, float*, float*, int, int) has no grid or no block");
  CHECK(reason_with("\"grid\":[25,16,1]", "\"grid\":[25,0,1]").ends_with("has no grid or no block"));
  CHECK(reason_with("\"time_ns\":701661", "\"time_ns\":-701661").ends_with("has no time_ns from 1 ps to 1 year"));
  CHECK(reason_with("\"occupancy\":0.3125", "\"occupancy\":31.25").ends_with("has an occupancy over 1"));
  CHECK(reason_with("\"dram_read_bytes\":1", "\"dram_read_bytes\":-1") ==
        "dram_read_bytes of a kernel is not a number that is positive or 0");
  CHECK(reason_with("\"occupancy\":0.3125", "\"warps\":[1,{\"a\":2}]").empty());  // a later version may add keys
}

TEST_CASE("a row that is timed again without its kernels keeps those of the earlier run") {
  ResultDatabase database;
  database.add(run_with({counted()}, "2026-11-21T10:54:00Z"));
  database.add(run_with({}, "2026-11-22T10:54:00Z"));
  const auto kernels_of_conv = [&] {
    for (const auto& [signature, rows] : database.newest_rows())
      for (const auto& row : rows)
        if (row.backend == "onednn") return row.kernel_launches;
    return std::vector<KernelLaunch>{};
  };
  CHECK(kernels_of_conv() == std::vector{counted()});
  database.add(run_with({first_convolution()}, "2026-11-23T10:54:00Z"));
  CHECK(kernels_of_conv() == std::vector{first_convolution()});
}
