// SPDX-License-Identifier: Apache-2.0
// OpenmpTeam: the threads of the OpenMP runtime that a library brought into the process, reached through the runtime's
// public entry points if there is one. Benanza itself is compiled without OpenMP, so that another compiler does not
// bring in a second runtime.
#pragma once

#include <span>

namespace benanza {

class OpenmpTeam {
 public:
  OpenmpTeam();
  /// Starts a team of as many threads as processors and binds all but the calling thread, each to its own processor.
  /// The calling thread gets all of them: threads that the runtime starts later (a region of fewer threads ends some)
  /// inherit its processors, and must not all inherit one. A team of two loses none, so that its caller is bound, too:
  /// otherwise the scheduler may move it to the other thread's processor.
  void bind(std::span<const int> cpus) const;
  /// Whether there is a runtime.
  [[nodiscard]] bool exists() const { return parallel_ != nullptr && thread_number_ != nullptr; }
  /// Calls `function(context, thread)` for thread = 0 ... threads - 1 as a parallel region. There must be a runtime.
  void run(int threads, void (*function)(const void* context, int thread), const void* context) const;
  /// Ends the team and joins its threads. The next region starts one again; regions of unstated size have one thread
  /// until a library sets another number.
  void end() const;

 private:
  void (*parallel_)(void (*)(void*), void*, unsigned, unsigned) = nullptr;
  int (*thread_number_)() = nullptr;
  int (*pause_all_)(int) = nullptr;
  void (*set_threads_)(int) = nullptr;
};

}  // namespace benanza
