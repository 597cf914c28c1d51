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

/// The id of an element that cannot be read: it may be any other one.
inline constexpr std::uint32_t unreadable_id = 0xFFFFFFFF;

/// Whether two elements may be the same kernel.
[[nodiscard]] inline bool may_be_same(std::uint32_t a, std::uint32_t b) {
  return a == b || a == unreadable_id || b == unreadable_id;
}

/// For files that do not mark passes: the longest range of the sequence that repeats itself, cut into its repetitions.
/// What precedes it (set-up, autotuning) and what follows it belong to no pass. Equal ids are the same kernel with the
/// same parameters. `idle_before` (as long as ids, or empty) is the idle time before each element: a pass begins where
/// it is longest, if the range neither begins nor ends where the sequence does. Empty if nothing repeats; in that case,
/// the whole sequence is one pass.
[[nodiscard]] std::vector<Stretch> find_repetitions(std::span<const std::uint32_t> ids,
                                                    std::span<const double> idle_before = {});

/// What the passes that repeated_passes finds must cover.
enum class Covering : std::uint8_t {
  behind_warm_up,  ///< all except what precedes the first pass, and a last pass that is cut off
  /// The whole sequence, except a last pass that is cut off if the names of a pass show that it is one: for formats
  /// that usually contain one pass. That is said only if some of it repeats.
  from_start
};

/// The passes of a file that does not mark them: repetitions that cover the sequence; otherwise (blocks of one pass
/// repeat, too) only repetitions that begin after idle times at least twice as long as any inside them; or as many as
/// the options say. Passes found only by repetition come with a warning. If there is no such repetition, the whole
/// sequence is one pass. Passes with an element that cannot be read are left out, unless all have one. Empty if there
/// are no ids. Throws InputError if the sequence cannot be divided into the number of passes in the options.
[[nodiscard]] std::vector<Stretch> repeated_passes(const Source& source, std::span<const std::uint32_t> ids,
                                                   std::span<const double> idle_before, const ProfileOptions& options,
                                                   std::vector<std::string>& warnings,
                                                   Covering covering = Covering::behind_warm_up);

/// Whether the k-th elements of all these passes can be read.
[[nodiscard]] bool is_readable(std::span<const std::uint32_t> ids, std::span<const Stretch> passes, std::size_t k);

/// Records in these passes that cannot be read.
[[nodiscard]] std::size_t unreadable_in(std::span<const std::uint32_t> ids, std::span<const Stretch> passes);

/// How many of the first passes are warm-ups: the number in the options, or otherwise determined from their times
/// (detail/warm_ups.hpp). Throws InputError if none would be left.
[[nodiscard]] std::size_t warm_up_passes(const Source& source, std::span<const Seconds> passes,
                                         const ProfileOptions& options);

inline constexpr std::uint32_t no_parent = 0xFFFFFFFF;

/// One event of a pass: what it is (an id of the reader) and when it happens.
struct PassEvent {
  std::uint32_t what = 0;
  std::uint32_t source = 0;          ///< where the reader finds more about it
  std::uint32_t parent = no_parent;  ///< index in the same pass
  double start = 0, duration = 0;    ///< seconds, from the start of the pass
};

/// Collects the events of passes into records. The k-th event with an id in a pass is the same record in every pass.
class PassRecords {
 public:
  /// Adds the events of the next pass.
  void add_pass(std::span<const PassEvent> events);
  struct Collected {
    std::uint32_t what = 0, source = 0;   ///< values from the first pass that has it
    std::optional<std::size_t> parent{};  ///< index into the result of take()
    double start = 0;                     ///< median
    std::vector<Seconds> times{};         ///< one per pass; 0 if the pass lacks it
    std::vector<float> starts_s{};        ///< one per pass; NaN if the pass lacks it
    std::size_t present = 0;              ///< number of passes that have it
  };
  /// All records, ordered by their start; leaves this object empty.
  [[nodiscard]] std::vector<Collected> take();
  [[nodiscard]] std::size_t passes() const { return passes_; }

 private:
  struct Slot {
    std::uint32_t what = 0, source = 0, parent = no_parent;
    std::size_t first_pass = 0;
    std::vector<float> starts{};  // NaN if a pass lacks it
    std::vector<Seconds> times{};
  };
  std::vector<Slot> slots_{};
  std::vector<std::vector<std::uint32_t>> slots_of_{};  // by id, by occurrence
  std::vector<std::uint32_t> seen_{};                   // occurrences in the pass being added, by id
  std::vector<std::uint32_t> slot_of_event_{};
  std::size_t passes_ = 0;
};

}  // namespace benanza::profile
