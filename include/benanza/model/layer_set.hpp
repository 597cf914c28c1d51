// SPDX-License-Identifier: Apache-2.0
// LayerSet: the unique layers over any number of models, and where each occurs.
#pragma once

#include <benanza/base/detail/saturated.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/shared_layer.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

/// How often one model has a layer, and the first node with this layer. Counts include repeats of loops.
struct Users {
  std::string model{};
  std::int64_t count = 0;  ///< layers of the single form
  std::string node{};      ///< the first in the order of the file
  std::int64_t fused = 0;  ///< layers of the fused form: whole groups, and layers that are in no group
  std::int64_t parts = 0;  ///< groups of the fused form that have it as a part that is one call too

  Users& operator+=(const Users& other) {
    detail::add_saturated(count, other.count);
    detail::add_saturated(fused, other.fused);
    detail::add_saturated(parts, other.parts);
    return *this;
  }
};

struct UniqueLayer {
  SharedLayer layer{};
  std::vector<Users> users{};  ///< in the order in which the models were added
  void add(const Users& user) {
    if (users.empty() || users.back().model != user.model) users.push_back(user);
    else users.back() += user;
  }
  /// Layers of the single form.
  [[nodiscard]] std::int64_t count() const {
    std::int64_t total = 0;
    for (const auto& user : users) detail::add_saturated(total, user.count);
    return total;
  }
};

class LayerSet {
 public:
  UniqueLayer& add(const SharedLayer& layer, const Users& user) {
    UniqueLayer& one = layers_.try_emplace(layer.signature(), UniqueLayer{.layer = layer}).first->second;
    one.add(user);
    return one;
  }
  void add(const SharedLayer& layer, const std::string& model, const std::string& node, std::int64_t count = 1) {
    add(layer, {.model = model, .count = count, .node = node});
  }
  /// Equivalent to adding the layers of the other set here, after the present ones.
  void merge(LayerSet&& other) {
    while (!other.layers_.empty()) {
      auto node = other.layers_.extract(other.layers_.begin());
      const auto found = layers_.find(node.key());
      if (found == layers_.end()) {
        layers_.insert(std::move(node));
        continue;
      }
      for (const auto& user : node.mapped().users) found->second.add(user);
    }
  }
  /// Ordered by signature: operators in list order, sizes in natural order.
  [[nodiscard]] const std::map<LayerSignature, UniqueLayer>& layers() const& { return layers_; }
  void layers() const&& = delete;  // would dangle in a range-for
  [[nodiscard]] std::size_t size() const { return layers_.size(); }

 private:
  std::map<LayerSignature, UniqueLayer> layers_;
};

}  // namespace benanza
