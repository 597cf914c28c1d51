// SPDX-License-Identifier: Apache-2.0
// What a suite that is run again keeps of the layers that it has finished (--benanza_done).
#pragma once

#include <benanza/results/results.hpp>

#include <memory>
#include <set>
#include <span>
#include <string>

namespace benanza::bench {

/// A file of finished layers, one signature a line, in sections: a line `on MACHINE` says where the layers below it
/// were finished, so that a list that has been on several machines tells each of them what is left. Layers above all
/// sections are finished everywhere: a list written by hand.
class FinishedLayers {
 public:
  /// Those of one machine with one version of each backend; none where there is no such file.
  FinishedLayers(std::string file, const Machine& machine, std::span<const BackendVersion> backends);

  [[nodiscard]] const std::set<std::string>& signatures() const { return signatures_; }
  /// Appends the layers of a run that have rounds, or that nothing runs. Throws EnvironmentError.
  void add(const Run& run);

 private:
  std::string file_, section_;
  std::set<std::string> signatures_{};
};

/// What a session that was cut left in a file; null where there is none, or it cannot be read. Throws InputError for a
/// session of another machine, which is not to be written over.
[[nodiscard]] std::shared_ptr<const Run> read_earlier(const std::string& file, const Machine& machine);

/// Adds the rows that `earlier` has of these layers, if it was on the same machine with the same versions: the run
/// takes the place of its file. Without rounds, which are those of another pass; not of layers that the run measured.
void add_finished(Run& run, const Run& earlier, const std::set<std::string>& signatures);

}  // namespace benanza::bench
