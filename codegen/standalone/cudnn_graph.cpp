// cuDNN's graph API: convolution and product with their epilogues, and normalisation. Each engine configuration that
// the heuristics list for this device is a plan, named by its engine and the choices of its knobs.
#include "cudnn_backend.hpp"

namespace {

/// A step of an epilogue: a function of one tensor, or of two with the sizes of the other one.
struct Step {
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
  double slope = 0, clip = 0, alpha = 0;  // RELU_FWD takes a slope below 0 and an upper limit; the others take alpha
  Sizes operand{};
  bool swapped = false;  // the other tensor comes first
  bool weights = false;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;  // type of the other tensor
};

/// A tensor and how it lies; strides in elements.
struct Operand {
  Sizes dims{}, strides{};
  bool weights = false;
};

enum class Kind { convolution, product, layer_norm, rms_norm };

struct Layer {
  const char* signature;
  Work work;
  Kind kind;
  cudnnDataType_t type, y_type;
  bool strict = false;    // f32 that must not be rounded before it is multiplied: no engine on tensor cores
  Operand a{}, b{}, c{};  // x and w; a and b; x, scale and bias. Strides of a convolution follow from its layout
  Sizes pads_begin{}, pads_end{}, steps{}, dilations{};  // padding, strides and dilations of a convolution
  List<Step> post{};
  float rescale = 1;  // factor for sums of integers
  Operand y{};
};

/// Strides of a packed tensor N C spatial..., or with channels last.
Sizes packed(const Sizes& dims, bool channels_last) {
  Sizes strides = dims;
  std::int64_t step = channels_last ? dims[1] : 1;
  strides.values[1] = 1;
  for (std::size_t i = dims.size(); i-- > (channels_last ? 2U : 1U); step *= dims[i]) strides.values[i] = step;
  strides.values[0] = step;
  return strides;
}

/// The product, or the convolution, of a and b.
void multiply(const Layer& layer, Graph& graph, const Descriptor& a, const Descriptor& b, const Descriptor& sums) {
  const cudnnDataType_t compute = layer.type == CUDNN_DATA_INT8 ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
  if (layer.kind == Kind::product) {
    Descriptor how(CUDNN_BACKEND_MATMUL_DESCRIPTOR), operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute).finalize();
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, sums)
        .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
    return graph.add(operation);
  }
  Descriptor how(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR),
      operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  how.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, static_cast<std::int64_t>(layer.steps.size()))
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, layer.pads_begin)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, layer.pads_end)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, layer.dilations)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, layer.steps)
      .finalize();
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, a)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, b)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, sums)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1.0F)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 0.0F);
  graph.add(operation);
}

/// y = mode(x, other), of one tensor or of two.
void pointwise(Graph& graph, const Step& step, const Descriptor& x, const Descriptor* other, const Descriptor& y) {
  Descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, step.mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  if (step.mode == CUDNN_POINTWISE_RELU_FWD)
    how.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, CUDNN_PROPAGATE_NAN)
        .set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, 0.0)
        .set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE,
             step.clip != 0 ? step.clip : static_cast<double>(std::numeric_limits<float>::max()))
        .set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, CUDNN_TYPE_DOUBLE, step.slope);
  if (step.mode == CUDNN_POINTWISE_ELU_FWD) how.set(CUDNN_ATTR_POINTWISE_ELU_ALPHA, CUDNN_TYPE_DOUBLE, step.alpha);
  if (step.mode == CUDNN_POINTWISE_SWISH_FWD) how.set(CUDNN_ATTR_POINTWISE_SWISH_BETA, CUDNN_TYPE_DOUBLE, step.alpha);
  if (step.mode == CUDNN_POINTWISE_SOFTPLUS_FWD) how.set(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, CUDNN_TYPE_DOUBLE, 1.0);
  how.finalize();
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, step.swapped ? *other : x)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  if (other != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, step.swapped ? x : *other);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, CUDNN_TYPE_FLOAT, 1.0F)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, CUDNN_TYPE_FLOAT, 1.0F);
  graph.add(operation);
}

/// A product with its epilogue. What lies between two operations is virtual: it has no address.
void draw_product(const Layer& layer, Graph& graph, bool channels_last) {
  const auto strides = [&](const Operand& of) {
    return of.strides.empty() ? packed(of.dims, channels_last) : of.strides;
  };
  const Sizes& sizes = layer.y.dims;
  const bool integers = layer.type == CUDNN_DATA_INT8, rescales = layer.rescale != 1;
  const bool bias_first =
      !layer.post.empty() && layer.post[0].type == CUDNN_DATA_INT32;  // added to the sums themselves
  std::size_t left = layer.post.size() + (rescales ? 1 : 0);
  const auto next = [&] {  // what the next operation writes
    return left-- == 0 ? graph.output(sizes, strides(layer.y), layer.y_type)
                       : graph.between(sizes, packed(sizes, channels_last), CUDNN_DATA_FLOAT);
  };
  const Descriptor a = graph.input(layer.a.dims, strides(layer.a), layer.type, layer.a.weights),
                   b = graph.input(layer.b.dims, strides(layer.b), layer.type, layer.b.weights);
  Descriptor value =
      integers && left > 0 ? (--left, graph.between(sizes, packed(sizes, channels_last), CUDNN_DATA_INT32)) : next();
  multiply(layer, graph, a, b, value);
  const auto apply = [&](const Step& step, const Descriptor* other) {
    const Descriptor y = next();
    pointwise(graph, step, value, other, y);
    value = y;
  };
  const auto rescale = [&] {
    if (!rescales) return;
    const Descriptor factor = graph.number(layer.rescale, sizes.size());
    apply({.mode = CUDNN_POINTWISE_MUL}, &factor);
  };
  if (!bias_first) rescale();
  for (const Step& step : layer.post) {
    if (step.operand.empty()) {
      apply(step, nullptr);
    } else {
      const Descriptor other = graph.input(step.operand, packed(step.operand, channels_last), step.type, step.weights);
      apply(step, &other);
    }
    if (bias_first && &step == layer.post.begin()) rescale();
  }
}

void draw_norm(const Layer& layer, Graph& graph) {
  Descriptor operation(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
  operation
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE,
           layer.kind == Kind::rms_norm ? CUDNN_RMS_NORM : CUDNN_LAYER_NORM)
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, CUDNN_NORM_FWD_INFERENCE)
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, graph.input(layer.a.dims, layer.a.strides, layer.type, false))
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC,
           graph.input(layer.b.dims, layer.b.strides, layer.type, true, true));
  if (layer.kind == Kind::layer_norm)
    operation.set(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC,
                  graph.input(layer.c.dims, layer.c.strides, layer.type, true));
  operation.set(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, graph.number(1e-5F, layer.a.dims.size()))
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, graph.output(layer.y.dims, layer.y.strides, layer.y_type));
  graph.add(operation);
}

constexpr Layer layers[] = {
    // @rows@
};

}  // namespace

void add_cudnn_graph() {
  for (const Layer& layer : layers)
    for (const bool channels_last : {true, false}) {
      if (channels_last && layer.kind != Kind::convolution) continue;
      std::string reason;
      try {
        Graph graph;
        if (layer.kind == Kind::convolution || layer.kind == Kind::product) draw_product(layer, graph, channels_last);
        else draw_norm(layer, graph);
        reason = add_plans(layer.signature, layer.work, graph, layer.strict, channels_last ? ",layout=nhwc" : "");
      } catch (const Skipped& error) {
        reason = error.what();
      }
      if (!reason.empty())
        add_refusal(channels_last ? "cudnn/graph:none,layout=nhwc,threads=1" : "cudnn/graph:none,threads=1",
                    layer.signature, "not offered: " + reason);
    }
}
