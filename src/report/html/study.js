// SPDX-License-Identifier: Apache-2.0
// A study: the ratio by model and device, speed-ups by batch size, geometric means, and every row.

const ratioText = (value) => (value === null || value === undefined ? "" : value.toFixed(3));
const unique = (values) => [...new Set(values)];
const frameworkOf = (row) => row.framework + (row.type ? ` in ${row.type}` : "");
const markOf = (at) => `k${at % 6}`;

/// A list to choose from; each has a label.
function chooser(label, names, chosen, choose) {
  const list = el("select", { "aria-label": label, onchange: () => choose(list.value) }, names.map((name) => el("option", { value: name, selected: name === chosen }, name)));
  return el("label", {}, `${label} `, list);
}

/// One mark a model and device; hollow where the bound is partial.
function drawRatios(rows, devices, rung, width) {
  const narrow = width < 620, models = unique(rows.map((row) => row.model));
  const of = (row) => row.ratios[rung];
  const mean = (model) => { const own = rows.filter((row) => row.model === model); return sum(own.map(of)) / own.length; };
  models.sort((a, b) => mean(a) - mean(b));
  const left = narrow ? 118 : 180, right = 18, top = 26, step = 19, height = top + models.length * step + 8;
  const most = Math.max(1.05, ...rows.map(of));
  const x = (value) => left + (value / most) * (width - left - right);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "ratios", "aria-label": `Bound over measured latency of ${models.length} models; the table below has the figures` });
  for (const tick of ticks(most, narrow ? 3 : 8)) picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top - 6, y2: height }), svg("text", { class: "tick", x: x(tick), y: 13, "text-anchor": "middle" }, digits(tick)));
  picture.append(svg("line", { class: "unity", x1: x(1), x2: x(1), y1: top - 6, y2: height }));
  models.forEach((model, i) => {
    const y = top + i * step + step / 2;
    picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y, y2: y }), svg("text", { class: "tick", x: left - 8, y: y + 4, "text-anchor": "end" }, narrow && model.length > 16 ? model.slice(0, 14) + "…" : model));
    for (const row of rows.filter((each) => each.model === model))
      picture.append(svg("circle", { class: `point ${markOf(devices.indexOf(row.device))}${row.missing_layers ? " hollow" : ""}`, cx: x(of(row)), cy: y, r: 5, "data-model": model, "data-device": row.device },
        svg("title", {}, `${model}, ${row.device}: ${ratioText(of(row))}${row.missing_layers ? `, partial: ${plural(row.missing_layers, "layer")} missing` : ""}${row.provisional ? ", provisional" : ""}`)));
  });
  return picture;
}

/// The paper's two rungs, and the headline as far as all rows with fused calls have it.
function shownRungs(study) {
  const hasHeadline = study.rows.every((row) => row.bounds_ms.library_fused === undefined || row.bounds_ms.library_fused_resident !== undefined);
  return [["library", "sequential"], ["library_parallel", "parallel"], hasHeadline ? ["library_fused_resident", "headline"] : ["library_fused", "fused"]];
}

function ratioSection(study) {
  const measured = study.rows.filter((row) => Object.keys(row.ratios).length > 0);
  if (measured.length === 0) return null;
  const count = (of) => (value) => measured.filter((row) => of(row) === value).length;
  const order = ["library_fused_resident", "library", "library_parallel", "library_fused", "library_fused_parallel", "library_resident"];
  const rungs = order.filter((rung) => measured.some((row) => row.ratios[rung] !== undefined));
  const most = (values, of) => values.reduce((best, value) => (count(of)(value) > count(of)(best) ? value : best), values[0]);
  const batchOf = (row) => String(row.batch), batches = unique(measured.map(batchOf)), frameworks = unique(measured.map(frameworkOf));
  const state = { batch: most(batches, batchOf), framework: most(frameworks, frameworkOf), rung: rungs[0] };
  const place = el("div"), legend = el("ul", { class: "legend" });
  const show = () => {
    const rows = measured.filter((row) => batchOf(row) === state.batch && frameworkOf(row) === state.framework && row.ratios[state.rung] !== undefined);
    const devices = unique(measured.map((row) => row.device)), seen = unique(rows.map((row) => row.device));
    legend.replaceChildren(...seen.map((device) => el("li", {}, el("span", { class: `key ${markOf(devices.indexOf(device))}` }), device)), ...(rows.some((row) => row.missing_layers) ? [el("li", {}, "hollow: the bound lacks layers")] : []));
    place.replaceChildren(rows.length === 0 ? el("p", { class: "empty" }, "no latency of this framework at this batch size") : responsive((width) => drawRatios(rows, devices, state.rung, width)));
  };
  const set = (key) => (value) => { state[key] = value; show(); };
  show();
  return section("Ratio by model and device", "Bound over measured latency: 1 is an engine that is as fast as the bound; half of it, one that could be twice as fast.",
    el("div", { class: "controls" }, chooser("framework", frameworks, state.framework, set("framework")), chooser("batch", batches, state.batch, set("batch")),
      el("label", {}, "bound ", el("select", { "aria-label": "bound", onchange: (event) => set("rung")(event.target.value) }, rungs.map((rung) => el("option", { value: rung }, spaced(rung)))))),
    place, legend);
}

/// For each optimisation its points over batch sizes, of a model or over as many models at each.
function speedupSeries(study, device, model) {
  return study.optimizations.map((name, at) => {
    let points = [];
    if (model === null) {
      const means = study.means.filter((mean) => mean.device === device && mean.quantity === name && !mean.framework);
      const most = Math.max(0, ...means.map((mean) => mean.all.models));
      points = means.filter((mean) => mean.all.models === most).map((mean) => ({ batch: mean.batch, value: mean.all.mean, low: mean.all.low, high: mean.all.high, models: mean.all.models }));
    } else {
      const rows = study.rows.filter((row) => row.device === device && row.model === model && row.speedups[name] !== undefined);
      points = unique(rows.map((row) => row.batch)).map((batch) => ({ batch, value: rows.find((row) => row.batch === batch).speedups[name] }));
    }
    return { name, at, points: points.sort((a, b) => a.batch - b.batch) };
  }).filter((series) => series.points.length > 0);
}

function drawSpeedups(series, width) {
  const height = 320, box = { left: 52, right: width - 18, top: 18, bottom: height - 40 };
  const batches = unique(series.flatMap((s) => s.points.map((p) => p.batch))).sort((a, b) => a - b);
  const values = series.flatMap((s) => s.points.map((p) => p.value));
  const low = Math.min(1, ...values) * 0.93, high = Math.max(1.05, ...values) * 1.1; // a mean of few models may have a wide interval: it is cut
  const first = Math.log2(batches[0]), last = Math.log2(batches[batches.length - 1]), span = Math.max(last - first, 1e-9);
  const x = (batch) => (batches.length === 1 ? (box.left + box.right) / 2 : box.left + 14 + ((Math.log2(batch) - first) / span) * (box.right - box.left - 28));
  const y = (value) => box.bottom - ((value - low) / (high - low)) * (box.bottom - box.top);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "speedups", "aria-label": "Speed-ups by batch size; the table below has the figures" });
  for (const tick of ticks(high, 6)) if (tick >= low) picture.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }), svg("text", { class: "tick", x: box.left - 6, y: y(tick) + 4, "text-anchor": "end" }, `${digits(tick)}×`));
  picture.append(svg("line", { class: "unity", x1: box.left, x2: box.right, y1: y(1), y2: y(1) }), svg("text", { class: "axis", x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle" }, "batch size"));
  let label = -Infinity;
  for (const batch of batches) {
    if (x(batch) - label < 26) continue;
    label = x(batch);
    picture.append(svg("text", { class: "tick", x: x(batch), y: box.bottom + 16, "text-anchor": "middle" }, String(batch)));
  }
  for (const s of series) {
    const shift = (s.at - 2.5) * 3; // marks of one batch size stand side by side
    picture.append(svg("path", { class: `trend ${markOf(s.at)}`, d: s.points.map((p, i) => `${i ? "L" : "M"}${x(p.batch) + shift} ${y(p.value)}`).join("") }));
    for (const p of s.points) {
      if (p.low) picture.append(svg("path", { class: `trend thin ${markOf(s.at)}`, d: `M${x(p.batch) + shift} ${y(Math.max(p.low, low))}V${y(Math.min(p.high, high))}` }));
      picture.append(svg("circle", { class: `point ${markOf(s.at)}`, cx: x(p.batch) + shift, cy: y(p.value), r: 4, "data-name": s.name, "data-batch": p.batch },
        svg("title", {}, `${spaced(s.name)}, batch ${p.batch}: ${ratioText(p.value)}×${p.models ? `, geometric mean of ${plural(p.models, "model")}` : ""}`)));
    }
  }
  return picture;
}

function speedupSection(study) {
  const devices = unique(study.means.filter((mean) => study.optimizations.includes(mean.quantity)).map((mean) => mean.device));
  if (devices.length === 0) return null;
  const known = (device) => study.means.filter((mean) => mean.device === device && study.optimizations.includes(mean.quantity)).length;
  const everything = "all models, geometric mean";
  const state = { device: devices.reduce((best, device) => (known(device) > known(best) ? device : best), devices[0]), model: everything };
  const place = el("div"), legend = el("ul", { class: "legend" });
  const models = unique(study.rows.filter((row) => Object.keys(row.speedups).length > 0).map((row) => row.model)).sort();
  const show = () => {
    const series = speedupSeries(study, state.device, state.model === everything ? null : state.model);
    legend.replaceChildren(...series.map((s) => el("li", {}, el("span", { class: `key ${markOf(s.at)}` }), spaced(s.name), s.points[0].models !== undefined && el("small", {}, ` ${plural(s.points[0].models, "model")}`))));
    place.replaceChildren(series.length === 0 ? el("p", { class: "empty" }, "nothing is known of this model on this device") : responsive((width) => drawSpeedups(series, width)));
  };
  const set = (key) => (value) => { state[key] = value; show(); };
  show();
  return section("Speed-up by batch size", "What each optimisation would bring to an engine that runs layer by layer, as its library advises. A mean stands only where as many models are known as at any other batch size; whiskers are its 95 % interval, as far as the picture goes.",
    el("div", { class: "controls" }, chooser("device", devices, state.device, set("device")), chooser("of", [everything, ...models], everything, set("model"))), place, legend);
}

function meanTable(study) {
  const rungs = shownRungs(study);
  const groups = new Map();
  for (const mean of study.means) if (mean.framework) {
    const key = [mean.device, mean.batch, mean.framework].join("|");
    if (!groups.has(key)) groups.set(key, { device: mean.device, batch: mean.batch, framework: mean.framework, means: {} });
    groups.get(key).means[mean.quantity] = mean;
  }
  const cell = (mean) => (mean ? [ratioText(mean.all.mean), el("small", {}, `${mean.all.low === null ? "" : `${mean.all.low.toFixed(2)} to ${mean.all.high.toFixed(2)}, `}${plural(mean.all.models, "model")}`), mean.complete && el("small", {}, `complete bounds: ${ratioText(mean.complete.mean)} of ${mean.complete.models}`)] : "");
  const rows = [...groups.values()].filter((group) => group.means["ratio of library"]);
  return rows.length > 0 && section("Geometric means", "Of bound over measured latency, with their 95 % intervals over models.", el("div", { class: "wide" }, el("table", { class: "means" },
    el("thead", {}, el("tr", {}, ["framework", ...rungs.map(([, title]) => title)].map((title, i) => el("th", { scope: "col", class: i ? "number" : "" }, title)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, el("td", {}, row.framework, el("small", {}, `${row.device}, batch ${row.batch}`)), rungs.map(([rung]) => el("td", { class: "number" }, cell(row.means[`ratio of ${rung}`])))))))));
}

function claimTable(study) {
  return study.claims.length > 0 && section("What the paper says", "Published figures beside those that the published data gives.", el("div", { class: "wide" }, el("table", { class: "claims" },
    el("thead", {}, el("tr", {}, ["figure", "published", "its data", ""].map((title, i) => el("th", { scope: "col", class: i === 1 || i === 2 ? "number" : "" }, title)))),
    el("tbody", {}, study.claims.map((claim) => el("tr", {}, el("td", {}, claim.what), el("td", { class: "number" }, claim.published ?? "–"), el("td", { class: "number" }, claim.found === null ? "" : String(Number(claim.found.toPrecision(4)))), el("td", {}, claim.agrees ? "" : "differs")))))));
}

function studyRows(study) {
  const columns = [["model", (r) => r.model], ["device", (r) => r.device], ["framework", (r) => frameworkOf({ ...r, framework: r.framework || "–" })], ["batch", (r) => String(r.batch), true], ["measured", (r) => (r.latency_ms === null ? "" : timeText(r.latency_ms)), true],
    ...shownRungs(study).flatMap(([rung, title]) => [[title, (r) => (r.bounds_ms[rung] === undefined ? "" : timeText(r.bounds_ms[rung])), true], ["ratio", (r) => ratioText(r.ratios[rung]), true]]),
    ...study.optimizations.map((name) => [spaced(name), (r) => (r.speedups[name] === undefined ? "" : `${ratioText(r.speedups[name])}×`), true])];
  const place = el("details", { class: "model" }, el("summary", {}, el("span", { class: "title" }, "Every row"), el("span", { class: "soft" }, ` ${plural(study.rows.length, "row")}`)));
  place.addEventListener("toggle", () => {
    if (place.open && place.childElementCount === 1)
      place.append(el("div", { class: "wide" }, el("table", { class: "every" }, el("thead", {}, el("tr", {}, columns.map(([title, , number]) => el("th", { scope: "col", class: number ? "number" : "" }, title)))),
        el("tbody", {}, study.rows.map((row) => el("tr", {}, columns.map(([, value, number]) => el("td", { class: number ? "number" : "" }, value(row)))))))));
  });
  return place;
}

function buildStudy() {
  const study = data, count = (of, word) => plural(unique(study.rows.map(of).filter(Boolean)).length, word);
  document.title = "Study – Benanza";
  document.getElementById("top").replaceChildren(el("p", { class: "brand" }, "Benanza · study"), el("h1", {}, `${count((row) => row.model, "model")} on ${count((row) => row.device, "device")}`),
    el("p", { class: "note" }, `${count((row) => row.framework, "framework")}, ${count((row) => row.batch, "batch size")}, ${plural(study.rows.length, "row")}`));
  document.getElementById("content").replaceChildren(...[ratioSection(study), speedupSection(study), meanTable(study), claimTable(study), studyRows(study),
    study.notes.length > 0 && section("Notes", null, el("ul", { class: "texts" }, study.notes.map((note) => el("li", {}, note))))].filter(Boolean));
  document.getElementById("how").replaceChildren(el("p", { class: "note" }, `Made by Benanza ${data.tool}. Bounds are of one request with nothing else in flight.`));
}

buildStudy();
document.documentElement.dataset.ready = "yes";
