// SPDX-License-Identifier: Apache-2.0
// The page of `predict`: for each model a bar for each device with its interval, throughput, and which layers decide.

const methodColors = ["#2a78d6", "#1baf7a", "#eda100", "#e34948", "#898781"];
const methodNames = ["measured", "database ratio", "wave", "large wave", "no basis"];

function deviceBars(model) {
  const rows = [{ device: `${model.origin} (measured)`, total_ms: model.origin_ms, low_ms: model.origin_ms, high_ms: model.origin_ms, methods: { measured: { time_ms: model.origin_ms } } }, ...model.targets];
  const line = 34, left = 250, width = 1000, height = rows.length * line + 30;
  const most = Math.max(...rows.map((row) => row.high_ms || 0)) || 1;
  const x = (ms) => left + (ms / most) * (width - left - 110);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "devices", "aria-label": "latency by device; the table below has the figures" });
  for (const at of ticks(most, 6)) picture.append(svg("line", { class: "grid", x1: x(at), x2: x(at), y1: 0, y2: height - 24 }), svg("text", { class: "tick", x: x(at), y: height - 8, "text-anchor": "middle" }, timeText(at)));
  rows.forEach((row, i) => {
    const y = i * line + 6;
    let from = 0;
    picture.append(svg("text", { class: "tick", x: left - 8, y: y + 15, "text-anchor": "end" }, row.device.length > 36 ? `${row.device.slice(0, 35)}…` : row.device));
    methodNames.forEach((name, m) => {
      const ms = row.methods[name]?.time_ms || 0;
      if (!(ms > 0)) return;
      picture.append(svg("rect", { class: "bar", "data-device": row.device, x: x(from), y, width: Math.max(1, x(from + ms) - x(from)), height: 20, fill: methodColors[m] }, svg("title", {}, `${name}: ${timeText(ms)}`)));
      from += ms;
    });
    if (!row.partial && row.high_ms > row.low_ms) picture.append(svg("path", { class: "interval", fill: "none", stroke: "currentColor", "stroke-width": 1.5, d: `M${x(row.low_ms)} ${y + 4}v12M${x(row.low_ms)} ${y + 10}H${x(row.high_ms)}M${x(row.high_ms)} ${y + 4}v12` }, svg("title", {}, `90 %: ${timeText(row.low_ms)} to ${timeText(row.high_ms)}`)));
    picture.append(svg("text", { class: "tick", x: x(Math.max(row.high_ms || 0, from)) + 8, y: y + 15 }, row.total_ms > 0 ? `${row.partial ? "≥ " : ""}${timeText(row.total_ms)}` : "no basis"));
  });
  return el("div", { class: "wide" }, picture);
}

const head = (...names) => el("thead", {}, el("tr", {}, names.map((name, i) => el("th", { class: i ? "number" : "" }, name))));
const table = (names, rows) => el("div", { class: "wide" }, el("table", {}, head(...names), el("tbody", {}, rows)));
const row = (...cells) => el("tr", {}, cells.map((cell, i) => el("td", { class: i ? "number" : "" }, cell)));
const rate = (value) => (value === null ? "–" : scaled(value));

function targetSection(target) {
  const total = target.total_ms;
  const known = target.layers.filter((layer) => layer.time_ms !== null);
  const lacking = target.layers.filter((layer) => layer.time_ms === null);
  return section(`What decides on ${target.device}`, [target.clocks && `Formulas take the clocks ${target.clocks}.`, target.raised_to_floor > 0 && `${plural(target.raised_to_floor, "layer")} raised to the floor.`].filter(Boolean).join(" "),
    table(["layer", "share", "time", "interval", "was", "method"],
      known.slice(0, 15).map((layer) => row(`${layer.count > 1 ? `x${layer.count} ` : ""}${layer.signature}`, percent((layer.time_ms * layer.count) / total), timeText(layer.time_ms * layer.count), `${timeText(layer.low_ms * layer.count)} – ${timeText(layer.high_ms * layer.count)}`, layer.origin_ms === null ? "–" : timeText(layer.origin_ms * layer.count), layer.method))),
    lacking.length > 0 && el("p", { class: "note" }, `No basis for ${plural(lacking.reduce((sum, layer) => sum + layer.count, 0), "layer")}, the first is ${lacking[0].signature}: ${lacking[0].reason}`));
}

function modelSections(model) {
  return [
    section("Latency by device", "The line is the interval that holds the measured time in nine of ten cases.", deviceBars(model),
      el("p", { class: "note" }, methodNames.slice(0, 4).map((name, m) => el("span", {}, el("span", { style: `display:inline-block;width:.8em;height:.8em;background:${methodColors[m]}` }), ` ${name}  `)))),
    table(["device", "time", "90 % interval", "items/s", "price of an hour", "items per cost"],
      model.targets.map((t) => row(t.device, t.total_ms > 0 ? `${t.partial ? "≥ " : ""}${timeText(t.total_ms)}` : "no basis", t.total_ms > 0 && !t.partial ? `${timeText(t.low_ms)} – ${timeText(t.high_ms)}` : "–", rate(t.items_per_s), t.price_per_hour === null ? "–" : String(t.price_per_hour), rate(t.items_per_cost)))),
    ...model.targets.map(targetSection),
  ];
}

const title = data.models.length === 1 ? `${data.models[0].model} on other devices` : "Models on other devices";
document.title = `${title} – Benanza`;
document.getElementById("top").replaceChildren(el("p", { class: "brand" }, "Benanza · predict"), el("h1", {}, title), el("p", { class: "note" }, "Predicted times are not measured."));
document.getElementById("content").replaceChildren(...data.models.map((model) => el("div", { class: "model" }, el("p", { class: "note" }, `${model.model} · batch ${model.batch} · measured on ${model.origin}: ${timeText(model.origin_ms)}`), ...modelSections(model))));
document.getElementById("how").replaceChildren(el("p", { class: "note" }, "docs/predicting.md says what each method takes, and how far it was off."));
document.documentElement.dataset.ready = "yes";
