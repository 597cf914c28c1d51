// SPDX-License-Identifier: Apache-2.0
// Suite: a name and the layers to measure. It becomes a Google Benchmark translation unit (codegen.hpp), or is run
// directly (bench/run_suite.hpp).
#pragma once

#include <benanza/op/ops.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

class Backend;

/// A table of one operator's layers, as generated code contains them. Converts from an array of any operator.
class LayerTable {
 public:
  template <class Op, std::size_t N>
  LayerTable(const Op (&rows)[N])
      : size_(N),
        at_([](const void* data, std::size_t i) {
          return Layer(std::in_place_type<Op>, static_cast<const Op*>(data)[i]);
        }),
        data_(rows) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Layer operator[](std::size_t i) const { return at_(data_, i); }

 private:
  std::size_t size_;
  Layer (*at_)(const void*, std::size_t);
  const void* data_;
};

struct Suite {
  std::string name{};
  std::vector<LayerTable> tables{};
  std::vector<std::shared_ptr<const Backend>> backends{};
};

}  // namespace benanza
