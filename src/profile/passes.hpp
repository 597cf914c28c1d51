// SPDX-License-Identifier: Apache-2.0
// Passes: which part of a run is one pass of the model, and which passes are warm-ups. Shared by all readers.
#pragma once

#include "source.hpp"
#include <benanza/profile/engine_profile.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza::profile {

/// Elements [first, last) of a sequence.
struct Stretch {
  std::size_t first = 0, last = 0;
  bool operator==(const Stretch&) const = default;
};

/// For files that mark no passes: the longest stretch of the sequence that repeats itself, cut into its repetitions.
/// What precedes (set-up, autotuning) and follows it belongs to none. Equal ids are the same kernel with the same
/// parameters. `idle_before` (as long as ids, or empty) is the idle time before each element: a pass begins where it is
/// longest, if the stretch neither begins nor ends where the sequence does. Empty where nothing repeats: the whole is
/// one pass then.
[[nodiscard]] std::vector<Stretch> find_repetitions(std::span<const std::uint32_t> ids,
                                                    std::span<const double> idle_before = {});

/// What the passes that repeated_passes finds must cover.
enum class Covering : std::uint8_t {
  behind_warm_up,  ///< all but what precedes the first one, and a last one that was cut off
  whole            ///< the whole sequence: where the file of one pass is the usual thing
};

/// The passes of a file that marks none: repetitions that cover the sequence, else (blocks of one pass repeat too) only
/// those that begin after idle times at least twice as long as any inside them; or as many as the options say. Passes
/// found by repetition alone come with a warning. Where nothing repeats like that the whole is one pass; empty for no
/// ids. Throws InputError where the sequence cannot be the number of passes that the options say.
[[nodiscard]] std::vector<Stretch> repeated_passes(const Source& source, std::span<const std::uint32_t> ids,
                                                   std::span<const double> idle_before, const ProfileOptions& options,
                                                   std::vector<std::string>& warnings,
                                                   Covering covering = Covering::behind_warm_up);

/// How many of the first passes are warm-ups: as many as the options say; else by their times (detail/warm_ups.hpp).
/// Throws InputError where that would leave none.
[[nodiscard]] std::size_t warm_up_passes(const Source& source, std::span<const Seconds> passes,
                                         const ProfileOptions& options);

inline constexpr std::uint32_t no_parent = 0xFFFFFFFF;

/// One event of a pass: what it is (an id of the reader's) and when.
struct PassEvent {
  std::uint32_t what = 0;
  std::uint32_t source = 0;          ///< where the reader finds more about it
  std::uint32_t parent = no_parent;  ///< index in the same pass
  double start = 0, duration = 0;    ///< seconds, from the start of the pass
};

/// Collects the events of passes into records. The k-th event of one id in a pass is the same record in every pass.
class PassRecords {
 public:
  /// Events of the next pass.
  void add_pass(std::span<const PassEvent> events);
  struct Collected {
    std::uint32_t what = 0, source = 0;   ///< values from the first pass that had it
    std::optional<std::size_t> parent{};  ///< index into what take() gives
    double start = 0;                     ///< median
    std::vector<Seconds> times{};         ///< one a pass; 0 where the pass lacked it
    std::vector<float> starts_s{};        ///< likewise; NaN where the pass lacked it
    std::size_t present = 0;              ///< passes that had it
  };
  /// All records, in order of their start; nothing is left here.
  [[nodiscard]] std::vector<Collected> take();
  [[nodiscard]] std::size_t passes() const { return passes_; }

 private:
  struct Slot {
    std::uint32_t what = 0, source = 0, parent = no_parent;
    std::size_t first_pass = 0;
    std::vector<float> starts{};  // NaN where a pass lacked it
    std::vector<Seconds> times{};
  };
  std::vector<Slot> slots_{};
  std::vector<std::vector<std::uint32_t>> slots_of_{};  // by id, by occurrence
  std::vector<std::uint32_t> seen_{};                   // occurrences in the pass being added, by id
  std::vector<std::uint32_t> slot_of_event_{};
  std::size_t passes_ = 0;
};

}  // namespace benanza::profile
