// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/availability.hpp"
#include "support/device_support.hpp"
#include <benanza/backend/cuda.hpp>
#include <benanza/bench/shared_library.hpp>
#include <benanza/layer_signature.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
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
    std::string says{};  // empty: there is one
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

TEST_CASE("a library that is nowhere gives the loader's reason") {
  const auto opened = SharedLibrary::open({"libno_such_library_of_benanza.so.1"});
  REQUIRE(std::holds_alternative<std::string>(opened));
  CHECK_THAT(std::get<std::string>(opened), Catch::Contains("libno_such_library_of_benanza.so.1"));
}

TEST_CASE("vendors' libraries are looked for where conda and scripts/bootstrap put them") {
  namespace fs = std::filesystem;
  const fs::path at = fs::temp_directory_path() / ("benanza_nvidia_folders_" + std::to_string(getpid()));
  const fs::path conda = at / "conda/lib", cudnn = at / "cache/deps/cudnn-9.19.0.56-cu13/lib",
                 headers = at / "cache/deps/cudnn-frontend-1.32.0/include";
  for (const auto& folder : {conda, cudnn, headers}) fs::create_directories(folder);
  std::map<const char*, std::optional<std::string>> before;
  for (const auto& [variable, value] :
       {std::pair{"CONDA_PREFIX", at / "conda"}, std::pair{"BENANZA_CACHE", at / "cache"}}) {
    const char* const old = std::getenv(variable);
    before[variable] = old == nullptr ? std::nullopt : std::optional<std::string>(old);
    setenv(variable, value.c_str(), 1);
  }
  const auto folders = nvidia_folders();
  for (const auto& [variable, value] : before)
    static_cast<void>(value ? setenv(variable, value->c_str(), 1) : unsetenv(variable));
  fs::remove_all(at);
  for (const auto& folder : {conda, cudnn})
    CHECK(std::find(folders.begin(), folders.end(), folder.string()) != folders.end());
}

TEST_CASE("Benanza's own CUDA kernels agree with the reference", "[gpu]") {
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  const std::vector<Layer> layers{
      op::Unary{.fn = ElementwiseFn::relu, .x = {1003}},
      op::Unary{.fn = ElementwiseFn::gelu, .x = {8, 128}, .post = {{ElementwiseFn::mul, TensorShape{1, 128}}}},
      op::Unary{.fn = ElementwiseFn::hard_swish, .x = {4096}},
      op::Binary{.fn = ElementwiseFn::add, .a = {4, 64, 49}, .b = {1, 64, 1}},
      op::Binary{.fn = ElementwiseFn::div, .a = {7, 1, 5}, .b = {1, 3, 5}},
      op::Nary{.x = {4, 100}, .count = 3, .mean = true},
      op::Where{.c = {1, 12}, .x = {8, 12}, .y = {8, 12}},
      op::BatchNorm{.x = {2, 16, 49}, .post = {ElementwiseFn::relu}},
      op::Transpose{.x = {12, 34, 56}, .perm = {0, 2, 1}},
      op::Transpose{.x = {5, 6, 7, 8}, .perm = {3, 1, 0, 2}},
      op::Transpose{.type = DataType::f16, .x = {64, 48}, .perm = {1, 0}},
      op::Slice{.x = {9, 20}, .starts = {8, 3}, .y = {3, 10}, .steps = {-2, 1}},
      op::Concat{.outer = 3, .sizes = {2, 5}, .inner = 12},
      op::Split{.outer = 3, .sizes = {2, 5}, .inner = 12},
      op::Expand{.x = {1, 7, 1}, .y = {5, 7, 6}},
      op::Tile{.x = {3, 4}, .repeats = {2, 3}},
      op::Pad{.x = {2, 5, 6}, .begins = {0, 2, 1}, .ends = {0, 1, 3}},
      op::Pad{.x = {2, 5, 6}, .begins = {0, 2, 1}, .ends = {0, 1, 3}, .mode = op::PadMode::reflect},
      op::Resize{.x = {1, 3, 7, 9}, .y = {1, 3, 14, 18}},
      op::Resize{.x = {1, 3, 7, 9}, .y = {1, 3, 13, 18}, .mode = op::ResizeMode::linear},
      op::Gather{.x = {2, 50, 12}, .indices = 9},
      op::GatherElements{.x = {4, 30, 5}, .indices = {4, 11, 5}, .axis = 1},
      op::GatherNd{.x = {6, 7, 8}, .indices = {5, 2}},
      op::ScatterElements{.x = {4, 30}, .indices = {4, 11}, .axis = 1},
      op::ScatterElements{.x = {4, 30}, .indices = {4, 11}, .axis = 1, .reduction = op::ScatterReduction::add},
      op::ScatterNd{.x = {6, 7, 8}, .indices = {5, 1}},
      op::Softmax{.x = {12, 100, 1}},
      op::Softmax{.x = {3, 10, 33}, .log = true},
      op::LayerNorm{.x = {16, 96}, .bias = true},
      op::LayerNorm{.x = {16, 96}, .rms = true},
      op::GroupNorm{.x = {2, 12, 25}, .groups = 3},
      op::Lrn{.x = {2, 16, 30}},
      op::Reduce{.x = {12, 100}, .axes = {1}},
      op::Reduce{.fn = op::ReduceFn::log_sum_exp, .x = {6, 10, 7}, .axes = {1}},
      op::Cast{.to = DataType::f16, .x = {1000}},
      op::Cast{.to = DataType::f8e4m3, .x = {1000}},
      op::Unary{.type = DataType::f8e4m3, .fn = ElementwiseFn::relu, .x = {4096}},
      op::Binary{.type = DataType::f8e5m2, .fn = ElementwiseFn::add, .a = {4, 64, 49}, .b = {1, 64, 1}},
      op::Softmax{.type = DataType::f8e4m3, .x = {12, 1000, 1}},
      op::Unary{.type = DataType::i8, .fn = ElementwiseFn::relu, .x = {4096}},
      op::Unary{.type = DataType::u8, .fn = ElementwiseFn::sigmoid, .x = {1003}},
      op::Binary{.type = DataType::i8, .fn = ElementwiseFn::add, .a = {4, 64, 49}, .b = {4, 64, 49}, .scaled = true},
      op::Binary{.type = DataType::i8,
                 .fn = ElementwiseFn::add,
                 .a = {4, 640},
                 .b = {4, 640},
                 .scaled = true,
                 .post = {ElementwiseFn::relu}},
      op::Where{.type = DataType::i8, .c = {8, 32}, .x = {8, 32}, .y = {8, 32}},
      op::Reduce{.type = DataType::i8, .x = {12, 100}, .axes = {1}},
      op::Pool{.x = {2, 5, 13, 12}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
      op::Pool{.type = DataType::i8, .x = {2, 5, 13, 12}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
      op::Pool{.mode = op::PoolMode::average, .x = {2, 5, 13}, .kernel = {3}, .pads = {1, 1}, .include_pad = true},
      op::Pool{.type = DataType::i8, .mode = op::PoolMode::average, .x = {2, 16, 7, 7}, .kernel = {7, 7}},
      op::Quantize{.to = DataType::i8, .x = {1, 4096, 1}},
      op::Quantize{.to = DataType::u8, .x = {2, 3, 35}},
      op::Quantize{.type = DataType::f16, .to = DataType::f8e4m3, .x = {1, 1000, 1}},
      op::Quantize{.to = DataType::u8, .x = {1, 300000, 1}, .dynamic = true},
      op::Quantize{.to = DataType::i8, .x = {1, 77, 1}, .dynamic = true},
      op::Dequantize{.type = DataType::i8, .x = {1, 4096, 1}},
      op::Dequantize{.type = DataType::u8, .to = DataType::bf16, .x = {2, 3, 32}},
  };
  for (const auto& layer : layers) {
    INFO(LayerSignature(layer).text());
    CHECK(test::check_device_plans(*backend, layer) > 0);
  }
}

TEST_CASE("a device measures its ceilings", "[gpu]") {
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  const auto rows = backend->device()->ceilings({1});
  CHECK(rows.size() >= 2);
  for (const auto& row : rows) CHECK(row.value > 0);
}
