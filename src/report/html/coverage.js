// SPDX-License-Identifier: Apache-2.0
// Coverage: which part of a model is measured, modelled, free or missing, by count, time and FLOPs.

function coverageBar(label, shares, counts) {
  const said = data.statuses.map((status) => `${counts ? counts[status] : percent(shares[status])} ${status}`).join(", ");
  return el("div", { class: "stack-row" }, el("span", { class: "stack-name" }, label),
    el("div", { class: "stack", role: "img", "aria-label": `${label}: ${said}` }, data.statuses.filter((status) => shares[status] > 0).map((status) =>
      el("span", { class: `part s-${status}`, style: `width:${100 * shares[status]}%`, title: `${status}: ${counts ? counts[status] + ", " : ""}${percent(shares[status])}` },
        shares[status] > 0.09 ? percent(shares[status], 0) : ""))));
}

function coverageOf(title, coverage) {
  const all = sum(data.statuses.map((status) => coverage[status]));
  const byCount = Object.fromEntries(data.statuses.map((status) => [status, all ? coverage[status] / all : 0]));
  return el("div", { class: "coverage" }, el("h4", {}, title),
    el("p", { class: "counts" }, data.statuses.map((status) => el("span", {}, el("span", { class: `key s-${status}` }), `${status} ${coverage[status]}`))),
    coverageBar("count", byCount, coverage), coverageBar("time", coverage.time_share), coverageBar("FLOPs", coverage.flops_share));
}

function textList(title, texts, open) {
  return texts.length > 0 && el("details", { open }, el("summary", {}, `${title} (${texts.length})`), el("ul", { class: "texts" }, texts.map((text) => el("li", {}, el("code", {}, text)))));
}

function coverageSection(model) {
  const modelled = rowsOf(model).filter((row) => row.status === "modelled" && row.form === "single").map((row) => row.signature + (row.reason ? `: ${row.reason}` : ""));
  return section("Coverage", "Occurrences of layers: measured by a library call, modelled by their FLOPs and bytes where no library has one, free by rule, or missing.",
    el("div", { class: "columns" }, coverageOf("layer by layer", model.coverage), coverageOf("fused", model.coverage_fused)),
    textList("missing: the bounds lack these", model.missing, true), textList("modelled", modelled, false),
    textList("branches of If", model.choices, false),
    textList("what the floor may count too much", (model.floor_exceptions || []).map((each) => `${each.node}: ${each.kind}`), false));
}
