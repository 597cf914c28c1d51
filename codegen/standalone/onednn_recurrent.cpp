// LSTM, GRU and RNN over a whole sequence, by oneDNN. "ref" of recurrent layers is generated matrix products with a
// loop around them, so it counts here.
#include "onednn.hpp"

namespace {

enum class Cell { lstm, gru, gru_linear_before_reset, rnn };

struct Recurrent {
  const char* signature;
  Work work;
  Type type;
  Cell cell;
  std::int64_t steps, batch, inputs, hidden, directions;
  bool reverse = false, initial_state = false;
};

void recurrent(const Recurrent& layer, Offers& offers) {
  using Way = dnnl::rnn_direction;
  const std::int64_t gates = layer.cell == Cell::lstm ? 4 : layer.cell == Cell::rnn ? 1 : 3, ways = layer.directions;
  const std::int64_t biases = layer.cell == Cell::gru_linear_before_reset ? 4 : gates;
  const bool lstm = layer.cell == Cell::lstm;
  const Dims state{1, ways, layer.batch, layer.hidden};
  const Desc x = row_major({layer.steps, layer.batch, layer.inputs}, layer.type), h = row_major(state, layer.type),
             first_h = layer.initial_state ? h : Desc(),
             w({1, ways, layer.inputs, gates, layer.hidden}, layer.type, Tag::any),
             r({1, ways, layer.hidden, gates, layer.hidden}, layer.type, Tag::any),
             b = row_major({1, ways, biases, layer.hidden}, layer.type),
             y = row_major({layer.steps, layer.batch, ways * layer.hidden}, layer.type);
  // The model has direction, gate, hidden unit, input.
  const std::int64_t in = layer.inputs, hidden = layer.hidden;
  const Desc plain_w({1, ways, in, gates, hidden}, layer.type,
                     Dims{ways * gates * hidden * in, gates * hidden * in, 1, hidden * in, in});
  std::vector<Argument> arguments{
      {.argument = DNNL_ARG_SRC_LAYER, .tensor = "x"},
      {.argument = DNNL_ARG_WEIGHTS_LAYER, .tensor = "w", .key = "wei", .plain = plain_w, .weights = true},
      {.argument = DNNL_ARG_WEIGHTS_ITER, .tensor = "r", .weights = true},
      {.argument = DNNL_ARG_BIAS, .tensor = "b", .weights = true},
      {.argument = DNNL_ARG_DST_LAYER, .tensor = "y"},
      {.argument = DNNL_ARG_DST_ITER, .tensor = "y_h"}};
  if (layer.initial_state) arguments.push_back({.argument = DNNL_ARG_SRC_ITER, .tensor = "h"});
  if (layer.initial_state && lstm) arguments.push_back({.argument = DNNL_ARG_SRC_ITER_C, .tensor = "c"});
  if (lstm) arguments.push_back({.argument = DNNL_ARG_DST_ITER_C, .tensor = "y_c"});
  const Way way = ways == 2       ? Way::bidirectional_concat
                  : layer.reverse ? Way::unidirectional_right2left
                                  : Way::unidirectional_left2right;
  constexpr auto inference = dnnl::prop_kind::forward_inference;
  const auto add = [&](const auto& first) { offers.add_each(first, arguments, "", true); };
  switch (layer.cell) {
    case Cell::lstm:
      return add(dnnl::lstm_forward::primitive_desc(engine(), inference, way, x, first_h, first_h, w, r, b, y, h, h,
                                                    attributes(), true));
    case Cell::gru:
      return add(
          dnnl::gru_forward::primitive_desc(engine(), inference, way, x, first_h, w, r, b, y, h, attributes(), true));
    case Cell::gru_linear_before_reset:
      return add(dnnl::lbr_gru_forward::primitive_desc(engine(), inference, way, x, first_h, w, r, b, y, h,
                                                       attributes(), true));
    case Cell::rnn:
      return add(dnnl::vanilla_rnn_forward::primitive_desc(engine(), inference, dnnl::algorithm::eltwise_tanh, way, x,
                                                           first_h, w, r, b, y, h, attributes(), true));
  }
}

constexpr Recurrent layers[] = {
    // @rows@
};

}  // namespace

void add_onednn_recurrent() { add_rows(layers, recurrent); }
