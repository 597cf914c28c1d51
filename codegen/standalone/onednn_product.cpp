// Matrix product with its epilogue, by oneDNN: the matmul primitive, and the inner product where b is a matrix of
// weights.
#include "onednn.hpp"

namespace {

struct Product {
  const char* signature;
  Work work;
  Type src, wei, dst, bias_type;
  Sizes a, b, y;                          // shapes of one rank, dimensions of the batch first
  bool trans_a = false, trans_b = false;  // it lies in memory with its last two dimensions exchanged
  bool constant_b = false;                // packed beforehand into the layout that the library prefers
  Sizes bias{};                           // empty: none
  List<Step> post{};
  Scaling scaling{};
};

void product(const Product& layer, Offers& offers) {
  const Dims a = dims(layer.a), b = dims(layer.b), y = dims(layer.y);
  const Desc plain_a = layer.trans_a ? transposed(a, layer.src) : row_major(a, layer.src),
             plain_b = layer.trans_b ? transposed(b, layer.wei) : row_major(b, layer.wei),
             plain_y = row_major(y, layer.dst);
  const bool biased = !layer.bias.empty(), scales_result = layer.dst == Type::s8 || layer.dst == Type::u8;
  const auto arguments_of = [&](const Desc& weights) {
    std::vector<Argument> arguments{{.argument = DNNL_ARG_SRC, .tensor = "a", .key = "src", .plain = plain_a},
                                    {.argument = DNNL_ARG_WEIGHTS,
                                     .tensor = "b",
                                     .key = layer.constant_b ? "wei" : "",
                                     .plain = weights,
                                     .weights = layer.constant_b},
                                    {.argument = DNNL_ARG_DST, .tensor = "y", .key = "dst", .plain = plain_y}};
    if (biased) arguments.push_back({.argument = DNNL_ARG_BIAS, .tensor = "bias", .weights = true});
    return arguments;
  };
  for (const bool packed : {true, false}) {
    if (packed && !layer.constant_b) continue;
    for (const bool in_place : ways_of_epilogue(layer.post, y, layer.src)) {
      std::vector<Argument> arguments = arguments_of(plain_b);
      dnnl::primitive_attr how = attributes(post_ops(layer.post, y, Form::plain, layer.dst, arguments, in_place));
      scale(layer.scaling, scales_result, how, arguments);
      const dnnl::matmul::primitive_desc first(engine(), plain_a, packed ? Desc(b, layer.wei, Tag::any) : plain_b,
                                               biased ? row_major(dims(layer.bias), layer.bias_type) : Desc(), plain_y,
                                               how, true);
      offers.add_each(first, arguments, "", false, in_place_key(in_place));
    }
  }
  if (!layer.constant_b || layer.trans_a || y.size() != 2) return;
  const Dims w{b[1], b[0]};
  Scaling by_row = layer.scaling;  // scaling of w, which has the columns of b as its rows
  by_row.mask = 1;
  for (const bool packed : {true, false})
    for (const bool in_place : ways_of_epilogue(layer.post, y, layer.src)) {
      std::vector<Argument> arguments = arguments_of(transposed(w, layer.wei));
      dnnl::primitive_attr how = attributes(post_ops(layer.post, y, Form::plain, layer.dst, arguments, in_place));
      scale(by_row, scales_result, how, arguments);
      const dnnl::inner_product_forward::primitive_desc first(
          engine(), dnnl::prop_kind::forward_inference, plain_a,
          packed ? Desc(w, layer.wei, Tag::any) : transposed(w, layer.wei),
          biased ? row_major({y[1]}, layer.bias_type) : Desc(), plain_y, how, true);
      offers.add_each(first, arguments, "inner_product:", false, in_place_key(in_place));
    }
}

constexpr Product products[] = {
    // @rows@
};

}  // namespace

void add_onednn_product() { add_rows(products, product); }
