// SPDX-License-Identifier: Apache-2.0
// How fast API logs are read: a real one of cuDNN, repeated to 100 MB, and lines of cuBLASLt. 100 MB may take at most
// two seconds.
#include <benanza/profile/engine_profile.hpp>
#include <benanza/results/whole_file.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {

using namespace benanza;
namespace fs = std::filesystem;

constexpr std::size_t log_bytes = 100'000'000;

/// A file owned by this object, removed at the end.
class RepeatedFile {
 public:
  explicit RepeatedFile(const std::string& text)
      : path_(fs::temp_directory_path() / ("benanza-api-log-" + std::to_string(::getpid()))) {
    std::ofstream file(path_, std::ios::binary);
    for (; bytes_ < log_bytes; bytes_ += text.size()) file << text;
  }
  RepeatedFile(const RepeatedFile&) = delete;
  RepeatedFile& operator=(const RepeatedFile&) = delete;
  ~RepeatedFile() { fs::remove(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  fs::path path_;
  std::size_t bytes_ = 0;
};

void read_log(benchmark::State& state, const std::string& text) {
  const RepeatedFile file(text);
  for (auto _ : state) benchmark::DoNotOptimize(read_profile({&file.path(), 1}));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(file.bytes()));
}

void cudnn_log_of_100_mb(benchmark::State& state) {
  read_log(state, read_whole(fs::path(BENANZA_TEST_DATA) / "2019" / "mxnet_b32_ResNet050-v1.cudnn.log.gz"));
}
BENCHMARK(cudnn_log_of_100_mb)->Unit(benchmark::kMillisecond);

void cublaslt_log_of_100_mb(benchmark::State& state) {
  std::string text;
  for (const std::string rows : {"1024", "2048", "4096", "512"})
    text +=
        "[2026-05-04 15:08:47][cublasLt][53055][Trace][cublasLtMatmul] A=0X32F600000 Adesc=[type=R_16BF rows=" + rows +
        " cols=1024 ld=2048] B=0X32EE00000 Bdesc=[type=R_16BF rows=1024 cols=32 ld=1024] C=0X32EE10000 Cdesc=[type="
        "R_16BF rows=" +
        rows + " cols=32 ld=2048] D=0X32EE10000 Ddesc=[type=R_16BF rows=" + rows +
        " cols=32 ld=2048] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F smCountTarget=48] algo=[algoId=67 "
        "tile=MATMUL_TILE_64x32 stages=MATMUL_STAGES_64xAUTO customOption=29] workSpace=0X0 "
        "workSpaceSizeInBytes=0 beta=0 outOfPlace=0 stream=0X0\n";
  read_log(state, text);
}
BENCHMARK(cublaslt_log_of_100_mb)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
