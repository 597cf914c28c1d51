// SPDX-License-Identifier: Apache-2.0
// Models in the form that subcommands use.
#pragma once

#include "in_parallel.hpp"
#include "options.hpp"
#include "sizes.hpp"
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace benanza::tool {

/// A model at one point of a sweep.
struct ModelAt {
  std::filesystem::path file{};
  ImportOptions point{};
  std::optional<DataType> what_if{};
  std::optional<TrainingOptions> training{};
  std::shared_ptr<const ShapesFile> shapes{};  ///< the source of the defaults in `point`; may be null
  std::string name{};                          ///< how reports call it
};
/// The stems of the files, with as many folders in front as tell files of one stem apart: `bert/model`, `gpt2/model`.
[[nodiscard]] std::vector<std::string> model_names(const std::vector<std::filesystem::path>& files);
[[nodiscard]] std::vector<ModelAt> wanted_models(const ModelOptions& options);
[[nodiscard]] Graph load_graph(const ModelAt& model);
/// The same for a file that may be open. If it is not, opens it.
/// `again`: as in OnnxFile::graph.
[[nodiscard]] Graph load_graph(const ModelAt& model, std::optional<OnnxFile>& file, bool again = false);

/// Both forms of a model. A file for which they take too long ends the program (Watchdog).
[[nodiscard]] ModelLayers both_forms(const Graph& graph);

/// The result of `work` on a model. An InputError that does not name the file gets its name, and so does a lack of
/// memory.
template <class Work>
[[nodiscard]] auto naming(const std::filesystem::path& file, const Work& work) {
  try {
    return work();
  } catch (const UnboundError&) {
    throw;
  } catch (const InputError& error) {
    if (std::string_view(error.what()).starts_with(file.string())) throw;
    throw InputError(file.string() + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw InputError(file.string() + ": out of memory");
  }
}

/// Remarks about a model in addition to its figures.
struct Remarks {
  std::filesystem::path file{};
  std::map<std::string, std::int64_t> assumed{};
  std::vector<std::string> warnings{};
  std::optional<UnboundError> unbound{};
  bool shown = false;  ///< the model is shown, with symbols
};

/// Sizes are missing; `copy` is the command that includes them.
struct LackingSizes : InputError {
  LackingSizes(const std::string& what, std::string copy) : InputError(what), copy(std::move(copy)) {}
  std::string copy;
};

/// Reports on stderr what was assumed, left out and not bound, with one line for all models with the same message.
void say(const std::vector<Remarks>& remarks);
/// Every dimension of any model that lacks a size, once; empty if there is none.
[[nodiscard]] std::optional<LackingSizes> lacking_sizes(const std::vector<Remarks>& remarks);

/// The results of `use` for the graph of every model, in order, and of `otherwise` for a model whose sizes are not all
/// bound. If that is empty, throws LackingSizes after all models have been tried. `use` may also take the open file,
/// to load the model at other sizes.
template <class Use, class Otherwise>
[[nodiscard]] auto from_each_graph(const ModelOptions& options, bool quiet, const Use& use,
                                   const Otherwise& otherwise) {
  using File = std::optional<OnnxFile>;
  constexpr bool keeps_file = std::is_invocable_v<const Use&, Graph&&, File&>;
  const auto apply = [&use](Graph&& graph, File& file) {
    if constexpr (keeps_file) return use(std::move(graph), file);
    else {
      file.reset();
      return use(std::move(graph));
    }
  };
  using Result = std::invoke_result_t<decltype(apply), Graph&&, File&>;
  auto made = each_in_parallel(wanted_models(options), [&](const ModelAt& model) {
    std::pair<std::optional<Result>, Remarks> one{std::nullopt, {.file = model.file}};
    try {
      File file;
      Graph graph = load_graph(model, file, keeps_file);
      one.second.assumed = graph.assumed;
      one.second.warnings = graph.warnings;
      one.first = naming(model.file, [&] { return apply(std::move(graph), file); });
    } catch (const UnboundError& error) {
      one.second.unbound = error;
      one.second.assumed = error.assumed;
      one.first = otherwise(model, error);
      one.second.shown = one.first.has_value();
    }
    return one;
  });
  std::vector<Result> results;
  std::vector<Remarks> remarks;
  for (auto& [result, remark] : made) {
    if (result) results.push_back(std::move(*result));
    remarks.push_back(std::move(remark));
  }
  const auto is_shown = [](const Remarks& one) { return !one.unbound || one.shown; };
  if (!std::all_of(remarks.begin(), remarks.end(), is_shown)) throw *lacking_sizes(remarks);
  if (!quiet) say(remarks);
  return results;
}
template <class Use>
[[nodiscard]] auto from_each_graph(const ModelOptions& options, bool quiet, const Use& use) {
  return from_each_graph(options, quiet, use, [](const ModelAt&, const UnboundError&) { return std::nullopt; });
}

/// The results of `use` for every model in both forms, in order; only models that it keeps remain.
template <class Use>
[[nodiscard]] auto from_each_model(const ModelOptions& options, bool quiet, const Use& use) {
  return from_each_graph(options, quiet, [&use](Graph&& graph) {
    ModelLayers model = both_forms(graph);
    graph = {};  // its memory is needed for what is made of the layers
    return use(std::move(model));
  });
}

/// Every model of the options; for a sweep, at each of its points.
[[nodiscard]] std::vector<Graph> load_graphs(const ModelOptions& options, bool quiet);

/// The same in both forms.
[[nodiscard]] std::vector<ModelLayers> load_models(const ModelOptions& options, bool quiet);

}  // namespace benanza::tool
