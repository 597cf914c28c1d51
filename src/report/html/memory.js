// SPDX-License-Identifier: Apache-2.0
// The page of `memory`: for each model a stacked area over the steps of an iteration, the layers that hold most, what
// would change the peak; over a sweep of batches memory beside throughput.

const categories = ["weights", "buffers", "gradients", "optimizer_state", "feature_maps", "inputs_outputs", "temporaries", "workspace"];
const families = { weights: 0, optimizer_state: 3, gradients: 2, buffers: 4, feature_maps: 1, inputs_outputs: 5, temporaries: 5, workspace: 4 };
const named = (category) => (category === "inputs_outputs" ? "inputs, outputs" : spaced(category));
const order = ["weights", "buffers", "optimizer_state", "gradients", "feature_maps", "inputs_outputs", "temporaries", "workspace"];

/// At most `most` columns: of neighbours the step with the largest sum stands for all.
function thinned(timeline, most) {
  const count = timeline.nodes.length, totals = timeline.nodes.map((_, i) => sum(order.map((c) => timeline.bytes[c][i])));
  const width = Math.max(1, Math.ceil(count / most)), picked = [];
  for (let begin = 0; begin < count; begin += width) {
    let best = begin;
    for (let i = begin; i < Math.min(begin + width, count); ++i) if (totals[i] > totals[best]) best = i;
    picked.push(best);
  }
  return { picked, totals };
}

/// The categories that any of the models has.
function legend(models) {
  const used = order.filter((c) => models.some((model) => model.most_at_once[c] > 0));
  return el("ul", { class: "legend" }, used.map((c) => el("li", {}, el("span", { class: `key k${families[c]} m-${c}` }), named(c))));
}

function stackedArea(model) {
  const width = 1100, height = 340, box = { left: 64, right: width - 12, top: 22, bottom: height - 40 };
  const { picked, totals } = thinned(model.timeline, 900);
  const top = Math.max(...totals, 1) * 1.06, count = model.timeline.nodes.length;
  const x = (i) => box.left + (i / Math.max(1, count - 1)) * (box.right - box.left);
  const y = (bytes) => box.bottom - (bytes / top) * (box.bottom - box.top);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "memory", "aria-label": "bytes over the steps of the iteration; the tables below have the figures" });
  for (let k = 0; k <= 4; ++k) {
    const bytes = (top / 4) * k;
    picture.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(bytes), y2: y(bytes) }), svg("text", { class: "tick", x: box.left - 6, y: y(bytes) + 4, "text-anchor": "end" }, scaled(bytes, "B")));
  }
  const below = picked.map(() => 0);
  for (const category of order) {
    const values = picked.map((i) => model.timeline.bytes[category][i]);
    if (Math.max(...values) === 0) continue;
    const lower = picked.map((i, k) => `${x(i)} ${y(below[k])}`).reverse();
    values.forEach((bytes, k) => { below[k] += bytes; });
    picture.append(svg("path", { class: `step k${families[category]} m-${category}`, d: `M${picked.map((i, k) => `${x(i)} ${y(below[k])}`).join("L")}L${lower.join("L")}Z` }));
  }
  const phases = model.timeline.phases;
  for (let i = 0; i < count; ++i)
    if (i === 0 || phases[i] !== phases[i - 1])
      picture.append(svg("line", { class: "ceiling", x1: x(i), x2: x(i), y1: box.top, y2: box.bottom }), phases[i] !== "loss" && svg("text", { class: "tick", x: Math.min(x(i) + 4, box.right - 40), y: box.bottom + 16 }, phases[i]));
  if (model.peak_step !== null)
    picture.append(svg("line", { class: "knee", x1: x(model.peak_step), x2: x(model.peak_step), y1: box.top, y2: box.bottom }),
      svg("text", { class: "knee-name", x: x(model.peak_step) + (x(model.peak_step) > width / 2 ? -6 : 6), y: box.top - 6, "text-anchor": x(model.peak_step) > width / 2 ? "end" : "start" }, `peak ${scaled(totals[model.peak_step], "B")}`));
  const tip = document.getElementById("tip");
  const hide = () => { tip.hidden = true; };
  picture.addEventListener("pointermove", (event) => {
    const at = picture.getBoundingClientRect(), place = ((event.clientX - at.left) / at.width) * width;
    const i = Math.round(((place - box.left) / (box.right - box.left)) * (count - 1));
    if (i < 0 || i >= count) return hide();
    tip.replaceChildren(el("b", {}, model.timeline.nodes[i]), el("div", {}, `step ${i + 1} of ${count}, ${phases[i]}: ${scaled(totals[i], "B")}`),
      ...order.filter((c) => model.timeline.bytes[c][i] > 0).map((c) => el("div", {}, `${named(c)}: ${scaled(model.timeline.bytes[c][i], "B")}`)));
    tip.hidden = false;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - 280)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - 160)}px`;
  });
  picture.addEventListener("pointerleave", hide);
  return [legend([model]), el("div", { class: "wide" }, picture)];
}

const head = (...names) => el("thead", {}, el("tr", {}, names.map((name, i) => el("th", { class: i ? "number" : "" }, name))));
const wide = (...parts) => el("div", { class: "wide" }, el("table", {}, parts));
const row = (...cells) => el("tr", {}, cells.map((cell, i) => el("td", { class: i ? "number" : "" }, cell)));

function modelSections(model) {
  const layers = model.layers.slice(0, 25), all = sum(model.layers.map((layer) => sum(categories.map((c) => layer.bytes[c]))));
  return [
    el("p", { class: "answer" }, "The peak is ", el("b", { "data-peak": model.peak_bytes }, scaled(model.peak_bytes, "B")), model.largest_batch !== null && `; the largest batch in ${scaled(data.capacity_bytes, "B")} is ${model.largest_batch}`, "."),
    el("p", { class: "note" }, `batch ${model.batch} · ${model.training ? `training${model.options}` : "inference"} · ${scaled(model.parameters)} parameters${model.training ? ` · ${scaled(model.kept_bytes, "B")} kept from forward to backward` : ""}`),
    ...model.answers.map((text) => el("p", {}, `${text[0].toUpperCase()}${text.slice(1)}.`)),
    el("section", {}, el("h3", {}, "Over time"), stackedArea(model)),
    el("section", {}, el("h3", {}, "Categories"), wide(head("", "at the peak", "share", "most at once"), el("tbody", {}, categories.filter((c) => model.most_at_once[c] > 0).map((c) => row(named(c), scaled(model.at_peak[c], "B"), percent(model.at_peak[c] / model.peak_bytes), scaled(model.most_at_once[c], "B"))))),
      !model.workspace_known && el("p", { class: "note" }, "The workspace of plans is not known: no results were given.")),
    model.instead.length > 0 && el("section", {}, el("h3", {}, "What would change the peak"), wide(head("instead", "peak", "change", "products", "largest batch"), el("tbody", {}, model.instead.map((one) => row(one.options, scaled(one.peak_bytes, "B"), percent(one.peak_bytes / model.peak_bytes - 1, 0), percent(one.products - 1, 0), one.largest_batch ?? "unknown"))))),
    el("section", {}, el("h3", {}, "Largest layers"), wide(head("layer", "share", "weights", "gradients", "states", "feature maps"), el("tbody", {}, layers.map((layer) => row(`${layer.op_type} ${layer.node}`, percent(sum(categories.map((c) => layer.bytes[c])) / all), ...["weights", "gradients", "optimizer_state", "feature_maps"].map((c) => scaled(layer.bytes[c], "B"))))))),
    el("section", {}, el("h3", {}, "Largest tensors at the peak"), wide(head("tensor", "category", "bytes"), el("tbody", {}, model.largest_at_peak.map((one) => row(one.tensor, named(one.category), scaled(one.bytes, "B")))))),
  ];
}

/// A bar for each batch: what fills the peak, the capacity where it is near, and the throughput above the bar.
function sweepFigure() {
  const models = data.models, width = 1100, height = 340, box = { left: 64, right: width - 64, top: 30, bottom: height - 34 };
  const most = Math.max(...models.map((m) => m.peak_bytes)) * 1.08, fastest = Math.max(...models.map((m) => m.inputs_per_second ?? 0)) * 1.08;
  const step = (box.right - box.left) / models.length, bar = Math.min(step * 0.6, 90);
  const x = (i) => box.left + (i + 0.5) * step;
  const y = (share) => box.bottom - share * (box.bottom - box.top);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "memory-sweep", "aria-label": "bytes at the peak and throughput over the batch; the table below has the figures" });
  for (let k = 0; k <= 4; ++k)
    picture.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(k / 4), y2: y(k / 4) }), svg("text", { class: "tick", x: box.left - 6, y: y(k / 4) + 4, "text-anchor": "end" }, scaled((most / 4) * k, "B")),
      ...(fastest > 0 ? [svg("text", { class: "tick", x: box.right + 6, y: y(k / 4) + 4 }, digits((fastest / 4) * k))] : []));
  models.forEach((model, i) => {
    let below = 0;
    for (const category of order.filter((c) => model.at_peak[c] > 0)) {
      const bytes = model.at_peak[category];
      picture.append(svg("rect", { class: `step k${families[category]} m-${category}`, x: x(i) - bar / 2, width: bar, y: y((below + bytes) / most), height: y(below / most) - y((below + bytes) / most) },
        svg("title", {}, `batch ${model.batch}, ${named(category)}: ${scaled(bytes, "B")}`)));
      below += bytes;
    }
    picture.append(svg("text", { class: "tick", x: x(i), y: box.bottom + 16, "text-anchor": "middle" }, String(model.batch)));
  });
  if (data.capacity_bytes < most)
    picture.append(svg("line", { class: "knee", x1: box.left, x2: box.right, y1: y(data.capacity_bytes / most), y2: y(data.capacity_bytes / most) }), svg("text", { class: "knee-name", x: box.left + 6, y: y(data.capacity_bytes / most) - 5 }, "capacity"));
  const known = models.map((model, i) => [i, model.inputs_per_second]).filter(([, rate]) => rate !== null);
  if (known.length > 0)
    picture.append(svg("text", { class: "axis", x: box.right + 6, y: 14, "text-anchor": "middle" }, "inputs/s"), svg("path", { class: "curve measured", d: known.map(([i, rate], k) => `${k ? "L" : "M"}${x(i)} ${y(rate / fastest)}`).join("") }),
      ...known.map(([i, rate]) => svg("circle", { class: "at measured", cx: x(i), cy: y(rate / fastest), r: 4 }, svg("title", {}, `batch ${models[i].batch}: ${digits(rate)} inputs/s`))));
  return [legend(models), el("div", { class: "wide" }, picture)];
}

function sweepSection() {
  return el("section", {}, el("h2", {}, `${data.models[0].model} over batch`),
    el("p", { class: "note" }, `Bars: bytes at the peak. ${data.times_of === null ? "Throughput is not known: no times were given." : `Line: throughput by ${data.times_of}.`}`), sweepFigure(), wide(head("batch", "peak", "feature maps", "latency", "inputs/s", ""), el("tbody", {}, data.models.map((model) =>
    row(String(model.batch), scaled(model.peak_bytes, "B"), scaled(model.most_at_once.feature_maps, "B"), timeText(model.latency_ms), model.inputs_per_second === null ? "unknown" : digits(model.inputs_per_second), model.peak_bytes > data.capacity_bytes ? "does not fit" : "")))));
}

const title = data.models.length === 1 ? `Memory of ${data.models[0].model}` : "Memory";
document.title = `${title} – Benanza`;
document.getElementById("top").replaceChildren(el("p", { class: "brand" }, "Benanza · memory"), el("h1", {}, title), el("p", { class: "note" }, `capacity ${scaled(data.capacity_bytes, "B")} (${data.capacity_of})`));
document.getElementById("content").replaceChildren(...(data.sweep ? [sweepSection()] : []), ...data.models.map((model) => el("div", { class: "model" }, data.models.length > 1 && el("h2", {}, `${model.model}, batch ${model.batch}`), ...modelSections(model))));
document.getElementById("how").replaceChildren(el("p", { class: "note" }, "Nodes run one after the other. A tensor lives from the node that makes it to the last one that reads it; views share their operand's memory."));
document.documentElement.dataset.ready = "yes";
