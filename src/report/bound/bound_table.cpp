// SPDX-License-Identifier: Apache-2.0
// Tables for a terminal of 80 columns:
//
//   resnet50    batch 1, f32, 2 threads
//   122 layers, 47 unique    4.09 GMAC    102 MB of weights
//   measured 121  free 1    fused: 56 groups
//
//     model floor                 28.0 ms  ██████████▊
//     library fused               61.4 ms  █████████████████████████▉       ± 0.4 %
//     library                     66.9 ms  ████████████████████████████▏    ± 0.5 %
//
//      share      time  count  of roof  layer                                   plan
//     12.4 %   7.62 ms     x6     62 %  Conv 1x256x14x14, 256 of 3x3, +bias ... onednn brgconv:avx2
#include "format/numbers.hpp"
#include "format/text.hpp"
#include "ladder_notes.hpp"
#include "plans.hpp"
#include "report/table_parts.hpp"
#include "sweep.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>
#include <string_view>

namespace benanza {

using namespace format;

namespace {

using namespace report;

constexpr std::size_t rows_that_matter = 10;
constexpr int bar_cells = 31;  // with an uncertainty and two marks, a line has 80 columns

/// `measured 121  free 1    fused: 56 groups`; counts of zero are left out.
void coverage_line(std::ostream& out, const Analysis& a) {
  const auto count = [](std::string_view name, std::int64_t number, std::string_view in_front) {
    return number > 0 ? fmt::format("{}{} {}", in_front, name, number) : std::string{};
  };
  std::string line = fmt::format("measured {}", a.coverage[Status::measured]);
  for (const auto status : {Status::free, Status::modelled, Status::missing})
    line += count(enum_names(status)[static_cast<std::size_t>(status)], a.coverage[status], "  ");
  line += fmt::format("    fused: {} group{}", a.groups, a.groups == 1 ? "" : "s");
  for (const auto status : {Status::modelled, Status::missing})
    line += count(enum_names(status)[static_cast<std::size_t>(status)], a.coverage_fused[status], ", ");
  out << line << '\n';
}

void ladder(std::ostream& out, const Analysis& a, const TableOptions& options) {
  const auto is_shown = [](RungName rung) { return rung != RungName::roofline_memory; };  // an indication: in the JSON
  double longest = 0;
  for (std::size_t i = 0; i < rung_count; ++i)
    if (is_shown(static_cast<RungName>(i))) longest = std::max(longest, a.rungs[i].bound.value_or(Seconds{}).value);
  for (std::size_t i = 0; i < rung_count; ++i) {
    const auto rung_name = static_cast<RungName>(i);
    const Rung& rung = a.rungs[i];
    if (!is_shown(rung_name)) continue;
    const std::string label = rung_words(rung_name);
    if (a.analytic && !rung.bound) continue;  // not requested
    if (!rung.bound) {
      out << fmt::format("  {:<23} {:>9}\n", label, "unknown");
      continue;
    }
    const std::string cells = bar(longest > 0 ? rung.bound->value / longest : 0, bar_cells);
    std::string line = fmt::format("  {:<23} {:>9}  {}", label, time_text(*rung.bound), cells);
    if (rung.median) {
      const auto drawn = static_cast<std::size_t>(std::count_if(
          cells.begin(), cells.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
      line += std::string(static_cast<std::size_t>(bar_cells) - drawn + 1, ' ') + interval_of(rung) + marks_of(rung);
    }
    out << (rung_name == a.headline() ? strong(line, options) : line) << '\n';
  }
  for (const auto& note : ladder_notes(a)) out << paragraph(note, width_of(options), 2);
}

/// Plans that could be the fastest of their layer, and are out because the process that tried them ended.
void ended_plans(std::ostream& out, const Analysis& a, const TableOptions& options) {
  constexpr std::size_t few = 3;
  if (a.ended.empty()) return;
  out << fmt::format("  {} plan{} ended the process that tried {}, and may be faster:\n", a.ended.size(),
                     a.ended.size() == 1 ? "" : "s", a.ended.size() == 1 ? "it" : "them");
  const std::size_t shown = options.all ? a.ended.size() : std::min(a.ended.size(), few);
  for (std::size_t i = 0; i < shown; ++i)
    out << fmt::format("    {} {} {}\n", a.ended[i].backend, clipped(a.ended[i].algorithm, 60),
                       enum_names(CacheState{})[static_cast<std::size_t>(a.ended[i].cache)])
        << wrapped(clipped(describe(parse_layer(a.ended[i].signature)) + ": " + a.ended[i].reason, 300),
                   width_of(options), 6);
  if (shown < a.ended.size()) out << fmt::format("    ({} more: --all)\n", a.ended.size() - shown);
}

/// What was executed, and its distance from the bound.
void witness_lines(std::ostream& out, const Analysis& a, const Witness& witness, const TableOptions& options) {
  if (!witness.given()) {
    out << paragraph("no witness: " + clipped(witness.refused, 300), width_of(options), 2);
    return;
  }
  const auto bound = witness.node_by_node ? std::nullopt : a[RungName::library_fused_resident].bound;
  if (bound)
    out << fmt::format("  {:<23} {:>9}\n    + {} for layout changes and switches, {} for slower plans\n",
                       "library chained", time_text(witness.chained(*bound)),
                       time_text(witness.layout_changes_alone() + witness.switches), time_text(witness.slower_plans()));
  if (bound && witness.saved_by_orders().value > 0)
    out << fmt::format("    {} of the bound is data movement that these layouts avoid\n",
                       time_text(witness.saved_by_orders()));
  std::string line = fmt::format("  {:<23} {:>9}", "witness", time_text(witness.p10));
  if (std::isfinite(witness.uncertainty)) line += " " + plus_minus(witness.uncertainty);
  if (bound && bound->value > 0) line += fmt::format("  {:.2f} x library fused resident", witness.p10 / *bound);
  out << strong(line, options) << '\n';
  const auto share = [&](Seconds time) {
    return witness.in_calls().value > 0 ? 100 * (time / witness.in_calls()) : 0.0;
  };
  Seconds alone{}, in_place{};
  std::size_t changes = 0, placed = 0;
  for (const auto& call : witness.calls) {
    changes += call.plan == "layout" ? 1 : 0;
    placed += call.plan == "in place" ? 1 : 0;
    if (call.plan == "layout" || !(call.alone.value > 0)) continue;
    alone += call.alone;
    in_place += call.in_place;
  }
  if (witness.node_by_node)
    out << fmt::format(
        "    node by node, as data decides what runs or how large it is;\n"
        "    {} outputs of plans agree with the reference\n",
        witness.checked);
  else
    out << fmt::format(
        "    {} calls, {} changes of layout ({:.1f} % of the time)\n    {} for activations, {} if none shared memory\n",
        witness.calls.size() - changes - placed, changes, share(witness.layout_changes()),
        scaled(witness.peak.value) + "B", scaled(witness.all_tensors.value) + "B");
  if (alone.value > 0 && !witness.one_graph)  // calls of a graph are timed outside it
    out << fmt::format("    in place, plans take {:.2f} times as long as alone ({}, not {})\n", in_place / alone,
                       time_text(in_place), time_text(alone));
  if (!witness.representative())
    out << fmt::format("    not representative: the reference ran {:.1f} % of the time\n",
                       share(witness.by_reference()));
  if (witness.distant())
    out << fmt::format(
        "    slower than usual, as the threads were far from each other:\n"
        "    the round trip of a cache line took {:.2f} us, usually {:.2f} us\n",
        witness.round_trip.value * 1e6, witness.usual_round_trip.value * 1e6);
  if (!witness.node_by_node)
    out << fmt::format("    outputs differ by {:.1e} of the largest value from those of single nodes\n",
                       witness.difference);
  if (witness.unequal > 0)
    out << fmt::format("    {:.1g} % of an output's integers differ from those of single nodes\n",
                       100 * witness.unequal);
  if (witness.check && !witness.check->nodes.empty())
    out << fmt::format("    checked: {} calls; largest difference {:.1e}, of {}\n", witness.check->calls,
                       witness.check->difference, clipped(witness.check->nodes.front(), 24));
}

/// Work in the floors that an engine can avoid.
void floor_exceptions(std::ostream& out, const Analysis& a, const TableOptions& options) {
  constexpr std::size_t few = 3;
  const std::size_t shown = options.all ? a.floor_exceptions.size() : std::min(a.floor_exceptions.size(), few);
  for (std::size_t i = 0; i < shown; ++i) {
    const FloorException& each = a.floor_exceptions[i];
    std::string most = each.flops.value > 0 ? scaled(each.flops.value) + "FLOP" : "";
    if (each.bytes.value > 0) most += (most.empty() ? "" : ", ") + scaled(each.bytes.value) + "B";
    out << fmt::format("  floor at most {} too high at '{}':\n", most, clipped(each.node, 40))
        << wrapped(each.kind, width_of(options), 4);
  }
  if (shown < a.floor_exceptions.size())
    out << fmt::format("    ({} more: --all)\n", a.floor_exceptions.size() - shown);
}

/// Work that the floors lack and the rungs of unfused library calls include; names the readers that read only a part.
void dead_work(std::ostream& out, const Analysis& a, const TableOptions& options) {
  constexpr double least_shown = 5e-4;  // 0.1 % after rounding
  constexpr std::size_t few = 3;
  if (a.dead_share() < least_shown) return;
  out << fmt::format("  dead work {:.1f} %: an engine can skip it, `library` computes it\n", 100 * a.dead_share());
  const std::size_t shown = options.all ? a.dead.size() : std::min(a.dead.size(), few);
  for (std::size_t i = 0; i < shown; ++i) {
    const DeadWork& work = a.dead[i];
    out << fmt::format("    {}FLOP in {} layer{}, first '{}'{}\n", scaled(work.flops.value), work.nodes.size(),
                       work.nodes.size() == 1 ? "" : "s", clipped(work.nodes.front(), 40),
                       work.readers.empty() ? ": nothing reads it" : ":");
    for (const auto& reader : work.readers) out << wrapped(clipped(reader, 300), width_of(options), 6);
  }
  if (shown < a.dead.size()) out << fmt::format("    ({} more: --all)\n", a.dead.size() - shown);
}

/// Whether it is the name of a row, backend/algorithm/cache state/signature, and not of a loop that measures ceilings.
bool is_row(const std::string& reached_by) {
  constexpr auto states = enum_names(CacheState{});
  return std::any_of(states.begin(), states.end(), [&](std::string_view state) {
    return reached_by.find("/" + std::string(state) + "/") != std::string::npos;
  });
}

/// Ceilings that a row raised above all loops; peaks only for the types that this model has.
void raised_ceilings(std::ostream& out, const Analysis& a, const TableOptions& options) {
  const auto line = [&](const std::string& ceiling, const std::string& value, const std::string& reached_by) {
    if (is_row(reached_by))
      out << fmt::format("  {} was raised to {} by\n", ceiling, value) << name_line(reached_by, options, 4);
  };
  const auto has = [&a](DataType type) {
    return std::any_of(a.rows.begin(), a.rows.end(),
                       [type](const LayerRow& row) { return arithmetic_type(parse_layer(row.signature)) == type; });
  };
  for (const auto& [type, reached_by] : a.ceilings.reached_by)
    if (has(type))
      line(fmt::format("the {} peak", name(type)), scaled(a.ceilings.peaks.at(type).value) + "FLOP/s", reached_by);
  for (const auto& level : a.ceilings.levels)
    line("the bandwidth of " + level.name, scaled(level.bandwidth.value) + "B/s", level.reached_by);
}

/// An algorithm without its keys and without oneDNN's instruction set: `brgconv` of `brgconv:avx2,threads=2`.
std::string short_name(const std::string& algorithm) {
  const std::string name = algorithm.substr(0, algorithm.find(','));
  const auto colon = name.rfind(':');
  const std::string last = colon == std::string::npos ? "" : name.substr(colon + 1);
  const bool is_isa = last.starts_with("avx") || last.starts_with("sse") || last == "uni";
  return is_isa ? name.substr(0, colon) : name;
}

/// What layers read from compressed weights and tables, summed over all their calls.
void reading_lines(std::ostream& out, const std::vector<const LayerRow*>& layers) {
  std::size_t expanding = 0, compressed = 0, looking_up = 0;
  WeightBytes expanded{};
  Bytes as_stored{};
  LookupBytes lookup{};
  for (const auto* row : layers) {
    const auto calls = static_cast<double>(row->count);
    if (row->weights && row->weights->expanded()) {
      ++expanding;
      expanded.stored += row->weights->stored * calls;
      expanded.read += row->weights->read * calls;
    } else if (row->weights) {
      ++compressed;
      as_stored += row->weights->read * calls;
    }
    if (row->lookup) {
      ++looking_up;
      lookup.certain += row->lookup->certain * calls;
      lookup.expected += row->lookup->expected * calls;
    }
  }
  if (expanding > 0)
    out << fmt::format("  {} of {} layers: the file stores {}B of weights, the plans read {}B\n", expanding,
                       layers.size(), scaled(expanded.stored.value), scaled(expanded.read.value));
  if (compressed > 0)
    out << fmt::format("  {} of {} layers: the plans read compressed weights, {}B\n", compressed, layers.size(),
                       scaled(as_stored.value));
  if (looking_up > 0)
    out << fmt::format("  {} of {} layers look up rows: {}B are certain to be read, {}B expected\n", looking_up,
                       layers.size(), scaled(lookup.certain.value), scaled(lookup.expected.value));
}

/// Writes nothing if no form with groups is known, as in the tables of 2019.
void rows(std::ostream& out, const Analysis& a, const TableOptions& options) {
  Seconds total{};
  std::vector<const LayerRow*> fused;
  for (const auto& row : a.rows)
    if (row.form == Form::fused) {
      fused.push_back(&row);
      total += row.total();
    }
  if (fused.empty()) return;
  const auto plan_of = [&](const LayerRow& row) {
    if (!row.chosen) return std::string(enum_names(row.status)[static_cast<std::size_t>(row.status)]);
    return row.chosen->backend + " " + (options.all ? row.chosen->algorithm : short_name(row.chosen->algorithm));
  };
  const auto is_doubtful = [](const LayerRow& row) {
    return row.chosen && (row.chosen->noisy || row.chosen->contended);
  };
  const auto is_disagreeing = [](const LayerRow& row) { return row.chosen && no_method_agrees(*row.chosen); };
  const auto mark = [&](const LayerRow& row) { return is_disagreeing(row) ? '!' : is_doubtful(row) ? '~' : ' '; };
  const std::size_t shown = options.all ? fused.size() : std::min(fused.size(), rows_that_matter);
  const std::size_t fixed = 38;
  const std::size_t rest = width_of(options) - fixed;
  const std::size_t layer_width = options.all || options.width > 110 ? rest * 3 / 5 : rest - 15;
  out << fmt::format("   {:>6} {:>9} {:>6} {:>7}  {:<{}} {}\n", "share", "time", "count", "of roof", "layer",
                     layer_width, "plan");
  for (std::size_t i = 0; i < shown; ++i) {
    const LayerRow& row = *fused[i];
    const std::string plan = plan_of(row);
    const auto share = row.of_roofline();
    out << fmt::format("  {:>5.1f} % {:>9}{}{:>6} {:>7}  {:<{}} {}\n",
                       total.value > 0 ? 100 * (row.total() / total) : 0.0, time_text(row.total()), mark(row),
                       fmt::format("x{}", row.count), share ? fmt::format("{:.0f} %", 100 * *share) : "-",
                       clipped(describe(parse_layer(row.signature)), layer_width), layer_width,
                       options.all ? plan : clipped(plan, rest - layer_width - 1));
    if (row.candidates.empty()) continue;
    out << row.signature << '\n';
    write_candidates(out, row.candidates, row.direct_floor, row.least_floor);
    out << '\n';
  }
  if (shown < fused.size()) out << fmt::format("  ({} more: --all)\n", fused.size() - shown);
  const auto doubtful =
      std::count_if(fused.begin(), fused.end(), [&](const LayerRow* row) { return is_doubtful(*row); });
  if (doubtful > 0)
    out << fmt::format(
        "  ~ {} of {} layers: noisy when the budget ended, or contended;\n"
        "    `bound --budget` measures them again\n",
        doubtful, fused.size());
  const auto with_fewer_threads = std::count_if(fused.begin(), fused.end(), [&](const LayerRow* row) {
    return row->most_threads > 0 && row->most_threads < a.threads;
  });
  if (with_fewer_threads > 0)
    out << fmt::format("  {} of {} layers: no plan was tried with {} threads; one may be faster\n", with_fewer_threads,
                       fused.size(), a.threads);
  const auto disagreeing =
      std::count_if(fused.begin(), fused.end(), [&](const LayerRow* row) { return is_disagreeing(*row); });
  if (disagreeing > 0)
    out << fmt::format("  ! {} of {} layers: no two methods of timing agree\n", disagreeing, fused.size());
  const auto not_taken =
      std::count_if(fused.begin(), fused.end(), [](const LayerRow* row) { return row->not_taken > 0; });
  if (not_taken > 0)
    out << fmt::format("  {} of {} layers: in the longer branch of an If; the bound takes the shorter\n", not_taken,
                       fused.size());
  reading_lines(out, fused);
  if (!a.bound_rows.empty())
    out << "  in some groups the bound uses other calls, as it excludes launches: bound_rows in --json\n";
  Seconds untried{};
  std::int64_t with_untried = 0;
  for (const auto* row : fused)
    if (row->untried > 0) {
      ++with_untried;
      untried += row->total();
    }
  if (with_untried > 0 && total.value > 0)
    out << fmt::format("  {} of {} layers, {:.0f} % of the time: the budget left some plans untried\n", with_untried,
                       fused.size(), 100 * (untried / total));
}

void missing(std::ostream& out, const Analysis& a, const TableOptions& options) {
  if (!a.partial()) return;
  out << strong("partial: the bounds lack the following", options) << '\n';
  const std::size_t shown = options.all ? a.missing.size() : std::min<std::size_t>(a.missing.size(), 5);
  for (std::size_t i = 0; i < shown; ++i) out << item(a.missing[i], options, 2);
  if (shown < a.missing.size()) out << fmt::format("  ({} more: --all)\n", a.missing.size() - shown);
}

}  // namespace

void write_table(std::ostream& out, const BoundReport& report, const TableOptions& options) {
  std::string backends;
  for (const auto& backend : report.backends)
    backends += (backends.empty() ? "" : ", ") + backend.name + " " + backend.version;
  const std::string declared =
      report.declared.empty()
          ? ""
          : clipped(fmt::format("{}: declared in {}, not measured", report.machine.device, report.declared), 300) +
                '\n';
  if (!report.sweeps.empty()) out << declared;
  write_sweep_table(out, report.sweeps);
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    const Analysis& a = report.models[i];
    if (!report.sweeps.empty() && !options.all) break;  // skips the individual points
    out << strong(clipped(a.model, 40), options)
        << fmt::format("    {}, {}{}\n", sizes(a.batch, a.dims), name(a.type),
                       a.analytic || report.machine.is_device()
                           ? ""
                           : fmt::format(", {} thread{}", a.threads, a.threads == 1 ? "" : "s"));
    if (!declared.empty()) out << declared;
    else
      out << clipped(fmt::format("{} {}", report.machine.device, report.machine.isa), 78) << "    " << backends << '\n';
    out << fmt::format("{} layers, {} unique    {}MAC    {}B of weights\n", a.layers, a.unique_layers,
                       scaled(static_cast<double>(a.macs)), scaled(a.weights.value));
    coverage_line(out, a);
    out << '\n';
    ladder(out, a, options);
    if (i < report.witnesses.size()) witness_lines(out, a, report.witnesses[i], options);
    ended_plans(out, a, options);
    floor_exceptions(out, a, options);
    dead_work(out, a, options);
    raised_ceilings(out, a, options);
    out << '\n';
    rows(out, a, options);
    for (const auto& choice : a.choices) out << paragraph(clipped(choice, 300), width_of(options), 0);
    missing(out, a, options);
    if (report.training)
      for (const auto& answer : bound_answers(a)) out << wrapped(answer, 78, 2);
    out << '\n';
  }
  if (!report.footer.empty()) out << report.footer << '\n';
  std::string absent;
  for (const auto& backend : report.missing_backends)
    absent += fmt::format("{}{} (needs {})", absent.empty() ? "" : ", ", backend.name, backend.needs);
  if (!absent.empty()) out << "not in this build: " << absent << '\n';
}

std::vector<std::string> warnings_of(const ResultDatabase& results) {
  std::vector<std::string> warnings;
  std::set<std::string> seen;
  for (const auto& run : results.runs())
    for (const auto& warning : run.warnings)
      if (seen.insert(warning).second) warnings.push_back(warning);
  return warnings;
}

}  // namespace benanza
