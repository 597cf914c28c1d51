// SPDX-License-Identifier: Apache-2.0
#include "mnist_engine.hpp"

#include <algorithm>
#include <random>

namespace {

struct Plane {
  int channels, size;  // square
  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(channels * size * size); }
};

std::size_t index(const Plane& plane, int channel, int row, int column) {
  return static_cast<std::size_t>((channel * plane.size + row) * plane.size + column);
}

/// 5x5, padded so that the plane keeps its size, with bias and relu.
void convolve(const Plane& in, const std::vector<float>& x, const std::vector<float>& weights,
              const std::vector<float>& bias, int channels, std::vector<float>& y) {
  constexpr int kernel = 5, pad = 2;
  const Plane out{channels, in.size};
  for (int c = 0; c < channels; ++c)
    for (int row = 0; row < in.size; ++row)
      for (int column = 0; column < in.size; ++column) {
        float sum = bias[static_cast<std::size_t>(c)];
        for (int k = 0; k < in.channels; ++k)
          for (int i = 0; i < kernel; ++i)
            for (int j = 0; j < kernel; ++j) {
              const int at_row = row + i - pad, at_column = column + j - pad;
              if (at_row < 0 || at_column < 0 || at_row >= in.size || at_column >= in.size) continue;
              sum += x[index(in, k, at_row, at_column)] *
                     weights[static_cast<std::size_t>(((c * in.channels + k) * kernel + i) * kernel + j)];
            }
        y[index(out, c, row, column)] = std::max(sum, 0.0F);
      }
}

void max_pool(const Plane& in, const std::vector<float>& x, int kernel, std::vector<float>& y) {
  const Plane out{in.channels, in.size / kernel};
  for (int c = 0; c < in.channels; ++c)
    for (int row = 0; row < out.size; ++row)
      for (int column = 0; column < out.size; ++column) {
        float most = x[index(in, c, row * kernel, column * kernel)];
        for (int i = 0; i < kernel; ++i)
          for (int j = 0; j < kernel; ++j)
            most = std::max(most, x[index(in, c, row * kernel + i, column * kernel + j)]);
        y[index(out, c, row, column)] = most;
      }
}

constexpr Plane image{1, 28}, first{8, 28}, halved{8, 14}, second{16, 14}, last{16, 4};

}  // namespace

MnistEngine::MnistEngine()
    : conv1_(8 * 25), bias1_(8), conv2_(16 * 8 * 25), bias2_(16), product_(256 * 10), bias3_(10) {
  std::mt19937 random(2020);
  std::normal_distribution<float> normal(0, 0.1F);
  for (auto* weights : {&conv1_, &bias1_, &conv2_, &bias2_, &product_, &bias3_})
    for (float& weight : *weights) weight = normal(random);
  a_.resize(first.elements());
  b_.resize(halved.elements());
  c_.resize(second.elements());
  d_.resize(last.elements());
}

MnistEngine::Scores MnistEngine::run(const Image& picture, benanza::Recorder& recorder, const Clock& now) {
  const std::vector<float> x(picture.begin(), picture.end());
  Scores scores{};
  auto start = now();
  recorder.start_pass(start);
  const auto done = [&](const char* name) {  // each layer begins where the previous one ends
    const auto end = now();
    recorder.layer(name, start, end);
    start = end;
  };
  convolve(image, x, conv1_, bias1_, 8, a_);
  done("Convolution28 + Plus30 + ReLU32");
  max_pool(first, a_, 2, b_);
  done("Pooling66");
  convolve(halved, b_, conv2_, bias2_, 16, c_);
  done("Convolution110 + Plus112 + ReLU114");
  max_pool(second, c_, 3, d_);
  done("Pooling160");
  for (std::size_t j = 0; j < scores.size(); ++j) {
    scores[j] = bias3_[j];
    for (std::size_t i = 0; i < d_.size(); ++i) scores[j] += d_[i] * product_[i * scores.size() + j];
  }
  done("Times212 + Plus214");
  recorder.end_pass(start);
  return scores;
}

benanza::EngineProfile profile_of(MnistEngine& engine, int passes, const MnistEngine::Clock& now) {
  constexpr int warm_ups = 5;
  benanza::Recorder recorder({.engine = "mnist_engine", .threads = 1, .layers = 8});
  MnistEngine::Image picture{};
  for (std::size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i % 17) / 17;
  for (int pass = 0; pass < warm_ups + passes; ++pass) static_cast<void>(engine.run(picture, recorder, now));
  return recorder.profile({.warm_ups = warm_ups});
}
