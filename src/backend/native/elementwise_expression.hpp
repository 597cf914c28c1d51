// SPDX-License-Identifier: Apache-2.0
// ExpressionProgram: an expression in one pass over memory. A block of elements that fits the first-level cache goes
// through all steps before the next one. Each reduction ends a pass over its row; what later passes need again is kept
// if the row is short, and computed again otherwise.
#pragma once

#include "context.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace benanza::native {

/// An expression as a sequence of kernel calls. Immutable after its construction; threads share it.
class ExpressionProgram {
 public:
  static constexpr std::size_t line = 64;
  [[nodiscard]] static std::size_t rounded(std::size_t bytes) { return (bytes + line - 1) / line * line; }

  /// Blocks of most elements suit operands in caches; while the next operands come from memory, shorter ones do.
  static constexpr Index long_block = 2048, short_block = 512;

  /// `most_block`: the most elements of a block.
  ExpressionProgram(const op::Expression& op, const Kernels& kernels, bool stream, Index most_block, int threads)
      : op_(op), kernels_(kernels), stream_(stream), values_(op.values()), threads_(threads), block_(most_block) {
    reduces_ = std::any_of(op.steps.begin(), op.steps.end(),
                           [](const auto& step) { return step.kind == StepKind::reduction; });
    rows_ = reduces_ ? element_count(op.row_shape()) : 1;
    row_ = element_count(op.x) / rows_;
    divides_rows_ = threads > 1 && rows_ < 4 * threads && (!reduces_ || row_ >= long_row);
    part_ = divides_rows_ ? (row_ + threads - 1) / threads + static_cast<Index>(line) : row_;
    for (const auto& input : op.in) strides_.push_back(broadcast_strides(input.shape.empty() ? op.x : input.shape));
    by_runs_ = op.x.back() >= shortest_run || op.x.size() == 1;
  }

  /// Finds the kernels of all steps and the passes. Returns false if a kernel is missing.
  [[nodiscard]] bool compile();

  [[nodiscard]] std::size_t scratch_bytes() const {
    return rounded(values_.size() * 16) + kept_count_ * kept_size() + (buffer_count_ + 3) * buffer_size();
  }
  [[nodiscard]] std::size_t shared_bytes() const {
    return rounded(values_.size() * 16 * static_cast<std::size_t>(threads_ + 1));
  }
  void run(const Arguments& arguments, const ThreadPool& pool) const;

 private:
  static constexpr Index shortest_run = 32;  // if shorter, calls for each run cost more than expanding operands
  static constexpr std::size_t cached_bytes = 24 * 1024;  // for the buffers of a block
  static constexpr std::size_t kept_bytes = 256 * 1024;   // for what is kept of a row
  static constexpr Index least_block = 256;
  static constexpr Index long_row = 8192;  // with few rows, the elements of longer ones are divided among threads

  /// The location of a block; one element for the whole block if stride is 0.
  struct View {
    const void* data = nullptr;
    Index stride = 1;
  };

  /// Where a step's result is stored during a block.
  enum class Place : std::uint8_t { block, kept, output };

  struct Instruction {
    std::size_t value = 0;
    Place place = Place::block;
    std::size_t index = 0;  ///< of the buffer or the output
  };

  /// What the kernel of a step reads.
  struct Call {
    std::array<std::size_t, 3> of{};
    std::size_t operands = 0;
    /// The first two operands are factors: their product is added, subtracted or reduced in the same call. The number
    /// is that of Kernels::product_sum.
    std::optional<std::size_t> product{};
  };

  struct Pass {
    std::vector<std::size_t> inputs{};      ///< that are read as they are in memory
    std::vector<Instruction> earlier{};     ///< results of earlier passes
    std::vector<Instruction> code{};        ///< inputs that have to be expanded or widened, and steps
    std::vector<std::size_t> reductions{};  ///< that this pass computes
    std::vector<std::size_t> outputs{};     ///< numbers of the outputs that are converted or stored around the caches
    std::vector<std::size_t> by_row{};      ///< steps with one element for each row that follow the pass, in order
  };

  /// What one thread works with.
  struct Thread {
    const Arguments& arguments;
    std::byte* slots;          ///< values with one element for each row, 8 bytes each
    double* totals;            ///< of reductions
    std::byte* memory;         ///< kept rows, then buffers of a block
    Index row = 0, first = 0;  ///< the row, and the first element of the thread's part of it
    std::array<View, op::Expression::most_inputs + op::Expression::most_steps> views{};
  };

  [[nodiscard]] static bool is_half(DataType type) { return type == DataType::f16 || type == DataType::bf16; }
  /// The type that blocks have: f16 and bf16 are widened.
  [[nodiscard]] static DataType in_blocks(DataType type) { return is_half(type) ? DataType::f32 : type; }
  [[nodiscard]] static Fold fold_of(op::ReduceFn fn);
  [[nodiscard]] static double neutral(Fold fold);
  [[nodiscard]] static double combined(Fold fold, double a, double b);
  [[nodiscard]] bool is_input(std::size_t value) const { return value < op_.in.size(); }
  [[nodiscard]] const ExpressionStep& step(std::size_t value) const { return op_.steps[value - op_.in.size()]; }
  [[nodiscard]] std::size_t bytes(std::size_t value) const { return bytes_of(in_blocks(values_[value].type)); }
  [[nodiscard]] std::size_t kept_size() const { return rounded(static_cast<std::size_t>(part_) * 8); }
  [[nodiscard]] std::size_t buffer_size() const { return static_cast<std::size_t>(block_) * 8; }
  [[nodiscard]] TensorShape broadcast_strides(const TensorShape& shape) const;
  [[nodiscard]] bool is_flat(std::size_t input) const { return op_.in[input].shape.empty(); }
  /// Whether blocks of an input have to be made, because it is widened or has no runs.
  [[nodiscard]] bool is_made(std::size_t input) const {
    return is_half(op_.in[input].type) || (!by_runs_ && !is_flat(input));
  }
  [[nodiscard]] bool has_kernel(std::size_t value) const;
  [[nodiscard]] Index output_of(std::size_t value) const;
  void absorb_products();
  void order();
  void make_pass(std::size_t pass, bool keeps);

  void run_rows(Thread& thread, Index begin, Index end) const;
  void run_divided(const Arguments& arguments, const ThreadPool& pool, std::byte* memory) const;
  void run_part(Thread& thread, const Pass& pass, Index begin, Index end) const;
  void run_block(Thread& thread, const Pass& pass, Index at, Index n) const;
  void begin_row(Thread& thread) const;
  void finish_pass(Thread& thread, const Pass& pass) const;
  void store_row(Thread& thread) const;
  [[nodiscard]] Index offset(std::size_t input, const TensorShape& at) const;
  void make_input(Thread& thread, std::size_t input, Index at, Index n, std::byte* to) const;
  void compute(Thread& thread, std::size_t value, Index n, std::byte* to) const;
  void multiply_add(const Thread& thread, const Call& call, Index n, std::byte* to) const;
  void convert(const void* from, DataType of, DataType to, Index n, void* result, std::byte* spare) const;
  [[nodiscard]] std::byte* buffer(const Thread& thread, std::size_t i) const {
    return thread.memory + kept_count_ * kept_size() + i * buffer_size();
  }
  [[nodiscard]] std::byte* place(const Thread& thread, const Instruction& at, Index element) const;
  [[nodiscard]] const void* filled(Thread& thread, std::size_t value, Index n, std::size_t spare) const;

  op::Expression op_;
  const Kernels& kernels_;
  bool stream_;
  std::vector<op::Expression::Value> values_;
  int threads_;
  bool reduces_ = false, by_runs_ = true, divides_rows_ = false;
  Index rows_ = 1, row_ = 1, part_ = 1, block_;
  std::vector<TensorShape> strides_{};
  std::vector<Call> calls_{};                ///< of each value that is a step
  std::vector<bool> is_absorbed_{};          ///< of each value: another step's call computes it
  std::vector<std::size_t> ready_{};         ///< of each value: the passes before it
  std::vector<std::size_t> first_by_row_{};  ///< steps with one element for each row that need no pass
  std::vector<Pass> passes_{};
  std::vector<std::optional<std::size_t>> kept_{};  ///< of each value: its buffer
  std::size_t kept_count_ = 0, buffer_count_ = 0;
};

}  // namespace benanza::native
