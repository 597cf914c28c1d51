// SPDX-License-Identifier: Apache-2.0
// What SharedLayer computes once, and the comparison of layers.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/shared_layer.hpp>

#include <memory>
#include <mutex>
#include <utility>

namespace benanza {

BENANZA_INLINE SharedLayer::Known::Known(Layer&& of) : layer(std::move(of)) {}

BENANZA_INLINE std::shared_ptr<const SharedLayer::Known> SharedLayer::know(Layer&& layer) {
  return std::make_shared<const Known>(std::move(layer));
}

BENANZA_INLINE const SharedLayer& SharedLayer::none() {
  static const SharedLayer layer{Layer{}};
  return layer;
}

BENANZA_INLINE const Operands& SharedLayer::operands() const {
  std::call_once(known_->has_operands, [this] { known_->operands = benanza::operands(known_->layer); });
  return known_->operands;
}

BENANZA_INLINE const Cost& SharedLayer::cost() const {
  std::call_once(known_->has_cost, [this] { known_->cost = benanza::cost(known_->layer); });
  return known_->cost;
}

BENANZA_INLINE const LayerSignature& SharedLayer::signature() const {
  std::call_once(known_->has_signature, [this] { known_->signature.emplace(known_->layer); });
  return *known_->signature;
}

BENANZA_INLINE bool SharedLayer::operator==(const SharedLayer& other) const {
  return known_ == other.known_ || known_->layer == other.known_->layer;
}

BENANZA_INLINE bool SharedLayer::operator==(const Layer& other) const { return known_->layer == other; }

}  // namespace benanza
