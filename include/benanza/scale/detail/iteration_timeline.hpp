// SPDX-License-Identifier: Apache-2.0
// Iteration timeline: one iteration on each of several workers, with the exchange of gradients parallel to the
// computation.
#pragma once

#include <benanza/scale/iteration.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// Which bucket is sent next, and what waits for it. fifo: the bucket that was complete first; the optimizer's step
/// waits for all, as in PyTorch's DistributedDataParallel. priority: of the complete buckets, the one that the next
/// forward reads first; each layer of that forward waits only for its own parameters (Jayarajan et al., Priority-based
/// Parameter Propagation, SysML 2019). Sending a bucket is not interrupted.
enum class SendOrder : std::uint8_t { fifo, priority };
[[nodiscard]] constexpr std::array<std::string_view, 2> enum_names(SendOrder) { return {"fifo", "priority"}; }

/// Gradients that are exchanged by one call.
struct Bucket {
  std::size_t first = 0, last = 0;  ///< indices into `Iteration::gradients`, both inclusive
  Bytes bytes{};
  std::size_t made = 0;    ///< index into `backward`: the step that completes it
  std::size_t needed = 0;  ///< index into `forward`: the first step that reads one of its parameters
};

/// Makes buckets in the order of backward. The gradient with which a bucket reaches `least` bytes is its last, as in
/// DistributedDataParallel. 0: each gradient is a bucket.
[[nodiscard]] inline std::vector<Bucket> make_buckets(const Iteration& iteration, Bytes least) {
  std::vector<Bucket> buckets;
  bool open = false;
  for (std::size_t i = 0; i < iteration.gradients.size(); ++i) {
    const GradientReady& gradient = iteration.gradients[i];
    if (!open) buckets.push_back({.first = i, .needed = gradient.needed});
    Bucket& bucket = buckets.back();
    bucket.last = i;
    bucket.bytes += gradient.bytes;
    bucket.made = std::max(bucket.made, gradient.made);
    bucket.needed = std::min(bucket.needed, gradient.needed);
    open = bucket.bytes < least;
  }
  return buckets;
}

/// Buckets are sent one after the other. Times are relative to the start of backward.
struct SentBucket {
  Bucket bucket{};
  Seconds ready{}, start{}, time{};
  Seconds exposed{};  ///< the part of `time` in which computation waits
  [[nodiscard]] Seconds end() const { return start + time; }
};

/// A step of computation, or the optimizer's.
struct ComputedStep {
  std::string name{};  ///< name of the Iteration's step, or `optimizer`
  Phase phase = Phase::forward;
  Seconds start{}, time{};
  [[nodiscard]] Seconds end() const { return start + time; }
};

/// From the start of backward to the end of the next forward. The exchange is finished by then, so that each iteration
/// looks like the one before it.
struct IterationTimeline {
  std::vector<ComputedStep> computed{};
  std::vector<SentBucket> sent{};  ///< in the order in which they are sent
  Seconds length{};                ///< iteration time: Tn
  Seconds overhead{};              ///< cost of the exchange in the worker's computation
  Seconds exposed{};               ///< time in which computation waits: Tn - T1 - overhead
  [[nodiscard]] Seconds communication() const {
    Seconds total{};
    for (const auto& one : sent) total += one.time;
    return total;
  }
};

/// The time that one bucket takes on the network.
using BucketTime = std::function<Seconds(Bytes)>;

/// How gradients are exchanged.
struct ExchangeOptions {
  SendOrder order = SendOrder::fifo;
  Bytes bucket{25e6};  ///< see `make_buckets`
  /// Time that a worker's computation spends on packing all gradients before they are sent and on unpacking them
  /// afterwards, half of it each.
  Seconds overhead{};
};

namespace detail {

/// When each bucket is sent. The network carries one at a time, and is idle only while no bucket is complete.
[[nodiscard]] inline std::vector<SentBucket> send(const std::vector<Bucket>& buckets, const std::vector<Seconds>& ready,
                                                  SendOrder order, const BucketTime& time) {
  std::vector<SentBucket> sent;
  std::vector<std::size_t> waiting;
  std::size_t next = 0;
  Seconds now{};
  while (next < buckets.size() || !waiting.empty()) {
    if (waiting.empty()) now = std::max(now, ready[next]);
    for (; next < buckets.size() && ready[next] <= now; ++next) waiting.push_back(next);
    auto chosen = waiting.begin();
    if (order == SendOrder::priority)
      chosen = std::min_element(waiting.begin(), waiting.end(),
                                [&](std::size_t a, std::size_t b) { return buckets[a].needed < buckets[b].needed; });
    sent.push_back(
        {.bucket = buckets[*chosen], .ready = ready[*chosen], .start = now, .time = time(buckets[*chosen].bytes)});
    now = sent.back().end();
    waiting.erase(chosen);
  }
  return sent;
}

/// Runs the steps of a timeline and records for which buckets they wait.
class Computation {
 public:
  Computation(IterationTimeline& timeline, Seconds start) : timeline_(&timeline), now_(start) {}

  void wait_until(Seconds when) {
    if (when <= now_) return;
    for (auto& one : timeline_->sent)
      one.exposed += std::max(Seconds{}, std::min(one.end(), when) - std::max(one.start, now_));
    timeline_->exposed += when - now_;
    now_ = when;
  }
  void run(const std::string& name, Phase phase, Seconds time) {
    if (time.value > 0) timeline_->computed.push_back({.name = name, .phase = phase, .start = now_, .time = time});
    now_ += time;
  }
  void pack(Phase phase, Seconds time) {
    run(phase == Phase::backward ? "pack" : "unpack", phase, time);
    timeline_->overhead += time;
  }
  [[nodiscard]] Seconds now() const { return now_; }

 private:
  IterationTimeline* timeline_;
  Seconds now_;
};

}  // namespace detail

/// The iteration on workers that exchange `buckets` of it, each of which takes `time` of its bytes. A bucket is packed
/// when backward has completed it, and unpacked when it has arrived. Both take its share of `options.overhead`. Without
/// buckets nothing is exchanged. The optimizer's step is one call in fifo order. In priority order it is divided by
/// bytes, and each part runs before the layer that reads it.
[[nodiscard]] inline IterationTimeline make_iteration_timeline(const Iteration& iteration,
                                                               const std::vector<Bucket>& buckets,
                                                               const ExchangeOptions& options, const BucketTime& time) {
  IterationTimeline result;
  const double all = iteration.gradient_bytes().value;
  const auto share = [&](Seconds whole, Bytes part) { return all > 0 ? whole * (part.value / all) : Seconds{}; };
  const Seconds packing = options.overhead / 2;  // unpacking takes as long
  detail::Computation backward(result, {});
  std::vector<Seconds> ready;
  for (std::size_t i = 0; i < iteration.backward.size(); ++i) {
    backward.run(iteration.backward[i].name, iteration.backward[i].phase, iteration.backward[i].time);
    for (; ready.size() < buckets.size() && buckets[ready.size()].made == i; ready.push_back(backward.now()))
      backward.pack(Phase::backward, share(packing, buckets[ready.size()].bytes));
  }
  result.sent = detail::send(buckets, ready, options.order, time);

  detail::Computation rest(result, backward.now());
  if (options.order == SendOrder::fifo) {
    for (const auto& one : result.sent) {
      rest.wait_until(one.end());
      rest.pack(Phase::update, share(packing, one.bucket.bytes));
    }
    rest.run("optimizer", Phase::update, iteration.update);
    for (const auto& step : iteration.forward) rest.run(step.name, step.phase, step.time);
  } else {
    struct Part {
      Seconds arrived{}, unpack{}, update{};
    };
    std::vector<Part> parts(iteration.forward.size());
    Part rest_of_it;  // what no forward step waits for
    if (buckets.empty()) rest_of_it.update = iteration.update;
    for (const auto& one : result.sent) {
      rest_of_it.arrived = std::max(rest_of_it.arrived, one.end());
      for (std::size_t i = one.bucket.first; i <= one.bucket.last; ++i) {
        const GradientReady& gradient = iteration.gradients[i];
        Part& part = gradient.needed < parts.size() ? parts[gradient.needed] : rest_of_it;
        part.arrived = std::max(part.arrived, one.end());
        part.unpack += share(packing, gradient.bytes);
        part.update += share(iteration.update, gradient.bytes);
      }
    }
    const auto update = [&](const Part& part) {
      rest.wait_until(part.arrived);
      rest.pack(Phase::update, part.unpack);
      rest.run("optimizer", Phase::update, part.update);
    };
    for (std::size_t i = 0; i < iteration.forward.size(); ++i) {
      update(parts[i]);
      rest.run(iteration.forward[i].name, iteration.forward[i].phase, iteration.forward[i].time);
    }
    update(rest_of_it);
  }
  result.length = rest.now();
  return result;
}

}  // namespace benanza
