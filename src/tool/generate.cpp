// SPDX-License-Identifier: Apache-2.0
// benanza generate: the suite over a set of models as a Google Benchmark translation unit, or as a project of the
// libraries' own calls; or the reproducer of one layer.
#include "commands.hpp"
#include "models.hpp"
#include "output.hpp"
#include "reproducer.hpp"
#include "stored.hpp"
#include <benanza/base/detail/shell_word.hpp>
#include <benanza/codegen.hpp>
#include <benanza/session/backends.hpp>
#include <benanza/session/session.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

namespace benanza::tool {

namespace {

struct GenerateCommand {
  ModelOptions models{};
  std::string file{};
  std::string name{};
  std::vector<std::string> backends{"onednn", "openblas", "native"};
  bool standalone = false;
  std::vector<std::string> missing_from{};  ///< results
  MachineChoice of{};                       ///< of `missing_from`
  ReproducerOptions reproducer{};
};

/// The types of the layers, each a what-if; an empty type means the models' own.
std::vector<std::string> types_of(const GenerateCommand& options) {
  std::string text = options.models.type;
  // As in the paper of 2019.
  const auto on_device = [](const std::string& name) { return name == "cuda" || name == "cudnn" || name == "cublas"; };
  if (text.empty() && std::any_of(options.backends.begin(), options.backends.end(), on_device)) text = "f32,f16";
  std::vector<std::string> types;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    types.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return types;
}

/// The layers that must be measured for the models' bounds, in all types.
LayerSet layers_of(const GenerateCommand& options) {
  LayerSet layers;
  for (const auto& type : types_of(options)) {
    ModelOptions models = options.models;
    models.type = type;
    for (auto& of_model : from_each_model(models, false, measurable_layers)) layers.merge(std::move(of_model));
  }
  return layers;
}

/// The layers that the results lack: none of their libraries has a time for them, and not all of the libraries report
/// that they have none.
LayerSet missing_layers(const LayerSet& layers, const std::vector<std::string>& results, const MachineChoice& of) {
  const StoredResults stored = load_results(results, {}, of);
  std::set<std::string> known;
  std::map<std::string, std::set<std::string>> asked;  // libraries, by layer
  for (const auto& run : stored.results.runs())
    for (const auto& row : run.rows) {
      asked[row.signature].insert(row.backend);
      if (row.measured() || asked[row.signature].size() == stored.report.backends.size()) known.insert(row.signature);
    }
  LayerSet missing;
  for (const auto& [signature, unique] : layers.layers()) {
    if (known.contains(signature.text())) continue;
    for (const auto& user : unique.users) missing.add(unique.layer, user);
  }
  return missing;
}

void write_project(const std::filesystem::path& folder, const SuiteSource& source) {
  const auto files = standalone_suite(source);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw EnvironmentError(folder.string() + ": cannot be made: " + failed.message());
  for (const auto& file : files) write_to((folder / file.name).string(), [&](std::ostream& out) { out << file.text; });
}

/// The names of the models, with one glob for all models of a folder if all of them are meant, so that the command is
/// the same however a shell expanded it.
std::string model_names(const ModelOptions& models) {
  std::map<std::filesystem::path, std::vector<std::filesystem::path>> by_folder;
  for (const auto& file : models.files()) by_folder[file.parent_path()].push_back(file);
  std::string text;
  for (const auto& [folder, files] : by_folder) {
    std::size_t there = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder))
      there += entry.path().extension() == ".onnx" ? 1 : 0;
    if (files.size() > 1 && files.size() == there) {
      text += " " + (folder / "*.onnx").generic_string();
      continue;
    }
    for (const auto& file : files) text += " " + file.generic_string();
  }
  return text;
}

/// The command that creates the same file again, with options in a fixed order.
std::string canonical_command(const GenerateCommand& options, const std::string& name) {
  std::string text = "benanza generate" + model_names(options.models);
  ModelOptions models = options.models;
  models.type.clear();
  for (const auto& type : types_of(options)) models.type += (models.type.empty() ? "" : ",") + type;
  text += models.text();
  for (const auto& results : options.missing_from) text += " --missing-from " + results;
  if (!options.of.of.empty()) text += " --of " + options.of.of;
  for (const auto& fact : options.of.accept) text += " --accept " + fact;
  if (options.standalone) text += " --standalone";
  text += " --name " + name + " --backend ";
  for (std::size_t i = 0; i < options.backends.size(); ++i) text += (i ? "," : "") + options.backends[i];
  return text;
}

/// Suites may be for backends that this build lacks.
void check_known(const std::string& backend) {
  constexpr std::string_view known = BENANZA_BACKEND_HEADERS;
  if (("," + std::string(known) + ",").find("," + backend + ",") == std::string::npos)
    throw UsageError("--backend " + backend + ": expected one of " + std::string(known));
}

}  // namespace

void add_generate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GenerateCommand>();
  auto* command =
      app.add_subcommand("generate", "the suite over a set of models as a Google Benchmark translation unit");
  command->footer(
      "benanza generate examples/models/modern/*.onnx -o generated/modern.cpp\n"
      "benanza generate resnet50.onnx --standalone -o suite\n"
      "benanza generate --reproducer MatMul/f32/a=128x768/b=768x768/b_constant=1 -o slow.cpp");
  options->models.add_to(*command);
  options->models.training.add_to(*command);
  command->get_option("models")->required(false);
  options->reproducer.add_to(*command);
  command->add_option("-o,--output", options->file, "file to write, - is stdout; with --standalone a folder")
      ->required()
      ->type_name("FILE.cpp");
  command->add_flag("--standalone", options->standalone,
                    "a CMake project of the libraries' own calls and Google Benchmark, without Benanza");
  command
      ->add_option("--missing-from", options->missing_from,
                   "only the layers that these results lack (files or folders)")
      ->type_name("RESULTS")
      ->allow_extra_args(false);
  add_machine_choice(*command, options->of, "--missing-from");
  command->add_option("--name", options->name, "name of the suite (default: the file's stem)")->type_name("NAME");
  command
      ->add_option("--backend", options->backends, "libraries that the suite wraps, or whose best plan is reproduced")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command->callback([options, &exit_code] {
    exit_code = done;
    if (!options->reproducer.signature.empty()) {
      if (!options->models.models.empty()) throw UsageError("--reproducer takes a signature, not models");
      Reproducer reproducer = make_reproducer(options->reproducer, expand_backends(options->backends));
      if (options->file != "-") reproducer.file = detail::shell_word(options->file);
      write_to(options->file, [&](std::ostream& out) { emit_reproducer(reproducer, out); });
      return;
    }
    if (options->models.models.empty())
      throw UsageError("generate: models, or --reproducer with a signature, are required");
    if (options->standalone && options->file == "-") throw UsageError("--standalone writes a folder, not to stdout");
    const std::filesystem::path output = std::filesystem::path(options->file).lexically_normal();
    const std::string stem = (output.has_filename() ? output : output.parent_path()).stem().string();
    const std::string name = !options->name.empty() ? options->name : options->file == "-" ? "suite" : stem;
    SuiteSource source{
        .name = name, .command = canonical_command(*options, name), .backends = expand_backends(options->backends)};
    std::for_each(source.backends.begin(), source.backends.end(), check_known);
    if (options->standalone) {  // without Benanza's own kernels
      std::erase_if(source.backends,
                    [](const std::string& backend) { return backend == "native" || backend == "cuda"; });
      if (source.backends.empty())
        throw UsageError("--backend: native and cuda are kernels of Benanza's own, which --standalone leaves out");
    }
    source.layers = layers_of(*options);
    if (!options->missing_from.empty()) {
      source.layers = missing_layers(source.layers, options->missing_from, options->of);
      if (source.layers.size() == 0) throw InputError("--missing-from: the results lack none of these layers");
    }
    if (options->standalone) return write_project(output, source);
    write_to(options->file, [&](std::ostream& out) { emit_suite(source, out); });
  });
}

}  // namespace benanza::tool
