// SPDX-License-Identifier: Apache-2.0
// RowStatus: whether a row has a time that counts, and if not, the kind of reason. A results file names the status of a
// row without a time. A reason also begins with words for it: people read them, and older files have nothing else. Only
// this header reads and writes these words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace benanza {

enum class RowStatus : std::uint8_t {
  measured,     ///< has a time
  unsupported,  ///< the backend has no plan for the layer, or lists this one and cannot build it
  failed,       ///< threw or could not be checked
  ended,        ///< the process that tried it crashed, hung, was killed, or took all memory: later sessions try again
  wrong,        ///< the result differs from the reference
  slower,       ///< dropped after its first call, because it takes clearly longer than the best
  not_tried,    ///< left out, and more time would not change that
  out_of_time,  ///< left out for lack of time: it might be the best
  damaged,      ///< a value of the row cannot be true, so that none of its times counts: it might be the best
};

/// As a results file names them.
[[nodiscard]] constexpr std::array<std::string_view, 9> enum_names(RowStatus) {
  return {"measured", "unsupported", "failed", "ended", "wrong", "slower", "not-tried", "out-of-time", "damaged"};
}

[[nodiscard]] constexpr bool was_tried(RowStatus status) {
  return status != RowStatus::not_tried && status != RowStatus::out_of_time && status != RowStatus::damaged;
}

namespace detail {

/// How reasons begin that say how a process ended. Also after `failed: `, in a row without a plan.
inline constexpr std::array<std::string_view, 5> endings{"crashed: ", "hung: ", "killed, as the system does",
                                                         "out of memory: the process", "lost the device"};

/// How a reason begins in a results file. `has_plan`: the row has a plan, and does not say why there is none.
[[nodiscard]] constexpr std::string_view reason_prefix(RowStatus status, bool has_plan) {
  switch (status) {
    case RowStatus::unsupported: return has_plan ? "not offered: " : "";
    case RowStatus::failed: return "failed: ";
    case RowStatus::wrong: return "wrong result: ";
    case RowStatus::slower: return "clearly slower after one call: ";
    case RowStatus::not_tried: return "not tried: ";
    case RowStatus::out_of_time: return "not tried: the budget gave this layer no more time";
    case RowStatus::ended:
    case RowStatus::damaged:
    case RowStatus::measured: break;
  }
  return "";
}

}  // namespace detail

/// The reason as in a results file: `why` after the words for the status, unless it begins with them. The words for
/// `out_of_time` are a reason by themselves.
[[nodiscard]] inline std::string reason_text(RowStatus status, std::string_view why, bool has_plan = true) {
  const std::string_view prefix = detail::reason_prefix(status, has_plan);
  return std::string(why.starts_with(prefix) ? "" : prefix).append(why);
}

/// The status that a reason states in a results file without one. A reason that begins with no such words is a failure;
/// in a row without a plan it says that the layer is unsupported.
[[nodiscard]] constexpr RowStatus status_of_reason(std::string_view reason, bool has_plan) {
  using enum RowStatus;
  const std::string_view failure = detail::reason_prefix(failed, has_plan);
  const std::string_view how = reason.starts_with(failure) ? reason.substr(failure.size()) : reason;
  for (const std::string_view ending : detail::endings)
    if (how.starts_with(ending)) return ended;
  const auto states = [&](RowStatus status) { return reason.starts_with(detail::reason_prefix(status, has_plan)); };
  if (reason == detail::reason_prefix(out_of_time, has_plan)) return out_of_time;
  for (const RowStatus status : {failed, wrong, slower, not_tried, unsupported})
    if (states(status)) return status;
  return failed;
}

}  // namespace benanza
