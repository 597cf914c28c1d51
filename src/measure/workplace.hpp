// SPDX-License-Identifier: Apache-2.0
// Workplace: where candidates are called: the host, the sampler, the buffers, and the check of results.
#pragma once

#include "sampling/buffers.hpp"
#include "sampling/host.hpp"
#include "sampling/sampler.hpp"
#include "tuning_task.hpp"
#include <benanza/measure/measure.hpp>

#include <span>
#include <string>
#include <vector>

namespace benanza::measure {

/// The expected values of a layer's outputs at sampled places.
struct Expected {
  std::vector<std::int64_t> indices{};
  std::vector<double> values{};
};

class Workplace {
 public:
  Workplace(sampling::Host& host, const MeasureOptions& options);

  [[nodiscard]] sampling::Host& host() { return host_; }
  [[nodiscard]] sampling::Sampler& sampler() { return sampler_; }
  [[nodiscard]] const sampling::Sampler& sampler() const { return sampler_; }
  [[nodiscard]] const MeasureOptions& options() const { return options_; }

  /// Gives a candidate its buffers, which are valid until the next call. With `exact`, they have the values to which
  /// `expected` refers, and nothing rotates; otherwise, buffers are in the candidate's cache state. Throws if there is
  /// not enough memory.
  [[nodiscard]] sampling::Work work(const TuningTask& task, const Candidate& candidate, bool exact);
  /// Computed by the reference, for each output. Throws for layers that it cannot evaluate.
  [[nodiscard]] std::vector<Expected> expected(const TuningTask& task);
  /// The time of one call whose threads have to be woken.
  Seconds once(sampling::Work& work);
  /// Calls the work once and compares: sets the row's difference, and excludes the candidate if the result is wrong.
  /// Returns the call: with `sampled`, as a sample between readings of the sentinel, otherwise only its time.
  sampling::Sample check(const TuningTask& task, Candidate& candidate, sampling::Work& work,
                         const std::vector<Expected>& expected, bool sampled);

  /// Text of the exception being handled. Throws DeviceLost if the device was lost as well, whatever the library
  /// reported: otherwise, the next plan would be blamed.
  [[nodiscard]] std::string reason();

  /// Since the session began.
  [[nodiscard]] Seconds elapsed() const { return host_.running() - start_; }
  [[nodiscard]] Seconds remaining() const { return options_.budget - elapsed(); }
  /// To be called before a plan runs.
  void trying(const std::string& row) const {
    if (options_.trying) options_.trying(row);
  }
  /// Passes the rows so far to `MeasureOptions::keep`, at most every `keep_interval`, and so rarely that this takes no
  /// more than a fiftieth of the session. After a failure, it is not tried again.
  void keep(std::span<const TuningTask> tasks);
  /// The next `keep` passes the rows, however recent the last ones are.
  void keep_at_once() { next_keep_ = {}; }
  static constexpr Seconds keep_interval{5};
  /// Rows with the usual times of readings of the memory in this session, if there were enough of them.
  [[nodiscard]] std::vector<CeilingRow> usual_memory() const;
  /// Cancelled, or this much time has passed.
  [[nodiscard]] bool over(Seconds until) const;
  void report(std::string_view phase, std::size_t done, std::size_t total, Seconds remaining,
              std::string_view what) const;

 private:
  sampling::Host& host_;
  const MeasureOptions& options_;
  Seconds start_, next_keep_{keep_interval};
  bool keeping_ = true;
  Bytes memory_;
  Bytes cached_;  ///< the size of all caches, reported or measured, whichever is larger
  sampling::Sampler sampler_;
  sampling::Buffers buffers_;
};

}  // namespace benanza::measure
