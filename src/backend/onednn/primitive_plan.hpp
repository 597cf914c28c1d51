// SPDX-License-Identifier: Apache-2.0
// PrimitivePlan: a draft made executable: primitives compiled, memory objects and argument lists built once, so that a
// call only executes.
#pragma once

#include "draft.hpp"
#include "library.hpp"

#include <memory>

namespace benanza::onednn {

class PrimitivePlan final : public Plan {
 public:
  /// `name` is the whole algorithm name, including layouts and threads.
  PrimitivePlan(std::shared_ptr<const Library> library, Draft draft, std::string name, const Operands& operands,
                int threads);

 private:
  struct Binding {
    dnnl_memory_t memory = nullptr;
    Slot slot{};
    std::byte* bound = nullptr;  ///< what the memory object points to
  };
  struct Call {
    dnnl::primitive primitive{};
    std::vector<dnnl_exec_arg_t> arguments{};
  };

  void do_pack_input(std::size_t i, const void* plain, void* packed) const override;
  void do_unpack_output(std::size_t i, const void* packed, void* plain) const override;
  [[nodiscard]] std::optional<std::int64_t> do_output_position(std::size_t i, std::int64_t index) const override;
  void do_execute(const Arguments& arguments) const override;
  struct Change {
    Desc from{}, to{};
    dnnl::reorder primitive{};
    dnnl::memory source{}, target{};
  };
  void reorder(const Desc& from, const void* source, const Desc& to, void* target) const;

  std::shared_ptr<const Library> library_;
  std::vector<std::optional<OperandLayout>> input_layouts_, output_layouts_;
  std::vector<std::vector<std::byte>> held_;
  std::vector<dnnl::memory> memories_;
  std::vector<Call> calls_;
  /// The only state that a call changes: the pointers of the last call, because setting them costs more than comparing.
  mutable std::vector<Binding> bindings_;
  mutable std::vector<Change> changes_;  ///< requested before: creating one takes longer than running a small one
};

}  // namespace benanza::onednn
