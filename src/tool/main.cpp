// SPDX-License-Identifier: Apache-2.0
// The program `benanza`: subcommands on top of the library. The only place that turns an exception into a message and
// an exit code.
#include "command_text.hpp"
#include "commands.hpp"
#include "help.hpp"
#include "models.hpp"
#include "terminal.hpp"
#include "unknown_argument.hpp"
#include "version_text.hpp"
#include <benanza/error.hpp>
#include <benanza/plan/kernel_settings.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

namespace {

int complain(const std::string& what, int code) {
  benanza::tool::terminal::say(what);
  return code;
}

/// The arguments in the order in which CLI11 takes them, the last first. `help COMMAND` is `COMMAND --help`.
std::vector<std::string> reversed_arguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

/// Makes every option of every command refuse an empty value. A shell variable that is not set gives one by mistake.
void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options({}))
    if (option->get_items_expected_max() > 0)
      option->check(
          [](const std::string& value) { return value.empty() ? std::string("an empty value") : std::string(); }, "");
  for (CLI::App* command : app.get_subcommands({})) refuse_empty_values(*command);
}

/// Prints what `--help` and `--version` ask for; explains any other error.
int answer(const CLI::App& app, const CLI::ParseError& error) {
  using namespace benanza::tool;
  std::string what = unknown_subcommand(app);
  if (what.empty() && error.get_exit_code() == 0) return app.exit(error);
  if (what.empty()) what = unknown_option(app);
  if (what.empty()) what = error.what();
  return complain(what + " (see " + command_line_of(app) + " --help)", usage);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace benanza;
  ignore_kernel_settings();
  CLI::App app("How fast could a deep-learning model run on this machine, and why is it slower?", "benanza");
  app.set_help_flag("-h,--help", "prints this text");
  app.formatter_fn([](const CLI::App* command, const std::string&, CLI::AppFormatMode) {
    return tool::help_text(tool::command_text(*command));
  });
  app.footer("benanza bound examples/models/modern/resnet50.onnx\nbenanza help bound");
  app.set_version_flag("-V,--version", tool::version_text, "the version, the commit and the libraries");
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
  tool::add_completion(app, exit_code);
  tool::add_man(app, exit_code);
  app.add_subcommand("help", "the same as --help after a command")->footer("benanza help db diff");
  refuse_empty_values(app);
  tool::add_worker(app, exit_code);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error to report, not a silent end
  try {
    app.parse(reversed_arguments(argc, argv));
    return exit_code;
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
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
