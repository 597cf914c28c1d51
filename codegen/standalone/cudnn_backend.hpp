// cuDNN's graph API by its backend calls: descriptors, a graph of operations, and the plans that cuDNN lists for it.
#pragma once

#include "cudnn.hpp"

#include <limits>

/// A descriptor of cuDNN's, which keeps those that it was given.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type);

  /// A number or an enumerator.
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, T value) {
    return set(name, type, 1, &value);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Sizes& values) {
    return set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.begin());
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other);
  Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<Descriptor>& others);
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                  const void* values);
  Descriptor& finalize();
  /// Keeps the other one as long as this one.
  void keep(const Descriptor& other);
  cudnnBackendDescriptor_t get() const { return held_.get(); }

 private:
  std::shared_ptr<void> held_{};
  std::vector<std::shared_ptr<void>> parts_{};
};

/// A graph in the making. Inputs have the numbers 1, 2 ...
class Graph {
 public:
  /// What a tensor that has an address holds.
  struct Tensor {
    std::int64_t number = 0, count = 0;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    bool weights = false, positive = false;
  };

  Descriptor input(const Sizes& dims, const Sizes& strides, cudnnDataType_t type, bool weights, bool positive = false);
  Descriptor output(const Sizes& dims, const Sizes& strides, cudnnDataType_t type);
  /// A tensor between two operations, which is nowhere in memory.
  Descriptor between(const Sizes& dims, const Sizes& strides, cudnnDataType_t type);
  /// A number that the host gives, beside tensors of so many dimensions.
  Descriptor number(float value, std::size_t rank);
  /// Finalizes the operation and appends it.
  void add(Descriptor& operation);

  const std::vector<Descriptor>& operations() const { return operations_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }  ///< inputs and the output, which is the last one
  const std::vector<std::shared_ptr<float>>& numbers() const { return numbers_; }
  static constexpr std::int64_t output_number = 1000, first_between = 2000, first_host_number = 3000;

 private:
  Descriptor tensor(std::int64_t number, const Sizes& dims, const Sizes& strides, cudnnDataType_t type, bool is_virtual,
                    bool by_value);

  std::vector<Descriptor> operations_{};
  std::vector<Tensor> tensors_{};
  std::vector<std::shared_ptr<float>> numbers_{};
  std::int64_t between_ = first_between;
};

/// Registers each configuration that the heuristics list; returns why there are none. `strict`: none that rounds f32.
std::string add_plans(const char* signature, const Work& work, const Graph& graph, bool strict,
                      const std::string& suffix);
