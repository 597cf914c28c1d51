// SPDX-License-Identifier: Apache-2.0
// A device whose time is a counter: an enqueued kernel takes the time that it states, and nothing waits. Its memory is
// separate from the buffers of the session, so that data that was never uploaded is noticed.
#pragma once

#include <benanza/plan/backend.hpp>
#include <benanza/plan/device.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace benanza::test {

/// A clock of the host in which a stall of this process lasts hardly longer than one pause of a session.
inline std::function<Seconds()> without_stalls() {
  const auto now = [] {
    return Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
  };
  return [now, time = Seconds{}, last = now()]() mutable {
    constexpr Seconds longest{60e-3};
    const Seconds next = now();
    time += std::min(next - last, longest);
    last = next;
    return time;
  };
}

class FakeDevice final : public Device {
 public:
  static constexpr double launch_cost = 2e-6, graph_launch_cost = 1e-6;
  /// The time that a kernel's record lasts beyond the kernel's own work.
  static constexpr double record_cost = 1.25e-6;

  int blocks = 0, rescues = 0, recordings = 0, warm_ups = 0;  ///< so far
  Seconds last_warm_up{};
  std::size_t downloaded = 0;  ///< bytes so far
  double event_cost = 1e-6;
  double stream_launch = launch_cost;
  double clock = 1.5e9, highest_clock = 1.5e9;
  double least_clock_time = 0;     ///< shorter times give no clock
  std::int64_t queue = 1 << 20;    ///< kernels that fit behind a block; one more waits for its time-out
  bool lost = false;               ///< the next wait fails for good
  bool has_records = true;         ///< records of its kernels' own times
  std::string counters_missing{};  ///< why it has no counters
  int kernel_requests = 0;         ///< so far
  double record_error = 1;         ///< factor between these records and a kernel's work
  Bytes memory{1e9};
  DeviceCeilings peaks{};

  FakeDevice() {
    machine_.device = "Fake GPU";
    machine_.isa = "sm_00,sms=1";
    machine_.driver = "1.0";
    machine_.caches = {{2, {1e6}}};
  }

  /// Enqueues a kernel.
  void run(double seconds) {
    kernel_time_ += seconds;
    ++kernels_;
    if (recording_ != nullptr) return recording_->push_back(seconds);
    stream_time_ += stream_launch + seconds;
    if (blocked_ && ++queued_ > queue) rescue();
  }

  [[nodiscard]] bool is_recording() const { return recording_ != nullptr; }

  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] std::map<std::string, std::string> state() const override { return {{"power_mw", "1000"}}; }
  [[nodiscard]] void* stream() const override { return nullptr; }

  [[nodiscard]] void* allocate(std::size_t bytes) override {
    allocations_.emplace_back(new std::byte[bytes + 1]);
    std::memset(allocations_.back().get(), 0xEE, bytes);
    return allocations_.back().get();
  }
  void release(void*) noexcept override {}
  void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override {
    downloaded += bytes;
    std::memcpy(to, from, bytes);
  }
  void gather(void* to, const void* from, std::span<const std::int64_t> positions, std::size_t width) override {
    for (std::size_t i = 0; i < positions.size(); ++i)
      download(static_cast<std::byte*>(to) + i * width,
               static_cast<const std::byte*>(from) + static_cast<std::size_t>(positions[i]) * width, width);
  }
  void set(void* to, unsigned char byte, std::size_t bytes) override { std::memset(to, byte, bytes); }
  [[nodiscard]] Bytes available() const override { return memory; }

  void finish() override {
    if (lost) throw DeviceLost("an illegal address");
    if (recording_ != nullptr) throw std::runtime_error("waiting is not permitted while a stream is recorded");
    if (blocked_) rescue();
  }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void warm_up(Seconds time) override {
    ++warm_ups;
    last_warm_up = time;
    stream_time_ += time.value;
  }
  void block(Seconds) override {
    ++blocks;
    blocked_ = true;
    rescued_ = false;
    queued_ = 0;
  }
  [[nodiscard]] bool release_block() override {
    blocked_ = false;
    return !rescued_;
  }
  void start() override { start_ = stream_time_; }
  void stop() override { stop_ = stream_time_; }
  [[nodiscard]] Seconds elapsed() override { return {event_cost + stop_ - start_}; }
  [[nodiscard]] double clock_hz() override { return stop_ - start_ < least_clock_time ? 0 : clock; }
  [[nodiscard]] double highest_clock_hz() const override { return highest_clock; }
  void launch_empty(std::int64_t kernels) override {
    if (!std::exchange(empty_is_loaded_, true)) finish();  // like lazy loading
    for (std::int64_t i = 0; i < kernels; ++i) run(0);
  }
  [[nodiscard]] std::unique_ptr<Recording> record(const std::function<void()>& calls) override {
    ++recordings;
    std::vector<double> kernels;
    recording_ = &kernels;
    bool whole = true;
    try {
      calls();
    } catch (const std::exception&) {
      whole = false;
    }
    recording_ = nullptr;
    if (!whole) return nullptr;
    return std::make_unique<Replayed>(*this, std::move(kernels));
  }
  [[nodiscard]] std::optional<KernelTime> kernel_time(const std::function<void()>& calls) override {
    if (!has_records) return std::nullopt;
    const double before = kernel_time_;
    const int kernels_before = kernels_;
    calls();
    const Seconds empty{(kernels_ - kernels_before) * record_cost};
    return KernelTime{.whole = Seconds{(kernel_time_ - before) * record_error} + empty, .empty = empty};
  }
  [[nodiscard]] KernelRecords kernels(const std::function<void()>& calls,
                                      std::span<const KernelMetric> metrics) override {
    ++kernel_requests;
    if (!has_records) return {.missing = "no records"};
    const double before = kernel_time_;
    const int kernels_before = kernels_;
    calls();
    const int count = kernels_ - kernels_before;
    KernelRecords result{.missing = counters_missing};
    for (int i = 0; i < count; ++i) {
      auto& kernel = result.launches.emplace_back();
      kernel.name = "fake";
      kernel.time = Seconds{(kernel_time_ - before) / count};
      if (counters_missing.empty() && std::find(metrics.begin(), metrics.end(), KernelMetric::dram) != metrics.end())
        kernel.dram_read = kernel.dram_written = Bytes{256};
    }
    return result;
  }
  [[nodiscard]] Seconds probe() override { return {10e-6}; }
  [[nodiscard]] DeviceCeilings ceilings(const CeilingRequest&) override { return peaks; }

 private:
  class Replayed final : public Recording {
   public:
    Replayed(FakeDevice& device, std::vector<double> recorded) : device_(device), recorded_(std::move(recorded)) {}
    [[nodiscard]] std::int64_t kernels() const override { return static_cast<std::int64_t>(recorded_.size()); }
    void replay() override {
      for (const double seconds : recorded_) device_.stream_time_ += graph_launch_cost + seconds;
    }

   private:
    FakeDevice& device_;
    std::vector<double> recorded_;
  };

  void rescue() {
    ++rescues;
    rescued_ = true;
    blocked_ = false;
  }

  Machine machine_{};
  double stream_time_ = 0, kernel_time_ = 0, start_ = 0, stop_ = 0;
  int kernels_ = 0;
  std::int64_t queued_ = 0;
  bool blocked_ = false, rescued_ = false, empty_is_loaded_ = false;
  std::vector<double>* recording_ = nullptr;
  std::vector<std::unique_ptr<std::byte[]>> allocations_{};
};

/// What one plan on the device does: it computes y = relu(x) of a flat f32 tensor.
struct FakeDevicePlan {
  std::string name{};
  double seconds = 10e-6;
  int kernels = 1;
  bool waits_inside = false;
  bool refuses_recording = false;
  bool loses_device = false;
  double clock_hz = 1.5e9;  ///< to which the device falls during the call
  bool fails = false;       ///< the call throws, like that of a library that saw an error of the device
  bool reversed = false;    ///< x and y are stored last element first
  bool tells_positions = true;
};

/// What the plans of a backend have done so far outside of their calls.
struct Relayouts {
  int packed = 0, unpacked = 0;
};

class FakeDeviceBackend final : public Backend {
 public:
  FakeDeviceBackend(std::shared_ptr<FakeDevice> device, std::vector<FakeDevicePlan> plans, std::string name = "fake")
      : device_(std::move(device)), plans_(std::move(plans)), name_(std::move(name)) {}

  [[nodiscard]] const Relayouts& relayouts() const { return *relayouts_; }

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] bool on_device() const override { return true; }
  [[nodiscard]] std::shared_ptr<Device> device() const override { return device_; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int) const override {
    if (!std::holds_alternative<op::Unary>(layer)) return Unsupported{"no " + std::string(kind(layer)) + " here"};
    Plans result;
    for (const auto& plan : plans_)
      result.push_back(std::make_unique<Relu>(*device_, *relayouts_, plan, operands(layer)));
    return result;
  }

 private:
  class Relu final : public Plan {
   public:
    Relu(FakeDevice& device, Relayouts& relayouts, FakeDevicePlan what, const Operands& operands)
        : Plan({.algorithm = what.name + ",threads=1",
                .inputs = layouts(operands.inputs, what.reversed),
                .outputs = layouts(operands.outputs, what.reversed)}),
          device_(device),
          relayouts_(relayouts),
          what_(std::move(what)) {}

   private:
    static std::vector<Layout> layouts(const std::vector<Operand>& operands, bool reversed) {
      std::vector<Layout> result = plain_layouts(operands);
      if (reversed)
        for (auto& layout : result) layout.name = "reversed";
      return result;
    }
    void relay(int& count, const void* from, void* to) const {
      ++count;
      const auto* x = static_cast<const float*>(from);
      auto* y = static_cast<float*>(to);
      if (what_.reversed) std::reverse_copy(x, x + elements(), y);
      else std::copy(x, x + elements(), y);
    }
    [[nodiscard]] std::int64_t elements() const {
      return static_cast<std::int64_t>(outputs()[0].bytes / sizeof(float));
    }
    void do_pack_input(std::size_t, const void* plain, void* packed) const override {
      relay(relayouts_.packed, plain, packed);
    }
    void do_unpack_output(std::size_t, const void* packed, void* plain) const override {
      relay(relayouts_.unpacked, packed, plain);
    }
    [[nodiscard]] std::optional<std::int64_t> do_output_position(std::size_t, std::int64_t index) const override {
      if (!what_.tells_positions) return std::nullopt;
      return what_.reversed ? elements() - 1 - index : index;
    }
    void do_execute(const Arguments& arguments) const override {
      if (what_.loses_device) device_.lost = true;
      if (what_.fails) throw std::runtime_error("an internal error");
      if (what_.waits_inside) device_.finish();
      if (what_.refuses_recording && device_.is_recording()) throw std::runtime_error("not while a stream is recorded");
      device_.clock = what_.clock_hz;
      for (int k = 0; k < what_.kernels; ++k) device_.run(what_.seconds / what_.kernels);
      const auto* x = static_cast<const float*>(arguments.inputs[0]);
      auto* y = static_cast<float*>(arguments.outputs[0]);
      for (std::size_t i = 0; i < outputs()[0].bytes / sizeof(float); ++i) y[i] = x[i] > 0 ? x[i] : 0.0F;
    }
    FakeDevice& device_;
    Relayouts& relayouts_;
    FakeDevicePlan what_;
  };

  std::shared_ptr<FakeDevice> device_;
  std::vector<FakeDevicePlan> plans_;
  std::string name_;
  std::unique_ptr<Relayouts> relayouts_ = std::make_unique<Relayouts>();
};

}  // namespace benanza::test
