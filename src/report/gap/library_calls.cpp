// SPDX-License-Identifier: Apache-2.0
#include "library_calls.hpp"

#include "format/numbers.hpp"
#include "format/text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <ostream>
#include <string>

namespace benanza::report {

using namespace format;

void write_time_by_library(std::ostream& out, const Gap& gap, std::size_t width) {
  if (gap.by_library.empty()) return;
  Seconds all{};
  for (const auto& each : gap.by_library) all += each.time;
  std::string line = "time by library:";
  for (const auto& each : gap.by_library) {
    const std::string part = fmt::format(" {} {} ({:.0f} %){}", each.library, time_text(each.time),
                                         100 * (each.time / all), &each == &gap.by_library.back() ? "" : ",");
    if (line.size() + part.size() > width) {
      out << line << '\n';
      line = " ";
    }
    line += part;
  }
  out << line << '\n';
}

void write_between_library_calls(std::ostream& out, const EngineProfile& profile, std::size_t width) {
  if (profile.between.empty()) return;
  constexpr std::size_t indent = 20;
  const std::size_t longest = width - indent;  // a word is not split
  out << fmt::format("\n{:>10} {:>7}  between library calls, in a pass\n", "time", "count");
  for (const auto& each : profile.between) {
    const std::string lines = wrapped(fmt::format("{}{} between {} and {}", clipped(each.name, longest),
                                                  each.activity == Activity::kernel ? " (kernel)" : "",
                                                  clipped(each.after, longest), clipped(each.before, longest)),
                                      width, indent);
    out << fmt::format("{:>10} {:>7.4g}  {}", time_text(each.time), each.count, lines.substr(indent));
    std::string chain;
    for (const auto& symbol : each.chain) chain += (chain.empty() ? "called by " : ", ") + clipped(symbol, longest - 1);
    out << wrapped(chain, width, indent);
  }
}

}  // namespace benanza::report
