// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's profile (SessionOptions.enable_profiling; onnxruntime/core/common/profiler.cc): a bare JSON array of
// complete events in microseconds. `model_run` is a pass; `<node>_kernel_time` of category Node is a layer, which
// contains the layers of its subgraph. Events of category Kernel, in builds with CUPTI, follow the node that launched
// them.
#include "nested_events.hpp"
#include "onnxruntime_nodes.hpp"
#include "reader.hpp"
#include "trace_event.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <cstddef>

namespace benanza::profile {

namespace {

constexpr std::string_view kernel_time = "_kernel_time";
constexpr std::size_t most_events = 1'000'000;  // profiler.h: max_num_events_

class OnnxRuntime {
 public:
  OnnxRuntime(Source& source, const ProfileOptions& options) : source_(source), options_(options) {}

  EngineProfile read() {
    made_.engine = "onnxruntime";
    EventStream stream(source_, "traceEvents");
    std::size_t events = 0;
    for (auto item = stream.next(); item != EventStream::Item::end; item = stream.next()) {
      if (item != EventStream::Item::event) continue;
      ++events;
      at_event(source_, stream.position(), [&] { add(stream.text(), stream.position()); });
    }
    if (events == 0) source_.fail(0, "a profile without events");
    if (events >= most_events)
      warn(source_.path().string() + ": holds as many events as ONNX Runtime records: later passes are missing");
    finish();
    return std::move(made_);
  }

 private:
  struct Arguments {
    std::string_view op{}, provider{}, node_index{}, inputs{}, outputs{}, parent{};
    std::int64_t stream = 0;
    std::size_t threads = 0;
  };

  void warn(std::string text) { made_.warnings.push_back(std::move(text)); }

  void add(std::string_view text, std::uint64_t position) {
    Arguments arguments;
    const TraceEvent event =
        read_event(parser_, text, EventStream::padding, [&](std::string_view key, json::value& value) {
          const bool is_text = value.type() == json::json_type::string;
          if (key == "op_name" && is_text) arguments.op = value;
          else if (key == "provider" && is_text) arguments.provider = value;
          else if (key == "parent_name" && is_text) arguments.parent = value;
          else if (key == "stream") arguments.stream = id_of(value);
          else if (key == "node_index") arguments.node_index = is_text ? std::string_view(value) : token(value);
          else if (key == "input_type_shape" && value.type() == json::json_type::array)
            arguments.inputs = value.get_array().value().raw_json();
          else if (key == "output_type_shape" && value.type() == json::json_type::array)
            arguments.outputs = value.get_array().value().raw_json();
          else if (key == "thread_scheduling_stats" && value.type() == json::json_type::object)
            arguments.threads = count_threads(value.get_object());
        });
    if (event.phase != 'X') return;
    if (event.category == "Session") add_session(event, position);
    else if (event.category == "Node") add_node(event, arguments, position);
    else if (event.category == "Kernel") add_kernel(event, arguments, position);
  }

  static std::size_t count_threads(json::object stats) {
    std::size_t count = 0;
    for (auto field : stats) {
      const std::string_view key = field.unescaped_key();
      json::value value = results::some_value(field.value());
      if (key == "main_thread") ++count;
      if (key != "sub_threads" || value.type() != json::json_type::object) continue;
      for (auto thread : value.get_object()) {
        static_cast<void>(thread);
        ++count;
      }
    }
    return count;
  }

  void add_session(const TraceEvent& event, std::uint64_t position) {
    if (event.name == "session_initialization" && sessions_++ > 0)
      source_.fail(position,
                   "a second session_initialization: the events of two models in one file; expected the "
                   "profile of one session");
    if (event.name != "model_run") return;
    event.check_pass();
    runs_.push_back({event.start_ns, event.start_ns + event.duration_ns});
  }

  void add_node(const TraceEvent& event, const Arguments& arguments, std::uint64_t position) {
    std::string_view name = event.name;
    if (!name.ends_with(kernel_time)) return;  // _fence_before, _fence_after
    name.remove_suffix(kernel_time.size());
    event.check();
    key_.assign(name).append(1, '\0').append(arguments.op).append(1, '\0').append(arguments.provider);
    if (name.empty()) key_.append(1, '\0').append(arguments.node_index);
    const auto [what, is_new] = names_.find_or_add(key_);
    if (is_new) {
      NodeDescription& made = descriptions_.emplace_back();
      made.op = arguments.op;
      made.provider = arguments.provider;
      made.name = name.empty() ? made.op + "_" + std::string(arguments.node_index) : std::string(name);
      made.node = node_of_model(name, arguments.op, arguments.node_index);
      made.inputs = tensors(arguments.inputs);
      made.outputs = tensors(arguments.outputs);
    }
    threads_ = std::max(threads_, arguments.threads);
    last_node_ = static_cast<std::uint32_t>(events_.size());
    if (is_new) what_of_node_.emplace(name, what);
    last_event_.resize(names_.size(), no_event);
    last_event_[what] = last_node_;
    add_event(event, what, lane_of("", event.lane), position);
  }

  void add_kernel(const TraceEvent& event, const Arguments& arguments, std::uint64_t position) {
    event.check();
    has_kernels_ = true;
    key_.assign(event.name).append(1, '\0').append(1, 'k');
    const std::uint32_t launcher = launcher_of(arguments.parent);
    const std::string node = launcher == no_event ? "" : descriptions_[events_[launcher].what].node;
    key_.append(node);
    const auto [what, is_new] = names_.find_or_add(key_);
    if (is_new) {
      NodeDescription& made = descriptions_.emplace_back();
      made.name = event.name;
      made.op = arguments.op;
      made.node = node;
      made.kernel = true;
      if (launcher != no_event) made.provider = descriptions_[events_[launcher].what].provider;
    }
    add_event(event, what, lane_of("stream ", arguments.stream), position);
    events_.back().parent = launcher;
  }

  /// The last event of the node that a kernel names; of any node if it names none.
  std::uint32_t launcher_of(std::string_view parent) const {
    if (parent.ends_with(kernel_time)) parent.remove_suffix(kernel_time.size());
    if (parent.empty()) return last_node_;
    const auto found = what_of_node_.find(std::string(parent));
    return found == what_of_node_.end() ? last_node_ : last_event_[found->second];
  }

  void add_event(const TraceEvent& event, std::uint32_t what, std::uint32_t lane, std::uint64_t position) {
    events_.push_back({.start = event.start_ns,
                       .end = event.start_ns + event.duration_ns,
                       .position = position,
                       .what = what,
                       .lane = lane});
  }

  std::uint32_t lane_of(const char* kind, std::int64_t number) {
    return lanes_.find_or_add(kind + std::to_string(number)).id;
  }

  std::vector<ProfiledTensor> tensors(std::string_view text) {
    std::vector<ProfiledTensor> result;
    if (text.empty()) return result;
    const simdjson::padded_string padded(text);
    json::document document = shapes_.iterate(padded);
    for (auto element : document.get_array()) {
      for (auto field : element.get_object()) {
        const auto type = onnxruntime_type(field.unescaped_key());
        auto& tensor = result.emplace_back();
        if (!type) return {};  // a type that Benanza lacks: no shapes are better than wrong ones
        tensor.type = *type;
        for (auto extent : field.value().get_array()) tensor.dims.push_back(std::int64_t(results::some_value(extent)));
      }
    }
    return result;
  }

  /// Sorts passes by time. Returns false if they overlap, that is, if several threads ran the model at once.
  bool sort_runs() {
    std::sort(runs_.begin(), runs_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    for (std::size_t i = 1; i < runs_.size(); ++i)
      if (runs_[i].start < runs_[i - 1].end - 1000) return false;  // the file has a resolution of one microsecond
    return true;
  }

  /// Without model_run events, the repetitions of the outermost nodes are the passes.
  void find_runs() {
    std::vector<std::uint32_t> ids;
    std::vector<std::size_t> at;
    std::vector<double> idle;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].parent != no_event) continue;
      idle.push_back(at.empty() ? 0 : static_cast<double>(events_[i].start - events_[at.back()].end));
      ids.push_back(events_[i].what);
      at.push_back(i);
    }
    if (at.empty()) return;
    warn(source_.path().string() +
         ": no model_run event: passes are the repetitions of its nodes, and their latency is not known");
    for (const Stretch& pass : repeated_passes(source_, ids, idle, options_, made_.warnings))
      runs_.push_back({events_[at[pass.first]].start, events_[at[pass.last - 1]].end});
  }

  void finish() {
    if (runs_.empty() && events_.empty())
      source_.fail(0, "neither model_run nor node events: not the profile of a run");
    if (threads_ > 0) made_.threads = static_cast<int>(threads_);
    const bool timed = !runs_.empty();
    const bool apart = sort_runs();
    const Misnested wrong = nest(events_, 1000);
    if (wrong.count > 0)
      warn(source_.place(wrong.position) + ": " + std::to_string(wrong.count) +
           " nodes begin inside another one of their thread and end after it; this is the first");
    only_subgraphs_enclose();
    if (!timed) find_runs();
    std::vector<Seconds> latencies;
    for (const PassSpan& run : runs_) latencies.push_back(Seconds{static_cast<double>(run.end - run.start) * 1e-9});
    const std::size_t dropped = warm_up_passes(source_, latencies, options_);
    made_.warm_ups = static_cast<std::int64_t>(dropped);
    if (timed) made_.latencies.assign(latencies.begin() + static_cast<std::ptrdiff_t>(dropped), latencies.end());
    if (!apart) {
      made_.total_only =
          "several threads ran the model at once: which of them a node's time belongs to is not recorded";
      return;
    }
    make_records(dropped);
    find_asynchronous();
  }

  /// Times are whole microseconds, so a short node may seem to lie inside its neighbour.
  void only_subgraphs_enclose() {
    for (TimedEvent& event : events_) {
      if (descriptions_[event.what].kernel) continue;
      while (event.parent != no_event && !runs_subgraph(descriptions_[events_[event.parent].what].op))
        event.parent = events_[event.parent].parent;
    }
  }

  void make_records(std::size_t dropped) {
    assign_passes(events_, runs_);
    std::size_t outside = 0;
    std::uint64_t first_outside = 0;
    for (TimedEvent& event : events_) {
      if (descriptions_[event.what].kernel && event.parent != no_event) event.pass = events_[event.parent].pass;
      if (event.pass == no_event && outside++ == 0) first_outside = event.position;
    }
    if (outside > 0)
      warn(source_.place(first_outside) + ": " + std::to_string(outside) +
           " nodes lie in no model_run and are left out; this is the first");
    auto collected = collect(events_, runs_, dropped);
    if (collected.irregular > 0)
      warn(source_.path().string() + ": " + std::to_string(collected.irregular) + " of " +
           std::to_string(collected.records.size()) + " nodes are not in every pass; their time there is 0");
    for (std::size_t i = 0; i < collected.records.size(); ++i) {
      ProfileRecord& record = collected.records[i];
      const NodeDescription& what = descriptions_[collected.what[i]];
      record.name = what.name;
      record.op = what.op;
      record.provider = what.provider;
      record.activity = activity_of(what);
      if (!what.node.empty()) record.nodes = {what.node};
      if (what.kernel) record.algorithm = what.name;
      record.inputs = what.inputs;
      record.outputs = what.outputs;
      record.place.file = source_.index();
    }
    made_.records = std::move(collected.records);
  }

  void find_asynchronous() {
    if (has_kernels_) return;
    for (const NodeDescription& what : descriptions_) {
      if (!is_asynchronous(what.provider)) continue;
      made_.total_only = "the nodes of " + what.provider +
                         " return before their work is done, and the file has no kernel events: profile with Nsight "
                         "Systems, or with a build of ONNX Runtime that has CUPTI";
      return;
    }
  }

  Source& source_;
  const ProfileOptions& options_;
  EngineProfile made_{};
  json::parser parser_{}, shapes_{};
  Names names_{}, lanes_{};
  std::vector<NodeDescription> descriptions_{};  // by the number of the name
  std::vector<TimedEvent> events_{};
  std::vector<PassSpan> runs_{};
  std::string key_{};
  std::unordered_map<std::string, std::uint32_t> what_of_node_{};  // only looked up, never iterated
  std::vector<std::uint32_t> last_event_{};                        // by the number of the name
  std::uint32_t last_node_ = no_event;
  std::size_t threads_ = 0, sessions_ = 0;
  bool has_kernels_ = false;
};

bool sniff_onnxruntime(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '[') return false;
  // No other writer of traces has both of these.
  for (std::string_view sign :
       {"model_loading_", "session_initialization", "_kernel_time\"", "\"model_run\"", "SequentialExecutor::Execute"})
    if (head.find(sign) != std::string_view::npos) return true;
  return false;
}

EngineProfile read_onnxruntime(Source& source, const ProfileOptions& options) {
  return OnnxRuntime(source, options).read();
}

}  // namespace

const Reader onnxruntime{"ONNX Runtime profile", sniff_onnxruntime, read_onnxruntime};

}  // namespace benanza::profile
