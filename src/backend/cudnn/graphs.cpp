// SPDX-License-Identifier: Apache-2.0
#include "graphs.hpp"

#include "graph_drawing.hpp"
#include <benanza/plan/beat.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
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

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Makes a graph anew, since which engines it may use is decided before its plans are listed.
using Maker = std::function<std::optional<Drawn>()>;

/// A device that is not here.
struct Described {
  std::shared_ptr<fe::DeviceProperties> properties = std::make_shared<fe::DeviceProperties>();
  std::int32_t capability = 0;  ///< 90 is 9.0

  explicit Described(const std::string& json) {
    if (auto read = properties->deserialize({json.begin(), json.end()}); read.is_bad())
      throw EnvironmentError("cuDNN does not take this description of a device: " + read.get_message());
    constexpr std::string_view key = "\"deviceVer\":";
    if (const auto at = json.find(key); at != std::string::npos)
      capability = static_cast<std::int32_t>(std::strtol(json.c_str() + at + key.size(), nullptr, 10)) / 10;
  }
};

/// Makes cudnn-frontend call the cuDNN that was found, and CUDA's runtime: it opens that by its name alone, which finds
/// what is open already.
void open_libraries() {
  fe::cudnn_dlhandle = std::get<std::unique_ptr<const Library>>(Library::get())->file().handle();
  static const auto runtime = SharedLibrary::open({"libcudart.so." + std::to_string(CUDART_VERSION / 1000)});
}

/// Lists the plans of a drawn graph: of the handle's device, or without one of a device that is described. Otherwise
/// why there are none.
std::optional<std::string> list_plans(Drawn& drawn, std::optional<fe::NumericalNote_t> saving, cudnnHandle_t handle,
                                      const Described* described) {
  auto& graph = *drawn.graph;
  if (described != nullptr) graph.set_device_properties(described->properties);
  auto status = graph.validate();
  if (status.is_good())
    status = described != nullptr ? graph.build_operation_graph() : graph.build_operation_graph(handle);
  if (status.is_good())
    status = graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::B, fe::HeurMode_t::FALLBACK});
  if (status.is_bad()) return "cuDNN has no graph for it: " + one_line(status.get_message());
  std::vector<fe::NumericalNote_t> barred;
  if (saving) graph.select_numeric_notes({*saving});
  else barred.assign(std::begin(saving_notes), std::end(saving_notes));
  if (drawn.strict)
    barred.insert(barred.end(), {fe::NumericalNote_t::TENSOR_CORE, fe::NumericalNote_t::DOWN_CONVERT_INPUTS,
                                 fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION});
  graph.deselect_numeric_notes(barred);
  return std::nullopt;
}

void add_plans_of(const Maker& make, std::optional<fe::NumericalNote_t> saving, Candidates& candidates,
                  std::set<std::string>& names) {
  auto drawn = make();
  if (!drawn) return;
  if (auto why = list_plans(*drawn, saving, candidates.handle(), nullptr)) {
    if (!saving) candidates.refuse(std::move(*why));
    return;
  }
  auto& graph = *drawn->graph;
  const std::int64_t count = graph.get_execution_plan_count();
  for (std::int64_t i = 0; i < count; ++i) {
    std::string tag;
    if (graph.get_plan_name_at_index(i, tag).is_bad()) continue;
    const std::string name = "graph:" + in_charset(tag) + drawn->suffix;
    if (names.contains(name)) continue;
    std::int64_t workspace = 0;
    beat();  // seconds, where code is generated for it
    if (graph.build_plan_at_index(candidates.handle(), i).is_bad() ||
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
    candidates.add(std::move(draft));
  }
}

}  // namespace

std::vector<std::string> graph_plan_tags(const Layer& layer, const std::string& description) {
  open_libraries();
  const Described described(description);
  return std::visit(
      [&](const auto& op) -> std::vector<std::string> {
        std::vector<std::string> tags;
        if constexpr (Drawable<std::decay_t<decltype(op)>>) {
          const Subject subject(layer, described.capability);
          auto drawn = subject.is_known() ? draw(op, subject, Order::nhwc) : std::nullopt;
          if (!drawn || list_plans(*drawn, std::nullopt, nullptr, &described)) return tags;
          for (std::int64_t i = 0; i < drawn->graph->get_execution_plan_count(); ++i)
            if (std::string tag; drawn->graph->get_plan_name_at_index(i, tag).is_good()) tags.push_back(tag);
        }
        return tags;
      },
      layer);
}

std::variant<Plans, Unsupported> graph_plans(const Layer& layer, std::shared_ptr<const Handle> handle) {
  open_libraries();
  return std::visit(
      [&](const auto& op) -> std::variant<Plans, Unsupported> {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (Drawable<Op>) {
          const Subject subject(layer);
          if (!subject.is_known())
            return Unsupported{"no graph of cuDNN for " + std::string(name(op.type)) + " with operands of these types"};
          Candidates candidates(handle, layer);
          std::set<std::string> names;
          constexpr bool has_orders = std::is_same_v<Op, op::Conv>;
          for (const Order order : {Order::nchw, Order::nhwc}) {
            if (order == Order::nhwc && !has_orders) continue;
            const Maker make = [&] { return draw(op, subject, order); };
            try {
              add_plans_of(make, std::nullopt, candidates, names);
              if constexpr (has_orders)
                for (const auto saving : saving_notes) add_plans_of(make, saving, candidates, names);
            } catch (const Error&) {
              throw;
            } catch (const std::runtime_error& failed) {  // cudnn-frontend's own, of a library that it cannot load
              candidates.refuse("cuDNN's graph API failed: " + one_line(failed.what()));
            }
          }
          return std::move(candidates).result();
        } else {
          return Unsupported{"no graph of cuDNN is drawn for " + std::string(Op::kind)};
        }
      },
      layer);
}

}  // namespace benanza::cudnn
