// SPDX-License-Identifier: Apache-2.0
#include "graphs.hpp"

#include "graph_drawing.hpp"
#include <benanza/bench/beat.hpp>

#include <cctype>
#include <functional>
#include <set>
#include <unordered_map>

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // what cudnn-frontend calls cuDNN through; set before the first graph
}

namespace benanza::cudnn {

namespace {

/// Notes of engines that save multiplications; they are asked for apart, so that their plans can be told.
constexpr fe::NumericalNote_t saving_notes[] = {fe::NumericalNote_t::WINOGRAD, fe::NumericalNote_t::FFT};

std::string in_charset(std::string text) {
  for (auto& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::string_view("_.=:-").find(c) == std::string_view::npos)
      c = '_';
  return text;
}

/// Makes a graph anew, since which engines it may use is decided before its plans are listed.
using Maker = std::function<std::optional<Drawn>()>;

/// Lists the plans of a drawn graph: of the handle's device, or without one of a device that is described. False where
/// cuDNN knows none.
bool list_plans(Drawn& drawn, std::optional<fe::NumericalNote_t> saving, cudnnHandle_t handle,
                const std::shared_ptr<fe::DeviceProperties>& description) {
  auto& graph = *drawn.graph;
  if (description) graph.set_device_properties(description);
  if (graph.validate().is_bad()) return false;
  if ((description ? graph.build_operation_graph() : graph.build_operation_graph(handle)).is_bad()) return false;
  if (graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::B, fe::HeurMode_t::FALLBACK}).is_bad())
    return false;
  std::vector<fe::NumericalNote_t> barred;
  if (saving) graph.select_numeric_notes({*saving});
  else barred.assign(std::begin(saving_notes), std::end(saving_notes));
  if (drawn.strict)
    barred.insert(barred.end(), {fe::NumericalNote_t::TENSOR_CORE, fe::NumericalNote_t::DOWN_CONVERT_INPUTS,
                                 fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION});
  graph.deselect_numeric_notes(barred);
  return true;
}

void add_plans_of(const Maker& make, std::optional<fe::NumericalNote_t> saving, Rivals& rivals,
                  std::set<std::string>& names) {
  auto drawn = make();
  if (!drawn || !list_plans(*drawn, saving, rivals.handle(), nullptr)) return;
  auto& graph = *drawn->graph;
  const std::int64_t count = graph.get_execution_plan_count();
  for (std::int64_t i = 0; i < count; ++i) {
    std::string tag;
    if (graph.get_plan_name_at_index(i, tag).is_bad()) continue;
    const std::string name = "graph:" + in_charset(tag) + drawn->suffix;
    if (names.contains(name)) continue;
    std::int64_t workspace = 0;
    beat();  // seconds, where code is generated for it
    if (graph.build_plan_at_index(rivals.handle(), i).is_bad() ||
        graph.get_workspace_size_plan_at_index(i, workspace).is_bad())
      continue;
    names.insert(name);
    Draft draft = drawn->draft;
    draft.algorithm = name;
    draft.workspace_bytes = static_cast<std::size_t>(std::max<std::int64_t>(0, workspace));
    draft.saves_multiplications = saving.has_value();
    draft.tolerance = saving ? std::max(saving_tolerance, drawn->tolerance) : drawn->tolerance;
    draft.execute = [graph = drawn->graph, i, inputs = drawn->inputs](cudnnHandle_t handle, const Arguments& a) {
      std::unordered_map<std::int64_t, void*> buffers{{first_output, a.outputs[0]}};
      for (std::size_t k = 0; k < inputs; ++k)
        buffers[static_cast<std::int64_t>(k) + 1] = const_cast<void*>(a.inputs[k]);
      auto status = graph->execute_plan_at_index(handle, buffers, a.workspace, i);
      if (status.is_bad()) throw EnvironmentError("a plan of cuDNN's graph API failed: " + status.get_message());
    };
    rivals.add(std::move(draft));
  }
}

}  // namespace

std::vector<std::string> graph_plan_tags(const Layer& layer, const std::string& description) {
  fe::cudnn_dlhandle = std::get<std::unique_ptr<const Library>>(Library::get())->file().handle();
  const auto properties = std::make_shared<fe::DeviceProperties>();
  if (auto read = properties->deserialize({description.begin(), description.end()}); read.is_bad())
    throw EnvironmentError("cuDNN does not take this description of a device: " + read.get_message());
  return std::visit(
      [&](const auto& op) -> std::vector<std::string> {
        std::vector<std::string> tags;
        if constexpr (Drawable<std::decay_t<decltype(op)>>) {
          const Subject subject(layer);
          auto drawn = subject.is_known() ? draw(op, subject, Order::nhwc) : std::nullopt;
          if (!drawn || !list_plans(*drawn, std::nullopt, nullptr, properties)) return tags;
          for (std::int64_t i = 0; i < drawn->graph->get_execution_plan_count(); ++i)
            if (std::string tag; drawn->graph->get_plan_name_at_index(i, tag).is_good()) tags.push_back(tag);
        }
        return tags;
      },
      layer);
}

std::variant<Plans, Unsupported> graph_plans(const Layer& layer, std::shared_ptr<const Handle> handle) {
  const auto& library = Library::get();
  fe::cudnn_dlhandle = std::get<std::unique_ptr<const Library>>(library)->file().handle();
  return std::visit(
      [&](const auto& op) -> std::variant<Plans, Unsupported> {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (Drawable<Op>) {
          const Subject subject(layer);
          if (!subject.is_known())
            return Unsupported{"no graph of cuDNN for " + std::string(name(op.type)) + " with operands of these types"};
          Rivals rivals(handle, layer);
          std::set<std::string> names;
          constexpr bool has_orders = std::is_same_v<Op, op::Conv>;
          for (const Order order : {Order::nchw, Order::nhwc}) {
            if (order == Order::nhwc && !has_orders) continue;
            const Maker make = [&] { return draw(op, subject, order); };
            add_plans_of(make, std::nullopt, rivals, names);
            if constexpr (has_orders)
              for (const auto saving : saving_notes) add_plans_of(make, saving, rivals, names);
          }
          return std::move(rivals).result();
        } else {
          return Unsupported{"no graph of cuDNN is drawn for " + std::string(Op::kind)};
        }
      },
      layer);
}

}  // namespace benanza::cudnn
