// Reports of hopscope: the list of all ASes, and sorting and small drawings on AS pages.
// No library, no request: data comes from ases.js or stands in the page.
"use strict";
const hopscope = (() => {
  const NONE = "\u2013";
  const integer = new Intl.NumberFormat("en-US");
  const SVG = "http://www.w3.org/2000/svg";

  function element(name, attributes = {}, text) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function drawn(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  // ---- The list of all ASes ---------------------------------------------------------------
  // Rows have one height, so only those in sight are in the document, whatever the number.
  const TEXTS = new Set(["name", "status"]);
  const EXTRA = 12; // rows kept ready above and below the window
  const PRINTED = 100; // rows on paper: all of 50,000 would be a thousand sheets
  const TALLEST = 8e6; // browsers lay out no element much taller; beyond it scrolling is scaled

  function load(columns) {
    const table = document.getElementById("list");
    const find = document.getElementById("find");
    const order = document.getElementById("order");
    const found = document.getElementById("found");
    const heads = [...table.tHead.rows[0].cells];
    const keys = heads.map((head) => head.dataset.key);
    // Figures come rounded to their decimals, once, by what wrote the pages.
    const decimals = Object.fromEntries(heads.filter((head) => head.dataset.decimals).map((head) => [head.dataset.key, +head.dataset.decimals]));
    const labels = heads.map((head) => head.textContent.trim());
    const noun = labels[keys.indexOf("n_nodes")].toLowerCase();
    const n = columns.asn.length;
    const lower = columns.name.map((name) => name.toLowerCase());
    const digits = columns.asn.map(String);
    const state = { key: "n_nodes", down: true, query: "" };
    let rows = new Uint32Array(0);
    let active = -1;

    // Rows stand between two spacers.
    for (const body of [...table.tBodies]) body.remove();
    const space = () => {
      const body = element("tbody", { class: "space", "aria-hidden": "true" });
      body.append(element("tr"));
      body.rows[0].append(element("td"));
      return body;
    };
    const above = space(), body = element("tbody", { class: "rows" }), below = space();
    table.append(above, body, below);
    const nothing = element("p", { class: "none", hidden: "" }, "No AS has this number or name.");
    table.after(nothing);

    heads.forEach((head, i) => {
      const button = element("button", { type: "button" }, labels[i]);
      button.addEventListener("click", () => sortBy(keys[i]));
      head.replaceChildren(button);
      for (const down of TEXTS.has(keys[i]) || keys[i] === "asn" ? [false, true] : [true, false]) {
        const way = TEXTS.has(keys[i]) ? (down ? "Z to A" : "A to Z") : (down ? "largest first" : "smallest first");
        order.append(element("option", { value: (down ? "-" : "") + keys[i] }, `${labels[i]}, ${way}`));
      }
    });

    function sortBy(key, down) {
      if (down === undefined) {
        const first = !(TEXTS.has(key) || key === "asn"); // numbers: largest first
        down = key === state.key ? !state.down : first;
      }
      Object.assign(state, { key, down });
      update();
    }

    function filtered() {
      const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) return Uint32Array.from({ length: n }, (_, i) => i);
      const numbers = words.map((word) => (/^(as)?\d+$/.test(word) ? word.replace("as", "") : null));
      const kept = [];
      for (let i = 0; i < n; i++) {
        if (words.every((word, w) => lower[i].includes(word) ||
            (numbers[w] !== null && digits[i].startsWith(numbers[w])))) kept.push(i);
      }
      return Uint32Array.from(kept);
    }

    function sorted(which) {
      const bounds = columns[`${state.key}_lower`]; // an interval stands at its lower bound
      const values = state.key === "name" ? lower
        : bounds ? columns[state.key].map((value, i) => value ?? bounds[i]) : columns[state.key];
      const sign = state.down ? -1 : 1;
      const empty = (value) => value === null || value === "";
      which.sort((a, b) => {
        const x = values[a], y = values[b];
        if (x === y) return columns.asn[a] - columns.asn[b];
        if (empty(x)) return 1; // what has no figure comes last, up or down
        if (empty(y)) return -1;
        return x < y ? -sign : sign;
      });
      // The AS whose number was typed in full is what is looked for.
      const typed = /^\s*(?:as)?(\d+)\s*$/i.exec(state.query);
      const at = typed ? which.findIndex((i) => digits[i] === typed[1]) : -1;
      if (at > 0) {
        const hit = which[at];
        which.copyWithin(1, 0, at);
        which[0] = hit;
      }
      return which;
    }

    function text(key, i) {
      if (key === "asn") return digits[i];
      const value = columns[key][i];
      if (value !== null) return figure(key, value);
      const least = (columns[`${key}_lower`] || [])[i] ?? null;
      if (least === null) return NONE;
      const most = columns[`${key}_upper`][i];
      // Rounded outwards, so that bounds stay bounds.
      const places = key in decimals && Math.max(least, most ?? 0) < 100 ? decimals[key] : 0;
      const fixed = (bound, round) => (round(bound * 10 ** places) / 10 ** places)
        .toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
      const from = fixed(least, Math.floor);
      return most === null ? `at least ${from}` : `${from}\u2013${fixed(most, Math.ceil)}`;
    }
    function figure(key, value) {
      if (typeof value === "number" && !Number.isInteger(value) && Math.abs(value) < 0.01) return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
      if (key in decimals) return value.toLocaleString("en-US", { minimumFractionDigits: decimals[key], maximumFractionDigits: decimals[key] });
      return typeof value === "number" ? integer.format(value) : value;
    }

    function make(place) {
      const i = rows[place];
      const row = element("tr", { "aria-rowindex": place + 2 });
      row.dataset.place = place;
      for (const key of keys) {
        const cell = element("td", { class: key });
        if (key === "asn") {
          cell.append(element("a", { href: `as/${columns.asn[i]}.html` }, digits[i]));
        } else if (key === "name") {
          cell.append(element("bdi", {}, columns.name[i]));
          cell.title = columns.name[i];
        } else {
          cell.textContent = text(key, i);
          if (key === "n_nodes") cell.dataset.noun = noun;
          if (key === "status" && columns.status[i] !== "ok") cell.classList.add("bad");
        }
        row.append(cell);
      }
      return row;
    }

    let height = 30, from = 0, to = 0;
    const scale = () => Math.max(1, (rows.length * height) / TALLEST);

    let printing = false;
    const paper = element("p", { class: "paper" });
    table.after(paper);
    function print(on) {
      printing = on;
      const n = Math.min(rows.length, PRINTED);
      paper.textContent = n < rows.length ? `The first ${integer.format(n)} of ${integer.format(rows.length)} ASes; all figures are in ases.parquet.` : "";
      paint(true);
    }

    function paint(fresh) {
      const top = table.getBoundingClientRect().top + table.tHead.offsetHeight;
      const seen = Math.ceil(innerHeight / height) + 1;
      const first = Math.floor((Math.max(0, -top) * scale()) / height);
      const last = Math.max(0, rows.length - seen);
      const newFrom = printing ? 0 : Math.max(0, Math.min(first, last) - EXTRA);
      const newTo = Math.min(rows.length, printing ? PRINTED : Math.min(first, last) + seen + EXTRA);
      if (!fresh && newFrom === from && newTo === to) return;
      const keep = new Map();
      if (!fresh) for (const row of body.rows) keep.set(+row.dataset.place, row);
      const wanted = [];
      for (let place = newFrom; place < newTo; place++) wanted.push(keep.get(place) || make(place));
      const focused = document.activeElement && document.activeElement.closest("tr[data-place]");
      // Rows that stay are not touched, so that what has the focus keeps it.
      const wantedSet = new Set(wanted);
      for (const row of [...body.rows]) if (!wantedSet.has(row)) row.remove();
      wanted.forEach((row, at) => {
        if (body.rows[at] !== row) body.insertBefore(row, body.rows[at] || null);
      });
      if (focused && !focused.isConnected) active = +focused.dataset.place;
      from = newFrom;
      to = newTo;
      const all = (rows.length * height) / scale();
      const shown = (to - from) * height;
      const before = Math.min(Math.max(0, all - shown), (from * height) / scale());
      above.rows[0].cells[0].style.height = above.rows[0].style.height = `${before}px`;
      const after = Math.max(0, all - before - shown);
      below.rows[0].cells[0].style.height = below.rows[0].style.height = `${after}px`;
    }

    function update() {
      rows = sorted(filtered());
      heads.forEach((head, i) => {
        if (keys[i] === state.key) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      order.value = (state.down ? "-" : "") + state.key;
      table.setAttribute("aria-rowcount", rows.length + 1);
      nothing.hidden = rows.length > 0;
      found.textContent = rows.length === n ? `${integer.format(n)} ASes` : `${integer.format(rows.length)} of ${integer.format(n)} ASes`;
      active = -1;
      height = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 30;
      paint(true);
      remember();
    }

    // The address names what is shown, so that a link leads there.
    function remember() {
      const parts = [];
      if (state.query) parts.push(`q=${encodeURIComponent(state.query)}`);
      if (state.key !== "n_nodes" || !state.down) parts.push(`sort=${state.down ? "-" : ""}${state.key}`);
      const hash = parts.length ? `#${parts.join("&")}` : "";
      if (location.hash === hash || (!hash && !/[#&](q|sort)=/.test(location.hash))) return;
      try {
        history.replaceState(null, "", hash || location.pathname + location.search);
      } catch { /* a browser that lets no page from disk do this: the link is lost, nothing else */ }
    }
    function recall() {
      const hash = location.hash.slice(1);
      const given = new URLSearchParams(hash);
      const sort = given.get("sort") || "-n_nodes";
      const key = sort.replace(/^-/, "");
      if (keys.includes(key)) Object.assign(state, { key, down: sort.startsWith("-") });
      state.query = given.get("q") || (/^AS\d+$/i.test(hash) ? hash : "");
      find.value = state.query;
    }

    function go(place) {
      place = Math.max(0, Math.min(rows.length - 1, place));
      active = place;
      const head = table.tHead.offsetHeight;
      const top = scrollY + table.getBoundingClientRect().top + head + (place * height) / scale();
      if (top < scrollY + head) scrollTo(0, top - head);
      else if (top + height > scrollY + innerHeight) scrollTo(0, top + height - innerHeight);
      paint();
      const row = body.querySelector(`tr[data-place="${place}"]`);
      if (row) row.querySelector("a").focus({ preventScroll: true });
    }

    find.addEventListener("input", () => {
      state.query = find.value;
      update();
    });
    find.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" && rows.length) {
        event.preventDefault();
        event.stopPropagation(); // or the list would take it for a second step
        go(0);
      }
      if (event.key === "Enter" && rows.length) location.href = `as/${columns.asn[rows[0]]}.html`;
    });
    order.addEventListener("change", () => sortBy(order.value.replace(/^-/, ""), order.value.startsWith("-")));
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
      if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
      if (event.key === "/") { event.preventDefault(); find.focus(); find.select(); return; }
      const focused = document.activeElement.closest("tr[data-place]");
      const place = focused ? +focused.dataset.place : active;
      if (place < 0) return;
      const page = Math.max(1, Math.floor(innerHeight / height) - 2);
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
      if (event.key in steps) { event.preventDefault(); go(place + steps[event.key]); }
    });
    let waiting = false;
    const repaint = (fresh) => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; paint(fresh); });
    };
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
    addEventListener("scroll", () => repaint(false), { passive: true });
    addEventListener("resize", () => {
      height = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 30;
      repaint(true);
    });
    addEventListener("hashchange", () => { recall(); update(); });
    recall();
    update();
    table.dataset.ready = "yes";
  }

  // ---- Pages of ASes ------------------------------------------------------------------------
  function hopsOf(cell, width) {
    return { width, counts: cell.textContent.trim().split(/\s+/).filter(Boolean).map(Number) };
  }

  function spark(hops, most) {
    // Of one scale in all rows: bars at the same place mean the same hop count.
    const bar = Math.max(2, Math.min(9, Math.floor(200 / most)));
    const highest = Math.max(...hops.counts);
    const svg = drawn("svg", { class: "spark", width: bar * hops.counts.length, height: 20, "aria-hidden": "true" });
    const path = hops.counts.map((count, i) => {
      const tall = count ? Math.max(1, (19 * count) / highest) : 0;
      return `M${i * bar} 20v${-tall.toFixed(1)}h${bar - 1}v${tall.toFixed(1)}z`;
    });
    svg.append(drawn("path", { d: path.join("") }));
    return svg;
  }

  const FLOOR = 148, TALL = 128; // pixels, as plots.py draws
  const HOPS = 4; // column of the table of ingresses that is drawn

  function overlay(chart, row, hops) {
    // One ingress over all of the AS: lines on the bars, both in shares of what is reached.
    chart.querySelectorAll(".one").forEach((old) => old.remove());
    const note = document.getElementById("overlay");
    const total = row ? hops.counts.reduce((sum, count) => sum + count, 0) : 0;
    const both = total > 0;
    chart.classList.toggle("two", both);
    if (!both) {
      note.textContent = "select an ingress below to compare it";
      chart.style.removeProperty("--scale");
      return;
    }
    // Bars shrink where this ingress has a higher share than all have: one scale for both.
    const slot = 100 / +chart.dataset.slots;
    const shares = hops.counts.map((count) => count / total);
    const highest = Math.max(+chart.dataset.highest, ...shares);
    chart.style.setProperty("--scale", +chart.dataset.highest / highest);
    shares.forEach((share, i) => {
      const y = FLOOR - (share / highest) * TALL;
      chart.append(drawn("line", { class: "one", x1: `${(i + 0.05) * slot}%`, x2: `${(i + 0.95) * slot}%`, y1: y, y2: y }));
    });
    note.textContent = `lines: from ${row.cells[0].firstChild.textContent.trim()} only, which reaches ${integer.format(total)} others`;
  }

  function number(cell) {
    const text = cell.textContent.replace(/,/g, "");
    return text === NONE || text === "" ? null : Number(text);
  }

  const natural = new Intl.Collator("en", { numeric: true });

  function ingresses(table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const hops = new Map(rows.map((row) => [row, hopsOf(row.cells[HOPS], +table.dataset.width)]));
    const most = Math.max(1, ...[...hops.values()].map((one) => one.counts.length));
    const chart = document.querySelector(".hist[data-slots]");
    let chosen = null;
    if (chart) overlay(chart, null, null);
    const nameOf = (row) => row.cells[0].firstChild.textContent.trim();
    // Ingresses of the drawing "who enters where", by their text there, which may be cut.
    const cut = (text) => (text.length <= 21 ? text : `${text.slice(0, 10)}\u2026${text.slice(-10)}`);
    const drawnOf = new Map([...document.querySelectorAll(".flow .ways text")].map((text) => [text.textContent, text]));
    const listeners = [];
    function choose(row, keep) {
      const texts = () => drawnOf.get(chosen ? cut(nameOf(chosen)) : "");
      if (chosen) { chosen.classList.remove("on"); texts()?.classList.remove("on"); }
      chosen = chosen === row ? null : row;
      if (chosen) { chosen.classList.add("on"); texts()?.classList.add("on"); }
      if (chart) overlay(chart, chosen, chosen && hops.get(chosen));
      for (const listener of listeners) listener(chosen && nameOf(chosen));
      if (keep) return;
      try { // the address names what is selected, so that a link leads there
        history.replaceState(null, "", chosen ? `#ingress=${encodeURIComponent(nameOf(chosen))}` : location.pathname + location.search);
      } catch { /* a browser that lets no page from disk do this: the link is lost, nothing else */ }
    }
    function recall() {
      const given = new URLSearchParams(location.hash.slice(1)).get("ingress");
      const row = given && rows.find((one) => one.tabIndex === 0 && nameOf(one) === given);
      if (row ? row !== chosen : chosen && location.hash === "") choose(row || chosen, true);
    }
    for (const [row, one] of hops) {
      if (!one.counts.length) { row.cells[HOPS].textContent = NONE; continue; }
      const cell = row.cells[HOPS];
      cell.title = one.counts.map((count, i) => (one.width === 1 ? `${i + 1}` : `${i * one.width + 1}+`) + ` hops: ${integer.format(count)}`).join("\n");
      cell.replaceChildren(spark(one, most));
      row.tabIndex = 0;
      const text = drawnOf.get(cut(nameOf(row)));
      if (text) {
        text.classList.add("pick");
        text.addEventListener("click", () => choose(row));
      }
      row.addEventListener("click", () => { if (getSelection().isCollapsed) choose(row); });
      row.addEventListener("keydown", (event) => {
        if (event.target === row && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); choose(row); }
      });
    }
    addEventListener("hashchange", recall);
    recall();
    // On a phone a row is a list: each figure with the head of its column.
    const labels = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
    for (const row of rows) labels.forEach((label, i) => { row.cells[i].dataset.label = label; });
    table.classList.add("labelled");
    [...table.tHead.rows[0].cells].forEach((head, i) => {
      if ("plain" in head.dataset) return;
      const button = element("button", { type: "button" }, head.textContent.trim());
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const words = "words" in head.dataset;
        const down = now ? now === "ascending" : !words; // numbers: largest first
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sign = down ? -1 : 1;
        const places = new Map(rows.map((row, at) => [row, at]));
        const sorted = [...rows].sort((a, b) => {
          const [one, other] = [a.cells[i], b.cells[i]];
          if (words) return sign * natural.compare(one.textContent, other.textContent);
          const x = number(one), y = number(other);
          if (x === y) return places.get(a) - places.get(b);
          if (x === null) return 1;
          if (y === null) return -1;
          return sign * (x - y);
        });
        body.append(...sorted);
      });
    });
  }

  // The graph in layers: what is pointed at is named. Rows of the table are in the order of places.
  function layers(svg, rows) {
    const inner = svg.querySelector("svg"), note = document.getElementById("near");
    const [, , width, height] = inner.getAttribute("viewBox").split(" ").map(Number);
    const dots = [...inner.querySelectorAll(".dot:not(.as)")]
      .flatMap((path) => path.getAttribute("d").split("M").slice(1).map((one) => one.split(/[ h]/).map(Number)));
    dots.sort((a, b) => Math.floor(a[0] / 10) - Math.floor(b[0] / 10) || a[1] - b[1]);
    let mark = null;
    const clear = () => { note.textContent = ""; if (mark) mark.remove(); mark = null; };
    svg.addEventListener("pointermove", (event) => {
      const box = inner.getBoundingClientRect();
      let nearest = -1, least = 16;
      dots.forEach(([x, y], i) => {
        const far = Math.hypot(event.clientX - box.x - (x / width) * box.width, event.clientY - box.y - (y / height) * box.height);
        if (far < least) [nearest, least] = [i, far];
      });
      clear();
      if (nearest < 0) return;
      const [, name, hops, ends] = [...rows[nearest].cells].map((cell) => cell.textContent.trim());
      const n = ends ? ends.split(" ").length : 0;
      const far = hops === "unreached" ? hops : `${hops} hop${hops === "1" ? "" : "s"}`;
      note.textContent = `${name}: ${far}, ${integer.format(n)} link${n === 1 ? "" : "s"}`;
      mark = drawn("path", { class: "found", d: `M${dots[nearest][0]} ${dots[nearest][1]}h0` });
      inner.append(mark);
    });
    svg.addEventListener("pointerleave", clear);
  }

  // Pages of ASes outlive their night where nothing that they show has changed.
  function night(facts) {
    for (const place of document.querySelectorAll("[data-night]")) place.textContent = facts[place.dataset.night];
    document.title += ` \u00b7 ${facts.snapshot}`;
  }

  // What a tile means goes away at will.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.activeElement.matches(".told button")) document.activeElement.blur();
  });

  const table = document.getElementById("ingresses");
  if (table) ingresses(table);
  const graph = document.querySelector(".layers");
  if (graph) layers(graph, [...document.querySelectorAll(".drawn tr")].slice(1));
  return { load, night };
})();
