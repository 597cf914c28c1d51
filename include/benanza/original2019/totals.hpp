// SPDX-License-Identifier: Apache-2.0
// Totals of whole models that the original Benanza of 2019 printed, without the layers that they sum up.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/units.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::original2019 {

/// One printed total.
struct Total {
  std::string device{}, model{};
  std::int64_t batch = 1;
  std::string source{};   ///< what was printed together: `totals`, `variants`, `variants of cudnn 7.6.4.38`
  bool parallel = false;  ///< along the critical path; otherwise the sum
  bool fused = false;
  bool advised = false;  ///< with the algorithms that cuDNN advises; otherwise with the best ones
  bool nhwc = false, padded = false;
  DataType type = DataType::f32;
  Seconds time{};
  std::int64_t missing = 0;  ///< layers for which it has no row
};

/// Parses a variant's name, as the original's folders are called: `serial_fused_nhwc_latency_float16`,
/// `resnet50_latency`, `7.6.4.38/latency_float16`, `cudnn_advised_serial_latency`. Throws InputError for another name.
[[nodiscard]] Total parse_variant(std::string_view name);

/// Whether the first line of a file is the header of a table of totals.
[[nodiscard]] bool has_totals(std::string_view head);

/// Reads a table of totals by model (`gpu,batch,model,serial_total_published,...`) or by variant of ResNet50-v1
/// (`variant,gpu,b1,b2,...`), with columns in any order. Cells and columns of totals may be missing. Throws InputError
/// with file and line.
[[nodiscard]] std::vector<Total> read_totals(const std::string& file);

}  // namespace benanza::original2019
