// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/results_support.hpp"
#include <benanza/original2019/results.hpp>

#include <string>

using namespace benanza;
using results_support::Folder;

namespace {

const std::string conv_name =
    "LAYER_CUDNN_CONV_FWD_0_FLOAT32__BatchSize_1__3956<CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM>/input[0]:1/"
    "input[1]:256/"
    "input[2]:56/input[3]:56/filter_count:64/filter_height:1/filter_width:1/pad_height:0/pad_width:0/stride_height:1/"
    "stride_width:1/dilation_height:1/dilation_width:1/group:1/batch_size:1/conv_fwd_type:1/manual_time";
const std::string conv_key =
    "CONV_FWD/f32/x=1x256x56x56/filters=64/kernel=1x1/pads=0x0/strides=1x1/dilations=1x1/group=1";

std::string row(const std::string& name, const std::string& more) {
  return R"({"name": ")" + name + R"(", "iterations": 1, "cpu_time": 0.0, "time_unit": "ns", )" + more + "}";
}
std::string database(const std::string& rows) {
  return R"({"context": {"date": "2019-09-30 09:14:11", "num_cpus": 4}, "benchmarks": [)" + rows + "]}";
}
original2019::Results read(const Folder& folder, const std::string& text, const std::string& device = {}) {
  const auto path = folder.write("r.json", text);
  return original2019::read_results({&path, 1}, device);
}

}  // namespace

TEST_CASE("A row of a 2019 database is named by its arguments, in whole nanoseconds") {
  const Folder folder;
  const auto made =
      read(folder, database(row(conv_name, R"("real_time": 35592.9, "gpu_name:Tesla V100-SXM2-16GB": 6e+18,
    "cudnn_version:7.6.3": 1.5e+19, "input[0]": 1.0, "filter_count": 64.0, "predicted_flops": 1.4e12)")));
  REQUIRE(made.calls.count(conv_key) == 1);
  CHECK(made.calls.at(conv_key)[0].algorithm == "implicit_gemm");
  CHECK(made.calls.at(conv_key)[0].time.value == Approx(35592e-9).epsilon(1e-12));
  CHECK(made.device == "Tesla V100-SXM2-16GB");
  REQUIRE(made.backends.size() == 1);
  CHECK(made.backends[0].version == "7.6.3");
  CHECK(made.batches == std::set<std::int64_t>{1});
}

TEST_CASE("Older names, which lack the batch size, are read from counters") {
  const Folder folder;
  const auto made =
      read(folder, database(row("LAYER_CUDNN_ACTIVATION_FWD_FLOAT32__871<CUDNN_ACTIVATION_RELU>/manual_time",
                                R"("real_time": 1000, "input[0]": 1, "input[1]": 8, "input[2]": -1, "input[3]": -1)")));
  CHECK(made.calls.count("ACTIVATION_FWD/f32/x=1x8") == 1);
}

TEST_CASE("A row that failed gives no time, and says why where no other row has one") {
  const Folder folder;
  const std::string failed =
      row(conv_name, R"("error_occurred": true, "error_message": "NOT_SUPPORTED", "real_time": 0.0)");
  const auto alone = read(folder, database(failed));
  CHECK(alone.calls.empty());
  CHECK(alone.failed.at(conv_key) == "NOT_SUPPORTED");
  const auto both = read(folder, database(failed + "," + row(conv_name, R"("real_time": 5000)")));
  CHECK(both.failed.empty());
  CHECK(both.calls.at(conv_key).size() == 1);
}

TEST_CASE("A row that lacks an argument is left out with a warning") {
  const Folder folder;
  const std::string name =
      "LAYER_CUDNN_POOLING_FWD_FLOAT32__BatchSize_1__83<CUDNN_POOLING_MAX>/input[0]:1/input[1]:64/"
      "input[2]:112/input[3]:112/filter_height:3/manual_time";
  const auto made = read(folder, database(row(name, R"("real_time": 5000)")));
  CHECK(made.calls.empty());
  REQUIRE(made.warnings.size() == 1);
  CHECK_THAT(made.warnings[0], Catch::Contains("row 1") && Catch::Contains("filter_width"));
}

TEST_CASE("Backward and training rows are not layers of a forward pass") {
  const Folder folder;
  const auto made =
      read(folder, database(row("LAYER_CUDNN_BATCHNORM_FWD_TRAINING_FLOAT32__BatchSize_1__1<CUDNN_BATCHNORM_SPATIAL>/"
                                "input[0]:1/input[1]:8/manual_time",
                                R"("real_time": 5000)")));
  CHECK(made.calls.empty());
  CHECK(made.warnings.empty());
}

TEST_CASE("A broken 2019 database is refused with its place") {
  struct Row {
    std::string text, message;
  };
  const Folder folder;
  const std::string good = row(conv_name, R"("real_time": 5000, "gpu_name:A": 1)");
  const auto broken = GENERATE_COPY(
      Row{"", "empty"}, Row{database(good).substr(0, 300), "byte"}, Row{database(good) + "x", "more text"},
      Row{database(good) + " {}", "more text"}, Row{database(good) + "\n]", "more text"},
      Row{database(good).substr(0, database(good).size() - 1), "ended early"}, Row{database(""), "none of its 0 rows"},
      Row{R"({"context": {}})", "benchmarks"},
      Row{database(row("hot/onednn", R"("real_time": 1)")), "none of its 1 rows"},
      Row{database(row(conv_name, R"("real_time": 1, "filter_count": 65)")), "filter_count"},
      Row{database(good + "," + row(conv_name, R"("real_time": 1, "gpu_name:B": 1)")), "two GPUs never share"},
      Row{"a,b\n1,2\n", "line 1"},
      Row{"LayerName,LayerType,BenchmarkName,RealTime(ms),Flops\na,Conv,x,1,2\n", "cut off"},
      Row{"LayerName,LayerType,BenchmarkName,RealTime(ms),Flops\na,Conv,x,-1,2\n,,Total,1,2\n", "line 2"},
      Row{"LayerName,LayerType,BenchmarkName,RealTime(ms),Flops\na,Conv,\"x,1,2\n", "quote"});
  CAPTURE(broken.text);
  CHECK_THROWS_WITH(read(folder, broken.text), Catch::Contains(broken.message) && Catch::Contains("r.json"));
}

TEST_CASE("A bias is added to the tensor that its descriptor gives") {
  // In the version whose rows list the convolution's input, the descriptor gives the tensor.
  const Folder folder;
  const auto made = read(
      folder,
      database(row("LAYER_CUDNN_ADD_TENSOR_FLOAT32__BatchSize_1__1/input[0]:1/input[1]:3/input[2]:224/input[3]:224/"
                   "manual_time",
                   R"("real_time": 5000, "c_desc_0": 1, "c_desc_1": 64, "c_desc_2": 112, "c_desc_3": 112)")));
  CHECK(made.calls.count("ADD_TENSOR/f32/x=1x64x112x112") == 1);
}
