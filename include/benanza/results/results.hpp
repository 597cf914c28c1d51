// SPDX-License-Identifier: Apache-2.0
// ResultDatabase: everything measured, as a folder of Google Benchmark JSON files: one file per run, written whole and
// renamed. This header includes no JSON library, and not `filesystem`, which takes a tenth of the time to compile an
// analysis: a std::filesystem::path converts to the names of files and folders.
#pragma once

#include <benanza/results/ceiling_row.hpp>
#include <benanza/results/machine.hpp>
#include <benanza/results/measurement.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace benanza {

struct BackendVersion {
  std::string name{};
  std::string version{};
  auto operator<=>(const BackendVersion&) const = default;
};

/// Which machine of a database counts.
struct MachineChoice {
  std::string of{};                   ///< a part of its identity, as in `Machine::id`; empty: the only machine
  std::vector<std::string> accept{};  ///< names of facts in which rows of another machine may differ from it
};

/// One run: what was measured together. Round r of all its rows was measured in the same pass.
struct Run {
  std::string file{};     ///< where it was read from; empty if not yet written
  std::string name{};     ///< suite or model
  std::string started{};  ///< ISO 8601, UTC
  std::string tool{};     ///< Benanza's version
  int signature_version = 1;
  Machine machine{};
  std::vector<BackendVersion> backends{};
  std::vector<std::string> warnings{};  ///< what makes the times doubtful: a quota, other processes
  double others = 0;  ///< how many of the processors measured on other processes kept busy, on average
  std::vector<CeilingRow> ceilings{};
  std::vector<Measurement> rows{};
  std::vector<std::string> faults{};  ///< rows and ceilings left out because they cannot be true, one line each
  /// Rows that beat a ceiling by more than they may raise it (`CeilingCheck`), one line each. These rows count.
  std::vector<std::string> contradictions{};
  std::size_t ignored = 0;  ///< elements of the file that say nothing about a row: aggregates of rows that are there
};

/// The results files of a folder (`*.json`, `*.json.gz`), in order of their names; empty if it does not exist. For a
/// file, the file itself. Throws EnvironmentError for a folder that cannot be read.
[[nodiscard]] std::vector<std::string> result_files(const std::string& place);

/// Reads one results file (Benanza's or a generated suite's; `.json` or `.json.gz`). Rows that failed are returned as
/// excluded, with the reason. So are rows with a value that cannot be true, such as a time that is 0, negative, NaN or
/// Infinity; these are named in `faults`. Ceilings without a value and elements that are not rows of Benanza are named
/// there too, but not returned. Of a file that is cut off, as a killed suite leaves it, the whole rows are returned;
/// `faults` says how many there are. Throws InputError with file and byte for a file that is cut off before the end of
/// its first row, is broken, names no machine or has a newer signature version.
[[nodiscard]] Run read_run(const std::string& file);
/// Writes to a temporary file in the same folder and renames it: a killed program leaves the old file or the new one. A
/// row whose time is not a positive number is written as excluded. Times keep ten digits, rounds seven. Throws
/// EnvironmentError.
void write_run(const Run& run, const std::string& file);
/// What the file's `context` says about a run, as text, in order: date, versions, machine, backends. A generated suite
/// also passes this to Google Benchmark as custom context, so that a file of Google Benchmark's own reporter can be
/// read too.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> run_context(const Run& run);

/// Runs are in the order in which they were started, whatever their file names; ties are in the order in which they
/// were added.
class ResultDatabase {
 public:
  ResultDatabase() = default;
  /// The `result_files` of a folder; an absent folder is an empty database. A file that cannot be read does not make
  /// the others useless: it is left out and named in `warnings`.
  [[nodiscard]] static ResultDatabase open(const std::string& folder);
  /// From a results file, the results files of a folder, or a range of both; each a string or a path. Throws InputError
  /// for a place that does not exist, a folder without results files, and a file that cannot be read.
  template <class Places>
  [[nodiscard]] static ResultDatabase load(const Places& places) {
    ResultDatabase database;
    if constexpr (std::is_convertible_v<const Places&, std::string>) database.add_place(places);
    else
      for (const auto& place : places) database.add_place(place);
    return database;
  }

  void add(Run run) { static_cast<void>(insert(std::move(run))); }
  /// Adds everything in another database, including its warnings.
  void add(ResultDatabase other);
  /// Writes the run as a new file in the folder, `<UTC time>-<name>-<process>.json`, and adds it. Any number of
  /// processes may append at once. Throws EnvironmentError; the run is in the database even then.
  void append(Run run, const std::string& folder);
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  /// One line for each file that `open` left out; `select` keeps them.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  /// The part that belongs to one machine and these backend versions: rows of a run count only for backends that have
  /// the wanted version in that run. A backend that is not listed contributes nothing. With `accept`, rows of machines
  /// that differ in these facts alone count as rows of this machine. Ceilings are raised to what the rows reached
  /// (`CeilingCheck`). A row that beats one by more than it may raise it is named in its run's `contradictions`; a row
  /// that beats one by too much to be true is excluded and named in its run's `faults`.
  [[nodiscard]] ResultDatabase select(const Machine& machine, std::span<const BackendVersion> backends,
                                      std::span<const std::string> accept = {}) const;

  /// The results of the run in a file on its own. Times of other runs are kept only for a layer and cache state of
  /// which this run timed no row; all ceilings and reasons are kept.
  [[nodiscard]] ResultDatabase of_run(const std::string& file) const;

  /// For each signature, the newest row of each algorithm of each backend in each cache state: fastest first, excluded
  /// ones last. A newer row for which no kernels were requested gets those of the older row. Throws InputError for
  /// results of several machines.
  [[nodiscard]] std::map<std::string, std::vector<Measurement>> newest_rows() const;

  /// The machines of all runs, ordered by id. One that another description of the same machine states in more facts is
  /// left out.
  [[nodiscard]] std::vector<Machine> machines() const;
  /// The machine that is chosen, or the only one; without runs, a machine without a name. If all that are left differ
  /// from that of the latest run in accepted facts alone, the latter. Throws InputError, which lists the machines, if
  /// there is another number of them: rows of two machines never share a total.
  [[nodiscard]] Machine machine(const MachineChoice& choice = {}) const;
  /// One line for each other machine that differs in a single fact, which is not accepted: the fact, and how to accept
  /// it on the command line, if it may be. One more line if there are runs `of_two_machines`.
  [[nodiscard]] std::vector<std::string> not_counted(const Machine& machine,
                                                     std::span<const std::string> accept = {}) const;
  /// A line if runs state too little to tell whether they are of that machine or of another one, and do not count for
  /// that reason.
  [[nodiscard]] std::optional<std::string> of_two_machines(const Machine& machine,
                                                           std::span<const std::string> accept = {}) const;
  /// The version of each backend in its latest run on that machine, ordered by name; `accept` as for `select`.
  [[nodiscard]] std::vector<BackendVersion> newest_versions(const Machine& machine,
                                                            std::span<const std::string> accept = {}) const;
  /// What this many threads can reach (`ceilings_of`), over all runs. Throws InputError for results of several
  /// machines.
  [[nodiscard]] Ceilings ceilings(int threads) const;

 private:
  Run& insert(Run run);
  void add_place(const std::string& place);

  std::vector<Run> runs_;
  std::vector<std::string> warnings_;
};

}  // namespace benanza
