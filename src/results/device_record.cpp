// SPDX-License-Identifier: Apache-2.0
#include "record_section.hpp"
#include <benanza/error.hpp>
#include <benanza/results/ceiling_rows.hpp>
#include <benanza/results/device_record.hpp>
#include <benanza/results/machine_file.hpp>
#include <benanza/results/whole_file.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace benanza {

namespace {

SourcedFigure figure(const RecordSection& section, const std::string& key) {
  section.expect({key, "source"});
  return {.value = section[key].positive(), .source = section["source"].text()};
}

DataType type_named(const RecordSection& section, const std::string& name) {
  const auto type = data_type_from_name(name);
  if (!type) section.fail("no type is called '" + name + "'; f32, f16, bf16, i8 ... are");
  return *type;
}

SmLimits limits_of(const RecordSection& section) {
  const RecordSection capability = section["compute_capability"];
  const std::string text = capability.text();
  SmLimits limits{.threads = section["threads"].positive_whole(),
                  .registers = section["registers"].positive_whole(),
                  .shared_bytes = section["shared_bytes"].positive_whole(),
                  .blocks = section["blocks"].positive_whole()};
  const auto dot = text.find('.');
  const auto whole = [&](std::size_t first, std::size_t last, int& value) {
    const auto [end, error] = std::from_chars(text.data() + first, text.data() + last, value);
    return error == std::errc{} && end == text.data() + last && value >= 0;
  };
  if (dot == std::string::npos || !whole(0, dot, limits.major) || !whole(dot + 1, text.size(), limits.minor))
    capability.fail("found '" + text + "', expected two numbers such as 7.5");
  return limits;
}

Processors processors_of(const RecordSection& section) {
  section.expect({"kind", "count", "lanes", "isa", "threads", "registers", "shared_bytes", "blocks",
                  "compute_capability", "source"});
  const std::string kind = section["kind"].text();
  if (kind != "SM" && kind != "core") section["kind"].fail("found '" + kind + "', expected SM or core");
  Processors result{
      .accelerator = kind == "SM", .count = section["count"].positive_whole(), .source = section["source"].text()};
  if (section.has("isa")) result.isa = section["isa"].text();
  if (section.has("lanes")) {
    const RecordSection lanes = section["lanes"];
    lanes.object();
    for (const auto& [name, value] : lanes.json.items())
      result.lanes[type_named(lanes, name)] = lanes[name].positive_whole();
  }
  if (section.has("threads")) result.limits = limits_of(section);
  return result;
}

DeviceRecord read_record(const RecordSection& document, const Run& run) {
  DeviceRecord record{.device = run.machine.device, .ceilings = ceilings_of(run.ceilings, 1)};
  if (document.has("names")) {
    const RecordSection names = document["names"];
    if (!names.json.is_array()) names.fail("expected a list of texts");
    for (const auto& name : names.json) record.names.push_back(RecordSection{name, "names"}.text());
  }
  if (document.has("processors")) record.processors = processors_of(document["processors"]);
  if (document.has("clocks")) {
    const RecordSection clocks = document["clocks"];
    clocks.expect({"base", "boost", "load"});
    for (const ClockKind kind : {ClockKind::base, ClockKind::boost, ClockKind::load})
      if (const std::string name(enum_names(kind)[static_cast<std::size_t>(kind)]); clocks.has(name))
        record.clocks[kind] = figure(clocks[name], "hz");
  }
  const RecordSection memory = document["memory"], peaks = document["peaks"];
  record.bandwidth = {.value = memory["bytes_per_s"].positive(), .source = memory["source"].text()};
  if (memory.has("measured")) record.measured_bandwidth = figure(memory["measured"], "bytes_per_s");
  for (const auto& [name, value] : peaks.json.items())
    if (const RecordSection peak = peaks[name]; peak.has("measured"))
      record.measured_peaks[type_named(peaks, name)] = figure(peak["measured"], "flops_per_s");
  return record;
}

}  // namespace

bool DeviceRecord::is_called(std::string_view name) const {
  const auto alike = [&](const std::string& own) {
    return std::equal(own.begin(), own.end(), name.begin(), name.end(),
                      [](char a, char b) { return (a == '_' ? ' ' : a) == (b == '_' ? ' ' : b); });
  };
  return alike(device) || std::any_of(names.begin(), names.end(), alike);
}

std::optional<DeviceClock> DeviceRecord::clock() const {
  for (const ClockKind kind : {ClockKind::load, ClockKind::base, ClockKind::boost})
    if (const auto found = clocks.find(kind); found != clocks.end()) return DeviceClock{kind, found->second.value};
  return std::nullopt;
}

std::optional<FlopsPerSecond> DeviceRecord::peak(DataType type) const {
  const auto hz = clock();
  if (!processors || !hz) return std::nullopt;
  const auto lanes = processors->lanes.find(type);
  if (lanes == processors->lanes.end()) return std::nullopt;
  return FlopsPerSecond{2 * static_cast<double>(lanes->second) * static_cast<double>(processors->count) * hz->hz};
}

BytesPerSecond DeviceRecord::best_known_bandwidth() const {
  return {measured_bandwidth ? measured_bandwidth->value : bandwidth.value};
}

DeviceRecord read_device_record(const std::string& file) {
  const Run run = read_machine_file(file);  // has checked the document and everything it knows about it
  const auto document = nlohmann::ordered_json::parse(read_settings(file));
  try {
    DeviceRecord record = read_record({document}, run);
    record.file = file;
    return record;
  } catch (const InputError& error) {
    throw InputError(file + ": " + error.what());
  }
}

DeviceRecord measured_record(const ResultDatabase& results, int threads) {
  if (results.runs().empty()) throw InputError("the results are of no machine");
  const Machine machine = results.machine();
  DeviceRecord record{
      .device = machine.device,
      .processors =
          Processors{
              .accelerator = machine.is_device(), .count = machine.cores, .isa = machine.isa, .source = "results"},
      .ceilings = results.ceilings(threads)};
  const BytesPerSecond bandwidth = record.ceilings.memory_bandwidth();
  if (!(bandwidth.value > 0))
    throw InputError("the results of " + machine.device + " have no bandwidth of its memory with " +
                     std::to_string(threads) + (threads == 1 ? " thread" : " threads") + "; benanza bound measures it");
  record.bandwidth = {.value = bandwidth.value, .source = "results"};
  record.measured_bandwidth = record.bandwidth;
  for (const auto& [type, peak] : record.ceilings.peaks)
    record.measured_peaks[type] = {.value = peak.value, .source = "results"};
  return record;
}

}  // namespace benanza
