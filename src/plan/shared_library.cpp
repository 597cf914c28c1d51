// SPDX-License-Identifier: Apache-2.0
#include "shared_library.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <sstream>

namespace benanza {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> children(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code none;
  for (auto at = fs::directory_iterator(folder, none); !none && at != fs::directory_iterator(); at.increment(none))
    result.push_back(at->path());
  std::sort(result.begin(), result.end());
  return result;
}

/// The entries of a variable such as PATH.
std::vector<fs::path> entries_of(const char* variable) {
  std::vector<fs::path> result;
  const char* const value = std::getenv(variable);
  std::istringstream entries(value == nullptr ? "" : value);
  for (std::string entry; std::getline(entries, entry, ':');)
    if (!entry.empty()) result.emplace_back(entry);
  return result;
}

/// Folders that contain Python packages.
std::vector<fs::path> site_packages() {
  std::vector<fs::path> result = entries_of("PYTHONPATH");
  std::vector<fs::path> prefixes;
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment != nullptr) prefixes.emplace_back(environment);
  if (const char* home = std::getenv("HOME"); home != nullptr) prefixes.push_back(fs::path(home) / ".local");
  for (const auto& programs : entries_of("PATH")) {
    std::error_code none;
    if (fs::exists(programs / "python3", none)) prefixes.push_back(programs.parent_path());  // programs is PREFIX/bin
  }
  prefixes.emplace_back("/usr/local");
  prefixes.emplace_back("/usr");
  for (const auto& prefix : prefixes)
    for (const char* part : {"lib", "lib64"})
      for (const auto& python : children(prefix / part))
        if (python.filename().string().starts_with("python"))
          for (const char* packages : {"site-packages", "dist-packages"}) result.push_back(python / packages);
  return result;
}

/// The cache folder of scripts/bootstrap.
fs::path bootstrap_cache() {
  const auto of = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return fs::path(value == nullptr ? "" : value);
  };
  if (const auto own = of("BENANZA_CACHE"); !own.empty()) return own;
  const auto users = of("XDG_CACHE_HOME");
  return (users.empty() ? of("HOME") / ".cache" : users) / "benanza";
}

}  // namespace

std::vector<std::string> nvidia_folders() {
  std::vector<std::string> result;
  const auto add = [&](const fs::path& folder) {
    std::error_code none;
    const bool is_new = std::find(result.begin(), result.end(), folder.string()) == result.end();
    if (is_new && fs::is_directory(folder, none)) result.push_back(folder.string());
  };
  std::error_code none;
  if (const auto program = fs::read_symlink("/proc/self/exe", none); !none) add(program.parent_path());
  for (const char* variable : {"BENANZA_CUDA_PATH", "CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root != nullptr && *root != '\0')
      for (const char* part : {"", "lib64", "lib"}) add(fs::path(root) / part);
  for (const char* part : {"lib64", "lib"}) add(fs::path("/usr/local/cuda") / part);
  if (const char* conda = std::getenv("CONDA_PREFIX"); conda != nullptr) add(fs::path(conda) / "lib");
  for (const auto& fetched : children(bootstrap_cache() / "deps"))
    if (fetched.filename().string().starts_with("cudnn-")) add(fetched / "lib");
  for (const auto& packages : site_packages())
    for (const auto& part : children(packages / "nvidia")) add(part / "lib");
  return result;
}

SharedLibrary::~SharedLibrary() = default;  // vendors' libraries do not survive being unloaded before the program ends

std::variant<std::unique_ptr<SharedLibrary>, std::string> SharedLibrary::open(const std::vector<std::string>& names) {
  std::string reason;
  const auto load = [&](const std::string& file) -> std::unique_ptr<SharedLibrary> {
    if (void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL); handle != nullptr)
      return std::unique_ptr<SharedLibrary>(new SharedLibrary(handle));
    const char* why = dlerror();
    if (reason.empty() && why != nullptr) reason = why;
    return nullptr;
  };
  for (const auto& name : names)
    if (auto library = load(name)) return library;
  std::string places = "; looked for in the loader's places";
  for (const auto& folder : nvidia_folders()) {
    places += ", " + folder;
    for (const auto& name : names) {
      std::error_code none;
      const fs::path file = fs::path(folder) / name;
      if (!fs::exists(file, none)) continue;
      reason.clear();  // the reason why an existing file cannot be loaded says more
      if (auto library = load(file.string())) return library;
    }
  }
  return reason + places;
}

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace benanza
