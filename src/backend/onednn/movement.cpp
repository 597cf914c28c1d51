// SPDX-License-Identifier: Apache-2.0
// Operators that only move or convert elements: reorders between strided views of their operands, and concatenation.
#include "families.hpp"

#include <algorithm>

namespace benanza::onednn {
namespace {

using dnnl::memory;

/// Takes ownership of what the C interface created. The constructor from such a handle would clone it and leak the
/// original.
template <class Descriptor>
[[nodiscard]] Descriptor owned(dnnl_primitive_desc_t raw) {
  Descriptor descriptor;
  descriptor.reset(raw);
  return descriptor;
}

/// A single reorder of one tensor as the whole plan.
void add_reorder(const Desc& from, std::size_t offset, const Desc& to, Candidates& candidates) {
  dnnl_primitive_desc_t raw = nullptr;
  const auto attr = common_attributes();
  if (dnnl_reorder_primitive_desc_create(&raw, from.get(), candidates.engine().get(), to.get(),
                                         candidates.engine().get(), attr.get()) != dnnl_success)
    return;
  for_each_implementation(owned<dnnl::reorder::primitive_desc>(raw),
                          [&](const auto& descriptor, const std::string& implementation) {
                            Draft draft{.algorithm = "reorder:" + implementation};
                            draft.step(descriptor, {{DNNL_ARG_FROM, input(0, offset)}, {DNNL_ARG_TO, output()}});
                            candidates.add(std::move(draft));
                          });
}

}  // namespace

void add_plans(const op::Transpose& op, Candidates& candidates) {
  const Dims from = row_major_strides(dims(op.x));
  Dims strides;
  for (auto axis : op.perm) strides.push_back(from[static_cast<std::size_t>(axis)]);
  const Dims y = dims(op.y());
  const Type type = *element_type(op.type);
  add_reorder(strided(y, strides, type), 0, row_major(y, type), candidates);
}

void add_plans(const op::Slice& op, Candidates& candidates) {
  const Dims from = row_major_strides(dims(op.x));
  Dims strides;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < op.x.size(); ++i) {
    const std::int64_t step = op.steps.empty() ? 1 : op.steps[i];
    if (step < 0 && op.y[i] > 1) return candidates.refuse("oneDNN " + Library::version() + " has no negative strides");
    strides.push_back(from[i] * std::max<std::int64_t>(step, 1));
    first += op.starts[i] * from[i];
  }
  const Dims y = dims(op.y);
  const Type type = *element_type(op.type);
  add_reorder(strided(y, strides, type), static_cast<std::size_t>(first) * memory::data_type_size(type),
              row_major(y, type), candidates);
}

void add_plans(const op::Split& op, Candidates& candidates) {
  std::int64_t total = 0;
  for (auto size : op.sizes) total += size;
  const Dims strides = row_major_strides({op.outer, total, op.inner});
  const Type type = *element_type(op.type);
  Draft draft;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < op.sizes.size(); ++i) {
    const Dims y{op.outer, op.sizes[i], op.inner};
    const Desc from = strided(y, strides, type), to = row_major(y, type);
    dnnl_primitive_desc_t raw = nullptr;
    const auto attr = common_attributes();
    if (dnnl_reorder_primitive_desc_create(&raw, from.get(), candidates.engine().get(), to.get(),
                                           candidates.engine().get(), attr.get()) != dnnl_success)
      return;
    const auto descriptor = owned<dnnl::reorder::primitive_desc>(raw);
    const std::string implementation = descriptor.impl_info_str();
    if (is_reference(implementation)) return;
    if (i == 0) draft.algorithm = "reorders:" + implementation;
    draft.step(descriptor, {{DNNL_ARG_FROM, input(0, offset)}, {DNNL_ARG_TO, output(i)}});
    offset += static_cast<std::size_t>(op.sizes[i] * op.inner) * memory::data_type_size(type);
  }
  candidates.add(std::move(draft));
}

void add_plans(const op::Concat& op, Candidates& candidates) {
  if (op.in_place) return;  // dnnl_concat writes the whole result
  const Dims y{op.outer, op.total(), op.inner};
  const Type type = *element_type(op.type);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto target = in_form(y, form, type);
    if (!target) continue;
    std::vector<Desc> sources;
    for (auto size : op.sizes)
      if (const auto source =
              in_form({op.outer, size, op.inner}, form == Form::channels_last && size == 1 ? Form::plain : form, type))
        sources.push_back(*source);
    if (sources.size() != op.sizes.size()) continue;
    dnnl_primitive_desc_t raw = nullptr;
    std::vector<const_dnnl_memory_desc_t> raw_sources;
    raw_sources.reserve(sources.size());
    for (const auto& source : sources) raw_sources.push_back(source.get());
    const auto attr = common_attributes();
    if (dnnl_concat_primitive_desc_create(&raw, candidates.engine().get(), target->get(),
                                          static_cast<int>(sources.size()), 1, raw_sources.data(),
                                          attr.get()) != dnnl_success)
      continue;
    for_each_implementation(owned<dnnl::concat::primitive_desc>(raw),
                            [&](const auto& descriptor, const std::string& implementation) {
                              std::vector<Use> uses{{DNNL_ARG_DST, output(), row_major(y, type)}};
                              for (std::size_t i = 0; i < sources.size(); ++i)
                                uses.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), input(i),
                                                row_major({op.outer, op.sizes[i], op.inner}, type)});
                              Draft draft{.algorithm = implementation};
                              draft.step(descriptor, std::move(uses));
                              candidates.add(std::move(draft));
                            });
  }
}

void add_plans(const op::Cast& op, Candidates& candidates) {
  const auto from = element_type(op.type), to = element_type(op.to);
  if (!from || !to || !is_float(op.type) || !is_float(op.to))
    return candidates.refuse("oneDNN " + Library::version() + " has no conversion from " + std::string(name(op.type)) +
                             " to " + std::string(name(op.to)) + " as ONNX defines it");
  const Dims x = dims(op.x.empty() ? TensorShape{1} : op.x);
  add_reorder(row_major(x, *from), 0, row_major(x, *to), candidates);
}

}  // namespace benanza::onednn
