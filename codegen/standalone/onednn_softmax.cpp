// Softmax and its logarithm along the second dimension, by oneDNN.
#include "onednn.hpp"

namespace {

struct Softmax {
  const char* signature;
  Work work;
  Type type;
  dnnl::algorithm algorithm;
  Sizes x;
};

void softmax(const Softmax& layer, Offers& offers) {
  const Dims x = dims(layer.x);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    if (!has_form(x, form)) continue;
    const Desc desc = in_form(x, form, layer.type);
    const dnnl::softmax_forward::primitive_desc first(engine(), dnnl::prop_kind::forward_inference, layer.algorithm,
                                                      desc, desc, 1, attributes(), true);
    offers.add_each(first,
                    {{.argument = DNNL_ARG_SRC, .tensor = "x", .key = "src", .plain = row_major(x, layer.type)},
                     {.argument = DNNL_ARG_DST, .tensor = "y", .key = "dst", .plain = row_major(x, layer.type)}});
  }
}

constexpr Softmax layers[] = {
    // @rows@
};

}  // namespace

void add_onednn_softmax() { add_rows(layers, softmax); }
