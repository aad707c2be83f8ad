// Pages of ASes: ingresses sorted, filtered, by neighbour, one selected; tables as CSV; drawings.
"use strict";
(() => {
  const { element, drawn, download, integer, NONE } = hopscope;

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

  const nameOf = (row) => row.cells[0].firstChild.textContent.trim();

  function overlay(chart, row, hops) {
    // One ingress over all of the AS: lines on the bars, both in shares of what is reached.
    chart.querySelectorAll(".one").forEach((old) => old.remove());
    const note = document.getElementById("overlay");
    const total = row ? hops.counts.reduce((sum, count) => sum + count, 0) : 0;
    const both = total > 0;
    chart.classList.toggle("two", both);
    if (!both) {
      note.textContent = "select an ingress in the table to compare it";
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
    note.textContent = `lines: from ${nameOf(row)} only, which reaches ${total === 1 ? "one other" : `${integer.format(total)} others`}`;
  }

  // Numbers, names and pages of neighbours, as the page lists them.
  function neighborsOfPage() {
    const found = new Map();
    for (const row of document.querySelectorAll("#neighbors tr")) {
      const text = row.cells[0].textContent.trim();
      if (/^AS\d/.test(text)) found.set(+text.slice(2).split(" ", 1)[0], { text, linked: !!row.querySelector("a") });
    }
    for (const link of document.querySelectorAll("#neighbors p a")) found.set(+link.textContent.slice(2), { text: link.textContent, linked: true });
    return found;
  }

  // Neighbours of an ingress and their traces: all of them, though the cell may name only the first.
  function neighborsOf(row) {
    const cell = row.cells[row.cells.length - 1];
    const pairs = cell.dataset.n !== undefined ? cell.dataset.n.split(" ").map(Number)
      : [...cell.textContent.matchAll(/(\d+)(?: \(([\d,]+)\))?/g)].flatMap((one) => [+one[1], +(one[2] || "0").replace(/,/g, "")]);
    return Array.from({ length: pairs.length / 2 }, (_, i) => ({ asn: pairs[2 * i], n: pairs[2 * i + 1] }));
  }

  const counted = (n, noun) => `${integer.format(n)} ${noun}${n === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;

  function ingresses(table) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...body.rows];
    const pages = neighborsOfPage();
    const from = new Map(rows.map((row) => [row, neighborsOf(row)]));
    const texts = new Map(rows.map((row) => [row, [row.cells[0].textContent, row.cells[heads.length - 1].textContent,
      ...from.get(row).map(({ asn }) => pages.get(asn)?.text || `AS${asn}`)].join(" ").toLowerCase()]));
    const hops = new Map(rows.map((row) => [row, hopsOf(row.cells[HOPS], +table.dataset.width)]));
    const most = Math.max(1, ...[...hops.values()].map((one) => one.counts.length));
    const chart = document.querySelector(".hist[data-slots]");
    const hasNeighbors = rows.some((row) => from.get(row).length > 0); // those that were drawn have none
    const view = { chosen: null, query: "", grouped: false };
    let sorted = rows;
    if (chart) overlay(chart, null, null);
    // Ingresses of the drawing of entries, by their text there, which may be cut.
    const cut = (text) => (text.length <= 21 ? text : `${text.slice(0, 10)}\u2026${text.slice(-10)}`);
    const drawnOf = new Map([...document.querySelectorAll(".flow .ways text")].map((text) => [text.firstChild.textContent, text]));

    // On a phone a row is a list: each figure with the head of its column.
    const labels = heads.map((head) => head.textContent.trim());
    for (const [at, row] of rows.entries()) {
      row.dataset.at = at;
      labels.forEach((label, i) => { row.cells[i].dataset.label = label; });
      const cell = row.cells[HOPS], one = hops.get(row);
      cell.dataset.csv = cell.textContent.trim();
      if (!one.counts.length) { cell.textContent = NONE; continue; }
      cell.title = one.counts.map((count, i) => (one.width === 1 ? `${i + 1}` : `${i * one.width + 1}+`) + ` hops: ${integer.format(count)}`).join("\n");
      cell.replaceChildren(spark(one, most));
      row.tabIndex = 0;
      const text = drawnOf.get(cut(nameOf(row)));
      if (text) {
        text.classList.add("pick");
        text.addEventListener("click", () => choose(row));
        hopscope.panel?.mark(text, nameOf(row));
      }
    }
    table.classList.add("labelled");

    // The address names what is selected, so that a link leads there.
    function remember() {
      const parts = [];
      if (view.chosen) parts.push(`ingress=${encodeURIComponent(nameOf(view.chosen))}`);
      if (view.query) parts.push(`find=${encodeURIComponent(view.query)}`);
      if (view.grouped) parts.push("by=neighbour");
      parts.push(...hopscope.ofPanel());
      try {
        history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search);
      } catch { /* a browser that lets no page from disk do this: the link is lost, nothing else */ }
    }
    function recall() {
      const given = new URLSearchParams(location.hash.slice(1));
      const name = given.get("ingress");
      const row = name && rows.find((one) => one.tabIndex === 0 && nameOf(one) === name);
      if (row ? row !== view.chosen : view.chosen && location.hash === "") choose(row || view.chosen, true);
      view.query = find.value = given.get("find") || "";
      view.grouped = by.checked = hasNeighbors && given.get("by") === "neighbour";
      show();
    }
    function choose(row, keep) {
      const mark = (on) => {
        if (!view.chosen) return;
        drawnOf.get(cut(nameOf(view.chosen)))?.classList.toggle("on", on);
        for (const one of [view.chosen, ...table.querySelectorAll(`tr[data-at="${view.chosen.dataset.at}"]`)]) one.classList.toggle("on", on);
      };
      mark(false);
      view.chosen = view.chosen === row ? null : row;
      mark(true);
      if (chart) overlay(chart, view.chosen, view.chosen && hops.get(view.chosen));
      if (!keep) remember();
    }

    const find = element("input", { type: "search", "aria-label": "Filter ingresses by address or neighbour", placeholder: "Filter: address, AS, name", autocomplete: "off" });
    const by = element("input", { type: "checkbox" });
    const found = element("span", { role: "status", class: "quiet" });
    if (rows.length > 1) {
      const tools = element("div", { class: "tools" }), label = element("label", { class: "by" }), box = element("label", { class: "find" });
      label.append(by, "by neighbour");
      box.append(find);
      tools.append(...(hasNeighbors ? [box, label, found] : [box, found]));
      table.closest(".scroll").before(tools);
    }
    function show() {
      const words = view.query.toLowerCase().split(/\s+/).filter(Boolean);
      const kept = sorted.filter((row) => words.every((word) => texts.get(row).includes(word)));
      found.textContent = kept.length < rows.length ? `${kept.length} of ${rows.length}` : "";
      body.replaceChildren(...(view.grouped ? [] : kept));
      for (const other of [...table.tBodies]) if (other !== body) other.remove();
      if (view.grouped) table.append(...groups(kept, words));
      if (!kept.length) body.append(nothing());
    }
    function nothing() {
      const row = element("tr");
      row.append(element("td", { colspan: heads.length }, "None has this address or neighbour."));
      return row;
    }
    const isCandidate = (row) => [...row.querySelectorAll(".tag")].some((tag) => tag.textContent === "candidate");
    function entered(one) {
      const n = one.rows.filter(([row]) => !isCandidate(row)).length, others = one.rows.length - n;
      const by = [n || !others ? counted(n, "ingress") : "", others ? counted(others, "candidate") : ""].filter(Boolean).join(" and ");
      return one.n ? `${counted(one.n, "trace")} by ${by}` : by;
    }
    // Those that match a neighbour are shown under that one only.
    function groups(kept, words) {
      const of = new Map();
      for (const row of kept) {
        for (const { asn, n } of from.get(row)) {
          if (!of.has(asn)) of.set(asn, { asn, n: 0, rows: [], ...(pages.get(asn) || { text: `AS${asn}` }) });
          const one = of.get(asn);
          one.n += n;
          one.rows.push([row, n]);
        }
      }
      let all = [...of.values()];
      const named = all.filter((one) => words.length && words.every((word) => one.text.toLowerCase().includes(word)));
      if (named.length) all = named;
      all.sort((a, b) => b.n - a.n || a.asn - b.asn);
      return all.map((one) => {
        const part = element("tbody"), head = element("tr", { class: "group" });
        const cell = element("th", { scope: "rowgroup", colspan: heads.length, class: "l" });
        cell.append(one.linked ? element("a", { href: `${one.asn}.html` }, one.text) : one.text,
          " ", element("small", {}, entered(one)));
        head.append(cell);
        part.append(head, ...one.rows.map(([row, n]) => {
          const copy = row.cloneNode(true);
          delete copy.cells[heads.length - 1].dataset.csv;
          copy.cells[heads.length - 1].textContent = n ? `${one.asn} (${integer.format(n)})` : `${one.asn}`;
          return copy;
        }));
        return part;
      });
    }
    find.addEventListener("input", () => { view.query = find.value; show(); remember(); });
    by.addEventListener("change", () => { view.grouped = by.checked; show(); remember(); });

    table.addEventListener("click", (event) => {
      const row = event.target.closest("tr[tabindex]");
      if (row && !event.target.closest("a") && getSelection().isCollapsed) choose(rows[row.dataset.at]);
    });
    table.addEventListener("keydown", (event) => {
      if (!event.target.matches("tr[tabindex]") || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      choose(rows[event.target.dataset.at]);
    });
    hopscope.sortable(table, () => sorted, (found) => { sorted = found; show(); });
    addEventListener("hashchange", recall);
    recall();
  }

  // The graph in layers: what is pointed at is named. Rows of the table are in the order of places.
  function layers(svg, rows) {
    const inner = svg.querySelector("svg"), note = document.getElementById("near");
    const [, , width, height] = inner.getAttribute("viewBox").split(" ").map(Number);
    // The first layer is that of the neighbours, if there are any.
    const first = inner.querySelector(".k.c1") ? 10 : 0;
    const dots = [...inner.querySelectorAll(".dot")]
      .flatMap((path) => path.getAttribute("d").split("M").slice(1).map((one) => one.split(/[ h]/).map(Number)))
      .filter(([x]) => x >= first);
    dots.sort((a, b) => Math.floor(a[0] / 10) - Math.floor(b[0] / 10) || a[1] - b[1]);
    let mark = null, pointed = null;
    const clear = () => { note.textContent = ""; if (mark) mark.remove(); mark = pointed = null; };
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
      pointed = rows[nearest].querySelector("a.addr")?.dataset.router ?? null;
      const n = ends ? ends.split(" ").length : 0;
      const far = /^[a-z]/.test(hops) ? hops : `${hops} hop${hops === "1" ? "" : "s"}`;
      note.textContent = `${name}: ${far}, ${integer.format(n)} link${n === 1 ? "" : "s"}`;
      mark = drawn("path", { class: "found", d: `M${dots[nearest][0]} ${dots[nearest][1]}h0` });
      inner.append(mark);
    });
    svg.addEventListener("pointerleave", clear);
    svg.addEventListener("click", () => { if (pointed) hopscope.panel.open(pointed); });
  }

  // What columns mean.
  const nouns = document.querySelector(".explained").style.getPropertyValue("--many").slice(1, -1);
  const TITLES = {
    reached: `${nouns} reached, itself included`,
    farthest: "hops to the farthest of them: eccentricity",
    mean: "hops",
    direct: "traces that entered right after an answer from another AS",
    "after gap": "traces that entered after hops without an answer or an AS",
    "ingress confidence": "probability that it is in this AS and has a link to one of those named; calibrated on ground-truth networks",
    "delay, ms": "RTT that the AS adds: that of its last router on a trace minus that of the ingress, median over traces; answers may come back on other paths",
    "quartiles, ms": "between the quarters of these differences; how many traces and vantage points, and how many differences are below 0",
    "from AS": "traces right after an answer from it; by an exchange point where it is named",
    traces: "traces that left by it",
    "to AS": "with the traces that went there",
    "traces in": "traces that enter right after an answer from there",
    "traces out": "traces that leave right before an answer from there",
    links: `links between ${nouns} of the two`,
  };
  for (const head of document.querySelectorAll("#ingresses thead th, .near th")) head.title = TITLES[head.textContent.trim()] || "";

  // A cell as the texts of its columns in a file: addresses stand alone there.
  function texts(cell) {
    if (cell.dataset.csv !== undefined) return [cell.dataset.csv];
    const table = cell.closest("table");
    const tagged = table.id === "ingresses", hosts = table.querySelector(".host") !== null, places = table.querySelector(".place") !== null;
    if (cell.cellIndex || !(tagged || hosts || places)) return [cell.textContent];
    if (cell.tagName === "TH") return [cell.textContent, ...(hosts ? ["host name"] : []), ...(places ? ["place"] : []), ...(tagged ? ["also", "note"] : [])];
    const said = (selector) => [...cell.querySelectorAll(selector)].map((one) => one.textContent).join(", ");
    const address = cell.cloneNode(true);
    for (const more of address.querySelectorAll("small, .tag, .host, .place")) more.remove();
    return [address.textContent.trim(), ...(hosts ? [said(".host")] : []), ...(places ? [said(".place")] : []), ...(tagged ? [said("small").replace(/^also /, ""), said(".tag")] : [])];
  }

  // Tables as files: what the page shows, rows that a filter hides left out.
  function offer(table) {
    const name = `${document.querySelector("h1").textContent.trim().split(/\s/, 1)[0]}-${table.dataset.csv}.csv`;
    const button = element("button", { type: "button", class: "get" }, "Download as CSV");
    button.addEventListener("click", () => {
      const shown = [...table.rows].filter((row) => !row.matches(".group"));
      download(name, shown.map((row) => [...row.cells].flatMap(texts)));
    });
    table.closest(".scroll").after(button);
  }

  // In tables of ingresses and exits, the name of the neighbour with the most traces stands beside its
  // number, names of others are shown where they are pointed at.
  function nameNeighbors(cell, pages) {
    cell.dataset.csv = cell.textContent;
    for (const link of cell.querySelectorAll("a")) {
      const name = pages.get(+link.textContent)?.text.replace(/^AS\d+ ?/, "");
      if (!name) continue;
      link.title = name;
      if (link === cell.firstChild) link.after(" ", element("bdi", { class: "who" }, name));
    }
  }

  // What is new since the night before, where a comparison says so.
  const isNew = new Set([...document.querySelectorAll("#changes [data-new]")].map((one) => one.textContent));
  function markNew(rows) {
    for (const row of document.querySelectorAll(rows)) {
      const cell = row.cells[0], first = cell.firstChild?.textContent.trim().split(" ", 1)[0];
      if (first && isNew.has(first)) cell.append(" ", element("i", { class: "tag way" }, "new"));
    }
  }
  if (isNew.size) markNew("#ingresses tbody tr");
  const table = document.getElementById("ingresses");
  if (table) ingresses(table);
  const pages = neighborsOfPage();
  for (const cell of document.querySelectorAll("#ingresses td:last-child, #exits td:last-child")) nameNeighbors(cell, pages);
  const graph = document.querySelector(".layers");
  if (graph) layers(graph, [...document.querySelectorAll(".drawn tr")].slice(1));
  if (isNew.size) markNew("#neighbors tr"); // after their names were read
  document.querySelectorAll("table[data-csv]").forEach(offer);
})();
