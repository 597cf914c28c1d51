// SPDX-License-Identifier: Apache-2.0
// The witness: what joins its calls, and the calls that lose the most in place.

const witnessCallsShown = 12;

function witnessFacts(witness) {
  return el("dl", { class: "facts" }, [
    ["executed", `${timeText(witness.p10_ms)}${witness.uncertainty === null ? "" : ` ± ${percent(witness.uncertainty)}`}, median ${timeText(witness.median_ms)}, ${plural(witness.executions, "execution")} on ${plural(witness.threads, "thread")}`],
    witness.tightness !== null && ["tightness", `${digits(witness.tightness)} times library fused resident`],
    !witness.node_by_node && ["slower plans", `${timeText(witness.slower_plans_ms)}: plans that fit their neighbours take that much longer than the fastest ones`],
    witness.saved_by_orders_ms > 0 && ["not needed", `${timeText(witness.saved_by_orders_ms)} of the bound is movement that the orders of the calls make unnecessary`],
    !witness.node_by_node && ["changes of layout", `${timeText(witness.layout_changes_ms)} in place, ${timeText(witness.layout_changes_alone_ms)} alone`],
    !witness.node_by_node && ["changes of threads", `${timeText(witness.switches_ms)} between threads of two libraries`],
    witness.reference_ms > 0 && ["by the reference", timeText(witness.reference_ms)],
    !witness.node_by_node && ["memory", `${scaled(witness.peak_bytes, "B")} for activations; each in memory of its own ${scaled(witness.all_tensors_bytes, "B")}`],
    witness.node_by_node ? ["node by node", `data decides what runs or how large it is; ${plural(witness.outputs_checked, "output")} of plans agree with the reference`]
      : ["outputs", `differ by ${witness.difference.toExponential(1)} of the largest magnitude from those of single nodes`],
    witness.unequal > 0 && ["integers", `${percent(witness.unequal, 2)} of an output's differ from those of single nodes`],
    witness.check && witness.check.nodes.length > 0 && ["checked", `${plural(witness.check.calls, "call")} against the reference; the most differs ${witness.check.nodes[0]}, by ${witness.check.difference === null ? "infinity" : witness.check.difference.toExponential(1)}`],
  ].filter(Boolean).map(([term, value]) => [el("dt", {}, term), el("dd", {}, value)]));
}

function witnessSection(model) {
  const witness = model.witness;
  if (!witness) return null;
  if (witness.refused !== undefined) return section("Witness", null, el("p", { class: "warning" }, el("b", {}, "No witness: "), witness.refused, "."));
  const lost = (call) => call.in_place_ms - (call.fastest_ms || 0);
  const calls = witness.calls.slice().sort((a, b) => lost(b) - lost(a)).slice(0, witnessCallsShown);
  const heads = [["call"], ["in place", true], ["alone", true], ["fastest plan", true]];
  return section("Witness", "The whole model was executed from the measured plans. In place: inside that execution; alone: the plan's row; fastest plan: the row of the fastest one.",
    !witness.representative && el("p", { class: "warning" }, el("b", {}, "Not representative: "), "the reference ran more than 1 % of the time."),
    witness.distant && el("p", { class: "warning" }, el("b", {}, "Slower than usual: "), `the threads were far from each other. The round trip of a cache line took ${digits(witness.round_trip_us)} µs, usually ${digits(witness.usual_round_trip_us)} µs.`),
    witnessFacts(witness),
    el("div", { class: "wide" }, el("table", { class: "witness" },
      el("caption", {}, `${calls.length} of ${plural(witness.calls.length, "call")}: those that exceed the fastest plan by the most`),
      el("thead", {}, el("tr", {}, heads.map(([text, number]) => el("th", { scope: "col", class: number && "number" }, text)))),
      el("tbody", {}, calls.map((call) => el("tr", {},
        el("td", {}, call.nodes[0] + (call.nodes.length > 1 ? ` and ${call.nodes.length - 1} more` : ""), el("small", {}, call.plan)),
        el("td", { class: "number" }, timeText(call.in_place_ms)),
        [call.alone_ms, call.fastest_ms].map((time) => el("td", { class: "number" }, time === null ? "–" : timeText(time)))))))));
}
