// SPDX-License-Identifier: Apache-2.0
// What a CUDA kernel does, by its name: if the engine adds no labels, a profile of kernels says no more than that.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace benanza {

enum class KernelClass : std::uint8_t {
  other,
  convolution,
  product,    ///< matrix product; in cuDNN, a step of a convolution
  transform,  ///< FFT and Winograd transforms: steps of a convolution
  normalization,
  pooling,
  padding,
  conversion,  ///< change of layout or type
  elementwise,
  softmax,
  reduction
};
[[nodiscard]] constexpr std::array<std::string_view, 11> enum_names(KernelClass) {
  return {"other",   "convolution", "product",     "transform", "normalization", "pooling",
          "padding", "conversion",  "elementwise", "softmax",   "reduction"};
}

namespace detail {
/// Parts of names in lower case, tested in this order: `cudnn::winograd_nonfused::winogradForwardData4x4` is a
/// transform, `volta_scudnn_winograd_128x128` a convolution.
inline constexpr std::array<std::pair<std::string_view, KernelClass>, 52> kernel_name_parts{{
    {"pad_constant", KernelClass::padding},
    {"pad_edge", KernelClass::padding},
    {"pad_reflect", KernelClass::padding},
    {"padkernel", KernelClass::padding},
    {"copypad", KernelClass::padding},
    {"nchwtonhwc", KernelClass::conversion},
    {"nhwctonchw", KernelClass::conversion},
    {"nchw2nhwc", KernelClass::conversion},
    {"nhwc2nchw", KernelClass::conversion},
    {"convert_tensor", KernelClass::conversion},
    {"tensortransform", KernelClass::conversion},
    {"transpose", KernelClass::conversion},
    {"permute", KernelClass::conversion},
    {"castkernel", KernelClass::conversion},
    {"winogradforward", KernelClass::transform},
    {"generatewinogradtiles", KernelClass::transform},
    {"computeoffsets", KernelClass::transform},
    {"compute_gemm_pointers", KernelClass::transform},
    {"flip_filter", KernelClass::transform},
    {"im2col", KernelClass::transform},
    {"fft1d", KernelClass::transform},
    {"fft2d", KernelClass::transform},
    {"batchnorm", KernelClass::normalization},
    {"batch_norm", KernelClass::normalization},
    {"bn_fw", KernelClass::normalization},
    {"bn_pointwise", KernelClass::normalization},
    {"layernorm", KernelClass::normalization},
    {"layer_norm", KernelClass::normalization},
    {"lrn", KernelClass::normalization},
    {"softmax", KernelClass::softmax},
    {"pool", KernelClass::pooling},
    {"scudnn", KernelClass::convolution},
    {"hcudnn", KernelClass::convolution},
    {"cudnn_fp16", KernelClass::convolution},
    {"convolve", KernelClass::convolution},
    {"conv", KernelClass::convolution},
    {"fprop", KernelClass::convolution},
    {"winograd", KernelClass::convolution},
    {"depthwise", KernelClass::convolution},
    {"gemm", KernelClass::product},
    {"gemv", KernelClass::product},
    {"cutlass", KernelClass::product},
    {"nvjet", KernelClass::product},
    {"fmha", KernelClass::product},
    {"flash_fwd", KernelClass::product},
    {"op_generic_tensor", KernelClass::elementwise},
    {"op_tensor", KernelClass::elementwise},
    {"elementwise", KernelClass::elementwise},
    {"activation", KernelClass::elementwise},
    {"relu", KernelClass::elementwise},
    {"add_tensor", KernelClass::elementwise},
    {"reduce", KernelClass::reduction},
}};

static_assert(!kernel_name_parts.back().first.empty(), "an empty part would be in every name");

[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (const char c : text) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}
}  // namespace detail

/// `name` is the short name, or the demangled one without its parameters.
[[nodiscard]] inline KernelClass kernel_class(std::string_view name) {
  const std::string lower = detail::lower_case(name);
  for (const auto& [part, what] : detail::kernel_name_parts)
    if (lower.find(part) != std::string::npos) return what;
  return KernelClass::other;
}

/// Whether the kernel multiplies on tensor cores: the names in NVIDIA's libraries contain the instruction's shape (s884
/// on Volta, s1688 on Turing, s16816 on Ampere, gmma on Hopper), or the generator's name (xmma, nvjet).
[[nodiscard]] inline bool uses_tensor_cores(std::string_view name) {
  constexpr std::array<std::string_view, 18> marks{"s884",   "h884",    "i8816", "s1688",    "h1688", "16816",
                                                   "i16832", "s161616", "gmma",  "tensorop", "hmma",  "imma",
                                                   "wmma",   "xmma",    "_mma_", "nvjet",    "umma",  "tcgen05"};
  const std::string lower = detail::lower_case(name);
  return lower.find("simt") == std::string::npos &&
         std::any_of(marks.begin(), marks.end(),
                     [&lower](std::string_view mark) { return lower.find(mark) != std::string::npos; });
}

}  // namespace benanza
