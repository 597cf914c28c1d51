// SPDX-License-Identifier: Apache-2.0
// benanza worker: measures what the folder of another process requests (worker.hpp).
#include "isolation/worker.hpp"

#include "commands.hpp"
#include "plan/backends.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace benanza::tool {

void add_worker(CLI::App& app, int& exit_code) {
  auto folder = std::make_shared<std::string>();
  auto* command = app.add_subcommand(worker_command, "measures what a folder asks for");
  command->group("");  // not in the help: the program calls it itself
  command->add_option("folder", *folder)->required();
  command->callback([folder, &exit_code] { exit_code = isolation::serve_worker(*folder, plan::all_backends()); });
}

}  // namespace benanza::tool
