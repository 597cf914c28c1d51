// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"
#include <benanza/backend/cuda.hpp>

namespace benanza::cuda {

namespace {

class CudaBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  /// Increased with every change of a kernel that may affect a time; kernels also change with their compiler.
  [[nodiscard]] std::string version() const override {
    return "5,nvcc=" + std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
  }
  [[nodiscard]] std::variant<std::monostate, Unsupported> availability() const override { return cuda::availability(); }
  [[nodiscard]] bool on_device() const override { return true; }
  [[nodiscard]] std::shared_ptr<Device> device() const override { return device_.get(); }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int) const override {
    if (auto state = availability(); auto* why = std::get_if<Unsupported>(&state)) return *why;
    const Context context{.device = device_.get()};
    return std::visit([&](const auto& op) { return cuda::plans(op, context); }, layer);
  }

 private:
  DeviceShare device_{};
};

}  // namespace

std::shared_ptr<const Backend> backend() { return std::make_shared<const CudaBackend>(); }

}  // namespace benanza::cuda
