// SPDX-License-Identifier: Apache-2.0
// Sizes for dimensions that nobody bound, found by trial: the model is built with likely ones until its shapes fit.
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

/// What building a model at some sizes came to.
struct Trial {
  bool fits = false;
  std::size_t nodes = 0;               ///< walked over before the first one that could not be
  std::vector<std::int64_t> sizes{};   ///< sizes in the constants that this one reads: what it may want
  std::vector<std::string> scalars{};  ///< inputs of one integer from which it computes
  std::size_t outputs = 0;             ///< model outputs whose shape is as the file declares it
};
using Sizes = std::vector<std::pair<std::string, std::int64_t>>;
using Try = std::function<Trial(const Sizes&)>;

struct Proposal {
  Sizes sizes{};         ///< one for each open symbol, in their order
  bool fits = false;     ///< otherwise they are those with which most of the model could be built
  bool certain = false;  ///< no other size fits
};

/// Sizes of images that the model was made for: what its metadata says, numbers in its name that a network may take.
[[nodiscard]] std::vector<std::int64_t> image_sizes_of(const onnx::ModelProto& model, const std::string& name);

/// Sizes for `open` symbols of the model; `hints` are the likeliest sizes of images.
[[nodiscard]] Proposal propose_sizes(const onnx::GraphProto& graph, const std::vector<std::string>& open,
                                     const std::vector<std::int64_t>& hints, const Try& attempt);

/// A value for a scalar input that a model may have been made for: a sampling rate, a start, a step, a length.
[[nodiscard]] std::int64_t likely_value(const std::string& name);

}  // namespace benanza::importer
