// SPDX-License-Identifier: Apache-2.0
// Study: models x devices x frameworks x batch sizes: measured latencies, rungs, Benanza ratios, and what each
// optimisation would bring. `make_study` (make_study.hpp) makes it from accounts and latencies.
#pragma once

#include <benanza/bounds/bound.hpp>
#include <benanza/model/data_type.hpp>
#include <benanza/study/detail/geometric_mean.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// What would be gained by an engine that runs layer by layer, with the algorithms that its library advises, in f32 and
/// in plain layout.
enum class Optimization : std::uint8_t {
  parallel,      ///< parallel branches: library / library_parallel
  algorithms,    ///< the best algorithms instead of those that the library advises: advised / library
  fusion,        ///< library / library_fused
  tensor_cores,  ///< library / library in the fastest narrower type that all layers were measured in
  layout,        ///< library_fused with every tensor in plain layout / library_fused
  all            ///< all of these that are known, together; empty if fusion or branches are not
};
inline constexpr std::size_t optimization_count = 6;
[[nodiscard]] constexpr std::array<std::string_view, optimization_count> enum_names(Optimization) {
  return {"parallel", "algorithms", "fusion", "tensor_cores", "layout", "all"};
}

using Rungs = std::array<std::optional<Seconds>, rung_count>;
[[nodiscard]] inline std::optional<Seconds>& rung_of(Rungs& rungs, RungName name) {
  return rungs[static_cast<std::size_t>(name)];
}
[[nodiscard]] inline std::optional<Seconds> rung_of(const Rungs& rungs, RungName name) {
  return rungs[static_cast<std::size_t>(name)];
}

/// The bounds of a model on a device at a batch size by one accounting: from Benanza's own results, or from a database
/// or a printed table of 2019.
struct StudyAccount {
  std::string model{}, device{};
  std::int64_t batch = 1;
  std::string source{};                                 ///< `measured`, `totals`, `database` ...
  Rungs rungs{};                                        ///< in the model's own type
  std::optional<Seconds> advised{};                     ///< `library` with the algorithms that the libraries advise
  std::map<DataType, Rungs> in_types{};                 ///< the same model in narrower types, if all layers have times
  std::optional<Seconds> plain_layout{}, any_layout{};  ///< totals of the same calls in plain layout, and in the best
  std::int64_t missing = 0;                             ///< layers without a time: the rungs are partial
  std::string provisional{};  ///< why rungs, of any type, are provisional (`Rung::doubt`); empty if none is
};

/// A framework's latency of a model.
struct StudyLatency {
  std::string model{}, device{}, framework{};
  std::int64_t batch = 1;
  std::optional<DataType> type{};  ///< that it computed in; empty: the model's own
  std::optional<Seconds> time{};   ///< empty for an API log alone, which has no times
  std::optional<Seconds> lowest{}, highest{};
  std::string file{};
  /// What the engine's own choice of algorithms costs, from its API log: chosen / best over the calls that were
  /// compared.
  std::optional<double> chosen_over_best{};
};

/// One line of the study.
struct StudyRow {
  std::string model{}, device{};
  std::string framework{};  ///< empty if no latency is known
  std::int64_t batch = 1;
  std::optional<Seconds> latency{}, lowest{}, highest{};
  std::string source{};  ///< source of the rungs; the first of several accounts
  Rungs rungs{};
  std::optional<Seconds> advised{};
  std::int64_t missing = 0;   ///< layers that the rungs lack; not 0: partial
  std::string provisional{};  ///< why an account of the rungs is provisional; empty if none is
  std::string file{};         ///< file of the latency
  std::string doubt{};        ///< why the latency cannot be one of this model, and has no ratios; empty if it can
  std::array<std::optional<double>, rung_count> ratios{};  ///< the Benanza ratio: rung / latency
  std::array<std::optional<double>, optimization_count> speedups{};
  std::optional<DataType> type{};    ///< type of latency and rungs, if it is not the model's own
  std::optional<DataType> narrow{};  ///< the type of Optimization::tensor_cores
  std::optional<double> chosen_over_best{};

  [[nodiscard]] std::optional<double> ratio(RungName name) const { return ratios[static_cast<std::size_t>(name)]; }
  [[nodiscard]] std::optional<double> speedup(Optimization what) const {
    return speedups[static_cast<std::size_t>(what)];
  }
  [[nodiscard]] bool partial() const { return missing > 0; }
};

/// A geometric mean over the models of one device, framework and batch size.
struct StudyMean {
  std::string quantity{};  ///< `ratio of library` ..., an optimisation's name, or `chosen over best`
  std::string device{};
  std::string framework{};  ///< empty for optimisations, which need no engine
  std::int64_t batch = 1;
  GeometricMean all{};                      ///< over all models
  std::optional<GeometricMean> complete{};  ///< over those whose rungs lack no layer, if others do
};

/// A published figure and what the data gives for it.
struct StudyClaim {
  std::string what{};
  std::string published{};        ///< empty if the paper does not state it
  std::optional<double> found{};  ///< empty if the study has no data for it
  bool agrees = false;            ///< to the digits that were published
};

struct Study {
  std::vector<StudyRow> rows{};  ///< by device, batch size, model, framework
  std::vector<StudyMean> means{};
  std::vector<StudyAccount> accounts{};  ///< all accounts that rows were chosen from
  std::vector<StudyClaim> claims{};      ///< claims of the paper; empty except for data of 2019
  std::vector<std::string> notes{};      ///< where accounts differ, and what was left out
};

}  // namespace benanza
