// SPDX-License-Identifier: Apache-2.0
#include "row_kernels.hpp"

#include "format/numbers.hpp"
#include "format/text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <ostream>

namespace benanza::report {

using namespace format;

namespace {

std::string size_text(const LaunchSize& size) { return fmt::format("{}x{}x{}", size.x, size.y, size.z); }
Json size_json(const LaunchSize& size) { return Json::array({size.x, size.y, size.z}); }
std::string flops_key(const KernelFlops& flops) { return (flops.tensor_cores ? "tensor " : "") + flops.type; }

bool is_alike(const KernelLaunch& a, KernelLaunch b) {
  b.time = a.time;
  return a == b;
}

}  // namespace

std::string launch_text(const KernelLaunch& kernel) {
  std::string text = fmt::format("{}, {} blocks of {}, {} registers", time_text(kernel.time), size_text(kernel.grid),
                                 size_text(kernel.block), kernel.registers_per_thread);
  if (kernel.shared_bytes() > 0)
    text += fmt::format(", {}B shared", scaled(static_cast<double>(kernel.shared_bytes())));
  return text;
}

std::string counters_text(const KernelLaunch& kernel) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (kernel.dram_read && kernel.dram_written)
    add(fmt::format("DRAM {}B read, {}B written", scaled(kernel.dram_read->value), scaled(kernel.dram_written->value)));
  if (kernel.flops && kernel.flops->empty()) add("no FLOPs");
  if (kernel.flops)
    for (const auto& each : *kernel.flops) add(fmt::format("{} {}FLOP", flops_key(each), scaled(each.flops)));
  if (kernel.occupancy) add(fmt::format("occupancy {:.0f} %", 100 * *kernel.occupancy));
  return text;
}

void write_kernels(std::ostream& out, const std::vector<KernelLaunch>& kernels) {
  constexpr std::size_t most = 8, width = 76;
  std::size_t shown = 0;
  for (std::size_t i = 0, next = 0; i < kernels.size(); i = next) {
    Seconds time{};
    for (next = i; next < kernels.size() && is_alike(kernels[i], kernels[next]); ++next) time += kernels[next].time;
    if (++shown > most) {
      out << fmt::format("  ({} more: --json)\n", kernels.size() - i);
      return;
    }
    KernelLaunch mean = kernels[i];
    mean.time = time / static_cast<double>(next - i);
    out << fmt::format("  {}{}\n", clipped(mean.name, width - 6), next - i > 1 ? fmt::format(" x{}", next - i) : "");
    out << wrapped(launch_text(mean), width + 4, 4);
    out << wrapped(counters_text(mean), width + 4, 4);
  }
}

Json kernels_json(const std::vector<KernelLaunch>& kernels) {
  Json result = Json::array();
  for (const auto& kernel : kernels) {
    Json each{{"name", kernel.name},
              {"grid", size_json(kernel.grid)},
              {"block", size_json(kernel.block)},
              {"registers", kernel.registers_per_thread},
              {"static_shared_bytes", kernel.static_shared_bytes},
              {"dynamic_shared_bytes", kernel.dynamic_shared_bytes},
              {"time_ms", ms(kernel.time)}};
    if (kernel.dram_read) each["dram_read_bytes"] = number(kernel.dram_read->value);
    if (kernel.dram_written) each["dram_write_bytes"] = number(kernel.dram_written->value);
    if (kernel.flops) {
      each["flops"] = Json::object();
      for (const auto& flops : *kernel.flops) each["flops"][flops_key(flops)] = number(flops.flops);
    }
    if (kernel.occupancy) each["occupancy"] = number(*kernel.occupancy);
    result.push_back(std::move(each));
  }
  return result;
}

}  // namespace benanza::report
