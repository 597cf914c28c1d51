// SPDX-License-Identifier: Apache-2.0
// `--machine FILE`: the analytic rungs for a machine that is declared rather than measured.
#pragma once

#include "options.hpp"
#include <benanza/report/report.hpp>

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace benanza::tool {

/// `--machine FILE`; `excluded`: options of the command that do not apply to a declared machine.
void add_declared_machine(CLI::App& command, std::string& file, const std::vector<std::string>& excluded);
/// Model floor and roofline rungs by the file's peaks, and sweeps if they are requested. Throws InputError.
[[nodiscard]] BoundReport declared_report(const std::string& file, const ModelOptions& models, bool quiet);

}  // namespace benanza::tool
