// The processor: which cores are used, where operands lie. How a call is timed, and what the results say of the
// machine, is in processor.cpp.
#pragma once

#include "suite.hpp"

#include <omp.h>

/// One hardware thread of each core of the first NUMA node that the process may use, as many as its cgroup grants.
const std::vector<int>& cpus();

/// The threads of OpenMP's team for the next calls, each on a core of its own.
void use_threads(int count);

/// Memory in huge pages, where the system grants them, and zero at first.
class Pages {
 public:
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  char* data() const { return static_cast<char*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// Operands in memory: each has its contents once, or as many times as copies are walked through.
class Buffers {
 public:
  explicit Buffers(Cache cache) : cache_(cache) {}

  /// Returns the operand's number.
  std::size_t add(const void* contents, std::size_t bytes, bool weights);
  /// Makes the copies; to be called once, after all operands were added.
  void spread();
  std::size_t copies() const { return copies_; }
  bool is_walked(std::size_t operand) const { return operands_[operand].cold && copies_ > 1; }
  void* at(std::size_t operand, std::size_t copy) const {
    const Operand& one = operands_[operand];
    return one.data->data() + one.offset + (one.cold ? copy * one.stride : 0);
  }

 private:
  struct Operand {
    std::size_t offset = 0, stride = 0;
    bool cold = false;
    std::shared_ptr<Pages> data{};
  };

  Cache cache_;
  std::vector<Operand> operands_{};
  std::size_t copies_ = 1;
};
