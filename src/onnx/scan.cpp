// SPDX-License-Identifier: Apache-2.0
#include "scan.hpp"

#include "banded.hpp"
#include "constant_kind.hpp"
#include "equal_tensors.hpp"
#include "graph_fields.hpp"
#include "proto.hpp"
#include "tensor_facts.hpp"
#include "tensor_fields.hpp"
#include "wire.hpp"
#include <benanza/error.hpp>
#include <benanza/model/data_type.hpp>
#include <benanza/model/ramp.hpp>
#include <benanza/model/tensor_shape.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace benanza::importer {
namespace {

constexpr std::uint64_t attribute_type_tensor = 4;

// Protobuf itself parses up to 100 nested messages; a body takes three (graph, node, attribute).
constexpr int deepest_scanned = 24;

class Scanner {
 public:
  Scanner(std::string_view file, bool with_places, std::optional<std::filesystem::path> model)
      : file_(file), with_places_(with_places), tensors_(file.data(), std::move(model)) {}

  [[nodiscard]] std::string model() const {
    std::string out;
    bool has_graph = false;
    for (auto fields = read(file_); auto field = fields.next();) {
      switch (field->number) {
        case model::ir_version:
        case model::producer_name:
        case model::opset_import: out += field->whole; break;
        case model::graph:
          has_graph = true;
          write_bytes(out, field->number, graph(bytes(*field), 0));
          break;
        case model::functions: write_bytes(out, field->number, function(bytes(*field))); break;
        case model::metadata_props:
          if (says_image_size(bytes(*field))) out += field->whole;
          break;
        default: break;
      }
    }
    if (!has_graph) throw InputError("not an ONNX model: no graph found in " + std::to_string(file_.size()) + " bytes");
    return out;
  }

 private:
  /// Whether this is the metadata in which a detector's exporter gives the size of its images.
  [[nodiscard]] bool says_image_size(std::string_view message) const {
    for (auto fields = read(message); auto field = fields.next();)
      if (field->number == entry::key) return bytes(*field) == "imgsz";
    return false;
  }

  [[nodiscard]] WireReader read(std::string_view message) const { return {message, file_.data()}; }

  [[nodiscard]] std::string_view bytes(const WireField& field) const { return bytes_of(field, file_.data()); }

  [[nodiscard]] std::string graph(std::string_view message, int depth) const {
    if (depth > deepest_scanned)
      throw InputError("bodies are nested more than " + std::to_string(deepest_scanned) + " deep");
    std::string out;
    out.reserve(std::min<std::size_t>(message.size(), 1 << 16));
    const Needed needed = needed_in(message);
    std::size_t initializers = 0;
    for (auto fields = read(message); auto field = fields.next();) {
      switch (field->number) {
        case graph::node: append_node(out, *field, depth, needed); break;
        case graph::initializer: {
          const TensorFacts found = tensors_.facts_and_numbers(bytes(*field));
          const std::string equal = depth == 0 && !with_places_ ? equal_text(found, initializers) : "";
          write_bytes(out, field->number, tensor(bytes(*field), found, false, count_of(needed, found.name), equal));
          ++initializers;
          break;
        }
        case graph::sparse_initializer:
          write_bytes(out, graph::initializer, sparse_tensor(bytes(*field)));
          ++initializers;
          break;
        case graph::name:
        case graph::input:
        case graph::output:
        case graph::value_info: out += field->whole; break;
        default: break;
      }
    }
    return out;
  }

  /// Tensors of which more numbers are kept than of others, and how many.
  using Needed = std::map<std::string_view, std::int64_t>;
  static std::int64_t count_of(const Needed& needed, std::string_view name) {
    const auto found = needed.find(name);
    return found == needed.end() ? 0 : found->second;
  }

  /// Grids and boxes, which determine the positions of an image that are read, and the sizes of a Split, as many as it
  /// has results.
  [[nodiscard]] Needed needed_in(std::string_view graph) const {
    Needed needed;
    for (auto fields = read(graph); auto field = fields.next();) {
      if (field->number != graph::node) continue;
      std::string_view type, second;
      std::int64_t inputs = 0, outputs = 0;
      for (auto parts = read(bytes(*field)); auto part = parts.next();)
        if (part->number == node::op_type) type = bytes(*part);
        else if (part->number == node::input && ++inputs == 2) second = bytes(*part);
        else if (part->number == node::output) ++outputs;
      const bool reads_places = type == "GridSample" || type == "RoiAlign";
      if ((reads_places || type == "Split") && inputs > 1)
        needed[second] = std::max(count_of(needed, second), reads_places ? kept_integers : outputs);
    }
    return needed;
  }

  [[nodiscard]] std::string function(std::string_view message) const {
    std::string out;
    for (auto fields = read(message); auto field = fields.next();) {
      switch (field->number) {
        case function::node: append_node(out, *field, 0, {}); break;
        case function::attribute_proto: write_bytes(out, field->number, attribute(bytes(*field), 0)); break;
        case function::doc_string:
        case function::metadata_props: break;
        default: out += field->whole;
      }
    }
    return out;
  }

  void append_node(std::string& out, const WireField& field, int depth, const Needed& needed) const {
    if (stays(bytes(field))) out += field.whole;
    else write_bytes(out, field.number, node(bytes(field), depth, needed));
  }
  /// Whether nothing in a node is dropped or replaced.
  [[nodiscard]] bool stays(std::string_view node_message) const {
    constexpr std::array changed{attribute::t,
                                 attribute::g,
                                 attribute::tensors,
                                 attribute::graphs,
                                 attribute::doc_string,
                                 attribute::sparse_tensor,
                                 attribute::sparse_tensors};
    for (auto fields = read(node_message); auto field = fields.next();) {
      if (field->number == node::doc_string || field->number == node::metadata_props ||
          field->number == node::device_configurations)
        return false;
      if (field->number != node::attribute) continue;
      for (auto parts = read(bytes(*field)); auto part = parts.next();)
        if (std::find(changed.begin(), changed.end(), part->number) != changed.end()) return false;
    }
    return true;
  }

  [[nodiscard]] std::string node(std::string_view message, int depth, const Needed& needed) const {
    std::string out;
    std::int64_t count = 0;
    for (auto fields = read(message); auto field = fields.next();)
      if (field->number == node::output) count = std::max(count, count_of(needed, bytes(*field)));
    for (auto fields = read(message); auto field = fields.next();) {
      switch (field->number) {
        case node::attribute: write_bytes(out, field->number, attribute(bytes(*field), depth, count)); break;
        case node::doc_string:
        case node::metadata_props:
        case node::device_configurations: break;
        default: out += field->whole;
      }
    }
    return out;
  }

  [[nodiscard]] std::string attribute(std::string_view message, int depth, std::int64_t count = 0) const {
    std::string out;
    bool sparse = false, of_constant = false;  // the value of a Constant, which has a name and a position in the file
    for (auto fields = read(message); auto field = fields.next();) {
      sparse |= field->number == attribute::sparse_tensor;
      of_constant |= field->number == attribute::name && bytes(*field) == "value";
    }
    for (auto fields = read(message); auto field = fields.next();) {
      switch (field->number) {
        case attribute::t:
        case attribute::tensors:
          write_bytes(out, field->number,
                      tensor(bytes(*field), tensors_.facts_and_numbers(bytes(*field)), !of_constant, count));
          break;
        case attribute::g:
        case attribute::graphs: write_bytes(out, field->number, graph(bytes(*field), depth + 1)); break;
        // A sparse Constant becomes a dense one: `sparse_value` is used in the same way as `value`.
        case attribute::sparse_tensor: write_bytes(out, attribute::t, sparse_tensor(bytes(*field))); break;
        case attribute::name:
          if (sparse && bytes(*field) == "sparse_value") write_bytes(out, field->number, "value");
          else out += field->whole;
          break;
        case attribute::type:
          if (sparse) write_number(out, field->number, attribute_type_tensor);
          else out += field->whole;
          break;
        case attribute::sparse_tensors:
        case attribute::doc_string: break;
        default: out += field->whole;
      }
    }
    return out;
  }

  /// Whether the numbers of a tensor are kept. `bytes` is the size of the message; a tensor with more elements than
  /// that is incomplete. `count`: how many are needed.
  static bool wanted(const TensorFacts& facts, std::int64_t elements, std::size_t bytes, bool keeps_all,
                     std::int64_t count) {
    const auto type = facts.known_type();
    if (!type || (facts.external && facts.numbers.empty() && elements > 0)) return false;
    const auto most = [&](std::int64_t kept) {
      return std::max({kept, count, keeps_all ? static_cast<std::int64_t>(bytes) : 0});
    };
    switch (*type) {
      case DataType::i64:
      case DataType::i32:
      case DataType::boolean:
        if (elements > most(kept_integers)) return false;
        break;
      case DataType::f32:
      case DataType::f64:
      case DataType::f16:
      case DataType::bf16:
      case DataType::i8:
      case DataType::u8:
      case DataType::i16:
      case DataType::u16:
      case DataType::u32:
      case DataType::u64:
        if (elements > most(kept_floats)) return false;
        break;
      default: return false;
    }
    if (facts.external) return true;
    if (elements == 0) return facts.raw_bytes == 0 && facts.other_bytes == 0;
    if (facts.raw_bytes == 0 && facts.other_bytes == 0) return false;
    const auto needed = static_cast<std::size_t>(checked_product(elements, bits(*type)) / 8);
    if (facts.other_bytes == 0 && facts.raw_bytes != needed)
      throw InputError("tensor '" + std::string(facts.name) + "': " + std::to_string(facts.raw_bytes) +
                       " bytes of data, expected " + std::to_string(needed));
    // A varint takes at most 10 bytes, and each may have its own tag.
    if (facts.other_bytes > 16 + 12 * static_cast<std::size_t>(elements))
      throw InputError("tensor '" + std::string(facts.name) + "': more data than its " + std::to_string(elements) +
                       " elements take");
    return true;
  }

  /// The stand-in for the tensor of this message. `message` is empty if the position of the numbers is not known.
  [[nodiscard]] std::string stand_in(const TensorFacts& facts, std::string_view message, std::string_view more = {},
                                     bool of_node = false) const {
    std::string out, mark(stand_in_mark);
    for (const auto dim : facts.dims) mark += std::to_string(dim) + ",";
    const auto type = facts.known_type();
    if (with_places_ && !message.empty())
      mark += ";" + std::to_string(message.data() - file_.data()) + "," + std::to_string(message.size());
    const std::string kind = type ? kind_text(*type, facts) : std::string();
    mark += kind;
    mark += more;
    if (!with_places_ && of_node)
      mark += std::string(hash_mark) + std::to_string(std::hash<std::string_view>()(message)) + ",";
    if (!with_places_ && !facts.numbers.empty()) {
      const std::string ramps = ramps_text(*type, facts);
      mark += ramps;
      if (ramps.empty())
        if (const auto band = find_band(*type, facts.dims, facts.numbers)) return banded(facts, *band, mark);
    }
    write_number(out, tensor::dims, 1);
    write_number(out, tensor::data_type, facts.type);
    if (!facts.name.empty()) write_bytes(out, tensor::name, facts.name);
    if (type == DataType::string) write_bytes(out, tensor::string_data, "");
    else {
      const auto each = static_cast<std::size_t>(type ? (bits(*type) + 7) / 8 : 1);
      write_bytes(out, tensor::raw_data,
                  kind.empty() ? std::string(each, '\0') : std::string(facts.numbers.substr(0, each)));
    }
    write_bytes(out, tensor::doc_string, mark);
    return out;
  }

  /// The mark of the kind of floating-point numbers. Empty if nothing is known about them.
  static std::string kind_text(DataType type, const TensorFacts& facts) {
    const bool read = type == DataType::f32 || type == DataType::f64 || type == DataType::f16 || type == DataType::bf16;
    if (!read || facts.numbers.empty()) return {};
    const ConstantKind kind = constant_kind(
        facts.dims, [&](std::int64_t at) { return raw_number(facts.numbers, type, static_cast<std::size_t>(at)); });
    if (kind == ConstantKind::numbers) return {};
    return std::string(kind_mark) + std::to_string(static_cast<int>(kind)) + ",";
  }

  /// The mark of evenly increasing indices. Empty if they are not.
  static std::string ramps_text(DataType type, const TensorFacts& facts) {
    const auto each = static_cast<std::size_t>(bits(type) / 8);
    if ((type != DataType::i64 && type != DataType::i32) || facts.dims.empty() || facts.numbers.empty()) return {};
    const auto number = [&facts, each](std::int64_t at) {
      std::int64_t wide = 0;
      std::int32_t narrow = 0;
      void* const to = each == sizeof wide ? static_cast<void*>(&wide) : &narrow;
      std::memcpy(to, facts.numbers.data() + static_cast<std::size_t>(at) * each, each);
      return each == sizeof wide ? wide : narrow;
    };
    std::vector<Ramp> ramps;
    if (facts.dims.size() > 1 && facts.dims.back() <= most_ramps) ramps = find_ramps(facts.dims, number);
    else if (auto ramp = find_ramp(facts.dims, number)) ramps.push_back(std::move(*ramp));
    std::string text(ramps.empty() ? std::string_view{} : ramps_mark);
    for (const Ramp& ramp : ramps) {
      text += std::to_string(ramp.first) + ",";
      for (const auto step : ramp.steps) text += std::to_string(step) + ",";
    }
    return text;
  }

  /// A stand-in with the number inside the band, which is the first element, and the number outside.
  static std::string banded(const TensorFacts& facts, const FoundBand& found, std::string mark) {
    const Band& band = found.band;
    const auto columns = static_cast<std::size_t>(facts.dims.back()),
               each = facts.numbers.size() / static_cast<std::size_t>(element_count(facts.dims)),
               outside = static_cast<std::size_t>(band.most < facts.dims.back() ? band.most + 1 : 1 - band.least) *
                         (band.most < facts.dims.back() ? 1 : columns);
    mark += std::string(band_mark) + std::to_string(band.least) + "," + std::to_string(band.most) + "," +
            (found.differ ? "1," : "0,");
    std::string out;
    write_number(out, tensor::dims, 2);
    write_number(out, tensor::data_type, facts.type);
    if (!facts.name.empty()) write_bytes(out, tensor::name, facts.name);
    write_bytes(out, tensor::raw_data,
                std::string(facts.numbers.substr(0, each)) +
                    (found.differ ? std::string(each, '\0') : std::string(facts.numbers.substr(outside * each, each))));
    write_bytes(out, tensor::doc_string, mark);
    return out;
  }

  /// The mark of an initializer that is equal to an earlier one. Empty if it is not.
  [[nodiscard]] std::string equal_text(const TensorFacts& facts, std::size_t number) const {
    if (facts.converted || facts.numbers.size() < EqualTensors::least_bytes) return {};
    std::string kind = std::to_string(facts.type);
    for (const auto dim : facts.dims) kind += "," + std::to_string(dim);
    const auto found = equal_.find_or_add(number, kind + ";", facts.numbers);
    return found ? std::string(equal_mark) + std::to_string(*found) + "," : std::string();
  }

  /// `of_node`: an attribute of a node. An executor needs its numbers, and their position in the file is not recorded.
  [[nodiscard]] std::string tensor(std::string_view message, const TensorFacts& found, bool of_node, std::int64_t count,
                                   std::string_view more = {}) const {
    if (!wanted(found, TensorReader::checked_elements(found), message.size(), of_node && with_places_, count))
      return stand_in(found, message, more, of_node);
    std::string out;
    if (found.external) {
      for (const auto dim : found.dims) write_number(out, tensor::dims, static_cast<std::uint64_t>(dim));
      write_number(out, tensor::data_type, found.type);
      write_bytes(out, tensor::name, found.name);
      write_bytes(out, tensor::raw_data, found.numbers);
      return out;
    }
    for (auto fields = read(message); auto field = fields.next();)
      if (field->number < tensor::doc_string) out += field->whole;
    return out;
  }

  [[nodiscard]] std::string sparse_tensor(std::string_view message) const {
    TensorFacts found, indices;
    std::vector<std::int64_t> dims;
    for (auto fields = read(message); auto field = fields.next();) {
      if (field->number == sparse::values) found = tensors_.facts(bytes(*field));
      if (field->number == sparse::indices) indices = tensors_.facts(bytes(*field));
      if (field->number == sparse::dims) tensors_.append_dims(dims, *field);
    }
    const std::int64_t numbers = TensorReader::checked_elements(found),
                       places = TensorReader::checked_elements(indices);
    const auto type = found.known_type();
    const std::int64_t stored = type ? (checked_product(numbers, bits(*type)) + 7) / 8 : 0;
    found.dims = dims;
    (void)TensorReader::checked_elements(found);
    return stand_in(found, {},
                    std::string(sparse_mark) + std::to_string(stored) + "," +
                        std::to_string(checked_product(places, 8)) + "," + std::to_string(numbers) + ",");
  }

  std::string_view file_;
  bool with_places_;
  TensorReader tensors_;
  mutable EqualTensors equal_{};
};

}  // namespace

std::string drop_payloads(std::string_view file, bool with_places, std::optional<std::filesystem::path> model) {
  if (file.empty()) throw InputError("the file is empty, expected an ONNX model");
  return Scanner(file, with_places, std::move(model)).model();
}

}  // namespace benanza::importer
