// Convolution with its epilogue, by oneDNN.
#include "onednn.hpp"

namespace {

struct Convolution {
  const char* signature;
  Work work;
  Type src, wei, dst, bias_type;
  Sizes x, w, y;  // w has its groups first where there are several
  Sizes strides, dilations, pads_begin, pads_end;
  bool constant_weights = true;  // packed beforehand into the layout that the library prefers
  bool bias = false;
  List<Step> post{};
  Scaling scaling{};
};

void convolution(const Convolution& layer, Offers& offers) {
  const Dims x = dims(layer.x), w = dims(layer.w), y = dims(layer.y), channels{y[1]};
  const auto problem_of = [&](dnnl::algorithm algorithm, Form form, const Desc& weights, bool in_place) {
    std::vector<Argument> arguments{
        {.argument = DNNL_ARG_SRC, .tensor = "x", .key = "src", .plain = row_major(x, layer.src)},
        {.argument = DNNL_ARG_WEIGHTS,
         .tensor = "w",
         .key = layer.constant_weights ? "wei" : "",
         .plain = row_major(w, layer.wei),
         .weights = layer.constant_weights},
        {.argument = DNNL_ARG_DST, .tensor = "y", .key = "dst", .plain = row_major(y, layer.dst)}};
    if (layer.bias) arguments.push_back({.argument = DNNL_ARG_BIAS, .tensor = "bias", .weights = true});
    dnnl::primitive_attr how = attributes(post_ops(layer.post, y, form, layer.dst, arguments, in_place));
    scale(layer.scaling, layer.dst == Type::s8 || layer.dst == Type::u8, how, arguments);
    const dnnl::convolution_forward::primitive_desc first(
        engine(), dnnl::prop_kind::forward_inference, algorithm, in_form(x, form, layer.src), weights,
        layer.bias ? row_major(channels, layer.bias_type) : Desc(), in_form(y, form, layer.dst), dims(layer.strides),
        dims(layer.dilations), dims(layer.pads_begin), dims(layer.pads_end), how, true);
    offers.add_each(first, arguments, "", false, in_place_key(in_place));
  };
  const auto problem = [&](dnnl::algorithm algorithm, Form form, const Desc& weights) {
    for (const bool in_place : ways_of_epilogue(layer.post, y, layer.src))
      problem_of(algorithm, form, weights, in_place);
  };
  const Desc any(w, layer.wei, Tag::any);
  for (const Form form : {Form::chosen, Form::plain, Form::channels_last}) {
    if (!has_form(x, form)) continue;
    problem(dnnl::algorithm::convolution_direct, form, any);
    if (!layer.constant_weights) problem(dnnl::algorithm::convolution_direct, form, row_major(w, layer.wei));
  }
  problem(dnnl::algorithm::convolution_winograd, Form::chosen, any);
}

constexpr Convolution convolutions[] = {
    // @rows@
};

}  // namespace

void add_onednn_convolution() { add_rows(convolutions, convolution); }
