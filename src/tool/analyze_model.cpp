// SPDX-License-Identifier: Apache-2.0
#include "analyze_model.hpp"

#include <benanza/bounds/analyze.hpp>

namespace benanza::tool {

Analysis analyze_model(const ModelLayers& model, const ResultDatabase& results, const AnalysisOptions& options) {
  return analyze(model, results, options);
}

}  // namespace benanza::tool
