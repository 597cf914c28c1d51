// SPDX-License-Identifier: Apache-2.0
#include "draft.hpp"

namespace benanza::onednn {
namespace {

void put(std::vector<std::optional<OperandLayout>>& layouts, std::size_t i, OperandLayout layout) {
  if (layouts.size() <= i) layouts.resize(i + 1);
  layouts[i] = std::move(layout);
}

}  // namespace

void Draft::step(dnnl::primitive_desc_base descriptor, std::vector<Use> uses) {
  for (const auto& use : uses)
    if (use.plain) {
      const Desc packed = descriptor.query_md(dnnl::query::exec_arg_md, use.argument);
      put(use.slot.kind == Slot::Kind::input ? inputs : outputs, use.slot.index,
          {.plain = *use.plain, .packed = packed});
    }
  steps.push_back({std::move(descriptor), std::move(uses)});
}

Slot Draft::reserve(std::size_t bytes) {
  const std::size_t offset = workspace_bytes;
  workspace_bytes += (bytes + 63) / 64 * 64;
  return {Slot::Kind::workspace, 0, offset};
}

void Draft::transform(std::size_t i, const Desc& plain, const Desc& packed, Transform transform) {
  put(inputs, i, {.plain = plain, .packed = packed, .transform = std::move(transform)});
}

}  // namespace benanza::onednn
