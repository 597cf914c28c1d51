// SPDX-License-Identifier: Apache-2.0
// A plain inference engine for one model, MNIST: two convolutions with bias and relu, two pools, a matrix product. Its
// loops are easy to read, and so its gap is easy to find.
#pragma once

#include <benanza/profile/recorder.hpp>

#include <array>
#include <functional>
#include <vector>

class MnistEngine {
 public:
  using Image = std::array<float, 28 * 28>;
  using Scores = std::array<float, 10>;

  using Clock = std::function<benanza::Recorder::Time()>;

  /// Weights are random: the cost of a layer does not depend on them.
  MnistEngine();

  /// One inference; its layers go to `recorder` as one pass. Names are those of the model's nodes, joined if one loop
  /// executes several. The clock is read once for the start and once for the end of each layer.
  [[nodiscard]] Scores run(const Image& image, benanza::Recorder& recorder, const Clock& now = benanza::Recorder::now);

 private:
  std::vector<float> conv1_, bias1_, conv2_, bias2_, product_, bias3_;
  std::vector<float> a_, b_, c_, d_;  // results of the layers
};

/// A recorder's profile of `passes` inferences, after some warm-up inferences.
[[nodiscard]] benanza::EngineProfile profile_of(MnistEngine& engine, int passes,
                                                const MnistEngine::Clock& now = benanza::Recorder::now);
