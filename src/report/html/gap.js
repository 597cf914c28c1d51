// SPDX-License-Identifier: Apache-2.0
// The gap: from the measured time down through its causes to the bound; engine against bound along time; ranked advice; the
// questions, and all their answers together.

const hasGap = () => Boolean(data.gap);
const gapText = (ms) => (ms < 0 ? "−" + timeText(-ms) : timeText(ms));
const marginText = (ms) => (ms === null || ms === undefined ? "" : ` ± ${timeText(ms)}`);

/// What follows from the witness for the engine; with random inputs, other passes and sizes than the engine's may have run.
function witnessVerdict(gap) {
  if (gap.witness.node_by_node) return ", with random inputs";
  if (gap.witness.median_ms >= gap.latency_ms) return ": the engine is faster";
  return `: the engine could be ${digits(gap.latency_ms / gap.witness.median_ms)} times as fast`;
}

function gapHead(gap) {
  const ratio = gap.rungs[gap.rung].ratio;
  const engine = [gap.engine || gap.format, gap.engine_version].filter(Boolean).join(" ");
  const facts = [engine, gap.threads && plural(gap.threads, "thread"), gap.passes > 0 && (gap.quiet_passes < gap.passes && gap.quiet_passes > 0 ? `${gap.quiet_passes} quiet of ` : "") + `${gap.passes} pass${gap.passes === 1 ? "" : "es"}`,
    gap.latency_p10_ms !== null && `p10 to p90 ${timeText(gap.latency_p10_ms)} to ${timeText(gap.latency_p90_ms)}`, gap.latency_of_records && "sum of records"].filter(Boolean).join(", ");
  return el("div", { class: "lead" },
    el("p", { class: "answer" }, "The engine takes ", el("b", { "data-gap": "latency" }, timeText(gap.latency_ms)), marginText(gap.latency_uncertainty_ms),
      gap.gap_ms !== null && [", ", el("b", { "data-gap": "gap" }, timeText(Math.abs(gap.gap_ms))), ` ${gap.gap_ms < 0 ? "less" : "more"} than ${spaced(gap.rung)}`],
      ratio !== null && ratio < 1 && `: at best ${digits(1 / ratio)} times as fast`, "."),
    el("p", { class: "note" }, facts),
    gap.outside && el("p", { class: "warning" }, el("b", {}, "Outside the assumptions: "), gap.outside, "."),
    gap.total_only && el("p", { class: "warning" }, el("b", {}, "No claim about layers: "), gap.total_only, "."),
    gap.witness && (gap.witness.refused === undefined ?
      el("p", { "data-gap": "witness" }, `The model was executed from the plans of the bound in ${timeText(gap.witness.median_ms)}${witnessVerdict(gap)}.`) :
      el("p", { class: "warning" }, el("b", {}, "No witness: "), gap.witness.refused, ".")),
    gap.partial && el("p", { class: "warning" }, el("b", {}, "Partial: "), "the bound lacks layers, so the gap is too large."),
    gap.provisional && el("p", { class: "warning" }, el("b", {}, "Provisional: "), `${gap.provisional}.`),
    [...gap.deviations, ...gap.warnings].map((text) => el("p", { class: "warning" }, text)));
}

/// Bars from the measured time to the bound: each cause takes its part away, or gives some back.
function drawWaterfall(gap, width) {
  const narrow = width < 560, left = narrow ? 0 : 200, right = 110, row = narrow ? 40 : 28;
  const executed = gap.witness && gap.witness.refused === undefined;
  const rungs = [...(executed ? [["witness, executed", gap.witness.median_ms]] : []), [spaced(gap.rung), gap.bound_ms], ...["library_fused_resident", "model_floor"].filter((name) => name !== gap.rung && gap.rungs[name].bound_ms > 0)
    .map((name) => [spaced(name), gap.rungs[name].bound_ms])];
  const steps = [{ name: "measured", from: 0, to: gap.latency_ms, kind: "engine" }];
  let at = gap.latency_ms;
  for (const part of gap.parts) {
    steps.push({ name: part.words, from: at - part.time_ms, to: at, kind: part.cause === "unexplained" || part.cause === "unmatched" ? "open" : part.time_ms < 0 ? "less" : "more", part });
    at -= part.time_ms;
  }
  for (const [name, bound] of rungs) steps.push({ name, from: 0, to: bound, kind: "bound" });
  const most = Math.max(...steps.map((step) => Math.max(step.from, step.to)));
  const x = (ms) => left + (Math.max(0, ms) / most) * (width - left - right);
  const height = steps.length * row + 4;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "waterfall", role: "img",
    "aria-label": `measured ${timeText(gap.latency_ms)}; ${gap.parts.map((part) => `${part.words} ${gapText(part.time_ms)}`).join("; ")}; ${spaced(gap.rung)} ${timeText(gap.bound_ms)}` });
  steps.forEach((step, i) => {
    const top = i * row, bar = top + (narrow ? 20 : 4), low = Math.min(step.from, step.to), high = Math.max(step.from, step.to);
    const group = svg("g", { class: `fall-row ${step.kind}` });
    group.append(svg("text", { class: "label", x: narrow ? 0 : left - 10, y: narrow ? top + 15 : bar + 14, "text-anchor": narrow ? "start" : "end" }, step.name),
      svg("rect", { class: `fall ${step.kind}`, x: x(low), y: bar, width: Math.max(1, x(high) - x(low)), height: 18 }),
      svg("text", { class: "value", x: narrow ? width : x(high) + 8, y: narrow ? top + 15 : bar + 14, "text-anchor": narrow ? "end" : "start" },
        step.part ? (step.part.time_ms < 0 ? "+ " + timeText(-step.part.time_ms) : "− " + timeText(step.part.time_ms)) : timeText(step.to)));
    if (i + 1 < steps.length && steps[i + 1].part) group.append(svg("line", { class: "grid", x1: x(step.part ? step.from : step.to), x2: x(step.part ? step.from : step.to), y1: bar, y2: bar + row }));
    if (step.part) {
      group.addEventListener("pointermove", (event) => showTip(event.clientX, event.clientY, [step.part.words, gapText(step.part.time_ms) + marginText(step.part.uncertainty_ms),
        ...step.part.items.slice(0, 8).map((item) => `${gapText(item.time_ms)}  ${item.name}${item.detail ? ` (${item.detail})` : ""}`), step.part.items.length > 8 && `and ${step.part.items.length - 8} more`]));
      group.addEventListener("pointerleave", hideTip);
    }
    picture.append(group);
  });
  return picture;
}

function partsTable(gap) {
  return el("details", {}, el("summary", {}, "The parts and what is in them"),
    el("table", { class: "parts" }, el("thead", {}, el("tr", {}, ["cause", "part of the gap", "largest"].map((title, i) => el("th", { scope: "col", class: i === 1 && "number" }, title)))),
      el("tbody", {}, gap.parts.map((part) => el("tr", { "data-cause": part.cause }, el("td", {}, part.words), el("td", { class: "number" }, gapText(part.time_ms), el("small", {}, marginText(part.uncertainty_ms))),
        el("td", {}, part.items.slice(0, 5).map((item) => `${item.name}${item.detail ? ` (${item.detail})` : ""}: ${gapText(item.time_ms)}`).join("; "), part.items.length > 5 && ` and ${part.items.length - 5} more`))))));
}

/// The engine's groups in the order of its records; below each, the bound of the same group.
function engineTimeline(gap) {
  const lanes = [...new Set(gap.records.filter((record) => record.counted).map((record) => record.lane))];
  const placed = gap.records.filter((record) => record.counted && record.drawn_ms > 0)
    .map((record) => ({ ...record, start: record.drawn_start_ms, time: record.drawn_ms, track: lanes.indexOf(record.lane) }));
  let at = 0;
  const seen = new Set(), bounds = [];
  for (const record of placed.slice().sort((a, b) => a.start - b.start)) {
    if (record.group === null || seen.has(record.group)) continue;
    seen.add(record.group);
    const group = gap.groups[record.group];
    if (group.bound_ms <= 0) continue;
    bounds.push({ group, start: at });
    at += group.bound_ms;
  }
  return { placed, bounds, lanes: Math.max(1, lanes.length), length: Math.max(at, ...placed.map((record) => record.start + record.time), gap.latency_ms || 0) };
}

function drawEngineTimeline(gap, width) {
  const line = engineTimeline(gap), lane = 26, space = 6, head = 24;
  const height = head + (line.lanes + 1) * (lane + space);
  const x = (ms) => 1 + (ms / line.length) * (width - 2);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "strip engine", role: "img",
    "aria-label": `${line.placed.length} records of the engine along ${timeText(line.length)}, the bound of the same layers below` });
  ticks(line.length, width / 110).forEach((tick) =>
    picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 18, y2: height }),
      svg("text", { class: "tick", x: x(tick), y: 12, "text-anchor": tick === 0 ? "start" : x(tick) > width - 30 ? "end" : "middle" }, tick === 0 ? "0" : timeText(tick))));
  const box = (start, time, track, kind, lines) => {
    const rect = svg("rect", { class: `step ${kind}`, x: x(start), y: head + track * (lane + space), width: Math.max(0.4, x(start + time) - x(start) - 0.3), height: lane });
    rect.addEventListener("pointermove", (event) => showTip(event.clientX, event.clientY, lines));
    rect.addEventListener("pointerleave", hideTip);
    picture.append(rect);
  };
  for (const record of line.placed) {
    const group = record.group === null ? null : gap.groups[record.group];
    box(record.start, record.time, record.track, group ? `k${familyOf(group.signatures.length ? group.signatures[0].split("/")[0] : "")}` : "beside",
      [record.name, record.op, `${timeText(record.time)} from ${timeText(record.start)}`, group ? `${group.pattern}: bound ${timeText(group.bound_ms)}, engine ${timeText(group.engine_ms)}` : spaced(record.cause), `matched by ${spaced(record.matched_by)}`]);
  }
  for (const bound of line.bounds)
    box(bound.start, bound.group.bound_ms, line.lanes, `k${familyOf(bound.group.signatures[0].split("/")[0])} bounded`, [bound.group.pattern, bound.group.name, `bound ${timeText(bound.group.bound_ms)}, engine ${timeText(bound.group.engine_ms)}`]);
  return picture;
}

function adviceTable(gap) {
  const proven = gap.advice.some((advice) => advice.achieved_ms !== undefined);
  const columns = ["advice", "saves", ...(proven ? ["achieved"] : []), "how"];
  return el("table", { class: "advice" }, el("thead", {}, el("tr", {}, columns.map((title) => el("th", { scope: "col", class: (title === "saves" || title === "achieved") && "number" }, title)))),
    el("tbody", {}, gap.advice.map((advice) => el("tr", {},
      el("td", {}, advice.text, el("small", {}, advice.layers.slice(0, 4).join(", ") + (advice.layers.length > 4 ? ` and ${advice.layers.length - 4} more` : ""))),
      el("td", { class: "number" }, gapText(advice.predicted_ms), el("small", {}, marginText(advice.uncertainty_ms))),
      proven && el("td", { class: "number" }, advice.achieved_ms === undefined || advice.achieved_ms === null ? "–" : savedText(advice.achieved_ms)),
      el("td", {}, advice.how, advice.reproduce && el("small", {}, el("code", {}, advice.reproduce)))))));
}

const savedText = (ms) => (ms < 0 ? `costs ${timeText(-ms)}` : timeText(ms));
const gainText = (ms) => (ms === null ? "unknown" : savedText(ms));
const layerOf = (words, detail) => [el("code", {}, words), detail && el("small", {}, el("code", {}, detail))];

/// A question's answers as a small table of at most ten rows; columns are [title, class].
function questionSection(question, title, note, columns, rows) {
  const shown = rows.slice(0, 10);
  return rows.length > 0 && section(title, note,
    el("table", { "data-question": question }, el("thead", {}, el("tr", {}, columns.map(([name, kind]) => el("th", { scope: "col", class: kind }, name)))),
      el("tbody", {}, shown.map((cells) => el("tr", {}, cells.map((cell, i) => el("td", { class: columns[i][1] }, cell)))))),
    shown.length < rows.length && el("p", { class: "note" }, `${rows.length - shown.length} more in the JSON report`));
}

/// One step after the other from the measured time to the joint figure.
function jointSection(gap) {
  const joint = gap.questions.joint;
  if (!joint || joint.steps.length < 2) return null;
  const most = Math.max(gap.latency_ms, ...joint.steps.map((step) => step.latency_ms));
  const line = (what, gain, latency) => el("li", {}, el("span", { class: "when" }, gain), el("span", { class: "long" }, timeText(latency)),
    el("span", { class: "bar" }, el("span", { class: "fill k0", style: `width:${(100 * latency) / most}%` })), el("span", { class: "name" }, what));
  return section("All changes together", "Each change is made after those above it: what it saves, and the time that is left. The last time is the fused bound with branches in parallel, in the type that is fastest here.",
    el("ol", { class: "path", "data-question": "joint" }, line("measured", "", gap.latency_ms),
      joint.steps.map((step) => line(step.what, savedText(step.gain_ms), step.latency_ms))));
}

function questionSections(gap) {
  const q = gap.questions, number = "number", extra = "number optional";
  const inLibraries = sum(gap.by_library.map((l) => l.time_ms));
  return [jointSection(gap),
    questionSection("by_library", "Time by library", "Of the engine's records: whose calls launched them, or whose kernels they are by their names.", [["library", null], ["records", extra], ["time", number], ["share", number]],
      gap.by_library.map((l) => [l.library, String(l.records), timeText(l.time_ms), percent(l.time_ms / inLibraries)])),
    questionSection("between", "Between library calls", "What a thread did between two library calls of a pass, outside both: a call's time is the host's, a kernel's the device's.", [["call", null], ["count", number], ["time", number]],
      gap.between_library_calls.map((b) => [layerOf(b.name + (b.activity === "kernel" ? " (kernel)" : ""), `between ${b.after} and ${b.before}${b.chain.length ? `; called by ${b.chain.join(", ")}` : ""}`), digits(b.count), timeText(b.time_ms)])),
    q.parallel.gain_ms !== null && questionSection("parallel", "Branches side by side", null, [["of the fused bound", null], ["", number]], [
      ["saves at best", timeText(q.parallel.gain_ms)], ["already gained by the engine", gapText(q.parallel.side_by_side_ms)],
      ["groups on the critical path", String(q.parallel.critical_path.length)], ["groups off it", String(q.parallel.groups_off_path)]]),
    questionSection("algorithms", "Algorithms", "What the engine chose against the best plan known for the same layer.", [["layer", null], ["chosen", extra], ["best", extra], ["saves", number]],
      q.algorithms.map((a) => [layerOf(a.layer || a.signature || "unknown", `${a.library} ${a.chosen}${a.best ? `, best ${a.best}` : ""}`), timeText(a.chosen_ms), timeText(a.best_ms), [gainText(a.gain_ms), el("small", {}, marginText(a.uncertainty_ms))]])),
    questionSection("fusions", "Fusion", "Layer by layer against fused, of the bounds; open is the part in groups that the engine did not fuse.", [["pattern", null], ["groups", extra], ["fused", extra], ["saves", number], ["open", number]],
      q.fusions.map((f) => [f.pattern, String(f.count), String(f.done), gainText(f.gain_ms), gainText(f.open_ms)])),
    questionSection("types", "Other types", null, [["type", null], ["bound", extra], ["instead of", extra], ["saves", number]],
      q.types.map((t) => [[t.type, el("small", {}, t.measured ? "library fused, measured" : "roofline, not measured")], timeText(t.bound_ms), timeText(t.compared_ms), [gainText(t.gain_ms), el("small", {}, marginText(t.uncertainty_ms))]])),
    questionSection("layouts", "Layouts", "The best plans in one layout against the best ones in the plain layout.", [["layout", null], ["unique layers", extra], ["saves", number]],
      q.layouts.map((l) => [el("code", {}, l.layout), String(l.layers), gainText(l.gain_ms)])),
    questionSection("library", "The library's own distance to the roofline", null, [["layer", null], ["count", extra], ["time", number], ["roofline", extra], ["saves", number]],
      q.library.map((l) => [layerOf(l.signature, `${l.backend} ${l.algorithm}`), `×${l.count}`, timeText(l.time_ms), timeText(l.roofline_ms), gainText(l.gain_ms)])),
    questionSection("backends", "Other libraries", "Where another library is faster than the one that the engine calls.", [["layer", null], ["count", extra], ["time", extra], ["instead of", extra], ["saves", number]],
      q.backends.map((b) => [layerOf(b.signature, `${b.to} instead of ${b.from}`), `×${b.count}`, timeText(b.to_ms), timeText(b.from_ms), gainText(b.gain_ms)]))];
}

function gapSections(gap) {
  return [gapHead(gap),
    gap.parts.length > 0 && section("From the measured time down to the bound", gap.explained !== null && `Named causes make up ${percent(gap.explained, 0)} of the gap.`, responsive((width) => drawWaterfall(gap, width)), partsTable(gap)),
    gap.records.length > 0 && gap.groups.length > 0 && section("Engine against bound", `Above, the engine's records (${gap.drawn}); grey ones serve no layer of the model. The last lane has the bound of the same layers, one after the other.`,
      el("div", { class: "wide" }, responsive((width) => drawEngineTimeline(gap, width)))),
    gap.advice.length > 0 && section("Advice", "By predicted gain. Gains do not add up: two may concern the same time.", adviceTable(gap)),
    ...questionSections(gap)];
}
