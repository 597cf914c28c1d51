// SPDX-License-Identifier: Apache-2.0
// SuiteFlags: the command line of a suite. Google Benchmark's flags remain its own, except those whose meaning requires
// names before anything is registered, or a file in Benanza's form.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/plan/kernel_metric.hpp>
#include <benanza/results/measurement.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::bench {

struct SuiteFlags {
  int threads = 0;  ///< 0: one per physical core of one NUMA node
  std::optional<Seconds> budget{};
  std::vector<CacheState> caches{};  ///< empty: the default of a session
  std::vector<KernelMetric> metrics{};
  bool isolate = true;   ///< in a separate process
  std::string filter{};  ///< as given; empty: all
  bool list = false;
  std::size_t repetitions = 1;      ///< that Google Benchmark reports
  std::string done{};               ///< file of finished signatures, one per line; empty: none
  std::string out{};                ///< a JSON file; empty: none, or Google Benchmark itself writes another format
  std::vector<std::string> rest{};  ///< the program's name and the arguments for Google Benchmark
};

/// Splits the command line. Flags that are taken are overridden in `rest`, since Google Benchmark also reads them from
/// the environment. Throws UsageError.
[[nodiscard]] SuiteFlags parse_suite_flags(int argc, const char* const* argv);

/// The p10 of each of `parts` parts of the times, which are samples in their order; NaN is a sample that does not
/// count. Empty for one part, and if a part has no sample that counts.
[[nodiscard]] std::vector<double> p10_of_parts(const std::vector<double>& times, std::size_t parts);

/// A predicate on row names: Google Benchmark's filter, an extended regular expression that a leading `-` negates. It
/// sees names without what Google Benchmark appends to them, so that `$` works. Throws UsageError.
[[nodiscard]] std::function<bool(std::string_view)> name_filter(const std::string& filter);

/// False only if no row of the layer can pass the filter; avoids creating plans for layers that a pasted name or
/// signature leaves out.
[[nodiscard]] bool may_pass(std::string_view filter, std::string_view signature);

}  // namespace benanza::bench
