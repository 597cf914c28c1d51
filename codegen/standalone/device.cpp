// The NVIDIA GPU: memory, how a call is timed, and what the results say of the device.
#include "device.hpp"

#include <benchmark/benchmark.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

void failed(const char* call, const std::string& reason) {
  throw Skipped(std::string(call).substr(0, std::string_view(call).find('(')) + " failed: " + reason);
}

cudaStream_t stream() {
  static const cudaStream_t made = [] {
    cudaStream_t result = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&result, cudaStreamNonBlocking));
    return result;
  }();
  return made;
}

namespace {

const cudaDeviceProp& properties() {
  static const cudaDeviceProp found = [] {
    cudaDeviceProp result{};
    CHECK_CUDA(cudaGetDeviceProperties(&result, 0));
    return result;
  }();
  return found;
}

/// What the results say of the device: `benanza analyze` tells devices apart by it.
void describe_machine() {
  using benchmark::AddCustomContext;
  const cudaDeviceProp& device = properties();
  const auto version = [](int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  };
  AddCustomContext("machine/device", device.name);
  AddCustomContext("machine/isa", "sm_" + std::to_string(device.major) + std::to_string(device.minor) +
                                      ",sms=" + std::to_string(device.multiProcessorCount));
  AddCustomContext("machine/cores", "1");
  std::string uuid = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(device.uuid.bytes[i]));
    uuid += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  AddCustomContext("machine/affinity", uuid);
  AddCustomContext("machine/L2_bytes", std::to_string(device.l2CacheSize));
  AddCustomContext("machine/memory_bytes", std::to_string(device.totalGlobalMem));
  AddCustomContext("machine/system", "device 0, CUDA runtime " + version(CUDART_VERSION));
  int driver = 0;
  CHECK_CUDA(cudaDriverGetVersion(&driver));
  std::string module;
  std::ifstream("/sys/module/nvidia/version") >> module;
  const char* const tf32 = std::getenv("NVIDIA_TF32_OVERRIDE");
  AddCustomContext("machine/driver", (module.empty() ? "unknown" : module) + ",cuda=" + version(driver) +
                                         (tf32 == nullptr ? "" : std::string(",tf32_override=") + tf32));
}

template <class T>
std::vector<char> elements(std::int64_t count, bool positive) {
  constexpr float most = std::is_integral_v<T> ? 100 : 1;
  std::vector<char> bytes(static_cast<std::size_t>(count) * sizeof(T));
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    const float number = numbers.next();
    const T value = static_cast<T>(positive ? 1 + number / 2 : most * number);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

}  // namespace

std::vector<char> elements(cudaDataType_t type, std::int64_t count, bool positive) {
  switch (type) {
    case CUDA_R_64F: return elements<double>(count, positive);
    case CUDA_R_16F: return elements<__half>(count, positive);
    case CUDA_R_16BF: return elements<__nv_bfloat16>(count, positive);
    case CUDA_R_8F_E4M3: return elements<__nv_fp8_e4m3>(count, positive);
    case CUDA_R_8F_E5M2: return elements<__nv_fp8_e5m2>(count, positive);
    case CUDA_R_8I: return elements<std::int8_t>(count, positive);
    case CUDA_R_32I: return elements<std::int32_t>(count, positive);
    default: return elements<float>(count, positive);
  }
}

Memory::Memory(std::size_t bytes) {
  void* made = nullptr;
  CHECK_CUDA(cudaMalloc(&made, std::max<std::size_t>(bytes, 256)));
  data_.reset(static_cast<char*>(made), [](char* data) { static_cast<void>(cudaFree(data)); });
}

std::size_t Buffers::add(std::vector<char> contents, bool weights) {
  const std::size_t stride = (std::max<std::size_t>(contents.size(), 1) + 255) / 256 * 256;
  operands_.push_back({stride, is_cold(cache_, weights), std::move(contents), nullptr});
  return operands_.size() - 1;
}

void Buffers::spread() {
  std::size_t cold = 0;
  for (const auto& operand : operands_) cold += operand.cold ? operand.stride : 0;
  copies_ = copies_beyond(properties().l2CacheSize, cold);
  for (auto& operand : operands_) {
    const std::size_t copies = operand.cold ? copies_ : 1;
    operand.memory = std::make_shared<Memory>(operand.stride * copies);
    char* const data = operand.memory->get();
    const std::size_t bytes = operand.contents.size();
    if (bytes > 0) CHECK_CUDA(cudaMemcpy(data, operand.contents.data(), bytes, cudaMemcpyHostToDevice));
    for (std::size_t copy = 1; copy < copies && bytes > 0; ++copy)
      CHECK_CUDA(cudaMemcpyAsync(data + copy * operand.stride, data, bytes, cudaMemcpyDeviceToDevice, stream()));
    operand.contents = {};
  }
  CHECK_CUDA(cudaStreamSynchronize(stream()));
}

namespace {

/// Holds the stream back: what is queued behind it starts when it is released, so that no time between two events is
/// the host's. A function of the host waits in the stream; how long it takes to end is not timed, since the first event
/// is behind it. It gives up after half a second, for a call that waits for the device would never return.
class Hold {
 public:
  Hold() { CHECK_CUDA(cudaLaunchHostFunc(stream(), wait, &state_)); }
  ~Hold() {
    release();
    static_cast<void>(cudaStreamSynchronize(stream()));
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  void release() { state_.go = true; }
  bool gave_up() const { return state_.gave_up; }

 private:
  struct State {
    std::atomic<bool> go{false}, gave_up{false};
  };
  static void CUDART_CB wait(void* data) {
    auto& state = *static_cast<State*>(data);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (!state.go)
      if (std::chrono::steady_clock::now() > end) {
        state.gave_up = true;
        return;
      }
  }
  State state_{};
};

/// Seconds on the device of what `enqueue` puts into the stream.
template <class Enqueue>
double seconds_of(const Enqueue& enqueue) {
  struct Events {
    cudaEvent_t begin = nullptr, end = nullptr;
    Events() {
      CHECK_CUDA(cudaEventCreate(&begin));
      CHECK_CUDA(cudaEventCreate(&end));
    }
  };
  static const Events events;
  {
    Hold hold;
    CHECK_CUDA(cudaEventRecord(events.begin, stream()));
    enqueue();
    CHECK_CUDA(cudaEventRecord(events.end, stream()));
    hold.release();
    CHECK_CUDA(cudaStreamSynchronize(stream()));
    if (hold.gave_up()) throw Skipped("the call waits for the device, so that its time cannot be told from the host's");
  }
  float milliseconds = 0;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, events.begin, events.end));
  return static_cast<double>(milliseconds) / 1e3;
}

/// Calls recorded as a CUDA graph.
class Recording {
 public:
  /// Null where the library does something that cannot be recorded.
  static std::shared_ptr<Recording> of(const Ready& ready, std::size_t calls) {
    auto result = std::make_shared<Recording>();
    CHECK_CUDA(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
    bool good = true;
    try {
      for (std::size_t i = 0; i < calls; ++i) ready.call(i % ready.copies);
    } catch (const Skipped&) {
      good = false;
    }
    cudaGraph_t graph = nullptr;
    good = cudaStreamEndCapture(stream(), &graph) == cudaSuccess && good && graph != nullptr;
    good = good && cudaGraphInstantiate(&result->executable_, graph, 0) == cudaSuccess &&
           cudaGraphUpload(result->executable_, stream()) == cudaSuccess;
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
    return good ? result : nullptr;
  }
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
  }
  void replay() const { CHECK_CUDA(cudaGraphLaunch(executable_, stream())); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

/// How a row that is ready is timed: by replays of a graph of some calls, or by calls between two events.
struct Timed {
  std::size_t calls = 1;
  std::shared_ptr<Recording> graph{};
};

std::shared_ptr<Timed> make_timed(const Ready& ready) {
  constexpr double sample = 500e-6;  // seconds: an event tells about a microsecond
  constexpr std::size_t most_recorded = 2000, most_queued = 50;
  const auto one = [&] { ready.call(0); };
  one();  // what a library loads at its first call
  CHECK_CUDA(cudaStreamSynchronize(stream()));
  // The clocks need a while to rise.
  static bool cold_start = true;
  const auto begin = std::chrono::steady_clock::now();
  const auto rise = std::chrono::milliseconds(cold_start ? 1000 : 50);
  cold_start = false;
  while (std::chrono::steady_clock::now() - begin < rise) {
    one();
    CHECK_CUDA(cudaStreamSynchronize(stream()));
  }
  const double seconds = std::max(1e-7, seconds_of(one));
  auto result = std::make_shared<Timed>();
  result->calls = static_cast<std::size_t>(std::clamp(std::ceil(sample / seconds), 10.0, 500.0));
  if (ready.copies > 1) result->calls = ready.copies;  // a whole walk: each copy is cold again when its turn comes
  if (result->calls <= most_recorded) result->graph = Recording::of(ready, result->calls);
  if (result->graph == nullptr) result->calls = std::min(result->calls, most_queued);
  return result;
}

}  // namespace

/// Time on the device by events, as manual time.
void run_timed(benchmark::State& state, const Ready& ready) {
  if (ready.timed == nullptr) ready.timed = make_timed(ready);
  const auto timed = std::static_pointer_cast<Timed>(ready.timed);
  std::size_t copy = 0;
  const auto enqueue = [&] {
    if (timed->graph) return timed->graph->replay();
    for (std::size_t i = 0; i < timed->calls; ++i) {
      ready.call(copy);
      if (++copy == ready.copies) copy = 0;
    }
  };
  for (auto _ : state) state.SetIterationTime(seconds_of(enqueue) / static_cast<double>(timed->calls));
  state.SetLabel((timed->graph ? "graph of " : "events around ") + std::to_string(timed->calls) + " calls");
}

/// Where there is no device it says so in one line and returns 1.
int run_suite(int argc, char** argv, const std::function<void()>& add_all) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--help") return run_all(argc, argv, [] {});
  try {
    CHECK_CUDA(cudaSetDevice(0));
    describe_machine();
    return run_all(argc, argv, add_all);
  } catch (const Skipped& error) {
    std::fprintf(stderr, "no device: %s\n", error.what());
    return 1;
  }
}
