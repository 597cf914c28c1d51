// Reductions, by oneDNN.
#include "onednn.hpp"

namespace {

struct Reduction {
  const char* signature;
  Work work;
  Type type;
  dnnl::algorithm function;
  float p = 0;  // order of the norms
  Sizes x, y;   // adjacent dimensions that are all reduced or all kept are one
};

void reduction(const Reduction& layer, Offers& offers) {
  const dnnl::reduction::primitive_desc first(engine(), layer.function, row_major(dims(layer.x), layer.type),
                                              row_major(dims(layer.y), layer.type), layer.p, 0, attributes(), true);
  offers.add_each(first, {{.argument = DNNL_ARG_SRC, .tensor = "x"}, {.argument = DNNL_ARG_DST, .tensor = "y"}},
                  "reduction:");
}

constexpr Reduction reductions[] = {
    // @rows@
};

}  // namespace

void add_onednn_reduction() { add_rows(reductions, reduction); }
