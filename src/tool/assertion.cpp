// SPDX-License-Identifier: Apache-2.0
#include "assertion.hpp"

#include <benanza/base/detail/duration.hpp>

#include <fmt/format.h>

namespace benanza::tool {

Assertion parse_assertion(const std::string& text) {
  const auto at = text.find('=');
  const bool is_time = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (is_time) return {std::nullopt, detail::parse_duration(text, "--assert-latency")};
  const std::string wanted = text.substr(0, at);
  std::string known;
  for (std::size_t i = 0; i < rung_count; ++i) {
    const auto rung = enum_names(RungName{})[i];
    if (at != std::string::npos && rung == wanted)
      return {static_cast<RungName>(i), detail::parse_duration(text.substr(at + 1), "--assert-latency")};
    known += (i ? ", " : "") + std::string(rung);
  }
  throw UsageError("--assert-latency: '" + text + "', expected TIME or RUNG=TIME with one of " + known);
}

bool hold(const std::vector<Assertion>& assertions, const std::vector<Analysis>& models, bool take_provisional) {
  bool all = true;
  for (const auto& model : models)
    for (const auto& assertion : assertions) {
      const RungName asserted = assertion.rung.value_or(model.headline());
      const auto rung = enum_names(asserted)[static_cast<std::size_t>(asserted)];
      const Rung& found = model[asserted];
      std::string why;
      if (!found.bound) why = "is not known";
      else if (model.partial()) why = "is partial";
      else if (found.mostly_floor())
        why = fmt::format("is not known: {:.0f} % of it is floors of layers without a time", 100 * found.floor_share);
      else if (found.provisional() && !take_provisional) why = "is provisional (" + found.doubt + ")";
      else if (*found.bound > assertion.limit) why = fmt::format("is {:.6g} ms", found.bound->value * 1e3);
      if (why.empty()) continue;
      fmt::print(stderr, "benanza: {}: {} {}, asserted at most {:.6g} ms\n", model.model, rung, why,
                 assertion.limit.value * 1e3);
      all = false;
    }
  return all;
}

}  // namespace benanza::tool
