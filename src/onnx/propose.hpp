// SPDX-License-Identifier: Apache-2.0
// Sizes for unbound dimensions, found by trial: the model is built with likely sizes until its shapes fit.
#pragma once

#include "bind.hpp"
#include <benanza/onnx.hpp>

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::importer {

/// The result of building a model with some sizes.
struct Trial {
  bool fits = false;
  std::size_t nodes = 0;               ///< visited before the first one that could not be built
  std::vector<std::int64_t> sizes{};   ///< sizes in the constants that this node reads: likely expected sizes
  std::vector<std::string> scalars{};  ///< inputs of one integer on which this node depends
  std::size_t outputs = 0;             ///< number of model outputs whose shape is as the file declares
  bool may_combine_items = false;      ///< as Builder says
  bool batch_reaches_output = false;
  std::string combines_items{};
};
using Sizes = std::vector<std::pair<std::string, std::int64_t>>;
using Try = std::function<Trial(const Sizes&)>;

struct Proposal {
  Sizes sizes{};         ///< one for each open symbol, in the same order
  bool fits = false;     ///< if not, they are those with which most of the model could be built
  bool certain = false;  ///< no other size fits
};

/// Sizes of images that the model was made for: those in its metadata, and numbers in its name that could be image
/// sizes.
[[nodiscard]] std::vector<std::int64_t> image_sizes_of(const onnx::ModelProto& model, const std::string& name);

/// Sizes for `open` symbols of the model; `hints` are the most likely sizes of images.
[[nodiscard]] Proposal propose_sizes(const onnx::GraphProto& graph, const std::vector<std::string>& open,
                                     const std::vector<std::int64_t>& hints, const Try& attempt);

/// A likely value of a scalar input: a sampling rate, a start, a step, a length.
[[nodiscard]] std::int64_t likely_value(const std::string& name);

}  // namespace benanza::importer
