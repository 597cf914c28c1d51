// SPDX-License-Identifier: Apache-2.0
#include <benanza/report/gap_report.hpp>

namespace benanza {

std::string_view describe(Cause cause) {
  switch (cause) {
    case Cause::conversions: return "layout, type conversions";
    case Cause::copies: return "copies";
    case Cause::waits: return "waits";
    case Cause::calls: return "launches and allocations";
    case Cause::between_calls: return "between library calls";
    case Cause::host: return "the framework itself";
    case Cause::throughout: return "all layers alike";
    case Cause::slower_layers: return "slower layers";
    case Cause::faster_layers: return "faster layers";
    case Cause::modelled: return "layers without a time";
    case Cause::not_fused: return "not fused";
    case Cause::views: return "views, free in the bound";
    case Cause::extra_calls: return "extra calls";
    case Cause::unmatched: return "unmatched";
    case Cause::not_in_profile: return "in no record";
    case Cause::between_layers: return "between layers";
    case Cause::side_by_side: return "side by side";
    case Cause::rung: return "the rung itself";
    case Cause::unexplained: return "unexplained";
  }
  return "";
}

std::string_view describe(Phase phase) {
  switch (phase) {
    case Phase::forward: return "forward, loss";
    case Phase::loss: return "loss";
    case Phase::backward: return "backward";
    case Phase::update: return "optimizer";
  }
  return "";
}

}  // namespace benanza
