// SPDX-License-Identifier: Apache-2.0
// The table of a gap:
//
//   resnet50    batch 1, f32, 1 thread
//   measured                       74.8 ms   onnxruntime 1.31.1, 1 thread, 32 passes
//     slower layers               - 7.90 ms  ± 0.40 ms
//         11: layer3.0.conv2 (Conv + relu, 1.8x), layer4.0.conv2 ...
//     unexplained                 - 1.40 ms
//   library fused                  61.8 ms   ratio 0.82 (at best 1.21x faster)
//   ...
//   explained: 89 % of the gap
//
//   advice                                                      saves
//    1  Conv: another kernel for 11 layers                     7.90 ms ± 0.40 ms
//       layer3.0.conv2, layer4.0.conv2 and 9 more
//       how: another execution provider
//       reproduce: benanza measure Conv/f32/...
//   all changes together                                        saves     leaves
//       no overhead between layers                            3.10 ms    71.7 ms
#include "format/numbers.hpp"
#include "format/text.hpp"
#include "library_calls.hpp"
#include "report/table_parts.hpp"
#include "short_kernel_name.hpp"
#include "tensor_cores.hpp"
#include <benanza/report/gap_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <span>

namespace benanza {

using namespace format;

namespace {

using namespace report;

constexpr std::size_t findings_that_matter = 10, least_shown = 5;

/// The unit of which all times of a profile are multiples, that is, its clock's ticks; 0 if there is no such unit.
Seconds resolution_of(const EngineProfile& profile) {
  const auto is_in = [](Seconds time, double unit) {
    const double ticks = time.value / unit;
    return std::fabs(ticks - std::round(ticks)) < 1e-6 * std::max(1.0, ticks);
  };
  for (const double unit : {1e-3, 1e-6, 1e-9}) {
    bool all = !profile.records.empty();
    for (const auto& record : profile.records)
      for (const Seconds time : record.times) all = all && is_in(time, unit);
    if (all) return {unit};
  }
  return {};
}

class Table {
 public:
  Table(std::ostream& out, const GapReport& report, const TableOptions& options)
      : out_(out), report_(report), gap_(report.gap), options_(options), resolution_(resolution_of(report.profile)) {}

  void write() {
    head();
    measured();
    if (!gap_.outside.empty()) prose("outside the assumptions: " + gap_.outside, 2);
    for (const auto& part : gap_.parts) line_of(part);
    if (!gap_.total_only.empty()) prose("no claim about layers: " + gap_.total_only, 2);
    rungs();
    if (const auto share = gap_.explained()) out_ << fmt::format("explained: {:.0f} % of the gap\n", 100 * *share);
    for (const GapGroup& group : gap_.groups)
      if (!group.explains())
        out_ << fmt::format("not explained: {} of {} records for {} calls of the bound, starting with {}\n",
                            time_text(group.excess()), group.records.size(), group.signatures.size(), group.name);
    matches();
    phases();
    write_time_by_library(out_, gap_, width());
    advice();
    joint();
    if (options_.all) details();
    else if (!gap_.gap) algorithms();  // otherwise, they are among the advice
    for (const auto& text : gap_.deviations) prose("deviates: " + text);
    if (report_.bound.training)
      for (const auto& answer : bound_answers(report_.bound.models.front())) prose("at the bound: " + answer);
    for (const auto& text : gap_.warnings) prose("warning: " + text);
    if (!report_.bound.footer.empty()) out_ << report_.bound.footer << '\n';
  }

 private:
  [[nodiscard]] std::string strong(const std::string& text) const {
    return options_.color ? "\033[1m" + text + "\033[0m" : text;
  }
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(std::max(options_.width, 80)); }
  /// Prints a paragraph; lines after the first one are indented further.
  void prose(const std::string& text, std::size_t indent = 0) { out_ << paragraph(text, width(), indent); }
  void below(const std::string& text) { out_ << wrapped(text, width(), 4); }
  /// `± 2.10 us`; `± < 1 us` if the file's clock has no finer ticks. Empty if the spread is not known.
  [[nodiscard]] std::string spread(const std::optional<Seconds>& uncertainty) const {
    if (!uncertainty || (uncertainty->value == 0 && resolution_.value == 0)) return "";
    if (*uncertainty >= resolution_ && uncertainty->value > 0) return "± " + time_text(*uncertainty);
    if (resolution_.value >= 1e-3) return "± < 1 ms";
    return resolution_.value >= 1e-6 ? "± < 1 us" : "± < 1 ns";
  }

  void head() {
    const Analysis& a = report_.bound.models.front();
    out_ << strong(clipped(a.model, 40))
         << fmt::format(
                "    batch {}, {}{}    {}\n", a.batch, name(a.type),
                report_.bound.machine.is_device() ? "" : ", " + plural(static_cast<std::size_t>(a.threads), "thread"),
                clipped(report_.bound.machine.device, 60));
    if (gap_.partial)
      prose("partial: the bound lacks layers (benanza bound names them)" +
            std::string(gap_.gap ? ", so the gap is too large" : ""));
    if (const double share = gap_.floor_share; share > most_floor_share)
      prose(fmt::format("{:.0f} % of the bound is floors of layers without a time: the gap is at most this",
                        100 * share));
    if (!gap_.doubt.empty()) prose("the bound is provisional: " + gap_.doubt + "; benanza bound refines it");
  }

  void measured() {
    if (!gap_.latency) {
      out_ << "measured: unknown\n";
      return;
    }
    std::string text =
        gap_.engine.empty() ? gap_.format : gap_.engine + (gap_.version.empty() ? "" : " ") + gap_.version;
    if (gap_.threads) text += ", " + plural(static_cast<std::size_t>(*gap_.threads), "thread");
    if (gap_.quiet_passes > 0 && gap_.quiet_passes < gap_.passes)
      text += fmt::format(", {} quiet of {} passes", gap_.quiet_passes, gap_.passes);
    else if (gap_.passes > 0) text += fmt::format(", {} pass{}", gap_.passes, gap_.passes == 1 ? "" : "es");
    if (gap_.p10) text += fmt::format(", p10..p90 {}..{}", time_text(*gap_.p10), time_text(*gap_.p90));
    if (gap_.latency_of_records) text += ", sum of records";
    out_ << strong(fmt::format("{:<28}{:>10}", "measured", time_text(*gap_.latency))) << "   "
         << (text.empty() ? "\n" : wrapped(text, width(), 41).substr(41));
  }

  [[nodiscard]] std::string items_of(const GapPart& part) const {
    if (part.cause == Cause::throughout)
      return fmt::format(
          "{}: nine tenths of their time is slower by {:.2g}x or more: a busy machine, fewer threads, a lower clock",
          plural(part.items.size(), "group"), gap_.slowdown);
    if (part.items.empty() || part.cause == Cause::between_layers || part.cause == Cause::side_by_side) return "";
    std::string text = part.cause == Cause::rung ? "" : std::to_string(part.items.size()) + ": ";
    const std::size_t most = options_.all ? part.items.size() : 3;
    std::vector<std::string> shown;
    for (const auto& item : part.items) {
      const std::string name = options_.all ? item.name : short_kernel_name(item.name);
      const bool says_more = !item.detail.empty() && item.detail != item.name;
      std::string one = name + (says_more ? " (" + item.detail + ")" : "");
      if (!options_.all && std::find(shown.begin(), shown.end(), one) != shown.end()) continue;
      if (shown.size() == most) return text + " ...";
      text += (shown.empty() ? "" : ", ") + one;
      shown.push_back(std::move(one));
    }
    return text;
  }

  void line_of(const GapPart& part) {
    const bool lowers = part.time.value > 0;  // without this part, the time is nearer to the bound
    const double size = std::fabs(part.time.value);
    const double latency = gap_.latency.value_or(Seconds{}).value;
    if (size < 1e-6 * latency || (size < 1e-3 * latency && Seconds{size} < resolution_))
      return;  // noise rather than a figure
    std::string line = fmt::format("  {:<26}{} {:>8}  {:<10}", describe(part.cause), lowers ? '-' : '+',
                                   time_text({size}), spread(part.uncertainty));
    while (line.ends_with(' ')) line.pop_back();
    out_ << line << '\n' << wrapped(items_of(part), width(), 6);
  }

  void rungs() {
    const auto line = [&](RungName name) {
      const RungRatio& ratio = gap_.ratio(name);
      if (!ratio.bound) {
        if (name == gap_.rung) out_ << fmt::format("{:<28}{:>10}", rung_words(name), "unknown") << '\n';
        return;
      }
      std::string text = fmt::format("{:<28}{:>10}", rung_words(name), time_text(*ratio.bound));
      if (name == gap_.rung) text = strong(text);
      if (ratio.ratio && ratio.bound->value > 0) {
        text += fmt::format("   ratio {:.2f}", *ratio.ratio);
        text +=
            *ratio.ratio < 1 ? fmt::format(" (at best {:.2f}x faster)", 1 / *ratio.ratio) : " (the engine is faster)";
      }
      out_ << text << '\n';
    };
    witness();
    line(gap_.rung);
    for (std::size_t i = rung_count; i-- > 0;)
      if (const auto name = static_cast<RungName>(i); name != gap_.rung && name != RungName::roofline_memory)
        if (options_.all || name == RungName::library_fused_resident || name == RungName::library_fused ||
            name == RungName::model_floor)
          line(name);
  }

  /// What was achieved, which proves the part of the gap above it.
  void witness() {
    if (report_.bound.witnesses.empty()) return;
    const Witness& witness = report_.bound.witnesses.front();
    if (!witness.given()) return prose("no witness: " + witness.refused, 2);
    std::string text = fmt::format("{:<28}{:>10}", "witness, executed", time_text(witness.median));
    if (gap_.latency && witness.median.value > 0) {
      const double ratio = witness.median / *gap_.latency;
      text += fmt::format("   ratio {:.2f}", ratio);
      if (witness.node_by_node) text += " (with random inputs)";
      else text += ratio < 1 ? fmt::format(" (proven to be {:.2f}x faster)", 1 / ratio) : " (the engine is faster)";
    }
    if (!witness.representative()) text += ", not representative";
    out_ << text << '\n';
  }

  void matches() {
    if (gap_.records.empty()) return;
    std::map<MatchedBy, std::size_t> count;
    std::size_t beside = 0;
    for (const auto& record : gap_.records)
      if (record.counted && (record.group || record.cause == Cause::unmatched)) ++count[record.by];
      else ++beside;
    std::string text;
    for (const auto& [by, number] : count) {
      std::string how(enum_names(by)[static_cast<std::size_t>(by)]);
      std::replace(how.begin(), how.end(), '_', ' ');
      text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", number, how);
    }
    out_ << "records matched: " << (text.empty() ? "none" : text)
         << fmt::format("; {} outside the model's layers\n", beside);
    if (const TensorCoreUse use = tensor_core_use(report_); use.of_records > 0)
      out_ << fmt::format("on tensor cores: {} of {}, {} of {} of kernels\n", use.records,
                          plural(use.of_records, "kernel"), time_text(use.time), time_text(use.of_time));
  }

  /// An iteration of training, phase by phase, with the largest causes of each.
  void phases() {
    if (gap_.phases.empty()) return;
    out_ << '\n'
         << strong(fmt::format("{:<18}{:>10} {:>10} {:>7}  causes", "phase", "measured", "bound", "ratio")) << '\n';
    for (const auto& phase : gap_.phases) {
      constexpr std::size_t most = 3;
      std::string causes;
      for (std::size_t i = 0; i < std::min(most, phase.causes.size()); ++i) {
        const auto& [cause, time] = phase.causes[i];
        causes += fmt::format("{}{} {}{}", i ? ", " : "", describe(cause), time.value < 0 ? "-" : "",
                              time_text({std::fabs(time.value)}));
      }
      constexpr std::size_t indent = 50;
      const std::string lines = wrapped(causes, width(), indent);
      out_ << fmt::format("{:<18}{:>10} {:>10} {:>7}  ", describe(phase.phase), time_text(phase.engine),
                          time_text(phase.bound),
                          phase.bound.value > 0 ? fmt::format("{:.2f}x", phase.engine / phase.bound) : "-")
           << (causes.empty() ? "\n" : lines.substr(indent));
    }
  }

  void advice() {
    if (gap_.advice.empty()) return;
    const bool proven = !report_.proofs.empty();
    const std::size_t room = proven ? 42 : 50;  // 80 columns including what follows
    out_ << '\n'
         << strong(fmt::format("{:<{}} {:>10}{:>{}}", "advice", room + 4, "saves", proven ? "achieved" : "",
                               proven ? 22 : 0))
         << '\n';
    const std::size_t shown =
        options_.all ? gap_.advice.size() : std::min<std::size_t>(gap_.advice.size(), findings_that_matter);
    for (std::size_t i = 0; i < shown; ++i) {
      const Advice& advice = gap_.advice[i];
      const std::string text = wrapped(advice.text, room, 0);
      const std::size_t first = text.find('\n');
      std::string line = fmt::format("{:>2}  {:<{}} {:>10} {:<10}", i + 1, text.substr(0, first), room,
                                     time_text(advice.gain), spread(advice.uncertainty));
      if (proven) line += fmt::format(" {:>10}", achieved(i));
      while (line.ends_with(' ')) line.pop_back();
      out_ << line << '\n';
      below(advice.text.substr(first));
      below(first_layers(advice));
      if (!advice.how.empty()) below("how: " + advice.how);
      if (!advice.reproduce.empty()) out_ << "    reproduce: " << printable(advice.reproduce) << '\n';  // easy to copy
      for (const auto& proof : report_.proofs)
        if (proof.advice == i && !proof.reason.empty()) below("not proven: " + proof.reason);
    }
    if (shown < gap_.advice.size()) out_ << fmt::format("  ({} more: --all)\n", gap_.advice.size() - shown);
  }
  /// `conv1, conv2 and 3 more`
  [[nodiscard]] std::string first_layers(const Advice& advice) const {
    const std::size_t shown = std::min<std::size_t>(advice.layers.size(), 2);
    std::string text;
    for (std::size_t i = 0; i < shown; ++i) text += (i ? ", " : "") + clipped(advice.layers[i], 140);
    if (shown < advice.layers.size()) text += fmt::format(" and {} more", advice.layers.size() - shown);
    return text;
  }
  [[nodiscard]] std::string achieved(std::size_t advice) const {
    for (const auto& proof : report_.proofs)
      if (proof.advice == advice && proof.achieved)
        return (proof.achieved->value < 0 ? "costs " : "") + time_text({std::fabs(proof.achieved->value)});
    return "-";
  }

  void joint() {
    if (!gap_.joint || gap_.joint->steps.size() < 2) return;  // a single step says the same as the rungs
    out_ << '\n' << strong(fmt::format("{:<54} {:>10} {:>10}", "all changes together", "saves", "leaves")) << '\n';
    for (const auto& step : gap_.joint->steps)
      out_ << fmt::format("    {:<44} {:>16} {:>10}\n", step.what,
                          (step.gain.value < 0 ? "costs " : "") + time_text({std::fabs(step.gain.value)}),
                          time_text(step.latency));
  }

  void details() {
    groups();
    records_beside();
    write_between_library_calls(out_, report_.profile, width());
    branches();
    algorithms();
    fusions();
    types_and_layouts();
    library();
  }

  void groups() {
    if (gap_.groups.empty()) return;
    out_ << fmt::format("\n{:>10} {:>10} {:>7}  layers\n", "engine", "bound", "ratio");
    for (const auto& group : gap_.groups)
      out_ << fmt::format("{:>10} {:>10} {:>7}  {} ({}){}\n", time_text(group.engine), time_text(group.bound),
                          group.bound.value > 0 ? fmt::format("{:.2f}x", group.engine / group.bound) : "-",
                          clipped(group.name, 80), clipped(group.pattern, 100),
                          group.doubtful ? "  faster than its roofline" : "");
    for (const auto& name : gap_.not_found) out_ << "  in no record: " << clipped(name, 200) << '\n';
  }

  void records_beside() {
    bool any = false;
    for (const auto& record : gap_.records) {
      if (record.group || record.time.value <= 0) continue;
      if (!any) out_ << fmt::format("\n{:>10}  {:<27}  record\n", "time", "not a layer of the model");
      any = true;
      const ProfileRecord& said = report_.profile.records[record.record];
      out_ << fmt::format("{:>10}  {:<27}  {}{}\n", time_text(record.time), describe(record.cause),
                          clipped(said.name, 120),
                          said.op.empty() || said.op == said.name ? "" : " (" + clipped(said.op, 40) + ")");
    }
  }

  void branches() {
    if (!gap_.parallel.gain) return;
    out_ << '\n';
    prose(fmt::format(
        "parallel branches: could save up to {}; the engine already saves {}; {} on the critical path, {} off it",
        time_text(*gap_.parallel.gain), time_text(gap_.parallel.side_by_side),
        plural(gap_.parallel.path.size(), "group"), gap_.parallel.groups_off_path));
  }

  void algorithms() {
    if (gap_.algorithms.empty()) return;
    out_ << fmt::format("\n{:>10} {:>10} {:>6} {:>10}  chosen, best\n", "chosen", "best", "count", "gain");
    const auto text = [](std::optional<Seconds> time) { return time ? time_text(*time) : "unknown"; };
    const std::size_t shown =
        options_.all ? gap_.algorithms.size() : std::min<std::size_t>(gap_.algorithms.size(), findings_that_matter);
    for (const auto& choice : std::span(gap_.algorithms).first(shown))
      out_ << fmt::format("{:>10} {:>10} {:>6} {:>10}  {} {}, {}  {}{}\n", text(choice.chosen_time),
                          text(choice.best_time), fmt::format("x{}", choice.count), text(choice.gain()), choice.library,
                          choice.chosen, choice.best.empty() ? "-" : choice.best,
                          choice.layer.empty() ? "" : clipped(choice.layer, 80) + "  ", choice.signature);
    if (shown < gap_.algorithms.size()) out_ << fmt::format("  ({} more: --all)\n", gap_.algorithms.size() - shown);
  }

  void fusions() {
    if (gap_.fusions.empty()) return;
    out_ << fmt::format("\n{:>10} {:>10} {:>6} {:>6}  pattern\n", "fused gains", "open", "groups", "done");
    for (const auto& fusion : gap_.fusions)
      out_ << fmt::format("{:>11} {:>10} {:>6} {:>6}  {}\n", time_text(fusion.gain), time_text(fusion.open),
                          fusion.count, fusion.done, fusion.pattern);
  }

  void types_and_layouts() {
    for (const auto& type : gap_.types)
      if (type.bound && type.compared)
        out_ << fmt::format("in {}: {} instead of {} ({})\n", name(type.type), time_text(*type.bound),
                            time_text(*type.compared),
                            rung_words(type.rung) + (type.measured ? ", measured" : ", not measured"));
    for (const auto& layout : gap_.layouts)
      out_ << fmt::format("in layout {}: saves {} over {}, compared with the plain layout\n", layout.layout,
                          time_text(layout.gain), plural(static_cast<std::size_t>(layout.layers), "unique layer"));
  }

  void library() {
    const std::size_t shown = std::min<std::size_t>(gap_.library.size(), findings_that_matter);
    if (shown > 0)
      out_ << fmt::format("\n{:>10} {:>10} {:>6}  the library's own distance to the roofline\n", "time", "roofline",
                          "count");
    for (std::size_t i = 0; i < shown; ++i)
      out_ << fmt::format("{:>10} {:>10} {:>6}  {} {}  {}\n", time_text(gap_.library[i].time),
                          time_text(gap_.library[i].floor), fmt::format("x{}", gap_.library[i].count),
                          gap_.library[i].backend, gap_.library[i].algorithm, gap_.library[i].signature);
    for (std::size_t i = 0; i < std::min<std::size_t>(gap_.backends.size(), least_shown); ++i)
      out_ << fmt::format("{} less by {} instead of {}: {}\n", time_text(gap_.backends[i].gain()), gap_.backends[i].to,
                          gap_.backends[i].from, gap_.backends[i].signature);
  }

  std::ostream& out_;
  const GapReport& report_;
  const Gap& gap_;
  const TableOptions& options_;
  Seconds resolution_;
};

}  // namespace

void write_table(std::ostream& out, const GapReport& report, const TableOptions& options) {
  Table(out, report, options).write();
}

}  // namespace benanza
