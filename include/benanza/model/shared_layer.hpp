// SPDX-License-Identifier: Apache-2.0
// SharedLayer: a layer that equal occurrences share. Most layers of a model repeat, and one takes more than a kilobyte.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>

#include <concepts>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace benanza {

/// A layer that never changes: copies refer to one object. Converts from and to `Layer`. Several threads may use copies
/// at the same time.
class SharedLayer {
 public:
  SharedLayer() : SharedLayer(none()) {}
  template <class Op>
  requires(!std::same_as<Op, SharedLayer> && std::constructible_from<Layer, Op>) SharedLayer(Op layer)
      : known_(know(Layer(std::move(layer)))) {}

  operator const Layer&() const& { return known_->layer; }
  operator const Layer&() const&& = delete;  // would dangle
  [[nodiscard]] const Layer& operator*() const& { return known_->layer; }
  [[nodiscard]] const Layer& operator*() const&& = delete;
  [[nodiscard]] const Layer* operator->() const { return &known_->layer; }

  /// The same as `operands`, `cost` and `signature` of the layer, but computed once.
  [[nodiscard]] const Operands& operands() const;
  [[nodiscard]] const Cost& cost() const;
  [[nodiscard]] const LayerSignature& signature() const;

  [[nodiscard]] bool operator==(const SharedLayer& other) const;
  [[nodiscard]] bool operator==(const Layer& other) const;

 private:
  struct Known {
    explicit Known(Layer&& of);
    Layer layer;
    mutable std::once_flag has_operands{}, has_cost{}, has_signature{};
    mutable Operands operands{};
    mutable Cost cost{};
    mutable std::optional<LayerSignature> signature{};
  };
  [[nodiscard]] static std::shared_ptr<const Known> know(Layer&& layer);
  [[nodiscard]] static const SharedLayer& none();

  std::shared_ptr<const Known> known_;
};

// Templates, so that an operator converts to `Layer` alone.
template <std::same_as<SharedLayer> Shared>
[[nodiscard]] const Operands& operands(const Shared& layer) {
  return layer.operands();
}
template <std::same_as<SharedLayer> Shared>
[[nodiscard]] const Cost& cost(const Shared& layer) {
  return layer.cost();
}
template <std::same_as<SharedLayer> Shared>
[[nodiscard]] const LayerSignature& signature(const Shared& layer) {
  return layer.signature();
}
template <std::same_as<SharedLayer> Shared>
void operands(const Shared&& layer) = delete;  // would dangle
template <std::same_as<SharedLayer> Shared>
void cost(const Shared&& layer) = delete;
template <std::same_as<SharedLayer> Shared>
void signature(const Shared&& layer) = delete;

template <std::same_as<SharedLayer> Shared>
[[nodiscard]] Bytes weight_bytes(const Shared& layer) {
  return weight_bytes(layer.operands());
}

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/model/shared_layer_inl.hpp>
#endif
