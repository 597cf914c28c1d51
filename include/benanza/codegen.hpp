// SPDX-License-Identifier: Apache-2.0
// emit_suite: writes a suite as a C++ translation unit on Google Benchmark, one layer per line, then the models that
// have it:
//
//   const op::Conv conv[] = {
//       {.x = {1, 64, 56, 56}, .w = {64, 64, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, relu}},
//           // resnet50 x3 fused: layer1.0.conv2
//   };
//
// The count is of layers in the single form, in the fused form, or of fused groups that the row is a part of. The name
// is that of the first node.
//
// The suite compiles in a second or two, names the libraries that it measures, and can be built and run elsewhere
// without ONNX, protobuf or JSON. standalone_suite writes the same layers as a project that calls the libraries
// directly. emit_reproducer writes one layer of it with one plan, in one file. The text depends only on its source: it
// has no date, host or path. Layers are in the order of their signatures, so that adding a model inserts lines and
// edits none but the banner.
#pragma once

#include <benanza/model/layer_set.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

struct SuiteSource {
  std::string name{};                   ///< any character but letters, digits, `_`, `.` and `-` becomes `_`
  std::string command{};                ///< for the banner: canonical, as one would type it, models not expanded
  std::vector<std::string> backends{};  ///< each has a header `benanza/backend/<name>.hpp`
  LayerSet layers{};                    ///< views and opaque layers are left out: they cannot be measured
};

/// Writes the suite. Throws UsageError for a string that cannot be the name of a backend.
void emit_suite(const SuiteSource& source, std::ostream& out);

/// A file of a project.
struct SourceFile {
  std::string name{};
  std::string text{};
};

/// Returns the suite as a CMake project that uses only the libraries' own calls and Google Benchmark, no Benanza
/// header. There are sources for each library and family of layers (convolution, product, pooling ...), each with one
/// function that calls the library and a table of layers. Rows have the same names as in results, so `analyze` reads
/// what the program writes. If a library has no family for a layer, the layer's row says so. Throws UsageError for a
/// backend of Benanza's own kernels, and for backends of a processor and a GPU together.
[[nodiscard]] std::vector<SourceFile> standalone_suite(const SuiteSource& source);
/// Whether a backend's plans call a library instead of Benanza's own kernels.
[[nodiscard]] bool can_stand_alone(std::string_view backend);

/// Whether emit_reproducer can write this layer with a plan of that name.
[[nodiscard]] bool can_reproduce(const Layer& layer, std::string_view backend, std::string_view plan);

/// One layer with one plan.
struct Reproducer {
  Layer layer{};
  std::string backend{};               ///< the plan's backend
  std::string plan{};                  ///< the algorithm as results name it: `jit:avx2,src=aBcd8b,threads=1`
  std::string command{};               ///< for the banner
  std::string file{"reproducer.cpp"};  ///< its name in the line that says how to compile it, as a shell reads it
  std::string link{};                  ///< compiler options for the library in this line; empty: the usual ones
};

/// Writes the stand-alone suite of one layer with one plan as one file, which can be attached to a report of a bug or a
/// slow kernel. Its first lines say how to compile it. Throws UsageError for a backend without reproducers, and for a
/// layer or a plan that the backend's families do not cover.
void emit_reproducer(const Reproducer& reproducer, std::ostream& out);

}  // namespace benanza
