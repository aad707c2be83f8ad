// The page of a comparison: rows of "All changes" and events open their changes, read from scripts in
// changes/ (opened_changes.py says how they are written). changes.html#what=link&kind=removed
"use strict";
(() => {
  const { element, download, integer, NONE } = hopscope;
  const PAGE = 100; // rows in the document
  const KEPT = 64; // shards
  const place = document.getElementById("opened");
  if (!place) return;
  const load = hopscope.shards("changes", "changes/", KEPT);

  // Columns: label, what stands in a cell, as a text; [address, its AS] where it is linked.
  const number = (value) => (value === null ? "" : integer.format(value));
  const figure = (value) => (value === null ? "" : value.toLocaleString("en-US", { maximumFractionDigits: 2 }));
  const COLUMNS = [
    ["AS", "asn", number], ["address", "addr"], ["other AS", "other_asn", number], ["other address", "other_addr"],
    ["before", "old", figure], ["now", "new", figure], ["traces", "n_traces", number], ["pairs", "n_pairs", number],
    ["vantage points", "n_vantages", number], ["event", "event", (value) => (value === null ? "" : `${value + 1}`)], ["why", "reason"],
  ];
  const LEFT = new Set(["addr", "other_addr", "reason"]);
  const ASES = new Set(["asn", "other_asn"]);

  let view = null; // { ranges, title, index, found, page, find }
  const text = (row, key, form) => (key === "asn" || key === "other_asn" ? (row[key] === null ? "" : `${row[key]}`) : form ? form(row[key]) : row[key] || "");

  // Calls back with each row of some ranges, in their order.
  async function each(ranges, size, take) {
    for (const [, , start, n] of ranges) {
      for (let at = start; at < start + n;) {
        const shard = Math.floor(at / size), data = await load(shard);
        const paged = new Set(data.paged);
        for (; at < start + n && Math.floor(at / size) === shard; at++) {
          const i = at - shard * size, row = { at };
          for (const [, key] of COLUMNS) row[key] = key === "reason" ? data.reasons[data.reason[i]] : data[key][i];
          row.paged = paged;
          if (take(row) === false) return;
        }
      }
    }
  }
  const sortOf = (at) => view.ranges.find(([, , start, n]) => at >= start && at < start + n);

  function matches(row, words) {
    return words.every((word) => {
      const asn = /^as(\d+)$/.exec(word)?.[1];
      if (asn) return `${row.asn}` === asn || `${row.other_asn}` === asn;
      return [row.addr, row.other_addr, row.reason].some((one) => (one || "").toLowerCase().includes(word)) || `${row.asn}` === word || `${row.other_asn}` === word;
    });
  }

  async function show() {
    const mine = view;
    const words = mine.find.toLowerCase().split(/\s+/).filter(Boolean);
    const total = mine.ranges.reduce((sum, [, , , n]) => sum + n, 0);
    const rows = [];
    let n = 0;
    const begin = mine.page * PAGE;
    await each(mine.ranges, mine.index.shard, (row) => {
      if (view !== mine) return false;
      if (!matches(row, words)) return true;
      if (n >= begin && n < begin + PAGE) rows.push(row);
      n += 1;
      return words.length || n < begin + PAGE; // all are looked at only to count what is found
    });
    if (view !== mine) return;
    const found = words.length ? n : total;
    const several = mine.ranges.length > 1;
    const used = COLUMNS.filter(([, key]) => rows.some((row) => row[key] !== null && row[key] !== "" && row[key] !== 0));
    const head = element("tr");
    const labels = [...(several ? ["change"] : []), ...used.map(([label]) => label)];
    labels.forEach((label, i) => head.append(element("th", { scope: "col", ...((several && !i) || LEFT.has(used[i - (several ? 1 : 0)]?.[1]) ? { class: "l" } : {}) }, label)));
    const body = element("tbody");
    for (const row of rows) {
      const line = element("tr");
      if (several) line.append(element("td", { class: "l" }, sortOf(row.at).slice(0, 2).join(" ")));
      for (const [, key, form] of used) {
        const cell = element("td", LEFT.has(key) ? { class: "l" } : {});
        const said = text(row, key, form), asn = key === "addr" ? row.asn : row.other_asn ?? row.asn;
        if (ASES.has(key) && row.paged.has(row[key])) cell.append(element("a", { href: `as/${row[key]}.html` }, said));
        else if ((key === "addr" || key === "other_addr") && said && row.paged.has(asn)) cell.append(element("a", { href: `as/${asn}.html#router=${encodeURIComponent(said)}` }, said));
        else if (key === "event" && said) cell.append(element("a", { href: `#event=${row.event}` }, said));
        else cell.append(key === "reason" ? element("bdi", {}, said) : said);
        line.append(cell);
      }
      body.append(line);
    }
    mine.table.replaceChildren(element("thead"), body);
    mine.table.tHead.append(head);
    mine.count.textContent = found ? `${integer.format(begin + 1)}\u2013${integer.format(Math.min(begin + PAGE, found))} of ${integer.format(found)}${found < total ? `, of ${integer.format(total)} changes` : ""}` : "None has this address, AS or word.";
    mine.before.disabled = !mine.page;
    mine.after.disabled = begin + PAGE >= found;
    place.dataset.ready = "yes";
  }

  function remember() {
    const parts = [...view.key];
    if (view.find) parts.push(`find=${encodeURIComponent(view.find)}`);
    if (view.page) parts.push(`page=${view.page + 1}`);
    try {
      history.replaceState(null, "", `#${parts.join("&")}`);
    } catch { /* a browser that lets no page from disk do this: the link is lost, nothing else */ }
  }

  async function save() {
    const mine = view, words = mine.find.toLowerCase().split(/\s+/).filter(Boolean);
    const lines = [["what", "kind", ...COLUMNS.map(([label]) => label)]];
    await each(mine.ranges, mine.index.shard, (row) => {
      if (matches(row, words)) lines.push([...sortOf(row.at).slice(0, 2), ...COLUMNS.map(([, key, form]) => text(row, key, form))]);
    });
    download("changes.csv", lines);
  }

  async function recall() {
    const given = new URLSearchParams(location.hash.slice(1));
    const event = given.get("event") ?? /^event-(\d+)$/.exec(location.hash.slice(1))?.[1] ?? null;
    const [what, kind] = [given.get("what"), given.get("kind")];
    delete place.dataset.ready;
    if (event === null && what === null) {
      place.hidden = true;
      view = null;
      return;
    }
    place.hidden = false;
    place.replaceChildren(element("p", {}, "Reading the changes"));
    let index;
    try {
      index = await load("index");
    } catch (error) {
      place.replaceChildren(element("p", {}, error.message));
      return;
    }
    const range = (start) => index.sorts.find(([, , first, n]) => start >= first && start < first + n).slice(0, 2);
    const ranges = event === null ? index.sorts.filter(([one, other]) => one === what && (kind === null || other === kind))
      : (index.events[event] || []).map(([start, n]) => [...range(start), start, n]);
    const title = event === null ? [what, kind].filter(Boolean).join(" ") : `Event ${+event + 1}: ${index.kinds[event] ?? "not of this comparison"}`;
    const key = event === null ? [`what=${encodeURIComponent(what)}`, ...(kind ? [`kind=${encodeURIComponent(kind)}`] : [])] : [`event=${+event}`];
    const heading = element("h2", { tabindex: -1 }, `${title} `), find = element("input", { type: "search", "aria-label": "Filter these changes by AS, address or reason", placeholder: "Filter: AS64500, address, reason", autocomplete: "off" });
    const close = element("button", { type: "button", class: "get" }, "Close"), csv = element("button", { type: "button", class: "get" }, "Download as CSV");
    const before = element("button", { type: "button", class: "chip" }, "Previous"), after = element("button", { type: "button", class: "chip" }, "Next");
    const count = element("output", { class: "quiet" }), table = element("table", { class: "num wraps" });
    const tools = element("div", { class: "tools" }), scroll = element("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Changes" });
    find.value = given.get("find") || "";
    view = { ranges, index, key, find: find.value, page: Math.max(0, Math.floor(+given.get("page") || 1) - 1), table, count, before, after };
    const said = event !== null && document.querySelector(`#event-${+event} bdi`);
    scroll.append(table);
    tools.append(find, before, after, count, csv, close);
    const paths = document.querySelector('a[href^="paths.html"]:not(#opened a)'); // where traces are kept
    if (paths) close.before(element("a", { href: paths.getAttribute("href") }, "Paths of both nights"));
    place.replaceChildren(heading, ...(said ? [element("p", {}, said.textContent)] : []), tools, scroll);
    let typing = 0;
    find.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => { view = { ...view, find: find.value, page: 0 }; show(); remember(); }, 150);
    });
    const turn = (by) => () => { view = { ...view, page: view.page + by }; show(); remember(); };
    before.addEventListener("click", turn(-1));
    after.addEventListener("click", turn(1));
    csv.addEventListener("click", save);
    close.addEventListener("click", () => { location.hash = "all"; });
    await show();
    heading.focus({ preventScroll: true });
    place.scrollIntoView({ block: "start" });
  }
  addEventListener("hashchange", recall);
  recall();
})();
