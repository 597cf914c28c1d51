// Functions of one tensor, by oneDNN.
#include "onednn.hpp"

namespace {

struct Activation {
  const char* signature;
  Work work;
  Type type;
  Sizes x;
  dnnl::algorithm function;
  float alpha = 0, beta = 0;
};

void activation(const Activation& layer, Offers& offers) {
  const Desc x = row_major(dims(layer.x), layer.type);
  const dnnl::eltwise_forward::primitive_desc first(engine(), dnnl::prop_kind::forward_inference, layer.function, x, x,
                                                    layer.alpha, layer.beta, attributes(), true);
  offers.add_each(first, {{.argument = DNNL_ARG_SRC, .tensor = "x"}, {.argument = DNNL_ARG_DST, .tensor = "y"}});
}

constexpr Activation activations[] = {
    // @rows@
};

}  // namespace

void add_onednn_activation() { add_rows(activations, activation); }
