// SPDX-License-Identifier: Apache-2.0
#include "activity.hpp"

#include <benanza/plan/shared_library.hpp>

#include <cuda_runtime_api.h>
#include <cupti.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>

namespace benanza::cuda {

namespace {

#if CUDART_VERSION >= 13000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel8;
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using SetRecord = CUpti_ActivityMemset4;

constexpr std::array work_kinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                CUPTI_ACTIVITY_KIND_MEMSET};

struct Calls {
  std::unique_ptr<SharedLibrary> library{};
  decltype(&::cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&::cuptiActivityEnable) enable = nullptr;
  decltype(&::cuptiActivityDisable) disable = nullptr;
  decltype(&::cuptiActivityFlushAll) flush = nullptr;
  decltype(&::cuptiActivityGetNextRecord) next = nullptr;
};

/// CUPTI's callbacks know of no context: there is one sum in a process.
struct Recorded {
  const Calls* calls = nullptr;
  Activities activities{};
} recorded;

struct Place {
  enum : std::size_t { kernels, copies, fills };
};

/// Adds a record that is one of `Record`.
template <class Record>
void add(std::size_t place, const CUpti_Activity* record) {
  const auto* work = reinterpret_cast<const Record*>(record);
  Activities::Kind& kind = recorded.activities.kinds[place];
  ++kind.records;
  kind.time += nanoseconds(static_cast<double>(work->end - work->start));
}

constexpr std::size_t buffer_bytes = std::size_t{1} << 20, buffer_alignment = 8;

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  *size = *buffer == nullptr ? 0 : buffer_bytes;
  *most_records = 0;
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (recorded.calls != nullptr && recorded.calls->next(buffer, valid, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: add<KernelRecord>(Place::kernels, record); break;
      case CUPTI_ACTIVITY_KIND_MEMCPY: add<CopyRecord>(Place::copies, record); break;
      case CUPTI_ACTIVITY_KIND_MEMSET: add<SetRecord>(Place::fills, record); break;
      default: break;
    }
  }
  std::free(buffer);
}

/// Null where CUPTI is not there.
const Calls* calls_of_cupti() {
  static const std::unique_ptr<const Calls> calls = []() -> std::unique_ptr<const Calls> {
    auto opened = SharedLibrary::open({"libcupti.so." + std::to_string(CUDART_VERSION / 1000)});
    auto* library = std::get_if<std::unique_ptr<SharedLibrary>>(&opened);
    if (library == nullptr) return nullptr;
    auto result = std::make_unique<Calls>();
    result->library = std::move(*library);
    const auto find = [&](auto& call, const char* name) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(result->library->symbol(name));
      return call != nullptr;
    };
    const bool whole = find(result->register_callbacks, "cuptiActivityRegisterCallbacks") &&
                       find(result->enable, "cuptiActivityEnable") && find(result->disable, "cuptiActivityDisable") &&
                       find(result->flush, "cuptiActivityFlushAll") && find(result->next, "cuptiActivityGetNextRecord");
    if (!whole || result->register_callbacks(buffer_requested, buffer_completed) != CUPTI_SUCCESS) return nullptr;
    return result;
  }();
  return calls.get();
}

}  // namespace

std::optional<Activities> activities_of(const std::function<void()>& calls) {
  const Calls* cupti = calls_of_cupti();
  if (cupti == nullptr) return std::nullopt;
  const auto disable = [&] {
    for (const auto kind : work_kinds) static_cast<void>(cupti->disable(kind));
  };
  for (const auto kind : work_kinds) {
    if (cupti->enable(kind) == CUPTI_SUCCESS) continue;
    disable();
    return std::nullopt;
  }
  recorded = {.calls = cupti};
  const auto stop = [&] {
    static_cast<void>(cupti->flush(1));
    disable();
    recorded.calls = nullptr;
  };
  try {
    calls();
  } catch (...) {
    stop();
    throw;
  }
  stop();
  for (const auto& kind : recorded.activities.kinds)
    if (kind.time.value > 0) return recorded.activities;
  return std::nullopt;
}

KernelTime kernel_time_of(const Activities& activities, const Activities& empty) {
  KernelTime result;
  for (std::size_t i = 0; i < activities.kinds.size(); ++i) {
    const auto &kind = activities.kinds[i], &none = empty.kinds[i];
    result.whole += kind.time;
    if (none.records > 0)
      result.empty += none.time * (static_cast<double>(kind.records) / static_cast<double>(none.records));
  }
  return result;
}

}  // namespace benanza::cuda
