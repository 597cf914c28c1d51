// SPDX-License-Identifier: Apache-2.0
#include "record_section.hpp"
#include <benanza/error.hpp>
#include <benanza/results/machine_file.hpp>
#include <benanza/results/whole_file.hpp>

#include <algorithm>
#include <string>

namespace benanza {

namespace {

using Json = nlohmann::ordered_json;
using Section = RecordSection;

Run read(const Section& document) {
  document.expect({"schema", "device", "names", "processors", "clocks", "peaks", "memory", "on_chip"});
  if (document["schema"].positive() != 1) document["schema"].fail("expected 1");
  Run run;
  run.machine.device = document["device"].text();
  run.machine.isa = "declared";

  const Section peaks = document["peaks"];
  peaks.object();
  for (const auto& [name, value] : peaks.json.items()) {
    const Section peak = peaks[name];
    const auto type = data_type_from_name(name);
    if (!type) peak.fail("no type has this name; f32, f16, bf16, i8 ... have");
    peak.expect({"flops_per_s", "source", "measured"});
    run.ceilings.push_back({.quantity = CeilingQuantity::peak(*type),
                            .algorithm = peak["source"].text(),
                            .value = peak["flops_per_s"].positive()});
  }
  if (run.ceilings.empty()) peaks.fail("expected one type at least");

  double in_front = 0;
  if (document.json.contains("on_chip")) {
    const Section on_chip = document["on_chip"];
    on_chip.object();
    for (const auto& [name, value] : on_chip.json.items()) {
      const Section part = on_chip[name];
      part.expect({"bytes", "source"});
      static_cast<void>(part["source"].text());
      const double bytes = part["bytes"].positive();
      in_front += bytes;
      if (name.size() == 2 && name[0] == 'L' && name[1] >= '1' && name[1] <= '9')
        run.machine.caches.push_back({name[1] - '0', {bytes}});
    }
  }
  std::sort(run.machine.caches.begin(), run.machine.caches.end(),
            [](const CacheLevel& a, const CacheLevel& b) { return a.level < b.level; });
  const Section memory = document["memory"];
  memory.expect({"bytes", "bytes_per_s", "source", "measured"});
  run.machine.memory.value = memory["bytes"].positive();
  run.ceilings.push_back({.quantity = CeilingQuantity::bandwidth("memory"),
                          .algorithm = memory["source"].text(),
                          .value = memory["bytes_per_s"].positive(),
                          .in_front_bytes = in_front});
  return run;
}

}  // namespace

Run read_machine_file(const std::filesystem::path& file) {
  const std::string where = file.string() + ": ";
  try {
    const Json document = Json::parse(read_settings(file));
    Run run = read({document});
    run.file = file.string();
    return run;
  } catch (const Json::exception& error) {
    throw InputError(where + "not JSON: " + error.what());
  } catch (const InputError& error) {
    const std::string what = error.what();
    throw InputError(what.starts_with(where) ? what : where + what);
  }
}

}  // namespace benanza
