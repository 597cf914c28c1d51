// SPDX-License-Identifier: Apache-2.0
// A subcommand that emits the added report. Compiled only.
#include "output.hpp"
#include <benanza/report/name_report.hpp>

void print_names(const benanza::tool::OutputOptions& options) {
  benanza::tool::emit(benanza::NameReport{.models = {"resnet50"}}, options);
}
