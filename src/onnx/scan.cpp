// SPDX-License-Identifier: Apache-2.0
#include "scan.hpp"

#include "banded.hpp"
#include "constant_kind.hpp"
#include "equal_tensors.hpp"
#include "external_data.hpp"
#include "graph_fields.hpp"
#include "proto.hpp"
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
constexpr std::size_t highest_scanned_rank = 64;

/// The wire format's description of a tensor.
struct TensorFacts {
  std::string_view name{};
  std::vector<std::int64_t> dims{};
  std::uint64_t type = 0;
  std::string_view raw{};  ///< the last of its fields
  std::size_t raw_bytes = 0, other_bytes = 0;
  bool external = false;
};

class Scanner {
 public:
  Scanner(std::string_view file, bool with_places, std::optional<std::filesystem::path> model)
      : file_(file), with_places_(with_places), equal_(std::move(model)) {}

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

  [[nodiscard]] std::string_view bytes(const WireField& field) const {
    if (field.kind != WireField::Kind::bytes)
      throw InputError("not a readable ONNX file: at byte " + std::to_string(field.whole.data() - file_.data()) +
                       " found a number where a message is expected");
    return field.bytes;
  }

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
          const TensorFacts found = facts(bytes(*field));
          const std::string equal = depth == 0 && !with_places_ ? equal_text(found, bytes(*field), initializers) : "";
          write_bytes(out, field->number, tensor(bytes(*field), false, count_of(needed, found.name), equal));
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
        case attribute::tensors: write_bytes(out, field->number, tensor(bytes(*field), !of_constant, count)); break;
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

  void append_dims(std::vector<std::int64_t>& dims, const WireField& field) const {
    if (field.kind == WireField::Kind::bytes)
      for (WireReader packed = read(field.bytes); !packed.done();)
        dims.push_back(static_cast<std::int64_t>(packed.varint())), check_rank(dims);
    else dims.push_back(static_cast<std::int64_t>(field.value)), check_rank(dims);
  }

  static void check_rank(const std::vector<std::int64_t>& dims) {
    if (dims.size() > highest_scanned_rank)
      throw InputError("a tensor of rank above " + std::to_string(highest_scanned_rank));
  }

  [[nodiscard]] TensorFacts facts(std::string_view message) const {
    TensorFacts facts;
    bool external = false;
    for (auto fields = read(message); auto field = fields.next();) {
      switch (field->number) {
        case tensor::dims: append_dims(facts.dims, *field); break;
        case tensor::data_type: facts.type = field->value; break;
        case tensor::name: facts.name = bytes(*field); break;
        case tensor::raw_data:
          facts.raw = bytes(*field);
          facts.raw_bytes += facts.raw.size();
          break;
        case tensor::float_data:
        case tensor::int32_data:
        case tensor::string_data:
        case tensor::int64_data:
        case tensor::double_data:
        case tensor::uint64_data: facts.other_bytes += field->whole.size(); break;
        case tensor::external_data:
        case tensor::data_location: external = true; break;
        default: break;
      }
    }
    if (external) facts.external = is_external(message, facts.name);
    return facts;
  }

  // The file is never opened here, but an engine that runs the model would open it.
  [[nodiscard]] bool is_external(std::string_view tensor, std::string_view name) const {
    try {
      return external_data(tensor, file_.data()).has_value();
    } catch (const InputError& error) {
      throw InputError("tensor '" + std::string(name) + "': " + error.what());
    }
  }

  static std::int64_t checked_elements(const TensorFacts& facts) {
    for (const auto dim : facts.dims)
      if (dim < 0)
        throw InputError("tensor '" + std::string(facts.name) + "': dimension " + std::to_string(dim) +
                         ", expected 0 or more");
    try {
      return element_count(facts.dims);
    } catch (const InputError&) {
      throw InputError("tensor '" + std::string(facts.name) + "': its element count overflows 64 bits");
    }
  }

  /// Whether the numbers of a tensor are kept. `bytes` is the size of the message; a tensor with more elements than
  /// that is incomplete. `count`: how many are needed.
  static bool wanted(const TensorFacts& facts, std::int64_t elements, std::size_t bytes, bool keeps_all,
                     std::int64_t count) {
    const auto type = data_type_from_onnx(facts.type < 64 ? static_cast<int>(facts.type) : 0);
    if (!type || facts.external) return false;
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
    const auto type = data_type_from_onnx(facts.type < 64 ? static_cast<int>(facts.type) : 0);
    if (with_places_ && !message.empty())
      mark += ";" + std::to_string(message.data() - file_.data()) + "," + std::to_string(message.size());
    const std::string kind =
        type && !facts.external && facts.raw.size() == facts.raw_bytes ? kind_text(*type, facts) : std::string();
    mark += kind;
    mark += more;
    if (!with_places_ && of_node)
      mark += std::string(hash_mark) + std::to_string(std::hash<std::string_view>()(message)) + ",";
    if (!with_places_ && type && !facts.external && facts.raw.size() == facts.raw_bytes) {
      const std::string ramps = ramps_text(*type, facts);
      mark += ramps;
      if (ramps.empty())
        if (const auto band = find_band(*type, facts.dims, facts.raw)) return banded(facts, *band, mark);
    }
    write_number(out, tensor::dims, 1);
    write_number(out, tensor::data_type, facts.type);
    if (!facts.name.empty()) write_bytes(out, tensor::name, facts.name);
    if (type == DataType::string) write_bytes(out, tensor::string_data, "");
    else {
      const auto each = static_cast<std::size_t>(type ? (bits(*type) + 7) / 8 : 1);
      write_bytes(out, tensor::raw_data,
                  kind.empty() ? std::string(each, '\0') : std::string(facts.raw.substr(0, each)));
    }
    write_bytes(out, tensor::doc_string, mark);
    return out;
  }

  /// The mark of the kind of floating-point numbers. Empty if nothing is known about them.
  static std::string kind_text(DataType type, const TensorFacts& facts) {
    const bool read = type == DataType::f32 || type == DataType::f64 || type == DataType::f16 || type == DataType::bf16;
    const auto each = static_cast<std::size_t>(bits(type) / 8);
    if (!read || facts.raw.size() % each != 0 ||
        facts.raw.size() / each != static_cast<std::size_t>(element_count(facts.dims)))
      return {};
    const ConstantKind kind = constant_kind(
        facts.dims, [&](std::int64_t at) { return raw_number(facts.raw, type, static_cast<std::size_t>(at)); });
    if (kind == ConstantKind::numbers) return {};
    return std::string(kind_mark) + std::to_string(static_cast<int>(kind)) + ",";
  }

  /// The mark of evenly increasing indices. Empty if they are not.
  static std::string ramps_text(DataType type, const TensorFacts& facts) {
    const auto each = static_cast<std::size_t>(bits(type) / 8);
    if ((type != DataType::i64 && type != DataType::i32) || facts.dims.empty() || facts.raw.size() % each != 0 ||
        facts.raw.size() / each != static_cast<std::size_t>(element_count(facts.dims)))
      return {};
    const auto number = [&facts, each](std::int64_t at) {
      std::int64_t wide = 0;
      std::int32_t narrow = 0;
      void* const to = each == sizeof wide ? static_cast<void*>(&wide) : &narrow;
      std::memcpy(to, facts.raw.data() + static_cast<std::size_t>(at) * each, each);
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
               each = facts.raw.size() / static_cast<std::size_t>(element_count(facts.dims)),
               outside = static_cast<std::size_t>(band.most < facts.dims.back() ? band.most + 1 : 1 - band.least) *
                         (band.most < facts.dims.back() ? 1 : columns);
    mark += std::string(band_mark) + std::to_string(band.least) + "," + std::to_string(band.most) + "," +
            (found.differ ? "1," : "0,");
    std::string out;
    write_number(out, tensor::dims, 2);
    write_number(out, tensor::data_type, facts.type);
    if (!facts.name.empty()) write_bytes(out, tensor::name, facts.name);
    write_bytes(out, tensor::raw_data,
                std::string(facts.raw.substr(0, each)) +
                    (found.differ ? std::string(each, '\0') : std::string(facts.raw.substr(outside * each, each))));
    write_bytes(out, tensor::doc_string, mark);
    return out;
  }

  /// The mark of an initializer that is equal to an earlier one. Empty if it is not.
  [[nodiscard]] std::string equal_text(const TensorFacts& facts, std::string_view message, std::size_t number) const {
    const auto type = data_type_from_onnx(facts.type < 64 ? static_cast<int>(facts.type) : 0);
    if (!type || *type == DataType::string) return {};
    std::string_view numbers = facts.raw.size() == facts.raw_bytes ? facts.raw : std::string_view{};
    if (facts.external) {
      const auto size = static_cast<std::size_t>(checked_product(checked_elements(facts), bits(*type)) / 8);
      numbers = size < EqualTensors::least_bytes ? std::string_view{}
                                                 : equal_.external(*external_data(message, file_.data()), size);
    }
    if (numbers.size() < EqualTensors::least_bytes) return {};
    std::string kind = std::to_string(facts.type);
    for (const auto dim : facts.dims) kind += "," + std::to_string(dim);
    const auto found = equal_.find_or_add(number, kind + ";", numbers);
    return found ? std::string(equal_mark) + std::to_string(*found) + "," : std::string();
  }

  /// `of_node`: an attribute of a node. An executor needs its numbers, and their position in the file is not recorded.
  [[nodiscard]] std::string tensor(std::string_view message, bool of_node, std::int64_t count,
                                   std::string_view more = {}) const {
    const TensorFacts found = facts(message);
    if (!wanted(found, checked_elements(found), message.size(), of_node && with_places_, count))
      return stand_in(found, message, more, of_node);
    std::string out;
    for (auto fields = read(message); auto field = fields.next();)
      if (field->number < tensor::doc_string) out += field->whole;
    return out;
  }

  [[nodiscard]] std::string sparse_tensor(std::string_view message) const {
    TensorFacts found, indices;
    std::vector<std::int64_t> dims;
    for (auto fields = read(message); auto field = fields.next();) {
      if (field->number == sparse::values) found = facts(bytes(*field));
      if (field->number == sparse::indices) indices = facts(bytes(*field));
      if (field->number == sparse::dims) append_dims(dims, *field);
    }
    const std::int64_t numbers = checked_elements(found), places = checked_elements(indices);
    const auto type = data_type_from_onnx(found.type < 64 ? static_cast<int>(found.type) : 0);
    const std::int64_t stored = type ? (checked_product(numbers, bits(*type)) + 7) / 8 : 0;
    found.dims = dims;
    (void)checked_elements(found);
    return stand_in(found, {},
                    std::string(sparse_mark) + std::to_string(stored) + "," +
                        std::to_string(checked_product(places, 8)) + "," + std::to_string(numbers) + ",");
  }

  std::string_view file_;
  bool with_places_;
  mutable EqualTensors equal_;
};

}  // namespace

std::string drop_payloads(std::string_view file, bool with_places, std::optional<std::filesystem::path> model) {
  if (file.empty()) throw InputError("the file is empty, expected an ONNX model");
  return Scanner(file, with_places, std::move(model)).model();
}

}  // namespace benanza::importer
