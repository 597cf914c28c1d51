// SPDX-License-Identifier: Apache-2.0
// LayoutChanges: the fastest plan that brings a tensor from one form into another, of all that backends have. Each is
// timed once, when it is first asked for.
#pragma once

#include "arrangement.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace benanza::execution {

struct LayoutChange {
  std::shared_ptr<const Plan> plan{};
  std::string backend{};
  bool uses_openmp = false;
  Seconds alone{};  ///< repeated by itself, everything in the caches
};

class LayoutChanges {
 public:
  /// `device`: the one that backends work on; null: the processor.
  LayoutChanges(std::vector<std::shared_ptr<const Backend>> backends, int threads, Device* device = nullptr)
      : backends_(std::move(backends)), threads_(threads), device_(device) {}

  /// The change of `elements` elements. Null where one of the forms has no order, or no backend copies from one to the
  /// other.
  [[nodiscard]] const LayoutChange* find(DataType type, std::int64_t elements, const Arrangement& from,
                                         const Arrangement& to);

 private:
  [[nodiscard]] std::optional<LayoutChange> fastest(DataType type, std::int64_t elements, const Arrangement& from,
                                                    const Arrangement& to) const;

  std::vector<std::shared_ptr<const Backend>> backends_;
  int threads_;
  Device* device_;
  std::map<std::string, std::optional<LayoutChange>> known_{};
};

}  // namespace benanza::execution
