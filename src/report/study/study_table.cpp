// SPDX-License-Identifier: Apache-2.0
// A study as text:
//
//   study    30 models, 1 device, 1 framework, batch 1
//
//   bound / measured     models  sequential        parallel
//   Tesla V100-SXM2-16GB, batch 1
//     mxnet                  30  0.884 0.81..0.97  0.768 0.68..0.87
//       complete bounds      24  0.906 0.88..0.94  0.845 0.79..0.90
//
//   speed-up       parallel algorithms     fusion ...
//   Tesla V100-SXM2-16GB, batch 1
//     mean           1.151x     1.018x     1.073x
//     95 %       1.04..1.28 1.01..1.03
//     models             30         30          1
#include "format/numbers.hpp"
#include "format/text.hpp"
#include <benanza/report/study_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza {

using namespace format;

namespace {

constexpr std::size_t most_rows = 24, most_notes = 4;

std::string count_of(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string interval(const GeometricMean& mean) {
  if (!mean.low || !mean.high) return fmt::format("{:.3f}", mean.mean);
  return fmt::format("{:.3f} {:.2f}..{:.2f}", mean.mean, *mean.low, *mean.high);
}

std::string name_of(Optimization what) {
  std::string text(enum_names(what)[static_cast<std::size_t>(what)]);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

struct ShownRung {
  RungName rung{};
  std::string_view title{};
};

/// The paper's two rungs, and the headline as far as all rows with fused calls have it.
std::array<ShownRung, 3> shown_rungs(const Study& study) {
  const bool has_headline = std::none_of(study.rows.begin(), study.rows.end(), [](const StudyRow& row) {
    return rung_of(row.rungs, RungName::library_fused) && !rung_of(row.rungs, RungName::library_fused_resident);
  });
  return {ShownRung{RungName::library, "sequential"}, ShownRung{RungName::library_parallel, "parallel"},
          has_headline ? ShownRung{RungName::library_fused_resident, "headline"}
                       : ShownRung{RungName::library_fused, "fused"}};
}

class StudyTable {
 public:
  StudyTable(std::ostream& out, const Study& study, const TableOptions& options)
      : out_(out), study_(study), options_(options), shown_ratios_(shown_rungs(study)) {}

  void write() {
    head();
    ratios();
    speedups();
    choices();
    const bool all = options_.all || study_.rows.size() <= most_rows;
    if (all) rows();
    else out_ << fmt::format("\n({} rows: --all, --csv, --json)\n", study_.rows.size());
    claims();
    notes();
  }

 private:
  [[nodiscard]] std::string strong(const std::string& text) const {
    return options_.color ? "\033[1m" + text + "\033[0m" : text;
  }

  void head() {
    std::set<std::string> models, devices, frameworks;
    std::set<std::int64_t> batches;
    for (const auto& row : study_.rows) {
      models.insert(row.model);
      devices.insert(row.device);
      batches.insert(row.batch);
      if (row.latency) frameworks.insert(row.framework);
    }
    std::string sizes;
    for (const auto batch : batches) sizes += (sizes.empty() ? "" : ", ") + std::to_string(batch);
    constexpr std::size_t indent = 9;
    const std::string lines =
        wrapped(fmt::format("{}, {}, {}, batch {}", count_of(models.size(), "model"),
                            count_of(devices.size(), "device"), count_of(frameworks.size(), "framework"), sizes),
                static_cast<std::size_t>(std::max(options_.width, 80)), indent);
    out_ << strong("study") << "    " << lines.substr(indent);
  }

  [[nodiscard]] const StudyMean* mean(const StudyMean& like, const std::string& quantity) const {
    for (const auto& each : study_.means)
      if (each.quantity == quantity && each.device == like.device && each.framework == like.framework &&
          each.batch == like.batch)
        return &each;
    return nullptr;
  }
  [[nodiscard]] static std::string quantity_of(RungName rung) {
    return "ratio of " + std::string(enum_names(rung)[static_cast<std::size_t>(rung)]);
  }

  void ratios() {
    bool any = false;
    std::string group;
    for (const auto& each : study_.means) {
      if (each.quantity != quantity_of(RungName::library)) continue;
      if (!any)
        out_ << '\n'
             << strong(fmt::format("{:<19} {:>7}  {:<17} {:<17} {}", "bound / measured", "models", "sequential",
                                   "parallel", shown_ratios_.back().title))
             << '\n';
      any = true;
      const std::string place = fmt::format("{}, batch {}", each.device, each.batch);
      if (place != group) out_ << clipped(place, 60) << '\n';
      group = place;
      const auto line = [&](const std::string& title, const auto& choose) {
        std::string text = fmt::format("  {:<17} {:>7} ", clipped(title, 17), choose(each)->count);
        for (const auto& [rung, word] : shown_ratios_) {
          const StudyMean* found = mean(each, quantity_of(rung));
          const GeometricMean* value = found ? choose(*found) : nullptr;
          const bool of_all = value && value->count == choose(each)->count;
          text += fmt::format(" {:<17}", !value   ? ""
                                         : of_all ? interval(*value)
                                                  : fmt::format("{:.3f} of {}", value->mean, value->count));
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out_ << text << '\n';
      };
      line(each.framework.empty() ? "measured" : each.framework,
           [](const StudyMean& m) -> const GeometricMean* { return &m.all; });
      if (each.complete)
        line("  complete bounds",
             [](const StudyMean& m) -> const GeometricMean* { return m.complete ? &*m.complete : &m.all; });
    }
  }

  void speedups() {
    std::set<std::pair<std::string, std::int64_t>> places;
    for (const auto& each : study_.means)
      if (each.framework.empty() && each.quantity.find(' ') == std::string::npos)
        places.insert({each.device, each.batch});
    if (places.empty()) return;
    std::string title = fmt::format("{:<12}", "speed-up");
    for (std::size_t i = 0; i < optimization_count; ++i)
      title += fmt::format(" {:>{}}", name_of(static_cast<Optimization>(i)), width_of(i));
    out_ << '\n' << strong(title) << '\n';
    for (const auto& [device, batch] : places) {
      std::array<std::string, 3> lines{"  mean", "  95 %", "  models"};
      for (auto& line : lines) line.resize(12, ' ');
      for (std::size_t i = 0; i < optimization_count; ++i) {
        const StudyMean* found = mean({.device = device, .batch = batch}, std::string(enum_names(Optimization{})[i]));
        const bool spread = found && found->all.low && found->all.high;
        lines[0] += fmt::format(" {:>{}}", found ? fmt::format("{:.3f}x", found->all.mean) : "", width_of(i));
        lines[1] += fmt::format(
            " {:>{}}", spread ? fmt::format("{:.2f}..{:.2f}", *found->all.low, *found->all.high) : "", width_of(i));
        lines[2] += fmt::format(" {:>{}}", found ? std::to_string(found->all.count) : "", width_of(i));
      }
      out_ << clipped(fmt::format("{}, batch {}", device, batch), 60) << '\n';
      for (auto& line : lines) {
        line.erase(line.find_last_not_of(' ') + 1);
        if (line != "  95 %") out_ << line << '\n';  // one model has no interval
      }
    }
  }
  static std::size_t width_of(std::size_t optimization) {
    return std::max<std::size_t>(10, name_of(static_cast<Optimization>(optimization)).size());
  }

  void choices() {
    bool any = false;
    for (const auto& each : study_.means) {
      if (each.quantity != "chosen over best") continue;
      if (!any) out_ << '\n' << strong("algorithms that engines chose, by their API logs, over the best") << '\n';
      any = true;
      out_ << fmt::format("  {:<52} {:>9} {:.3f}x\n",
                          clipped(fmt::format("{}, batch {}, {}", each.device, each.batch, each.framework), 52),
                          count_of(each.all.count, "model"), each.all.mean);
    }
  }

  void rows() {
    std::vector<StudyRow> ordered = study_.rows;
    std::stable_sort(ordered.begin(), ordered.end(), [](const StudyRow& a, const StudyRow& b) {
      return std::tie(a.device, a.batch, a.framework) < std::tie(b.device, b.batch, b.framework);
    });
    std::string group;
    for (const auto& row : ordered) {
      const std::string place =
          fmt::format("{}, batch {}{}", row.device, row.batch, row.framework.empty() ? "" : ", " + row.framework) +
          (row.type ? fmt::format(" in {}", name(*row.type)) : "");
      if (place != group)
        out_ << '\n'
             << clipped(place, 78) << '\n'
             << strong(fmt::format("{:<22} {:>9} {:>10} {:>6} {:>9} {:>6} {:>9} {:>6}", "model", "measured",
                                   "sequential", "ratio", "parallel", "ratio", shown_ratios_.back().title, "ratio"))
             << '\n';
      group = place;
      std::string line = fmt::format("{:<22} {:>9}", clipped(row.model, 22), time_or_nothing(row.latency));
      for (const auto& [rung, word] : shown_ratios_)
        line +=
            fmt::format(" {:>{}} {:>6}", time_or_nothing(rung_of(row.rungs, rung)), rung == RungName::library ? 10 : 9,
                        row.ratio(rung) ? fmt::format("{:.3f}", *row.ratio(rung)) : "");
      line.erase(line.find_last_not_of(' ') + 1);
      if (!row.doubt.empty()) line += "  " + row.doubt;
      out_ << line
           << (row.partial() ? "  partial: " + count_of(static_cast<std::size_t>(row.missing), "layer") + " missing"
                             : "")
           << (row.provisional.empty() ? "" : "  provisional") << '\n';
    }
  }
  static std::string time_or_nothing(std::optional<Seconds> time) { return time ? time_text(*time) : ""; }

  void claims() {
    if (study_.claims.empty()) return;
    out_ << '\n' << strong(fmt::format("{:<49} {:>12} {:>7}", "the paper", "it says", "its data")) << '\n';
    for (const auto& claim : study_.claims)
      out_ << fmt::format("{:<49} {:>12} {:>7}{}\n", clipped(claim.what, 49),
                          claim.published.empty() ? "-" : claim.published,
                          claim.found ? fmt::format("{:.4g}", *claim.found) : "", claim.agrees ? "" : "  differs");
  }

  void notes() {
    if (!study_.notes.empty()) out_ << '\n';
    const std::size_t shown =
        options_.all ? study_.notes.size() : std::min<std::size_t>(study_.notes.size(), most_notes);
    for (std::size_t i = 0; i < shown; ++i)
      out_ << wrapped("note: " + study_.notes[i], static_cast<std::size_t>(std::max(options_.width, 80)), 0);
    if (shown < study_.notes.size()) out_ << fmt::format("({} more notes: --all)\n", study_.notes.size() - shown);
  }

  std::ostream& out_;
  const Study& study_;
  const TableOptions& options_;
  std::array<ShownRung, 3> shown_ratios_;
};

}  // namespace

void write_table(std::ostream& out, const Study& study, const TableOptions& options) {
  StudyTable(out, study, options).write();
}

}  // namespace benanza
