// SPDX-License-Identifier: Apache-2.0
#include "ladder_notes.hpp"

#include "report/table_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace benanza::report {

using namespace format;

namespace {

/// What the rungs assume (docs/measuring.md, "What each rung assumes"), and what rungs measured on a processor assume
/// in addition.
constexpr std::string_view assumptions =
                               "direct matrix products, any convolution algorithm, packed weights, free layouts",
                           assumptions_on_processor = ", huge pages, one NUMA node, no SMT";

/// Which session the rounds are of, if it is not the newest.
std::string session_note(const Analysis::QuietestSession& session) {
  const std::string started = session.started.substr(0, 10);
  if (session.replaced)
    return fmt::format("the session of {} was quieter; it no longer counts, as the last two agree", started);
  return fmt::format("the rounds are of {}, the quietest session; the newest is of {}{}", started,
                     session.newest.substr(0, 10),
                     session.in_doubt ? ": another one decides which of them counts" : "");
}

}  // namespace

std::vector<std::string> ladder_notes(const Analysis& a) {
  std::vector<std::string> notes{
      fmt::format("assumed: {}{}", assumptions,
                  !a.analytic && !a.machine.is_device() ? assumptions_on_processor : std::string_view())};
  for (std::size_t i = 0; i < rung_count; ++i)
    if (a.rungs[i].raised.value > 0)
      notes.push_back(fmt::format("{} was raised by {} to the model floor", rung_words(static_cast<RungName>(i)),
                                  time_text(a.rungs[i].raised)));
  const bool any_saves =
      std::any_of(a.rungs.begin(), a.rungs.end(), [](const Rung& rung) { return rung.saves_multiplications; });
  if (a.direct_floor && a[RungName::model_floor].bound && *a.direct_floor > *a[RungName::model_floor].bound)
    notes.push_back(fmt::format("direct algorithms alone: at least {}{}", time_text(*a.direct_floor),
                                any_saves ? " (rungs with W: maybe less)" : ""));
  if (any_saves) notes.emplace_back("W: some plans save multiplications (Winograd, FFT)");
  if (std::string note = floor_note(a); !note.empty()) notes.push_back(std::move(note));
  if (a.quietest) notes.push_back(session_note(*a.quietest));
  if (a.provisional()) notes.push_back("~ provisional: " + a[RungName::library].doubt + "; run again to refine");
  else if (!a[RungName::library].common_rounds)
    notes.emplace_back("* no run timed all rows together: a sum of each row's p10");
  return notes;
}

}  // namespace benanza::report
