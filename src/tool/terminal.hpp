// SPDX-License-Identifier: Apache-2.0
// What the terminal can show, and the progress bar on it.
#pragma once

#include <benanza/measure/measure.hpp>

#include <string>

namespace benanza::tool::terminal {

/// Whether stdout takes colours: a terminal, and NO_COLOR is not set.
[[nodiscard]] bool colors();
/// Columns of stdout; 80 when it is not a terminal.
[[nodiscard]] int width();

/// One line on stderr, in place of a progress bar. The three functions replace control characters (report::printable).
void say(const std::string& text);
/// The same, called a warning.
void warn(const std::string& text);
/// A command to try instead.
void suggest(const std::string& command);

/// One line on stderr, redrawn in place; nothing at all when stderr is not a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void show(const bench::Progress& progress);

 private:
  bool enabled_;
  std::string last_{};
};

}  // namespace benanza::tool::terminal
