// SPDX-License-Identifier: Apache-2.0
#include "draft.hpp"

namespace benanza::onednn {
namespace {

void put(std::vector<std::optional<OperandLayout>>& layouts, std::size_t i, OperandLayout layout) {
  if (layouts.size() <= i) layouts.resize(i + 1);
  layouts[i] = std::move(layout);
}

/// A copy that is unaffected when the original advances to the next implementation: copies of oneDNN's class share one
/// object.
dnnl::primitive_desc_base cloned(const dnnl::primitive_desc_base& descriptor) {
  dnnl_primitive_desc_t copy = nullptr;
  dnnl::error::wrap_c_api(dnnl_primitive_desc_clone(&copy, descriptor.get()), "cannot clone a primitive descriptor");
  dnnl::primitive_desc_base result;
  result.reset(copy);
  return result;
}

}  // namespace

void Draft::step(const dnnl::primitive_desc_base& descriptor, std::vector<Use> uses) {
  for (const auto& use : uses)
    if (use.plain) {
      const Desc packed = descriptor.query_md(dnnl::query::exec_arg_md, use.argument);
      put(use.slot.kind == Slot::Kind::input ? inputs : outputs, use.slot.index,
          {.plain = *use.plain, .packed = packed});
    }
  steps.push_back({cloned(descriptor), std::move(uses)});  // built later
}

Slot Draft::reserve(std::size_t bytes) {
  const std::size_t offset = workspace_bytes;
  workspace_bytes += (bytes + 63) / 64 * 64;
  return {Slot::Kind::workspace, 0, offset};
}

void Draft::sum_into(std::size_t i) {
  sums_into = i;
  algorithm += ",sum=in_place";
  if (!outputs.empty() && outputs[0]) put(inputs, i, *outputs[0]);
}

void Draft::transform(std::size_t i, const Desc& plain, const Desc& packed, Transform transform) {
  put(inputs, i, {.plain = plain, .packed = packed, .transform = std::move(transform)});
}

}  // namespace benanza::onednn
