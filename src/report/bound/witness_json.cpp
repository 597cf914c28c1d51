// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <cmath>
#include <optional>

namespace benanza::report {

using namespace format;

namespace {

Json calls_json(const Witness& witness) {
  const auto known = [](Seconds time) { return time.value > 0 ? ms(time) : Json(); };
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json calls = Json::array();
  for (const auto& call : witness.calls)
    calls.push_back({{"nodes", call.nodes},
                     {"plan", call.plan},
                     {"layer", text_or_null(call.layer)},
                     {"layout_plan", text_or_null(call.layout_plan)},
                     {"alone_ms", known(call.alone)},
                     {"fastest_ms", known(call.fastest)},
                     {"in_place_ms", ms(call.in_place)},
                     {"once_ms", ms(call.once)}});
  return calls;
}

Json check_json(const std::optional<WitnessCheck>& check) {
  if (!check) return nullptr;
  return {{"calls", check->calls},
          {"nodes", check->nodes},
          {"plan", check->plan},
          {"difference", number(check->difference)},
          {"tolerance", number(check->tolerance)}};
}

}  // namespace

void add_witness(Json& model, const Witness& witness, const Analysis& a) {
  model["bounds_ms"]["library_chained"] = nullptr;
  model["bounds_ms"]["witness"] = nullptr;
  if (!witness.given()) {
    model["witness"] = {{"refused", witness.refused}};
    return;
  }
  const auto of_sequence = [&](double value) { return witness.node_by_node ? Json() : number(value); };
  Json tightness, chained;
  if (const auto& bound = a[RungName::library_fused_resident].bound; bound && !witness.node_by_node) {
    tightness = number(witness.p10 / *bound);
    chained = ms(witness.chained(*bound));
  }
  model["bounds_ms"]["library_chained"] = chained;
  model["bounds_ms"]["witness"] = ms(witness.p10);
  model["median_ms"]["witness"] = ms(witness.median);
  if (std::isfinite(witness.uncertainty)) model["uncertainty"]["witness"] = witness.uncertainty;
  model["witness"] = {{"p10_ms", ms(witness.p10)},
                      {"median_ms", ms(witness.median)},
                      {"uncertainty", number(witness.uncertainty)},
                      {"executions", witness.executions},
                      {"discarded", witness.discarded},
                      {"round_trip_us", number(witness.round_trip.value * 1e6)},
                      {"usual_round_trip_us", number(witness.usual_round_trip.value * 1e6)},
                      {"distant", witness.distant()},
                      {"one_graph", witness.one_graph},
                      {"node_by_node", witness.node_by_node},
                      {"outputs_checked", witness.node_by_node ? Json(witness.checked) : Json()},
                      {"sequences_tried", witness.tried},
                      {"threads", witness.threads},
                      {"tightness", tightness},
                      {"representative", witness.representative()},
                      {"slower_plans_ms", ms(witness.slower_plans())},
                      {"saved_by_orders_ms", ms(witness.saved_by_orders())},
                      {"layout_changes_alone_ms", ms(witness.layout_changes_alone())},
                      {"switches_ms", ms(witness.switches)},
                      {"layout_changes_ms", ms(witness.layout_changes())},
                      {"reference_ms", ms(witness.by_reference())},
                      {"calls_ms", ms(witness.in_calls())},
                      {"peak_bytes", of_sequence(witness.peak.value)},
                      {"all_tensors_bytes", of_sequence(witness.all_tensors.value)},
                      {"difference", of_sequence(witness.difference)},
                      {"unequal", of_sequence(witness.unequal)},
                      {"check", check_json(witness.check)},
                      {"calls", calls_json(witness)}};
}

}  // namespace benanza::report
