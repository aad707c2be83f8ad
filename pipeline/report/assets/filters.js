// What narrows the list of ASes besides words: chips, and small charts whose bars are buttons.
"use strict";
hopscope.filters = (columns, noun, changed) => {
  const { element, integer } = hopscope;
  const n = columns.asn.length;
  const MOST = 30; // bars of a chart
  const count = (value) => `${integer.format(value)} AS${value === 1 ? "" : "es"}`;
  const hasTraces = Boolean(columns.n_entering);
  const state = { ingresses: false, failed: false, traces: 0, ranges: new Map() };
  const resets = []; // what shows the state, after it was changed from elsewhere

  // ---- Chips --------------------------------------------------------------------------------
  const chips = element("div", { class: "chips", role: "group", "aria-label": "Show only some ASes" });
  function chip(key, text) {
    const button = element("button", { type: "button", class: "chip" }, text);
    button.addEventListener("click", () => { state[key] = !state[key]; shown(); });
    resets.push(() => button.setAttribute("aria-pressed", state[key]));
    chips.append(button);
  }
  chip("ingresses", "with ingresses");
  if (columns.status.some((status) => status !== "ok")) chip("failed", "failed or partial");
  if (hasTraces) {
    const label = element("label", { class: "chip" }, "at least ");
    const least = element("input", { type: "number", min: 0, step: 1, inputmode: "numeric", placeholder: "0" });
    least.addEventListener("input", () => { state.traces = Math.max(0, Math.floor(+least.value) || 0); shown(true); });
    resets.push((typing) => {
      if (!typing) least.value = state.traces || "";
      label.classList.toggle("on", state.traces > 0);
    });
    label.append(least, " entering traces");
    chips.append(label);
  }
  const clear = element("button", { type: "button", class: "get" }, "Show all again");
  clear.addEventListener("click", () => { reset(); shown(); });
  resets.push(() => { clear.hidden = !active(); });
  chips.append(clear);

  // ---- Charts: bars or cells are buttons, one range each --------------------------------------
  const charts = element("details", { class: "charts" });
  const figures = element("div");
  charts.open = innerWidth > 640;
  charts.append(element("summary", {}, "Charts that filter the list"), figures);
  // Ranges from one value to below the next; the last one has no end.
  const place = (firsts, value) => {
    let low = 0, high = firsts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (firsts[middle] <= value) low = middle;
      else high = middle;
    }
    return low;
  };
  const text = (firsts, i, step = 1) => (i + 1 === firsts.length ? `${integer.format(firsts[i])} or more`
    : step && firsts[i + 1] === firsts[i] + step ? integer.format(firsts[i])
      : step ? `${integer.format(firsts[i])} to ${integer.format(firsts[i + 1] - step)}` : `${firsts[i]} to below ${firsts[i + 1]}`);
  const end = (firsts, i) => (i + 1 < firsts.length ? firsts[i + 1] : Infinity);
  const same = (a, b) => a && b && a[0] === b[0] && a[1] === b[1];

  function button(kind, name, ranges, share) {
    const made = element("button", { type: "button", class: kind, "aria-label": name, title: name, style: `--share: ${share.toFixed(3)}` });
    const on = () => ranges.every(([key, range]) => same(state.ranges.get(key), range));
    made.addEventListener("click", () => {
      const was = on();
      for (const [key, range] of ranges) {
        if (was) state.ranges.delete(key);
        else state.ranges.set(key, range);
      }
      shown();
    });
    resets.push(() => made.setAttribute("aria-pressed", on()));
    return made;
  }
  function figure(title, inside, note) {
    const made = element("figure", { class: "small", role: "group", "aria-label": title });
    made.append(element("h3", {}, title), inside);
    if (note) made.append(element("figcaption", {}, note));
    figures.append(made);
  }

  function bars(key, title, step) {
    const values = columns[key];
    let highest = -1;
    for (const value of values) if (value !== null && value > highest) highest = value;
    if (highest < 0) return;
    let wide = step;
    while (highest / wide >= MOST) wide *= 2;
    const firsts = Array.from({ length: Math.floor(highest / wide) + 1 }, (_, i) => i * wide);
    const counts = new Array(firsts.length).fill(0);
    for (const value of values) if (value !== null) counts[Math.floor(value / wide)] += 1;
    const most = Math.log1p(Math.max(...counts));
    const row = element("div", { class: "bins" });
    const lowest = counts.findIndex(Boolean), every = Math.ceil((firsts.length - lowest) / 10);
    firsts.forEach((first, i) => {
      if (i < lowest) return;
      const label = (i - lowest) % every ? "" : `${first}`;
      const bin = element("div", { "data-label": label });
      if (counts[i]) {
        const name = `${title} ${text(firsts, i, step < 1 ? 0 : 1)}: ${count(counts[i])}`;
        bin.append(button("bar", name, [[key, [first, end(firsts, i)]]], Math.log1p(counts[i]) / most));
      }
      row.append(bin);
    });
    figure(title, row);
  }

  function cells() {
    const steps = (highest, from) => {
      const firsts = [...from];
      for (let ten = 1; ten <= highest; ten *= 10) for (const one of [ten, 3 * ten]) if (one <= highest) firsts.push(one);
      return firsts;
    };
    const most = (key) => columns[key].reduce((high, value) => Math.max(high, value ?? 0), 0);
    const wide = steps(most("n_nodes"), columns.n_nodes.includes(0) ? [0] : []), tall = steps(most("n_ingresses"), [0]);
    if (!wide.length) return;
    const counts = tall.map(() => new Array(wide.length).fill(0));
    for (let i = 0; i < n; i++) counts[place(tall, columns.n_ingresses[i])][place(wide, columns.n_nodes[i])] += 1;
    const highest = Math.log1p(Math.max(...counts.flat()));
    const grid = element("div", { class: "cells", style: `--n: ${wide.length}` });
    const small = (value) => (value < 1000 ? `${value}` : value < 1e6 ? `${value / 1000}k` : `${value / 1e6}M`);
    for (let j = tall.length - 1; j >= 0; j--) {
      grid.append(element("i", {}, small(tall[j])));
      wide.forEach((first, i) => {
        const here = counts[j][i];
        if (!here) { grid.append(element("b")); return; }
        const name = `${noun} ${text(wide, i)}, ingresses ${text(tall, j)}: ${count(here)}`;
        const ranges = [["n_nodes", [first, end(wide, i)]], ["n_ingresses", [tall[j], end(tall, j)]]];
        grid.append(button("cell", name, ranges, Math.log1p(here) / highest));
      });
    }
    grid.append(element("i"), ...wide.map((first) => element("i", {}, small(first))));
    figure(`Ingresses (up) by ${noun} (across)`, grid);
  }
  // They are drawn after the list, when the page has time, and only where they are open.
  function draw() {
    if (!charts.open || figures.childElementCount) return;
    cells();
    bars("mean_hops", "Mean hops", 0.5);
    if (columns.diameter) bars("diameter", "Diameter", 1);
    show();
    charts.dataset.ready = "yes";
  }
  const later = window.requestIdleCallback || ((task) => setTimeout(task));
  charts.addEventListener("toggle", () => later(draw, { timeout: 500 }));

  // ---- State ----------------------------------------------------------------------------------
  const KEYS = { size: "n_nodes", entries: "n_ingresses", mean: "mean_hops", diameter: "diameter" };
  const active = () => state.ingresses || state.failed || state.traces > 0 || state.ranges.size > 0;
  function reset() {
    Object.assign(state, { ingresses: false, failed: false, traces: 0 });
    state.ranges.clear();
  }
  function show(typing) {
    for (const one of resets) one(typing);
  }
  function shown(typing) {
    show(typing);
    changed();
  }
  // The rows that are kept, of some.
  function kept(rows) {
    if (!active()) return rows;
    const ranges = [...state.ranges].map(([key, [low, high]]) => [columns[key], low, high]);
    return rows.filter((i) => (!state.ingresses || columns.n_ingresses[i] > 0) &&
      (!state.failed || columns.status[i] !== "ok") &&
      (!state.traces || columns.n_entering[i] >= state.traces) &&
      ranges.every(([values, low, high]) => values[i] !== null && values[i] >= low && values[i] < high));
  }
  // As parts of the page's address, and back.
  function parts() {
    const found = [];
    const only = ["ingresses", "failed"].filter((key) => state[key]);
    if (only.length) found.push(`only=${only.join(",")}`);
    if (state.traces) found.push(`traces=${state.traces}`);
    for (const [short, key] of Object.entries(KEYS)) {
      const range = state.ranges.get(key);
      if (range) found.push(`${short}=${range[0]}-${range[1] === Infinity ? "" : range[1]}`);
    }
    return found;
  }
  function recall(given) {
    reset();
    const only = (given.get("only") || "").split(",");
    state.ingresses = only.includes("ingresses");
    state.failed = only.includes("failed");
    if (hasTraces) state.traces = Math.max(0, Math.floor(+given.get("traces")) || 0);
    for (const [short, key] of Object.entries(KEYS)) {
      const [, low, high] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)?$/.exec(given.get(short) || "") || [];
      if (low !== undefined && columns[key]) state.ranges.set(key, [+low, high === undefined ? Infinity : +high]);
    }
    show();
  }
  return { chips, charts, kept, parts, recall };
};
