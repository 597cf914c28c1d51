// SPDX-License-Identifier: Apache-2.0
// What a ladder says about an iteration of training, in sentences.
#include "format/numbers.hpp"
#include "format/text.hpp"
#include <benanza/bounds/unit_shares.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace benanza {

namespace {

/// Time of one kind of layers, expected and by the roofline.
struct KindTime {
  Seconds time{}, floor{};
  [[nodiscard]] Seconds above() const { return time - floor; }
};

}  // namespace

std::vector<std::string> bound_answers(const Analysis& analysis) {
  if (analysis.partial()) return {};
  std::vector<std::string> answers;
  std::map<std::string, KindTime> kinds;
  Seconds total{};
  for (const auto& row : analysis.rows) {
    if (row.form != Form::fused) continue;
    const auto count = static_cast<double>(row.count);
    KindTime& of = kinds[std::string(kind(parse_layer(row.signature)))];
    of.time += count * row.median;
    of.floor += count * std::min(row.floor(), row.median);
    total += count * row.median;
  }
  if (!(total.value > 0)) return {};
  const auto percent = [&](Seconds part) { return fmt::format("{:.0f} %", 100 * (part / total)); };
  if (const auto units = unit_shares(analysis))
    answers.push_back(
        fmt::format("the arithmetic units are used to {:.0f} % of their peak, the memory beyond the caches "
                    "to {:.0f} % of its bandwidth",
                    100 * units->arithmetic, 100 * units->memory));
  const auto longest = std::max_element(kinds.begin(), kinds.end(),
                                        [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  answers.push_back(fmt::format("{} takes most of the time: {}", longest->first, percent(longest->second.time)));
  const auto best = std::max_element(kinds.begin(), kinds.end(),
                                     [](const auto& a, const auto& b) { return a.second.above() < b.second.above(); });
  if (best->second.above() > total * 0.01)
    answers.push_back(fmt::format("the best opportunity is {}: at its roofline an iteration would be {} shorter",
                                  best->first, percent(best->second.above())));
  else answers.push_back("no kind of layer is far from its roofline: fewer bytes or fewer FLOPs are what is left");
  answers.push_back("benanza memory --training says what fills the memory, benanza scale whether more workers pay");
  return answers;
}

}  // namespace benanza
