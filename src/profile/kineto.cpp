// SPDX-License-Identifier: Apache-2.0
// PyTorch's trace (torch.profiler, libkineto/src/output_json.cpp): an object with `traceEvents`, times in microseconds.
// Operators nest by time on their thread; a kernel is launched by the call with the same correlation, which is inside
// an operator. A pass is a ProfilerStep; otherwise a repeated annotation by the user; otherwise a repetition of the
// outermost operators.
#include "kineto_events.hpp"
#include "nested_events.hpp"
#include "reader.hpp"
#include "trace_event.hpp"
#include <benanza/error.hpp>

#include <algorithm>

namespace benanza::profile {

namespace {

constexpr std::string_view step_mark = "ProfilerStep#";

struct Link {
  std::uint64_t id = 0;
  std::uint32_t event = 0;
};

class Kineto {
 public:
  Kineto(Source& source, const ProfileOptions& options) : source_(source), options_(options) {}

  EngineProfile read() {
    made_.engine = "pytorch";
    EventStream stream(source_, "traceEvents");
    for (auto item = stream.next(); item != EventStream::Item::end; item = stream.next())
      at_event(source_, stream.position(), [&] {
        if (item == EventStream::Item::event) add(stream.text(), stream.position());
        else add_member(stream.name(), stream.text(), stream.position());
      });
    finish();
    return std::move(made_);
  }

 private:
  struct Arguments {
    std::uint64_t correlation = 0, external = 0;
    std::int64_t stream = 0, device = 0;
    std::string_view dims{}, types{};
    bool graph = false;
  };

  void warn(std::string text) { made_.warnings.push_back(std::move(text)); }

  void add_member(std::string_view name, std::string_view text, std::uint64_t position) {
    if (name == "schemaVersion" && text != "1")
      warn(source_.place(position) + ": schemaVersion " + std::string(text) + "; known is 1");
    if (name != "deviceProperties" && name != "computeProperties") return;
    json::document document = parser_.iterate(text.data(), text.size(), text.size() + EventStream::padding);
    for (auto element : document.get_array()) {
      std::string_view device;
      if (made_.device.empty() && element.get_object()["name"].get(device) == simdjson::SUCCESS) made_.device = device;
    }
  }

  void add(std::string_view text, std::uint64_t position) {
    Arguments arguments;
    const TraceEvent event =
        read_event(parser_, text, EventStream::padding, [&](std::string_view key, json::value& value) {
          if (key == "correlation") arguments.correlation = number(value);
          else if (key == "External id" || key == "external id") arguments.external = number(value);
          else if (key == "stream") arguments.stream = id_of(value);
          else if (key == "device") arguments.device = id_of(value);
          else if (key == "graph id") arguments.graph = number(value) != 0;
          else if (key == "Input Dims" && value.type() == json::json_type::array)
            arguments.dims = value.get_array().value().raw_json();
          else if ((key == "Input type" || key == "Input Types") && value.type() == json::json_type::array)
            arguments.types = value.get_array().value().raw_json();
        });
    if (event.phase == 'B' || event.phase == 'E')
      source_.fail(position, "a begin or end event; expected complete events (ph 'X'), as PyTorch writes them");
    if (event.phase != 'X') return;
    if (event.category == "overhead") {
      event.check();
      overhead_ns_ += event.duration_ns;
    }
    const TraceKind kind = trace_kind(event.category);
    if (kind == TraceKind::other) return;
    event.check();
    if (kind == TraceKind::op || kind == TraceKind::annotation) refuse_another_process(event, position);
    add(event, kind, arguments, position);
  }

  /// Each event that PyTorch itself records has its process; those of a device have the number of the device instead.
  void refuse_another_process(const TraceEvent& event, std::uint64_t position) {
    if (!process_) process_ = event.process;
    if (event.process && event.process != process_)
      source_.fail(position,
                   "an event of another process than those before it; expected those of the process that "
                   "ran the model");
  }

  void add(const TraceEvent& event, TraceKind kind, const Arguments& arguments, std::uint64_t position) {
    if (kind == TraceKind::annotation && event.name.starts_with(step_mark)) {
      event.check_pass();
      steps_.push_back({event.start_ns, event.start_ns + event.duration_ns});
      return;
    }
    // The same operator with other shapes is a different record.
    key_.assign(event.name).append(1, static_cast<char>('0' + static_cast<int>(kind))).append(arguments.dims);
    const auto [what, is_new] = names_.find_or_add(key_);
    if (is_new) {
      TraceDescription& made = descriptions_.emplace_back();
      made.name = event.name;
      made.kind = kind;
      made.graph = arguments.graph;
      made.inputs = tensors(arguments.dims, arguments.types);
    }
    const auto index = static_cast<std::uint32_t>(events_.size());
    const bool on_device = kind == TraceKind::kernel || kind == TraceKind::copy;
    const std::uint32_t lane =
        on_device ? lane_of("device", arguments.device, arguments.stream) : lane_of("thread", 0, event.lane);
    events_.push_back({.start = event.start_ns,
                       .end = event.start_ns + event.duration_ns,
                       .position = position,
                       .what = what,
                       .lane = lane});
    if (kind == TraceKind::call && arguments.correlation != 0) calls_.push_back({arguments.correlation, index});
    if (kind == TraceKind::op && arguments.external != 0) ops_.push_back({arguments.external, index});
    if (on_device) launched_.push_back({index, arguments.correlation, arguments.external});
  }

  static std::uint64_t number(json::value& value) {
    std::uint64_t result = 0;
    return value.get(result) == simdjson::SUCCESS ? result : 0;
  }

  std::uint32_t lane_of(const char* kind, std::int64_t device, std::int64_t number) {
    lane_.assign(kind).append(std::to_string(device)).append(1, ' ').append(std::to_string(number));
    return lanes_.find_or_add(lane_).id;
  }

  std::vector<ProfiledTensor> tensors(std::string_view dims, std::string_view types) {
    std::vector<ProfiledTensor> result;
    if (dims.empty() || types.empty()) return result;
    std::vector<std::optional<DataType>> known;
    const simdjson::padded_string type_text(types), dims_text(dims);
    json::document type_list = shapes_.iterate(type_text);
    for (auto element : type_list.get_array()) {
      std::string_view name;
      known.push_back(element.get(name) == simdjson::SUCCESS ? torch_type(name) : std::nullopt);
    }
    json::document dim_list = shapes_.iterate(dims_text);
    std::size_t i = 0;
    for (auto element : dim_list.get_array()) {
      if (i == known.size()) break;
      const auto type = known[i++];
      if (!type || element.type() != json::json_type::array) continue;  // not a tensor
      ProfiledTensor tensor{.type = *type};
      for (auto extent : element.get_array()) {
        std::int64_t value = 0;
        if (extent.get(value) != simdjson::SUCCESS) return {};  // a list of tensors
        tensor.dims.push_back(value);
      }
      result.push_back(std::move(tensor));
    }
    return result;
  }

  /// Makes the call that launched a kernel or copy, or otherwise its operator, the parent.
  void link() {
    const auto by_id = [](const Link& a, const Link& b) { return a.id < b.id; };
    std::sort(calls_.begin(), calls_.end(), by_id);
    std::sort(ops_.begin(), ops_.end(), by_id);
    const auto find = [&](const std::vector<Link>& in, std::uint64_t id) {
      const auto at = std::lower_bound(in.begin(), in.end(), Link{.id = id}, by_id);
      return id == 0 || at == in.end() || at->id != id ? no_event : at->event;
    };
    std::size_t lost = 0;
    std::uint64_t first_lost = 0;
    for (const Launched& each : launched_) {
      TimedEvent& event = events_[each.event];
      event.parent = find(calls_, each.correlation);
      if (event.parent == no_event) event.parent = find(ops_, each.external);
      if (event.parent == no_event && lost++ == 0) first_lost = event.position;
      in_graphs_ += descriptions_[event.what].graph ? 1 : 0;
    }
    if (lost > 0)
      warn(source_.place(first_lost) + ": " + std::to_string(lost) + " of " + std::to_string(launched_.size()) +
           " kernels and copies have no launch in the file; this is the first");
    calls_ = {};
    ops_ = {};
  }

  /// Uses the annotation that repeats at the outermost level and covers the most time. One that takes none marks an
  /// instant, and no pass.
  bool passes_by_annotation() {
    const auto may_be_pass = [&](const TimedEvent& event) {
      return descriptions_[event.what].kind == TraceKind::annotation && event.parent == no_event &&
             event.end > event.start;
    };
    std::vector<std::int64_t> total(descriptions_.size(), 0);
    std::vector<std::size_t> count(descriptions_.size(), 0);
    for (const TimedEvent& event : events_) {
      if (!may_be_pass(event)) continue;
      total[event.what] += event.end - event.start;
      ++count[event.what];
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < total.size(); ++i)
      if (count[i] > 1 && (count[best] < 2 || total[i] > total[best])) best = i;
    if (total.empty() || count[best] < 2) return false;
    for (const TimedEvent& event : events_)
      if (event.what == best && may_be_pass(event)) steps_.push_back({event.start, event.end});
    mark_ = static_cast<std::uint32_t>(best);
    return true;
  }

  void passes_by_repetition() {
    std::vector<std::uint32_t> ids, at;
    std::vector<double> idle;
    const bool host = std::any_of(descriptions_.begin(), descriptions_.end(),
                                  [](const TraceDescription& what) { return what.kind == TraceKind::op; });
    std::vector<std::size_t> per_lane(lanes_.size(), 0);
    const auto counts = [&](const TimedEvent& event) {
      const TraceKind kind = descriptions_[event.what].kind;
      return host ? kind == TraceKind::op && event.parent == no_event : kind == TraceKind::kernel;
    };
    for (const TimedEvent& event : events_) per_lane[event.lane] += counts(event) ? 1 : 0;
    const auto lane = std::max_element(per_lane.begin(), per_lane.end()) - per_lane.begin();
    for (std::uint32_t i = 0; i < events_.size(); ++i) {
      if (events_[i].lane != lane || !counts(events_[i])) continue;
      idle.push_back(at.empty() ? 0 : static_cast<double>(events_[i].start - events_[at.back()].end));
      ids.push_back(events_[i].what);
      at.push_back(i);
    }
    if (at.empty()) return;
    warn(source_.path().string() + ": no ProfilerStep and no repeated annotation: passes are the repetitions of its " +
         (host ? "outermost operators" : "kernels"));
    for (const Stretch& pass : repeated_passes(source_, ids, idle, options_, made_.warnings))
      steps_.push_back({events_[at[pass.first]].start, events_[at[pass.last - 1]].end});
  }

  void finish() {
    if (events_.empty()) source_.fail(0, "neither operators nor kernels: not the trace of a run");
    link();
    const Misnested wrong = nest(events_, 1000);
    if (wrong.count > 0)
      warn(source_.place(wrong.position) + ": " + std::to_string(wrong.count) +
           " events begin inside another one of their thread and end after it; this is the first");
    if (steps_.empty() && !passes_by_annotation()) passes_by_repetition();
    std::sort(steps_.begin(), steps_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    if (run_at_once()) {
      made_.total_only = "several threads ran the model at once: which pass an event belongs to is not recorded";
      add_latencies(steps_);
      return;
    }
    check_steps();
    assign_passes(events_, steps_);
    for (TimedEvent& event : events_)
      if (event.what == mark_) event.pass = no_event;
    // Work of the device belongs to the pass that launched it, and so does the time until it is done.
    std::vector<PassSpan> whole = steps_;
    for (TimedEvent& event : events_) {
      const TraceKind kind = descriptions_[event.what].kind;
      if (kind != TraceKind::kernel && kind != TraceKind::copy) continue;
      if (event.parent != no_event) event.pass = events_[event.parent].pass;
      if (event.pass != no_event) whole[event.pass].end = std::max(whole[event.pass].end, event.end);
    }
    make_records(add_latencies(whole));
    find_doubts();
  }

  /// Returns how many of the first passes are dropped as warm-ups.
  std::size_t add_latencies(const std::vector<PassSpan>& passes) {
    std::vector<Seconds> latencies;
    for (const PassSpan& pass : passes) latencies.push_back(Seconds{static_cast<double>(pass.end - pass.start) * 1e-9});
    const std::size_t dropped = warm_up_passes(source_, latencies, options_);
    made_.warm_ups = static_cast<std::int64_t>(dropped);
    made_.latencies.assign(latencies.begin() + static_cast<std::ptrdiff_t>(dropped), latencies.end());
    return dropped;
  }

  /// Whether a pass begins in the first half of the one before it: more than clocks of the host explain.
  [[nodiscard]] bool run_at_once() const {
    const auto begins_within = [](const PassSpan& before, const PassSpan& pass) {
      return 2 * (pass.start - before.start) <= before.end - before.start;
    };
    return std::adjacent_find(steps_.begin(), steps_.end(), begins_within) != steps_.end();
  }

  void check_steps() {
    for (std::size_t i = 1; i < steps_.size(); ++i)
      if (steps_[i].start < steps_[i - 1].end - 1000) {
        steps_[i - 1].end = std::min(steps_[i - 1].end, steps_[i].start);
        ++overlapping_;
      }
    if (overlapping_ > 0)
      warn(source_.path().string() + ": " + std::to_string(overlapping_) + " passes end after the start of the next");
  }

  void make_records(std::size_t dropped) {
    auto collected = collect(events_, steps_, dropped);
    if (collected.irregular > 0)
      warn(source_.path().string() + ": " + std::to_string(collected.irregular) + " of " +
           std::to_string(collected.records.size()) + " records are not in every pass; their time there is 0");
    for (std::size_t i = 0; i < collected.records.size(); ++i) {
      ProfileRecord& record = collected.records[i];
      const TraceDescription& what = descriptions_[collected.what[i]];
      record.name = what.name;
      if (what.kind == TraceKind::annotation) record.op = "user_annotation";
      else if (what.kind != TraceKind::kernel) record.op = what.name;
      if (what.kind == TraceKind::kernel) record.algorithm = what.name;
      record.activity = activity_of(what);
      record.inputs = what.inputs;
      record.place.file = source_.index();
    }
    made_.records = std::move(collected.records);
  }

  /// Number of passes in which less than half of the records occur in most passes; a cut-off pass does not count.
  [[nodiscard]] std::size_t foreign_passes() const {
    const std::size_t passes = made_.latencies.size();
    std::vector<std::size_t> records(passes, 0), usual(passes, 0);
    for (const ProfileRecord& record : made_.records) {
      const auto is_in = [&record](std::size_t pass) { return record.times[pass].value > 0; };
      std::size_t count = 0;
      for (std::size_t pass = 0; pass < passes; ++pass) count += is_in(pass) ? 1 : 0;
      for (std::size_t pass = 0; pass < passes; ++pass) {
        if (!is_in(pass)) continue;
        ++records[pass];
        usual[pass] += 2 * count > passes ? 1 : 0;
      }
    }
    std::size_t foreign = 0;
    for (std::size_t pass = 0; pass < passes; ++pass) foreign += 2 * usual[pass] < records[pass] ? 1 : 0;
    return foreign;
  }

  void find_doubts() {
    // A single odd pass among many does not change the medians.
    if (const std::size_t foreign = foreign_passes(); foreign > 0 && 4 * foreign >= made_.latencies.size())
      made_.total_only = std::to_string(foreign) + " of " + std::to_string(made_.latencies.size()) +
                         " passes share less than half of their records with most others: the steps of several models";
    bool kernels = false, launches = false;
    for (const TraceDescription& what : descriptions_) {
      kernels = kernels || what.kind == TraceKind::kernel;
      launches = launches || (what.kind == TraceKind::call && what.name.find("LaunchKernel") != std::string::npos);
    }
    if (launches && !kernels)
      made_.total_only =
          "kernels were launched, but the trace has none: the profiler ran without ProfilerActivity.CUDA";
    if (in_graphs_ > 0)
      warn(source_.path().string() + ": " + std::to_string(in_graphs_) + " of " + std::to_string(launched_.size()) +
           " kernels ran as part of a CUDA graph: which operator they belong to is not recorded");
    if (overhead_ns_ > 0)
      warn(source_.path().string() + ": the profiler itself took " +
           std::to_string(static_cast<double>(overhead_ns_) * 1e-6) + " ms");
  }

  struct Launched {
    std::uint32_t event = 0;
    std::uint64_t correlation = 0, external = 0;
  };

  Source& source_;
  const ProfileOptions& options_;
  EngineProfile made_{};
  json::parser parser_{}, shapes_{};
  Names names_{}, lanes_{};
  std::vector<TraceDescription> descriptions_{};  // by the number of the name
  std::vector<TimedEvent> events_{};
  std::vector<Link> calls_{}, ops_{};
  std::vector<Launched> launched_{};
  std::vector<PassSpan> steps_{};
  std::string key_{}, lane_{};
  std::int64_t overhead_ns_ = 0;
  std::size_t in_graphs_ = 0, overlapping_ = 0;
  std::uint32_t mark_ = no_event;  // the annotation that marks a pass
  std::optional<std::int64_t> process_{};
};

bool sniff_kineto(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return false;
  return head.find("\"schemaVersion\"") != std::string_view::npos ||
         head.find("\"traceEvents\"") != std::string_view::npos;
}

EngineProfile read_kineto(Source& source, const ProfileOptions& options) { return Kineto(source, options).read(); }

}  // namespace

const Reader kineto{"PyTorch trace", sniff_kineto, read_kineto};

}  // namespace benanza::profile
