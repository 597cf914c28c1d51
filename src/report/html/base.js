// SPDX-License-Identifier: Apache-2.0
// What every part of the page uses: the data, elements, numbers as the tables of the program print them, tooltips.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);

/// An element; text reaches the page by textContent only, whatever a model calls its nodes.
function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}
function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}
function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(2))
    if (child !== undefined && child !== null && child !== false) element.append(child);
  return element;
}

/// Three significant digits.
function digits(value) {
  if (value === 0) return "0";
  const before = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.min(Math.max(3 - before, 0), 3));
}
function timeText(ms) {
  if (ms === null || ms === undefined) return "unknown";
  if (ms === 0) return "0 ms";
  const size = Math.abs(ms);
  if (size >= 1000) return digits(ms / 1000) + " s";
  if (size >= 0.1) return digits(ms) + " ms";
  if (size >= 1e-4) return digits(ms * 1e3) + " µs";
  return digits(ms * 1e6) + " ns";
}
function scaled(value, unit = "") {
  if (value === null || value === undefined) return "unknown";
  for (const [factor, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
    if (Math.abs(value) >= factor) return digits(value / factor) + " " + prefix + unit;
  return digits(value) + (unit ? " " + unit : "");
}
const percent = (share, places = 1) => (share * 100).toFixed(places) + " %";
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const spaced = (name) => name.replaceAll("_", " ");
const sum = (values) => values.reduce((a, b) => a + b, 0);

/// A row of a model, its texts and names put back.
function rowsOf(model) {
  if (model.objects) return model.objects;
  const isText = new Set(data.row_texts);
  model.objects = model.rows.map((values, index) => {
    const row = { index, nodes: [] };
    data.row_columns.forEach((name, i) => {
      row[name] = isText.has(name) && values[i] !== null ? data.texts[values[i]] : values[i];
    });
    row.form = data.forms[row.form];
    row.status = data.statuses[row.status];
    row.cache = row.cache === null ? null : data.caches[row.cache];
    row.noisy = Boolean(row.flags & 1);
    row.contended = Boolean(row.flags & 2);
    row.saves = Boolean(row.flags & 4);
    row.disagreeing = Boolean(row.flags & 8);
    row.total = row.p10_ms * (row.count - row.not_taken);
    row.kind = row.signature.split("/")[0];
    row.roof = row.floor_ms > 0 && row.p10_ms > 0 ? row.floor_ms / row.p10_ms : null;
    return row;
  });
  for (const form of data.forms) {
    const rows = model.objects.filter((row) => row.form === form);
    const all = sum(rows.map((row) => row.total));
    for (const row of rows) row.share = all > 0 ? row.total / all : 0;
    const graph = model.graphs[form];
    graph.calls.forEach((calls, i) => calls.forEach((at) => model.objects[at].nodes.push(data.texts[graph.names[i]])));
  }
  return model.objects;
}

/// Operators that look alike to a reader share a colour; the last family takes what is not an operator.
function familyOf(kind) {
  const at = data.families.findIndex(([, kinds]) => kinds.includes(kind));
  return at < 0 ? data.families.length - 1 : at;
}
const familyName = (at) => data.families[at][0];

/// Draws anew whenever the width of its place changes, so that text in pictures keeps its size.
function responsive(draw) {
  const place = el("div", { class: "picture" });
  let width = 0;
  const redraw = () => {
    const now = Math.floor(place.clientWidth);
    if (!now || now === width) return;
    width = now;
    place.replaceChildren(...[draw(now)].flat());
  };
  place.redraw = () => {
    width = 0;
    redraw();
  };
  new ResizeObserver(redraw).observe(place);
  return place;
}

/// Round numbers over a range, about `count` of them.
function ticks(most, count) {
  const raw = most / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw);
  const result = [];
  for (let at = 0; at <= most * 1.0001; at += step) result.push(at);
  return result;
}

const tip = document.getElementById("tip");
/// Lines beside a point of the window; nothing hides them.
function showTip(x, y, lines) {
  tip.replaceChildren(...lines.filter(Boolean).map((line, i) => el(i ? "div" : "strong", {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  tip.style.left = Math.max(8, Math.min(x + 14, room - box.width - 8)) + "px";
  tip.style.top = Math.max(8, y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18) + "px";
}
function hideTip() {
  tip.hidden = true;
}
addEventListener("scroll", hideTip, { passive: true });
addEventListener("keydown", (event) => event.key === "Escape" && hideTip());

/// A heading with its section.
function section(title, note, ...children) {
  return el("section", {}, el("h3", {}, title), note && el("p", { class: "note" }, note), children);
}

/// Buttons of which one is chosen.
function choice(label, names, chosen, choose) {
  const buttons = names.map((name) =>
    el("button", { type: "button", "aria-pressed": String(name === chosen), onclick: () => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === name));
      choose(name);
    } }, name));
  return el("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}
