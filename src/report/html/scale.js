// SPDX-License-Identifier: Apache-2.0
// The page of `scale`: for each model efficiency over bandwidth, speed-ups, least bandwidths, and which gradients the
// computation waits for.

const intervalText = (ends, text) => (ends === null ? "" : ` (${text(ends[0])} to ${text(ends[1])})`);
const rateText = (gbps) => (gbps === null ? "none" : gbps === 0 ? "any" : scaled(gbps * 1e9, "bit/s"));

function efficiencyCurves(model) {
  const width = 1100, height = 360, box = { left: 58, right: width - 90, top: 18, bottom: height - 40 };
  const all = model.curves.flatMap((curve) => curve.bandwidth_gbps);
  const low = Math.log10(Math.min(...all)), high = Math.log10(Math.max(...all));
  const x = (gbps) => box.left + ((Math.log10(gbps) - low) / (high - low)) * (box.right - box.left);
  const y = (share) => box.bottom - share * (box.bottom - box.top);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "curves", "aria-label": "efficiency over bandwidth; the tables below have the figures" });
  for (const share of [0, 0.25, 0.5, 0.75, 1])
    picture.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(share), y2: y(share) }), svg("text", { class: "tick", x: box.left - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share, 0)));
  for (let e = Math.ceil(low); e <= high; ++e)
    picture.append(svg("line", { class: "grid", x1: x(10 ** e), x2: x(10 ** e), y1: box.top, y2: box.bottom }), svg("text", { class: "tick", x: x(10 ** e), y: box.bottom + 16, "text-anchor": "middle" }, rateText(10 ** e)));
  picture.append(svg("line", { class: "knee", x1: box.left, x2: box.right, y1: y(model.wanted_efficiency), y2: y(model.wanted_efficiency) }), svg("text", { class: "knee-name", x: box.left + 6, y: y(model.wanted_efficiency) - 5 }, `${percent(model.wanted_efficiency, 0)} wanted`));
  for (const curve of model.curves) {
    const at = curve.bandwidth_gbps.map((gbps, i) => [x(gbps), y(curve.efficiency[i])]);
    picture.append(svg("path", { class: "curve measured", "data-workers": curve.workers, d: at.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("") }));
    const even = model.least.find((one) => one.workers === curve.workers)?.break_even_gbps;
    if (even && Math.log10(even) >= low && Math.log10(even) <= high)
      picture.append(svg("circle", { class: "at measured", cx: x(even), cy: y(1 / curve.workers), r: 4 }, svg("title", {}, `${curve.workers} workers are faster than one from ${rateText(even)} on`)));
    const middle = curve.efficiency.findIndex((share) => share > 0.3);
    if (middle >= 0) picture.append(svg("text", { class: "tick", x: at[middle][0] - 6, y: at[middle][1], "text-anchor": "end" }, `${curve.workers}`));
  }
  return el("div", { class: "wide" }, picture);
}

const head = (...names) => el("thead", {}, el("tr", {}, names.map((name, i) => el("th", { class: i ? "number" : "" }, name))));
const table = (...parts) => el("div", { class: "wide" }, el("table", {}, parts));
const row = (...cells) => el("tr", {}, cells.map((cell, i) => el("td", { class: i ? "number" : "" }, cell)));

function modelSections(model) {
  return [
    el("p", { class: "note" }, `batch ${model.batch} on each worker · one iteration ${timeText(model.iteration_ms)}${model.iteration_uncertainty > 0 ? ` ± ${percent(model.iteration_uncertainty)}` : ""} (forward ${timeText(model.forward_ms)}, backward ${timeText(model.backward_ms)}, optimizer ${timeText(model.update_ms)}) · ${scaled(model.gradient_bytes, "B")} of gradients in ${plural(model.buckets, "bucket")} · ${model.algorithm}, latency ${timeText(model.latency_ms)}, ${model.overhead_ms > 0 ? `overhead ${timeText(model.overhead_ms)}, ` : ""}${model.order} order`),
    ...model.answers.map((text) => el("p", {}, `${text[0].toUpperCase()}${text.slice(1)}.`)),
    el("section", {}, el("h3", {}, "Efficiency over bandwidth"), el("p", { class: "note" }, "A curve for each number of workers. The dot is where they are as fast as one."), efficiencyCurves(model)),
    el("section", {}, el("h3", {}, model.measured_by === null ? "Speed-up" : `Speed-up with all-reduces as measured by ${model.measured_by}`), table(head("workers", model.measured_by === null ? "bandwidth" : "as a network of", "iteration", "communication", "exposed", "speed-up", "efficiency"), el("tbody", {}, model.points.map((p) => row(String(p.workers), rateText(p.bandwidth_gbps), timeText(p.iteration_ms), timeText(p.communication_ms), timeText(p.exposed_ms), digits(p.speed_up) + intervalText(p.speed_up_interval, digits), percent(p.efficiency)))))),
    el("section", {}, el("h3", {}, "Least bandwidth"), table(head("workers", "faster than one", "without overlap", `${percent(model.wanted_efficiency, 0)} efficiency`, "without overlap"), el("tbody", {}, model.least.map((one) => row(String(one.workers), rateText(one.break_even_gbps) + intervalText(one.break_even_interval_gbps, rateText), rateText(one.break_even_without_overlap_gbps), rateText(one.wanted_gbps) + intervalText(one.wanted_interval_gbps, rateText), rateText(one.wanted_without_overlap_gbps)))))),
    ...model.exchanges.map((one) => {
      const waited = one.gradients.filter((gradient) => gradient.exposed_ms > 0).slice(0, 15);
      return el("section", {}, el("h3", {}, model.measured_by === null ? `What waits at ${rateText(one.bandwidth_gbps)}` : `What waits for ${model.measured_by}`), waited.length === 0 ? el("p", {}, "Nothing.") :
        table(head("gradient of", "bytes", "exposed"), el("tbody", {}, waited.map((gradient) => row(gradient.parameter, scaled(gradient.bytes, "B"), timeText(gradient.exposed_ms))))));
    }),
  ];
}

const title = data.models.length === 1 ? `${data.models[0].model} on ${data.models[0].workers} workers` : "Training on several workers";
document.title = `${title} – Benanza`;
document.getElementById("top").replaceChildren(el("p", { class: "brand" }, "Benanza · scale"), el("h1", {}, title), el("p", { class: "note" }, `times: ${data.times_of}`));
document.getElementById("content").replaceChildren(...data.models.map((model) => el("div", { class: "model" }, data.models.length > 1 && el("h2", {}, model.model), ...modelSections(model))));
document.getElementById("how").replaceChildren(el("p", { class: "note" }, "Each worker has a batch of its own. Gradients are exchanged while backward goes on; what is not hidden behind it is exposed."));
document.documentElement.dataset.ready = "yes";
