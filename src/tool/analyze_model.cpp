// SPDX-License-Identifier: Apache-2.0
#include "analyze_model.hpp"

#include "models.hpp"
#include <benanza/bounds/analyze.hpp>

namespace benanza::tool {

Analysis analyze_model(const ModelLayers& model, const ResultDatabase& results, const AnalysisOptions& options) {
  return naming(model.single.file, [&] { return analyze(model, results, options); });
}

}  // namespace benanza::tool
