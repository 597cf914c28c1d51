// SPDX-License-Identifier: Apache-2.0
// A host whose time is a counter, and a backend whose calls advance it, to test the decisions of the measuring session
// without a clock.
#pragma once

#include "sampling/host.hpp"
#include <benanza/plan/backend.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace benanza::test {

class FakeHost final : public sampling::Host {
 public:
  /// How many times slower than its best the machine is at a time; 1 is quiet. Calls of fake plans are slowed down by
  /// the same factor.
  std::function<double(double now)> slowness = [](double) { return 1.0; };
  /// The same for memory, with `has_memory_probe`; calls of plans that are bound by memory are slowed down by it.
  std::function<double(double now)> memory_slowness = [](double) { return 1.0; };
  bool has_memory_probe = true;
  /// How many times slower the processor runs after calls of plans that are bound by memory, until it has spent
  /// `clock_recovery` seconds in the sentinel's loop.
  std::function<double()> clock_drop = [] { return 1.0; };
  double clock_recovery = 0;
  /// How many times farther than usual the threads are from each other. Calls on several threads are slowed down by the
  /// same factor.
  std::function<double(double now)> thread_distance = [](double) { return 1.0; };
  /// Whether another process had the processor between two times.
  std::function<bool(double from, double to)> preempted = [](double, double) { return false; };
  /// The parts of a preempted window for which its threads had no processor.
  double lost_longest = 0, lost_all = 0;
  static constexpr double usual_round_trip = 80e-9;
  double time = 1000;
  std::map<int, int> probes{};  ///< by threads
  Bytes memory{1e9};

  void spend(double seconds) { time += seconds * slowness(time); }
  void lower_clock() {
    drop_ = clock_drop();
    slow_for_ = clock_recovery;
  }

  [[nodiscard]] Seconds now() const override { return {time}; }
  [[nodiscard]] Seconds timer_floor() const override { return {20e-9}; }
  [[nodiscard]] Seconds probe(int threads) override {
    ++probes[threads];
    const double start = time;
    spend(30e-6 * (slow_for_ > 0 ? drop_ : 1));
    slow_for_ -= time - start;
    return {time - start};
  }
  /// At full speed a processor does 1e9 multiply-adds per second.
  [[nodiscard]] std::optional<Seconds> probe_at(FlopsPerSecond each) const override {
    return Seconds{30e-6 * 1e9 / each.value};
  }
  [[nodiscard]] std::optional<sampling::MemoryTimes> probe_memory(Bytes) override {
    if (!has_memory_probe) return std::nullopt;
    const Seconds each{50e-6 * memory_slowness(time)};
    time += 2 * each.value;
    return sampling::MemoryTimes{.chase = each, .stream = each};
  }
  [[nodiscard]] Seconds round_trip(int) override {
    const double factor = thread_distance(time);
    time += 10e-6 * factor;
    return {usual_round_trip * factor};
  }
  void watch() override { watched_ = time; }
  [[nodiscard]] bool disturbed(Seconds window) override {
    lost_ = {.longest = window * lost_longest, .all = window * lost_all};
    return preempted(watched_, time);
  }
  [[nodiscard]] sampling::Lost lost() const override { return lost_; }
  void occupy(sampling::Runtime, int) override {}
  void dismiss() override {}
  void pause(Seconds length) override { time += length.value; }
  [[nodiscard]] Bytes cached() const override { return {1e5}; }
  [[nodiscard]] Bytes available_memory() const override { return memory; }

 private:
  double watched_ = 0, drop_ = 1, slow_for_ = 0;
  sampling::Lost lost_{};
};

/// What one fake plan does: it computes y = relu(x) of a flat f32 tensor, in `seconds` on one thread.
struct FakePlan {
  std::string name{};
  double seconds = 1e-3;
  double speedup = 2;  ///< on two threads
  bool memory_bound = false;
  bool wrong = false;
  bool leaves_output = false;  ///< writes nothing
  int fails_at_call = -1;
  std::size_t workspace = 0;
  bool advised = false;
};

class FakeBackend final : public Backend {
 public:
  FakeBackend(FakeHost& host, std::vector<FakePlan> plans, std::string name = "fake")
      : host_(host), plans_(std::move(plans)), name_(std::move(name)) {}

  /// Calls so far, by algorithm without threads.
  [[nodiscard]] int calls(const std::string& plan) const { return calls_[plan]; }
  /// The order in which plans were called, without repetitions.
  [[nodiscard]] const std::vector<std::string>& order() const { return order_; }

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    if (plans_.empty()) return Unsupported{"no " + std::string(kind(layer)) + " in backend " + name_};
    Plans result;
    for (const auto& plan : plans_) result.push_back(std::make_unique<Relu>(*this, plan, operands(layer), threads));
    return result;
  }

 private:
  class Relu final : public Plan {
   public:
    Relu(const FakeBackend& backend, FakePlan what, const Operands& operands, int threads)
        : Plan({.algorithm = what.name + ",threads=" + std::to_string(threads),
                .threads = threads,
                .inputs = plain_layouts(operands.inputs),
                .outputs = plain_layouts(operands.outputs),
                .workspace_bytes = what.workspace,
                .advised = what.advised}),
          backend_(backend),
          what_(std::move(what)) {}

   private:
    void do_execute(const Arguments& arguments) const override {
      const int call = ++backend_.calls_[what_.name];
      if (backend_.order_.empty() || backend_.order_.back() != algorithm()) backend_.order_.push_back(algorithm());
      if (call == what_.fails_at_call) throw std::runtime_error("out of luck");
      const double memory = what_.memory_bound ? backend_.host_.memory_slowness(backend_.host_.time) : 1;
      const double distance = threads() == 1 ? 1 : backend_.host_.thread_distance(backend_.host_.time);
      backend_.host_.spend(memory * distance * (threads() == 1 ? what_.seconds : what_.seconds / what_.speedup));
      if (what_.memory_bound) backend_.host_.lower_clock();
      if (what_.leaves_output) return;
      const auto* x = static_cast<const float*>(arguments.inputs[0]);
      auto* y = static_cast<float*>(arguments.outputs[0]);
      for (std::size_t i = 0; i < outputs()[0].bytes / sizeof(float); ++i)
        y[i] = (x[i] > 0 ? x[i] : 0.0F) + (what_.wrong ? 0.5F : 0.0F);
    }

    const FakeBackend& backend_;
    FakePlan what_;
  };

  FakeHost& host_;
  std::vector<FakePlan> plans_;
  std::string name_;
  mutable std::map<std::string, int> calls_{};
  mutable std::vector<std::string> order_{};
};

}  // namespace benanza::test
