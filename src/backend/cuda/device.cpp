// SPDX-License-Identifier: Apache-2.0
#include "activity.hpp"
#include "availability.hpp"
#include "check.hpp"
#include "device_kernels.hpp"
#include "device_peaks.hpp"
#include "kernels.hpp"
#include "nvml.hpp"
#include "range_profiler.hpp"
#include <benanza/backend/cuda.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace benanza::cuda {

namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

Machine describe(int device, const cudaDeviceProp& properties) {
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  const std::string version = driver_version();
  return {.device = properties.name,
          .isa = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor) +
                 ",sms=" + std::to_string(properties.multiProcessorCount),
          .cores = 1,
          .affinity = uuid_text(properties.uuid),
          .caches = {{2, {static_cast<double>(properties.l2CacheSize)}}},
          .memory = {static_cast<double>(properties.totalGlobalMem)},
          .system = "device " + std::to_string(device) + ", CUDA runtime " + version_text(CUDART_VERSION),
          .driver = (version.empty() ? "unknown" : version) + ",cuda=" + version_text(driver)};
}

class GraphRecording final : public Recording {
 public:
  /// Takes ownership of the graph. The constructor delegates so that the destructor also runs if this body throws.
  GraphRecording(cudaGraph_t graph, cudaStream_t stream) : GraphRecording(graph, stream, 0) {
    check(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
    std::size_t count = 0;
    check(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes");
    kernels_ = static_cast<std::int64_t>(count);
    check(cudaGraphUpload(executable_, stream_), "cudaGraphUpload");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }
  ~GraphRecording() override {
    if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
    static_cast<void>(cudaGraphDestroy(graph_));
  }
  GraphRecording(const GraphRecording&) = delete;
  GraphRecording& operator=(const GraphRecording&) = delete;

  [[nodiscard]] std::int64_t kernels() const override { return kernels_; }
  void replay() override { check(cudaGraphLaunch(executable_, stream_), "cudaGraphLaunch"); }

 private:
  GraphRecording(cudaGraph_t graph, cudaStream_t stream, std::int64_t kernels)
      : graph_(graph), stream_(stream), kernels_(kernels) {}

  cudaGraph_t graph_;
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
  std::int64_t kernels_;
};

class CudaDevice final : public Device {
 public:
  CudaDevice() {
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaGetDeviceProperties(&properties_, 0), "cudaGetDeviceProperties");
    check(cudaDeviceGetAttribute(&clock_khz_, cudaDevAttrClockRate, 0), "cudaDeviceGetAttribute");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    for (cudaEvent_t* event : {&start_, &stop_, &block_over_, &sampled_})
      check(cudaEventCreate(event), "cudaEventCreate");
    void* shared = nullptr;
    check(cudaHostAlloc(&shared, sizeof(BlockState), cudaHostAllocMapped), "cudaHostAlloc");
    block_ = new (shared) BlockState();
    void* cycles = nullptr;
    check(cudaMalloc(&cycles, sizeof(long long)), "cudaMalloc");
    cycles_ = static_cast<long long*>(cycles);
    machine_ = describe(0, properties_);
    // A kernel is loaded at its first launch, which may wait for all others: this must not happen behind a block.
    stop();
    finish();
  }
  /// If the device was lost, failures are ignored: its resources go with the process.
  ~CudaDevice() override {
    release(scratch_);
    release(cycles_);
    static_cast<void>(cudaFreeHost(block_));
    for (cudaEvent_t event : {start_, stop_, block_over_, sampled_}) static_cast<void>(cudaEventDestroy(event));
    static_cast<void>(cudaStreamDestroy(stream_));
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] const Machine& machine() const override { return machine_; }

  [[nodiscard]] std::map<std::string, std::string> state() const override {
    auto result = nvml_state(machine_.affinity);
    // Settings of the runtime, which change no kernel.
    for (const char* variable : {"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING"})
      if (const char* value = std::getenv(variable); value != nullptr) result[variable] = value;
    const char* pipe = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
    std::error_code none;
    result["mps"] = std::filesystem::exists(pipe != nullptr ? pipe : "/tmp/nvidia-mps", none) ? "on" : "off";
    result["clock_rate_khz"] = std::to_string(clock_khz_);
    return result;
  }

  [[nodiscard]] void* stream() const override { return stream_; }

  [[nodiscard]] void* allocate(std::size_t bytes) override {
    void* data = nullptr;
    check(cudaMalloc(&data, bytes == 0 ? 1 : bytes), "cudaMalloc");
    return data;
  }
  void release(void* data) noexcept override { static_cast<void>(cudaFree(data)); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync");
    finish();
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    finish();
  }
  void gather(void* to, const void* from, std::span<const std::int64_t> positions, std::size_t width) override {
    const std::size_t count = positions.size();
    std::byte* const indices = scratch(count * (sizeof(std::int64_t) + width));
    std::byte* const elements = indices + positions.size_bytes();
    upload(indices, positions.data(), positions.size_bytes());
    gather_rows(from, indices, true, elements, 1, 0, static_cast<std::int64_t>(count), width, stream_);
    check(cudaGetLastError(), "the launch of a gather");
    download(to, elements, count * width);
  }
  void set(void* to, unsigned char byte, std::size_t bytes) override {
    check(cudaMemsetAsync(to, byte, bytes, stream_), "cudaMemsetAsync");
    finish();
  }
  [[nodiscard]] Bytes available() const override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return {static_cast<double>(free)};
  }

  void finish() override {
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    check(cudaGetLastError(), "a kernel's launch");
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
  }
  void warm_up(Seconds time) override { cuda::warm_up(*this, context(), time); }

  void block(Seconds time_out) override {
    block_->go = 0;
    block_->timed_out = 0;
    block_->released.ns = 0;
    block_->done.ns = 0;
    __sync_synchronize();
    launch_block(block_, static_cast<unsigned long long>(time_out.value * 1e9), stream_);
    check(cudaGetLastError(), "the launch of the block");
    check(cudaEventRecord(block_over_, stream_), "cudaEventRecord");
  }
  [[nodiscard]] bool release_block() override {
    block_->go = 1;
    __sync_synchronize();
    check(cudaEventSynchronize(block_over_), "cudaEventSynchronize");
    return block_->timed_out == 0;
  }
  void start() override { check(cudaEventRecord(start_, stream_), "cudaEventRecord"); }
  void stop() override {
    check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    launch_clock(&block_->done, stream_);
    check(cudaGetLastError(), "the launch of the clock's sample");
    check(cudaEventRecord(sampled_, stream_), "cudaEventRecord");
  }
  [[nodiscard]] Seconds elapsed() override {
    check(cudaEventSynchronize(stop_), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
    return milliseconds(static_cast<double>(ms));
  }
  [[nodiscard]] double clock_hz() override {
    check(cudaEventSynchronize(sampled_), "cudaEventSynchronize");
    constexpr unsigned long long least_ns = 500'000;  // the timer has 1 us resolution, clocks differ by 2 %
    const ClockSample &from = block_->released, &to = block_->done;
    const bool tells = from.ns != 0 && to.ns >= from.ns + least_ns && from.processor == to.processor;
    return tells ? static_cast<double>(to.cycles - from.cycles) / static_cast<double>(to.ns - from.ns) * 1e9 : 0;
  }
  [[nodiscard]] double highest_clock_hz() const override { return clock_khz_ * 1e3; }
  void launch_empty(std::int64_t kernels) override {
    for (std::int64_t i = 0; i < kernels; ++i) cuda::launch_empty(stream_);
    check(cudaGetLastError(), "the launch of an empty kernel");
  }

  [[nodiscard]] std::unique_ptr<Recording> record(const std::function<void()>& calls) override {
    if (cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    bool whole = true;
    try {
      calls();
    } catch (const std::exception&) {  // what a library refuses during recording works without it
      whole = false;
    }
    cudaGraph_t graph = nullptr;
    whole = cudaStreamEndCapture(stream_, &graph) == cudaSuccess && whole && graph != nullptr;
    static_cast<void>(cudaGetLastError());
    if (!whole) {
      if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
      return nullptr;
    }
    try {
      return std::make_unique<GraphRecording>(graph, stream_);
    } catch (const DeviceLost&) {
      throw;
    } catch (const std::exception&) {  // for example no memory for it: events can still time the calls
      return nullptr;
    }
  }

  [[nodiscard]] std::optional<KernelTime> kernel_time(const std::function<void()>& calls) override {
    const auto finished = [this](auto&& enqueue) {
      return activities_of([&] {
        enqueue();
        finish();
      });
    };
    if (!empty_work_) empty_work_ = finished([this] { enqueue_empty_work(); });
    const auto activities = finished(calls);
    return activities && empty_work_ ? std::optional(kernel_time_of(*activities, *empty_work_)) : std::nullopt;
  }
  [[nodiscard]] KernelRecords kernels(const std::function<void()>& calls,
                                      std::span<const KernelMetric> metrics) override {
    const auto finished = [&] {
      calls();
      finish();
    };
    auto launches = launches_of(finished);
    if (const auto* why = std::get_if<Unsupported>(&launches)) return {.missing = why->reason};
    KernelRecords result{.launches = std::move(std::get<std::vector<KernelLaunch>>(launches))};
    const bool counts = std::any_of(metrics.begin(), metrics.end(),
                                    [](KernelMetric metric) { return metric != KernelMetric::kernels; });
    if (!counts || result.launches.empty()) return result;
    const auto counted = count_kernels(finished, result.launches.size(), metrics);
    if (const auto* why = std::get_if<Unsupported>(&counted)) result.missing = why->reason;
    else result.missing = add_counted(result.launches, std::get<CountedKernels>(counted));
    return result;
  }
  [[nodiscard]] Seconds probe() override {
    static_cast<void>(launch_peak(PeakKind::f32, 1, 256, cycles_, stream_));
    check(cudaGetLastError(), "the launch of the sentinel");
    return {static_cast<double>(context().read_cycles()) / context().clock_hz};
  }
  [[nodiscard]] DeviceCeilings ceilings(const CeilingRequest& request) override {
    return measure_peaks(*this, context(), request);
  }

 private:
  /// Device memory for the duration of one call.
  [[nodiscard]] std::byte* scratch(std::size_t bytes) {
    if (bytes > scratch_bytes_) {
      release(std::exchange(scratch_, nullptr));
      scratch_bytes_ = 0;
      scratch_ = allocate(bytes);
      scratch_bytes_ = bytes;
    }
    return static_cast<std::byte*>(scratch_);
  }
  /// Kernels, copies and fills that do almost nothing.
  void enqueue_empty_work() {
    constexpr int repeats = 100;
    constexpr std::size_t bytes = sizeof *cycles_ / 2;
    auto* const from = reinterpret_cast<std::byte*>(cycles_);
    launch_empty(repeats);
    for (int i = 0; i < repeats; ++i) {
      check(cudaMemcpyAsync(from + bytes, from, bytes, cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
      check(cudaMemsetAsync(from, 0, bytes, stream_), "cudaMemsetAsync");
    }
  }
  [[nodiscard]] PeakContext context() const {
    return {.processors = properties_.multiProcessorCount,
            .clock_hz = highest_clock_hz(),
            .l2_bytes = static_cast<std::size_t>(properties_.l2CacheSize),
            .cycles = cycles_,
            .stream = stream_};
  }

  cudaDeviceProp properties_{};
  int clock_khz_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr, block_over_ = nullptr, sampled_ = nullptr;
  BlockState* block_ = nullptr;
  long long* cycles_ = nullptr;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
  std::optional<Activities> empty_work_{};  ///< records of empty work
  Machine machine_{};
};

/// The reason why there is no device; empty if there is one.
std::optional<std::string> find_reason() {
  Answers answers;
  static_cast<void>(cudaDriverGetVersion(&answers.driver));
  if (answers.driver != 0) answers.counted = cudaGetDeviceCount(&answers.count);
  static_cast<void>(cudaGetLastError());
  cudaDeviceProp properties{};
  if (answers.driver != 0 && answers.counted == cudaSuccess && answers.count > 0) {
    if (const cudaError_t asked = cudaGetDeviceProperties(&properties, 0); asked != cudaSuccess)
      return std::string("device 0 does not answer: ") + text_of(asked);
    answers.device = properties.name;
    answers.capability = properties.major * 10 + properties.minor;
  }
  if (auto reason = reason_of(answers, CUDART_VERSION)) return reason;
  // The first call that needs a context: it fails if other processes have exclusive use of the device or all of its
  // memory.
  if (const cudaError_t used = cudaFree(nullptr); used != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return std::string(properties.name) + " cannot be used: " + text_of(used);
  }
  return std::nullopt;
}

}  // namespace

std::variant<std::monostate, Unsupported> availability() {
  static const std::optional<std::string> reason = find_reason();
  if (reason) return Unsupported{*reason};
  return {};
}

std::shared_ptr<Device> device() {
  if (const auto state = availability(); const auto* why = std::get_if<Unsupported>(&state))
    throw EnvironmentError(why->reason);
  static std::mutex mutex;
  static std::weak_ptr<Device> shared;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Device> device = shared.lock();
  if (!device) shared = device = std::make_shared<CudaDevice>();
  return device;
}

}  // namespace benanza::cuda
