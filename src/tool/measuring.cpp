// SPDX-License-Identifier: Apache-2.0
#include "measuring.hpp"

#include "terminal.hpp"
#include <benanza/detail/parse_duration.hpp>
#include <benanza/isolation/interrupt.hpp>
#include <benanza/isolation/supervisor.hpp>
#include <benanza/plan/backends.hpp>
#include <benanza/session/backends.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace benanza::tool {

namespace {

bool needs_supervisor(const MeasuringOptions& options) {
  if (bench::Supervised::current()) return false;
  const std::vector<std::string> names = expand_backends(options.backends);
  const auto all = bench::all_backends();
  return options.isolate || std::any_of(all.begin(), all.end(), [&](const auto& backend) {
           return backend->on_device() && std::find(names.begin(), names.end(), backend->name()) != names.end();
         });
}

}  // namespace

int run_measuring(const MeasuringOptions& options, const std::function<int()>& command) {
  return needs_supervisor(options) ? bench::supervise(bench::own_command()) : command();
}

Session open_session(const MeasuringOptions& options, bool quiet) {
  SessionOptions session{.backends = usable_backends(options.backends, terminal::warn),
                         .threads = options.threads,
                         .caches = options.caches,
                         .database = options.database};
  if (!quiet) session.warn = terminal::warn;
  return Session::open(std::move(session));
}

Outcome watched(const Session& session, bool quiet, BoundOptions options,
                const std::function<Measured(const BoundOptions&)>& measure) {
  const bench::InterruptWatch interrupt;
  terminal::ProgressBar bar(quiet);
  options.progress = [&](const bench::Progress& progress) { bar.show(progress); };
  options.stop = interrupt.stop_token();
  Outcome result{measure(options)};
  result.interrupted = interrupt.exit_code();
  if (result.interrupted != 0)
    terminal::say(fmt::format("interrupted: {} of {} layers measured{}", result.with_rows, result.layers,
                              result.not_kept.empty() ? ", " + where_kept(result, session) : ""));
  return result;
}

std::string where_kept(const Measured& measured, const Session& session) {
  return measured.not_kept.empty() ? "kept in " + session.options().database.string() : "not kept";
}

std::optional<Seconds> parse_budget(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(detail::parse_duration(text));
}

}  // namespace benanza::tool
