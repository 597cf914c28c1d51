// SPDX-License-Identifier: Apache-2.0
#include "surroundings.hpp"

#include "request.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/plan/choose_backends.hpp>
#include <benanza/results/whole_file.hpp>
#include <benanza/version.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

namespace benanza::isolation {

namespace {

std::filesystem::path backends_of(const std::filesystem::path& folder) { return folder / "backends"; }

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void write_surroundings(const Surroundings& surroundings, const std::filesystem::path& folder) {
  std::string lines;
  for (const auto& backend : surroundings.all)
    lines += backend.name + '\t' + backend.version + '\t' + one_line(backend.unavailable) + '\n';
  write_whole(backends_of(folder), lines);
  write_run({.tool = std::string(version),
             .signature_version = signature_version,
             .machine = surroundings.machine,
             .backends = surroundings.backends,
             .warnings = surroundings.warnings},
            run_of(folder));
}

Surroundings read_surroundings(const std::filesystem::path& folder) {
  Run run = read_run(run_of(folder));
  Surroundings result{
      .machine = std::move(run.machine), .backends = std::move(run.backends), .warnings = std::move(run.warnings)};
  std::istringstream lines(read_whole(backends_of(folder)));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    BackendStatus& backend = result.all.emplace_back();
    for (std::string* field : {&backend.name, &backend.version, &backend.unavailable})
      std::getline(fields, *field, '\t');
  }
  return result;
}

Surroundings surroundings_of(measure::Backends all, std::span<const std::string> names) {
  Surroundings result;
  const auto chosen =
      choose_backends(all, names, [&](const std::string& text) { result.warnings.push_back(one_line(text)); });
  result.machine = measure::machine_of(chosen);
  result.backends = versions_of(chosen);
  for (const auto& backend : all) {
    BackendStatus status{.name = std::string(backend->name()), .version = backend->version()};
    if (const auto availability = backend->availability(); const auto* why = std::get_if<Unsupported>(&availability))
      status.unavailable = why->reason;
    result.all.push_back(std::move(status));
  }
  return result;
}

}  // namespace benanza::isolation
