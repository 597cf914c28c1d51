// SPDX-License-Identifier: Apache-2.0
// Several models at a glance: a sortable table, each row with its ladder as one bar.

function sizesText(model) {
  return [`batch ${model.batch}`, ...Object.entries(model.dims).filter(([name]) => name !== "batch").map(([name, value]) => `${name} ${value}`)].join(", ");
}

/// The highest rung is the whole bar, the others are drawn over it.
function miniLadder(model) {
  const parts = [[model.bounds_ms.library, "library"], [model.bounds_ms[model.headline], "fused"], [model.bounds_ms.roofline, "roofline"], [model.bounds_ms.model_floor, "floor"]]
    .filter(([bound, key]) => bound > 0 && (key !== "floor" || model.headline !== "model_floor")).sort(([a], [b]) => b - a);
  if (parts.length === 0) return el("span", { class: "note" }, "unknown");
  const most = parts[0][0];
  return el("span", { class: "mini", role: "img", "aria-label": `model floor is ${percent((model.bounds_ms.model_floor || 0) / most, 0)} of the highest rung` },
    parts.map(([bound, key]) => el("span", { class: `mini-${key}`, style: `width:${(100 * bound) / most}%` })));
}

const overviewColumns = [
  { title: "model", value: (m) => m.model, cell: (m) => [el("a", { href: `#m${m.at}` }, m.model), el("small", {}, sizesText(m) + (m.partial ? ", partial" : "") + (m.provisional ? ", provisional" : ""))] },
  { title: "GMAC", number: true, optional: true, value: (m) => m.macs, cell: (m) => digits(m.macs / 1e9) },
  { title: "layers", number: true, optional: true, value: (m) => m.layers, cell: (m) => String(m.layers) },
  { title: "model floor", number: true, optional: true, value: (m) => m.bounds_ms.model_floor, cell: (m) => timeText(m.bounds_ms.model_floor) },
  { title: "roofline", number: true, optional: true, value: (m) => m.bounds_ms.roofline, cell: (m) => timeText(m.bounds_ms.roofline) },
  { title: "HEADLINE", number: true, value: (m) => m.bounds_ms[m.headline], cell: (m) => [timeText(m.bounds_ms[m.headline]), el("small", {}, data.machine.declared ? "declared" : m.uncertainty[m.headline] === undefined ? `F ${percent((m.floor_share || {})[m.headline] || 0)}` : `± ${percent(m.uncertainty[m.headline])}`)] },
  { title: "library", number: true, optional: true, value: (m) => m.bounds_ms.library, cell: (m) => timeText(m.bounds_ms.library) },
  { title: "ladder", bar: true, value: (m) => (m.bounds_ms.model_floor || 0) / (m.bounds_ms[m.headline] || 1), cell: (m) => miniLadder(m) },
];

function overviewSection() {
  const columns = overviewColumns.filter((column) => !data.machine.declared || !["model floor", "library"].includes(column.title)).map((column) => (column.title === "HEADLINE" ? { ...column, title: spaced(data.models[0].headline) } : column));
  let key = -1, down = false;
  const body = el("tbody");
  const headers = columns.map((column, i) => el("th", { scope: "col", class: classOf(column), "aria-sort": "none" }, el("button", { type: "button", onclick: () => {
    down = key === i ? !down : Boolean(column.number);
    key = i;
    fill();
  } }, column.title)));
  function classOf(column) {
    return [column.number && "number", column.optional && "optional", column.bar && "bar"].filter(Boolean).join(" ");
  }
  function fill() {
    const models = data.models.slice();
    if (key >= 0)
      models.sort((a, b) => {
        const [left, right] = [columns[key].value(down ? b : a), columns[key].value(down ? a : b)];
        return typeof left === "string" ? left.localeCompare(right, "en", { numeric: true }) : (left || 0) - (right || 0);
      });
    headers.forEach((header, i) => header.setAttribute("aria-sort", i !== key ? "none" : down ? "descending" : "ascending"));
    body.replaceChildren(...models.map((model) => el("tr", { "data-model": model.at }, columns.map((column) => el("td", { class: classOf(column) }, column.cell(model))))));
  }
  fill();
  return el("section", { class: "overview" }, el("h2", {}, "Overview"),
    el("ul", { class: "legend" }, [["floor", "model floor"], ["roofline", "roofline"], ["fused", spaced(data.models[0].headline)], ["library", "library"]].filter(([k]) => !data.machine.declared || k === "fused" || k === "roofline").map(([k, text]) =>
      el("li", {}, el("span", { class: `key mini-${k}` }), text))),
    el("table", { class: "models" }, el("thead", {}, el("tr", {}, headers)), body));
}
