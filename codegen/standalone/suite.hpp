// What every file of this suite shares: sizes, rows, and how a row becomes a benchmark, which is in suite.cpp. The
// functions that time are in @device_source@; the functions that call a library are in the file of that library and
// family.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace benchmark {
class State;
}

/// A short list: dimensions, pads, strides, steps of an epilogue. A table of them is data, which compiles fast.
template <class T>
struct List {
  std::array<T, 8> values{};
  std::size_t count = 0;
  constexpr List() = default;
  constexpr List(std::initializer_list<T> list) {
    for (const T& value : list) values[count++] = value;
  }
  constexpr const T* begin() const { return values.data(); }
  constexpr const T* end() const { return values.data() + count; }
  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const T& operator[](std::size_t i) const { return values[i]; }
};
using Sizes = List<std::int64_t>;

inline std::int64_t product(const Sizes& sizes) {
  std::int64_t result = 1;
  for (const auto size : sizes) result *= size;
  return result;
}

/// What one call does. `items` are the elements of the result; bytes are those that have to be read and written once.
struct Work {
  double flops = 0, bytes = 0, items = 0;
};

/// What a call finds in the caches: everything, all but the weights, or nothing. Where something is cold, calls walk
/// through copies of it that together exceed the caches four times.
enum class Cache { hot, cold_weights, cold };
inline const char* name_of(Cache cache) {
  return cache == Cache::hot ? "hot" : cache == Cache::cold_weights ? "cold-weights" : "cold";
}

/// A layer made ready: descriptors, operands and workspace exist, and `call` does nothing but call the library.
struct Ready {
  std::function<void(std::size_t copy)> call{};
  std::size_t copies = 1;
  mutable std::shared_ptr<void> timed{};  ///< what the functions that time keep of it
};

/// Why a row has no time. It becomes the error of its benchmark.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::vector<int> threads{};  // empty: the default
  std::vector<Cache> caches{
      // @caches@
  };
  double budget = 0;  // seconds until no further row begins; 0: all rows are measured
};
Options& options();

/// The one plan that is wanted, `LIBRARY/PLAN`; empty: all.
inline constexpr std::string_view wanted_plan = "@plan@";

/// Adds a layer by one plan, `LIBRARY/PLAN,threads=N`, once for each cache state. `saves`: it computes less than
/// the FLOPs of `work` (Winograd, FFT), so that no peak bounds it; plans of that name always do.
void add_row(const std::string& plan, const char* signature, const Work& work, bool has_weights,
             std::function<Ready(Cache)> prepare, bool saves = false);

/// Adds the row `LIBRARY/none` for a layer without a plan. The row says why there is none.
void add_refusal(const char* plan, const char* signature, const std::string& reason);

/// Says in the results which version of a library they are of.
void name_library(const char* library, const std::string& version);

/// A plan as a name's part: characters other than letters, digits and _.,=:- become _.
std::string spelled(std::string name);

/// Pseudo-random numbers in [-1, 1], the same in each run.
class Numbers {
 public:
  float next() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<float>(state_ >> 8) / 8388608.0F - 1.0F;
  }

 private:
  std::uint32_t state_ = 12345;
};

/// Which operands keep their place and which walk through copies.
inline bool is_cold(Cache cache, bool weights) {
  return cache == Cache::cold || (cache == Cache::cold_weights && weights);
}

/// Copies of what takes `bytes`, so that they exceed the caches four times.
std::size_t copies_beyond(double caches, std::size_t bytes);

/// Runs a benchmark of a row that is ready (in @device_source@).
void run_timed(benchmark::State& state, const Ready& ready);

/// Runs what `add_all` adds, which is called after the flags are read; likely winners first. The exit code is 2 for a
/// wrong flag, 1 where the one plan that is wanted is not offered.
int run_all(int argc, char** argv, const std::function<void()>& add_all);

/// The whole program (in @device_source@).
int run_suite(int argc, char** argv, const std::function<void()>& add_all);
