// SPDX-License-Identifier: Apache-2.0
// Backend: a library that can run layers. Algorithm: one of its ways to run a layer. Plan: an algorithm that is
// prepared but not bound to buffers, so that one plan serves hot runs, rotation over copies, checking against the
// reference, and running the whole model.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/plan/device.hpp>
#include <benanza/plan/element_order.hpp>
#include <benanza/plan/parameters.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza {

/// Why a backend cannot run a layer, or cannot run at all here. Data, never an exception.
struct Unsupported {
  std::string reason{};
};

/// The memory layout of an operand in one plan. `name` is "plain" for row-major in the operand's own shape, otherwise
/// the backend's name for it (`aBcd8b`). Operands of one backend are interchangeable if name, shape and type are equal.
struct Layout {
  std::string name = "plain";
  std::size_t bytes = 0;
  /// For a layout that is not plain: equal for plans of all backends that mean the same memory. Empty if the plan
  /// cannot say: padding, hidden formats, constants that are not the operand's own numbers.
  std::optional<ElementOrder> order{};
  bool operator==(const Layout&) const = default;
};

/// The buffers of one call, in the order of `operands(layer)`.
struct Arguments {
  std::span<const void* const> inputs{};
  std::span<void* const> outputs{};
  void* workspace = nullptr;
};

/// One way to run one layer.
class Plan {
 public:
  virtual ~Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// `name[,key=value]...` from `A-Za-z0-9_.,=:x-`, with threads as the last key: `brgconv:avx2,threads=2`.
  [[nodiscard]] const std::string& algorithm() const { return algorithm_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] const std::vector<Layout>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<Layout>& outputs() const { return outputs_; }
  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Saves multiplications compared with the direct algorithm (Winograd, FFT): not held against direct floors, raises
  /// no ceiling.
  [[nodiscard]] bool saves_multiplications() const { return saves_multiplications_; }
  /// Largest accepted difference from the reference, relative to the largest magnitude of the sampled outputs.
  [[nodiscard]] double tolerance() const { return tolerance_; }
  /// Whether it is the library's own first choice for the problem: what its heuristic chooses.
  [[nodiscard]] bool advised() const { return advised_; }

  /// Converts input `i` from row-major to this plan's layout; constants are packed outside the timed region. Both
  /// buffers are in the processor's memory, even if calls run on a device.
  void pack_input(std::size_t i, const void* plain, void* packed) const { do_pack_input(i, plain, packed); }
  /// Converts output `i` from this plan's layout to row-major.
  void unpack_output(std::size_t i, const void* packed, void* plain) const { do_unpack_output(i, packed, plain); }
  /// The position of element `index` (flat, row-major) of output `i` in this plan's layout, counted in elements, so
  /// that a check can read a few of them. Empty if the plan cannot say: the output is then unpacked as a whole.
  [[nodiscard]] std::optional<std::int64_t> output_position(std::size_t i, std::int64_t index) const {
    return do_output_position(i, index);
  }
  /// The input whose elements output `i` has before a call, in a layout that both have: the plan adds to them in place.
  /// Empty for an output that is only written. Does not cover what the layer itself updates in place: `starts_as` below
  /// covers both.
  [[nodiscard]] std::optional<std::size_t> sums_into(std::size_t i) const {
    return i < sums_into_.size() ? sums_into_[i] : std::nullopt;
  }
  /// The inputs that may share the buffer of output 0: the plan reads each element before it writes the element at the
  /// same place. Both have the same layout and size.
  [[nodiscard]] const std::vector<std::size_t>& overwritable() const { return overwritable_; }
  /// Runs once, synchronously; on a device it is only enqueued on the stream. Buffers are aligned to 64 bytes, the
  /// workspace to 256. They have the layouts' sizes and do not overlap, except for an input that an output starts as
  /// and for one input that is `overwritable`.
  void execute(const Arguments& arguments) const { do_execute(arguments); }

 protected:
  struct Description {
    std::string algorithm{};
    int threads = 1;
    std::vector<Layout> inputs{}, outputs{};
    std::size_t workspace_bytes = 0;
    bool saves_multiplications = false;
    bool advised = false;  ///< as in PlanDraft, for a backend that lists plans
    double tolerance = 1e-4;
    std::vector<std::optional<std::size_t>> sums_into{};  ///< by output; missing entries are empty
    std::vector<std::size_t> overwritable{};
  };
  explicit Plan(Description d)
      : algorithm_(std::move(d.algorithm)),
        threads_(d.threads),
        inputs_(std::move(d.inputs)),
        outputs_(std::move(d.outputs)),
        workspace_bytes_(d.workspace_bytes),
        saves_multiplications_(d.saves_multiplications),
        advised_(d.advised),
        tolerance_(d.tolerance),
        sums_into_(std::move(d.sums_into)),
        overwritable_(std::move(d.overwritable)) {}

 private:
  virtual void do_pack_input(std::size_t i, const void* plain,
                             void* packed) const;  // default: copies, for plain layouts
  virtual void do_unpack_output(std::size_t i, const void* packed, void* plain) const;
  /// Default: `index` in a plain layout, empty in others.
  [[nodiscard]] virtual std::optional<std::int64_t> do_output_position(std::size_t i, std::int64_t index) const;
  virtual void do_execute(const Arguments& arguments) const = 0;

  std::string algorithm_;
  int threads_;
  std::vector<Layout> inputs_, outputs_;
  std::size_t workspace_bytes_;
  bool saves_multiplications_;
  bool advised_;
  double tolerance_;
  std::vector<std::optional<std::size_t>> sums_into_;
  std::vector<std::size_t> overwritable_;
};

/// The input whose elements output `i` of the plan, which is `output` of the layer, has before a call, in the layout
/// that the plan gives both: the layer or the plan updates it in place, and the plan does not read that input. Empty
/// for an output that is only written.
[[nodiscard]] std::optional<std::size_t> starts_as(const Plan& plan, const Operand& output, std::size_t i);

using Plans = std::vector<std::unique_ptr<Plan>>;

/// A plan that has a name but is not built yet: a tuner can order, postpone or skip it before it pays for the
/// preparation.
struct PlanDraft {
  std::string algorithm{};  ///< of the plan
  int threads = 1;
  bool advised = false;  ///< the library's own first choice for this problem: what its heuristic chooses
  /// Does the preparation (code generation, finalisation). Called at most once.
  std::function<std::variant<std::unique_ptr<Plan>, Unsupported>()> build{};
};
using PlanDrafts = std::vector<PlanDraft>;

/// What a backend that lists drafts returns as its plans: all that can be built, or why there is none.
[[nodiscard]] std::variant<Plans, Unsupported> build_all(std::variant<PlanDrafts, Unsupported> drafts);

/// Plans that are already built, as drafts.
[[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts_of(std::variant<Plans, Unsupported> plans);

/// Row-major layouts of operands, for plans that change no layout.
[[nodiscard]] std::vector<Layout> plain_layouts(std::span<const Operand> operands);

class Backend {
 public:
  virtual ~Backend() = default;
  /// As in `--backend` and in row names: `onednn`.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Version of the library, part of a result's key: `3.2.0`; own kernels give their revision.
  [[nodiscard]] virtual std::string version() const = 0;
  /// Whether plans of more than one thread run on GNU OpenMP's team: the measuring loop binds it, and ends it before
  /// others run.
  [[nodiscard]] virtual bool uses_openmp() const { return false; }
  /// Whether its plans run on an accelerator; does not touch it.
  [[nodiscard]] virtual bool on_device() const { return false; }
  /// The accelerator whose memory its plans use and on whose stream they enqueue; null: the processor. Only for an
  /// available backend.
  [[nodiscard]] virtual std::shared_ptr<Device> device() const { return nullptr; }
  /// Empty if the backend can run here, otherwise the reason why not.
  [[nodiscard]] virtual std::variant<std::monostate, Unsupported> availability() const { return {}; }
  /// The same backend with plans that run on GNU OpenMP's team instead of threads of its own, so that consecutive calls
  /// of several libraries do not switch threads; null: it has none, or no OpenMP is in the process.
  [[nodiscard]] virtual std::shared_ptr<const Backend> on_openmp() const { return nullptr; }
  /// Every way to run the layer on `threads` threads, or why there is none. Creating a plan does its preparation (code
  /// generation, heuristics); only touching memory is left to the first call.
  [[nodiscard]] virtual std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const = 0;
  /// The same ways by name, in the order in which to try them. A backend whose plans take long to build overrides this
  /// one, so that a tuner can build them one at a time until its time is over, or only the plan that a row names.
  /// Default: `plans`, already built.
  [[nodiscard]] virtual std::variant<PlanDrafts, Unsupported> drafts(const Layer& layer, int threads) const;
  /// The same ways, with the same names, that compute with `numbers`, which do not affect the speed. Default: `drafts`
  /// if plans are measured with these numbers, `parameters_of(layer)`; otherwise why there is none.
  [[nodiscard]] virtual std::variant<PlanDrafts, Unsupported> drafts_with(const Layer& layer, int threads,
                                                                          const Parameters& numbers) const;
};

}  // namespace benanza
