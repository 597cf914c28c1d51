// SPDX-License-Identifier: Apache-2.0
// SharedLibrary: a vendor's library that is loaded when it is first used, not when the program starts. A machine
// without it gets a reason instead of a loader's error, and all other backends are measured.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace benanza {

class SharedLibrary {
 public:
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  /// The first of the files that can be loaded: by name if the system's loader finds it, then from the folders of
  /// `nvidia_folders()`. Otherwise one line that says why none could be loaded and where they were searched for.
  [[nodiscard]] static std::variant<std::unique_ptr<SharedLibrary>, std::string> open(
      const std::vector<std::string>& names);

  /// Null if the library has no function of that name.
  [[nodiscard]] void* symbol(const char* name) const;
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

/// Where NVIDIA's libraries may be, in addition to the loader's own places: the program's folder, $BENANZA_CUDA_PATH,
/// $CUDA_HOME and $CUDA_PATH, the toolkit's usual place, $CONDA_PREFIX, the cuDNN that scripts/bootstrap has fetched,
/// and the folders into which PyPI's wheels (nvidia-cudnn-cu13, nvidia-cublas ...) unpack, below each entry of
/// $PYTHONPATH, of $VIRTUAL_ENV, and of every python3 on the PATH. Folders that do not exist are left out.
[[nodiscard]] std::vector<std::string> nvidia_folders();

}  // namespace benanza
