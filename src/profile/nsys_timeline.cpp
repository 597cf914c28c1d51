// SPDX-License-Identifier: Apache-2.0
#include "nsys_timeline.hpp"

#include "between_libraries.hpp"
#include "passes.hpp"
#include <benanza/profile/kernel_class.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace benanza::profile {

namespace {

/// The engine that made the kernels, by the namespaces in their names.
std::string engine_of(const std::vector<DeviceEvent>& events) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> marks{{{"onnxruntime::", "onnxruntime"},
                                                                                {"mxnet::", "mxnet"},
                                                                                {"mxnet_", "mxnet"},
                                                                                {"at::native", "pytorch"},
                                                                                {"caffe2::", "caffe2"},
                                                                                {"tensorflow::", "tensorflow"},
                                                                                {"nvinfer1::", "tensorrt"},
                                                                                {"genericReformat::", "tensorrt"}}};
  std::string found;
  for (const auto& event : events)
    for (const auto& [mark, engine] : marks)
      if (event.detail.find(mark) != std::string::npos || event.name.find(mark) != std::string::npos) {
        if (!found.empty() && found != engine) return {};
        found = engine;
      }
  return found;
}

Activity activity_of(const DeviceEvent& event) {
  if (event.activity != Activity::kernel) return event.activity;
  return kernel_class(event.name) == KernelClass::conversion ? Activity::conversion : Activity::kernel;
}

std::string_view op_of(const DeviceEvent& event) {
  if (event.activity == Activity::copy) return "copy";
  if (event.activity == Activity::wait) return "wait";
  if (event.activity == Activity::call) return "call";
  return enum_names(KernelClass{})[static_cast<std::size_t>(kernel_class(event.name))];
}

bool is(const DeviceEvent& event, std::string_view name) {
  return event.activity == Activity::copy && event.name == name;
}

class Maker {
 public:
  Maker(const Source& source, DeviceTimeline timeline)
      : source_(source),
        events_(std::move(timeline.events)),
        calls_(std::move(timeline.calls)),
        overheads_(std::move(timeline.overheads)),
        libraries_(std::move(timeline.libraries)) {
    made_.warnings = std::move(timeline.warnings);
    std::stable_sort(events_.begin(), events_.end(),
                     [](const auto& a, const auto& b) { return std::tie(a.start, a.end) < std::tie(b.start, b.end); });
    for (std::size_t i = 0; i < events_.size(); ++i)
      if (events_[i].activity == Activity::kernel) kernels_.push_back(i);
  }

  EngineProfile make(const ProfileOptions& options) {
    made_.engine = engine_of(events_);
    std::vector<Stretch> passes = find_passes(options);
    std::vector<Seconds> latencies;
    for (const auto& pass : passes)
      latencies.push_back(nanoseconds(static_cast<double>(end_of(pass) - start_of(pass))));
    const std::size_t dropped = warm_up_passes(source_, latencies, options);
    made_.warm_ups = static_cast<std::int64_t>(dropped);
    made_.latencies.assign(latencies.begin() + static_cast<std::ptrdiff_t>(dropped), latencies.end());
    passes.erase(passes.begin(), passes.begin() + static_cast<std::ptrdiff_t>(dropped));
    note_overheads(passes);
    add_records(passes);
    made_.between = between_.take(passes.size());
    return std::move(made_);
  }

 private:
  /// Ranges of events. The kernels of a pass repeat; copies belong to the pass that they feed, or whose result they
  /// fetch.
  std::vector<Stretch> find_passes(const ProfileOptions& options) {
    if (kernels_.empty()) return {};
    std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> known;
    std::vector<std::uint32_t> ids;
    std::vector<double> idle;
    std::int64_t busy_until = events_[kernels_.front()].start;
    for (const auto k : kernels_) {
      const DeviceEvent& event = events_[k];
      const auto next = static_cast<std::uint32_t>(known.size());
      ids.push_back(known.try_emplace({event.name, event.detail, event.sizes}, next).first->second);
      idle.push_back(static_cast<double>(std::max<std::int64_t>(0, event.start - busy_until)));
      busy_until = std::max(busy_until, event.end);
    }
    std::vector<Stretch> passes;
    for (const auto& pass : repeated_passes(source_, ids, idle, options, made_.warnings))
      passes.push_back({kernels_[pass.first], kernels_[pass.last - 1] + 1});
    for (std::size_t p = 0; p < passes.size(); ++p) widen(passes, p);
    return passes;
  }

  void widen(std::vector<Stretch>& passes, std::size_t p) {
    const std::size_t lowest = p == 0 ? 0 : passes[p - 1].last;
    const std::size_t highest = p + 1 < passes.size() ? passes[p + 1].first : events_.size();
    Stretch& pass = passes[p];
    const auto belongs_before = [](const DeviceEvent& event) {
      return is(event, "copy to device") || is(event, "set") || event.activity == Activity::wait;
    };
    std::size_t first = pass.first;
    while (first > lowest && belongs_before(events_[first - 1])) --first;
    while (first < pass.first && !is(events_[first], "copy to device")) ++first;  // a wait alone feeds nothing
    pass.first = first;
    std::size_t last = pass.last;
    for (std::size_t i = pass.last; i < highest; ++i) {
      if (events_[i].activity == Activity::kernel || is(events_[i], "copy to device")) break;
      if (is(events_[i], "copy to host")) last = i + 1;
    }
    pass.last = last;
  }

  [[nodiscard]] std::int64_t start_of(const Stretch& pass) const {
    const DeviceEvent& first = events_[pass.first];
    return std::min(first.start, first.launched.value_or(first.start));
  }
  [[nodiscard]] std::int64_t end_of(const Stretch& pass) const {
    std::int64_t end = 0;
    for (std::size_t i = pass.first; i < pass.last; ++i)
      if (events_[i].activity != Activity::wait) end = std::max(end, events_[i].end);
    return end;
  }

  /// The profiler's overhead is part of a latency, but there is no row from which it could be subtracted.
  void note_overheads(const std::vector<Stretch>& passes) {
    std::int64_t inside = 0;
    for (const auto& pass : passes)
      for (const auto& overhead : overheads_)
        inside +=
            std::max<std::int64_t>(0, std::min(end_of(pass), overhead.end) - std::max(start_of(pass), overhead.start));
    if (inside == 0) return;
    char milliseconds[32];
    std::snprintf(milliseconds, sizeof milliseconds, "%.3g", static_cast<double>(inside) * 1e-6);
    made_.warnings.push_back(source_.path().string() + ": latencies hold " + milliseconds +
                             " ms that the profiler itself took");
  }

  /// A label names a layer if it occurs in every pass; a label that counts the passes does not.
  void drop_passing_labels(const std::vector<Stretch>& passes) {
    std::map<std::string, std::size_t> seen;  // number of passes that contain a label
    for (const auto& pass : passes) {
      std::set<std::string> labels;
      for (std::size_t i = pass.first; i < pass.last; ++i) labels.insert(events_[i].label);
      for (const auto& label : labels) ++seen[label];
    }
    for (const auto& pass : passes)
      for (std::size_t i = pass.first; i < pass.last; ++i)
        if (seen[events_[i].label] < passes.size()) events_[i].label.clear();
  }

  /// Event `i`: first those of the device, then the calls of the host.
  [[nodiscard]] const DeviceEvent& event_at(std::size_t i) const {
    return i < events_.size() ? events_[i] : calls_[i - events_.size()];
  }

  void add_records(const std::vector<Stretch>& passes) {
    drop_passing_labels(passes);
    std::map<std::tuple<Activity, std::string, std::string, std::string, std::string>, std::uint32_t> known;
    PassRecords records;
    for (std::size_t p = 0; p < passes.size(); ++p) {
      const Stretch& pass = passes[p];
      const std::int64_t origin = start_of(pass);
      const std::int64_t end = p + 1 < passes.size() ? std::min(end_of(pass), start_of(passes[p + 1])) : end_of(pass);
      std::vector<std::size_t> indices;
      for (std::size_t i = pass.first; i < pass.last; ++i) {
        indices.push_back(i);
        if (events_[i].launched) between_.add(events_[i], *events_[i].launched, origin, end);
      }
      const auto first = std::lower_bound(calls_.begin(), calls_.end(), origin,
                                          [](const DeviceEvent& call, std::int64_t at) { return call.start < at; });
      for (auto call = first; call != calls_.end() && call->start < end; ++call) {
        const bool between = call->between && between_.add(*call, call->start, origin, end);
        if (call->is_record && (between || !call->between_libraries))
          indices.push_back(events_.size() + static_cast<std::size_t>(call - calls_.begin()));
      }
      std::vector<PassEvent> events;
      for (const std::size_t i : indices) {
        const DeviceEvent& event = event_at(i);
        const auto next = static_cast<std::uint32_t>(known.size());
        const auto what =
            known.try_emplace({event.activity, event.name, event.detail, event.sizes, event.label}, next).first->second;
        events.push_back({.what = what,
                          .source = static_cast<std::uint32_t>(i),
                          .start = static_cast<double>(event.start - origin) * 1e-9,
                          .duration = static_cast<double>(event.end - event.start) * 1e-9});
      }
      records.add_pass(events);
    }
    for (auto& collected : records.take()) {
      const DeviceEvent& event = event_at(collected.source);
      ProfileRecord record{.name = event.name,
                           .op = std::string(op_of(event)),
                           .activity = activity_of(event),
                           .algorithm = event.detail,
                           .provider = "cuda",
                           .lane = event.stream,
                           .start = Seconds{collected.start},
                           .times = std::move(collected.times),
                           .starts_s = std::move(collected.starts_s),
                           .place = {source_.index(), static_cast<std::uint64_t>(event.row)}};
      if (!event.label.empty()) record.nodes = {event.label};
      if (event.activity == Activity::copy) record.algorithm = event.sizes;
      record.between_libraries = event.between_libraries;
      if (event.launched)
        if (const LibrarySpan* const call = libraries_.inside(event.thread, *event.launched))
          record.library = call->library;
      made_.records.push_back(std::move(record));
    }
  }

  const Source& source_;
  std::vector<DeviceEvent> events_, calls_;
  std::vector<Overhead> overheads_;
  LibrarySpans libraries_;
  BetweenLibraries between_{libraries_};
  std::vector<std::size_t> kernels_{};  // their indices in events_
  EngineProfile made_{};
};

}  // namespace

EngineProfile make_profile(const Source& source, DeviceTimeline timeline, const ProfileOptions& options) {
  return Maker(source, std::move(timeline)).make(options);
}

}  // namespace benanza::profile
