// SPDX-License-Identifier: Apache-2.0
#include "measuring.hpp"

#include "commands.hpp"
#include "isolation/worker.hpp"
#include "plan/backends.hpp"
#include "terminal.hpp"
#include <benanza/base/detail/duration.hpp>
#include <benanza/bounds/sweep.hpp>
#include <benanza/isolation/interrupt.hpp>
#include <benanza/plan/choose_backends.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace benanza::tool {

std::vector<std::string> worker_of(const MeasuringOptions& options) {
  if (!options.isolate && !name_device(options.backends, plan::all_backends())) return {};
  return {isolation::own_program(), worker_command};
}

Session open_session(const MeasuringOptions& options, bool quiet) {
  SessionOptions session{.threads = options.threads,
                         .caches = options.caches,
                         .database = options.database,
                         .metrics = options.metrics,
                         .backend_names = options.backends,
                         .accept = options.accept,
                         .worker = worker_of(options)};
  if (!quiet) session.warn = terminal::warn;
  return Session::open(std::move(session));
}

namespace {

/// `library fused resident 28.7 ms ~`
std::string headline_text(const Analysis& analysis) {
  const RungName rung = analysis.headline();
  if (!analysis[rung].bound) return {};
  std::string name(enum_names(rung)[static_cast<std::size_t>(rung)]);
  std::replace(name.begin(), name.end(), '_', ' ');
  return fmt::format("{} {:.3g} ms{}", name, analysis[rung].bound->value * 1e3,
                     analysis[rung].mostly_floor()  ? " F"
                     : analysis[rung].provisional() ? " ~"
                                                    : "");
}

}  // namespace

Outcome watched(const Session& session, bool quiet, BoundOptions options,
                const std::function<Measured(const BoundOptions&)>& measure) {
  const isolation::InterruptWatch interrupt;
  terminal::ProgressBar bar(quiet);
  options.progress = [&](const measure::Progress& progress) { bar.show(progress); };
  if (!quiet) options.so_far = [&](const Analysis& so_far) { bar.note(headline_text(so_far)); };
  options.stop = interrupt.stop_token();
  Outcome result{measure(options)};
  result.interrupted = interrupt.exit_code();
  if (result.interrupted != 0)
    terminal::say(fmt::format("interrupted: {} of {} layers measured{}", result.with_rows, result.layers,
                              result.not_kept.empty() ? ", " + where_kept(result, session) : ""));
  return result;
}

namespace {

/// In the largest unit with at least 1.
std::string span_text(Seconds span) {
  if (span.value < 60) return fmt::format("{:.{}f} s", span.value, span.value < 10 ? 1 : 0);
  if (span.value < 3600) return fmt::format("{:.0f} min", span.value / 60);
  return fmt::format("{:.1f} h", span.value / 3600);
}

}  // namespace

std::string how_measured(const Measured& measured, const Session& session) {
  std::string text = fmt::format("measured {} of {}", measured.tuned, measured.tuned + measured.known);
  if (measured.known > 0) text += fmt::format(", the rest known: {} saved", span_text(measured.saved));
  return text + fmt::format("; took {}, {}", span_text(measured.took), where_kept(measured, session));
}

std::string where_kept(const Measured& measured, const Session& session) {
  return measured.not_kept.empty() ? "kept in " + session.options().database.string() : "not kept";
}

std::optional<Seconds> parse_budget(const std::string& text, std::string_view option) {
  return text.empty() ? std::nullopt : std::optional(detail::parse_duration(text, option));
}

}  // namespace benanza::tool
