// SPDX-License-Identifier: Apache-2.0
// cuda: NVIDIA GPUs of compute capability 7.5 or newer: the device, which cudnn and cublas use as well, and Benanza's
// own kernels for layers that no library offers: element-wise chains with broadcasting in one pass, movement of
// elements, gathers and scatters, resizing, padding, normalisations over rows. Compiled for the architectures that the
// toolkit knows, with PTX for later ones.
#pragma once

#include <benanza/plan/backend.hpp>

#include <memory>
#include <mutex>
#include <variant>

namespace benanza::cuda {

/// Benanza's own kernels, on `device()`.
[[nodiscard]] std::shared_ptr<const Backend> backend();

/// Empty if there is a device that can be measured here, otherwise the reason why not: no driver, a driver too old, no
/// device, or one that is too old, busy or out of memory.
[[nodiscard]] std::variant<std::monostate, Unsupported> availability();

/// The first device that CUDA_VISIBLE_DEVICES allows. Its holders share it: every call returns the same device as long
/// as somebody holds it. Throws EnvironmentError if `availability` has a reason.
[[nodiscard]] std::shared_ptr<Device> device();

/// A backend's share of `device()`, from its first use until the backend is destroyed. Declare it before anything that
/// returns resources to the device.
class DeviceShare {
 public:
  [[nodiscard]] std::shared_ptr<Device> get() const {
    const std::lock_guard lock(mutex_);
    if (!device_) device_ = device();
    return device_;
  }

 private:
  mutable std::mutex mutex_{};
  mutable std::shared_ptr<Device> device_{};
};

}  // namespace benanza::cuda
