// SPDX-License-Identifier: Apache-2.0
// The page put together: head, sweeps, overview, a section for each model, and how it was measured.

/// What a headline's time is made of.
function headlineText(model) {
  const main = model.headline, floors = (model.floor_share || {})[main] || 0;
  if (floors >= 1) return "No layer has a measured call; the floors of all layers, fused, take ";
  const caches = main.endsWith("_resident") ? ", weights as the caches hold them" : "";
  return `The best library calls, fused${caches}, ${floors > 0 ? "and the floors of layers without one " : ""}take `;
}

function modelHead(model) {
  const b = model.bounds_ms, main = model.headline;
  return el("div", { class: "lead" },
    data.machine.declared ? el("p", { class: "answer" }, "According to the figures declared for this machine, no engine can take less than ", el("b", { "data-bound": main }, timeText(b[main])), ".") :
    el("p", { class: "answer" }, headlineText(model), el("b", { "data-bound": main }, timeText(b[main])),
      model.uncertainty[main] !== undefined && el("span", { class: "soft" }, ` ± ${percent(model.uncertainty[main])}`),
      b.model_floor > 0 && ["; no engine can take less than ", el("b", { "data-bound": "model_floor" }, timeText(b.model_floor))], "."),
    el("p", { class: "note" }, `${sizesText(model)}, ${model.type}${data.machine.declared ? "" : `, ${plural(model.threads, "thread")}`} · ${plural(model.layers, "layer")}, ${model.unique_layers} unique, ${model.groups} groups when fused · ${scaled(model.macs, "MAC")} · ${scaled(model.weight_bytes, "B")} of weights`),
    ...(model.answers ?? []).map((text) => el("p", {}, `${text[0].toUpperCase()}${text.slice(1)}.`)),
    model.uncertainty[main] === undefined && (model.floor_share || {})[main] > 0 && el("p", { class: "warning" }, el("b", {}, "Floors: "), `${percent(model.floor_share[main])} of the bound is floors of layers without a time (F): its interval is unknown.`),
    model.partial && el("p", { class: "warning" }, el("b", {}, "Partial: "), `the bounds lack ${plural(model.missing.length, "result")}, listed under Coverage.`),
    model.provisional && el("p", { class: "warning" }, el("b", {}, "Provisional: "), `${Object.values(model.provisional)[0]}. Measure again to refine the bounds.`));
}

function modelParts(model) {
  return [modelHead(model), ladderSection(model), witnessSection(model), layersSection(model), rooflineSection(model), pathSection(model), coverageSection(model)].filter(Boolean);
}

/// With several models, each is drawn when it is opened.
function modelDetails(model) {
  const place = el("details", { class: "model", id: `m${model.at}` },
    el("summary", {}, el("span", { class: "title" }, model.model), el("span", { class: "soft" }, ` ${sizesText(model)} · `), el("b", {}, timeText(model.bounds_ms[model.headline])),
      model.partial && el("span", { class: "mark" }, "partial"), model.provisional && el("span", { class: "mark" }, "provisional")));
  place.addEventListener("toggle", () => {
    if (place.open && place.childElementCount === 1) place.append(...modelParts(model));
  });
  return place;
}

function howMeasured() {
  const machine = data.machine, ceilings = data.models.length ? data.models[0].ceilings : { peaks: {}, reached_by: {}, levels: [] };
  const rows = data.models.flatMap((model) => rowsOf(model).filter((row) => row.status === "measured"));
  const states = data.caches.map((cache) => [cache, rows.filter((row) => row.cache === cache).length]).filter(([, count]) => count > 0);
  const raised = [...Object.entries(ceilings.reached_by).map(([type, row]) => [`${type} peak`, row]), ...ceilings.levels.map((level) => [level.name, level.reached_by])]
    .filter(([, row]) => data.caches.some((cache) => row.includes(`/${cache}/`)));
  const noisy = rows.filter((row) => row.noisy).length, contended = rows.filter((row) => row.contended).length;
  const disagreeing = rows.filter((row) => row.disagreeing).length;
  const untried = rows.filter((row) => row.untried > 0).length;
  const declared = machine.declared, source = (figure, from) => el("li", {}, `${figure}: ${from}`);
  const facts = declared ? [
    ["machine", `${machine.device}, declared in ${declared}: nothing was measured`],
    ["arithmetic peak", el("ul", { class: "runs" }, Object.entries(ceilings.peaks).map(([type, peak]) => source(`${type} ${scaled(peak, "FLOP/s")}`, ceilings.reached_by[type])))],
    ["bandwidth", el("ul", { class: "runs" }, ceilings.levels.map((level) => source(`${level.name} ${scaled(level.bytes_per_s, "B/s")}`, level.reached_by)))],
  ] : [
    ["machine", `${machine.device}, ${machine.isa}, ${machine.driver ? machine.affinity : `${plural(machine.cores, "core")} (processors ${machine.affinity})`}, ${digits(machine.memory_bytes / 2 ** 30)} GiB, ${machine.system}`],
    machine.caches.length && ["caches", machine.caches.map((cache) => `L${cache.level} ${digits(cache.total_bytes / 2 ** 20)} MiB`).join(", ") + (machine.driver ? "" : " over the cores in use")],
    ["libraries", data.backends.map((backend) => `${backend.name} ${backend.version}`).join(", ")],
    ["arithmetic peak", Object.entries(ceilings.peaks).map(([type, peak]) => `${type} ${scaled(peak, "FLOP/s")}`).join(", ") || "not measured"],
    ["bandwidth", ceilings.levels.map((level) => `${level.name} ${scaled(level.bytes_per_s, "B/s")}`).join(", ") || "not measured"],
    raised.length && ["ceilings raised by rows", el("ul", { class: "runs" }, raised.map(([ceiling, row]) => el("li", {}, `${ceiling}: `, el("code", {}, row))))],
    ceilings.timer_floor_ns > 0 && ["timer", `floor ${digits(ceilings.timer_floor_ns)} ns`],
    states.length && ["cache states", states.map(([cache, count]) => `${cache}: ${plural(count, "row")}`).join(", ")],
    ["noise", rows.length ? `${noisy} of ${rows.length} rows still noisy when the budget ended, ${contended} contended` + (disagreeing ? `, ${disagreeing} of which no two methods of timing agree` : "") : "nothing was measured"],
    untried > 0 && ["plans", `the budget left plans of ${untried} of ${rows.length} rows untried: one may be faster`],
    data.runs.length && ["runs", el("ul", { class: "runs" }, data.runs.map((run) => el("li", {}, `${run.started.replace("T", " ").replace("Z", " UTC")} · ${run.name} · ${plural(run.rows, "row")} · Benanza ${run.tool}`)))],
    data.footer && ["this call", data.footer],
  ];
  return [el("h2", {}, declared ? "What was declared" : "How it was measured"), el("dl", { class: "facts" }, facts.filter(Boolean).map(([term, value]) => [el("dt", {}, term), el("dd", {}, value)])),
    el("p", { class: "note" }, `Made by Benanza ${data.tool}. All figures are lower bounds on the latency of one request with nothing else in flight; each rung says for whom it holds.`)];
}

function build() {
  data.models.forEach((model, at) => { model.at = at; });
  const several = data.models.length > 1;
  const swept = [...new Set(data.sweeps.map((sweep) => `${sweep.model} over ${sweep.axis}`))];
  const title = hasGap() ? `Gap of ${data.models[0].model}` : swept.length ? swept.join(", ") : several ? `Lower bounds of ${data.models.length} models` : data.models.length ? data.models[0].model : "Lower bounds";
  document.title = `${title} – Benanza`;
  document.getElementById("top").replaceChildren(el("p", { class: "brand" }, "Benanza · lower bounds on latency"), el("h1", {}, title),
    el("p", { class: "note" }, data.machine.declared ? `${data.machine.device} · declared in ${data.machine.declared}, not measured` : `${data.machine.device} · ${data.machine.isa} · ${data.backends.map((b) => `${b.name} ${b.version}`).join(", ")}`));
  const main = document.getElementById("content");
  main.replaceChildren(...data.sweeps.map(sweepSection));
  if (several) main.append(overviewSection(), el("h2", {}, "Models"), ...data.models.map(modelDetails));
  else if (data.models.length) main.append(...(hasGap() ? gapSections(data.gap).filter(Boolean) : []), el("div", { class: "model", id: "m0" }, modelParts(data.models[0])));
  document.getElementById("how").replaceChildren(...howMeasured());
}

function openByHash() {
  const place = /^#m\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
  if (!place || place.tagName !== "DETAILS") return;
  place.open = true;
  place.scrollIntoView();
}

build();
addEventListener("hashchange", openByHash);
openByHash();
document.documentElement.dataset.ready = "yes";
