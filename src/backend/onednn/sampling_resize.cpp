// SPDX-License-Identifier: Apache-2.0
// Resize by the resampling primitive, if oneDNN's coordinates (half_pixel, nearest rounded to even or away from 0)
// match the layer's.
#include "families.hpp"
#include "post_ops.hpp"

#include <cmath>

namespace benanza::onednn {
namespace {

/// ONNX Resize: the coordinate in x of element `o` along an axis, from the sizes alone.
double original(const op::Resize& op, std::int64_t in, std::int64_t out, std::int64_t o) {
  const double scale = static_cast<double>(out) / static_cast<double>(in), at = static_cast<double>(o);
  switch (op.coordinates) {
    using enum op::ResizeCoordinates;
    case align_corners: return out == 1 ? 0 : at * static_cast<double>(in - 1) / static_cast<double>(out - 1);
    case tf_crop_and_resize:  // the region is the whole tensor
      return out == 1 ? static_cast<double>(in - 1) / 2
                      : at * static_cast<double>(in - 1) / static_cast<double>(out - 1);
    case asymmetric: return at / scale;
    case pytorch_half_pixel: return out == 1 ? 0 : (at + 0.5) / scale - 0.5;
    case half_pixel:
    case half_pixel_symmetric: break;  // identical with scale = out / in
  }
  return (at + 0.5) / scale - 0.5;
}

double rounded(op::ResizeRounding rounding, double at) {
  switch (rounding) {
    using enum op::ResizeRounding;
    case round_prefer_floor: return std::ceil(at - 0.5);
    case round_prefer_ceil: return std::floor(at + 0.5);
    case floor: return std::floor(at);
    case ceil: return std::ceil(at);
  }
  return at;
}

bool agrees(const op::Resize& op, std::int64_t in, std::int64_t out) {
  const auto last = static_cast<double>(in - 1);
  for (std::int64_t o = 0; o < out; ++o) {
    const double ours = original(op, in, out, o);
    const double theirs = (static_cast<double>(o) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5;
    const auto inside = [&](double at) { return std::min(std::max(at, 0.0), last); };
    if (op.mode == op::ResizeMode::nearest) {
      // oneDNN may round a tie inside the tensor either way.
      const bool tie = std::abs(theirs - std::floor(theirs) - 0.5) < 1e-4 && theirs > 0 && theirs < last;
      if (tie || inside(rounded(op.rounding, ours)) != inside(std::round(theirs))) return false;
    } else if (std::abs(inside(ours) - inside(theirs)) > 1e-6) {
      return false;
    }
  }
  return true;
}

/// What oneDNN lacks for this resampling; empty if nothing.
std::string lacks(const op::Resize& op) {
  if (op.mode == op::ResizeMode::cubic) return "cubic resampling";
  if (op.antialias) return "antialiased resampling";
  if (op.x.size() < 3 || op.x.size() > 5 || op.x[0] != op.y[0] || op.x[1] != op.y[1])
    return "resampling of other than one to three spatial dimensions";
  constexpr std::int64_t longest = std::int64_t{1} << 24;  // each position is compared
  for (std::size_t i = 2; i < op.x.size(); ++i)
    if (op.y[i] > longest || !agrees(op, op.x[i], op.y[i])) return "resampling with these coordinates";
  return "";
}

dnnl::algorithm algorithm_of(op::ResizeMode mode) {
  return mode == op::ResizeMode::nearest ? dnnl::algorithm::resampling_nearest : dnnl::algorithm::resampling_linear;
}

/// Ways to run the epilogue: with a separate result, and with the first sum in place if there is one.
std::variant<std::vector<PostOps>, Unsupported> ways_of(const op::Resize& op, Form form, const Operands& layer) {
  std::vector<PostOps> ways;
  for (const Operands* const in_place : {static_cast<const Operands*>(nullptr), &layer}) {
    PostOps none;
    none.type = *element_type(op.type);
    none.in_place = in_place;
    auto made = make_post_ops(op.post, 0, epilogue_dims(op.post, op.y, 1), 1, dims(op.y), form, std::move(none));
    if (auto* refused = std::get_if<Unsupported>(&made)) return std::move(*refused);
    auto& way = std::get<PostOps>(made);
    if (in_place == nullptr || way.sums_into) ways.push_back(std::move(way));
  }
  return ways;
}

}  // namespace

void add_plans(const op::Resize& op, Candidates& candidates) {
  if (const auto reason = lacks(op); !reason.empty())
    return candidates.refuse("oneDNN " + Library::version() + " has no " + reason);
  const Dims x = dims(op.x), y = dims(op.y);
  const Type type = *element_type(op.type);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto source = in_form(x, form, type), target = in_form(y, form, type);
    if (!source || !target) continue;
    const auto made = ways_of(op, form, candidates.operands());
    if (const auto* refused = std::get_if<Unsupported>(&made)) return candidates.refuse(refused->reason);
    for (const PostOps& post : std::get<std::vector<PostOps>>(made)) {
      dnnl::resampling_forward::primitive_desc first(candidates.engine(), dnnl::prop_kind::forward_inference,
                                                     algorithm_of(op.mode), *source, *target, post.attributes(), true);
      for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
        // oneDNN 3.2's simple kernel reads the tensors of an epilogue as if they were row-major.
        if (form != Form::plain && !post.uses.empty() && implementation.starts_with("simple")) return;
        std::vector<Use> uses{{DNNL_ARG_SRC, input(0), row_major(x, type)},
                              {DNNL_ARG_DST, output(), row_major(y, type)}};
        uses.insert(uses.end(), post.uses.begin(), post.uses.end());
        Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance()};
        draft.step(descriptor, std::move(uses));
        if (post.sums_into) draft.sum_into(*post.sums_into);
        candidates.add(std::move(draft));
      });
    }
  }
}

void add_plans(const op::ResizeGradient& op, Candidates& candidates) {
  const op::Resize resize{.type = op.type,
                          .x = op.x,
                          .y = op.y,
                          .mode = op.mode,
                          .coordinates = op.coordinates,
                          .rounding = op.rounding,
                          .antialias = op.antialias};
  if (const auto reason = lacks(resize); !reason.empty())
    return candidates.refuse("oneDNN " + Library::version() + " has no gradient of " + reason);
  const Dims x = dims(op.x), y = dims(op.y);
  const Type type = *element_type(op.type);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto source = in_form(x, form, type), target = in_form(y, form, type);
    if (!source || !target) continue;
    const dnnl::resampling_forward::primitive_desc forward(candidates.engine(), dnnl::prop_kind::forward_training,
                                                           algorithm_of(op.mode), *source, *target, common_attributes(),
                                                           true);
    if (!forward) continue;
    dnnl::resampling_backward::primitive_desc first(candidates.engine(), algorithm_of(op.mode), *source, *target,
                                                    forward, common_attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance()};
      draft.step(descriptor, {{DNNL_ARG_DIFF_DST, input(0), row_major(y, type)},
                              {DNNL_ARG_DIFF_SRC, output(), row_major(x, type)}});
      candidates.add(std::move(draft));
    });
  }
}

}  // namespace benanza::onednn
