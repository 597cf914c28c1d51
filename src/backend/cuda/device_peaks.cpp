// SPDX-License-Identifier: Apache-2.0
#include "device_peaks.hpp"

#include "check.hpp"
#include "device_kernels.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

namespace benanza::cuda {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A block of device memory for the duration of a measurement.
class Area {
 public:
  Area(Memory& memory, std::size_t bytes) : memory_(memory), data_(memory.allocate(bytes)) {
    memory_.set(data_, 0x3F, bytes);  // 0.747 in f32
  }
  ~Area() { memory_.release(data_); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  Memory& memory_;
  void* data_;
};

struct Kind {
  PeakKind kind;
  DataType type;
  const char* algorithm;
  decltype(&has_peak) has = has_peak;
  decltype(&launch_peak) launch = launch_peak;
};

constexpr Kind kinds[] = {{PeakKind::f32, DataType::f32, "fma"},
                          {PeakKind::f64, DataType::f64, "fma"},
                          {PeakKind::tf32, DataType::tf32, "mma.m16n8k8"},
                          {PeakKind::f16, DataType::f16, "mma.m16n8k16"},
                          {PeakKind::bf16, DataType::bf16, "mma.m16n8k16"},
                          {PeakKind::i8, DataType::i8, "mma.m16n8k32"},
                          {PeakKind::f8e4m3, DataType::f8e4m3, "mma.m16n8k32"},
                          {PeakKind::f8e5m2, DataType::f8e5m2, "mma.m16n8k32"},
                          {PeakKind::tf32, DataType::tf32, "wgmma.m64n256k8", has_group_peak, launch_group_peak},
                          {PeakKind::f16, DataType::f16, "wgmma.m64n256k16", has_group_peak, launch_group_peak},
                          {PeakKind::bf16, DataType::bf16, "wgmma.m64n256k16", has_group_peak, launch_group_peak},
                          {PeakKind::i8, DataType::i8, "wgmma.m64n256k32", has_group_peak, launch_group_peak},
                          {PeakKind::f8e4m3, DataType::f8e4m3, "wgmma.m64n256k32", has_group_peak, launch_group_peak},
                          {PeakKind::f8e5m2, DataType::f8e5m2, "wgmma.m64n256k32", has_group_peak, launch_group_peak}};

double flops_per_cycle(const PeakContext& context, const Kind& kind, double budget) {
  constexpr int repeats = 4096;  // at least some tenths of a millisecond
  const auto start = Clock::now();
  double best = 0;
  do {
    const double flops = kind.launch(kind.kind, context.processors, repeats, context.cycles, context.stream);
    check(cudaGetLastError(), "the launch of a peak's kernel");
    best = std::max(best, flops / static_cast<double>(std::max<long long>(1, context.read_cycles())));
  } while (since(start) < budget);
  return best;
}

/// The best of each kind of traffic. The stream is blocked while a kernel is queued, so the time does not include the
/// launch.
std::vector<CeilingRow> bandwidths(Device& device, const PeakContext& context, double budget) {
  // Far more than the L2 cache, which also holds data of the previous kernel, and long enough for start-up and
  // completion to be negligible.
  constexpr std::size_t least = std::size_t{2} << 30, granule = std::size_t{2} << 20;
  constexpr Seconds block_time_out{0.25};
  const auto free = static_cast<std::size_t>(device.available().value);
  const std::size_t bytes = std::min(std::max(least, 8 * context.l2_bytes), free / 6) / granule * granule;
  const Area a(device, bytes), b(device, bytes), result(device, bytes);
  const auto walk = [&](Traffic traffic, int blocks) {
    const double crossing =
        launch_walk(traffic, a.data(), b.data(), result.data(), bytes, blocks * context.processors, context.stream);
    check(cudaGetLastError(), "the launch of a walk through memory");
    return crossing;
  };
  constexpr Traffic traffics[] = {Traffic::read, Traffic::write, Traffic::copy, Traffic::triad};
  constexpr const char* names[] = {"read", "write", "copy", "triad"};
  std::vector<CeilingRow> rows;
  for (const Traffic traffic : traffics) {
    static_cast<void>(walk(traffic, 4));  // loads the kernel's code, which waits for the stream
    rows.push_back(
        {.quantity = CeilingQuantity::bandwidth("memory"), .in_front_bytes = static_cast<double>(context.l2_bytes)});
  }
  device.finish();
  const auto begin = Clock::now();
  do {
    for (const Traffic traffic : traffics)
      for (const int blocks : {4, 8, 16, 32}) {
        device.block(block_time_out);
        device.start();
        const double crossing = walk(traffic, blocks);
        device.stop();
        const bool held = device.release_block();
        const double rate = crossing / device.elapsed().value;
        CeilingRow& row = rows[static_cast<std::size_t>(traffic)];
        if (!held || rate <= row.value) continue;
        row.value = rate;
        row.algorithm =
            std::string(names[static_cast<std::size_t>(traffic)]) + ",blocks=" + std::to_string(blocks) + ",threads=1";
      }
  } while (since(begin) < budget);
  std::erase_if(rows, [](const CeilingRow& row) { return row.value == 0; });
  return rows;
}

/// Adds the rows of one ceiling, or the reason why it is absent.
template <class MeasureRows>
void add(DeviceCeilings& ceilings, const CeilingRequest& request, const std::string& name,
         const MeasureRows& measure_rows) {
  if (const auto crashed = request.crashing.find(name); crashed != request.crashing.end()) {
    ceilings.absent.push_back(name + ": " + crashed->second);
    return;
  }
  if (request.trying) request.trying(name);
  try {
    const std::vector<CeilingRow> rows = measure_rows();
    ceilings.rows.insert(ceilings.rows.end(), rows.begin(), rows.end());
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::exception& error) {
    ceilings.absent.push_back(name + ": " + error.what());
  }
}

}  // namespace

long long PeakContext::read_cycles() const {
  long long value = 0;
  check(cudaMemcpyAsync(&value, cycles, sizeof value, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return value;
}

void warm_up(Device& device, const PeakContext& context, Seconds time) {
  static_cast<void>(flops_per_cycle(context, kinds[0], time.value));
  device.finish();
}

DeviceCeilings measure_peaks(Device& device, const PeakContext& context, const CeilingRequest& request) {
  DeviceCeilings ceilings;
  const double slot = request.budget.value / (std::size(kinds) + 2);  // memory takes two slots
  for (const auto& kind : kinds) {
    if (!kind.has(kind.kind)) continue;
    const CeilingQuantity quantity = CeilingQuantity::peak(kind.type);
    add(ceilings, request, quantity.text() + " by " + kind.algorithm, [&] {
      return std::vector<CeilingRow>{{.quantity = quantity,
                                      .algorithm = std::string(kind.algorithm) + ",threads=1",
                                      .threads = 1,
                                      .value = flops_per_cycle(context, kind, slot) * context.clock_hz}};
    });
  }
  add(ceilings, request, CeilingQuantity::bandwidth("memory").text(), [&] {
    auto rows = bandwidths(device, context, 2 * slot);
    device.finish();
    return rows;
  });
  return ceilings;
}

}  // namespace benanza::cuda
