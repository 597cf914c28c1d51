// SPDX-License-Identifier: Apache-2.0
#include "graphs.hpp"

#include "graph_drawing.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // the handle through which cudnn-frontend calls cuDNN; set before the first graph
}

namespace benanza::cudnn {

namespace {

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

/// A device that is described but not present.
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

/// Makes cudnn-frontend call the cuDNN that was found, and a CUDA runtime of the same version as this program's:
/// cudnn-frontend opens the runtime by name alone, which finds a library that is already open.
void open_libraries() {
  fe::cudnn_dlhandle = std::get<std::unique_ptr<const Library>>(Library::get())->file().handle();
  static const auto runtime = [] {
    const std::string name = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);
    auto opened = SharedLibrary::open({name});
    if (std::holds_alternative<std::unique_ptr<SharedLibrary>>(opened))
      setenv("CUDNN_FRONTEND_CUDART_LIB_NAME", name.c_str(), 0);
    return opened;
  }();
}

/// An engine configuration that a heuristic lists.
struct Listed {
  std::int64_t index = 0;  ///< in the graph
  std::string name{};
  bool saves_multiplications = false, compiled_here = false;
};

/// The configurations of a drawn graph that the layer's type allows, the most promising first: for the handle's device
/// or, without a handle, for a described device. Otherwise the reason why there are none.
std::variant<std::vector<Listed>, std::string> list(const Drawn& drawn, cudnnHandle_t handle,
                                                    const Described* described) {
  using enum fe::NumericalNote_t;
  auto& graph = *drawn.graph;
  if (described != nullptr) graph.set_device_properties(described->properties);
  auto status = graph.validate();
  if (status.is_good())
    status = described != nullptr ? graph.build_operation_graph() : graph.build_operation_graph(handle);
  if (status.is_good())
    status = graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::B, fe::HeurMode_t::FALLBACK});
  if (status.is_bad()) return "cuDNN has no graph for it: " + one_line(status.get_message());
  std::vector<Listed> result;
  std::set<std::string> names;  // the modes list many configurations twice
  for (std::int64_t i = 0; i < graph.get_execution_plan_count(); ++i) {
    const auto& notes = graph.plans.numeric_notes.at(static_cast<std::size_t>(i));
    const auto has = [&](fe::NumericalNote_t note) {
      return std::find(notes.begin(), notes.end(), note) != notes.end();
    };
    if (drawn.strict && (has(TENSOR_CORE) || has(DOWN_CONVERT_INPUTS) || has(REDUCED_PRECISION_REDUCTION))) continue;
    std::string tag;
    std::vector<fe::BehaviorNote_t> behavior;
    if (graph.get_plan_name_at_index(i, tag).is_bad() ||
        graph.get_behavior_notes_for_plan_at_index(i, behavior).is_bad())
      continue;
    Listed listed{.index = i,
                  .name = "graph:" + in_charset(tag) + drawn.suffix,
                  .saves_multiplications = has(WINOGRAD) || has(FFT),
                  .compiled_here = std::find(behavior.begin(), behavior.end(),
                                             fe::BehaviorNote_t::RUNTIME_COMPILATION) != behavior.end()};
    if (names.insert(listed.name).second) result.push_back(std::move(listed));
  }
  if (result.empty()) return "none of the engines that cuDNN lists for it multiplies in this type";
  return result;
}

Draft draft_of(const Drawn& drawn, const Listed& listed, cudnnHandle_t handle) {
  Draft draft = drawn.draft;
  draft.algorithm = listed.name;
  draft.compiled_here = listed.compiled_here;
  draft.saves_multiplications = listed.saves_multiplications;
  draft.tolerance = listed.saves_multiplications ? std::max(saving_tolerance, drawn.tolerance) : drawn.tolerance;
  draft.finalize = [graph = drawn.graph, i = listed.index, handle](Draft& finished) -> std::optional<std::string> {
    std::int64_t workspace = 0;
    auto status = graph->build_plan_at_index(handle, i);
    if (status.is_good()) status = graph->get_workspace_size_plan_at_index(i, workspace);
    if (status.is_bad()) return "cuDNN does not finalise this configuration: " + one_line(status.get_message());
    finished.workspace_bytes = static_cast<std::size_t>(std::max<std::int64_t>(0, workspace));
    return std::nullopt;
  };
  draft.execute = [graph = drawn.graph, i = listed.index, inputs = drawn.inputs, outputs = drawn.outputs](
                      cudnnHandle_t stream_handle, const Arguments& a) {
    std::unordered_map<std::int64_t, void*> buffers;
    for (std::size_t k = 0; k < outputs; ++k) buffers[first_output + static_cast<std::int64_t>(k)] = a.outputs[k];
    for (std::size_t k = 0; k < inputs; ++k) buffers[static_cast<std::int64_t>(k) + 1] = const_cast<void*>(a.inputs[k]);
    auto status = graph->execute_plan_at_index(stream_handle, buffers, a.workspace, i);
    if (status.is_bad()) throw EnvironmentError("a plan of cuDNN's graph API failed: " + status.get_message());
  };
  return draft;
}

/// Visits the layer's graphs, one for each order of its operands; `refuse` receives the reason if there is none.
template <class Visit, class Refuse>
void for_each_graph(const Layer& layer, const Parameters& parameters, std::int32_t capability, Visit&& visit,
                    Refuse&& refuse) {
  std::visit(
      [&](const auto& op) {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (Drawable<Op>) {
          const Subject subject(layer, parameters, capability);
          if (!subject.is_known())
            return refuse("no graph of cuDNN for " + std::string(name(op.type)) + " with operands of these types");
          constexpr bool has_orders = std::is_same_v<Op, op::Conv> || std::is_same_v<Op, op::ConvGradient> ||
                                      std::is_same_v<Op, op::NormGradient>;
          for (const Order order : {Order::nhwc, Order::nchw}) {
            if (order == Order::nhwc && !has_orders) continue;
            if (const auto drawn = draw(op, subject, order)) visit(*drawn);
            else refuse("cuDNN's graphs lack a part of this " + std::string(Op::kind));
          }
        } else {
          refuse("no graph of cuDNN is drawn for " + std::string(Op::kind));
        }
      },
      layer);
}

}  // namespace

std::vector<std::string> graph_plans_listed(const Layer& layer, const std::string& description) {
  open_libraries();
  const Described described(description);
  std::vector<std::string> names;
  for_each_graph(
      layer, parameters_of(layer), described.capability,
      [&](const Drawn& drawn) {
        const auto listed = list(drawn, nullptr, &described);
        if (const auto* all = std::get_if<std::vector<Listed>>(&listed))
          for (const auto& one : *all) names.push_back(one.name);
      },
      [](const std::string&) {});
  return names;
}

void add_graph_plans(const Layer& layer, Candidates& candidates) {
  open_libraries();
  const auto refuse = [&](const std::string& why) { candidates.refuse(why); };
  for_each_graph(
      layer, candidates.numbers(), 0,
      [&](const Drawn& drawn) {
        try {
          const auto listed = list(drawn, candidates.handle(), nullptr);
          if (const auto* why = std::get_if<std::string>(&listed)) return refuse(*why);
          candidates.begin_list();
          bool first = true;
          for (const auto& one : std::get<std::vector<Listed>>(listed)) {
            Draft draft = draft_of(drawn, one, candidates.handle());
            draft.advised = std::exchange(first, false);  // first in heuristic mode A, for this order of the operands
            candidates.add(std::move(draft));
          }
        } catch (const Error&) {
          throw;
        } catch (const std::runtime_error& failed) {  // cudnn-frontend's own, for a library that it cannot load
          refuse("cuDNN's graph API failed: " + one_line(failed.what()));
        }
      },
      refuse);
}

}  // namespace benanza::cudnn
