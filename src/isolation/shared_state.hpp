// SPDX-License-Identifier: Apache-2.0
// SharedState: the state that a worker and its parent share while the worker runs: memory of a file that both map.
#pragma once

#include <benanza/measure/measure.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::isolation {

/// Text of a fixed size; longer text is cut.
template <std::size_t size>
class SharedText {
 public:
  void set(std::string_view text) {
    text = text.substr(0, size - 1);
    text.copy(text_.data(), text.size());
    text_[text.size()] = '\0';
  }
  [[nodiscard]] std::string get() const {
    const std::string_view all(text_.data(), size);
    return std::string(all.substr(0, all.find('\0')));
  }

 private:
  std::array<char, size> text_{};
};

/// Progress that one process sets while another one reads it.
class SharedProgress {
 public:
  void set(const measure::Progress& progress);
  /// Calls `show` if there is new progress, that is, if its count differs from `seen`, and updates `seen`.
  template <class Show>
  void show_new(std::uint64_t& seen, Show&& show) const {
    const std::uint64_t before = count_.load(std::memory_order_acquire);
    if (before == seen || before % 2 != 0) return;
    const std::string phase = phase_.get(), what = what_.get();
    measure::Progress progress = numbers_;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (count_.load(std::memory_order_relaxed) != before) return;  // a later call will read it
    seen = before;
    progress.phase = phase;
    progress.what = what;
    show(progress);
  }

 private:
  std::atomic<std::uint64_t> count_{0};  ///< odd while it is being set
  SharedText<40> phase_{};
  SharedText<500> what_{};
  measure::Progress numbers_{};
};

struct SharedState {
  std::atomic<std::uint64_t> beats{0};           ///< signs of life
  std::atomic<std::uint64_t> kept{0}, taken{0};  ///< rows written by the worker, and read by its parent
  std::atomic<bool> finished{false};             ///< the answer is written: how the worker ends no longer matters
  SharedText<4000> row{};                        ///< the row that is being tried; empty if none is
  SharedText<500> reason{};                      ///< why the worker gave up; empty if it did not
  SharedText<2000> error{};                      ///< what the worker threw
  SharedText<500> not_kept{};                    ///< why rows could not be written while measuring
  SharedProgress progress{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The state of a folder, mapped into this process's memory.
class MappedState {
 public:
  /// The parent creates a fresh state, the worker opens it; without a parent, it creates its own. Throws
  /// EnvironmentError.
  MappedState(const std::filesystem::path& folder, bool fresh);
  ~MappedState();
  MappedState(const MappedState&) = delete;
  MappedState& operator=(const MappedState&) = delete;
  SharedState* operator->() const { return state_; }

 private:
  SharedState* state_ = nullptr;
};

/// A pipe in the folder with which the worker wakes its parent. The end of the pipe means that the worker has ended.
[[nodiscard]] std::filesystem::path pipe_of(const std::filesystem::path& folder);

}  // namespace benanza::isolation
