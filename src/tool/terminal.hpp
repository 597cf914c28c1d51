// SPDX-License-Identifier: Apache-2.0
// What the terminal can show, and the progress bar on it.
#pragma once

#include <benanza/measure/measure.hpp>

#include <string>
#include <utility>

namespace benanza::tool::terminal {

/// Whether stdout supports colours: it is a terminal, and NO_COLOR is not set.
[[nodiscard]] bool colors();
/// Columns of stdout; 80 if it is not a terminal.
[[nodiscard]] int width();

/// Prints one line on stderr, replacing a progress bar. The three functions replace control characters
/// (format::printable).
void say(const std::string& text);
/// The same, as a warning.
void warn(const std::string& text);
/// Suggests another command.
void suggest(const std::string& command);

/// One line on stderr, redrawn in place. If stderr is not a terminal, a line every ten seconds.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void show(const measure::Progress& progress);
  /// What is known of the result so far, as a few words; it stands in every line from now on.
  void note(std::string so_far) { so_far_ = std::move(so_far); }

 private:
  bool quiet_;
  bool redraws_;  ///< a terminal
  Seconds last_line_{};
  std::string so_far_{};
  std::string last_{};
};

}  // namespace benanza::tool::terminal
