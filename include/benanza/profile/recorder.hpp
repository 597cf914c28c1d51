// SPDX-License-Identifier: Apache-2.0
// Recorder: an engine records its own layers while it runs, and gets the same profile as from the readers of other
// profilers' files:
//
//   Recorder recorder({.engine = "mine"});
//   for (...) {
//     recorder.start_pass();
//     const auto start = Recorder::now();
//     run_conv1();
//     recorder.layer("conv1", start, Recorder::now());
//     ...
//     recorder.end_pass();
//   }
//   const EngineProfile profile = recorder.profile();
//
// A record costs two clock reads, which the engine does, and a few nanoseconds: it is appended to memory that was
// allocated before the pass began. Nothing is locked, and nothing is allocated within a pass that has no more layers
// than an earlier one.
#pragma once

#include <benanza/error.hpp>
#include <benanza/profile/detail/warm_ups.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza {

struct RecorderOptions {
  std::string engine{}, version{}, device{};
  std::optional<int> threads{};
  std::size_t lanes = 1;     ///< threads or streams that record
  std::size_t layers = 256;  ///< expected in a pass, on each lane
  std::size_t passes = 64;   ///< expected
};

/// One thread at a time records on a lane; different lanes need no synchronisation. Passes are started and ended by one
/// thread, while no layer is being recorded.
class Recorder {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  explicit Recorder(RecorderOptions options = {}) : options_(std::move(options)), lanes_(options_.lanes) {
    if (lanes_.empty()) throw UsageError("a recorder without lanes");
    for (Lane& lane : lanes_) {
      lane.names.reserve(options_.layers);
      lane.records.reserve(options_.layers * options_.passes);
    }
    passes_.reserve(options_.passes);
  }

  [[nodiscard]] static Time now() { return Clock::now(); }

  /// Ends the previous pass at the end of its last layer, if it is still open. Throws UsageError if that pass has no
  /// layers, because its duration is not known.
  void start_pass(Time at = now()) {
    close_pass();
    for (Lane& lane : lanes_) {
      lane.most = std::max(lane.most, lane.records.size() - lane.first);
      lane.previous = lane.first;
      lane.first = lane.records.size();
      // Reserves memory for a pass as long as any before, while nothing is timed.
      if (lane.records.capacity() - lane.records.size() < lane.most)
        lane.records.reserve(2 * lane.records.capacity() + lane.most);
    }
    passes_.push_back({.start = at, .end = at, .open = true});
  }
  void end_pass(Time at = now()) {
    if (passes_.empty() || !passes_.back().open) throw UsageError("end_pass() without start_pass()");
    passes_.back().end = at;
    passes_.back().open = false;
  }

  /// A layer of the open pass. Layers of one lane may be nested (a block and its parts). If a name occurs again in a
  /// pass, it is another layer. Throws UsageError outside of a pass, and for a lane that does not exist.
  void layer(std::string_view name, Time start, Time end, std::size_t lane = 0) {
    if (passes_.empty() || !passes_.back().open) throw UsageError("layer() without start_pass()");
    if (lane >= lanes_.size())
      throw UsageError("layer() on lane " + std::to_string(lane) + " of a recorder of " +
                       std::to_string(lanes_.size()) + " lanes, expected a lower number");
    Lane& on = lanes_[lane];
    // An engine does the same in each pass, so the name is the one at this position in the previous pass.
    const std::size_t before = on.records.size() - on.first + on.previous;
    std::uint32_t id = before < on.first ? on.records[before].name : none;
    if (id == none || on.names[id] != name) id = on.find_or_add(name);
    on.records.push_back({static_cast<std::uint32_t>(passes_.size() - 1), id, start, end});
  }

  /// Describes a layer for matching and advice: its operator, the ONNX nodes that it stands for (by default the node of
  /// its name), its algorithm, tensors, activity. Times, place and lane of `what` are not used.
  void describe(ProfileRecord what) {
    std::string name = what.name;
    descriptions_.insert_or_assign(std::move(name), std::move(what));
  }

  /// All closed passes except the warm-ups; one that is still open does not count. Throws UsageError if no pass was
  /// closed, InputError for a layer that ends before it starts.
  [[nodiscard]] EngineProfile profile(const ProfileOptions& options = {}) const;

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct Pass {
    Time start{}, end{};
    bool open = false;
  };
  struct Record {
    std::uint32_t pass, name;
    Time start, end;
  };
  struct alignas(64) Lane {
    std::vector<std::string> names{};  // in the order of their first use
    std::vector<Record> records{};
    std::size_t previous = 0, first = 0;  // first records of the previous pass and of this one
    std::size_t most = 0;                 // records of the longest pass
    std::map<std::string, std::uint32_t, std::less<>> ids{};

    std::uint32_t find_or_add(std::string_view name) {
      const auto found = ids.find(name);
      const std::uint32_t id = found != ids.end() ? found->second : static_cast<std::uint32_t>(names.size());
      if (found == ids.end()) {
        ids.emplace(std::string(name), id);
        names.emplace_back(name);
      }
      return id;
    }
  };
  struct Gathered {
    std::size_t lane = 0;
    std::uint32_t name = 0;
    std::vector<double> starts{};
    std::vector<Seconds> times{};
    double end = 0;  // its end in the first pass that has it
    std::size_t first_pass = 0;
  };

  static double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

  void close_pass() {
    if (passes_.empty() || !passes_.back().open) return;
    Pass& pass = passes_.back();
    bool any = false;
    for (const Lane& lane : lanes_)
      for (std::size_t i = lane.first; i < lane.records.size(); ++i, any = true)
        pass.end = std::max(pass.end, lane.records[i].end);
    if (!any) throw UsageError("start_pass() twice, without a layer or end_pass() in between");
    pass.open = false;
  }

  [[nodiscard]] std::vector<Gathered> gather(std::size_t first, std::size_t last) const;
  [[nodiscard]] ProfileRecord record(const Gathered& gathered) const;

  RecorderOptions options_;
  std::vector<Lane> lanes_;
  std::vector<Pass> passes_{};
  std::map<std::string, ProfileRecord, std::less<>> descriptions_{};
};

/// The k-th layer of a name on a lane is the same one in each of the passes [first, last).
inline std::vector<Recorder::Gathered> Recorder::gather(std::size_t first, std::size_t last) const {
  std::vector<Gathered> all;
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    const Lane& lane = lanes_[l];
    std::vector<std::vector<std::size_t>> of_name(lane.names.size());
    std::vector<std::size_t> seen(lane.names.size(), 0);
    std::size_t pass = first;
    for (const Record& record : lane.records) {
      if (record.pass < first || record.pass >= last) continue;
      if (record.pass != pass) {
        pass = record.pass;
        std::fill(seen.begin(), seen.end(), 0);
      }
      const double time = seconds(record.end - record.start);
      if (time < 0)
        throw InputError("layer '" + lane.names[record.name] + "' of pass " + std::to_string(pass) +
                         " ends before it starts");
      auto& slots = of_name[record.name];
      const std::size_t occurrence = seen[record.name]++;
      const double start = seconds(record.start - passes_[pass].start);
      if (occurrence == slots.size()) {
        slots.push_back(all.size());
        all.push_back({.lane = l, .name = record.name, .end = start + time, .first_pass = pass});
      }
      Gathered& to = all[slots[occurrence]];
      to.times.resize(pass - first);  // 0 if a pass lacked it
      to.times.push_back({time});
      to.starts.push_back(start);
    }
  }
  for (Gathered& each : all) each.times.resize(last - first);
  return all;
}

inline ProfileRecord Recorder::record(const Gathered& gathered) const {
  const std::string& name = lanes_[gathered.lane].names[gathered.name];
  ProfileRecord made{.name = name, .nodes = {name}};
  if (const auto found = descriptions_.find(name); found != descriptions_.end()) {
    made = found->second;
    if (made.nodes.empty()) made.nodes = {name};
    made.parent.reset();
    made.place = {};
  }
  made.lane = static_cast<std::int64_t>(gathered.lane);
  made.start = Seconds{detail::quantile(gathered.starts, 0.5)};
  made.times = gathered.times;
  return made;
}

inline EngineProfile Recorder::profile(const ProfileOptions& options) const {
  EngineProfile made;
  made.engine = options_.engine;
  made.version = options_.version;
  made.device = options_.device;
  made.threads = options_.threads;
  made.format = "recorder";
  const std::size_t closed = passes_.size() - (!passes_.empty() && passes_.back().open ? 1 : 0);
  if (closed == 0)
    throw UsageError(passes_.empty() ? "a recording without start_pass() has no profile"
                                     : "the only pass of the recording has no end_pass()");
  std::vector<Seconds> latencies;
  for (std::size_t i = 0; i < closed; ++i) latencies.push_back({seconds(passes_[i].end - passes_[i].start)});
  const std::size_t dropped = options.warm_ups ? static_cast<std::size_t>(std::max<std::int64_t>(*options.warm_ups, 0))
                                               : detail::warm_ups(latencies);
  if (dropped > 0 && dropped >= closed)
    throw InputError(std::to_string(closed) + " passes were recorded, of which " + std::to_string(dropped) +
                     " are to be dropped as warm-ups: none is left");
  made.warm_ups = static_cast<std::int64_t>(dropped);
  made.latencies.assign(latencies.begin() + static_cast<std::ptrdiff_t>(dropped), latencies.end());

  auto all = gather(dropped, closed);
  const auto start = [](const Gathered& each) { return detail::quantile(each.starts, 0.5); };
  std::stable_sort(all.begin(), all.end(), [&](const Gathered& a, const Gathered& b) {
    const double first = start(a), second = start(b);
    return first != second ? first < second : a.end > b.end;
  });
  std::vector<std::vector<std::size_t>> open(lanes_.size());  // by lane, the enclosing layers
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& stack = open[all[i].lane];
    while (!stack.empty() && (all[stack.back()].first_pass != all[i].first_pass ||
                              all[stack.back()].end <= all[i].starts.front() || all[stack.back()].end < all[i].end))
      stack.pop_back();
    auto& added = made.records.emplace_back(record(all[i]));
    if (!stack.empty()) added.parent = stack.back();
    stack.push_back(i);
  }
  return made;
}

}  // namespace benanza
