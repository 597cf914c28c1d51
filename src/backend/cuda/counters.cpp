// SPDX-License-Identifier: Apache-2.0
#include "counters.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace benanza::cuda {

namespace {

constexpr std::string_view tensor_path = "sm__ops_path_tensor_src_";

bool is_among(std::span<const std::string> offered, std::string_view name) {
  return std::find(offered.begin(), offered.end(), name) != offered.end();
}

/// Older chips call them `dram__bytes_read`, newer ones `dram__bytes_op_read`.
void add_dram(std::vector<Counter>& counters, std::span<const std::string> offered) {
  for (const auto& [kind, what] :
       {std::pair(Counter::Kind::dram_read, "read"), std::pair(Counter::Kind::dram_written, "write")})
    for (const std::string& name : {std::string("dram__bytes_") + what, std::string("dram__bytes_op_") + what})
      if (is_among(offered, name)) {
        counters.push_back({.kind = kind, .metric = name + ".sum"});
        break;
      }
}

void add_ordinary(std::vector<Counter>& counters, std::span<const std::string> offered) {
  struct Instruction {
    std::string_view name, type;
    double flops;
  };
  constexpr Instruction instructions[] = {{"dadd", "f64", 1},  {"dmul", "f64", 1},  {"dfma", "f64", 2},
                                          {"fadd", "f32", 1},  {"fmul", "f32", 1},  {"ffma", "f32", 2},
                                          {"fadd2", "f32", 2}, {"fmul2", "f32", 2}, {"ffma2", "f32", 4},
                                          {"hadd", "f16", 2},  {"hmul", "f16", 2},  {"hfma", "f16", 4}};
  for (const auto& [instruction, type, flops] : instructions) {
    const std::string name = "smsp__sass_thread_inst_executed_op_" + std::string(instruction) + "_pred_on";
    if (is_among(offered, name))
      counters.push_back({.metric = name + ".sum", .each = {.type = std::string(type), .flops = flops}});
  }
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

/// `sm__ops_path_tensor_src_fp16_dst_fp32`: all metrics of a source are one type, whatever the type of the sums. Parts
/// of these (`..._sparsity_on`) and other clocks (`..._realtime`) are left out.
void add_tensor_cores(std::vector<Counter>& counters, std::span<const std::string> offered) {
  for (const std::string& name : offered) {
    if (!name.starts_with(tensor_path) || name.find("_sparsity_") != std::string::npos || name.ends_with("_realtime"))
      continue;
    std::string type = name.substr(tensor_path.size());
    type = replaced(replaced(type.substr(0, type.find("_dst_")), "fp", "f"), "int", "i");
    counters.push_back({.metric = name + ".sum", .each = {.type = std::move(type), .tensor_cores = true, .flops = 1}});
  }
}

}  // namespace

std::vector<Counter> counters_among(std::span<const std::string> offered, std::span<const KernelMetric> wanted) {
  const auto wants = [&](KernelMetric metric) {
    return std::find(wanted.begin(), wanted.end(), metric) != wanted.end();
  };
  std::vector<Counter> counters;
  if (wants(KernelMetric::dram)) add_dram(counters, offered);
  if (wants(KernelMetric::flops)) {
    add_ordinary(counters, offered);
    add_tensor_cores(counters, offered);
  }
  if (wants(KernelMetric::occupancy) && is_among(offered, "sm__warps_active"))
    counters.push_back(
        {.kind = Counter::Kind::occupancy, .metric = "sm__warps_active.avg.pct_of_peak_sustained_active"});
  return counters;
}

void add_counters(KernelLaunch& kernel, std::span<const Counter> counters, std::span<const double> values) {
  std::optional<std::vector<KernelFlops>> flops;
  bool all_flops = true;
  for (std::size_t i = 0; i < std::min(counters.size(), values.size()); ++i) {
    const auto& [kind, metric, each] = counters[i];
    const bool known = std::isfinite(values[i]) && values[i] >= 0;
    if (kind == Counter::Kind::flops) {
      all_flops = all_flops && known;
      if (!flops) flops.emplace();
      if (!known || values[i] == 0) continue;
      const auto same = std::find_if(flops->begin(), flops->end(), [&each = each](const KernelFlops& other) {
        return other.type == each.type && other.tensor_cores == each.tensor_cores;
      });
      KernelFlops& sum =
          same != flops->end() ? *same : flops->emplace_back(KernelFlops{each.type, each.tensor_cores, 0});
      sum.flops += each.flops * values[i];
    } else if (!known) {
      continue;
    } else if (kind == Counter::Kind::dram_read) {
      kernel.dram_read = Bytes{values[i]};
    } else if (kind == Counter::Kind::dram_written) {
      kernel.dram_written = Bytes{values[i]};
    } else {
      kernel.occupancy = std::min(1.0, values[i] / 100);
    }
  }
  if (all_flops) kernel.flops = std::move(flops);
}

std::string add_counted(std::span<KernelLaunch> launches, const CountedKernels& counted) {
  if (launches.size() != counted.values.size())
    return "the records are of " + std::to_string(launches.size()) + " kernels, the counters of " +
           std::to_string(counted.values.size());
  for (std::size_t i = 0; i < launches.size(); ++i) add_counters(launches[i], counted.counters, counted.values[i]);
  return {};
}

}  // namespace benanza::cuda
