// SPDX-License-Identifier: Apache-2.0
// Any bytes are a model or an error of Benanza's family. An iteration of its training has layers and needs a known
// number of bytes. The number of bytes decides the options.
#include "memory_file.hpp"
#include <benanza/error.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/memory/make_memory_profile.hpp>
#include <benanza/onnx.hpp>
#include <benanza/training/derive_training.hpp>

#include <cmath>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace benanza;
  const testing::MemoryFile file(data, size);
  const TrainingOptions options{.optimizer = static_cast<Optimizer>(size % enum_names(Optimizer{}).size()),
                                .precision = static_cast<Precision>(size % enum_names(Precision{}).size()),
                                .recompute_every = static_cast<std::int64_t>(size % 5)};
  try {
    const TrainingGraph iteration = derive_training(import_onnx(file.path(), {.training = true}), options);
    static_cast<void>(make_model_layers(iteration.graph));
    const double peak = make_memory_profile(iteration, {.optimizer = options.optimizer}).peak_bytes();
    if (!std::isfinite(peak) || peak < 0) std::abort();
  } catch (const Error&) {
    // expected for a broken model
  }
  return 0;
}
