// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

namespace benanza::onednn {

void add_reduction(dnnl::algorithm algorithm, float p, const Dims& x, const Dims& y, const PostOps& post, Type type,
                   Candidates& candidates) {
  if (x == y) return;  // oneDNN refuses a reduction over no dimension
  dnnl::reduction::primitive_desc first(candidates.engine(), algorithm, row_major(x, type), row_major(y, type), p, 0,
                                        post.attributes(), true);
  for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
    Draft draft{.algorithm = "reduction:" + implementation, .tolerance = candidates.tolerance()};
    draft.step(descriptor, {{DNNL_ARG_SRC, input(0)}, {DNNL_ARG_DST, output()}});
    candidates.add(std::move(draft));
  });
}

void add_plans(const op::Reduce& op, Candidates& candidates) {
  using Algorithm = dnnl::algorithm;
  Dims x = dims(op.x), y = x;
  for (auto axis : op.axes) y[static_cast<std::size_t>(axis)] = 1;
  // Adjacent dimensions that are all reduced or all kept are merged.
  for (std::size_t i = 0; i + 1 < x.size();) {
    const bool alike = (y[i] == x[i]) == (y[i + 1] == x[i + 1]) || x[i] == 1 || x[i + 1] == 1;
    if (!alike) {
      ++i;
      continue;
    }
    x[i + 1] *= x[i];
    y[i + 1] *= y[i];
    x.erase(x.begin() + static_cast<std::ptrdiff_t>(i));
    y.erase(y.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const auto add = [&](Algorithm algorithm, float p = 0, const PostOps& post = {}) {
    add_reduction(algorithm, p, x, y, post, *element_type(op.type), candidates);
  };
  switch (op.fn) {
    using enum op::ReduceFn;
    case mean: return add(Algorithm::reduction_mean);
    case sum: return add(Algorithm::reduction_sum);
    case max:
    case min:
      if (is_float(op.type)) return candidates.refuse("oneDNN returns a finite maximum or minimum of infinities");
      return add(op.fn == max ? Algorithm::reduction_max : Algorithm::reduction_min);
    case prod: return add(Algorithm::reduction_mul);
    case l1: return add(Algorithm::reduction_norm_lp_sum, 1);
    case l2: return add(Algorithm::reduction_norm_lp_sum, 2);
    case sum_square: return add(Algorithm::reduction_norm_lp_power_p_sum, 2);
    case log_sum: {
      PostOps logarithm;
      logarithm.append(ElementwiseFn::log, 0, 0);
      return add(Algorithm::reduction_sum, 0, logarithm);
    }
    case log_sum_exp:
    case arg_max:
    case arg_min:
      return candidates.refuse("oneDNN " + Library::version() + " has no reduction " +
                               std::string(enum_names(op.fn)[static_cast<std::size_t>(op.fn)]));
  }
}

}  // namespace benanza::onednn
