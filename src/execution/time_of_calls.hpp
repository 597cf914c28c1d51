// SPDX-License-Identifier: Apache-2.0
// time_of_calls: the time of calls by the clock, or on a device between two events, without the time to enqueue them.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/plan/device.hpp>

#include <chrono>

namespace benanza::execution {

/// `device`: the device on whose stream they are enqueued; null if they run on the processor.
template <class Calls>
[[nodiscard]] Seconds time_of_calls(Device* device, const Calls& calls) {
  if (device != nullptr) {
    constexpr Seconds most{0.25};  // ends the block if the calls wait for the device
    device->block(most);
    try {
      device->start();
      calls();
      device->stop();
    } catch (...) {
      static_cast<void>(device->release_block());  // its time-out would end the next block
      throw;
    }
    static_cast<void>(device->release_block());
    return device->elapsed();
  }
  const auto before = std::chrono::steady_clock::now();
  calls();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count()};
}

}  // namespace benanza::execution
