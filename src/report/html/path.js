// SPDX-License-Identifier: Apache-2.0
// The graph of a model along time: the critical path on the first lane, what could run beside it on the lanes below;
// and the path as a list in which short layers are folded.

const shownGraphs = {
  library_fused_parallel: { form: "fused", parallel: true },
  library_parallel: { form: "single", parallel: true },
  roofline_parallel: { form: "fused", parallel: true, floor: true },
  library_fused: { form: "fused" },
  library: { form: "single" },
};

/// The layers that take time, each with start, lane and whether it is on the path.
function placedLayers(model, rung) {
  const how = shownGraphs[rung], graph = model.graphs[how.form], rows = rowsOf(model);
  const times = how.floor ? graph.floor_ms : graph.time_ms;
  const off = new Set(graph.off), critical = new Set(how.floor ? graph.critical_floor : graph.critical);
  const finish = [], placed = [];
  let end = 0;
  graph.names.forEach((name, i) => {
    const [repeat, serial] = graph.repeat[i] || [1, 1];
    const time = off.has(i) ? 0 : times[i] * (how.parallel ? serial : repeat);
    let start = how.parallel ? 0 : end;
    if (how.parallel && !off.has(i)) {
      for (const p of graph.predecessors[i]) if (p >= 0) start = Math.max(start, finish[p]);
      finish[i] = start + time;
      for (const p of graph.predecessors[i]) if (p < 0) finish[i] = Math.max(finish[i], finish[-p - 1]);
      start = finish[i] - time;
    } else finish[i] = start + time;
    end = Math.max(end, finish[i]);
    if (time <= 0) return;
    const row = graph.calls[i].length ? rows[graph.calls[i][0]] : null;
    placed.push({ index: i, name: data.texts[name], words: row ? row.words : data.texts[name], kind: row ? row.kind : "", start, time,
      calls: graph.calls[i].length, passes: how.parallel ? serial : repeat, critical: how.parallel ? critical.has(i) : true });
  });
  const busy = [];  // below the path: the first lane that is idle
  for (const layer of placed.slice().sort((a, b) => a.start - b.start)) {
    layer.lane = 0;
    if (layer.critical) continue;
    let lane = busy.findIndex((until) => until <= layer.start + 1e-9);
    if (lane < 0) lane = busy.length < 7 ? busy.push(0) - 1 : 6;
    busy[lane] = Math.max(busy[lane], layer.start + layer.time);
    layer.lane = lane + 1;
  }
  return { placed, length: end, lanes: busy.length + 1, layers: graph.names.length - off.size };
}

function drawStrip(graph, width) {
  const lane = 26, gap = 4, head = 24, height = head + graph.lanes * (lane + gap) + 2;
  const x = (ms) => 1 + (ms / graph.length) * (width - 2);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "strip", role: "img",
    "aria-label": `${graph.placed.length} layers along ${timeText(graph.length)}; the list below has the path in words` });
  ticks(graph.length, width / 110).forEach((tick) =>
    picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 18, y2: height }),
      svg("text", { class: "tick", x: x(tick), y: 12, "text-anchor": tick === 0 ? "start" : x(tick) > width - 30 ? "end" : "middle" }, tick === 0 ? "0" : timeText(tick))));
  for (const layer of graph.placed) {
    const at = x(layer.start), wide = x(layer.start + layer.time) - at, top = head + layer.lane * (lane + gap);
    const gapRight = wide > 3 ? 1 : wide > 0.8 ? 0.3 : 0;
    picture.append(svg("rect", { class: `step k${familyOf(layer.kind)} ${layer.critical ? "on" : "off"}`, "data-layer": layer.index,
      x: at, y: top, width: Math.max(0.4, wide - gapRight), height: lane }));
    const fits = Math.floor((wide - 8) / 6.6);
    if (fits >= 5) picture.append(svg("text", { class: "step-name", x: at + 5, y: top + 17 }, layer.words.length > fits ? layer.words.slice(0, fits - 1) + "…" : layer.words));
  }
  const byIndex = new Map(graph.placed.map((layer) => [String(layer.index), layer]));
  picture.addEventListener("pointermove", (event) => {
    const layer = byIndex.get(event.target.dataset && event.target.dataset.layer);
    if (!layer) return hideTip();
    showTip(event.clientX, event.clientY, [layer.words, layer.name, `${timeText(layer.time)} from ${timeText(layer.start)}` + (layer.passes > 1 ? `, ${layer.passes} passes` : ""),
      layer.calls > 1 && `${layer.calls} calls`, layer.critical ? "on the critical path" : "beside the critical path"]);
  });
  picture.addEventListener("pointerleave", hideTip);
  return picture;
}

/// The path in words: what takes long by line, what lies between folded.
function pathList(graph) {
  const path = graph.placed.filter((layer) => layer.critical).sort((a, b) => a.start - b.start);
  const limit = path.map((layer) => layer.time).sort((a, b) => b - a)[Math.min(14, path.length - 1)] || 0;
  const most = Math.max(...path.map((layer) => layer.time), 1e-12);
  const line = (layer) => el("li", {}, el("span", { class: "when" }, timeText(layer.start)), el("span", { class: "long" }, timeText(layer.time)),
    el("span", { class: "bar" }, el("span", { class: `fill k${familyOf(layer.kind)}`, style: `width:${(100 * layer.time) / most}%` })),
    el("span", { class: "name" }, layer.words, el("small", {}, layer.name)));
  const items = [];
  let run = [];
  const flush = () => {
    if (run.length === 1) items.push(line(run[0]));
    else if (run.length) items.push(el("li", { class: "folded" }, el("details", {}, el("summary", {}, `${run.length} shorter layers, ${timeText(sum(run.map((l) => l.time)))}`), el("ol", {}, run.map(line)))));
    run = [];
  };
  for (const layer of path) {
    if (layer.time < limit) {
      run.push(layer);
      continue;
    }
    flush();
    items.push(line(layer));
  }
  flush();
  return el("ol", { class: "path" }, items);
}

function pathSection(model) {
  const names = Object.keys(shownGraphs).filter((name) => model.bounds_ms[name] !== null && model.bounds_ms[name] !== undefined);
  if (names.length === 0) return section("Critical path", null, el("p", { class: "empty" }, "No rung that has a path is known."));
  let rung = names[0], zoom = 1, graph = null;
  const note = el("p", { class: "note" }), list = el("div"), legend = el("div");
  const strip = responsive((width) => graph.placed.length ? drawStrip(graph, Math.floor(width * zoom)) : el("p", { class: "empty" }, "No layer takes time here."));
  const inner = el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "graph along time" });
  const fill = () => {
    graph = placedLayers(model, rung);
    const path = graph.placed.filter((layer) => layer.critical);
    const how = shownGraphs[rung];
    note.textContent = how.parallel
      ? `${path.length} of ${graph.layers} layers make the critical path of ${timeText(graph.length)}; the other lanes show the rest as early as it can run, on any number of streams. Times are ${how.floor ? "analytic, without weights" : "the medians to expect"}.`
      : `${path.length} layers, one after the other: ${timeText(graph.length)} at the medians to expect.`;
    list.replaceChildren(pathList(graph));
    legend.replaceChildren(legendOf(graph.placed.map((layer) => layer.kind)));
    strip.redraw();
  };
  // The strip is measured by its frame and may be wider than it.
  inner.append(strip);
  fill();
  return section("Critical path", null,
    el("div", { class: "controls" },
      el("label", {}, "rung ", el("select", { onchange: (event) => { rung = event.target.value; fill(); } }, names.map((name) => el("option", { value: name }, spaced(name))))),
      el("label", {}, "zoom ", el("input", { type: "range", min: 0, max: 5, step: 0.5, value: 0, oninput: (event) => { zoom = 2 ** Number(event.target.value); strip.redraw(); } }))),
    note, inner, legend, list);
}
