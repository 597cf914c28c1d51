// SPDX-License-Identifier: Apache-2.0
// Supervised: a worker's side of the state that it shares with its parent.
#pragma once

#include "request.hpp"
#include "shared_state.hpp"

#include <filesystem>
#include <string_view>

namespace benanza::isolation {

class Supervised {
 public:
  /// From now on, this process ends when its parent does. Throws EnvironmentError.
  explicit Supervised(std::filesystem::path folder);
  ~Supervised();
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  /// Announces that this row is tried next; empty: no row is being tried. Also a sign of life.
  void trying(std::string_view row);
  /// Passes progress to the parent. Also a sign of life.
  void show(const measure::Progress& progress);
  /// Writes the rows so far, from which another worker continues if this one crashes, and waits until the parent has
  /// read them; nothing is timed in the meantime. Throws EnvironmentError.
  void keep(const Run& run);
  void not_kept(std::string_view reason) { state_->not_kept.set(reason); }
  /// Ends this process at once; the row that is being tried is the crashing plan, for that reason.
  [[noreturn]] void give_up(std::string_view reason);
  /// Passes on the error that the parent is to throw; prints it on stderr if there is no parent.
  void failed(std::string_view error);
  /// Announces that the answer is written.
  void finished() { state_->finished = true; }

 private:
  std::filesystem::path folder_;
  MappedState state_;
  int wake_ = -1;  ///< the pipe; without it, nobody waits for rows
};

}  // namespace benanza::isolation
