// Gradients of a convolution by its data and by its weights, by oneDNN.
#include "onednn.hpp"

namespace {

struct Backward {
  const char* signature;
  Work work;
  Type type;
  bool by_weights = false;
  Sizes x, w, y;  // w has its groups first where there are several
  Sizes strides, dilations, pads_begin, pads_end;
};

void backward(const Backward& layer, Offers& offers) {
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  const Dims x = dims(layer.x), w = dims(layer.w), y = dims(layer.y);
  const Dims strides = dims(layer.strides), dilations = dims(layer.dilations), begin = dims(layer.pads_begin),
             end = dims(layer.pads_end);
  const Desc plain_x = row_major(x, layer.type), plain_w = row_major(w, layer.type), plain_y = row_major(y, layer.type);
  for (const Form form : {Form::chosen, Form::plain, Form::channels_last}) {
    const Desc in_x = in_form(x, form, layer.type), in_y = in_form(y, form, layer.type),
               in_w = form == Form::chosen ? Desc(w, layer.type, Tag::any) : plain_w;
    const dnnl::convolution_forward::primitive_desc forward(engine(), dnnl::prop_kind::forward_training, direct, in_x,
                                                            in_w, Desc(), in_y, strides, dilations, begin, end,
                                                            attributes(), true);
    if (!forward) continue;
    if (layer.by_weights)
      offers.add_each(
          dnnl::convolution_backward_weights::primitive_desc(engine(), direct, in_x, in_w, Desc(), in_y, strides,
                                                             dilations, begin, end, forward, attributes(), true),
          {{.argument = DNNL_ARG_SRC, .tensor = "x", .key = "src", .plain = plain_x},
           {.argument = DNNL_ARG_DIFF_DST, .tensor = "dy"},
           {.argument = DNNL_ARG_DIFF_WEIGHTS, .tensor = "dw", .key = "dst", .plain = plain_w}});
    else
      offers.add_each(
          dnnl::convolution_backward_data::primitive_desc(engine(), direct, in_x, in_w, in_y, strides, dilations, begin,
                                                          end, forward, attributes(), true),
          {{.argument = DNNL_ARG_DIFF_DST, .tensor = "dy", .key = "src", .plain = plain_y},
           {.argument = DNNL_ARG_WEIGHTS, .tensor = "w"},
           {.argument = DNNL_ARG_DIFF_SRC, .tensor = "dx", .key = "dst", .plain = plain_x}});
  }
}

constexpr Backward layers[] = {
    // @rows@
};

}  // namespace

void add_onednn_backward() { add_rows(layers, backward); }
