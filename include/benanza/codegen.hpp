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
// protobuf or JSON. standalone_suite: the same layers as a project of the libraries' own calls. emit_reproducer: one
// layer of it by one plan, in one file. The text depends on nothing but its source: no date, host or path. Layers come
// in the order of their signatures, so that adding a model inserts lines and edits none but the banner.
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

/// A file of a project.
struct SourceFile {
  std::string name{};
  std::string text{};
};

/// The suite as a CMake project of the libraries' own calls and Google Benchmark alone, no Benanza header: sources for
/// each library and family of layers (convolution, product, pooling ...), each with one function that calls the library
/// and a table of layers. Rows have the names that results have, so `analyze` reads what the program writes. A layer
/// that a library has no family for is a row that says so. Throws UsageError for a backend of Benanza's own kernels,
/// and for backends of a processor and a GPU together.
[[nodiscard]] std::vector<SourceFile> standalone_suite(const SuiteSource& source);
/// Whether plans of a backend are calls of a library, not kernels of Benanza's own.
[[nodiscard]] bool can_stand_alone(std::string_view backend);

/// Whether emit_reproducer can write this layer by a plan of that name.
[[nodiscard]] bool can_reproduce(const Layer& layer, std::string_view backend, std::string_view plan);

/// One layer by one plan.
struct Reproducer {
  Layer layer{};
  std::string backend{};  ///< that the plan is of
  std::string plan{};     ///< the algorithm as results name it: `jit:avx2,src=aBcd8b,threads=1`
  std::string command{};  ///< of the banner
};

/// Writes the suite that stands alone of one layer by one plan, as one file: the file to attach to a report of a bug or
/// a slow kernel. Its first lines say how to compile it. Throws UsageError for a backend without reproducers, and for a
/// layer or a plan that its families do not cover.
void emit_reproducer(const Reproducer& reproducer, std::ostream& out);

}  // namespace benanza
