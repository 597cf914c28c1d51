// SPDX-License-Identifier: Apache-2.0
// The table of layers: sortable by each column, filtered by text and status; a row opens to show all that is known of it.

const layerColumns = [
  { key: "share", title: "share", number: true, text: (r) => percent(r.share) },
  { key: "total", title: "time", number: true, text: (r) => timeText(r.total) },
  { key: "count", title: "count", number: true, text: (r) => "×" + r.count },
  { key: "roof", title: "of roofline", number: true, optional: true, text: (r) => (r.roof === null ? "–" : percent(r.roof, 0)) },
  { key: "words", title: "layer", text: (r) => r.words },
  { key: "plan", title: "plan", optional: true, text: (r) => planText(r) },
];

const shownFirst = 20;

function planText(row) {
  return row.backend === null ? row.status : `${row.backend} ${row.algorithm.split(",")[0]}`;
}
function marks(row) {
  return [row.not_taken === row.count && row.count > 0 && "not in the bound", row.critical && "critical path", row.noisy && "noisy", row.contended && "contended", row.disagreeing && "no two methods of timing agree", row.saves && "saves multiplications",
    row.status !== "measured" && row.backend !== null && row.status].filter(Boolean);
}

/// Every plan of a layer with its time, or why it does not count; only if the run was asked for plans.
function candidatesList(row) {
  return el("ul", { class: "runs" }, row.candidates.map(([backend, algorithm, cache, time, reason, kernels, advised]) =>
    el("li", {}, time === null ? "excluded" : timeText(time), ` · ${data.caches[cache]} · `, el("code", {}, `${data.texts[backend]} ${data.texts[algorithm]}`),
      advised ? " (advised by the library)" : null, time === null && `: ${data.texts[reason]}`,
      kernels.length > 0 && el("ul", {}, kernels.map(([name, launch, counters]) =>
        el("li", {}, el("code", {}, data.texts[name]), `: ${data.texts[launch]}`, data.texts[counters] && `; ${data.texts[counters]}`))))));
}

/// Everything about a row, as terms and values.
function rowFacts(row) {
  const facts = [["signature", el("code", {}, row.signature)], ["status", row.status + (row.reason ? `: ${row.reason}` : "")]];
  if (row.backend !== null)
    facts.push(["plan", el("code", {}, `${row.backend} ${row.algorithm}`)],
      ["one call", `${timeText(row.p10_ms)} (tenth percentile), ${timeText(row.median_ms)} (median), ${row.cache} caches`],
      ["noise", `coefficient of variation ${row.cv === null ? "not known" : percent(row.cv)} over ${plural(row.samples, "sample")}` + (row.noisy ? ", still uncertain when the budget ended" : "") + (row.contended ? ", no sample was free of other processes" : "")]);
  if (row.cold_ms !== null) facts.push(["weights from memory", `${timeText(row.cold_ms)}: ${row.cold_algorithm}`]);
  facts.push(["roofline", `${timeText(row.floor_ms)} a call`],
    ["work", `${scaled(row.flops, "FLOP")}, ${scaled(row.bytes, "B")}` + (row.flops > 0 ? `, ${digits(row.flops / row.bytes)} FLOP/B` : "")]);
  if (row.not_taken > 0) facts.push(["not in the bound", `${row.not_taken} of ${row.count}: in a branch of an If that takes longer`]);
  if (row.untried > 0) facts.push(["not tried", `${plural(row.untried, "plan")}: the budget ended; one may be faster`]);
  if (row.candidates.length) facts.push([plural(row.candidates.length, "plan"), candidatesList(row)]);
  const shown = row.nodes.slice(0, 60);
  facts.push([plural(row.nodes.length, "node"), shown.join(", ") + (shown.length < row.nodes.length ? `, and ${row.nodes.length - shown.length} more` : "")]);
  return el("dl", { class: "facts" }, facts.map(([term, value]) => [el("dt", {}, term), el("dd", {}, value)]));
}

function layersSection(model) {
  const rows = rowsOf(model);
  const state = { form: "fused", key: "total", down: true, text: "", status: "all", critical: false, all: false };
  const body = el("tbody");
  const more = el("button", { type: "button", class: "all", onclick: () => { state.all = true; fill(); } });
  const count = el("output", { class: "count" });
  const headers = layerColumns.map((column) => {
    const header = el("th", { scope: "col", class: classOf(column) },
      el("button", { type: "button", onclick: () => {
        state.down = state.key === column.key ? !state.down : Boolean(column.number);
        state.key = column.key;
        fill();
      } }, column.title));
    return header;
  });

  function classOf(column) {
    return [column.number && "number", column.optional && "optional", "c-" + column.key].filter(Boolean).join(" ");
  }
  function value(row) {
    return state.key === "plan" ? planText(row) : row[state.key];
  }
  function matches(row) {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    const where = () => `${row.words} ${row.signature} ${row.backend} ${row.algorithm} ${row.nodes.join(" ")}`.toLowerCase();
    return row.form === state.form && (state.status === "all" || row.status === state.status) && (!state.critical || row.critical) &&
      (words.length === 0 || words.every((word) => where().includes(word)));
  }
  function fill() {
    const shown = rows.filter(matches).sort((a, b) => {
      const [left, right] = [value(a), value(b)];
      if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;  // unknown last
      const order = typeof left === "number" ? left - right : left.localeCompare(right, "en", { numeric: true });
      return state.down ? -order : order;
    });
    headers.forEach((header, i) => header.setAttribute("aria-sort", layerColumns[i].key !== state.key ? "none" : state.down ? "descending" : "ascending"));
    const most = Math.max(...shown.map((row) => row.share), 1e-9);
    const few = state.all || shown.length <= shownFirst + 3 ? shown : shown.slice(0, shownFirst);
    body.replaceChildren(...few.flatMap((row) => line(row, most)));
    more.hidden = few.length === shown.length;
    more.textContent = `Show the other ${shown.length - few.length} (${timeText(sum(shown.slice(few.length).map((row) => row.total)))})`;
    const of = rows.filter((row) => row.form === state.form).length;
    count.textContent = `${shown.length === of ? plural(of, "unique layer") : `${shown.length} of ${of} unique layers`}, ${timeText(sum(shown.map((row) => row.total)))}`;
  }
  function line(row, most) {
    const facts = el("tr", { class: "more", hidden: true }, el("td", { colspan: layerColumns.length }));
    const cells = layerColumns.map((column) => {
      const cell = el("td", { class: classOf(column) });
      if (column.key === "words") {
        cell.append(el("button", { type: "button", class: "open", "aria-expanded": "false", onclick: (event) => {
          if (!facts.firstChild.firstChild) facts.firstChild.append(rowFacts(row));
          facts.hidden = !facts.hidden;
          event.currentTarget.setAttribute("aria-expanded", String(!facts.hidden));
        } }, row.words), ...marks(row).map((mark) => el("span", { class: "mark " + mark.split(" ")[0] }, mark)),
        el("span", { class: "plan-below" }, planText(row)));
      } else {
        cell.append(column.text(row));
        if (column.key === "share") cell.append(el("span", { class: "meter", style: `width:${(100 * row.share) / most}%` }));
      }
      return cell;
    });
    const main = el("tr", { "data-row": row.index, class: row.critical ? "critical" : "" }, cells);
    return [main, facts];
  }
  const statuses = ["all", ...data.statuses.filter((status) => rows.some((row) => row.status === status))];
  const controls = el("div", { class: "controls" },
    choice("form of the graph", data.forms.slice().reverse(), state.form, (name) => { state.form = name; fill(); }),
    el("label", {}, "filter ", el("input", { type: "search", placeholder: "conv 3x3, a node, a plan …", "aria-label": "filter layers by text",
      oninput: (event) => { state.text = event.target.value; fill(); } })),
    statuses.length > 2 && el("label", {}, "status ", el("select", { onchange: (event) => { state.status = event.target.value; fill(); } }, statuses.map((status) => el("option", {}, status)))),
    el("label", { class: "check" }, el("input", { type: "checkbox", onchange: (event) => { state.critical = event.target.checked; fill(); } }), " critical path only"),
    count);
  fill();
  return section("Layers", "Each unique layer once, with the plan that bounds it. Time is the sum over its occurrences, at the tenth percentile; the roofline is the larger of FLOPs over peak and bytes over bandwidth.",
    controls, el("table", { class: "layers" }, el("thead", {}, el("tr", {}, headers)), body), more);
}
