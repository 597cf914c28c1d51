// SPDX-License-Identifier: Apache-2.0
// benanza generate: the suite over a set of models as a Google Benchmark translation unit, or the reproducer of one
// layer.
#include "commands.hpp"
#include "models.hpp"
#include "output.hpp"
#include "reproducer.hpp"
#include <benanza/codegen.hpp>
#include <benanza/session/backends.hpp>
#include <benanza/session/session.hpp>

#include <CLI/CLI.hpp>

#include <filesystem>
#include <map>
#include <memory>

namespace benanza::tool {

namespace {

struct GenerateCommand {
  ModelOptions models{};
  std::string file{};
  std::string name{};
  std::vector<std::string> backends{"onednn", "openblas", "native"};
  ReproducerOptions reproducer{};
};

/// The models as they would be named: a folder's models by one glob when all of them are meant, so that the command
/// stays the same however a shell expanded it.
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

/// The command that makes the same file again, options in a fixed order.
std::string canonical_command(const GenerateCommand& options, const std::string& name) {
  std::string text = "benanza generate" + model_names(options.models);
  for (std::size_t i = 0; i < options.models.batches.size(); ++i)
    text += (i ? "," : " --batch ") + std::to_string(options.models.batches[i]);
  const auto list = [&](const char* option, const std::vector<std::string>& values) {
    for (const auto& value : values) text += std::string(" ") + option + " " + value;
  };
  list("--dim", options.models.dims);
  list("--input", options.models.inputs);
  list("--value", options.models.values);
  list("--dims-from", options.models.dims_from);
  if (!options.models.shapes.empty()) text += " --shapes " + options.models.shapes;
  if (!options.models.type.empty()) text += " --type " + options.models.type;
  text += options.models.training.text();
  text += " --name " + name + " --backend ";
  for (std::size_t i = 0; i < options.backends.size(); ++i) text += (i ? "," : "") + options.backends[i];
  return text;
}

}  // namespace

void add_generate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GenerateCommand>();
  auto* command =
      app.add_subcommand("generate", "the suite over a set of models as a Google Benchmark translation unit");
  command->footer(
      "example: benanza generate examples/models/modern/*.onnx -o generated/modern.cpp\n"
      "         benanza generate --reproducer MatMul/f32/a=128x768/b=768x768/b_constant=1 -o slow.cpp");
  options->models.add_to(*command);
  options->models.training.add_to(*command);
  command->get_option("models")->required(false);
  options->reproducer.add_to(*command);
  command->add_option("-o,--output", options->file, "file to write; - is stdout")->required()->type_name("FILE.cpp");
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
      const Reproducer reproducer = make_reproducer(options->reproducer, expand_backends(options->backends));
      write_to(options->file, [&](std::ostream& out) { emit_reproducer(reproducer, out); });
      return;
    }
    if (options->models.models.empty())
      throw UsageError("generate: models, or --reproducer with a signature, are required");
    const std::string name = !options->name.empty() ? options->name
                             : options->file == "-" ? "suite"
                                                    : std::filesystem::path(options->file).stem().string();
    SuiteSource source{
        .name = name, .command = canonical_command(*options, name), .backends = expand_backends(options->backends)};
    for (const auto& model : load_models(options->models, false)) add_measurable(model, source.layers);
    write_to(options->file, [&](std::ostream& out) { emit_suite(source, out); });
  });
}

}  // namespace benanza::tool
