// SPDX-License-Identifier: Apache-2.0
// The wire-level pre-scan: an ONNX file without its weights, so that the cost of reading a model of any size is that of
// its structure.
//
// Every tensor whose numbers Benanza does not use is replaced by a stand-in of one element (two for a triangle), which
// the checker accepts wherever it accepts the tensor: as an initializer, as an attribute, in a subgraph and in a
// function, external or sparse or not. The true dimensions are in the stand-in's doc_string. Nothing else can be there,
// since all documentation is dropped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::importer {

/// The start of a stand-in's doc_string. The dimensions follow, each with a comma after it. If places are requested, a
/// semicolon and the two numbers of a StoredPlace come next, separated by a comma.
inline constexpr std::string_view stand_in_mark = "dims:";
/// Follows the dimensions if the tensor has only two different numbers, one inside a diagonal band and one outside of
/// it. The least and the most column - row come next. The stand-in has both numbers.
inline constexpr std::string_view band_mark = "band:";
/// Follows the dimensions of evenly increasing indices. One ramp comes next, or the ramps of the places along the last
/// axis if these are at most 8, each with its first number and its steps.
inline constexpr std::string_view ramps_mark = "ramps:";
inline constexpr std::int64_t most_ramps = 8;
/// Follows the dimensions of a tensor that is an attribute. A hash of its message comes next, which distinguishes two
/// nodes.
inline constexpr std::string_view hash_mark = "hash:";
/// Follows the dimensions of a sparse tensor. The sizes in bytes of its numbers and of their indices come next, then
/// the number of numbers.
inline constexpr std::string_view sparse_mark = "sparse:";

/// Follows the dimensions of floating-point numbers. The ConstantKind comes next. The stand-in has the first number.
inline constexpr std::string_view kind_mark = "kind:";

/// Follows the dimensions of a large initializer of the main graph that has the same type, dimensions and bytes as an
/// earlier one. The number of the earlier one among the initializers comes next.
inline constexpr std::string_view equal_mark = "equal:";

/// The largest numbers of elements that are kept: integers and booleans may be shapes, floats may be scales of Resize
/// or bounds of Clip. The grid of a GridSample and the boxes of a RoiAlign may have as many numbers as integers, and a
/// Split has a size for each of its results.
inline constexpr std::int64_t kept_integers = 8192;
inline constexpr std::int64_t kept_floats = 64;

/// The serialized model without payloads, documentation, training information, and metadata other than the size of
/// images. With places, an attribute other than the value of a Constant keeps its numbers, however many. Throws
/// InputError on bytes that are not a protobuf message, on negative or overflowing dimensions, on bodies nested too
/// deeply and on external data outside its folder. External data of `model`, the path of the file, is read like data in
/// the file; what cannot be read is dropped.
[[nodiscard]] std::string drop_payloads(std::string_view file, bool with_places = false,
                                        std::optional<std::filesystem::path> model = {});

}  // namespace benanza::importer
