// SPDX-License-Identifier: Apache-2.0
// Real files, recorded on a busy machine with two cores: ONNX Runtime 1.31.1 (MNIST and SqueezeNet of zoo2019, and
// hard/loop_known_trip_count), PyTorch 2.13.0 (two convolutions and a linear layer), oneDNN 3.2.0 (a program of six
// primitives), OpenVINO 2026.4.1 (benchmark_app on MNIST). Expected values are sums over the files' JSON or rows by a
// script in another language.
#include "support/profile_support.hpp"

#include <zlib.h>

#include <random>

namespace {

using namespace profile_support;

std::string unzipped(const fs::path& file) {
  gzFile in = gzopen(file.c_str(), "rb");
  std::string text(1 << 20, 0);
  const int size = gzread(in, text.data(), static_cast<unsigned>(text.size()));
  gzclose(in);
  REQUIRE(size > 0);
  text.resize(static_cast<std::size_t>(size));
  return text;
}

const ProfileOptions all_passes{.warm_ups = 0};

}  // namespace

TEST_CASE("ONNX Runtime's profile of MNIST is read") {
  const auto profile = read(data("onnxruntime_mnist.json.gz"));
  CHECK(profile.warm_ups == 1);
  CHECK(microseconds(profile.latencies) == std::vector<double>{119, 102, 106, 94, 126, 172, 2413, 107, 135, 90, 97});
  REQUIRE(profile.records.size() == 7);
  CHECK(sum_of_pass(profile, 0) == Approx(0.079));
  CHECK(sum_of_pass(profile, 10) == Approx(0.057));
  const auto& conv = profile.records[2];
  CHECK(conv.name == "ReLU114_Output_0_nchwc");
  CHECK(conv.nodes == std::vector<std::string>{"ReLU114_Output_0"});  // the value that it computes
  CHECK(microseconds(conv.times) == std::vector<double>{28, 27, 26, 25, 37, 64, 30, 25, 24, 24, 24});
  CHECK(conv.inputs == std::vector<ProfiledTensor>{
                           {DataType::f32, {1, 8, 14, 14}}, {DataType::f32, {16, 8, 5, 5}}, {DataType::f32, {16}}});
  const auto& reorder = record(profile, "ReorderOutput");
  CHECK(reorder.activity == Activity::conversion);
  CHECK(reorder.nodes.empty());
  CHECK(record(profile, "Times212/MatMulAddFusion").nodes == std::vector<std::string>{"Times212"});
  CHECK(profile.warnings.empty());
}

TEST_CASE("ONNX Runtime's profile of SqueezeNet is read") {
  const auto profile = read(data("onnxruntime_squeezenet.json.gz"), all_passes);
  CHECK(profile.threads == 2);
  CHECK(microseconds(profile.latencies) == std::vector<double>{71681, 47436, 56832, 24220, 44619});
  CHECK(profile.records.size() == 40);
  const double sums[] = {71.234, 47.033, 56.401, 23.834, 44.159};
  for (std::size_t pass = 0; pass < 5; ++pass) CHECK(sum_of_pass(profile, pass) == Approx(sums[pass]));
  CHECK(std::count_if(profile.records.begin(), profile.records.end(),
                      [](const ProfileRecord& each) { return each.op == "Conv"; }) == 26);
  CHECK(microseconds(record(profile, "squeezenet0_relu3_fwd_nchwc").times) ==
        std::vector<double>{497, 664, 656, 4519, 8450});
  CHECK(profile.warnings.empty());
}

TEST_CASE("ONNX Runtime's profile of a loop has the nodes of its body inside it") {
  const auto profile = read(data("onnxruntime_loop.json.gz"), all_passes);
  CHECK(profile.records.size() == 37);  // 12 times three, and the loop
  const auto& loop = profile.records[0];
  CHECK(loop.name == "Loop_0");
  CHECK(loop.nodes.empty());  // unnamed: its name consists of operator and index
  CHECK(microseconds(loop.times) == std::vector<double>{1265, 1013, 889, 999});
  double inside = 0;
  for (std::size_t i = 1; i < profile.records.size(); ++i) {
    CHECK(profile.records[i].parent == 0);
    inside += profile.records[i].times[0].value * 1e6;
  }
  CHECK(inside == Approx(939));
}

TEST_CASE("PyTorch's trace of a small network is read") {
  const auto profile = read(data("kineto_cpu.json.gz"), all_passes);
  CHECK(microseconds(profile.latencies) ==
        std::vector<double>{135857.115, 115924.153, 123883.429, 119870.193, 131880.998});
  CHECK(profile.records.size() == 66);
  const double sums[] = {134.638989, 114.748357, 122.670495, 118.666085, 130.605156};
  for (std::size_t pass = 0; pass < 5; ++pass) CHECK(sum_of_pass(profile, pass) == Approx(sums[pass]));
  CHECK(std::count_if(profile.records.begin(), profile.records.end(),
                      [](const ProfileRecord& each) { return !each.parent; }) == 10);
  const auto& conv = profile.records[0];
  CHECK(conv.name == "aten::conv2d");
  CHECK(conv.inputs == std::vector<ProfiledTensor>{
                           {DataType::f32, {1, 3, 32, 32}}, {DataType::f32, {16, 3, 3, 3}}, {DataType::f32, {16}}});
  CHECK(profile.records[1].name == "aten::convolution");
  CHECK(profile.records[1].parent == 0);
  CHECK(microseconds(record(profile, "aten::max_pool2d").times) ==
        std::vector<double>{27756.936, 15833.415, 19710.457, 14523.138, 36806.3});
  CHECK(profile.warnings.empty());
}

TEST_CASE("oneDNN's log of six primitives is read with and without timestamps") {
  const auto plain = read(data("onednn_3.2.log")), stamped = read(data("onednn_3.2_timestamps.log"));
  for (const auto* profile : {&plain, &stamped}) {
    CAPTURE(profile->files);
    CHECK(profile->version == "3.2.0");
    CHECK(profile->threads == 2);
    CHECK(profile->device == "Intel AVX2");
    CHECK(profile->warm_ups == 2);  // the first two of five were much slower
    REQUIRE(profile->records.size() == 6);
    const char* ops[] = {"reorder", "convolution", "pooling", "reorder", "matmul", "eltwise"};
    for (std::size_t i = 0; i < 6; ++i) CHECK(profile->records[i].op == ops[i]);
    CHECK(profile->records[0].activity == Activity::conversion);
    CHECK(profile->records[1].inputs ==
          std::vector<ProfiledTensor>{{DataType::f32, {1, 3, 32, 32}}, {DataType::f32, {16, 3, 3, 3}}});
    CHECK(profile->records[2].outputs == std::vector<ProfiledTensor>{{DataType::f32, {1, 16, 16, 16}}});
    CHECK(warned(*profile, "1 primitives outside of the 5 passes"));  // the reorder of the weights
  }
  CHECK(plain.records[1].algorithm == "jit:avx2");
  const auto times = [](const EngineProfile& profile) {
    std::vector<double> ms;
    for (const Seconds time : profile.records[1].times) ms.push_back(time.value * 1e3);
    return ms;
  };
  CHECK(times(plain)[0] == Approx(0.0180664));
  CHECK(times(plain)[2] == Approx(0.0180664));
  CHECK(times(stamped)[0] == Approx(0.0239258));
  CHECK(sum_of_pass(plain, 2) == Approx(0.0490723));
  CHECK(sum_of_pass(stamped, 1) == Approx(0.04833981));
}

TEST_CASE("OpenVINO's counters of MNIST are read") {
  const auto average = read(data("openvino_average.csv")), sorted = read(data("openvino_sorted.csv"));
  REQUIRE(average.records.size() == 6);
  CHECK(average.records[0].name == "Convolution28");
  CHECK(average.records[0].algorithm == "brgconv_avx2_f32");
  CHECK(sum_of_pass(average, 0) == Approx(0.202));  // its row Total
  const auto& reorder = record(average, "Pooling160_acdb_abcd_Times212_reshape0");
  CHECK(reorder.activity == Activity::conversion);
  CHECK(reorder.nodes.empty());
  REQUIRE(sorted.records.size() == 6);
  CHECK(microseconds(record(sorted, "Plus214_Output_0").times) == std::vector<double>{523});
  CHECK(sum_of_pass(sorted, 0) == Approx(0.591));
}

TEST_CASE("real files that are cut off or damaged are refused with their byte, or read: nothing else happens") {
  std::mt19937 random(2020);
  const Folder folder;
  for (const char* name : {"onnxruntime_mnist.json.gz", "onnxruntime_loop.json.gz", "kineto_cpu.json.gz",
                           "onednn_3.2.log", "openvino_average.csv", "openvino_sorted.csv"}) {
    CAPTURE(name);
    const std::string text = unzipped(data(name));
    const bool json = std::string(name).find(".json") != std::string::npos;
    const auto outcome = [&](const std::string& damaged) -> std::string {
      try {
        static_cast<void>(read(folder.write("profile", damaged)));
      } catch (const InputError& error) {
        return error.what();
      }
      return "";
    };
    for (std::size_t part = 1; part < 60; ++part) {
      const std::string error = outcome(text.substr(0, text.size() * part / 60));
      // The head of a table may be a table; that of a JSON file is not, unless it is too short to be recognised.
      // ONNX Runtime writes a bare array, which may end anywhere.
      if (error.empty()) CHECK((!json || std::string(name).starts_with("onnxruntime")));
      else if (json)
        CHECK_THAT(error, Catch::Contains("the middle of the JSON") || Catch::Contains("of no known format") ||
                              Catch::Contains("not the profile of a run"));
    }
    for (int i = 0; i < 200; ++i) {
      std::string damaged = text;
      for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
      CHECK_NOTHROW(outcome(damaged));
    }
  }
}
