// SPDX-License-Identifier: Apache-2.0
// The wire-level pre-scan: an ONNX file without its weights, so that a model of any size costs its structure.
//
// Every tensor whose numbers Benanza has no use for is replaced by a stand-in of one element (two for a triangle),
// which the checker accepts wherever it accepted the tensor: as an initializer, as an attribute, in a subgraph and in a
// function, external or sparse or not. The true dimensions stand in the stand-in's doc_string, where nothing else can
// be: all documentation is dropped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace benanza::importer {

/// The start of a stand-in's doc_string; the dimensions follow, each with a comma after it. If places are wanted, a
/// semicolon and the two numbers of a StoredPlace come next, with a comma between them.
inline constexpr std::string_view stand_in_mark = "dims:";
/// What follows the dimensions where the tensor's numbers are two, one within a diagonal band and one outside of it:
/// least and most column - row. The stand-in has both numbers.
inline constexpr std::string_view band_mark = "band:";
/// Behind the dimensions of indices that go up evenly: the ramps of the places along the last axis, each with its first
/// number and its steps. They have at most 8.
inline constexpr std::string_view ramps_mark = "ramps:";
inline constexpr std::int64_t most_ramps = 8;
/// Behind the dimensions of a tensor that is an attribute: a hash of its message, which tells two nodes apart.
inline constexpr std::string_view hash_mark = "hash:";
/// Behind the dimensions of a sparse tensor: the bytes of its numbers and of their places, and how many there are.
inline constexpr std::string_view sparse_mark = "sparse:";

/// Elements up to which numbers are kept: integers and booleans may be shapes, floats may be scales of Resize or bounds
/// of Clip. The grid of a GridSample and the boxes of a RoiAlign may have as many numbers as integers.
inline constexpr std::int64_t kept_integers = 8192;
inline constexpr std::int64_t kept_floats = 64;

/// The serialized model without payloads, documentation, training information and metadata other than the size of
/// images that an exporter noted. With places, an attribute other than the value of a Constant keeps its numbers,
/// however many. Throws InputError on bytes that are not a protobuf message, on negative or overflowing dimensions, on
/// bodies nested too deeply and on external data outside the folder.
[[nodiscard]] std::string drop_payloads(std::string_view file, bool with_places = false);

}  // namespace benanza::importer
