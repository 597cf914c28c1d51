// SPDX-License-Identifier: Apache-2.0
// LayerSet: the unique layers over any number of models, and where each occurs.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

/// How often one model has a layer, and the first node that is one.
struct Users {
  std::string model{};
  std::int64_t count = 0;  ///< with repeats of loops
  std::string node{};      ///< the first by order of the file
};

struct UniqueLayer {
  Layer layer{};
  std::vector<Users> users{};  ///< in the order the models were added
  [[nodiscard]] std::int64_t count() const {
    std::int64_t total = 0;
    for (const auto& user : users) total += user.count;
    return total;
  }
};

class LayerSet {
 public:
  void add(const Layer& layer, const std::string& model, const std::string& node, std::int64_t count = 1) {
    auto& entry = layers_[LayerSignature(layer)];
    entry.layer = layer;
    if (entry.users.empty() || entry.users.back().model != model) entry.users.push_back({model, 0, node});
    entry.users.back().count += count;
  }
  /// As if what was added to the other had been added here, behind what is here.
  void merge(LayerSet&& other) {
    while (!other.layers_.empty()) {
      auto node = other.layers_.extract(other.layers_.begin());
      const auto found = layers_.find(node.key());
      if (found == layers_.end()) {
        layers_.insert(std::move(node));
        continue;
      }
      auto& users = found->second.users;
      for (auto& user : node.mapped().users) {
        if (!users.empty() && users.back().model == user.model) users.back().count += user.count;
        else users.push_back(std::move(user));
      }
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
