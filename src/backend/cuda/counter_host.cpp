// SPDX-License-Identifier: Apache-2.0
#include "counter_host.hpp"

#include <type_traits>

namespace benanza::cuda {

struct CounterHost::Calls {
  decltype(&::cuptiProfilerHostInitialize) initialize = nullptr;
  decltype(&::cuptiProfilerHostDeinitialize) deinitialize = nullptr;
  decltype(&::cuptiProfilerHostGetBaseMetrics) base_metrics = nullptr;
  decltype(&::cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImageSize) image_size = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImage) image = nullptr;
  decltype(&::cuptiProfilerHostGetNumOfPasses) passes = nullptr;
  decltype(&::cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
};

const CounterHost::Calls* CounterHost::calls_of_cupti(std::string& why) {
  const auto* library = std::get_if<std::unique_ptr<SharedLibrary>>(&cupti());
  if (library == nullptr) {
    why = std::get<std::string>(cupti());
    return nullptr;
  }
  static const std::unique_ptr<const Calls> calls = [library]() -> std::unique_ptr<const Calls> {
    auto found = std::make_unique<Calls>();
    const auto find = [&](auto& call, const char* name) {
      call = (*library)->function<std::remove_pointer_t<std::remove_reference_t<decltype(call)>>>(name);
      return call != nullptr;
    };
    const bool whole = find(found->initialize, "cuptiProfilerHostInitialize") &&
                       find(found->deinitialize, "cuptiProfilerHostDeinitialize") &&
                       find(found->base_metrics, "cuptiProfilerHostGetBaseMetrics") &&
                       find(found->add_metrics, "cuptiProfilerHostConfigAddMetrics") &&
                       find(found->image_size, "cuptiProfilerHostGetConfigImageSize") &&
                       find(found->image, "cuptiProfilerHostGetConfigImage") &&
                       find(found->passes, "cuptiProfilerHostGetNumOfPasses") &&
                       find(found->evaluate, "cuptiProfilerHostEvaluateToGpuValues");
    if (!whole) return nullptr;
    return found;
  }();
  if (!calls) why = "this CUPTI is older than its Range Profiler API (CUDA 12.6)";
  return calls.get();
}

std::variant<std::unique_ptr<CounterHost>, Unsupported> CounterHost::open(std::string chip,
                                                                          std::vector<std::uint8_t> availability) {
  std::string why;
  const Calls* calls = calls_of_cupti(why);
  if (calls == nullptr) return Unsupported{why};
  std::unique_ptr<CounterHost> host(new CounterHost(*calls, std::move(chip), std::move(availability)));
  CUpti_Profiler_Host_Initialize_Params params{};
  params.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = host->chip_.c_str();
  params.pCounterAvailabilityImage = host->availability_.empty() ? nullptr : host->availability_.data();
  if (const CUptiResult result = calls->initialize(&params); result != CUPTI_SUCCESS)
    return Unsupported{host->chip_ + ": " + failure_of("cuptiProfilerHostInitialize", result)};
  host->object_ = params.pHostObject;
  return host;
}

CounterHost::~CounterHost() {
  if (object_ == nullptr) return;
  CUpti_Profiler_Host_Deinitialize_Params params{};
  params.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
  params.pHostObject = object_;
  static_cast<void>(calls_.deinitialize(&params));
}

std::variant<std::vector<std::string>, Unsupported> CounterHost::offered() const {
  CUpti_Profiler_Host_GetBaseMetrics_Params params{};
  params.structSize = CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE;
  params.pHostObject = object_;
  params.metricType = CUPTI_METRIC_TYPE_COUNTER;
  if (const CUptiResult result = calls_.base_metrics(&params); result != CUPTI_SUCCESS)
    return Unsupported{failure_of("cuptiProfilerHostGetBaseMetrics", result)};
  return std::vector<std::string>(params.ppMetricNames, params.ppMetricNames + params.numMetrics);
}

std::variant<std::vector<std::uint8_t>, Unsupported> CounterHost::configuration(
    std::span<const Counter> counters) const {
  std::vector<const char*> names = names_of(counters);
  CUpti_Profiler_Host_ConfigAddMetrics_Params metrics{};
  metrics.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
  metrics.pHostObject = object_;
  metrics.ppMetricNames = names.data();
  metrics.numMetrics = names.size();
  if (const CUptiResult result = calls_.add_metrics(&metrics); result != CUPTI_SUCCESS)
    return Unsupported{failure_of("cuptiProfilerHostConfigAddMetrics", result)};
  CUpti_Profiler_Host_GetConfigImageSize_Params size{};
  size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
  size.pHostObject = object_;
  if (const CUptiResult result = calls_.image_size(&size); result != CUPTI_SUCCESS)
    return Unsupported{failure_of("cuptiProfilerHostGetConfigImageSize", result)};
  std::vector<std::uint8_t> bytes(size.configImageSize);
  CUpti_Profiler_Host_GetConfigImage_Params image{};
  image.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
  image.pHostObject = object_;
  image.configImageSize = bytes.size();
  image.pConfigImage = bytes.data();
  if (const CUptiResult result = calls_.image(&image); result != CUPTI_SUCCESS)
    return Unsupported{failure_of("cuptiProfilerHostGetConfigImage", result)};
  return bytes;
}

std::variant<std::size_t, Unsupported> CounterHost::passes(std::span<std::uint8_t> configuration) const {
  CUpti_Profiler_Host_GetNumOfPasses_Params params{};
  params.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
  params.configImageSize = configuration.size();
  params.pConfigImage = configuration.data();
  if (const CUptiResult result = calls_.passes(&params); result != CUPTI_SUCCESS)
    return Unsupported{failure_of("cuptiProfilerHostGetNumOfPasses", result)};
  return params.numOfPasses;
}

std::variant<std::vector<double>, Unsupported> CounterHost::values(std::span<const std::uint8_t> image,
                                                                   std::size_t range,
                                                                   std::span<const Counter> counters) const {
  std::vector<const char*> names = names_of(counters);
  std::vector<double> result(names.size());
  CUpti_Profiler_Host_EvaluateToGpuValues_Params params{};
  params.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
  params.pHostObject = object_;
  params.pCounterDataImage = image.data();
  params.counterDataImageSize = image.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = result.data();
  if (const CUptiResult answer = calls_.evaluate(&params); answer != CUPTI_SUCCESS)
    return Unsupported{failure_of("cuptiProfilerHostEvaluateToGpuValues", answer)};
  return result;
}

std::vector<const char*> names_of(std::span<const Counter> counters) {
  std::vector<const char*> names;
  for (const auto& counter : counters) names.push_back(counter.metric.c_str());
  return names;
}

}  // namespace benanza::cuda
