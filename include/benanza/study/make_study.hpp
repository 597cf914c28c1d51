// SPDX-License-Identifier: Apache-2.0
// make_study: makes a study from accounts of bounds and latencies of frameworks. Pure computation.
#pragma once

#include <benanza/study/study.hpp>

#include <string>
#include <vector>

namespace benanza {

/// A device's name as tables show it: `Tesla_T4` and `Tesla T4` are one device.
[[nodiscard]] std::string device_name(std::string text);

/// Only letters and digits, in lower case: used to find a model by the name that a file has for it.
[[nodiscard]] std::string plain_name(const std::string& text);

/// Accounts of one model, device and batch size are in order of precedence: a row takes each rung from the first
/// account that has it, and each speed-up from the first that has both of its sides. After the first account, only
/// accounts that lack no layer count. Latencies join by model, device and batch size; one without a device belongs to
/// the only device that the accounts have. Equal entries of two files count once. If a framework has several latencies,
/// each has its row, the first counts in means, and a note names one that does not. A latency below the model floor, or
/// below a fifth of every bound, is not one of the model: it keeps its row, gets no ratio, and is noted.
[[nodiscard]] Study make_study(std::vector<StudyAccount> accounts, std::vector<StudyLatency> latencies);

}  // namespace benanza
