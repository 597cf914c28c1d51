// Transposed convolution with its epilogue, by oneDNN's deconvolution.
#include "onednn.hpp"

namespace {

struct Transposed {
  const char* signature;
  Work work;
  Type src, wei, dst, bias_type;
  Sizes x, w, w_strides, y;  // w: groups first where there are several, channels of y, channels of x, taps
  Sizes strides, dilations, pads_begin, pads_end;
  bool constant_weights = true;  // packed beforehand into the layout that the library prefers
  bool bias = false;
  List<Step> post{};
  Scaling scaling{};
};

void transposed_convolution(const Transposed& layer, Offers& offers) {
  const Dims x = dims(layer.x), w = dims(layer.w), y = dims(layer.y), channels{y[1]};
  const Desc plain_w(w, layer.wei, dims(layer.w_strides)), any_w(w, layer.wei, Tag::any);
  for (const Form form : {Form::chosen, Form::plain, Form::channels_last}) {
    if (!has_form(x, form)) continue;
    for (const Desc& weights : {any_w, plain_w}) {
      if (layer.constant_weights && weights == plain_w) continue;
      for (const bool in_place : ways_of_epilogue(layer.post, y, layer.src)) {
        std::vector<Argument> arguments{
            {.argument = DNNL_ARG_SRC, .tensor = "x", .key = "src", .plain = row_major(x, layer.src)},
            {.argument = DNNL_ARG_WEIGHTS,
             .tensor = "w",
             .key = layer.constant_weights ? "wei" : "",
             .plain = plain_w,
             .weights = layer.constant_weights},
            {.argument = DNNL_ARG_DST, .tensor = "y", .key = "dst", .plain = row_major(y, layer.dst)}};
        if (layer.bias) arguments.push_back({.argument = DNNL_ARG_BIAS, .tensor = "bias", .weights = true});
        dnnl::primitive_attr how = attributes(post_ops(layer.post, y, form, layer.dst, arguments, in_place));
        scale(layer.scaling, layer.dst == Type::s8 || layer.dst == Type::u8, how, arguments);
        const dnnl::deconvolution_forward::primitive_desc first(
            engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct,
            in_form(x, form, layer.src), weights, layer.bias ? row_major(channels, layer.bias_type) : Desc(),
            in_form(y, form, layer.dst), dims(layer.strides), dims(layer.dilations), dims(layer.pads_begin),
            dims(layer.pads_end), how, true);
        offers.add_each(first, arguments, "", false, in_place_key(in_place));
      }
    }
  }
}

constexpr Transposed layers[] = {
    // @rows@
};

}  // namespace

void add_onednn_transposed() { add_rows(layers, transposed_convolution); }
