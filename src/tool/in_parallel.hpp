// SPDX-License-Identifier: Apache-2.0
// Independent work on all processors, for use before anything is measured.
#pragma once

#include "plan/cpu_set.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <type_traits>
#include <vector>

namespace benanza::tool {

/// Calls `make(item)` for every item, and returns the results in order. Throws the exception of the first item that
/// failed.
template <class Item, class Make>
[[nodiscard]] auto each_in_parallel(const std::vector<Item>& items, const Make& make) {
  using Result = std::invoke_result_t<const Make&, const Item&>;
  std::vector<std::packaged_task<Result()>> tasks;
  for (const auto& item : items) tasks.emplace_back([&make, &item] { return make(item); });
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) tasks[i]();
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t most = tasks.size() > 1 ? usable_processors() : 1;
    for (std::size_t i = 1; i < std::min(tasks.size(), most); ++i) threads.emplace_back(work);
    work();
  }
  std::vector<Result> results;
  for (auto& task : tasks) results.push_back(task.get_future().get());
  return results;
}

}  // namespace benanza::tool
