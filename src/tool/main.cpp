// SPDX-License-Identifier: Apache-2.0
// The program `benanza`: subcommands on top of the library. The only place that turns an exception into a message and
// an exit code.
#include "commands.hpp"
#include "models.hpp"
#include "terminal.hpp"
#include <benanza/error.hpp>
#include <benanza/plan/kernel_settings.hpp>
#include <benanza/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>

namespace {

int complain(const std::string& what, int code) {
  benanza::tool::terminal::say(what);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace benanza;
  ignore_kernel_settings();
  CLI::App app(
      "How fast could a deep-learning model run on this machine, and why is it slower?\n\n"
      "  benanza bound examples/models/modern/resnet50.onnx");
  app.name("benanza");
  app.set_version_flag("--version", std::string(version));
  app.require_subcommand(1);
  int exit_code = tool::done;
  tool::add_bound(app, exit_code);
  tool::add_run(app, exit_code);
  tool::add_layers(app, exit_code);
  tool::add_generate(app, exit_code);
  tool::add_analyze(app, exit_code);
  tool::add_gap(app, exit_code);
  tool::add_study(app, exit_code);
  tool::add_memory(app, exit_code);
  tool::add_scale(app, exit_code);
  tool::add_predict(app, exit_code);
  tool::add_measure(app, exit_code);
  tool::add_machine(app, exit_code);
  tool::add_db(app, exit_code);
  tool::add_worker(app, exit_code);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error to report, not a silent end
  try {
    const auto is_named = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), is_named))
      throw UsageError("there is no subcommand '" + std::string(argv[1]) + "' (see benanza --help)");
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return complain(std::string(error.what()) + " (see benanza --help)", tool::usage);
  } catch (const UsageError& error) {
    return complain(error.what(), tool::usage);
  } catch (const tool::LackingSizes& error) {
    const int code = complain(error.what(), tool::bad_input);
    if (!error.copy.empty()) tool::terminal::suggest(error.copy);
    return code;
  } catch (const InputError& error) {
    return complain(error.what(), tool::bad_input);
  } catch (const EnvironmentError& error) {
    return complain(error.what(), tool::environment);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", tool::environment);
  } catch (const std::exception& error) {
    return complain(error.what(), tool::environment);
  }
}
