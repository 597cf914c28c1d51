// Attention by cuDNN's graph API, by way of cudnn-frontend, which knows the graph of many operations that engines
// recognise. Each engine configuration that the heuristics list for this device is a plan, named by its tag.
#include "cudnn.hpp"

#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

#include <cmath>
#include <unordered_map>

namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

#define CHECK_GRAPH(call)                                     \
  do {                                                        \
    auto status = (call);                                     \
    if (status.is_bad()) failed(#call, status.get_message()); \
  } while (false)

/// A tensor and how it lies; strides in elements.
struct Operand {
  Sizes dims{}, strides{};
};

struct Layer {
  const char* signature;
  Work work;
  fe::DataType_t type;
  Operand q{}, k{}, v{}, y{};
  Operand mask{};  // added to the scores; empty: none
  bool causal = false;
};

constexpr std::int64_t result_number = 1000;

/// A graph in the making. Inputs have the numbers 1, 2 ...
struct Drawing {
  std::shared_ptr<fe::graph::Graph> graph = std::make_shared<fe::graph::Graph>();
  std::vector<std::int64_t> counts{};  // elements of each input

  Tensor input(const Operand& operand, fe::DataType_t type) {
    counts.push_back(product(operand.dims));
    return graph->tensor(fe::graph::Tensor_attributes()
                             .set_uid(static_cast<std::int64_t>(counts.size()))
                             .set_dim({operand.dims.begin(), operand.dims.end()})
                             .set_stride({operand.strides.begin(), operand.strides.end()})
                             .set_data_type(type));
  }
};

Drawing draw(const Layer& layer) {
  Drawing drawing;
  drawing.graph->set_io_data_type(layer.type)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  const Tensor q = drawing.input(layer.q, layer.type), k = drawing.input(layer.k, layer.type),
               v = drawing.input(layer.v, layer.type);
  auto how = fe::graph::SDPA_attributes()
                 .set_generate_stats(false)
                 .set_attn_scale(1 / std::sqrt(static_cast<float>(layer.k.dims[3])))
                 .set_causal_mask(layer.causal);
  if (!layer.mask.dims.empty()) how.set_bias(drawing.input(layer.mask, layer.type));
  drawing.graph->sdpa(q, k, v, how)[0]
      ->set_output(true)
      .set_uid(result_number)
      .set_dim({layer.y.dims.begin(), layer.y.dims.end()})
      .set_stride({layer.y.strides.begin(), layer.y.strides.end()})
      .set_data_type(layer.type);
  return drawing;
}

Ready prepare(const Layer& layer, const Drawing& drawing, std::int64_t plan, Cache cache) {
  if (auto status = drawing.graph->build_plan_at_index(cudnn(), plan); status.is_bad())
    throw Skipped("not offered: " + status.get_message());
  std::int64_t workspace_bytes = 0;
  CHECK_GRAPH(drawing.graph->get_workspace_size_plan_at_index(plan, workspace_bytes));
  const Memory workspace(static_cast<std::size_t>(std::max<std::int64_t>(0, workspace_bytes)));
  const auto buffers = std::make_shared<Buffers>(cache);
  const cudaDataType_t type = layer.type == fe::DataType_t::HALF ? CUDA_R_16F : CUDA_R_16BF;
  for (const std::int64_t count : drawing.counts) buffers->add(elements(type, count), false);
  const std::size_t y = buffers->add(elements(type, product(layer.y.dims)), false);
  buffers->spread();
  // The addresses by the tensors' numbers, made once: a call changes those that walk.
  const auto addresses = std::make_shared<std::unordered_map<std::int64_t, void*>>();
  return {.call =
              [=, graph = drawing.graph](std::size_t copy) {
                for (std::size_t i = 0; i <= y; ++i)
                  (*addresses)[i == y ? result_number : static_cast<std::int64_t>(i) + 1] = buffers->at(i, copy);
                CHECK_GRAPH(graph->execute_plan_at_index(cudnn(), *addresses, workspace.get(), plan));
              },
          .copies = buffers->copies()};
}

/// Registers each configuration that the heuristics list; returns why there are none.
std::string add_plans(const Layer& layer) {
  const Drawing drawing = draw(layer);
  fe::graph::Graph& graph = *drawing.graph;
  auto status = graph.validate();
  if (status.is_good()) status = graph.build_operation_graph(cudnn());
  if (status.is_good())
    status = graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::B, fe::HeurMode_t::FALLBACK});
  if (status.is_bad()) return status.get_message();
  std::set<std::string> names;  // the modes list many configurations twice
  for (std::int64_t i = 0; i < graph.get_execution_plan_count(); ++i) {
    std::string tag;
    if (graph.get_plan_name_at_index(i, tag).is_bad()) continue;
    for (char& c : tag)
      if (c == ',') c = '_';  // a comma begins a key of the plan's name
    const std::string plan = "cudnn/graph:" + spelled(tag) + ",threads=1";
    if (!names.insert(plan).second) continue;
    add_row(plan, layer.signature, layer.work, false, [=](Cache cache) { return prepare(layer, drawing, i, cache); });
  }
  return names.empty() ? "cuDNN lists no engine" : "";
}

constexpr Layer layers[] = {
    // @rows@
};

}  // namespace

void add_cudnn_attention() {
  for (const Layer& layer : layers) {
    std::string reason;
    try {
      reason = add_plans(layer);
    } catch (const std::exception& error) {  // cudnn-frontend's own, of a library that it cannot load
      reason = error.what();
    }
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    if (!reason.empty()) add_refusal("cudnn/graph:none,threads=1", layer.signature, "not offered: " + reason);
  }
}
