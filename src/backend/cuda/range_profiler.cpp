// SPDX-License-Identifier: Apache-2.0
#include "range_profiler.hpp"

#include "counter_host.hpp"

#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <memory>
#include <type_traits>

namespace benanza::cuda {

namespace {

struct ProfilerCalls {
  decltype(&::cuptiProfilerInitialize) initialize = nullptr;
  decltype(&::cuptiDeviceGetChipName) chip_name = nullptr;
  decltype(&::cuptiProfilerGetCounterAvailability) availability = nullptr;
  decltype(&::cuptiRangeProfilerEnable) enable = nullptr;
  decltype(&::cuptiRangeProfilerDisable) disable = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataSize) image_size = nullptr;
  decltype(&::cuptiRangeProfilerCounterDataImageInitialize) initialize_image = nullptr;
  decltype(&::cuptiRangeProfilerSetConfig) configure = nullptr;
  decltype(&::cuptiRangeProfilerStart) start = nullptr;
  decltype(&::cuptiRangeProfilerStop) stop = nullptr;
  decltype(&::cuptiRangeProfilerDecodeData) decode = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataInfo) information = nullptr;
};

/// Ends a count early, with the reason. Never thrown out of this file.
struct CannotCount {
  std::string reason{};
};

void check_cupti(CUptiResult result, const char* call) {
  if (result != CUPTI_SUCCESS) throw CannotCount{failure_of(call, result)};
}

template <class Value>
Value value_or_throw(std::variant<Value, Unsupported> result) {
  if (const auto* why = std::get_if<Unsupported>(&result)) throw CannotCount{why->reason};
  return std::move(std::get<Value>(result));
}

const ProfilerCalls& profiler_calls() {
  const auto* library = std::get_if<std::unique_ptr<SharedLibrary>>(&cupti());
  if (library == nullptr) throw CannotCount{std::get<std::string>(cupti())};
  static const auto find = [](const SharedLibrary& from, auto& call, const char* name) {
    call = from.function<std::remove_pointer_t<std::remove_reference_t<decltype(call)>>>(name);
    if (call == nullptr) throw CannotCount{std::string("this CUPTI has no ") + name + " (CUDA 12.6 has)"};
  };
  static ProfilerCalls calls;
  find(**library, calls.initialize, "cuptiProfilerInitialize");
  find(**library, calls.chip_name, "cuptiDeviceGetChipName");
  find(**library, calls.availability, "cuptiProfilerGetCounterAvailability");
  find(**library, calls.enable, "cuptiRangeProfilerEnable");
  find(**library, calls.disable, "cuptiRangeProfilerDisable");
  find(**library, calls.image_size, "cuptiRangeProfilerGetCounterDataSize");
  find(**library, calls.initialize_image, "cuptiRangeProfilerCounterDataImageInitialize");
  find(**library, calls.configure, "cuptiRangeProfilerSetConfig");
  find(**library, calls.start, "cuptiRangeProfilerStart");
  find(**library, calls.stop, "cuptiRangeProfilerStop");
  find(**library, calls.decode, "cuptiRangeProfilerDecodeData");
  find(**library, calls.information, "cuptiRangeProfilerGetCounterDataInfo");
  return calls;
}

/// The context of the calling thread. The runtime has no function for it, and the driver's library is not linked.
CUcontext current_context() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  constexpr unsigned int since = 4000;
  CUcontext context = nullptr;
  if (cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, since, cudaEnableDefault, &found) == cudaSuccess &&
      function != nullptr)
    static_cast<void>(reinterpret_cast<decltype(&::cuCtxGetCurrent)>(function)(&context));
  if (context == nullptr) throw CannotCount{"there is no current CUDA context"};
  return context;
}

std::string chip_of_current_device(const ProfilerCalls& calls) {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) throw CannotCount{"there is no current CUDA device"};
  CUpti_Device_GetChipName_Params params{};
  params.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
  params.deviceIndex = static_cast<std::size_t>(device);
  check_cupti(calls.chip_name(&params), "cuptiDeviceGetChipName");
  return params.pChipName;
}

std::vector<std::uint8_t> availability_of(const ProfilerCalls& calls, CUcontext context) {
  CUpti_Profiler_GetCounterAvailability_Params params{};
  params.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
  params.ctx = context;
  check_cupti(calls.availability(&params), "cuptiProfilerGetCounterAvailability");
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check_cupti(calls.availability(&params), "cuptiProfilerGetCounterAvailability");
  return image;
}

/// The profiler of a context, enabled for the lifetime of this object.
class RangeProfiler {
 public:
  RangeProfiler(const ProfilerCalls& calls, CUcontext context) : calls_(calls) {
    CUpti_RangeProfiler_Enable_Params params{};
    params.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
    params.ctx = context;
    check_cupti(calls_.enable(&params), "cuptiRangeProfilerEnable");
    object_ = params.pRangeProfilerObject;
  }
  ~RangeProfiler() {
    CUpti_RangeProfiler_Disable_Params params{};
    params.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    static_cast<void>(calls_.disable(&params));
  }
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// An image for the counters of this many kernels.
  [[nodiscard]] std::vector<std::uint8_t> image(std::span<const Counter> counters, std::size_t kernels) const {
    std::vector<const char*> names = names_of(counters);
    CUpti_RangeProfiler_GetCounterDataSize_Params size{};
    size.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
    size.pRangeProfilerObject = object_;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = kernels;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(kernels);
    check_cupti(calls_.image_size(&size), "cuptiRangeProfilerGetCounterDataSize");
    std::vector<std::uint8_t> bytes(size.counterDataSize);
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params initialize{};
    initialize.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
    initialize.pRangeProfilerObject = object_;
    initialize.counterDataSize = bytes.size();
    initialize.pCounterData = bytes.data();
    check_cupti(calls_.initialize_image(&initialize), "cuptiRangeProfilerCounterDataImageInitialize");
    return bytes;
  }

  /// Each kernel is a range, and CUPTI replays it.
  void configure(std::span<const std::uint8_t> configuration, std::span<std::uint8_t> image, std::size_t kernels) {
    CUpti_RangeProfiler_SetConfig_Params params{};
    params.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = object_;
    params.configSize = configuration.size();
    params.pConfig = configuration.data();
    params.counterDataImageSize = image.size();
    params.pCounterDataImage = image.data();
    params.range = CUPTI_AutoRange;
    params.replayMode = CUPTI_KernelReplay;
    params.maxRangesPerPass = kernels;
    params.numNestingLevels = 1;
    params.minNestingLevel = 1;
    check_cupti(calls_.configure(&params), "cuptiRangeProfilerSetConfig");
  }

  void run(const std::function<void()>& calls) {
    CUpti_RangeProfiler_Start_Params start{};
    start.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE;
    start.pRangeProfilerObject = object_;
    check_cupti(calls_.start(&start), "cuptiRangeProfilerStart");
    CUpti_RangeProfiler_Stop_Params stop{};
    stop.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
    stop.pRangeProfilerObject = object_;
    try {
      calls();
    } catch (...) {
      static_cast<void>(calls_.stop(&stop));
      throw;
    }
    check_cupti(calls_.stop(&stop), "cuptiRangeProfilerStop");
    CUpti_RangeProfiler_DecodeData_Params decode{};
    decode.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE;
    decode.pRangeProfilerObject = object_;
    check_cupti(calls_.decode(&decode), "cuptiRangeProfilerDecodeData");
    if (decode.numOfRangeDropped > 0) throw CannotCount{"CUPTI dropped counters of some kernels"};
  }

  [[nodiscard]] std::size_t kernels_in(std::span<const std::uint8_t> image) const {
    CUpti_RangeProfiler_GetCounterDataInfo_Params params{};
    params.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE;
    params.pCounterDataImage = image.data();
    params.counterDataImageSize = image.size();
    check_cupti(calls_.information(&params), "cuptiRangeProfilerGetCounterDataInfo");
    return params.numTotalRanges;
  }

 private:
  const ProfilerCalls& calls_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

CountedKernels count(const std::function<void()>& calls, std::size_t most_kernels,
                     std::span<const KernelMetric> wanted) {
  const ProfilerCalls& cupti_calls = profiler_calls();
  CUpti_Profiler_Initialize_Params initialize{};
  initialize.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
  check_cupti(cupti_calls.initialize(&initialize), "cuptiProfilerInitialize");
  CUcontext const context = current_context();
  const auto host =
      value_or_throw(CounterHost::open(chip_of_current_device(cupti_calls), availability_of(cupti_calls, context)));
  CountedKernels result;
  result.counters = counters_among(value_or_throw(host->offered()), wanted);
  if (result.counters.empty()) throw CannotCount{"this chip offers none of the counters"};
  const std::vector<std::uint8_t> configuration = value_or_throw(host->configuration(result.counters));
  RangeProfiler profiler(cupti_calls, context);
  std::vector<std::uint8_t> image = profiler.image(result.counters, most_kernels);
  profiler.configure(configuration, image, most_kernels);
  profiler.run(calls);
  const std::size_t kernels = profiler.kernels_in(image);
  for (std::size_t i = 0; i < kernels; ++i)
    result.values.push_back(value_or_throw(host->values(image, i, result.counters)));
  return result;
}

}  // namespace

std::variant<CountedKernels, Unsupported> count_kernels(const std::function<void()>& calls, std::size_t most_kernels,
                                                        std::span<const KernelMetric> wanted) {
  try {
    return count(calls, most_kernels, wanted);
  } catch (const CannotCount& why) {
    return Unsupported{why.reason};
  }
}

}  // namespace benanza::cuda
