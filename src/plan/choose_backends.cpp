// SPDX-License-Identifier: Apache-2.0
#include <benanza/error.hpp>
#include <benanza/plan/choose_backends.hpp>

#include <algorithm>
#include <string_view>

namespace benanza {

namespace {

bool is_in(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> expand_backends(std::span<const std::string> names) {
  std::vector<std::string> result;
  const auto add = [&](const std::string& name) {
    if (!is_in(result, name)) result.push_back(name);
  };
  for (const auto& name : names) {
    if (name == "cuda")
      for (const char* each : {"cudnn", "cublas"}) add(each);
    add(name);
  }
  return result;
}

std::vector<std::shared_ptr<const Backend>> choose_backends(std::span<const std::shared_ptr<const Backend>> all,
                                                            std::span<const std::string> names,
                                                            const std::function<void(const std::string&)>& warn) {
  std::vector<std::shared_ptr<const Backend>> result;
  const std::vector<std::string> wanted = expand_backends(names);
  std::vector<std::string> refused;
  for (const auto& backend : all) {
    // A session measures one device: the processor, unless the user says otherwise.
    if (names.empty() ? backend->on_device() : !is_in(wanted, backend->name())) continue;
    const auto availability = backend->availability();
    const auto* why = std::get_if<Unsupported>(&availability);
    const std::string reason =
        why ? "backend " + std::string(backend->name()) + " is not available: " + why->reason : std::string();
    if (why && is_in(names, backend->name()) && backend->name() != "cuda") throw EnvironmentError(reason);
    if (why) refused.push_back(reason);
    if (!why) result.push_back(backend);
  }
  if (result.empty() && !refused.empty()) throw EnvironmentError(refused.front());
  if (!names.empty() && warn)
    for (const auto& reason : refused) warn(reason);
  for (const auto& name : names)
    if (std::none_of(all.begin(), all.end(), [&](const auto& backend) { return backend->name() == name; })) {
      std::string there;
      for (const auto& backend : all) there += (there.empty() ? "" : ", ") + std::string(backend->name());
      throw UsageError("--backend: no backend is called '" + name + "'; there are " + there);
    }
  return result;
}

bool name_device(std::span<const std::string> names, std::span<const std::shared_ptr<const Backend>> all) {
  const std::vector<std::string> wanted = expand_backends(names);
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& backend) { return backend->on_device() && is_in(wanted, backend->name()); });
}

std::vector<std::string> names_of(std::span<const std::shared_ptr<const Backend>> backends) {
  std::vector<std::string> result;
  for (const auto& backend : backends) result.emplace_back(backend->name());
  return result;
}

std::vector<BackendVersion> versions_of(std::span<const std::shared_ptr<const Backend>> backends) {
  std::vector<BackendVersion> result;
  for (const auto& backend : backends) result.push_back({std::string(backend->name()), backend->version()});
  return result;
}

}  // namespace benanza
