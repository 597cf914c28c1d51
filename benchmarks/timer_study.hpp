// SPDX-License-Identifier: Apache-2.0
// TimerStudy: how far the methods of timing a device agree. One plan of each layer is timed by events, by a replayed
// graph and by the device's own records, with hot, cold and flushed caches, right after other work and after idling.
//
// Times are of one call, launches left out: less what a chain of as many empty kernels takes, or what their records
// tell. hot: the same buffers in each call; cold: calls walk through memory (work.hpp); flushed: each call is timed by
// itself, behind work that has gone through more than the caches hold, whose dirty lines the call pays for.
//
// The device's records are asked for last: what collects them stays in the process and may slow down what follows.
#pragma once

#include "../src/measure/device_host.hpp"
#include "../src/measure/tuning_task.hpp"
#include "../src/measure/workplace.hpp"

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::bench {

struct StudiedLayer {
  std::string name{};  ///< at most 22 characters
  Layer layer{};
};
/// Eight of models of today, from one of 120 elements to a product of 46 GFLOP.
[[nodiscard]] std::vector<StudiedLayer> studied_layers();

struct StudyRow {
  enum class Caches { hot, cold, flushed };
  std::string layer{}, plan{};
  Caches caches = Caches::hot;
  Seconds idle{};                                       ///< before the first call
  std::optional<Seconds> events{}, graph{}, records{};  ///< one call, launches left out; nothing: cannot be told
  double clock_hz = 0;                                  ///< clock of the processors meanwhile; 0: too short to tell
  std::string failure{};

  /// What the highest of the times is above the lowest, relative; nothing for fewer than two.
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
    std::function<void(Seconds)> pause{};  ///< does nothing for so long
  };

  TimerStudy(Device& device, Backends backends, Options options);

  /// All rows of the layers. Where the device goes meanwhile, DeviceLost is thrown and `rows` has what there was.
  void run(std::span<const StudiedLayer> layers, std::vector<StudyRow>& rows);
  [[nodiscard]] const LaunchFloors& floors() const { return timer_.floors(); }

 private:
  /// A layer by the first plan of any backend that runs.
  struct Subject {
    TuningTask task{};
    Candidate candidate{};
  };
  [[nodiscard]] std::optional<Subject> subject(const StudiedLayer& layer, std::string& reason);
  [[nodiscard]] Work work(Subject& subject, StudyRow::Caches caches);
  void time(Subject& subject, StudyRow& row);
  /// Median of single calls behind a flush.
  [[nodiscard]] std::optional<Seconds> flushed(const std::function<void()>& call, Seconds floor);
  void ask_records(Subject& subject, StudyRow& row);

  Device& device_;
  Backends backends_;
  Options options_;
  MeasureOptions measure_options_{};
  DeviceHost host_;
  DeviceTimer timer_;
  Workplace place_;
  /// Work that goes through more than the caches hold.
  struct Flush;
  std::shared_ptr<Flush> flush_;
};

/// At most 80 columns wide.
void write_table(std::ostream& out, const Machine& machine, const LaunchFloors& floors,
                 const std::vector<StudyRow>& rows);
void write_json(std::ostream& out, const Machine& machine, const LaunchFloors& floors,
                const std::vector<StudyRow>& rows);

}  // namespace benanza::bench
