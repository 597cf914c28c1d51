// SPDX-License-Identifier: Apache-2.0
// Element-wise functions, and chains of them through the binary primitive, the only one whose kernels take any
// epilogue.
#include "families.hpp"
#include "post_ops.hpp"

namespace benanza::onednn {
namespace {

constexpr std::size_t most_post_ops = 32;  // oneDNN's own limit

/// y = fn(a, b) and an epilogue; `uses` lists a, b and y, with a before the others. The primitive may write y over a.
void add_binary(dnnl::algorithm algorithm, const Desc& a, const Desc& b, const Desc& y, const PostOps& post,
                std::vector<Use> uses, const std::vector<float>& held, bool scaled, Candidates& candidates) {
  std::vector<std::size_t> overwritable;
  if (a == y && uses.front().slot.kind == Slot::Kind::input) overwritable.push_back(uses.front().slot.index);
  auto attributes = post.attributes();
  for (int argument : {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1})
    if (scaled) attributes.set_scales_mask(argument, 0);
  dnnl::binary::primitive_desc first(candidates.engine(), algorithm, a, b, y, attributes, true);
  uses.insert(uses.end(), post.uses.begin(), post.uses.end());
  for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
    if (!settled(descriptor, post)) return;
    Draft draft{
        .algorithm = "binary:" + implementation, .tolerance = candidates.tolerance(), .overwritable = overwritable};
    std::vector<Use> all = uses;
    if (!held.empty()) static_cast<void>(draft.hold(held));  // slot 0
    for (int argument : {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1})
      if (scaled)
        all.push_back(
            {DNNL_ARG_ATTR_SCALES | argument, draft.hold(std::vector<float>{1.0F}), std::nullopt, row_major({1})});
    draft.step(descriptor, std::move(all));
    candidates.add(std::move(draft));
  });
}

ElementwiseFn exchanged(ElementwiseFn fn) {
  using enum ElementwiseFn;
  switch (fn) {
    case greater: return less;
    case less: return greater;
    case greater_or_equal: return less_or_equal;
    case less_or_equal: return greater_or_equal;
    default: return fn;
  }
}

/// Predicates return bytes.
Desc result_desc(const Desc& result, bool predicate) {
  return predicate ? strided(result.get_dims(), result.get_strides(), Type::u8) : result;
}

}  // namespace

void add_plans(const op::Unary& op, Candidates& candidates) {
  const Dims x = dims(op.x.empty() ? TensorShape{1} : op.x);
  const Type type = *element_type(op.type);
  const Desc plain = row_major(x, type);
  const auto function = eltwise(op.fn, op.alpha, op.beta);
  const auto name = std::string(enum_names(op.fn)[static_cast<std::size_t>(op.fn)]);
  using enum ElementwiseFn;
  if (is_8_bit(op.type) && (op.fn == abs || op.fn == neg || op.fn == square))
    return candidates.refuse("oneDNN " + Library::version() + " has no " + name + " of integers that wraps around");
  if (op.post.empty() && function) {
    dnnl::eltwise_forward::primitive_desc first(candidates.engine(), dnnl::prop_kind::forward_inference,
                                                function->algorithm, plain, plain, function->alpha, function->beta,
                                                common_attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance(), .overwritable = {0}};
      draft.step(descriptor, {{DNNL_ARG_SRC, input(0)}, {DNNL_ARG_DST, output()}});
      candidates.add(std::move(draft));
    });
    return;
  }
  // x * 1, followed by the chain: one pass.
  PostOps before;
  before.type = type;
  if (!before.append(op.fn, op.alpha, op.beta))
    return candidates.refuse("oneDNN " + Library::version() + " has no " + name);
  auto made = make_post_ops(op.post, 0, epilogue_dims(op.post, op.x, 0), 1, x, Form::plain, std::move(before));
  if (const auto* refused = std::get_if<Unsupported>(&made)) return candidates.refuse(refused->reason);
  add_binary(dnnl::algorithm::binary_mul, plain, row_major(Dims(x.size(), 1)), plain, std::get<PostOps>(made),
             {{DNNL_ARG_SRC_0, input(0)}, {DNNL_ARG_SRC_1, {Slot::Kind::held, 0, 0}}, {DNNL_ARG_DST, output()}}, {1.0F},
             false, candidates);
}

void add_plans(const op::Binary& op, Candidates& candidates) {
  using enum ElementwiseFn;
  const TensorShape shape = op.y().empty() ? TensorShape{1} : op.y();
  Dims y = dims(shape), a = op.a.empty() ? Dims{1} : dims(op.a), b = op.b.empty() ? Dims{1} : dims(op.b);
  if (is_predicate(op.fn) && y.size() == 1)  // their kernels require two dimensions
    for (Dims* shape_of : {&y, &a, &b}) shape_of->insert(shape_of->begin(), 1);
  const std::string name(enum_names(op.fn)[static_cast<std::size_t>(op.fn)]);
  const std::string none = "oneDNN " + Library::version() + " has no ";
  const Type type = *element_type(op.type);
  if (is_8_bit(op.type) && !op.scaled) return candidates.refuse(none + name + " of integers that wraps around");
  if (is_predicate(op.fn) && !op.post.empty()) return candidates.refuse(none + "epilogue of a predicate");

  if (op.fn == prelu) {
    if (!op.post.empty()) return candidates.refuse(none + "epilogue of prelu");
    dnnl::prelu_forward::primitive_desc first(candidates.engine(), dnnl::prop_kind::forward_inference,
                                              row_major(a, type), row_major(b, type), row_major(y, type),
                                              common_attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance()};
      draft.step(descriptor,
                 {{DNNL_ARG_SRC, input(0)}, {DNNL_ARG_WEIGHTS, input(op.same ? 0 : 1)}, {DNNL_ARG_DST, output()}});
      candidates.add(std::move(draft));
    });
    return;
  }

  auto algorithm = binary(op.fn);
  if (!algorithm) return candidates.refuse(none + name + " of two tensors");
  // The second operand is the one that broadcasts. If exchanged, a - b = -(b - a) and a / b = 1 / (b / a).
  const bool exchange = a != y;
  if (exchange && b != y) return candidates.refuse(none + "binary primitive that broadcasts both operands");
  PostOps before;
  before.type = type;
  if (exchange) {
    algorithm = binary(exchanged(op.fn));
    if (op.fn == sub) before.append(neg, 0, 0);
    if (op.fn == ElementwiseFn::div) before.append(reciprocal, 0, 0);
  }
  const std::size_t base = op.same ? 1 : 2;
  const Slot slot_a = input(0), slot_b = input(op.same ? 0 : 1);
  const auto operands = epilogue_dims(op.post, shape, 0);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto full = in_form(y, form, type);
    if (!full || (form != Form::plain && (op.same || a == b)))
      continue;  // with equal shapes every layout is one flat array
    const Desc result = result_desc(*full, is_predicate(op.fn));
    const Dims& other = exchange ? a : b;
    auto made = make_post_ops(op.post, 0, operands, base, y, form, before);
    if (const auto* refused = std::get_if<Unsupported>(&made)) return candidates.refuse(refused->reason);
    const Use whole{DNNL_ARG_SRC_0, exchange ? slot_b : slot_a, row_major(y, type)};
    add_binary(*algorithm, *full, other == y ? *full : broadcast_to(form, other, type), result, std::get<PostOps>(made),
               {whole,
                {DNNL_ARG_SRC_1, exchange ? slot_a : slot_b, row_major(other, type)},
                {DNNL_ARG_DST, output(), result_desc(row_major(y, type), is_predicate(op.fn))}},
               {}, op.scaled, candidates);
  }
}

void add_plans(const op::Nary& op, Candidates& candidates) {
  const Dims x = dims(op.x.empty() ? TensorShape{1} : op.x);
  if (is_8_bit(op.type)) return;
  const Type type = *element_type(op.type);
  const Desc plain = row_major(x, type);
  const auto count = static_cast<std::size_t>(op.count);
  if (op.fn == ElementwiseFn::add) {
    const float scale = op.mean ? 1.0F / static_cast<float>(op.count) : 1.0F;
    dnnl::sum::primitive_desc first(candidates.engine(), plain, std::vector<float>(count, scale),
                                    std::vector<Desc>(count, plain), common_attributes());
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = "sum:" + implementation, .tolerance = candidates.tolerance()};
      std::vector<Use> uses{{DNNL_ARG_DST, output()}};
      for (std::size_t i = 0; i < count; ++i) uses.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), input(i)});
      draft.step(descriptor, std::move(uses));
      candidates.add(std::move(draft));
    });
  }
  const auto algorithm = binary(op.fn);
  if (!algorithm || count < 2 || count > most_post_ops) return;
  PostOps post;
  post.type = type;
  for (std::size_t i = 2; i < count; ++i) post.append(op.fn, false, input(i), x, x, Form::plain);
  if (op.mean) post.ops.append_eltwise(dnnl::algorithm::eltwise_linear, 1.0F / static_cast<float>(op.count), 0);
  add_binary(*algorithm, plain, plain, plain, post,
             {{DNNL_ARG_SRC_0, input(0)}, {DNNL_ARG_SRC_1, input(1)}, {DNNL_ARG_DST, output()}}, {}, false, candidates);
}

}  // namespace benanza::onednn
