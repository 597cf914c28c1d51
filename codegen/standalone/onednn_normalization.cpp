// Batch, layer and local response normalisation, by oneDNN.
#include "onednn.hpp"

namespace {

enum class Norm { batch, layer, local_response };

struct Normalization {
  const char* signature;
  Work work;
  Norm norm;
  Type type;
  Sizes x;                            // N C inner; of a layer's: outer, inner
  bool scale = false, shift = false;  // flags of layer normalisation
  bool relu = false;                  // behind batch normalisation
  std::int64_t size = 0;              // channels in the window of local response normalisation
  float beta = 0;
};

void normalization(const Normalization& layer, Offers& offers) {
  constexpr float epsilon = 1e-5F;
  constexpr auto inference = dnnl::prop_kind::forward_inference;
  Dims x = dims(layer.x);
  if (layer.norm == Norm::local_response) x.push_back(1);  // whose kernels want two spatial dimensions
  const Desc plain = row_major(x, layer.type);
  const std::vector<Argument> data{{.argument = DNNL_ARG_SRC, .tensor = "x", .key = "src", .plain = plain},
                                   {.argument = DNNL_ARG_DST, .tensor = "y", .key = "dst", .plain = plain}};
  const auto with = [&](std::initializer_list<std::pair<int, Fill>> constants) {
    std::vector<Argument> arguments = data;
    for (const auto& [argument, fill] : constants)
      arguments.push_back(
          {.argument = argument, .tensor = "constant" + std::to_string(argument), .weights = true, .fill = fill});
    return arguments;
  };
  if (layer.norm == Norm::layer) {
    auto flags = dnnl::normalization_flags::none;
    if (layer.scale) flags |= dnnl::normalization_flags::use_scale;
    if (layer.shift) flags |= dnnl::normalization_flags::use_shift;
    std::vector<Argument> arguments = data;
    for (const int argument : {DNNL_ARG_SCALE, DNNL_ARG_SHIFT})
      if (argument == DNNL_ARG_SCALE ? layer.scale : layer.shift)
        arguments.push_back({.argument = argument,
                             .tensor = "constant" + std::to_string(argument),
                             .weights = true,
                             .fill = Fill::positive});
    const dnnl::layer_normalization_forward::primitive_desc first(engine(), inference, plain, plain, epsilon, flags,
                                                                  attributes(), true);
    return offers.add_each(first, arguments);
  }
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    if (!has_form(x, form)) continue;
    const Desc desc = in_form(x, form, layer.type);
    if (layer.norm == Norm::batch) {
      auto flags = dnnl::normalization_flags::use_global_stats | dnnl::normalization_flags::use_scale |
                   dnnl::normalization_flags::use_shift;
      if (layer.relu) flags |= dnnl::normalization_flags::fuse_norm_relu;
      const dnnl::batch_normalization_forward::primitive_desc first(engine(), inference, desc, desc, epsilon, flags,
                                                                    attributes(), true);
      offers.add_each(first, with({{DNNL_ARG_SCALE, Fill::positive},
                                   {DNNL_ARG_SHIFT, Fill::random},
                                   {DNNL_ARG_MEAN, Fill::random},
                                   {DNNL_ARG_VARIANCE, Fill::positive}}));
    } else {
      const dnnl::lrn_forward::primitive_desc first(engine(), inference, dnnl::algorithm::lrn_across_channels, desc,
                                                    desc, layer.size, 1e-4F, layer.beta, 1.0F, attributes(), true);
      offers.add_each(first, data);
    }
  }
}

constexpr Normalization normalizations[] = {
    // @rows@
};

}  // namespace

void add_onednn_normalization() { add_rows(normalizations, normalization); }
