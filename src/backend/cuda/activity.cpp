// SPDX-License-Identifier: Apache-2.0
#include "activity.hpp"

#include "cupti.hpp"
#include "kernel_record.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace benanza::cuda {

namespace {

#if CUDART_VERSION >= 13000
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using SetRecord = CUpti_ActivityMemset4;

constexpr std::array work_kinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                CUPTI_ACTIVITY_KIND_MEMSET};

struct ActivityCalls {
  decltype(&::cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&::cuptiActivityEnable) enable = nullptr;
  decltype(&::cuptiActivityDisable) disable = nullptr;
  decltype(&::cuptiActivityFlushAll) flush = nullptr;
  decltype(&::cuptiActivityGetNextRecord) next = nullptr;
};

/// CUPTI's callbacks carry no context, so there is a single sum per process.
struct Recorded {
  const ActivityCalls* calls = nullptr;
  Activities activities{};
  bool keeps_launches = false;
  std::vector<std::pair<std::uint64_t, KernelLaunch>> launches{};  ///< with their start times
} recorded;

struct Place {
  enum : std::size_t { kernels, copies, fills };
};

/// Adds a record of type `Record`.
template <class Record>
void add(std::size_t place, const CUpti_Activity* record) {
  const auto* work = reinterpret_cast<const Record*>(record);
  Activities::Kind& kind = recorded.activities.kinds[place];
  ++kind.records;
  kind.time += nanoseconds(static_cast<double>(work->end - work->start));
}

void add_launch(const CUpti_Activity* record) {
  const auto* kernel = reinterpret_cast<const KernelRecord*>(record);
  recorded.launches.emplace_back(kernel->start, launch_of(*kernel));
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
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        add<KernelRecord>(Place::kernels, record);
        if (recorded.keeps_launches) add_launch(record);
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY: add<CopyRecord>(Place::copies, record); break;
      case CUPTI_ACTIVITY_KIND_MEMSET: add<SetRecord>(Place::fills, record); break;
      default: break;
    }
  }
  std::free(buffer);
}

/// Null if CUPTI is missing; `why` then holds the reason.
const ActivityCalls* activity_calls(std::string& why) {
  const auto* library = std::get_if<std::unique_ptr<SharedLibrary>>(&cupti());
  if (library == nullptr) {
    why = std::get<std::string>(cupti());
    return nullptr;
  }
  static const std::unique_ptr<const ActivityCalls> calls = [library]() -> std::unique_ptr<const ActivityCalls> {
    auto result = std::make_unique<ActivityCalls>();
    const auto find = [&](auto& call, const char* name) {
      call = (*library)->function<std::remove_pointer_t<std::remove_reference_t<decltype(call)>>>(name);
      return call != nullptr;
    };
    const bool whole = find(result->register_callbacks, "cuptiActivityRegisterCallbacks") &&
                       find(result->enable, "cuptiActivityEnable") && find(result->disable, "cuptiActivityDisable") &&
                       find(result->flush, "cuptiActivityFlushAll") && find(result->next, "cuptiActivityGetNextRecord");
    if (!whole || result->register_callbacks(buffer_requested, buffer_completed) != CUPTI_SUCCESS) return nullptr;
    return result;
  }();
  if (!calls) why = "CUPTI's activity records cannot be asked for";
  return calls.get();
}

/// Fills `recorded`. Otherwise returns the reason why there are no records.
std::string record_work(const std::function<void()>& calls, bool keeps_launches) {
  std::string why;
  const ActivityCalls* activity = activity_calls(why);
  if (activity == nullptr) return why;
  const auto disable = [&] {
    for (const auto kind : work_kinds) static_cast<void>(activity->disable(kind));
  };
  for (const auto kind : work_kinds) {
    const CUptiResult result = activity->enable(kind);
    if (result == CUPTI_SUCCESS) continue;
    disable();
    return failure_of("cuptiActivityEnable", result);
  }
  recorded = {.calls = activity, .keeps_launches = keeps_launches};
  const auto stop = [&] {
    static_cast<void>(activity->flush(1));
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
    if (kind.time.value > 0) return {};
  return "CUPTI recorded nothing";
}

}  // namespace

std::optional<Activities> activities_of(const std::function<void()>& calls) {
  return record_work(calls, false).empty() ? std::optional(recorded.activities) : std::nullopt;
}

std::variant<std::vector<KernelLaunch>, Unsupported> launches_of(const std::function<void()>& calls) {
  if (std::string why = record_work(calls, true); !why.empty()) return Unsupported{std::move(why)};
  std::stable_sort(recorded.launches.begin(), recorded.launches.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<KernelLaunch> result;
  for (auto& [start, launch] : recorded.launches) result.push_back(std::move(launch));
  return result;
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
