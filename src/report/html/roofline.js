// SPDX-License-Identifier: Apache-2.0
// The roofline plot: measured layers by intensity and speed under the arithmetic peak and the bandwidth of each level.

function rooflinePoints(model, form) {
  return rowsOf(model).filter((row) => row.form === form && row.status === "measured" && row.flops > 0 && row.bytes > 0 && row.p10_ms > 0)
    .map((row) => ({ row, x: row.flops / row.bytes, y: row.flops / (row.p10_ms / 1e3) }))
    .sort((a, b) => b.row.total - a.row.total);
}

function pointLines(row) {
  return [row.words, `${timeText(row.total)} in all, ${percent(row.share)} of the form` + (row.count > 1 ? ` (×${row.count})` : ""),
    `${scaled(row.flops / (row.p10_ms / 1e3), "FLOP/s")} at ${digits(row.flops / row.bytes)} FLOP/B` + (row.roof === null ? "" : `, ${percent(row.roof, 0)} of the roofline`),
    planText(row), row.nodes.length > 0 && row.nodes[0] + (row.nodes.length > 1 ? ` and ${row.nodes.length - 1} more` : "")];
}

/// factor x 10^e with a prefix: `100 G`.
const decade = (e, factor) => `${factor * 10 ** (((e % 3) + 3) % 3)} ${["", "k", "M", "G", "T", "P"][Math.floor(e / 3)] ?? ""}`;

function drawRoofline(model, points, width) {
  const narrow = width < 620, height = narrow ? 330 : 440;
  const box = { left: 52, right: width - 12, top: 14, bottom: height - 44 };
  const types = [...new Set(points.map((p) => p.row.signature.split("/")[1]))];
  const all = Object.entries(model.ceilings.peaks), own = all.filter(([type]) => types.includes(type));
  const peaks = own.length ? own : all;
  const levels = model.ceilings.levels;
  const speeds = [...points.map((p) => p.y), ...peaks.map(([, peak]) => peak)];
  const knees = peaks.flatMap(([, peak]) => levels.map((level) => peak / level.bytes_per_s));
  const range = (values, below, above) => [Math.log10(Math.min(...values)) - below, Math.log10(Math.max(...values)) + above];
  const [x0, x1] = range([...points.map((p) => p.x), ...knees], 0.15, 0.3);
  const [y0, y1] = range(speeds, 0.2, 0.2);
  const x = (value) => box.left + ((Math.log10(value) - x0) / (x1 - x0)) * (box.right - box.left);
  const y = (value) => box.bottom - ((Math.log10(value) - y0) / (y1 - y0)) * (box.bottom - box.top);

  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "roofline", tabindex: 0, role: "application",
    "aria-label": `Roofline of ${model.model}: ${points.length} layers; arrow keys go through them from the most time to the least` });
  for (let e = Math.ceil(x0); e <= x1; ++e)
    picture.append(svg("line", { class: "grid", x1: x(10 ** e), x2: x(10 ** e), y1: box.top, y2: box.bottom }),
      svg("text", { class: "tick", x: x(10 ** e), y: box.bottom + 16, "text-anchor": "middle" }, e < 0 ? (10 ** e).toFixed(-e) : String(10 ** e)));
  for (let e = Math.floor(y0); e <= y1; ++e)
    for (const factor of y1 - y0 < 1.8 ? [1, 2, 5] : [1]) {
      const at = Math.log10(factor) + e;
      if (at < y0 || at > y1) continue;
      picture.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(10 ** at), y2: y(10 ** at) }),
        svg("text", { class: "tick", x: box.left - 6, y: y(10 ** at) + 4, "text-anchor": "end" }, decade(e, factor)));
    }
  picture.append(svg("text", { class: "axis", x: (box.left + box.right) / 2, y: height - 8, "text-anchor": "middle" }, "FLOP per compulsory byte"),
    svg("text", { class: "axis", x: box.left + 4, y: box.top + 2 }, "FLOP/s"));

  const highest = Math.max(...peaks.map(([, peak]) => peak));
  levels.forEach((level, i) => {
    const reach = Math.min(10 ** x1, highest / level.bytes_per_s);
    const start = Math.max(10 ** x0, 10 ** y0 / level.bytes_per_s);
    if (start >= reach) return;
    const [ax, ay, bx, by] = [x(start), y(start * level.bytes_per_s), x(reach), y(reach * level.bytes_per_s)];
    const angle = (Math.atan2(by - ay, bx - ax) * 180) / Math.PI, at = 0.12 + 0.05 * i;
    const [lx, ly] = [ax + (bx - ax) * at, ay + (by - ay) * at];
    picture.append(svg("line", { class: "ceiling", x1: ax, y1: ay, x2: bx, y2: by }),
      svg("text", { class: "ceiling-name", transform: `translate(${lx} ${ly}) rotate(${angle}) translate(0 -5)` }, `${level.name} ${scaled(level.bytes_per_s, "B/s")}`));
  });
  for (const [type, peak] of peaks) {
    const from = Math.max(10 ** x0, levels.length ? peak / Math.max(...levels.map((level) => level.bytes_per_s)) : 0);
    picture.append(svg("line", { class: "ceiling", x1: x(from), x2: box.right, y1: y(peak), y2: y(peak) }),
      svg("text", { class: "ceiling-name", x: box.right - 2, y: y(peak) - 6, "text-anchor": "end" }, `${type} peak ${scaled(peak, "FLOP/s")}`));
  }
  const most = Math.max(...points.map((p) => p.row.share), 1e-9);
  const dots = points.slice().reverse().map((p) => svg("circle", { class: `dot k${familyOf(p.row.kind)}`, "data-row": p.row.index,
    cx: x(p.x), cy: y(p.y), r: 3 + 11 * Math.sqrt(p.row.share / most) }));
  picture.append(...dots);

  let chosen = -1;
  const choose = (at) => {
    for (const dot of dots) dot.classList.toggle("chosen", at >= 0 && Number(dot.dataset.row) === points[at].row.index);
    chosen = at;
    if (at < 0) return hideTip();
    const place = picture.getBoundingClientRect();
    showTip(place.left + (x(points[at].x) * place.width) / width, place.top + (y(points[at].y) * place.height) / height, pointLines(points[at].row));
  };
  picture.addEventListener("pointermove", (event) => {
    const place = picture.getBoundingClientRect(), fx = ((event.clientX - place.left) * width) / place.width, fy = ((event.clientY - place.top) * height) / place.height;
    let best = -1, nearest = 24 ** 2;
    points.forEach((p, i) => {
      const distance = (x(p.x) - fx) ** 2 + (y(p.y) - fy) ** 2;
      if (distance < nearest) [best, nearest] = [i, distance];
    });
    choose(best);
  });
  picture.addEventListener("pointerleave", () => choose(-1));
  picture.addEventListener("blur", () => choose(-1));
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || points.length === 0) return;
    event.preventDefault();
    choose((chosen + step + points.length) % points.length);
  });
  return picture;
}

function legendOf(kinds) {
  return el("ul", { class: "legend" }, [...new Set(kinds.map(familyOf))].sort().map((at) =>
    el("li", {}, el("span", { class: `key k${at}` }), familyName(at))));
}

function rooflineSection(model) {
  let form = "fused";
  const legend = el("div"), rest = el("p", { class: "note" });
  const place = responsive((width) => {
    const points = rooflinePoints(model, form);
    const without = rowsOf(model).filter((row) => row.form === form && row.status === "measured" && row.flops === 0);
    rest.textContent = "Area of a point: its share of the time. A point above the memory line had its data in a cache." +
      (without.length ? ` ${plural(without.length, "layer")} without arithmetic (${percent(sum(without.map((row) => row.share)))} of the time) cannot be shown here.` : "");
    legend.replaceChildren(legendOf(points.map((p) => p.row.kind)));
    return points.length && Object.keys(model.ceilings.peaks).length ? drawRoofline(model, points, width)
      : el("p", { class: "empty" }, points.length ? "No ceilings were measured." : "No layer with arithmetic was measured.");
  });
  return section("Roofline", null,
    el("div", { class: "controls" }, choice("form of the graph", data.forms.slice().reverse(), form, (name) => { form = name; place.redraw(); })), place, legend, rest);
}
