// SPDX-License-Identifier: Apache-2.0
#include "row_fault.hpp"
#include "run_text.hpp"
#include <benanza/error.hpp>
#include <benanza/results/ceiling_rows.hpp>
#include <benanza/results/detail/damaged_rows.hpp>
#include <benanza/results/results.hpp>
#include <benanza/results/whole_file.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <limits>
#include <optional>
#include <set>
#include <unistd.h>

namespace benanza {

namespace fs = std::filesystem;

namespace {

/// `20251121T105400.123Z`: sorts by time.
std::string utc_now() {
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const auto seconds = static_cast<std::time_t>(now / 1000);
  std::tm fields{};
  gmtime_r(&seconds, &fields);
  char text[32];
  const auto size = std::strftime(text, sizeof text, "%Y%m%dT%H%M%S", &fields);
  const std::string thousandths = std::to_string(1000 + now % 1000);
  return std::string(text, size) + "." + thousandths.substr(1) + "Z";
}

/// A run's name may come from a model: characters that could leave the folder or confuse a shell must not reach a file
/// name.
std::string file_name_part(std::string_view name) {
  std::string part;
  for (char c : name.substr(0, 64)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    part += plain ? c : '_';
  }
  return part.empty() ? "run" : part;
}

bool is_results_file(const fs::path& file) {
  const std::string name = file.filename().string();
  return !name.starts_with('.') && (name.ends_with(".json") || name.ends_with(".json.gz"));
}

std::vector<CeilingRow> all_ceilings(const std::vector<Run>& runs) {
  std::vector<CeilingRow> all;
  for (const auto& run : runs) all.insert(all.end(), run.ceilings.begin(), run.ceilings.end());
  return all;
}

/// Raises ceilings to what rows reached, reports rows that contradict a ceiling, and excludes rows that exceed one by a
/// factor too large to be true.
void hold_against_ceilings(std::vector<Run>& runs) {
  CeilingCheck check(all_ceilings(runs));
  for (auto& run : runs)
    for (auto& row : run.rows) {
      if (std::string damage = check.damage(row); !damage.empty()) {
        run.faults.push_back(row.name() + ": " + damage);
        row.exclude(RowStatus::damaged, damage);
      }
      for (const auto& line : check.contradictions(row)) run.contradictions.push_back(row.name() + " reaches " + line);
      const auto raised = check.raise(row);
      run.ceilings.insert(run.ceilings.end(), raised.begin(), raised.end());
    }
}

/// Whether the run's rows count as rows of that machine.
bool is_of(const Run& run, const Machine& machine, std::span<const std::string> accept) {
  const auto differences = machine.differences(run.machine);
  return std::all_of(differences.begin(), differences.end(), [&](const std::string& fact) {
    return std::find(accept.begin(), accept.end(), fact) != accept.end();
  });
}

/// Whether the run states so little of its machine that it may be of one whose rows do not count as rows of `machine`.
bool may_be_of_others(const Run& run, const Machine& machine, const std::vector<Machine>& machines,
                      std::span<const std::string> accept) {
  return std::any_of(machines.begin(), machines.end(), [&](const Machine& other) {
    return is_of(run, other, {}) && !is_of({.machine = other}, machine, accept);
  });
}

/// Another device or instruction set is another machine, whatever else is the same.
bool may_accept(const std::string& fact) { return fact != "device" && fact != "isa"; }

std::string value_of(const Machine& machine, const std::string& name) {
  for (const auto& fact : machine.facts())
    if (fact.name == name) return fact.value;
  return "none";
}

}  // namespace

std::vector<std::string> result_files(const std::string& place) {
  std::error_code failed;
  if (fs::exists(place, failed) && !fs::is_directory(place, failed)) return {place};
  std::vector<std::string> files;
  for (fs::directory_iterator entry(place, failed), end; !failed && entry != end; entry.increment(failed))
    if (is_results_file(entry->path())) files.push_back(entry->path());
  if (failed && failed != std::errc::no_such_file_or_directory)
    throw EnvironmentError("cannot read the folder '" + place + "': " + failed.message());
  std::sort(files.begin(), files.end());
  return files;
}

void ResultDatabase::add_place(const std::string& place) {
  const std::vector<std::string> files = result_files(place);
  std::error_code failed;
  if (files.empty() && !fs::exists(place, failed)) throw InputError(place + ": no such file or folder");
  if (files.empty()) throw InputError(place + ": the folder holds no results files (*.json, *.json.gz)");
  for (const auto& file : files) add(read_run(file));
}

ResultDatabase ResultDatabase::open(const std::string& folder) {
  ResultDatabase database;
  for (const auto& file : result_files(folder)) {
    try {
      database.add(read_run(file));
    } catch (const InputError& error) {
      database.warnings_.emplace_back(error.what());
    } catch (const std::exception& error) {  // no permission, or more than the memory holds: it costs this file as well
      database.warnings_.emplace_back(file + ": " + error.what());
    }
  }
  return database;
}

Run& ResultDatabase::insert(Run run) {
  const auto later = [](const std::string& started, const Run& other) { return started < other.started; };
  return *runs_.insert(std::upper_bound(runs_.begin(), runs_.end(), run.started, later), std::move(run));
}

void ResultDatabase::add(ResultDatabase other) {
  for (auto& run : other.runs_) add(std::move(run));
  std::move(other.warnings_.begin(), other.warnings_.end(), std::back_inserter(warnings_));
}

void ResultDatabase::append(Run run, const std::string& folder) {
  const std::string stem = utc_now() + "-" + file_name_part(run.name) + "-" + std::to_string(::getpid());
  Run& added = insert(std::move(run));
  added.file = write_new(folder, stem, ".json", run_text(added)).string();
}

ResultDatabase ResultDatabase::select(const Machine& machine, std::span<const BackendVersion> backends,
                                      std::span<const std::string> accept) const {
  ResultDatabase selected;
  selected.warnings_ = warnings_;
  const std::vector<Machine> all = machines();
  for (const auto& run : runs_) {
    if (!is_of(run, machine, accept) || may_be_of_others(run, machine, all, accept)) continue;
    const auto wanted = [&](const BackendVersion& backend) {
      return std::find(backends.begin(), backends.end(), backend) != backends.end();
    };
    Run part{.file = run.file,
             .name = run.name,
             .started = run.started,
             .tool = run.tool,
             .signature_version = run.signature_version,
             .machine = machine,
             .warnings = run.warnings,
             .others = run.others,
             .ceilings = run.ceilings,
             .faults = run.faults,
             .ignored = run.ignored};
    part.machine.state = run.machine.state;
    std::copy_if(run.backends.begin(), run.backends.end(), std::back_inserter(part.backends), wanted);
    std::copy_if(run.rows.begin(), run.rows.end(), std::back_inserter(part.rows), [&part](const Measurement& row) {
      return std::any_of(part.backends.begin(), part.backends.end(),
                         [&row](const auto& backend) { return backend.name == row.backend; });
    });
    std::set<std::string> unnamed;
    for (const auto& row : run.rows) {
      if (!results::version_in(run, row.backend).empty()) continue;
      const std::string fault = results::unnamed_text(row.backend);
      if (unnamed.insert(row.backend).second) part.faults.push_back(fault);
      part.rows.push_back(row);
      part.rows.back().exclude(RowStatus::damaged, fault);
    }
    selected.add(std::move(part));
  }
  hold_against_ceilings(selected.runs_);
  return selected;
}

ResultDatabase ResultDatabase::of_run(const std::string& file) const {
  std::set<std::pair<std::string, CacheState>> timed;
  for (const auto& run : runs_)
    for (const auto& row : run.rows)
      if (run.file == file && row.measured()) timed.emplace(row.signature, row.cache);
  ResultDatabase result = *this;
  for (auto& run : result.runs_)
    if (run.file != file)
      std::erase_if(run.rows, [&timed](const Measurement& row) {
        return row.measured() && timed.contains({row.signature, row.cache});
      });
  return result;
}

std::vector<Machine> ResultDatabase::machines() const {
  std::map<std::string, Machine> by_id;
  for (const auto& run : runs_) by_id.try_emplace(run.machine.id(), run.machine);
  std::vector<Machine> machines;
  for (const auto& entry : by_id) {
    const Machine& machine = entry.second;
    const auto states_more = [&](const auto& other) {
      return other.second.facts().size() > machine.facts().size() && machine.differences(other.second).empty();
    };
    if (std::none_of(by_id.begin(), by_id.end(), states_more)) machines.push_back(machine);
  }
  return machines;
}

Machine ResultDatabase::machine(const MachineChoice& choice) const {
  std::vector<Machine> found = machines();
  if (found.empty() && choice.of.empty()) return {};
  std::erase_if(found, [&](const Machine& machine) { return machine.id().find(choice.of) == std::string::npos; });
  if (found.size() == 1) return found.front();
  for (const auto& machine : found)
    if (machine.id() == choice.of) return machine;  // its identity begins another one
  for (auto run = runs_.rbegin(); run != runs_.rend() && !choice.accept.empty(); ++run) {
    const auto latest = std::find_if(found.begin(), found.end(),
                                     [&](const Machine& machine) { return machine.id() == run->machine.id(); });
    if (latest == found.end()) continue;
    if (std::all_of(found.begin(), found.end(),
                    [&](const Machine& other) { return is_of({.machine = other}, *latest, choice.accept); }))
      return *latest;
    break;
  }
  std::string text = std::to_string(found.size()) + " machines" +
                     (choice.of.empty() ? ", which never share a total:" : " match '" + choice.of + "' of");
  for (const auto& machine : found.empty() ? machines() : found) {
    const auto run =
        std::find_if(runs_.begin(), runs_.end(), [&](const Run& each) { return is_of(each, machine, {}); });
    text += " [" + machine.id() + "], e.g. " + (run->file.empty() ? run->name : run->file) + ";";
  }
  if (found.size() == 2)
    if (const auto facts = found.front().differences(found.back()); facts.size() == 1 && may_accept(facts.front()))
      text += " they differ in " + facts.front() + " alone, --accept " + facts.front() + " counts both;";
  throw InputError(
      text +
      " choose one by its identity or a part of it (--of; db diff: machine=TEXT), or give the files of one of them");
}

std::vector<std::string> ResultDatabase::not_counted(const Machine& machine,
                                                     std::span<const std::string> accept) const {
  std::vector<std::string> lines;
  for (const auto& other : machines()) {
    const auto facts = machine.differences(other);
    if (facts.size() != 1) continue;
    if (std::find(accept.begin(), accept.end(), facts.front()) != accept.end()) continue;
    const auto runs = std::count_if(runs_.begin(), runs_.end(), [&](const Run& run) { return is_of(run, other, {}); });
    lines.push_back("not counted: " + std::to_string(runs) + (runs == 1 ? " run" : " runs") +
                    " of a machine that differs in " + facts.front() + " alone, " + value_of(other, facts.front()) +
                    " instead of " + value_of(machine, facts.front()) +
                    (may_accept(facts.front()) ? "; --accept " + facts.front() + " counts its rows" : ""));
  }
  if (const auto line = of_two_machines(machine, accept)) lines.push_back(*line);
  return lines;
}

std::optional<std::string> ResultDatabase::of_two_machines(const Machine& machine,
                                                           std::span<const std::string> accept) const {
  const std::vector<Machine> all = machines();
  const auto unclear = std::count_if(runs_.begin(), runs_.end(), [&](const Run& run) {
    return is_of(run, machine, accept) && may_be_of_others(run, machine, all, accept);
  });
  if (unclear == 0) return std::nullopt;
  return "not counted: " + std::to_string(unclear) + (unclear == 1 ? " run" : " runs") + " that may be of " +
         machine.device + " or of another machine with rows here, as little is stated of it";
}

std::map<std::string, std::vector<Measurement>> ResultDatabase::newest_rows() const {
  static_cast<void>(machine());
  std::map<std::string, std::vector<Measurement>> result;
  detail::DamagedRows damaged;
  for (const auto& run : runs_) {
    damaged.start_session();
    for (const auto& row : run.rows) {
      damaged.add(row);
      auto& rows = result[row.signature];
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const Measurement& other) {
        return other.backend == row.backend && other.algorithm == row.algorithm && other.cache == row.cache;
      });
      if (same == rows.end()) {
        rows.push_back(row);
        continue;
      }
      if (row.status == RowStatus::damaged) continue;
      std::vector<KernelLaunch> kernels = std::move(same->kernel_launches);
      *same = row;
      if (same->kernel_launches.empty()) same->kernel_launches = std::move(kernels);
    }
  }
  const auto names = damaged.names();
  for (auto& [signature, rows] : result) {
    std::erase_if(
        rows, [&](const Measurement& row) { return row.status == RowStatus::damaged && !names.contains(row.name()); });
    std::stable_sort(rows.begin(), rows.end(), [](const Measurement& a, const Measurement& b) {
      const auto rank = [](const Measurement& row) {
        return std::tuple(!row.measured(), row.times ? row.times->p10 : Seconds{});
      };
      return rank(a) < rank(b);
    });
  }
  return result;
}

std::vector<BackendVersion> ResultDatabase::newest_versions(const Machine& machine,
                                                            std::span<const std::string> accept) const {
  std::map<std::string, std::pair<std::string, std::string>> newest;  // name -> (started, version)
  const std::vector<Machine> all = machines();
  for (const auto& run : runs_)
    if (is_of(run, machine, accept) && !may_be_of_others(run, machine, all, accept))
      for (const auto& backend : run.backends)
        newest[backend.name] = std::max(newest[backend.name], {run.started, backend.version});
  std::vector<BackendVersion> versions;
  for (const auto& [name, entry] : newest) versions.push_back({name, entry.second});
  return versions;
}

Ceilings ResultDatabase::ceilings(int threads) const {
  static_cast<void>(machine());
  return ceilings_of(all_ceilings(runs_), threads);
}

}  // namespace benanza
