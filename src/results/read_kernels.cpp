// SPDX-License-Identifier: Apache-2.0
#include "read_kernels.hpp"

#include "json_value.hpp"
#include <benanza/base/detail/limits.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace benanza::results {

namespace {

namespace ondemand = simdjson::ondemand;

/// Reads the values of one kernel, and remembers an error.
class KernelReader {
 public:
  explicit KernelReader(std::string& wrong) : wrong_(wrong) {}

  KernelLaunch read(ondemand::object object) {
    KernelLaunch kernel;
    bool has_registers = false;
    sizes_ = 0;
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      ondemand::value value = some_value(field.value());
      if (key == "name") kernel.name = std::string_view(value);
      else if (key == "grid") kernel.grid = size(key, value);
      else if (key == "block") kernel.block = size(key, value);
      else if (key == "registers") kernel.registers_per_thread = count(key, value), has_registers = true;
      else if (key == "static_shared_bytes") kernel.static_shared_bytes = count(key, value);
      else if (key == "dynamic_shared_bytes") kernel.dynamic_shared_bytes = count(key, value);
      else if (key == "time_ns") kernel.time = {amount(key, value) / 1e9};
      else if (key == "dram_read_bytes") kernel.dram_read = Bytes{amount(key, value)};
      else if (key == "dram_write_bytes") kernel.dram_written = Bytes{amount(key, value)};
      else if (key == "flops") kernel.flops = flops(value);
      else if (key == "occupancy") kernel.occupancy = amount(key, value);
    }
    if (kernel.name.empty()) wrong_ = "a kernel has no name";
    else if (sizes_ != 2) wrong_ = "kernel " + kernel.name + " has no grid or no block";
    else if (!has_registers) wrong_ = "kernel " + kernel.name + " has no registers";
    else if (!detail::is_possible(kernel.time))
      wrong_ = "kernel " + kernel.name + " has no time_ns from " + std::string(detail::time_range);
    else if (kernel.occupancy && *kernel.occupancy > 1) wrong_ = "kernel " + kernel.name + " has an occupancy over 1";
    return kernel;
  }

 private:
  /// A non-negative number; 0 and an error message for any other value.
  double amount(std::string_view key, ondemand::value& value) {
    double number = 0;
    if (value.get_double().get(number) == simdjson::SUCCESS && std::isfinite(number) && number >= 0) return number;
    wrong_ = std::string(key) + " of a kernel is not a number that is positive or 0";
    return 0;
  }

  std::int64_t count(std::string_view key, ondemand::value& value) {
    std::int64_t number = 0;
    if (value.get_int64().get(number) == simdjson::SUCCESS && number >= 0) return number;
    wrong_ = std::string(key) + " of a kernel is not a count";
    return 0;
  }

  LaunchSize size(std::string_view key, ondemand::value& value) {
    LaunchSize result;
    std::size_t read = 0;
    for (auto element : value.get_array()) {
      ondemand::value each = some_value(element);
      const std::int64_t number = count(key, each);
      if (read < 3) *std::array{&result.x, &result.y, &result.z}[read] = number;
      ++read;
    }
    const bool whole = read == 3 && result.x > 0 && result.y > 0 && result.z > 0;
    if (whole) ++sizes_;
    else wrong_ = std::string(key) + " of a kernel is not three counts";
    return result;
  }

  /// `{"f32": 2e9, "tensor f16": 4e9}`.
  std::vector<KernelFlops> flops(ondemand::value& value) {
    constexpr std::string_view tensor = "tensor ";
    std::vector<KernelFlops> result;
    for (auto field : value.get_object()) {
      std::string_view key = field.unescaped_key();
      const bool tensor_cores = key.starts_with(tensor);
      if (tensor_cores) key.remove_prefix(tensor.size());
      std::string type(key);
      ondemand::value each = some_value(field.value());
      result.push_back({.type = std::move(type), .tensor_cores = tensor_cores, .flops = amount("flops", each)});
    }
    return result;
  }

  std::string& wrong_;
  int sizes_ = 0;  ///< number of sizes read from the current kernel: grid, block
};

}  // namespace

std::vector<KernelLaunch> read_kernels(ondemand::value& value, std::string& wrong) {
  std::vector<KernelLaunch> kernels;
  KernelReader reader(wrong);
  for (auto element : value.get_array()) kernels.push_back(reader.read(some_value(element).get_object()));
  return kernels;
}

}  // namespace benanza::results
