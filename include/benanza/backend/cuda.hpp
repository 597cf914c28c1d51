// SPDX-License-Identifier: Apache-2.0
// cuda: NVIDIA GPUs of compute capability 7.5 or newer: the device that cudnn and cublas run on as well, and Benanza's
// own kernels for layers that no library offers: element-wise chains with broadcasting in one pass, movement of
// elements, gathers and scatters, resizing, padding, normalisations over rows. Compiled for the architectures that the
// toolkit knows, with PTX for the next ones.
#pragma once

#include <benanza/plan/backend.hpp>

#include <memory>
#include <mutex>
#include <variant>

namespace benanza::cuda {

/// Benanza's own kernels, on `device()`.
[[nodiscard]] std::shared_ptr<const Backend> backend();

/// Nothing when there is a device that can be measured here, otherwise why not: no driver, a driver too old, no device,
/// one that is too old, busy or out of memory.
[[nodiscard]] std::variant<std::monostate, Unsupported> availability();

/// The first device that CUDA_VISIBLE_DEVICES leaves. It belongs to those who hold it: every call returns the same one
/// as long as somebody does. Throws EnvironmentError where `availability` has a reason.
[[nodiscard]] std::shared_ptr<Device> device();

/// A backend's part in `device()`, from its first use until the backend is destroyed. To be declared before what gives
/// things back to the device.
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
