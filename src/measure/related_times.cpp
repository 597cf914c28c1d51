// SPDX-License-Identifier: Apache-2.0
#include "related_times.hpp"

#include <benanza/model/layer_signature.hpp>

#include <variant>

namespace benanza::measure {

namespace {

Layer without_epilogue(const Layer& layer) {
  return std::visit(
      [](auto op) -> Layer {
        if constexpr (requires { op.post; }) op.post = {};
        return op;
      },
      layer);
}

}  // namespace

std::string RelatedTimes::shared_signature(const Layer& layer) {
  return epilogue(layer) == nullptr ? std::string() : LayerSignature(without_epilogue(layer)).text();
}

void RelatedTimes::add(const TuningTask& task, const sampling::Sampler& sampler) {
  const std::string signature = shared_signature(task.layer);
  if (signature.empty()) return;
  for (const auto& candidate : task.candidates) {
    const Measurement& row = candidate.row;
    std::optional<Seconds> time;
    if (row.measured()) time = standing(candidate, sampler);
    else if (row.status == RowStatus::slower) time = candidate.first_call;
    if (time && time->value > 0) times_[{signature, row.backend, row.algorithm, row.cache}] = *time;
  }
}

std::optional<Seconds> RelatedTimes::of(const std::string& shared_signature, const Measurement& row) const {
  const auto found = times_.find({shared_signature, row.backend, row.algorithm, row.cache});
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace benanza::measure
