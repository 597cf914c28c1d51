// SPDX-License-Identifier: Apache-2.0
#include "workplace.hpp"

#include "reference/reference.hpp"
#include "rounds.hpp"
#include <benanza/error.hpp>
#include <benanza/results/ceiling_rows.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

namespace benanza::measure {

namespace {

constexpr std::size_t checked_outputs = 128;
/// Shares of the available memory: for constants in packed form, and for everything that one plan may need.
constexpr double packed_share = 0.5, plan_share = 0.9;
/// In multiples of the caches' size: data that was touched this many bytes ago is in no cache (docs/measuring.md,
/// "Cache states").
constexpr double cold_distance = 3;

std::string gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / (1 << 30));
  return text;
}

/// The size of the caches as reported or as measured, whichever is larger.
Bytes cached_by(const sampling::Host& host, const MeasureOptions& options) {
  Bytes result = host.cached();
  for (const auto& row : options.ceilings.value_or(std::vector<CeilingRow>{}))
    if (row.quantity == CeilingQuantity::bandwidth("memory")) result = std::max(result, Bytes{row.in_front_bytes});
  return result;
}

const CeilingQuantity memory_chase = CeilingQuantity::timer("memory_chase"),
                      memory_stream = CeilingQuantity::timer("memory_stream");

bool is_of_memory(const CeilingRow& row) { return row.quantity == memory_chase || row.quantity == memory_stream; }

/// Whether the readings of a row were as far beyond the caches as this session's are.
bool as_far_as(const CeilingRow& row, Bytes cached) {
  constexpr double nearly = 0.1;
  return std::abs(row.in_front_bytes - cached.value) <= nearly * cached.value;
}

std::string current_reason() {
  try {
    throw;
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

}  // namespace

std::string Workplace::reason() {
  std::string text = reason_text(RowStatus::failed, current_reason());
  try {
    host_.finish();
  } catch (const DeviceLost& lost) {
    throw DeviceLost(text + "; " + lost.what());
  } catch (const std::exception&) {  // reports the same error again
  }
  return text;
}

Workplace::Workplace(sampling::Host& host, const MeasureOptions& options)
    : host_(host),
      options_(options),
      start_(host.running()),
      memory_(host.available_memory()),
      cached_(cached_by(host, options)),
      sampler_(host, cached_),
      buffers_(static_cast<std::size_t>(memory_.value * packed_share),
               static_cast<std::size_t>(cached_.value * cold_distance), host.memory()) {
  for (const auto& row : options.ceilings.value_or(std::vector<CeilingRow>{}))
    if (row.quantity == CeilingQuantity::peak(DataType::f32) && row.threads > 0 && row.value > 0)
      if (const auto best = host.probe_at({row.value / row.threads})) sampler_.know(row.threads, *best);
  std::vector<CeilingRow> known = options.ceilings.value_or(std::vector<CeilingRow>{});
  std::erase_if(known, [&](const CeilingRow& row) { return is_of_memory(row) && !as_far_as(row, cached_); });
  sampling::MemoryTimes usual;
  for (const auto& row : highest_ceilings(known)) {
    if (row.quantity == CeilingQuantity::timer("round_trip")) sampler_.know_round_trip(row.threads, {row.value});
    if (row.quantity == memory_chase) usual.chase = {row.value};
    if (row.quantity == memory_stream) usual.stream = {row.value};
  }
  sampler_.know_memory(usual);
}

std::vector<CeilingRow> Workplace::usual_memory() const {
  std::vector<CeilingRow> rows;
  const auto add = [&](const CeilingQuantity& quantity, Seconds time) {
    if (time.value > 0)
      rows.push_back({.quantity = quantity,
                      .algorithm = "memory_probe,threads=1",
                      .threads = 1,
                      .value = time.value,
                      .in_front_bytes = cached_.value});
  };
  const sampling::MemoryTimes usual = sampler_.usual_memory();
  add(memory_chase, usual.chase);
  add(memory_stream, usual.stream);
  return rows;
}

bool Workplace::over(Seconds until) const { return options_.stop.stop_requested() || elapsed() >= until; }

void Workplace::keep(std::span<const TuningTask> tasks) {
  if (!options_.keep || !keeping_ || (elapsed() < next_keep_ && !options_.stop.stop_requested())) return;
  const Seconds start = elapsed();
  Run run;
  run.rows = finished_rows(tasks, sampler_);
  try {
    options_.keep(run);
  } catch (const EnvironmentError& error) {  // a full disk costs what would be kept there, not what is measured
    keeping_ = false;
    if (options_.keep_failed) options_.keep_failed(error.what());
  }
  next_keep_ = elapsed() + std::max(keep_interval, 50.0 * (elapsed() - start));
}

void Workplace::report(std::string_view phase, std::size_t done, std::size_t total, Seconds remaining,
                       std::string_view what) const {
  if (options_.progress)
    options_.progress(
        {.phase = phase, .done = done, .total = total, .elapsed = elapsed(), .remaining = remaining, .what = what});
}

sampling::Work Workplace::work(const TuningTask& task, const Candidate& candidate, bool exact) {
  const Plan& plan = candidate.plan->get();
  const CacheState cache = exact ? CacheState::hot : candidate.row.cache;
  const auto needed = static_cast<double>(buffers_.needed(task.operands.inputs, plan, cache));
  if (needed > memory_.value * plan_share)
    throw EnvironmentError("needs " + gibibytes(needed) + " of memory, " + gibibytes(memory_.value) + " are available");
  host_.dismiss();  // before a library packs
  const std::string backend(candidate.backend->name());
  sampling::Work work{.plan = {candidate.plan, &plan},  // shares the candidate's ownership
                      .runtime = candidate.backend->uses_openmp() ? sampling::Runtime::openmp : sampling::Runtime::own,
                      .kind = backend + "/" + std::string(kind(task.layer))};
  std::tie(work.outputs, work.workspace) = buffers_.outputs(plan);
  std::size_t touched = plan.workspace_bytes();
  for (const auto* layouts : {&plan.inputs(), &plan.outputs()})
    for (const auto& layout : *layouts) touched += layout.bytes;
  if (cache != CacheState::hot || static_cast<double>(touched) > cached_.value) work.row = candidate.row.name();
  if (cache == CacheState::hot)
    work.inputs = buffers_.inputs(task.signature, backend, task.operands.inputs, plan, exact);
  else buffers_.rotate(task.signature, backend, task.operands.inputs, cache, work);
  return work;
}

std::vector<Expected> Workplace::expected(const TuningTask& task) {
  const auto& outputs = task.operands.outputs;
  const std::vector<const void*> inputs = buffers_.plain_inputs(task.operands.inputs);
  std::vector<Expected> result;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Expected expected{.indices = reference::checked_indices(task.layer, inputs, i, checked_outputs)};
    expected.values = reference::evaluate(task.layer, inputs, i, expected.indices);
    result.push_back(std::move(expected));
  }
  return result;
}

Seconds Workplace::once(sampling::Work& work) {
  host_.occupy(work.runtime, work.plan->threads());
  work.announce(1);
  const Seconds start = host_.now();
  work.call();
  host_.finish();
  const Seconds took = host_.now() - start;
  host_.dismiss();
  return took;
}

sampling::Sample Workplace::check(const TuningTask& task, Candidate& candidate, sampling::Work& work,
                                  const std::vector<Expected>& expected, bool sampled) {
  const Plan& plan = candidate.plan->get();
  if (host_.memory() != nullptr) static_cast<void>(once(work));  // a device loads code at the first call
  // The result of another candidate in these buffers must not pass for this one's.
  buffers_.spoil(task.operands, plan, work.outputs);
  const sampling::Sample call =
      sampled ? sampler_.sample(1, sampling::Sampler::long_call) : sampling::Sample{.time = once(work)};
  bool right = true;
  double difference = candidate.row.difference.value_or(0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Operand& operand = task.operands.outputs[i];
    const auto got = buffers_.sampled(operand, plan, i, work.outputs[i], expected[i].indices);
    difference = std::max(difference, reference::difference(expected[i].values, got));
    right = right && reference::agree(task.layer, i, expected[i].values, got, plan.tolerance());
  }
  candidate.row.difference = difference;
  if (right) return call;
  char text[80];
  std::snprintf(text, sizeof text, "differs by %.2g from the reference, at most %.2g expected", difference,
                plan.tolerance());
  candidate.exclude(RowStatus::wrong, text);
  return call;
}

}  // namespace benanza::measure
