// Pooling, by oneDNN; over whole planes also as a reduction.
#include "onednn.hpp"

namespace {

struct Pooling {
  const char* signature;
  Work work;
  Type type;
  dnnl::algorithm algorithm;
  Sizes x, y, kernel, strides, dilations, pads_begin, pads_end;
};

void pooling(const Pooling& layer, Offers& offers) {
  const Dims x = dims(layer.x), y = dims(layer.y);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    if (!has_form(x, form)) continue;
    const dnnl::pooling_forward::primitive_desc first(engine(), dnnl::prop_kind::forward_inference, layer.algorithm,
                                                      in_form(x, form, layer.type), Desc(y, layer.type, Tag::any),
                                                      dims(layer.strides), dims(layer.kernel), dims(layer.dilations),
                                                      dims(layer.pads_begin), dims(layer.pads_end), attributes(), true);
    offers.add_each(first,
                    {{.argument = DNNL_ARG_SRC, .tensor = "x", .key = "src", .plain = row_major(x, layer.type)},
                     {.argument = DNNL_ARG_DST, .tensor = "y", .key = "dst", .plain = row_major(y, layer.type)}});
  }
  const std::int64_t planes = x[0] * x[1];
  if (product(layer.y) != planes || product(layer.kernel) != product(layer.x) / planes) return;
  const auto function = layer.algorithm == dnnl::algorithm::pooling_max ? dnnl::algorithm::reduction_max
                                                                        : dnnl::algorithm::reduction_mean;
  const dnnl::reduction::primitive_desc first(engine(), function,
                                              row_major({planes, product(layer.kernel)}, layer.type),
                                              row_major({planes, 1}, layer.type), 0, 0, attributes(), true);
  offers.add_each(first, {{.argument = DNNL_ARG_SRC, .tensor = "x"}, {.argument = DNNL_ARG_DST, .tensor = "y"}},
                  "reduction:");
}

constexpr Pooling poolings[] = {
    // @rows@
};

}  // namespace

void add_onednn_pooling() { add_rows(poolings, pooling); }
