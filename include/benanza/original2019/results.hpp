// SPDX-License-Identifier: Apache-2.0
// The data of the original Benanza of 2019: its result databases (Google Benchmark JSON, one row per library call,
// named by kind and arguments) and the tables that it printed (CSV, one row per layer). `read_results` reads them;
// rules.hpp applies them to a model by the original's own accounting. The times are those of single calls between
// two events, so below about ten microseconds they are mostly the cost of a launch: they reproduce what was published,
// and are not lower bounds.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/units.hpp>
#include <benanza/results/results.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::original2019 {

/// The key of a call: its kind as the database spells it (`CONV_FWD`), the element type and every argument that affects
/// its time. Two calls are the same if their keys are equal: no argument matches anything but itself.
class CallKey {
 public:
  CallKey(std::string_view kind, std::string_view type) : text_(std::string(kind) + "/" + std::string(type)) {}
  [[nodiscard]] CallKey& add(std::string_view argument, std::span<const std::int64_t> values) {
    text_ += "/" + std::string(argument) + "=";
    for (std::size_t i = 0; i < values.size(); ++i) text_ += (i == 0 ? "" : "x") + std::to_string(values[i]);
    return *this;
  }
  [[nodiscard]] CallKey& add(std::string_view argument, std::int64_t value) {
    return add(argument, std::span(&value, 1));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Arguments of a convolution's calls, with two spatial dimensions.
struct ConvCall {
  std::vector<std::int64_t> x{};  ///< N C H W
  std::int64_t filters = 0;
  std::vector<std::int64_t> kernel{}, pads{}, strides{}, dilations{};  ///< height, width
  std::int64_t group = 1;
  [[nodiscard]] std::string key(std::string_view kind, std::string_view type) const {
    return CallKey(kind, type)
        .add("x", x)
        .add("filters", filters)
        .add("kernel", kernel)
        .add("pads", pads)
        .add("strides", strides)
        .add("dilations", dilations)
        .add("group", group)
        .text();
  }
};

/// Arguments of pooling.
struct PoolCall {
  std::vector<std::int64_t> x{};                          ///< N C H W
  std::vector<std::int64_t> kernel{}, pads{}, strides{};  ///< height, width
  [[nodiscard]] std::string key(std::string_view type) const {
    return CallKey("POOLING_FWD", type)
        .add("x", x)
        .add("kernel", kernel)
        .add("pads", pads)
        .add("strides", strides)
        .text();
  }
};

/// Arguments of a matrix product. A product with one row or column was measured as a matrix-vector product.
struct GemmCall {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t trans_a = 0, trans_b = 0, alpha = 1, beta = 1;
  [[nodiscard]] std::string key(std::string_view type) const {
    if (m == 1 || n == 1) return vector_key(m == 1 ? n : m, k, trans_b, alpha, beta, type);
    return CallKey("GEMM_FWD", type)
        .add("m", m)
        .add("n", n)
        .add("k", k)
        .add("trans_a", trans_a)
        .add("trans_b", trans_b)
        .add("alpha", alpha)
        .add("beta", beta)
        .text();
  }
  [[nodiscard]] static std::string vector_key(std::int64_t rows, std::int64_t depth, std::int64_t trans,
                                              std::int64_t alpha, std::int64_t beta, std::string_view type) {
    return CallKey("GEMV_FWD", type)
        .add("m", rows)
        .add("k", depth)
        .add("trans", trans)
        .add("alpha", alpha)
        .add("beta", beta)
        .text();
  }
};

/// A call whose only argument is the shape of one tensor.
[[nodiscard]] inline std::string shape_key(std::string_view kind, std::string_view type,
                                           std::span<const std::int64_t> x) {
  return CallKey(kind, type).add("x", x).text();
}

/// One timed way to make a call.
struct Call {
  std::string algorithm{};  ///< in lower case, without the library's prefixes: `implicit_gemm`, `winograd,relu`
  Seconds time{};           ///< whole nanoseconds: the original truncated the rest
};

/// A row of a table that the original printed.
struct PrintedRow {
  std::string model{};      ///< empty: the table is of one model and does not name it
  std::int64_t batch = 0;   ///< 0: the same for the batch size
  std::string layer{};      ///< the ONNX node; ends in `...` if it was cut
  std::string kind{};       ///< Conv, Relu, ElementWise ...
  std::string benchmark{};  ///< kind, hash and algorithm of the call, cut; empty if the table lacks it
  Seconds time{};
  double flops = 0;  ///< theoretical, by its own count; 0: not given
};

struct Results {
  std::vector<std::string> files{};
  std::string device{};                    ///< as the files name the GPU; empty if they do not
  std::vector<BackendVersion> backends{};  ///< cudnn, cublas
  std::set<std::int64_t> batches{};
  std::map<std::string, std::vector<Call>> calls{};  ///< by key; fastest first
  std::map<std::string, std::string> advised{};      ///< by key, the algorithm that cuDNN's heuristic chose
  std::map<std::string, std::string> failed{};       ///< keys for which no algorithm has a time, and why
  std::vector<PrintedRow> printed{};                 ///< rows of tables, in order
  std::optional<Seconds> printed_total{};            ///< the last row of a table of one model
  std::vector<std::string> warnings{};
};

/// Reads databases (`.json`, `.json.gz`) and printed tables (`.csv`, `.csv.gz`), which it distinguishes by content.
/// `device` selects one GPU of a table that holds several. Throws InputError with file and byte or line for a file that
/// is cut off, broken or of neither kind, for two GPUs (which never share a total), and for databases together with
/// tables.
[[nodiscard]] Results read_results(std::span<const std::filesystem::path> files, const std::string& device = {});

/// The GPUs that a file has rows for, in order; empty if it does not say. Throws InputError as above.
[[nodiscard]] std::vector<std::string> devices_in(const std::filesystem::path& file);

}  // namespace benanza::original2019
