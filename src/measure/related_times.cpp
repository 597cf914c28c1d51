// SPDX-License-Identifier: Apache-2.0
#include "related_times.hpp"

#include <benanza/model/layer_signature.hpp>

#include <variant>

namespace benanza::bench {

namespace {

Layer without_epilogue(const Layer& layer) {
  return std::visit(
      [](auto op) -> Layer {
        if constexpr (requires { op.post; }) op.post = {};
        return op;
      },
      layer);
}

std::string signature_without_epilogue(const Layer& layer) { return LayerSignature(without_epilogue(layer)).text(); }

}  // namespace

void RelatedTimes::add(const TuningTask& task, const Sampler& sampler) {
  if (epilogue(task.layer) == nullptr) return;
  const std::string signature = signature_without_epilogue(task.layer);
  for (const auto& candidate : task.candidates) {
    const Measurement& row = candidate.row;
    std::optional<Seconds> time;
    if (row.measured()) time = standing(candidate, sampler);
    else if (row.status == RowStatus::slower) time = candidate.first_call;
    if (time && time->value > 0) times_[{signature, row.backend, row.algorithm, row.cache}] = *time;
  }
}

std::optional<Seconds> RelatedTimes::of(const TuningTask& task, const Candidate& candidate) const {
  if (times_.empty() || epilogue(task.layer) == nullptr) return std::nullopt;
  const Measurement& row = candidate.row;
  const auto found = times_.find({signature_without_epilogue(task.layer), row.backend, row.algorithm, row.cache});
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace benanza::bench
