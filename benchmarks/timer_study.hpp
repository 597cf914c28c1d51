// SPDX-License-Identifier: Apache-2.0
// TimerStudy: how well the methods of timing a device agree. One plan of each layer is timed by events, by a replayed
// graph and by the device's own records, with hot, cold and flushed caches, right after other work and after idling.
//
// Times are of one call without launches: minus the time of a chain of as many empty kernels, or of the records of such
// kernels. hot: the same buffers in each call; cold: calls cycle through memory (work.hpp); flushed: each call is timed
// separately, after work that has touched more than the caches hold. The call pays for the dirty lines of that work.
//
// The device's records are collected last: the collecting library stays in the process and may slow down later calls.
#pragma once

#include "measure/tuning_task.hpp"
#include "measure/workplace.hpp"
#include "sampling/device_host.hpp"

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::benchmarks {

struct StudiedLayer {
  std::string name{};  ///< at most 22 characters
  Layer layer{};
};
/// Eight layers of current models, from one with 120 elements to a product of 46 GFLOP.
[[nodiscard]] std::vector<StudiedLayer> studied_layers();

struct StudyRow {
  enum class Caches { hot, cold, flushed };
  std::string layer{}, plan{};
  Caches caches = Caches::hot;
  Seconds idle{};                                       ///< before the first call
  std::optional<Seconds> events{}, graph{}, records{};  ///< one call without launches; empty if unknown
  double clock_hz = 0;                                  ///< multiprocessor clock meanwhile; 0 if too short to measure
  std::string failure{};

  /// How much the highest of the times exceeds the lowest, relative; empty for fewer than two times.
  [[nodiscard]] std::optional<double> spread() const;
  [[nodiscard]] bool is_marked() const { return spread().value_or(0) > methods_agree; }
};
[[nodiscard]] constexpr std::array<std::string_view, 3> enum_names(StudyRow::Caches) {
  return {"hot", "cold", "flushed"};
}

class TimerStudy {
 public:
  struct Options {
    Seconds idle{2};
    std::function<void(Seconds)> pause{};  ///< idles for the given time
  };

  TimerStudy(Device& device, measure::Backends backends, Options options);

  /// Adds all rows of the layers. If the device is lost, throws DeviceLost, and `rows` holds the rows so far.
  void run(std::span<const StudiedLayer> layers, std::vector<StudyRow>& rows);
  [[nodiscard]] const sampling::LaunchFloors& floors() const { return timer_.floors(); }

 private:
  /// A layer with the first plan of any backend that runs.
  struct Subject {
    measure::TuningTask task{};
    measure::Candidate candidate{};
  };
  [[nodiscard]] std::optional<Subject> subject(const StudiedLayer& layer, std::string& reason);
  [[nodiscard]] sampling::Work work(Subject& subject, StudyRow::Caches caches);
  void time(Subject& subject, StudyRow& row);
  /// Median of single calls, each after a flush.
  [[nodiscard]] std::optional<Seconds> flushed(const std::function<void()>& call, Seconds floor);
  void ask_records(Subject& subject, StudyRow& row);

  Device& device_;
  measure::Backends backends_;
  Options options_;
  measure::MeasureOptions measure_options_{};
  sampling::DeviceHost host_;
  sampling::DeviceTimer timer_;
  measure::Workplace place_;
  /// Work that touches more than the caches hold.
  struct Flush;
  std::shared_ptr<Flush> flush_;
};

/// The table is at most 80 columns wide.
void write_table(std::ostream& out, const Machine& machine, const sampling::LaunchFloors& floors,
                 const std::vector<StudyRow>& rows);
void write_json(std::ostream& out, const Machine& machine, const sampling::LaunchFloors& floors,
                const std::vector<StudyRow>& rows);

}  // namespace benanza::benchmarks
