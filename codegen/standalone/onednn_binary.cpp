// Functions of two tensors with their epilogue, by oneDNN. The second one may broadcast.
#include "onednn.hpp"

namespace {

struct Binary {
  const char* signature;
  Work work;
  Type type;
  dnnl::algorithm function;
  Sizes a, b;         // a has the shape of the result
  bool same = false;  // both are one tensor
  List<Step> post{};
};

void binary(const Binary& layer, Offers& offers) {
  const Dims a = dims(layer.a), b = dims(layer.b);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    // Two tensors of equal shapes are flat arrays in every layout.
    if (!has_form(a, form) || (form != Form::plain && (layer.same || a == b))) continue;
    const Desc whole = in_form(a, form, layer.type), plain = row_major(a, layer.type);
    std::vector<Argument> arguments{{.argument = DNNL_ARG_SRC_0, .tensor = "a", .key = "src", .plain = plain},
                                    {.argument = DNNL_ARG_SRC_1, .tensor = layer.same ? "a" : "b"},
                                    {.argument = DNNL_ARG_DST, .tensor = "y", .key = "dst", .plain = plain}};
    const auto how = attributes(post_ops(layer.post, a, form, layer.type, arguments));
    const dnnl::binary::primitive_desc first(engine(), layer.function, whole,
                                             a == b ? whole : broadcast_in_form(b, form, layer.type), whole, how, true);
    offers.add_each(first, arguments, "binary:");
  }
}

constexpr Binary layers[] = {
    // @rows@
};

}  // namespace

void add_onednn_binary() { add_rows(layers, binary); }
