// SPDX-License-Identifier: Apache-2.0
// emit_suite: a suite as a C++ translation unit on Google Benchmark, one layer a line, then the models that have it:
//
//   constexpr op::Conv conv[] = {
//       {.x = {1, 64, 56, 56}, .w = {64, 64, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, relu}},
//           // resnet50 x3 fused: layer1.0.conv2
//   };
//
// The count is of layers in the single form, in the fused form, or of fused groups of which the row is a part. The
// name is that of the first node.
//
// It compiles in a second or two, names the libraries that it measures, and is built and run elsewhere without ONNX,
// protobuf or JSON. emit_reproducer: one layer by one plan, with the vendor library's calls alone. The text depends on
// nothing but its source: no date, host or path. Layers come in the order of their signatures, so that adding a model
// inserts lines and edits none but the banner.
#pragma once

#include <benanza/model/layer_set.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

struct SuiteSource {
  std::string name{};                   ///< any character but letters, digits, `_`, `.` and `-` becomes `_`
  std::string command{};                ///< in the banner: canonical, as one would type it, models not expanded
  std::vector<std::string> backends{};  ///< each a header `benanza/backend/<name>.hpp`
  LayerSet layers{};                    ///< views and opaque layers are left out: there is nothing to measure
};

/// Writes the suite. Throws UsageError for a backend's name that cannot be one.
void emit_suite(const SuiteSource& source, std::ostream& out);

/// One layer by one plan.
struct Reproducer {
  Layer layer{};          ///< a convolution or a matrix product
  std::string backend{};  ///< that the plan is of
  std::string plan{};     ///< the algorithm as results name it: `jit:avx2,src=aBcd8b,threads=1`
  std::string command{};  ///< of the banner
};

/// Writes a file that times the layer by that plan with the library's own calls and Google Benchmark alone, no Benanza
/// header: the file to attach to a report of a bug or a slow kernel. It compiles alone; its first lines say how. Throws
/// UsageError for a backend without reproducers, and for a layer or a plan that its emitter does not cover.
void emit_reproducer(const Reproducer& reproducer, std::ostream& out);
/// Whether plans of a backend have reproducers.
[[nodiscard]] bool has_reproducer(std::string_view backend);

}  // namespace benanza
