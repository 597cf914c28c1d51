// SPDX-License-Identifier: Apache-2.0
// make_study: from accounts of bounds and latencies of frameworks to a study. Pure computation.
#pragma once

#include <benanza/study/study.hpp>

#include <string>
#include <vector>

namespace benanza {

/// A device's name as tables show it: `Tesla_T4` and `Tesla T4` are one device.
[[nodiscard]] std::string device_name(std::string text);

/// Letters and digits alone, in lower case: by that a file's name for a model is found among the models.
[[nodiscard]] std::string plain_name(const std::string& text);

/// Accounts of one model, device and batch size stand in the order in which they count: a row takes each rung from the
/// first that has it, and each speed-up from the first that has both of its sides. Behind the first, only accounts that
/// lack no layer count. Latencies join by model, device and batch size; one without a device belongs to the only device
/// that the accounts have. What two files have alike counts once; of several latencies of one framework each has its
/// row, and the first counts in means. A latency below the model floor, or below a fifth of every bound, is not one of
/// the model: it keeps its row, gets no ratio, and is noted.
[[nodiscard]] Study make_study(std::vector<StudyAccount> accounts, std::vector<StudyLatency> latencies);

}  // namespace benanza
