// SPDX-License-Identifier: Apache-2.0
// The ladder of bounds as bars, with uncertainty and median; and what its rungs mean.

const meanings = {
  model_floor: ["any schedule and any fusion", "FLOPs over peak, or inputs, weights and outputs over bandwidth, whichever is more. Holds for any schedule and any fusion in this arithmetic type, with direct matrix products and any convolution algorithm."],
  roofline_parallel: ["any number of streams", "The critical path of the roofline's times without weights. Holds for engines with any number of streams that do not pipeline tiles across groups."],
  roofline: ["one group after the other", "For each group the larger of FLOPs over peak and compulsory bytes over bandwidth, summed. Holds for engines that finish one group before they start the next."],
  library_fused_parallel: ["fused, branches side by side", "Measured library calls, fused, with branches side by side: the larger of critical path and work over threads."],
  library_parallel: ["branches side by side", "Measured library calls with branches side by side: the larger of critical path and work over threads."],
  library_fused: ["fused, one after the other", "The best library call for each fused group, summed. Holds for engines that fuse at most these groups."],
  library: ["layer by layer", "The best library call for each layer, summed: the paper's sequential bound. Holds for engines that call these libraries layer by layer."],
  library_resident: ["layer by layer, weights as caches hold them", "As library, with weights cold as far as they exceed the caches: hot rows cannot all be true at once."],
  library_fused_resident: ["fused, weights as caches hold them", "As library fused, with weights cold as far as they exceed the caches: the tightest honest figure before running it."],
  roofline_memory: ["an indication, not a bound", "Every compulsory byte from memory. An indication, not a bound: data may be in a cache."],
  library_chained: ["library fused resident, and what joins its calls", "The calls of library fused resident, with what the plans that fit each other take longer, and with measured changes of layout and of threads between them."],
  witness: ["achieved", "The whole model executed from the chosen plans. It is achieved, and proves that a gap above it is real."],
};

function ladderOf(model) {
  return data.rungs.filter((name) => model.bounds_ms[name] !== null && model.bounds_ms[name] !== undefined).map((name) => ({
    name,
    bound: model.bounds_ms[name],
    median: model.median_ms[name],
    uncertainty: model.uncertainty[name],
    floors: (model.floor_share || {})[name],
    provisional: name in (model.provisional || {}),
    saves: (model.saves_multiplications || []).includes(name),
    group: name === "roofline_memory" ? "hint" : name.startsWith("library") || name === "witness" ? "measured" : "analytic",
  }));
}

function boundText(rung) {
  return timeText(rung.bound) + (rung.uncertainty !== undefined ? ` ± ${percent(rung.uncertainty)}` : rung.floors ? ` F ${percent(rung.floors)}` : "") + (rung.provisional ? " ~" : "") + (rung.saves ? " W" : "");
}

function drawLadder(model, width) {
  const rungs = ladderOf(model);
  const narrow = width < 620;
  const left = narrow ? 0 : 250, right = narrow ? 8 : 132, top = 22;
  const step = narrow ? 48 : 34, height = top + rungs.length * step + 4;
  const most = Math.max(...rungs.map((r) => Math.max(r.bound * (1 + (r.uncertainty || 0)), r.median || 0)));
  const x = (ms) => left + (ms / most) * (width - left - right);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "ladder",
    "aria-label": `Ladder of bounds of ${model.model}: ` + rungs.map((r) => `${spaced(r.name)} ${boundText(r)}`).join(", ") });
  for (const tick of ticks(most, narrow ? 3 : 6))
    picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top - 4, y2: height }),
      svg("text", { class: "tick", x: x(tick), y: 12, "text-anchor": tick === 0 ? "start" : "middle" }, tick === 0 ? "0" : timeText(tick)));
  rungs.forEach((rung, i) => {
    const y = top + i * step, bar = narrow ? y + 22 : y + 7, thick = 16;
    const row = svg("g", { class: `rung ${rung.group}`, "data-rung": rung.name }, svg("title", {}, (meanings[rung.name] || [""])[1] || spaced(rung.name)));
    row.append(svg("rect", { class: "bar", x: left, y: bar, width: Math.max(1, x(rung.bound) - left), height: thick, rx: 2 }));
    if (rung.uncertainty !== undefined) {
      const from = x(rung.bound * (1 - Math.min(1, rung.uncertainty))), to = x(rung.bound * (1 + rung.uncertainty)), middle = bar + thick / 2;
      row.append(svg("path", { class: "whisker", d: `M${from} ${middle - 4}v8M${from} ${middle}H${to}M${to} ${middle - 4}v8` }));
    }
    if (rung.median !== undefined) row.append(svg("line", { class: "median", x1: x(rung.median), x2: x(rung.median), y1: bar - 3, y2: bar + thick + 3 }));
    const label = svg("text", { class: "label", x: narrow ? 0 : left - 10, y: narrow ? y + 15 : bar + 8, "text-anchor": narrow ? "start" : "end" }, spaced(rung.name));
    const what = svg("text", { class: "what", x: narrow ? 0 : left - 10, y: bar + 20, "text-anchor": "end" }, (meanings[rung.name] || [""])[0]);
    row.append(label, ...(narrow ? [] : [what]));
    row.append(svg("text", { class: "value", x: narrow ? width : Math.max(x(rung.bound * (1 + (rung.uncertainty || 0))), x(rung.median || 0)) + 8, y: narrow ? y + 15 : bar + 12.5, "text-anchor": narrow ? "end" : "start" }, boundText(rung)));
    picture.append(row);
  });
  return picture;
}

/// What direct algorithms need, if others need less, and which rungs hold such plans.
function directText(model) {
  const direct = model.bounds_ms.direct_floor, saving = model.saves_multiplications || [];
  if (!(direct > model.bounds_ms.model_floor)) return "";
  return ` Direct algorithms alone take at least ${timeText(direct)}` + (saving.length ? `; plans that save multiplications (Winograd, FFT) go below, in rungs with W.` : ".");
}

function ladderSection(model) {
  const raised = Object.entries(model.raised_ms).map(([name, ms]) => `${spaced(name)} was raised by ${timeText(ms)} to the model floor.`);
  const unknown = data.rungs.filter((name) => model.bounds_ms[name] === null || model.bounds_ms[name] === undefined);
  const measured = ladderOf(model).filter((rung) => rung.group === "measured").map((rung) => rung.name);
  return section("Ladder of bounds", null,
    responsive((width) => drawLadder(model, width)),
    el("p", { class: "note" }, "Bar: the bound, for measured rungs the tenth percentile of rounds. Whisker: its uncertainty. Thin line: the median, which is the time to expect. Grey: analytic; blue: measured; hollow: an indication.",
      raised.map((text) => " " + text), directText(model),
      !model.common_rounds && measured.length > 0 && " No run timed all rows together: measured rungs are sums of each row's tenth percentile.",
      unknown.length > 0 && ` Not given here: ${unknown.map(spaced).join(", ")}.`),
    el("details", {}, el("summary", {}, "What the rungs mean"),
      el("dl", {}, ladderOf(model).map((rung) => [el("dt", {}, spaced(rung.name)), el("dd", {}, (meanings[rung.name] || ["", ""])[1])]))));
}
