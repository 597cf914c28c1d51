// SPDX-License-Identifier: Apache-2.0
#include "shared_state.hpp"

#include <benanza/error.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace benanza::isolation {

void SharedProgress::set(const measure::Progress& progress) {
  count_.fetch_add(1, std::memory_order_acq_rel);
  phase_.set(progress.phase);
  what_.set(progress.what);
  numbers_ = progress;
  numbers_.phase = numbers_.what = {};  // both point into this process's memory
  count_.fetch_add(1, std::memory_order_release);
}

MappedState::MappedState(const std::filesystem::path& folder, bool fresh) {
  const std::filesystem::path file = folder / "state";
  const bool make = fresh || !std::filesystem::exists(file);
  const auto failed = [&](int error) {
    return EnvironmentError("cannot map " + file.string() + ": " + std::strerror(error));
  };
  const int descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0600);
  if (descriptor < 0) throw failed(errno);
  // Allocates blocks on the disk rather than only setting a length: a page that cannot be written would end the
  // process.
  if (const int error = make ? posix_fallocate(descriptor, 0, sizeof(SharedState)) : 0; error != 0) {
    close(descriptor);
    throw failed(error);
  }
  void* const data = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int error = errno;
  close(descriptor);
  if (data == MAP_FAILED) throw failed(error);
  state_ = make ? new (data) SharedState() : static_cast<SharedState*>(data);
}

MappedState::~MappedState() { munmap(state_, sizeof(SharedState)); }

std::filesystem::path pipe_of(const std::filesystem::path& folder) { return folder / "wake"; }

}  // namespace benanza::isolation
