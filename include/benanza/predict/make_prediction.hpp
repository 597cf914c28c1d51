// SPDX-License-Identifier: Apache-2.0
// predict: predicts a model's time on one device from its layers and their rows on another. Pure computation: each
// layer uses the first method that has a basis, in the order of PredictionMethod.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/predict/detail/ratio_database.hpp>
#include <benanza/predict/prediction.hpp>
#include <benanza/results/device_record.hpp>
#include <benanza/results/results.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace benanza {

/// Measured rows of a device by signature: for each layer the one that is expected to be the fastest.
using FastestRows = std::map<std::string, Measurement>;

/// Uses rows of at most this many threads, with the same data in each call.
[[nodiscard]] FastestRows fastest_rows(const ResultDatabase& results, int threads);

/// What two layers of one kind have in common: operator and type, `Conv/f32`; for a gradient also the operator that it
/// belongs to, and for an operator of which only the bytes are known also its name.
[[nodiscard]] std::string kind_of(std::string_view signature);

/// The functions that are fused after a layer, without their sizes: `bias,add,relu`; empty if there are none.
[[nodiscard]] std::string epilogue_of(std::string_view signature);

[[nodiscard]] LayerFeatures features_of(const std::string& signature, Seconds time);

/// Layers for which both devices have rows.
[[nodiscard]] RatioDatabase ratios_of(const FastestRows& from, const FastestRows& to);

/// What a prediction is made for.
struct PredictionTarget {
  DeviceRecord record{};
  FastestRows rows{};      ///< measured on it; may be empty
  RatioDatabase ratios{};  ///< from the origin to it
  std::optional<double> price{};
};

/// Predicts the model of `analysis` on the target: its layers of one form, one after the other, as they are expected to
/// run. `analysis` must come from results of the origin.
[[nodiscard]] Prediction predict(const Analysis& analysis, const DeviceRecord& origin, const PredictionTarget& target,
                                 Form form = Form::fused);

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/predict/make_prediction_inl.hpp>
#endif
