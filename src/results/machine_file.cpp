// SPDX-License-Identifier: Apache-2.0
#include <benanza/error.hpp>
#include <benanza/results/machine_file.hpp>
#include <benanza/results/whole_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

namespace benanza {

namespace {

using Json = nlohmann::ordered_json;

/// An object of the document and where it is.
struct Section {
  const Json& json;
  std::string where{};

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError((where.empty() ? "" : where + ": ") + what);
  }

  [[nodiscard]] Section operator[](const std::string& key) const {
    if (!json.contains(key)) fail("no '" + key + "'");
    return {json.at(key), where.empty() ? key : where + "." + key};
  }
  /// Throws unless it is an object of these keys alone.
  void expect(std::initializer_list<std::string_view> keys) const {
    object();
    for (const auto& [key, value] : json.items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) fail("unknown key '" + key + "'");
  }
  void object() const {
    if (!json.is_object()) fail("found " + std::string(json.type_name()) + ", expected an object");
  }
  [[nodiscard]] double positive() const {
    const double value = json.is_number() ? json.get<double>() : 0;
    if (!std::isfinite(value) || value <= 0) fail("found " + json.dump() + ", expected a positive number");
    return value;
  }
  [[nodiscard]] std::string text() const {
    if (!json.is_string() || json.get<std::string>().empty()) fail("found " + json.dump() + ", expected a text");
    return json.get<std::string>();
  }
};

Run read(const Section& document) {
  document.expect({"schema", "device", "peaks", "memory", "on_chip"});
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
    peak.expect({"flops_per_s", "source"});
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
  memory.expect({"bytes", "bytes_per_s", "source"});
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
    const Json document = Json::parse(read_whole(file));
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
