// SPDX-License-Identifier: Apache-2.0
// What a suite that is run again keeps from the layers that it has finished (--benanza_done).
#pragma once

#include <benanza/results/results.hpp>

#include <memory>
#include <set>
#include <span>
#include <string>

namespace benanza::bench {

/// A file of finished layers, one signature per line, in sections. A line `on MACHINE` says where the layers below it
/// were finished, so that a list that was used on several machines tells each of them what is left. Layers above all
/// sections are finished on every machine, as in a list written by hand.
class FinishedLayers {
 public:
  /// The layers of one machine with one version of each backend; empty if there is no such file.
  FinishedLayers(std::string file, const Machine& machine, std::span<const BackendVersion> backends);

  [[nodiscard]] const std::set<std::string>& signatures() const { return signatures_; }
  /// Appends the layers of a run that have rounds, or that no backend can run. Throws EnvironmentError.
  void add(const Run& run);

 private:
  std::string file_, section_;
  std::set<std::string> signatures_{};
};

/// The rows that an interrupted session left in a file; null if there is no file, or if it cannot be read. Throws
/// InputError for a session of another machine, which must not be overwritten.
[[nodiscard]] std::shared_ptr<const Run> read_earlier(const std::string& file, const Machine& machine);

/// Adds the rows that `earlier` has of these layers, if it was on the same machine with the same versions, since the
/// run replaces its file. Omits rounds, which belong to another pass, and layers that the run measured.
void add_finished(Run& run, const Run& earlier, const std::set<std::string>& signatures);

}  // namespace benanza::bench
