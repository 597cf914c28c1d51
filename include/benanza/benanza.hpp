// SPDX-License-Identifier: Apache-2.0
// The facade: what most programs need. `import_onnx` reads a model, `make_model_layers` finds its layers, `analyze`
// bounds its latency from stored results, `Session` measures what these lack, and `compare` an engine's
// profile with the bounds; reports print all of it. Link benanza::analyzer, benanza::session for a Session, and
// benanza::report for reports.
#pragma once

#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/gap/gap.hpp>
#include <benanza/onnx.hpp>
#include <benanza/profile/engine_profile.hpp>
#include <benanza/report/gap_report.hpp>
#include <benanza/report/report.hpp>
#include <benanza/session/session.hpp>
#include <benanza/version.hpp>
