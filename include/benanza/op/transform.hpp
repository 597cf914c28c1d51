// SPDX-License-Identifier: Apache-2.0
// Fourier transforms.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

/// DFT and STFT: discrete Fourier transforms along one axis, or of frames of a signal.
struct Fourier {
  static constexpr std::string_view kind = "Fourier";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 2> onnx_types{"DFT", "STFT"};
  DataType type = DataType::f32;
  TensorShape x{};          ///< outer axis inner, in numbers (pairs of elements if they are complex)
  std::int64_t length = 1;  ///< of one transform; x is zero-padded or truncated to this length
  bool real = false;        ///< x has no imaginary parts; for an inverse one-sided transform y has none
  bool inverse = false;
  bool one_sided = false;  ///< half of the numbers are left out, because they are conjugates of the others
  std::int64_t frames = 1;
  std::int64_t step = 0;  ///< from one frame to the next
  bool window = false;    ///< frames are multiplied by a window

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("length", self.length);
    visit("real", self.real);
    visit("inverse", self.inverse);
    visit("one_sided", self.one_sided);
    visit("frames", self.frames);
    visit("step", self.step);
    visit("window", self.window);
  }
  constexpr bool operator==(const Fourier&) const = default;

  /// Nothing if the length or the step of the frames is computed at run time. If the axis is, the one that fits the
  /// result and has the fewest operations is assumed.
  [[nodiscard]] static std::optional<Fourier> from(const Node& node, const Graph& graph);

  /// Whether the result of an inverse transform is real.
  [[nodiscard]] constexpr bool is_real_result() const { return inverse && one_sided; }
  /// Numbers that one transform returns.
  [[nodiscard]] constexpr std::int64_t bins() const { return one_sided && !inverse ? length / 2 + 1 : length; }
  /// Numbers that one transform reads.
  [[nodiscard]] constexpr std::int64_t needed() const { return is_real_result() ? length / 2 + 1 : length; }
  [[nodiscard]] constexpr TensorShape y() const { return {x[0], frames, bins(), x[2], is_real_result() ? 1 : 2}; }

  [[nodiscard]] Operands operands() const;

  /// For a complex transform whose length is a power of two, this is the lowest count T known (Johnson and Frigo, "A
  /// modified split-radix FFT with fewer arithmetic operations", 2007, equation 1); for real numbers it is T / 2 - N +
  /// 2 (the same, section V). No minimum is known for other lengths, or if a part of the numbers is zero: then only the
  /// sum that is the first bin is counted. If frames overlap, only frames without a common sample are counted, since
  /// the others may share sums. Windows may be merged into weights and are not counted.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

 private:
  /// The number in input `i`. Nothing if it is left out or computed at run time.
  [[nodiscard]] static std::optional<std::int64_t> number(const Node& node, const Graph& graph, std::size_t i);
  [[nodiscard]] static std::optional<Fourier> along_axis(const Node& node, const Graph& graph);
  [[nodiscard]] static std::optional<Fourier> of_frames(const Node& node, const Graph& graph);
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/transform_inl.hpp>
#endif
