// SPDX-License-Identifier: Apache-2.0
// LayerPool: lets equal layers share one object.
#pragma once

#include <benanza/model/shared_layer.hpp>

#include <cstddef>
#include <unordered_map>

namespace benanza::detail {

/// Lets equal layers share one object. It holds one copy of each; the layers that it returns may outlive it.
class LayerPool {
 public:
  /// The layer that is equal to this one, if there was one before.
  [[nodiscard]] SharedLayer shared(const SharedLayer& layer) { return find_or_add(layer); }
  [[nodiscard]] SharedLayer shared(const Layer& layer) { return find_or_add(layer); }

 private:
  [[nodiscard]] const SharedLayer& find_or_add(const auto& layer) {
    const std::size_t hash = hash_of(layer);
    const auto [first, last] = layers_.equal_range(hash);
    for (auto each = first; each != last; ++each)
      if (each->second == layer) return each->second;
    return layers_.emplace(hash, layer)->second;
  }
  [[nodiscard]] static std::size_t hash_of(const Layer& layer);
  std::unordered_multimap<std::size_t, SharedLayer> layers_{};
};

}  // namespace benanza::detail

#ifndef BENANZA_COMPILED
#include <benanza/impl/model/detail/layer_pool_inl.hpp>
#endif
