// SPDX-License-Identifier: Apache-2.0
#include "graphs.hpp"

#include "rivals.hpp"
#include <benanza/bench/beat.hpp>

#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <unordered_map>

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // what cudnn-frontend calls cuDNN through; set before the first graph
}

namespace benanza::cudnn {

namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Numbers = std::vector<std::int64_t>;

struct GraphType {
  fe::DataType_t stored = fe::DataType_t::FLOAT;
  bool strict = true;  ///< f32 that must not be rounded before it is multiplied
  double tolerance = 1e-4;
};

std::optional<GraphType> graph_type(DataType type) {
  const auto how = arithmetic(type);
  const std::string_view text = name(type);
  if (text == "f32" || text == "tf32") return GraphType{.strict = text == "f32", .tolerance = how->tolerance};
  if (text == "f16") return GraphType{fe::DataType_t::HALF, false, how->tolerance};
  if (text == "bf16") return GraphType{fe::DataType_t::BFLOAT16, false, how->tolerance};
  return std::nullopt;
}

Numbers numbers(const TensorShape& shape) { return {shape.begin(), shape.end()}; }

std::optional<fe::PointwiseMode_t> mode_of(ElementwiseFn fn) {
  switch (fn) {
    case ElementwiseFn::add: return fe::PointwiseMode_t::ADD;
    case ElementwiseFn::sub: return fe::PointwiseMode_t::SUB;
    case ElementwiseFn::mul: return fe::PointwiseMode_t::MUL;
    case ElementwiseFn::div: return fe::PointwiseMode_t::DIV;
    case ElementwiseFn::max: return fe::PointwiseMode_t::MAX;
    case ElementwiseFn::min: return fe::PointwiseMode_t::MIN;
    case ElementwiseFn::pow: return fe::PointwiseMode_t::POW;
    case ElementwiseFn::relu:
    case ElementwiseFn::leaky_relu:
    case ElementwiseFn::clip: return fe::PointwiseMode_t::RELU_FWD;
    case ElementwiseFn::sigmoid: return fe::PointwiseMode_t::SIGMOID_FWD;
    case ElementwiseFn::tanh: return fe::PointwiseMode_t::TANH_FWD;
    case ElementwiseFn::elu: return fe::PointwiseMode_t::ELU_FWD;
    case ElementwiseFn::gelu: return fe::PointwiseMode_t::GELU_FWD;
    case ElementwiseFn::gelu_tanh: return fe::PointwiseMode_t::GELU_APPROX_TANH_FWD;
    case ElementwiseFn::softplus: return fe::PointwiseMode_t::SOFTPLUS_FWD;
    case ElementwiseFn::swish: return fe::PointwiseMode_t::SWISH_FWD;
    case ElementwiseFn::exp: return fe::PointwiseMode_t::EXP;
    case ElementwiseFn::log: return fe::PointwiseMode_t::LOG;
    case ElementwiseFn::neg: return fe::PointwiseMode_t::NEG;
    case ElementwiseFn::abs: return fe::PointwiseMode_t::ABS;
    case ElementwiseFn::sqrt: return fe::PointwiseMode_t::SQRT;
    case ElementwiseFn::erf: return fe::PointwiseMode_t::ERF;
    case ElementwiseFn::reciprocal: return fe::PointwiseMode_t::RECIPROCAL;
    case ElementwiseFn::ceil: return fe::PointwiseMode_t::CEIL;
    case ElementwiseFn::floor: return fe::PointwiseMode_t::FLOOR;
    case ElementwiseFn::cos: return fe::PointwiseMode_t::COS;
    case ElementwiseFn::sin: return fe::PointwiseMode_t::SIN;
    case ElementwiseFn::tan: return fe::PointwiseMode_t::TAN;
    default: return std::nullopt;
  }
}

/// A graph over the operands of a layer: input `i` has the number i + 1, output `i` the number 1000 + i.
class Draw {
 public:
  static constexpr std::int64_t first_output = 1000;

  explicit Draw(const GraphType& type) : type_(type), graph_(std::make_shared<fe::graph::Graph>()) {
    graph_->set_io_data_type(type.stored)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
  }

  [[nodiscard]] fe::graph::Graph& graph() { return *graph_; }
  [[nodiscard]] const std::shared_ptr<fe::graph::Graph>& shared() const { return graph_; }

  Tensor input(std::size_t i, const Numbers& dims, const Numbers& strides) {
    return graph_->tensor(fe::graph::Tensor_attributes()
                              .set_name("input" + std::to_string(i))
                              .set_uid(static_cast<std::int64_t>(i) + 1)
                              .set_dim(dims)
                              .set_stride(strides)
                              .set_data_type(type_.stored));
  }
  void output(const Tensor& tensor, const Numbers& dims, const Numbers& strides) {
    tensor->set_output(true).set_uid(first_output).set_dim(dims).set_stride(strides).set_data_type(type_.stored);
  }

  /// One step on a running value; null for a function that cuDNN's graphs lack.
  Tensor step(const Tensor& value, const PostOp& post, const Tensor& operand) {
    const auto mode = mode_of(post.fn);
    if (!mode) return nullptr;
    auto how = fe::graph::Pointwise_attributes().set_mode(*mode);
    if (post.fn == ElementwiseFn::leaky_relu) how.set_relu_lower_clip_slope(static_cast<float>(post.alpha));
    if (post.fn == ElementwiseFn::clip) {
      if (post.alpha != 0) return nullptr;
      how.set_relu_upper_clip(static_cast<float>(post.beta));
    }
    if (post.fn == ElementwiseFn::swish) how.set_swish_beta(static_cast<float>(post.alpha));
    if (post.fn == ElementwiseFn::elu) how.set_elu_alpha(static_cast<float>(post.alpha));
    if (operand == nullptr) return graph_->pointwise(value, how);
    return post.swapped ? graph_->pointwise(operand, value, how) : graph_->pointwise(value, operand, how);
  }

  /// The steps of an epilogue on a result of this shape and order; its operands are inputs from `i` on.
  Tensor epilogue(Tensor value, const Epilogue& post, const TensorShape& y, std::size_t channel_axis, std::size_t i,
                  Order order) {
    for (const auto& op : post) {
      Tensor operand;
      if (is_binary(op.fn)) {
        TensorShape shape = y;
        if (op.channel) {
          shape = TensorShape::filled(y.size(), 1);
          shape[channel_axis] = y[channel_axis];
        } else if (!op.shape.empty()) {
          shape = TensorShape::filled(y.size(), 1);
          for (std::size_t k = 0; k < op.shape.size(); ++k) shape[y.size() - op.shape.size() + k] = op.shape[k];
        }
        operand = input(i++, numbers(shape), numbers(packed_strides(shape, order)));
      }
      value = step(value, op, operand);
      if (value == nullptr) return nullptr;
    }
    return value;
  }

 private:
  GraphType type_;
  std::shared_ptr<fe::graph::Graph> graph_;
};

/// What the plans of one drawn graph have in common.
struct Drawn {
  std::shared_ptr<fe::graph::Graph> graph{};
  std::size_t inputs = 0;
  Draft draft{};  ///< layouts; the rest is filled for each plan
  bool strict = true;
  double tolerance = 1e-4;
  std::string suffix{};
};

/// Notes of engines that save multiplications; they are asked for apart, so that their plans can be told.
constexpr fe::NumericalNote_t saving_notes[] = {fe::NumericalNote_t::WINOGRAD, fe::NumericalNote_t::FFT};

std::string in_charset(std::string text) {
  for (auto& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::string_view("_.=:-").find(c) == std::string_view::npos)
      c = '_';
  return text;
}

/// Makes a graph anew, since which engines it may use is decided before its plans are listed.
using Maker = std::function<std::optional<Drawn>()>;

/// Lists the plans of a drawn graph: of the handle's device, or without one of a device that is described. False where
/// cuDNN knows none.
bool list_plans(Drawn& drawn, std::optional<fe::NumericalNote_t> saving, cudnnHandle_t handle,
                const std::shared_ptr<fe::DeviceProperties>& description) {
  auto& graph = *drawn.graph;
  if (description) graph.set_device_properties(description);
  if (graph.validate().is_bad()) return false;
  if ((description ? graph.build_operation_graph() : graph.build_operation_graph(handle)).is_bad()) return false;
  if (graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::B, fe::HeurMode_t::FALLBACK}).is_bad())
    return false;
  std::vector<fe::NumericalNote_t> barred;
  if (saving) graph.select_numeric_notes({*saving});
  else barred.assign(std::begin(saving_notes), std::end(saving_notes));
  if (drawn.strict)
    barred.insert(barred.end(), {fe::NumericalNote_t::TENSOR_CORE, fe::NumericalNote_t::DOWN_CONVERT_INPUTS,
                                 fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION});
  graph.deselect_numeric_notes(barred);
  return true;
}

void add_plans_of(const Maker& make, std::optional<fe::NumericalNote_t> saving, Rivals& rivals,
                  std::set<std::string>& names) {
  auto drawn = make();
  if (!drawn || !list_plans(*drawn, saving, rivals.handle(), nullptr)) return;
  auto& graph = *drawn->graph;
  const std::int64_t count = graph.get_execution_plan_count();
  for (std::int64_t i = 0; i < count; ++i) {
    std::string tag;
    if (graph.get_plan_name_at_index(i, tag).is_bad()) continue;
    const std::string name = "graph:" + in_charset(tag) + drawn->suffix;
    if (names.contains(name)) continue;
    std::int64_t workspace = 0;
    beat();  // seconds, where code is generated for it
    if (graph.build_plan_at_index(rivals.handle(), i).is_bad() ||
        graph.get_workspace_size_plan_at_index(i, workspace).is_bad())
      continue;
    names.insert(name);
    Draft draft = drawn->draft;
    draft.algorithm = name;
    draft.workspace_bytes = static_cast<std::size_t>(std::max<std::int64_t>(0, workspace));
    draft.saves_multiplications = saving.has_value();
    draft.tolerance = saving ? std::max(saving_tolerance, drawn->tolerance) : drawn->tolerance;
    draft.execute = [graph = drawn->graph, i, inputs = drawn->inputs](cudnnHandle_t handle, const Arguments& a) {
      std::unordered_map<std::int64_t, void*> buffers{{Draw::first_output, a.outputs[0]}};
      for (std::size_t k = 0; k < inputs; ++k)
        buffers[static_cast<std::int64_t>(k) + 1] = const_cast<void*>(a.inputs[k]);
      auto status = graph->execute_plan_at_index(handle, buffers, a.workspace, i);
      if (status.is_bad()) throw EnvironmentError("a plan of cuDNN's graph API failed: " + status.get_message());
    };
    rivals.add(std::move(draft));
  }
}

void lay_out(Draft& draft, const Operands& operands, Order order) {
  if (order == Order::nchw) return;
  for (std::size_t i = 0; i < operands.inputs.size(); ++i) put_channels_last(draft, operands, i, false);
  put_channels_last(draft, operands, 0, true);
}

std::optional<Drawn> draw(const op::Conv& op, const GraphType& type, const Operands& operands, Order order) {
  Draw drawing(type);
  const std::size_t spatial = op.x.size() - 2;
  const auto list = [&](const TensorShape& values, std::size_t first, std::int64_t otherwise) {
    Numbers result(spatial, otherwise);
    for (std::size_t i = 0; i < spatial && !values.empty(); ++i) result[i] = values[first + i];
    return result;
  };
  const auto x = drawing.input(0, numbers(op.x), numbers(packed_strides(op.x, order)));
  const auto w = drawing.input(1, numbers(op.w), numbers(packed_strides(op.w, order)));
  Tensor y = drawing.graph().conv_fprop(x, w,
                                        fe::graph::Conv_fprop_attributes()
                                            .set_pre_padding(list(op.pads, 0, 0))
                                            .set_post_padding(list(op.pads, spatial, 0))
                                            .set_stride(list(op.strides, 0, 1))
                                            .set_dilation(list(op.dilations, 0, 1)));
  const Numbers dims = numbers(op.y()), strides = numbers(packed_strides(op.y(), order));
  if (!op.post.empty()) y->set_dim(dims).set_stride(strides);
  y = drawing.epilogue(y, op.post, op.y(), 1, 2, order);
  if (y == nullptr) return std::nullopt;
  drawing.output(y, dims, strides);
  Drawn drawn{.graph = drawing.shared(),
              .inputs = operands.inputs.size(),
              .strict = type.strict,
              .tolerance = type.tolerance,
              .suffix = order == Order::nhwc ? ",layout=nhwc" : ""};
  lay_out(drawn.draft, operands, order);
  return drawn;
}

std::optional<Drawn> draw(const op::MatMul& op, const GraphType& type, const Operands& operands, Order) {
  const std::int64_t batch = element_count(op.batch());
  const auto entries = [](const TensorShape& shape) {
    return element_count(TensorShape(std::span(shape.begin(), shape.end() - 2)));
  };
  const std::int64_t of_a = entries(op.a), of_b = entries(op.b);
  if ((of_a != 1 && of_a != batch) || (of_b != 1 && of_b != batch)) return std::nullopt;
  Draw drawing(type);
  const std::int64_t m = op.m(), n = op.n(), k = op.k();
  const auto a = drawing.input(0, {of_a, m, k}, op.trans_a ? Numbers{m * k, 1, m} : Numbers{m * k, k, 1});
  const auto b = drawing.input(1, {of_b, k, n}, op.trans_b ? Numbers{k * n, 1, k} : Numbers{k * n, n, 1});
  Tensor y = drawing.graph().matmul(a, b, fe::graph::Matmul_attributes());
  const TensorShape flat{batch, m, n};
  for (const auto& step : op.post)  // operands that broadcast along some of several batch dimensions have no flat form
    if (op.y().size() > 3 && !step.shape.empty()) return std::nullopt;
  y = drawing.epilogue(y, op.post, flat, 2, 2, Order::nchw);
  if (y == nullptr) return std::nullopt;
  drawing.output(y, numbers(flat), {m * n, n, 1});
  return Drawn{
      .graph = drawing.shared(), .inputs = operands.inputs.size(), .strict = type.strict, .tolerance = type.tolerance};
}

std::optional<Drawn> draw(const op::LayerNorm& op, const GraphType& type, const Operands& operands, Order) {
  if (!op.scale || (!op.rms && !op.bias)) return std::nullopt;
  Draw drawing(type);
  const TensorShape whole{op.x[0], op.x[1], 1, 1}, channels{1, op.x[1], 1, 1};
  const auto x = drawing.input(0, numbers(whole), numbers(packed_strides(whole)));
  const auto scale = drawing.input(1, numbers(channels), numbers(packed_strides(channels)));
  auto epsilon = drawing.graph().tensor(fe::graph::Tensor_attributes(1e-5F));
  Tensor y;
  if (op.rms) {
    y = drawing.graph().rmsnorm(
        x, scale,
        fe::graph::Rmsnorm_attributes().set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(epsilon))[0];
  } else {
    const auto bias = drawing.input(2, numbers(channels), numbers(packed_strides(channels)));
    y = drawing.graph().layernorm(
        x, scale, bias,
        fe::graph::Layernorm_attributes().set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(epsilon))[0];
  }
  drawing.output(y, numbers(whole), numbers(packed_strides(whole)));
  return Drawn{
      .graph = drawing.shared(), .inputs = operands.inputs.size(), .strict = type.strict, .tolerance = type.tolerance};
}

std::optional<Drawn> draw(const op::Attention& op, const GraphType& type, const Operands& operands, Order) {
  if (type.stored == fe::DataType_t::FLOAT) return std::nullopt;  // cuDNN's attention multiplies 16-bit types
  Draw drawing(type);
  const auto strides = [](const TensorShape& shape) { return numbers(packed_strides(shape)); };
  const auto q = drawing.input(0, numbers(op.q), strides(op.q));
  const std::int64_t keys = op.k[2], depth = op.k[3];
  const auto k = drawing.input(
      1, numbers(op.k), op.k_transposed ? Numbers{op.k[1] * keys * depth, keys * depth, 1, keys} : strides(op.k));
  const auto v = drawing.input(2, numbers(op.v), strides(op.v));
  auto how = fe::graph::SDPA_attributes()
                 .set_generate_stats(false)
                 .set_attn_scale(1.0F / std::sqrt(static_cast<float>(depth)))
                 .set_causal_mask(op.causal);
  if (!op.mask.empty()) {
    TensorShape mask = TensorShape::filled(4, 1);
    for (std::size_t i = 0; i < op.mask.size(); ++i) mask[4 - op.mask.size() + i] = op.mask[i];
    how.set_bias(drawing.input(3, numbers(mask), strides(mask)));
  }
  const Tensor y = drawing.graph().sdpa(q, k, v, how)[0];
  drawing.output(y, numbers(op.y()), strides(op.y()));
  return Drawn{.graph = drawing.shared(),
               .inputs = operands.inputs.size(),
               .strict = type.strict,
               .tolerance = 4 * type.tolerance};  // scores and weights are rounded in between
}

/// Element-wise chains: a first step, then an epilogue.
std::optional<Drawn> draw_chain(const PostOp& first, const TensorShape& a, const TensorShape& b, const Epilogue& post,
                                const TensorShape& y, const GraphType& type, const Operands& operands) {
  const std::size_t rank = std::max<std::size_t>(3, y.size());
  if (rank > 8) return std::nullopt;
  const auto led = [&](const TensorShape& shape) {
    TensorShape result = TensorShape::filled(rank, 1);
    for (std::size_t i = 0; i < shape.size(); ++i) result[rank - shape.size() + i] = shape[i];
    return result;
  };
  Draw drawing(type);
  const auto input = [&](std::size_t i, const TensorShape& shape) {
    return drawing.input(i, numbers(led(shape)), numbers(packed_strides(led(shape))));
  };
  Tensor value = input(0, a);
  const Tensor second = !is_binary(first.fn) ? nullptr : b.empty() ? value : input(1, b);
  value = drawing.step(value, first, second);
  if (value == nullptr) return std::nullopt;
  const std::size_t operands_before = second == nullptr || b.empty() ? 1 : 2;
  value = drawing.epilogue(value, post, led(y), rank - y.size(), operands_before, Order::nchw);
  if (value == nullptr) return std::nullopt;
  drawing.output(value, numbers(led(y)), numbers(packed_strides(led(y))));
  return Drawn{
      .graph = drawing.shared(), .inputs = operands.inputs.size(), .strict = false, .tolerance = type.tolerance};
}

std::optional<Drawn> draw(const op::Unary& op, const GraphType& type, const Operands& operands, Order) {
  return draw_chain(PostOp{op.fn, op.alpha, op.beta}, op.x, {}, op.post, op.x, type, operands);
}
std::optional<Drawn> draw(const op::Binary& op, const GraphType& type, const Operands& operands, Order) {
  return draw_chain(PostOp{op.fn}, op.a, op.same ? TensorShape{} : op.b, op.post, op.y(), type, operands);
}

template <class Op>
concept Drawable = requires(const Op& op, const GraphType& type, const Operands& operands) {
  draw(op, type, operands, Order::nchw);
};

}  // namespace

std::vector<std::string> graph_plan_tags(const Layer& layer, const std::string& description) {
  fe::cudnn_dlhandle = std::get<std::unique_ptr<const Library>>(Library::get())->file().handle();
  const auto properties = std::make_shared<fe::DeviceProperties>();
  if (auto read = properties->deserialize({description.begin(), description.end()}); read.is_bad())
    throw EnvironmentError("cuDNN does not take this description of a device: " + read.get_message());
  return std::visit(
      [&](const auto& op) -> std::vector<std::string> {
        std::vector<std::string> tags;
        if constexpr (Drawable<std::decay_t<decltype(op)>>) {
          const auto type = graph_type(op.type);
          auto drawn = type ? draw(op, *type, operands(layer), Order::nhwc) : std::nullopt;
          if (!drawn || !list_plans(*drawn, std::nullopt, nullptr, properties)) return tags;
          for (std::int64_t i = 0; i < drawn->graph->get_execution_plan_count(); ++i)
            if (std::string tag; drawn->graph->get_plan_name_at_index(i, tag).is_good()) tags.push_back(tag);
        }
        return tags;
      },
      layer);
}

std::variant<Plans, Unsupported> graph_plans(const Layer& layer, std::shared_ptr<const Handle> handle) {
  const auto& library = Library::get();
  fe::cudnn_dlhandle = std::get<std::unique_ptr<const Library>>(library)->file().handle();
  return std::visit(
      [&](const auto& op) -> std::variant<Plans, Unsupported> {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (Drawable<Op>) {
          const auto type = graph_type(op.type);
          if (!type) return Unsupported{"no graph of cuDNN for " + std::string(name(op.type))};
          Rivals rivals(handle, layer);
          const auto is_other = [&](const Operand& o) { return stored_type(o.type) != stored_type(op.type); };
          const auto& [inputs, outputs] = rivals.operands();
          if (std::any_of(inputs.begin(), inputs.end(), is_other) ||
              std::any_of(outputs.begin(), outputs.end(), is_other))
            return Unsupported{"no graph of cuDNN is drawn for operands of several types"};
          std::set<std::string> names;
          constexpr bool has_orders = std::is_same_v<Op, op::Conv>;
          for (const Order order : {Order::nchw, Order::nhwc}) {
            if (order == Order::nhwc && !has_orders) continue;
            const Maker make = [&] { return draw(op, *type, rivals.operands(), order); };
            add_plans_of(make, std::nullopt, rivals, names);
            if constexpr (has_orders)
              for (const auto saving : saving_notes) add_plans_of(make, saving, rivals, names);
          }
          return std::move(rivals).result();
        } else {
          return Unsupported{"no graph of cuDNN is drawn for " + std::string(Op::kind)};
        }
      },
      layer);
}

}  // namespace benanza::cudnn
