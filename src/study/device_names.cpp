// SPDX-License-Identifier: Apache-2.0
#include "device_names.hpp"

#include <benanza/study/make_study.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace benanza {

namespace {

/// The identity of a machine without its device and the processors used.
std::vector<std::string> traits_of(const Machine& machine) {
  constexpr double kib = 1024;
  std::vector<std::string> traits{machine.isa,
                                  std::to_string(machine.cores) + (machine.cores == 1 ? " core" : " cores")};
  for (const auto& cache : machine.caches)
    traits.push_back(std::to_string(static_cast<std::int64_t>(cache.total.value / kib)) + " KiB of L" +
                     std::to_string(cache.level));
  traits.push_back(std::to_string(machine.most_gib()) + " GiB of memory");
  traits.push_back(machine.driver.empty() ? "no driver" : "driver " + machine.driver);
  for (const MachineFact& fact : machine.facts())
    if (Machine::may_be_unstated(fact.name) || fact.name == "settings") traits.push_back(fact.name + " " + fact.value);
  return traits;
}

}  // namespace

std::vector<std::string> device_names(std::span<const Machine> machines) {
  std::vector<std::string> names;
  for (const Machine& machine : machines) {
    const std::string device = device_name(machine.device);
    std::string name = device;
    for (const std::string& trait : traits_of(machine)) {
      const auto has_it = [&](const Machine& other) {
        const auto traits = traits_of(other);
        return device_name(other.device) != device || std::find(traits.begin(), traits.end(), trait) != traits.end();
      };
      if (!std::all_of(machines.begin(), machines.end(), has_it)) name += ", " + trait;
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace benanza
