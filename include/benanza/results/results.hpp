// SPDX-License-Identifier: Apache-2.0
// ResultDatabase: everything measured, as a folder of Google Benchmark JSON files: one run one file, written whole and
// renamed. No JSON library is visible here, nor <filesystem>, which takes a tenth of the time that an analysis takes to
// compile: a std::filesystem::path converts to the names of files and folders.
#pragma once

#include <benanza/results/ceiling_row.hpp>
#include <benanza/results/machine.hpp>
#include <benanza/results/measurement.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza {

struct BackendVersion {
  std::string name{};
  std::string version{};
  auto operator<=>(const BackendVersion&) const = default;
};

/// One run: what was measured together. Round r of all its rows was taken in the same pass.
struct Run {
  std::string file{};     ///< where it was read from; empty for one not yet written
  std::string name{};     ///< suite or model
  std::string started{};  ///< ISO 8601, UTC
  std::string tool{};     ///< Benanza's version
  int signature_version = 1;
  Machine machine{};
  std::vector<BackendVersion> backends{};
  std::vector<std::string> warnings{};  ///< what about the machine makes the times doubtful: a quota, other processes
  std::vector<CeilingRow> ceilings{};
  std::vector<Measurement> rows{};
  std::vector<std::string> faults{};  ///< rows and ceilings left out since they cannot be true, a line each
  /// Rows that beat a ceiling by more than they may raise it (`CeilingCheck`), a line each. They count.
  std::vector<std::string> contradictions{};
};

/// The results files of a folder (`*.json`, `*.json.gz`), in order of their names; none if it does not exist; a file
/// stands for itself. Throws EnvironmentError for a folder that cannot be read.
[[nodiscard]] std::vector<std::string> result_files(const std::string& place);

/// Reads one results file (Benanza's or a generated suite's; `.json` or `.json.gz`). Rows that failed come back
/// excluded, with the reason. So do rows of which a value cannot be true, such as a time that is 0, negative, NaN or
/// Infinity; these are named in `faults`, as are ceilings without a value and elements that are not rows of Benanza's,
/// which do not come back. Throws InputError with file and byte for a file that is cut or broken, names no machine or
/// has a newer signature version.
[[nodiscard]] Run read_run(const std::string& file);
/// Writes to a temporary file in the same folder and renames it: a killed program leaves the old file or the new one. A
/// time that is not a positive number makes its row an excluded one; times keep ten digits, rounds seven. Throws
/// EnvironmentError.
void write_run(const Run& run, const std::string& file);
/// What the file's `context` says of a run, as text, in order: date, versions, machine, backends. Also what a generated
/// suite hands to Google Benchmark as custom context, so that a file of Google Benchmark's own reporter can be read
/// too.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> run_context(const Run& run);

/// Runs stand in the order in which they were started, whatever their files are called; equals as they were added.
class ResultDatabase {
 public:
  ResultDatabase() = default;
  /// The `result_files` of a folder; an absent folder is an empty database. A file
  /// that cannot be read does not make the others useless: it is left out and named in `warnings`.
  [[nodiscard]] static ResultDatabase open(const std::string& folder);
  /// From stored files alone: a range of paths or of strings. Throws InputError for one that cannot be read.
  template <class Files>
  [[nodiscard]] static ResultDatabase load(const Files& files) {
    ResultDatabase database;
    for (const auto& file : files) database.add(read_run(file));
    return database;
  }

  void add(Run run) { static_cast<void>(insert(std::move(run))); }
  /// Adds everything that another database holds, its warnings too.
  void add(ResultDatabase other);
  /// Writes the run as a new file of the folder, `<UTC time>-<name>-<process>.json`, and adds it. Any number of
  /// processes may append at once. Throws EnvironmentError; the run is in the database even then.
  void append(Run run, const std::string& folder);
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  /// One line for each file that `open` left out; `select` keeps them.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  /// The part that belongs to one machine and these backend versions: rows of a run count only for backends whose
  /// version there is the one wanted. A backend that is not listed contributes nothing. Ceilings are raised to what its
  /// rows reached (`CeilingCheck`); a row that beats one by more than it may raise it is named in its run's
  /// `contradictions`; one that beats one too often to be true is excluded and named in its run's `faults`.
  [[nodiscard]] ResultDatabase select(const Machine& machine, std::span<const BackendVersion> backends) const;

  /// What the run of a file says by itself: times of other runs are kept only for layers of which it timed no row in
  /// that cache state; all ceilings and reasons are kept.
  [[nodiscard]] ResultDatabase of_run(const std::string& file) const;

  /// For each signature the newest row of each algorithm of each backend in each cache state: fastest first, excluded
  /// ones last. A newer row that was not asked for its kernels has those of the older one.
  [[nodiscard]] std::map<std::string, std::vector<Measurement>> newest_rows() const;

  /// The machines in it, ordered by id.
  [[nodiscard]] std::vector<Machine> machines() const;
  /// The version of each backend in its latest run on that machine, ordered by name.
  [[nodiscard]] std::vector<BackendVersion> newest_versions(const Machine& machine) const;
  /// What this many threads can reach (`ceilings_of`), over all runs.
  [[nodiscard]] Ceilings ceilings(int threads) const;

 private:
  Run& insert(Run run);

  std::vector<Run> runs_;
  std::vector<std::string> warnings_;
};

}  // namespace benanza
