// SPDX-License-Identifier: Apache-2.0
// Prints the gap of the engine: show_gap MODEL.onnx RESULTS
#include "mnist_engine.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>
#include <benanza/report/gap_report.hpp>

#include <cstdio>
#include <exception>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "show_gap MODEL.onnx RESULTS\n");
    return 2;
  }
  try {
    const auto model = benanza::make_model_layers(benanza::import_onnx(argv[1]));
    const auto results = benanza::ResultDatabase::load(argv[2]);
    benanza::GapReport report;
    report.bound.machine = results.machines().front();
    report.bound.models = {benanza::analyze(model, results, {.threads = 1})};

    MnistEngine engine;
    report.profile = profile_of(engine, 100);
    report.gap = benanza::compare(report.bound.models.front(), model, report.profile);
    write_table(std::cout, report, {.all = true});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "show_gap: %s\n", error.what());
    return 1;
  }
}
