// SPDX-License-Identifier: Apache-2.0
// A database of 2019: Google Benchmark JSON. A row's name is `LAYER_<library>_<kind>[_<n>]_<type>[__BatchSize_<n>]__
// <hash>[<algorithm, ...>]/<argument>:<value>/.../manual_time`, and each argument is also a counter of the row, unless
// the row failed. real_time is in nanoseconds, whatever time_unit says.
#include "read.hpp"
#include "results/root_object.hpp"
#include <benanza/base/detail/limits.hpp>
#include <benanza/error.hpp>

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace benanza::original2019 {

namespace {

namespace json = simdjson::ondemand;
using Dims = std::vector<std::int64_t>;
using benanza::results::check_ended;
using benanza::results::root_object;

struct BenchmarkName {
  std::string library{}, kind{}, type{}, algorithm{};
  std::map<std::string, std::int64_t, std::less<>> arguments{};
};

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// `implicit_gemm,relu` of `CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_ACTIVATION_RELU`.
std::string algorithm_of(std::string_view text) {
  constexpr std::string_view prefixes[] = {"CUDNN_CONVOLUTION_FWD_ALGO_",
                                           "CUDNN_ACTIVATION_",
                                           "CUDNN_POOLING_",
                                           "CUDNN_BATCHNORM_",
                                           "CUDNN_SOFTMAX_",
                                           "CUDNN_OP_TENSOR_"};
  std::string result;
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    for (const auto prefix : prefixes)
      if (part.starts_with(prefix)) {
        part.remove_prefix(prefix.size());
        break;
      }
    if (!result.empty()) result += ',';
    for (const char c : part) result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

/// The name of a value of cudnnConvolutionFwdAlgo_t, in the form of `algorithm_of`; empty for one that cuDNN 7 lacks.
std::string forward_algorithm(std::int64_t value) {
  constexpr std::string_view names[] = {"implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling",
                                        "winograd",      "winograd_nonfused"};
  return value >= 0 && value < std::ssize(names) ? std::string(names[value]) : "";
}

/// Benanza's name of an element type; a type that Benanza lacks is not changed and matches nothing.
std::string type_of(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"FLOAT32", "f32"}, {"FLOAT", "f32"},  {"FLOAT16", "f16"}, {"HALF", "f16"},
      {"FLOAT64", "f64"}, {"DOUBLE", "f64"}, {"INT8", "i8"},     {"INT32", "i32"}};
  for (const auto& [theirs, ours] : names)
    if (text == theirs) return std::string(ours);
  return std::string(text);
}

/// Empty for a row of another program.
std::optional<BenchmarkName> parse_name(std::string_view name) {
  constexpr std::string_view prefix = "LAYER_";
  if (!name.starts_with(prefix)) return std::nullopt;
  BenchmarkName row;
  const auto slash = name.find('/');
  std::string_view head = name.substr(prefix.size(), slash == std::string_view::npos ? slash : slash - prefix.size());
  if (const auto open = head.find('<'); open != std::string_view::npos) {
    const auto close = head.rfind('>');
    if (close == std::string_view::npos || close < open) return std::nullopt;
    row.algorithm = algorithm_of(head.substr(open + 1, close - open - 1));
    head = head.substr(0, open);
  }
  head = head.substr(0, head.find("__"));
  const auto first = head.find('_'), last = head.rfind('_');
  if (first == std::string_view::npos || last == first) return std::nullopt;
  for (const char c : head.substr(0, first)) row.library += static_cast<char>(c - 'A' + 'a');
  row.type = type_of(head.substr(last + 1));
  std::string_view kind = head.substr(first + 1, last - first - 1);
  if (const auto number = kind.rfind('_'); number != std::string_view::npos && is_digits(kind.substr(number + 1)))
    kind = kind.substr(0, number);  // number of the copy of the code into which it was compiled
  row.kind = kind;
  while (slash != std::string_view::npos && name.find('/') != std::string_view::npos) {
    name.remove_prefix(name.find('/') + 1);
    const std::string_view part = name.substr(0, name.find('/'));
    const auto colon = part.rfind(':');
    if (colon == std::string_view::npos) continue;
    if (const auto value = whole(part.substr(colon + 1))) row.arguments.emplace(part.substr(0, colon), *value);
  }
  return row;
}

/// The arguments of one row; throws InputError for an argument that the row lacks.
class BenchmarkArguments {
 public:
  explicit BenchmarkArguments(const std::map<std::string, std::int64_t, std::less<>>& values) : values_(&values) {}
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const {
    const auto found = values_->find(name);
    return found == values_->end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::int64_t operator[](std::string_view name) const {
    if (const auto value = find(name)) return *value;
    throw InputError("has no argument '" + std::string(name) + "'");
  }
  [[nodiscard]] Dims pair(std::string_view name) const {
    return {(*this)[std::string(name) + "_height"], (*this)[std::string(name) + "_width"]};
  }
  /// `input[0]`, `input[1]` ... up to the first that is -1 (or absent).
  [[nodiscard]] Dims list(std::string_view name, std::size_t most = 8) const {
    Dims dims;
    for (std::size_t i = 0; i < most; ++i) {
      const auto value = find(std::string(name) + "[" + std::to_string(i) + "]");
      if (!value || *value < 0) break;
      dims.push_back(*value);
    }
    if (dims.empty()) throw InputError("has no argument '" + std::string(name) + "[0]'");
    return dims;
  }

 private:
  const std::map<std::string, std::int64_t, std::less<>>* values_;
};

/// The tensor to which the bias is added: from the descriptor of the call if the row has it, otherwise the row's input,
/// which must have as many channels as the bias.
Dims biased(const BenchmarkArguments& arguments) {
  Dims dims;
  for (int i = 0; i < 4; ++i)
    if (const auto size = arguments.find("c_desc_" + std::to_string(i))) dims.push_back(*size);
  if (dims.size() != 4) dims = arguments.list("input", 4);
  const auto bias = arguments.find("bias[1]");
  if (dims.size() != 4 || (bias && *bias != dims[1])) throw InputError("adds a bias to a tensor that does not fit it");
  return dims;
}

/// Empty for a kind that does not occur in a forward pass.
std::optional<std::string> key_of(const BenchmarkName& row, const BenchmarkArguments& arguments) {
  if (row.kind == "CONV_FWD" || row.kind == "CONV_BIAS_ACTIVATION_FWD")
    return ConvCall{.x = arguments.list("input", 4),
                    .filters = arguments["filter_count"],
                    .kernel = arguments.pair("filter"),
                    .pads = arguments.pair("pad"),
                    .strides = arguments.pair("stride"),
                    .dilations = arguments.pair("dilation"),
                    .group = arguments.find("group").value_or(1)}
        .key(row.kind, row.type);
  if (row.kind == "POOLING_FWD")
    return PoolCall{.x = arguments.list("input", 4),
                    .kernel = arguments.pair("filter"),
                    .pads = arguments.pair("pad"),
                    .strides = arguments.pair("stride")}
        .key(row.type);
  if (row.kind == "GEMV_FWD")
    return GemmCall::vector_key(arguments["input[0]"], arguments["input[1]"], arguments["input[2]"],
                                arguments["input[3]"], arguments["input[4]"], row.type);
  if (row.kind == "GEMM_FWD")
    return GemmCall{.m = arguments["input[0]"],
                    .n = arguments["input[1]"],
                    .k = arguments["input[2]"],
                    .trans_a = arguments["input[3]"],
                    .trans_b = arguments["input[4]"],
                    .alpha = arguments["input[5]"],
                    .beta = arguments["input[6]"]}
        .key(row.type);
  if (row.kind == "ADD_TENSOR") return shape_key(row.kind, row.type, biased(arguments));
  const bool of_shape = row.kind == "ACTIVATION_FWD" || row.kind == "BATCHNORM_FWD_INFERENCE" ||
                        row.kind == "SOFTMAX_FWD" || row.kind == "DROPOUT_FWD" ||
                        (row.kind.starts_with("OP_TENSOR_") && row.kind.ends_with("_FWD"));
  if (of_shape) return shape_key(row.kind, row.type, arguments.list("input"));
  return std::nullopt;
}

class Reader {
 public:
  Reader(const std::string& file, const std::string& text, Results& results)
      : file_(&file), text_(&text), results_(&results) {}

  void read() {
    static_assert(text_padding >= simdjson::SIMDJSON_PADDING);
    json::parser parser;
    std::optional<json::document> document;
    try {
      document = parser.iterate(text_->data(), text_->size(), text_->size() + text_padding);
      read_document(*document);
    } catch (const simdjson::simdjson_error& error) {
      throw InputError(*file_ + ": byte " + std::to_string(document ? offset(*document) : text_->size()) + row_text() +
                       ": " + error.what() + " Expected a whole Google Benchmark JSON file");
    } catch (const InputError& error) {
      throw InputError(*file_ + row_text() + ": " + error.what());
    }
    if (known_ == 0)
      throw InputError(*file_ + ": none of its " + std::to_string(row_) +
                       " rows is a layer's, expected names like LAYER_CUDNN_CONV_FWD_FLOAT32__...");
  }

 private:
  void read_document(json::document& document) {
    bool rows = false;
    for (auto field : root_object(document, *text_)) {
      if (std::string_view(field.unescaped_key()) != "benchmarks") continue;
      for (auto element : field.value().get_array()) {
        ++row_;
        read_row(element.get_object());
      }
      rows = true;
    }
    check_ended(document, *text_);
    if (!rows) throw InputError("no 'benchmarks', expected a Google Benchmark JSON file");
  }

  void read_row(json::object object) {
    std::string name, error = "failed";
    double time = 0;
    bool failed = false, aggregate = false;
    counters_.clear();
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      json::value value = field.value();
      if (key == "name") name = std::string_view(value);
      else if (key == "error_message") error = std::string_view(value);
      else if (key == "error_occurred") failed = bool(value);
      else if (key == "run_type") aggregate = std::string_view(value) == "aggregate";
      else if (key == "real_time") time = number(value);
      else read_counter(key, value);
    }
    if (aggregate) return;
    auto row = parse_name(name);
    if (!row) return;
    ++known_;
    for (const auto& [key, value] : counters_)
      if (const auto [known, added] = row->arguments.emplace(key, value); !added && known->second != value)
        throw InputError("'" + name + "': argument '" + key + "' is " + std::to_string(value) + " as a counter, " +
                         std::to_string(known->second) + " in the name");
    std::optional<std::string> key;
    try {
      key = key_of(*row, BenchmarkArguments(row->arguments));
    } catch (const InputError& why) {
      results_->warnings.push_back(*file_ + row_text() + " is left out: '" + name + "' " + why.what());
    }
    if (!key) return;
    if (const auto batch = row->arguments.find("batch_size"); batch != row->arguments.end())
      results_->batches.insert(batch->second);
    const auto advice = row->arguments.find("advised_convolution_algorithm");
    if (advice != row->arguments.end() && row->kind == "CONV_FWD")
      results_->advised[*key] = forward_algorithm(advice->second);
    if (failed || !benanza::detail::is_possible(nanoseconds(time))) {
      results_->failed.emplace(*key, failed ? error : "no time was recorded");
      return;
    }
    results_->calls[*key].push_back({row->algorithm, nanoseconds(std::floor(time))});
  }

  void read_counter(std::string_view key, json::value& value) {
    const auto colon = key.find(':');  // information in a counter's name: `gpu_name:Tesla V100-SXM2-16GB`
    if (colon != std::string_view::npos) {
      const std::string_view what = key.substr(0, colon), is = key.substr(colon + 1);
      if (what == "gpu_name") settle_device(*results_, std::string(is), "row " + std::to_string(row_));
      else if (what == "cudnn_version") set_version("cudnn", is);
      else if (what == "cublas_version") set_version("cublas", is);
      return;
    }
    if (value.type() != json::json_type::number) return;
    const double found = number(value);
    if (std::floor(found) == found && std::abs(found) < 9e15)
      counters_.emplace_back(key, static_cast<std::int64_t>(found));
  }

  void set_version(std::string_view name, std::string_view version) {
    for (auto& backend : results_->backends) {
      if (backend.name != name) continue;
      if (backend.version == version) return;
      throw InputError("of " + std::string(name) + " " + std::string(version) + ", but what came before is of " +
                       backend.version + ": two versions never share a total");
    }
    results_->backends.push_back({std::string(name), std::string(version)});
  }

  /// NaN for a bare NaN or Infinity, which Google Benchmark writes.
  static double number(json::value& value) {
    const std::string_view text = value.raw_json_token();
    const bool digits = !text.empty() && ((text[0] >= '0' && text[0] <= '9') ||
                                          (text.size() > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9'));
    return digits ? double(value) : std::nan("");
  }

  std::size_t offset(json::document& document) const {
    const char* at = nullptr;
    if (document.current_location().get(at) != simdjson::SUCCESS) return text_->size();
    return static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(at - text_->data(), 0, static_cast<std::ptrdiff_t>(text_->size())));
  }
  [[nodiscard]] std::string row_text() const { return row_ == 0 ? "" : ": row " + std::to_string(row_); }

  const std::string* file_;
  const std::string* text_;
  Results* results_;
  std::vector<std::pair<std::string, std::int64_t>> counters_{};
  std::size_t row_ = 0, known_ = 0;
};

}  // namespace

void add_database(const std::string& file, const std::string& text, Results& results) {
  Reader(file, text, results).read();
}

}  // namespace benanza::original2019
