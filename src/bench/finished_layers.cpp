// SPDX-License-Identifier: Apache-2.0
#include "finished_layers.hpp"

#include <benanza/error.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace benanza::bench {

namespace {

constexpr std::string_view heading = "on ";  // no signature has a space

std::string heading_of(const Machine& machine, std::span<const BackendVersion> backends) {
  std::string text = std::string(heading) + machine.id();
  for (const auto& backend : std::set(backends.begin(), backends.end()))
    text += "|" + backend.name + "=" + backend.version;
  return text;
}

/// Whether the last line of a list has no line end, because it was written by hand or cut off by a full disk.
bool ends_within_a_line(const std::string& file) {
  std::ifstream list(file, std::ios::binary | std::ios::ate);
  if (!list || list.tellg() == 0) return false;
  list.seekg(-1, std::ios::end);
  return list.get() != '\n';
}

}  // namespace

FinishedLayers::FinishedLayers(std::string file, const Machine& machine, std::span<const BackendVersion> backends)
    : file_(std::move(file)), section_(heading_of(machine, backends)) {
  std::ifstream lines(file_);
  bool ours = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(heading)) ours = line == section_;
    else if (ours) signatures_.insert(line);
  }
}

void FinishedLayers::add(const Run& run) {
  std::set<std::string> finished, open;
  for (const auto& row : run.rows) {
    if (!row.rounds_s.empty()) finished.insert(row.signature);
    if (row.measured() || !was_tried(row.status)) open.insert(row.signature);
  }
  for (const auto& row : run.rows)
    if (!open.contains(row.signature)) finished.insert(row.signature);
  const bool cut = ends_within_a_line(file_);
  std::ofstream lines(file_, std::ios::app);
  if (cut) lines << '\n';
  lines << section_ << '\n';
  for (const auto& signature : finished)
    if (signatures_.insert(signature).second) lines << signature << '\n';
  if (!lines.flush()) throw EnvironmentError("cannot write " + file_);
}

std::shared_ptr<const Run> read_earlier(const std::string& file, const Machine& machine) {
  if (!std::filesystem::exists(file)) return nullptr;
  std::shared_ptr<const Run> earlier;
  try {
    earlier = std::make_shared<const Run>(read_run(file));
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s: written anew\n", error.what());
    return nullptr;
  }
  if (!earlier->machine.differences(machine).empty())
    throw InputError(file + ": holds a session of " + earlier->machine.id() + ", this is " + machine.id());
  return earlier;
}

void add_finished(Run& run, const Run& earlier, const std::set<std::string>& signatures) {
  ResultDatabase database;
  database.add(earlier);
  std::set<std::string> missing = signatures;
  for (const auto& row : run.rows) missing.erase(row.signature);
  const ResultDatabase selected = database.select(run.machine, run.backends);
  for (const auto& same : selected.runs()) {
    for (const auto& row : same.rows) {
      if (!missing.contains(row.signature)) continue;
      run.rows.push_back(row);
      run.rows.back().rounds_s.clear();
    }
  }
}

}  // namespace benanza::bench
