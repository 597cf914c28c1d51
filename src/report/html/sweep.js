// SPDX-License-Identifier: Apache-2.0
// A sweep over batch sizes or one dimension: latency with its bounds, and throughput with the point where it stops to
// gain.

function drawCurves(width, title, points, series, unit, marked) {
  const height = 260, box = { left: 58, right: width - 16, top: 26, bottom: height - 34 };
  const all = series.flatMap((s) => points.map(s.value)).filter((v) => v > 0);
  if (all.length === 0) return el("p", { class: "empty" }, `${title}: unknown`);
  const xs = points.map((p) => p.value);
  const span = (values, room) => {
    const low = Math.log(Math.min(...values)), high = Math.log(Math.max(...values)), extra = Math.max((high - low) * room, 0.05);
    return [low - extra, high + extra];
  };
  const [x0, x1] = span(xs, 0.04), [y0, y1] = span(all, 0.12);
  const x = (v) => box.left + ((Math.log(v) - x0) / (x1 - x0)) * (box.right - box.left);
  const y = (v) => box.bottom - ((Math.log(v) - y0) / (y1 - y0)) * (box.bottom - box.top);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "curves", "aria-label": `${title}; the table below has the figures` },
    svg("text", { class: "axis", x: 0, y: 12 }, title));
  for (let e = Math.floor(y0 / Math.LN10); e <= y1 / Math.LN10; ++e)
    for (const factor of [1, 2, 5]) {
      const at = factor * 10 ** e;
      if (Math.log(at) < y0 || Math.log(at) > y1) continue;
      picture.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(at), y2: y(at) }), svg("text", { class: "tick", x: box.left - 6, y: y(at) + 4, "text-anchor": "end" }, unit(at)));
    }
  let lastLabel = -Infinity;
  for (const value of xs) {
    if (x(value) - lastLabel < 26) continue;
    lastLabel = x(value);
    picture.append(svg("text", { class: "tick", x: x(value), y: box.bottom + 16, "text-anchor": "middle" }, String(value)));
  }
  for (const s of series) {
    const known = points.filter((p) => s.value(p) > 0);
    picture.append(svg("path", { class: `curve ${s.key}`, d: known.map((p, i) => `${i ? "L" : "M"}${x(p.value)} ${y(s.value(p))}`).join("") }));
    for (const p of known) picture.append(svg("circle", { class: `at ${s.key}`, cx: x(p.value), cy: y(s.value(p)), r: 3.5 }, svg("title", {}, `${p.value}: ${s.name} ${unit(s.value(p))}`)));
  }
  if (marked !== null) {
    const p = points.find((candidate) => candidate.value === marked);
    picture.append(svg("line", { class: "knee", x1: x(marked), x2: x(marked), y1: box.top, y2: box.bottom }),
      svg("text", { class: "knee-name", x: x(marked) + (x(marked) > width / 2 ? -6 : 6), y: box.bottom - 8, "text-anchor": x(marked) > width / 2 ? "end" : "start" }, `last gain of 5 %: ${p.value}`));
  }
  return picture;
}

function sweepSection(sweep) {
  const latency = [{ key: "measured", name: "latency", value: (p) => p.latency_ms }, { key: "bound", name: spaced(sweep.rung), value: (p) => p.bound_ms }, { key: "analytic", name: "model floor", value: (p) => p.model_floor_ms }];
  const throughput = [{ key: "measured", name: "throughput", value: (p) => p.throughput_per_s }];
  const last = sweep.points[sweep.points.length - 1];
  return el("section", { class: "sweep" }, el("h2", {}, `${sweep.model} over ${sweep.axis}`),
    el("p", { class: "note" }, (sweep.fixed ? `At ${sweep.fixed}. ` : "") + (sweep.points.some((p) => p.throughput_per_s === null) ? "Throughput is unknown where results are missing: the latency lacks them."
      : sweep.last_gain === null ? `Throughput still gains 5 % or more at ${sweep.axis} ${last.value}, the last point.`
      : `After ${sweep.axis} ${sweep.last_gain} throughput no longer gains 5 %.`)),
    el("div", { class: "columns" },
      responsive((width) => drawCurves(width, "latency", sweep.points, latency, timeText, null)),
      responsive((width) => drawCurves(width, `throughput, ${sweep.unit} a second`, sweep.points, throughput, (v) => scaled(v), sweep.last_gain))),
    el("ul", { class: "legend" }, latency.map((s) => el("li", {}, el("span", { class: `key line ${s.key}` }), s.key === "measured" ? "latency to expect (median), throughput" : s.key === "bound" ? `bound: ${s.name}` : s.name))),
    el("table", { class: "points" }, el("thead", {}, el("tr", {}, [sweep.axis, "latency", "bound", "model floor", `${sweep.unit}/s`].map((title, i) => el("th", { scope: "col", class: pointClass(i) }, title)))),
      el("tbody", {}, sweep.points.map((p) => el("tr", { class: p.value === sweep.last_gain ? "critical" : "" },
        [[p.value, p.partial && el("small", {}, "partial")], timeText(p.latency_ms), [timeText(p.bound_ms), el("small", {}, p.uncertainty === null ? `F ${percent(p.floor_share)}` : `± ${percent(p.uncertainty)}`)], timeText(p.model_floor_ms), p.throughput_per_s === null ? "unknown" : digits(p.throughput_per_s)]
          .map((cell, i) => el("td", { class: pointClass(i) }, cell)))))));
}

const pointClass = (column) => (column === 3 ? "number optional" : "number");
