// SPDX-License-Identifier: Apache-2.0
// The subcommands; each is in a file of its own.
#pragma once

namespace CLI {
class App;
}

namespace benanza::tool {

/// Exit codes (docs/program.md, "Exit codes").
enum Exit : int {
  done = 0,
  bad_input = 1,
  usage = 2,
  incomplete = 3,
  assertion_failed = 4,
  environment = 5
};  // for a signal, InterruptWatch::exit_code

/// Each function adds its subcommand, which stores its exit code in `exit_code`.
void add_bound(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_layers(CLI::App& app, int& exit_code);
void add_generate(CLI::App& app, int& exit_code);
void add_analyze(CLI::App& app, int& exit_code);
void add_gap(CLI::App& app, int& exit_code);
void add_study(CLI::App& app, int& exit_code);
void add_memory(CLI::App& app, int& exit_code);
void add_scale(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_machine(CLI::App& app, int& exit_code);
void add_measure(CLI::App& app, int& exit_code);
void add_db(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_man(CLI::App& app, int& exit_code);
/// The subcommand with which the program starts itself (worker.hpp); not shown in its help.
void add_worker(CLI::App& app, int& exit_code);
inline constexpr const char* worker_command = "worker";

}  // namespace benanza::tool
