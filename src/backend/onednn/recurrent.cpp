// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN. Before anything is timed, constants are converted from ONNX's order of gates to oneDNN's, and the
// two biases are added.
#include "families.hpp"

#include <algorithm>

namespace benanza::onednn {
namespace {

/// ONNX: i o f c, z r h. oneDNN: i f c o, u r o.
std::vector<std::size_t> gate_order(op::Cell cell) {
  switch (cell) {
    case op::Cell::lstm: return {0, 2, 3, 1};
    case op::Cell::gru: return {0, 1, 2};
    case op::Cell::rnn: break;
  }
  return {0};
}

/// Gates of directions x gates x `inner` elements in oneDNN's order.
Transform reordered_gates(const op::Recurrent& op, std::int64_t inner) {
  const auto order = gate_order(op.cell);
  const auto size = static_cast<std::size_t>(inner), directions = static_cast<std::size_t>(op.directions);
  return {"gates", [=](const void* data) {
            const auto* const values = static_cast<const float*>(data);
            std::vector<float> result;
            for (std::size_t d = 0; d < directions; ++d)
              for (auto gate : order) {
                const float* const first = values + (d * order.size() + gate) * size;
                result.insert(result.end(), first, first + size);
              }
            return result;
          }};
}

/// ONNX's b holds the biases of w, then those of r. The last gate of a GRU with linear_before_reset keeps both, with
/// that of r last.
Transform summed_biases(const op::Recurrent& op) {
  const auto order = gate_order(op.cell);
  const auto size = static_cast<std::size_t>(op.hidden), directions = static_cast<std::size_t>(op.directions);
  const bool apart = op.cell == op::Cell::gru && op.linear_before_reset;
  return {"sum", [=](const void* data) {
            const auto* const values = static_cast<const float*>(data);
            std::vector<float> result;
            for (std::size_t d = 0; d < directions; ++d) {
              const float* const of_w = values + d * 2 * order.size() * size;
              const float* const of_r = of_w + order.size() * size;
              for (auto gate : order)
                for (std::size_t i = gate * size; i < (gate + 1) * size; ++i)
                  result.push_back(of_w[i] + (apart && gate == order.back() ? 0.0F : of_r[i]));
              if (apart) result.insert(result.end(), of_r + order.back() * size, of_r + (order.back() + 1) * size);
            }
            return result;
          }};
}

struct Descs {
  Desc x{}, initial_h{}, initial_c{}, w{}, r{}, bias{}, y{}, y_h{}, y_c{};
};

}  // namespace

void add_plans(const op::Recurrent& op, Candidates& candidates) {
  if (const auto part = op.rare_part(); !part.empty())
    return candidates.refuse("a recurrence with " + std::string(part));
  const std::int64_t steps = op.x[0], batch = op.x[1], in = op.x[2], hidden = op.hidden, ways = op.directions,
                     gates = op.gates();
  const bool apart = op.cell == op::Cell::gru && op.linear_before_reset;
  const Dims state{1, ways, batch, hidden}, w{1, ways, in, gates, hidden}, r{1, ways, hidden, gates, hidden},
      b{1, ways, gates + (apart ? 1 : 0), hidden};
  // Memory of w is direction, gate, hidden, input.
  const auto plain_weights = [&](const Dims& d) {
    return strided(d, {ways * gates * hidden * d[2], gates * hidden * d[2], 1, hidden * d[2], d[2]});
  };
  Descs d{.x = row_major(dims(op.x)),
          .w = any(w),
          .r = any(r),
          .bias = row_major(b),
          .y = row_major({steps, batch, ways * hidden}),
          .y_h = row_major(state)};
  if (op.initial_state) d.initial_h = row_major(state);
  if (op.cell == op::Cell::lstm) {
    d.y_c = row_major(state);
    if (op.initial_state) d.initial_c = row_major(state);
  }
  using Way = dnnl::rnn_direction;
  const Way direction = ways == 2    ? Way::bidirectional_concat
                        : op.reverse ? Way::unidirectional_right2left
                                     : Way::unidirectional_left2right;
  constexpr auto inference = dnnl::prop_kind::forward_inference;

  const auto add = [&](const auto& first) {
    for_each_implementation(
        first,
        [&](const auto& descriptor, const std::string& implementation) {
          Draft draft{.algorithm = implementation};
          std::vector<Use> uses{{DNNL_ARG_SRC_LAYER, input(0)},
                                {DNNL_ARG_WEIGHTS_LAYER, input(1)},
                                {DNNL_ARG_WEIGHTS_ITER, input(2)},
                                {DNNL_ARG_DST_LAYER, output(0)},
                                {DNNL_ARG_DST_ITER, output(1)}};
          std::size_t next = 3;
          if (op.bias) uses.push_back({DNNL_ARG_BIAS, input(next++)});
          else
            uses.push_back(
                {DNNL_ARG_BIAS, draft.hold(std::vector<float>(static_cast<std::size_t>(ways * b[2] * hidden), 0.0F))});
          if (op.initial_state) uses.push_back({DNNL_ARG_SRC_ITER, input(next++)});
          if (op.initial_state && op.cell == op::Cell::lstm) uses.push_back({DNNL_ARG_SRC_ITER_C, input(next)});
          if (op.cell == op::Cell::lstm) uses.push_back({DNNL_ARG_DST_ITER_C, output(2)});
          draft.step(descriptor, std::move(uses));
          const auto chosen = [&](int argument) { return descriptor.query_md(dnnl::query::exec_arg_md, argument); };
          draft.transform(1, plain_weights(w), chosen(DNNL_ARG_WEIGHTS_LAYER), reordered_gates(op, hidden * in));
          draft.transform(2, plain_weights(r), chosen(DNNL_ARG_WEIGHTS_ITER), reordered_gates(op, hidden * hidden));
          if (op.bias) draft.transform(3, row_major(b), row_major(b), summed_biases(op));
          // ONNX has the directions before the batch, oneDNN after it.
          const Dims y{steps, ways, batch, hidden};
          draft.outputs.push_back(
              OperandLayout{row_major(y), strided(y, {batch * ways * hidden, hidden, ways * hidden, 1}), std::nullopt});
          candidates.add(std::move(draft));
        },
        true);  // "ref" of recurrent layers is generated matrix products in a loop, the only implementation for GRU
  };
  const auto& engine = candidates.engine();
  const auto attr = common_attributes();
  switch (op.cell) {
    case op::Cell::lstm:
      return add(dnnl::lstm_forward::primitive_desc(engine, inference, direction, d.x, d.initial_h, d.initial_c, d.w,
                                                    d.r, d.bias, d.y, d.y_h, d.y_c, attr, true));
    case op::Cell::gru:
      if (apart)
        return add(dnnl::lbr_gru_forward::primitive_desc(engine, inference, direction, d.x, d.initial_h, d.w, d.r,
                                                         d.bias, d.y, d.y_h, attr, true));
      return add(dnnl::gru_forward::primitive_desc(engine, inference, direction, d.x, d.initial_h, d.w, d.r, d.bias,
                                                   d.y, d.y_h, attr, true));
    case op::Cell::rnn:
      return add(dnnl::vanilla_rnn_forward::primitive_desc(engine, inference, dnnl::algorithm::eltwise_tanh, direction,
                                                           d.x, d.initial_h, d.w, d.r, d.bias, d.y, d.y_h, attr, true));
  }
}

}  // namespace benanza::onednn
