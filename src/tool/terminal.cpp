// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include "format/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace benanza::tool::terminal {

namespace {

int columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Prints line by line, so that a name in a model's file cannot move the cursor.
void print(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) std::fprintf(stderr, "%s\n", format::printable(line).c_str());
}

}  // namespace

bool colors() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

int width() { return isatty(STDOUT_FILENO) ? columns(STDOUT_FILENO) : 80; }

void say(const std::string& text) {
  if (isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr);
  print("benanza: " + text);
}

void warn(const std::string& text) { say("warning: " + text); }

void suggest(const std::string& command) { print("try: " + command); }

ProgressBar::ProgressBar(bool quiet) : quiet_(quiet), redraws_(isatty(STDERR_FILENO)) {}

ProgressBar::~ProgressBar() {
  if (!last_.empty()) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(const measure::Progress& progress) {
  if (quiet_) return;
  const double left = std::max(0.0, progress.remaining.value);
  if (!redraws_) {
    constexpr Seconds interval{10};
    if (progress.elapsed - last_line_ < interval) return;
    last_line_ = progress.elapsed;
    return print(fmt::format("benanza: {} {} of {}, {:.0f} s left{}", progress.phase, progress.done, progress.total,
                             left, so_far_.empty() ? "" : "; so far " + so_far_));
  }
  constexpr int cells = 10;
  const double done = progress.total ? static_cast<double>(progress.done) / static_cast<double>(progress.total) : 0;
  const int full = static_cast<int>(done * cells);
  std::string line = fmt::format(
      "{:<8} [{}{}] {}/{}  {:.0f} s left  ", progress.phase, std::string(static_cast<std::size_t>(full), '#'),
      std::string(static_cast<std::size_t>(cells - full), '.'), progress.done, progress.total, left);
  const auto room = static_cast<std::size_t>(std::max(0, columns(STDERR_FILENO) - 1));
  line += so_far_.empty() ? format::printable(progress.what) : so_far_;
  line = line.substr(0, room);
  if (line == last_) return;
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  last_ = line;
}

}  // namespace benanza::tool::terminal
