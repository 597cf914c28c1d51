// SPDX-License-Identifier: Apache-2.0
#include "timer_study.hpp"

#include <benanza/base/detail/quantile.hpp>
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

namespace benanza::benchmarks {

namespace {

constexpr int single_calls = 15;  // each after a flush; their median counts
constexpr std::int64_t most_calls = 10'000;
constexpr int recorded_calls = 16;

CacheState state_of(StudyRow::Caches caches) {
  return caches == StudyRow::Caches::cold ? CacheState::cold : CacheState::hot;
}

std::string_view name_of(StudyRow::Caches caches) { return enum_names(caches)[static_cast<std::size_t>(caches)]; }

std::string reason_of(std::exception_ptr failure) {
  try {
    std::rethrow_exception(std::move(failure));
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::vector<StudiedLayer> studied_layers() {
  const auto f16 = DataType::f16;
  return {
      {"mobilenet hard-sigmoid",
       op::Unary{.fn = ElementwiseFn::hard_sigmoid, .x = {120}, .alpha = 1.0 / 6, .beta = 0.5}},
      {"bert layer norm", op::LayerNorm{.type = f16, .x = {128, 768}, .bias = true}},
      {"bert softmax", op::Softmax{.type = f16, .x = {1536, 128, 1}}},
      {"resnet50 relu", op::Unary{.type = f16, .fn = ElementwiseFn::relu, .x = {32 * 64 * 112 * 112}}},
      {"resnet50 conv 1x1", op::Conv{.type = f16, .x = {1, 256, 56, 56}, .w = {64, 256, 1, 1}}},
      {"resnet50 b32 conv 3x3",
       op::Conv{.type = f16, .x = {32, 256, 14, 14}, .w = {256, 256, 3, 3}, .pads = {1, 1, 1, 1}}},
      {"llama 7b decode", op::MatMul{.type = f16, .a = {1, 4096}, .b = {4096, 11008}, .b_constant = true}},
      {"llama 7b prefill", op::MatMul{.type = f16, .a = {512, 4096}, .b = {4096, 11008}, .b_constant = true}},
  };
}

std::optional<double> StudyRow::spread() const {
  std::vector<double> times;
  for (const auto& time : {events, graph, records})
    if (time && time->value > 0) times.push_back(time->value);
  if (times.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return *most / *least - 1;
}

/// An element-wise layer over twice the size of the caches, in memory of its own.
struct TimerStudy::Flush {
  Flush(Device& device, measure::Backends backends, Bytes cached) : memory(device) {
    const auto elements = std::max<std::int64_t>(1, static_cast<std::int64_t>(2 * cached.value / sizeof(float)));
    const Layer layer = op::Unary{.fn = ElementwiseFn::relu, .x = {elements}};
    const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
    for (const auto& backend : backends) {
      auto plans = backend->plans(layer, 1);
      if (auto* const found = std::get_if<Plans>(&plans); found != nullptr && !found->empty()) {
        work.plan = std::move(found->front());
        break;
      }
    }
    if (!work.plan) throw EnvironmentError("no backend has an element-wise layer that could flush the caches");
    for (void*& buffer : buffers) {
      buffer = memory.allocate(bytes);
      memory.set(buffer, 0, bytes);
    }
    if (const std::size_t size = work.plan->workspace_bytes(); size > 0) workspace = memory.allocate(size);
    work.inputs = {buffers[0]};
    work.outputs = {buffers[1]};
    work.workspace = workspace;
  }
  ~Flush() {
    for (void* buffer : buffers)
      if (buffer != nullptr) memory.release(buffer);
    if (workspace != nullptr) memory.release(workspace);
  }
  Flush(const Flush&) = delete;
  Flush& operator=(const Flush&) = delete;

  Memory& memory;
  std::array<void*, 2> buffers{};
  void* workspace = nullptr;
  sampling::Work work{};
};

TimerStudy::TimerStudy(Device& device, measure::Backends backends, Options options)
    : device_(device),
      backends_(backends),
      options_(std::move(options)),
      host_(device),
      timer_(device),
      place_(host_, measure_options_),
      flush_(std::make_shared<Flush>(device, backends, host_.cached())) {}

std::optional<TimerStudy::Subject> TimerStudy::subject(const StudiedLayer& layer, std::string& reason) {
  for (const auto& backend : backends_) {
    auto answer = backend->drafts(layer.layer, 1);
    if (const auto* unsupported = std::get_if<Unsupported>(&answer)) {
      reason += (reason.empty() ? "" : "; ") + unsupported->reason;
      continue;
    }
    for (auto& draft : std::get<PlanDrafts>(answer)) {
      Subject made{.task = {.layer = layer.layer,
                            .signature = LayerSignature(layer.layer).text(),
                            .operands = operands(layer.layer)},
                   .candidate = {.backend = backend.get(),
                                 .plan = std::make_shared<measure::LazyPlan>(std::move(draft), Seconds{})}};
      try {
        if (const auto why = made.candidate.plan->build(host_)) throw EnvironmentError(why->reason);
        sampling::Work work = this->work(made, StudyRow::Caches::hot);
        work.call();
        device_.finish();
        static_cast<void>(timer_.time(work, 1));
        return made;
      } catch (...) {
        reason += (reason.empty() ? "" : "; ") + reason_of(std::current_exception());
      }
    }
  }
  return std::nullopt;
}

sampling::Work TimerStudy::work(Subject& subject, StudyRow::Caches caches) {
  subject.candidate.row.cache = state_of(caches);
  return place_.work(subject.task, subject.candidate, false);
}

std::optional<Seconds> TimerStudy::flushed(const std::function<void()>& call, Seconds floor) {
  std::vector<double> times;
  for (int i = 0; i < single_calls; ++i) {
    device_.block(sampling::DeviceTimer::block_time_out);
    flush_->work.call();
    device_.start();
    call();
    device_.stop();
    const bool held = device_.release_block();
    const Seconds time = device_.elapsed();
    if (held) times.push_back(std::max(Seconds{}, time - floor).value);
  }
  if (times.empty()) return std::nullopt;
  return Seconds{detail::quantile(times, 0.5)};
}

void TimerStudy::time(Subject& subject, StudyRow& row) {
  sampling::Work work = this->work(subject, row.caches);
  const auto kernels = static_cast<double>(timer_.kernels(work).value_or(1));
  const sampling::LaunchFloors& floors = timer_.floors();
  if (row.caches == StudyRow::Caches::flushed) {
    const auto graph = device_.record([&] { work.call(); });
    if (graph) graph->replay();  // the first replay may load code
    device_.finish();
    options_.pause(row.idle);
    row.events = flushed([&] { work.call(); }, floors.event + floors.launch * kernels);
    if (graph) row.graph = flushed([&] { graph->replay(); }, floors.event + floors.graph_launch * kernels);
    return;
  }
  const Seconds one = timer_.time(work, 10).time;  // a rough time; if possible, also records what is replayed below
  const auto calls = static_cast<std::int64_t>(
      std::clamp(std::ceil(sampling::DeviceHost::shortest_window / one), 1.0, static_cast<double>(most_calls)));
  static_cast<void>(timer_.time(work, calls));
  device_.finish();
  options_.pause(row.idle);
  const sampling::Window window = timer_.time(work, calls);
  const auto take = [&](std::string_view method, Seconds time, Seconds launch) {
    (method == sampling::by_events ? row.events : row.graph) = std::max(Seconds{}, time - launch);
  };
  take(window.method, window.time, window.launch);
  if (window.other.value > 0)
    take(window.method == sampling::by_events ? sampling::by_graph : sampling::by_events, window.other,
         window.other_launch);
  row.clock_hz = window.clock_hz;
}

void TimerStudy::ask_records(Subject& subject, StudyRow& row) {
  sampling::Work work = this->work(subject, row.caches);
  const bool flushed = row.caches == StudyRow::Caches::flushed;
  const auto per_call = [&](bool with_call) -> std::optional<Seconds> {
    const auto time = device_.kernel_time([&] {
      for (int i = 0; i < recorded_calls; ++i) {
        if (flushed) flush_->work.call();
        if (with_call) work.call();
      }
    });
    if (!time) return std::nullopt;
    return std::max(Seconds{}, time->whole - time->empty) / recorded_calls;
  };
  device_.finish();
  options_.pause(row.idle);
  const auto all = per_call(true);
  if (!all) return;
  row.records = flushed ? std::max(Seconds{}, *all - per_call(false).value_or(Seconds{})) : *all;
}

void TimerStudy::run(std::span<const StudiedLayer> layers, std::vector<StudyRow>& rows) {
  using Caches = StudyRow::Caches;
  std::vector<std::pair<Subject, std::size_t>> subjects;  // with the index of its first row
  const auto all_rows_of = [&](Subject& subject, std::size_t first, auto&& each) {
    for (std::size_t i = first; i < rows.size() && rows[i].layer == rows[first].layer; ++i) {
      try {
        if (rows[i].failure.empty()) each(subject, rows[i]);
      } catch (...) {
        rows[i].failure = reason_of(std::current_exception());
      }
    }
  };
  for (const auto& layer : layers) {
    std::string reason;
    auto found = subject(layer, reason);
    if (!found) {
      rows.push_back({.layer = layer.name, .failure = reason});
      continue;
    }
    const std::string plan =
        std::string(found->candidate.backend->name()) + " " + found->candidate.plan->get().algorithm();
    const std::size_t first = rows.size();
    for (const Caches caches : {Caches::hot, Caches::cold, Caches::flushed})
      for (const Seconds idle : {Seconds{}, options_.idle})
        rows.push_back({.layer = layer.name, .plan = plan, .caches = caches, .idle = idle});
    all_rows_of(*found, first, [&](Subject& subject, StudyRow& row) { time(subject, row); });
    subjects.emplace_back(std::move(*found), first);
  }
  for (auto& [subject, first] : subjects)
    all_rows_of(subject, first, [&](Subject& each, StudyRow& row) { ask_records(each, row); });
}

void write_table(std::ostream& out, const Machine& machine, const sampling::LaunchFloors& floors,
                 const std::vector<StudyRow>& rows) {
  const auto us = [](std::optional<Seconds> time) { return time ? fmt::format("{:.2f}", time->value * 1e6) : "-"; };
  out << fmt::format("{}, driver {}\n", machine.device.substr(0, 40), machine.driver.substr(0, 30));
  out << fmt::format("an event {} us; a launch {} us, in a graph {} us; a queue of {} kernels\n\n", us(floors.event),
                     us(floors.launch), us(floors.graph_launch), floors.queue);
  out << fmt::format("{:<22} {:<7} {:>4} {:>10} {:>10} {:>10} {:>5}\n", "us of one call", "caches", "idle", "events",
                     "graph", "records", "MHz");
  std::size_t marked = 0, compared = 0;
  for (const auto& row : rows) {
    if (!row.failure.empty()) {
      out << fmt::format("{:<22} {:.57}\n", row.layer, row.failure);
      continue;
    }
    marked += row.is_marked() ? 1 : 0;
    compared += row.spread() ? 1 : 0;
    out << fmt::format("{:<22} {:<7} {:>2.0f} s {:>10} {:>10} {:>10} {:>5}{}\n", row.layer, name_of(row.caches),
                       row.idle.value, us(row.events), us(row.graph), us(row.records),
                       row.clock_hz > 0 ? fmt::format("{:.0f}", row.clock_hz / 1e6) : "-", row.is_marked() ? " !" : "");
  }
  out << fmt::format("! {} of {} rows: the methods disagree by more than {:.0f} %\n", marked, compared,
                     100 * methods_agree);
}

void write_json(std::ostream& out, const Machine& machine, const sampling::LaunchFloors& floors,
                const std::vector<StudyRow>& rows) {
  using Json = nlohmann::ordered_json;
  const auto us = [](std::optional<Seconds> time) { return time ? Json(time->value * 1e6) : Json(nullptr); };
  Json list = Json::array();
  for (const auto& row : rows) {
    Json entry{{"layer", row.layer}};
    if (!row.failure.empty()) entry["failure"] = row.failure;
    if (!row.plan.empty()) {
      entry["plan"] = row.plan;
      entry["caches"] = name_of(row.caches);
      entry["idle_s"] = row.idle.value;
      entry["events_us"] = us(row.events);
      entry["graph_us"] = us(row.graph);
      entry["records_us"] = us(row.records);
      entry["clock_hz"] = row.clock_hz > 0 ? Json(row.clock_hz) : Json(nullptr);
      entry["spread"] = row.spread() ? Json(*row.spread()) : Json(nullptr);
      entry["methods_disagree"] = row.is_marked();
    }
    list.push_back(std::move(entry));
  }
  const Json document{{"schema", 1},
                      {"machine", machine.id()},
                      {"floors",
                       {{"event_us", us(floors.event)},
                        {"launch_us", us(floors.launch)},
                        {"graph_launch_us", us(floors.graph_launch)},
                        {"queue", floors.queue}}},
                      {"rows", list}};
  out << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace benanza::benchmarks
