// SPDX-License-Identifier: Apache-2.0
// The library comes with the driver, but its header comes with neither the driver nor the wheels. The few functions
// needed are declared here according to the NVML API Reference.
#include "nvml.hpp"

#include "plan/shared_library.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>

namespace benanza::cuda {

namespace {

using Device = struct OpaqueDevice*;
constexpr int success = 0, insufficient_size = 7;

class Nvml {
 public:
  /// Null if the driver has no NVML.
  static const Nvml* get() {
    static const std::unique_ptr<const Nvml> nvml = load();
    return nvml.get();
  }

  [[nodiscard]] std::string driver() const {
    std::array<char, 96> text{};
    auto* const version = library_->function<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
    return version != nullptr && version(text.data(), text.size()) == success ? text.data() : "";
  }
  [[nodiscard]] Device device(const std::string& uuid) const {
    Device found = nullptr;
    auto* const by_uuid = library_->function<int(const char*, Device*)>("nvmlDeviceGetHandleByUUID");
    return by_uuid != nullptr && by_uuid(uuid.c_str(), &found) == success ? found : nullptr;
  }
  /// Adds one number if the device reports it.
  template <class Number = unsigned, class... Arguments>
  void add(std::map<std::string, std::string>& state, const char* key, Device device, const char* function,
           Arguments... arguments) const {
    Number value = 0;
    auto* const ask = library_->function<int(Device, Arguments..., Number*)>(function);
    if (ask != nullptr && ask(device, arguments..., &value) == success) state[key] = std::to_string(value);
  }
  /// Adds the current value of a setting that also has a value after a restart.
  void add_setting(std::map<std::string, std::string>& state, const char* key, Device device,
                   const char* function) const {
    unsigned now = 0, later = 0;
    auto* const ask = library_->function<int(Device, unsigned*, unsigned*)>(function);
    if (ask != nullptr && ask(device, &now, &later) == success) state[key] = now != 0 ? "on" : "off";
  }
  void add_processes(std::map<std::string, std::string>& state, Device device) const {
    unsigned count = 0;
    auto* const ask = library_->function<int(Device, unsigned*, void*)>("nvmlDeviceGetComputeRunningProcesses_v3");
    if (ask == nullptr) return;
    const int status = ask(device, &count, nullptr);
    if (status == success || status == insufficient_size) state["processes"] = std::to_string(count);
  }

 private:
  static std::unique_ptr<const Nvml> load() {
    auto opened = SharedLibrary::open({"libnvidia-ml.so.1"});
    auto* library = std::get_if<std::unique_ptr<SharedLibrary>>(&opened);
    if (library == nullptr) return nullptr;
    auto* const initialize = (*library)->function<int()>("nvmlInit_v2");
    if (initialize == nullptr || initialize() != success) return nullptr;
    auto nvml = std::make_unique<Nvml>();
    nvml->library_ = std::move(*library);
    return nvml;
  }

  std::unique_ptr<SharedLibrary> library_{};
};

}  // namespace

std::string driver_version() {
  const Nvml* nvml = Nvml::get();
  return nvml == nullptr ? "" : nvml->driver();
}

std::map<std::string, std::string> nvml_state(const std::string& uuid) {
  std::map<std::string, std::string> state;
  const Nvml* nvml = Nvml::get();
  Device device = nvml == nullptr ? nullptr : nvml->device(uuid);
  constexpr std::string_view whole = "GPU-";  // a part of a device (MIG) has its own name
  if (nvml != nullptr && device == nullptr && uuid.starts_with(whole))
    device = nvml->device("MIG-" + uuid.substr(whole.size()));
  if (device == nullptr) return state;
  constexpr int sm = 1, memory = 2;  // nvmlClockType_t
  constexpr int chip = 0;            // nvmlTemperatureSensors_t
  nvml->add(state, "sm_clock_mhz", device, "nvmlDeviceGetClockInfo", sm);
  nvml->add(state, "memory_clock_mhz", device, "nvmlDeviceGetClockInfo", memory);
  nvml->add(state, "sm_clock_max_mhz", device, "nvmlDeviceGetMaxClockInfo", sm);
  nvml->add(state, "power_mw", device, "nvmlDeviceGetPowerUsage");
  nvml->add(state, "power_limit_mw", device, "nvmlDeviceGetEnforcedPowerLimit");
  nvml->add(state, "temperature_c", device, "nvmlDeviceGetTemperature", chip);
  nvml->add<unsigned long long>(state, "throttle_reasons", device, "nvmlDeviceGetCurrentClocksThrottleReasons");
  nvml->add_setting(state, "ecc", device, "nvmlDeviceGetEccMode");
  nvml->add_setting(state, "mig", device, "nvmlDeviceGetMigMode");
  nvml->add_processes(state, device);
  return state;
}

}  // namespace benanza::cuda
