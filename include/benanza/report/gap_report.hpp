// SPDX-License-Identifier: Apache-2.0
// The report of `gap`: an engine's run compared with a model's bounds, as a table for people, JSON and CSV for
// programs, and pictures.
#pragma once

#include <benanza/gap/gap.hpp>
#include <benanza/report/report.hpp>

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace benanza {

/// A piece of advice, measured again with the change made as far as Benanza can make it: with the calls that would
/// replace the engine's.
struct Proof {
  std::size_t advice = 0;             ///< index into Gap::advice
  std::optional<Seconds> achieved{};  ///< latency saved, to compare with Advice::gain; empty if not measurable
  std::optional<Seconds> uncertainty{};
  std::string reason{};  ///< why not, or what it does not include
};

struct GapReport {
  BoundReport bound{};  ///< with the one model
  EngineProfile profile{};
  Gap gap{};
  std::vector<Proof> proofs{};
};

/// The name of a cause: `layout and type conversions`.
[[nodiscard]] std::string_view describe(Cause cause);
/// The name of a phase of a gap: `forward, loss`.
[[nodiscard]] std::string_view describe(Phase phase);

void write_table(std::ostream& out, const GapReport& report, const TableOptions& options = {});
void write_json(std::ostream& out, const GapReport& report);
/// One line per record of the profile, and one per layer of the bound that no record serves.
void write_csv(std::ostream& out, const GapReport& report);
/// The measured latency, and one line per rung with ratio and gap.
void write_rungs_csv(std::ostream& out, const GapReport& report);
/// The causes, the rungs and the advice as tables in GitHub's Markdown.
void write_markdown(std::ostream& out, const GapReport& report, const TableOptions& options = {});
/// The page of `bound` with the gap before the ladder: waterfall, timeline, advice, questions.
void write_html(std::ostream& out, const GapReport& report);
/// The fused layer graph; the fill shows how much longer the engine takes than the bound, red is the critical path.
void write_dot(std::ostream& out, const GapReport& report);
/// The engine's records and the bound's schedules as parallel tracks, for Chrome's and Perfetto's trace viewers.
void write_trace(std::ostream& out, const GapReport& report);

}  // namespace benanza
