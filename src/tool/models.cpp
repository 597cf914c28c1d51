// SPDX-License-Identifier: Apache-2.0
#include "models.hpp"

#include "sizes.hpp"
#include "terminal.hpp"
#include "watchdog.hpp"
#include <benanza/base/detail/shell_word.hpp>
#include <benanza/model/retype.hpp>
#include <benanza/training/derive_training.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

namespace benanza::tool {

namespace {

/// The command as typed.
std::string typed() {
  std::ifstream arguments("/proc/self/cmdline");
  std::string text = "benanza", argument;
  std::getline(arguments, argument, '\0');  // the program
  while (std::getline(arguments, argument, '\0')) text += " " + detail::shell_word(argument);
  return text;
}

/// The models that a message is about: the name of the only one, or the number of them.
std::string whose(const std::vector<std::string>& models) {
  return models.size() == 1 ? models.front() : std::to_string(models.size()) + " models";
}

/// Messages and the models that each is about, in the order of their first occurrence.
class Grouped {
 public:
  void add(const std::string& text, const std::filesystem::path& file) {
    auto found = std::find_if(texts_.begin(), texts_.end(), [&](const auto& one) { return one.first == text; });
    if (found == texts_.end()) found = texts_.insert(texts_.end(), {text, {}});
    const std::string name = file.filename().string();
    if (std::find(found->second.begin(), found->second.end(), name) == found->second.end())
      found->second.push_back(name);
  }
  [[nodiscard]] const auto& texts() const { return texts_; }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> texts_{};
};

}  // namespace

std::vector<std::string> model_names(const std::vector<std::filesystem::path>& files) {
  std::vector<std::vector<std::string>> parts;  // by file: its stem, then its folders, innermost first
  for (const auto& file : files) {
    const std::filesystem::path path = file.lexically_normal();
    std::vector<std::string>& each = parts.emplace_back(1, path.stem().string());
    for (const auto& folder : path.relative_path().parent_path()) each.insert(each.begin() + 1, folder.string());
  }
  const auto in_common = [](const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const auto differs = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
    return static_cast<std::size_t>(differs - a.begin());
  };
  std::vector<std::string> names;
  for (const auto& own : parts) {
    std::size_t most = 0;
    for (const auto& other : parts)
      if (other != own) most = std::max(most, in_common(own, other));
    std::string& name = names.emplace_back(own.front());
    for (std::size_t i = 1; i <= most && i < own.size(); ++i) name.insert(0, own[i] + "/");
  }
  return names;
}

std::vector<ModelAt> wanted_models(const ModelOptions& options) {
  std::vector<ModelAt> result;
  const std::vector<ImportOptions> points = options.import_options();
  const auto shapes = options.shapes.empty() ? nullptr : std::make_shared<const ShapesFile>(options.shapes);
  const auto files = options.files();
  const std::vector<std::string> names = model_names(files);
  for (std::size_t i = 0; i < files.size(); ++i)
    for (const auto& point : points) {
      const auto& file = files[i];
      ModelAt& model =
          result.emplace_back(ModelAt{file, point, options.what_if(), options.training.options(), shapes, names[i]});
      if (shapes) model.point.defaults = shapes->defaults(file);
      model.point.arrays = options.input_arrays;
    }
  return result;
}

Graph load_graph(const ModelAt& model) {
  std::optional<OnnxFile> file;
  return load_graph(model, file);
}

Graph load_graph(const ModelAt& model, std::optional<OnnxFile>& file, bool again) {
  const Watchdog watchdog(model.file, Watchdog::Task::read);
  if (!file) file.emplace(model.file, model.point.executable);
  Graph graph = file->graph(model.point, again);
  graph.name = model.name;
  if (model.shapes) model.shapes->check_names(model.file, graph);
  if (model.what_if) graph = retype(std::move(graph), *model.what_if);
  if (!model.training) return graph;
  TrainingGraph iteration = naming(model.file, [&] { return derive_training(std::move(graph), *model.training); });
  return model.point.executable ? with_numbers(std::move(iteration)) : std::move(iteration.graph);
}

ModelLayers both_forms(const Graph& graph) {
  const Watchdog watchdog(graph.file, Watchdog::Task::analyze);
  return make_model_layers(graph);
}

void say(const std::vector<Remarks>& remarks) {
  Grouped assumed;
  for (const auto& one : remarks) {
    std::string text;
    for (const auto& [symbol, size] : one.assumed)
      text += (text.empty() ? "" : ", ") + symbol + "=" + std::to_string(size);
    if (!text.empty()) assumed.add(text, one.file);
  }
  for (const auto& [text, models] : assumed.texts())
    terminal::say(whose(models) + ": assumed " + text + " (--batch and --dim say another size)");
  Grouped warnings;
  for (const auto& one : remarks)
    for (const auto& warning : one.warnings) warnings.add(warning, one.file);
  for (const auto& [text, models] : warnings.texts()) terminal::warn(whose(models) + ": " + text);
  if (const auto lacking = lacking_sizes(remarks)) {
    terminal::say(lacking->what());
    terminal::suggest(lacking->copy);
  }
}

std::optional<LackingSizes> lacking_sizes(const std::vector<Remarks>& remarks) {
  std::vector<const Remarks*> lacking;
  for (const auto& one : remarks)
    if (one.unbound && (lacking.empty() || lacking.back()->file != one.file)) lacking.push_back(&one);
  if (lacking.empty()) return std::nullopt;
  std::string what = lacking.front()->unbound->what();
  if (lacking.size() == 2) what += "; and 1 more model lacks sizes";
  if (lacking.size() > 2) what += "; and " + std::to_string(lacking.size() - 1) + " more models lack sizes";
  std::string options;
  SizesByModel by_model;
  for (const Remarks* one : lacking) {
    const auto add = [&](const std::string& key, const std::vector<std::pair<std::string, std::int64_t>>& numbers) {
      for (const auto& [name, number] : numbers) {
        options += " --" + key + " " + detail::shell_word(name + "=" + std::to_string(number));
        by_model[one->file.filename().string()][key][name] = number;
      }
    };
    add("dim", one->unbound->likely);
    add("value", one->unbound->values);
  }
  if (options.empty()) return LackingSizes(what, "");
  const bool one_model = std::all_of(remarks.begin(), remarks.end(),
                                     [&](const Remarks& other) { return other.file == lacking.front()->file; });
  if (one_model) return LackingSizes(what, typed() + options);
  return LackingSizes(what, "echo " + detail::shell_word(shapes_text(by_model)) + " > shapes.json && " + typed() +
                                " --shapes shapes.json");
}

std::vector<Graph> load_graphs(const ModelOptions& options, bool quiet) {
  return from_each_graph(options, quiet, [](Graph&& graph) { return std::move(graph); });
}

std::vector<ModelLayers> load_models(const ModelOptions& options, bool quiet) {
  return from_each_model(options, quiet, [](ModelLayers&& model) { return std::move(model); });
}

}  // namespace benanza::tool
