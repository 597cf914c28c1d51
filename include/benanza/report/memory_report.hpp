// SPDX-License-Identifier: Apache-2.0
// The report of `memory`: what fills the memory, when, and what would change that.
#pragma once

#include <benanza/memory/memory_profile.hpp>
#include <benanza/model/units.hpp>
#include <benanza/report/report.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace benanza {

/// The largest batch that is tried.
inline constexpr std::int64_t most_batch = (std::int64_t{1} << 24) - 1;

/// The same iteration under other options.
struct MemoryWhatIf {
  std::string options{};  ///< as they would be typed
  double peak_bytes = 0;
  double kept_bytes = 0;  ///< from forward to backward
  double work = 1;        ///< multiply-adds of convolutions and products, relative to those of the requested iteration
  std::optional<std::int64_t> largest_batch{};
  bool only_counts = false;  ///< another way of counting what is kept, not something that a user could change
};

struct MemoryReport {
  struct Model {
    MemoryProfile profile{};
    std::string options{};  ///< training options, as they would be typed; empty: inference
    std::int64_t parameters = 0;
    std::vector<std::string> warnings{};          ///< of the import: what may be no parameter, what the file leaves out
    double macs = 0;                              ///< multiply-adds of convolutions and products
    std::optional<std::int64_t> largest_batch{};  ///< that fits the capacity, at most `most_batch`; 0: none fits
    std::vector<MemoryWhatIf> what_ifs{};
    /// The fused library bound if results hold all of its layers, or the roofline of a declared machine.
    std::optional<Seconds> latency{};
    [[nodiscard]] std::optional<double> inputs_per_second() const {
      if (!latency || latency->value <= 0) return std::nullopt;
      return static_cast<double>(profile.batch) / latency->value;
    }
  };
  double capacity_bytes = 0;
  std::string capacity_of{};  ///< where the capacity comes from
  std::string times_of{};     ///< where latencies come from; empty if none are known
  bool sweep = false;         ///< the models are one model at several sizes
  std::vector<Model> models{};
};

/// What the figures say, in sentences: which category fills the peak, which layers contribute most to it, how much of
/// the capacity is used, what would help most.
[[nodiscard]] std::vector<std::string> memory_answers(const MemoryReport::Model& model, const MemoryReport& report);

void write_table(std::ostream& out, const MemoryReport& report, const TableOptions& options = {});
/// Everything, including the timeline.
void write_json(std::ostream& out, const MemoryReport& report);
/// The timeline, one line per step.
void write_csv(std::ostream& out, const MemoryReport& report);
/// A page with a stacked area over time.
void write_html(std::ostream& out, const MemoryReport& report);

}  // namespace benanza
