// Kept traces as paths: hops in columns by AS, RTT along them, a table; two nights side by side.
// Data comes from scripts in paths/, as it is needed; pipeline/report/paths says how it is written.
"use strict";
(() => {
  const { element, drawn, integer } = hopscope;
  const DRAWN = 24; // traces that are drawn at once
  const LISTED = 200; // pairs of vantage point and target that are listed
  const SHARDS = 12; // files of traces of each night that are read for that list
  const LABELLED = 0x80, EXCEEDED = 1;
  const REACHED = 1, FURTHER = 2; // flags of a trace
  const PRIVATE = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.|f[cd]|fe[89ab])/;
  const MORE_MS = 10, MORE_SHARE = 0.2; // RTTs that differ by more than both, as RIPE Atlas marks them
  const said = document.getElementById("said"), shown = document.getElementById("shown");
  const ask = document.getElementById("ask"), kind = document.getElementById("kind"), what = document.getElementById("what");

  // ---- Data -------------------------------------------------------------------------------
  // Files of one report; `base` leads to its folder.
  function night(base) {
    const load = hopscope.shards("paths", `${base}paths/`, 64);
    async function find(letter, text) {
      const firsts = (await load("index"))[letter];
      let at = -1;
      for (let low = 0, high = firsts.length; low < high;) {
        const middle = (low + high) >> 1;
        if (firsts[middle] <= text) { at = middle; low = middle + 1; } else high = middle;
      }
      if (at < 0) return null;
      const [texts, found] = await load(`${letter}${at}`);
      const i = texts.indexOf(text);
      return i < 0 ? null : found[i];
    }
    async function groups(address) {
      const routers = await find("a", address);
      if (!routers) return null;
      const { keys } = await load("index");
      const all = [];
      all.n = 0;
      for (const router of routers) {
        const [n, ...lists] = (await load(`r${Math.floor(router / keys)}`))[router % keys];
        all.push(...lists);
        all.n += n;
      }
      return all;
    }
    // One trace in turn of each way by which a router was come to.
    function inTurn(lists) {
      const found = new Set();
      for (let i = 0; found.size < DRAWN && lists.some((list) => i < list.length - 3); i++) {
        for (const list of lists) if (i < list.length - 3 && found.size < DRAWN) found.add(list[i + 3]);
      }
      return { n: lists.n ?? lists.reduce((sum, list) => sum + list[2], 0), ids: [...found] };
    }
    async function ids(by, asked) {
      const index = await load("index");
      if (by === "vantage") {
        const point = index.points.find((one) => one[0] === asked);
        return point && { n: point[2], ids: Array.from({ length: Math.min(DRAWN, point[2]) }, (_, i) => point[1] + i) };
      }
      if (by === "target") {
        const found = await find("t", asked);
        return found && { n: found[0], ids: found.slice(1), by };
      }
      if (by === "link") {
        const [near, far] = asked.split(",");
        const before = new Set(await find("a", near)), lists = await groups(far || "");
        return lists && inTurn(lists.filter((list) => before.has(list[0])));
      }
      const lists = await groups(asked);
      // A host is on no router: the traces that show it are those to it.
      if (!lists && by === "address") return ids("target", asked);
      return lists && inTurn(by === "ingress" ? lists.filter((list) => list[1]) : lists);
    }
    async function trace(id) {
      const { shard, inputs } = await load("index");
      const part = await load(Math.floor(id / shard));
      return unpacked(part, part.traces[id % shard], inputs);
    }
    // The first trace of a vantage point to a target: its traces are in order of their targets.
    async function pair(vantage, target) {
      const point = (await load("index")).points.find((one) => one[0] === vantage), wanted = valueOf(target);
      if (!point || wanted === null) return null;
      let low = point[1], high = point[1] + point[2];
      const end = high;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (valueOf((await trace(middle)).target) < wanted) low = middle + 1; else high = middle;
      }
      const found = low < end ? await trace(low) : null;
      return found?.target === target ? found : null;
    }
    return { load, ids, trace, pair };
  }
  // As it is sorted: IPv4 among IPv6.
  function valueOf(text) {
    const asked = hopscope.lookup.parse(text);
    return asked && (asked.family === "v4" ? (0xffffn << 32n) | asked.first : asked.first);
  }
  function unpacked(part, row, inputs) {
    const [vantage, target, start, input, flags, ttls, at, rtts, kinds] = row;
    const hops = ttls.map((ttl, i) => ({
      ttl, addr: part.addrs[at[i]], asn: part.asns[at[i]], router: part.routers[at[i]], rtt: rtts[i] < 0 ? null : rtts[i],
      labelled: (kinds[i] & LABELLED) > 0, kind: kinds[i] & ~LABELLED, name: part.names[part.asns[at[i]]] || "",
      key: part.routers[at[i]] < 0 ? `h${part.addrs[at[i]]}` : `r${part.routers[at[i]]}`,
    }));
    if (flags & REACHED && hops.length) hops[hops.length - 1].isTarget = true;
    return { vantage, target, start, input: inputs[input] || "", reached: flags & REACHED, further: (flags & FURTHER) > 0, hops };
  }

  // Every TTL of a trace; those that did not answer between two that did are silent.
  function whole(trace) {
    const all = [];
    let ttl = trace.further && trace.hops.length ? trace.hops[0].ttl : 1, before = null;
    for (const hop of trace.hops) {
      for (; ttl < hop.ttl; ttl++) all.push({ ttl, silent: true, asn: before && before.asn === hop.asn ? hop.asn : -1, key: `s${before?.key}.${hop.key}.${ttl - (before?.ttl || 0)}` });
      all.push(hop);
      before = hop;
      ttl = hop.ttl + 1;
    }
    return all;
  }
  const marksOf = (hop) => [
    hop.silent && "no answer", hop.isTarget && "target", !hop.silent && PRIVATE.test(hop.addr) && "private or shared address",
    hop.labelled && "MPLS labels", !hop.silent && hop.asn < 0 && !hop.isTarget && "in no AS",
    !hop.silent && !hop.isTarget && hop.kind > EXCEEDED && ["", "", "unreachable", "echo reply", "other reply"][hop.kind],
  ].filter(Boolean);
  const msText = (ms) => (ms === null || ms === undefined ? hopscope.NONE || "\u2013" : ms < 10 ? ms.toFixed(2) : ms.toFixed(1));
  const asText = (hop) => (hop.silent || hop.asn < 0 ? "\u2013" : `AS${hop.asn}`);

  // ---- The bundle -------------------------------------------------------------------------
  const WIDE = 112, TALL = 46, HEAD = 44, R = 7;
  function bundle(traces) {
    const nodes = new Map(), columns = new Map(), edges = new Map();
    for (const trace of traces) {
      const times = new Map();
      let column = null, start = 0, last = null, of = null;
      whole(trace).forEach((hop, i) => {
        const asn = hop.asn ?? -1;
        if (of === null || of !== asn) {
          of = asn;
          times.set(asn, (times.get(asn) || 0) + 1);
          const key = asn < 0 ? `?${column?.key}` : `${asn}#${times.get(asn)}`;
          if (!columns.has(key)) columns.set(key, { key, asn, title: asn >= 0 ? `AS${asn}` : hop.isTarget ? "target" : hop.silent ? "no answer" : "no AS", name: hop.name || "", sum: 0, n: 0, slots: 1 });
          column = columns.get(key);
          column.sum += hop.ttl;
          column.n += 1;
          start = i;
        }
        if (!nodes.has(hop.key)) nodes.set(hop.key, { hop, column, slot: 0, n: 0, order: nodes.size, ttls: new Set() });
        const node = nodes.get(hop.key);
        if (node.column === column) node.slot = Math.max(node.slot, i - start);
        node.n += 1;
        node.ttls.add(hop.ttl);
        if (hop.labelled) node.labelled = true;
        if (hop.isTarget) node.isTarget = true;
        if (last && last !== node) {
          const key = `${last.hop.key} ${hop.key}`;
          if (!edges.has(key)) edges.set(key, { from: last, to: node, n: 0 });
          edges.get(key).n += 1;
        }
        last = node;
      });
    }
    for (const node of nodes.values()) node.column.slots = Math.max(node.column.slots, node.slot + 1);
    const ordered = [...columns.values()].sort((a, b) => a.sum / a.n - b.sum / b.n);
    let x = 0;
    ordered.forEach((column) => { column.x = x; x += column.slots * WIDE; });
    const cells = new Map();
    for (const node of [...nodes.values()].sort((a, b) => a.order - b.order)) {
      const cell = `${node.column.key} ${node.slot}`, row = cells.get(cell) || 0;
      cells.set(cell, row + 1);
      node.x = node.column.x + (node.slot + 0.5) * WIDE;
      node.y = HEAD + (row + 0.5) * TALL;
    }
    const high = HEAD + Math.max(1, ...cells.values()) * TALL + 8;
    const svg = drawn("svg", { class: "bundle", width: x, height: high, viewBox: `0 0 ${x} ${high}`, role: "group", "aria-label": "The paths, hops in columns by AS; the tables below have the same" });
    ordered.forEach((column, i) => {
      const band = drawn("g", { class: i % 2 ? "band odd" : "band" });
      band.append(drawn("rect", { x: column.x, y: 0, width: column.slots * WIDE, height: high }));
      const label = drawn("text", { x: column.x + 8, y: 17 });
      label.textContent = column.title;
      if (column.asn >= 0) {
        const link = drawn("a", { href: `as/${column.asn}.html` });
        link.append(label);
        band.append(link);
      } else band.append(label);
      const name = drawn("text", { x: column.x + 8, y: 33, class: "name" });
      const room = Math.floor((column.slots * WIDE - 12) / 6.2);
      name.textContent = column.name.length > room ? `${column.name.slice(0, room - 1)}\u2026` : column.name;
      band.append(name);
      svg.append(band);
    });
    for (const { from, to, n } of edges.values()) {
      const bend = Math.max(20, Math.abs(to.x - from.x) / 2);
      svg.append(drawn("path", { class: "edge", d: `M${from.x} ${from.y}C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`, "stroke-width": (1 + 2.2 * Math.log2(n)).toFixed(1) }));
    }
    const tones = new Map();
    for (const node of nodes.values()) {
      const { hop } = node;
      if (!tones.has(hop.asn)) tones.set(hop.asn, (tones.size % 5) + 1);
      const tone = hop.asn < 0 || hop.silent ? "c6" : `c${tones.get(hop.asn)}`;
      const mark = drawn("g", { class: `hop ${tone}${hop.silent ? " silent" : ""}` });
      const title = drawn("title", {});
      title.textContent = [hop.silent ? "no answer" : hop.addr, asText(hop), `TTL ${[...node.ttls].sort((a, b) => a - b).join(", ")}`, `${node.n} of ${traces.length} shown`, ...marksOf(hop)].join("; ");
      mark.append(title);
      if (node.labelled) mark.append(drawn("circle", { class: "ring", cx: node.x, cy: node.y, r: R + 4 }));
      mark.append(!hop.silent && PRIVATE.test(hop.addr) ? drawn("rect", { x: node.x - R, y: node.y - R, width: 2 * R, height: 2 * R })
        : node.isTarget ? drawn("path", { d: `M${node.x} ${node.y - R - 1}l${R + 1} ${R + 1}l${-R - 1} ${R + 1}l${-R - 1} ${-R - 1}z` })
          : drawn("circle", { cx: node.x, cy: node.y, r: hop.silent ? R - 2 : R }));
      const label = drawn("text", { x: node.x, y: node.y + R + 12 });
      label.textContent = hop.silent ? "*" : hop.addr.length > 17 ? `${hop.addr.slice(0, 16)}\u2026` : hop.addr;
      mark.append(label);
      if (!hop.silent) hopscope.panel.mark(mark, hop.addr);
      svg.append(mark);
    }
    return svg;
  }

  // ---- RTT along the paths ----------------------------------------------------------------
  function delays(traces, classes) {
    const W = 640, H = 170, LEFT = 44, BOTTOM = 26;
    const points = traces.map((trace) => trace.hops.filter((hop) => hop.rtt !== null));
    const most = Math.max(...points.flat().map((hop) => hop.rtt), 0.1), longest = Math.max(...points.flat().map((hop) => hop.ttl), 2);
    const step = 10 ** Math.floor(Math.log10(most)), top = Math.ceil(most / step) * step;
    const x = (ttl) => LEFT + ((ttl - 1) / (longest - 1)) * (W - LEFT - 10), y = (ms) => 8 + (1 - ms / top) * (H - BOTTOM - 8);
    const svg = drawn("svg", { class: "delays", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "RTT by TTL of each path, in ms; the tables below have the figures" });
    for (const share of [0, 0.5, 1]) {
      const at = y(top * share), text = drawn("text", { x: LEFT - 6, y: at + 4, class: "end" });
      text.textContent = `${+(top * share).toPrecision(3)}`;
      svg.append(drawn("line", { x1: LEFT, x2: W - 10, y1: at, y2: at }), text);
    }
    for (let ttl = 1; ttl <= longest; ttl += Math.ceil(longest / 16)) {
      const text = drawn("text", { x: x(ttl), y: H - 10, class: "middle" });
      text.textContent = ttl;
      svg.append(text);
    }
    points.forEach((hops, i) => {
      svg.append(drawn("polyline", { points: hops.map((hop) => `${x(hop.ttl).toFixed(1)},${y(hop.rtt).toFixed(1)}`).join(" "), class: classes ? classes[i] : `c${(i % 5) + 1}` }));
      if (hops.length === 1) svg.append(drawn("circle", { cx: x(hops[0].ttl), cy: y(hops[0].rtt), r: 2.5, class: "dot" }));
    });
    const figure = element("figure");
    figure.append(svg, element("figcaption", {}, "RTT in ms by TTL, the lowest of each hop"));
    return figure;
  }

  // ---- Tables -----------------------------------------------------------------------------
  const place = (by, value) => `#${by}=${encodeURIComponent(value)}`;
  const whenText = (start) => (start ? `${new Date(start * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC` : "time unknown");
  const titleOf = (trace) => `${trace.vantage || "unknown vantage point"} \u2192 ${trace.target}`;
  function tableOf(trace) {
    const table = element("table", { class: "num hops" });
    table.append(element("caption", { class: "hidden" }, titleOf(trace)));
    const head = table.createTHead().insertRow();
    for (const name of ["TTL", "Address", "AS", "RTT, ms", "Marks"]) head.append(element("th", { scope: "col", class: /^[AM]/.test(name) ? "l" : "" }, name));
    const body = table.createTBody();
    for (const hop of whole(trace)) {
      const row = body.insertRow();
      row.insertCell().textContent = hop.ttl;
      const cell = row.insertCell();
      cell.className = "l";
      if (hop.silent) cell.textContent = "*"; else cell.append(hopscope.panel.link(hop.addr));
      const as = row.insertCell();
      as.className = "l";
      if (!hop.silent && hop.asn >= 0) as.append(element("a", { href: `as/${hop.asn}.html` }, `AS${hop.asn}`), element("bdi", {}, hop.name ? ` ${hop.name}` : "")); else as.textContent = "\u2013";
      row.insertCell().textContent = hop.silent ? "\u2013" : msText(hop.rtt);
      const marks = row.insertCell();
      marks.className = "l";
      marks.textContent = marksOf(hop).join(", ");
    }
    return table;
  }
  function detailsOf(trace, open) {
    const details = element("details", open ? { open: "" } : {});
    const summary = element("summary", {}, titleOf(trace));
    summary.append(element("small", { class: "quiet" }, ` ${trace.reached ? "reached" : "not reached"}, ${whenText(trace.start)}${trace.further ? ", a further path" : ""}, `), element("bdi", { class: "quiet" }, trace.input));
    const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": titleOf(trace) });
    scroll.append(tableOf(trace));
    details.append(summary, scroll);
    const others = element("p", { class: "quiet" });
    if (trace.vantage) others.append("Others ", element("a", { href: place("vantage", trace.vantage) }, "from this vantage point"), " or ", element("a", { href: place("target", trace.target) }, "to this target"), ".");
    details.append(others);
    return details;
  }
  function key() {
    const text = "Circle: answered. Hollow and dashed: no answer. Square: private or shared address. Ring: answered with MPLS labels. Diamond: the target itself. Thicker lines: several of these traces.";
    return element("figcaption", {}, text);
  }
  function card(title, ...parts) {
    const section = element("section", { class: "card" });
    section.append(element("h2", {}, title), ...parts);
    return section;
  }
  function drawing(traces) {
    const figure = element("figure"), scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Drawing of the paths" });
    scroll.append(bundle(traces));
    figure.append(scroll, key());
    return figure;
  }

  // ---- Two nights -------------------------------------------------------------------------
  const differs = (one, other) => one !== null && other !== null && Math.abs(one - other) > MORE_MS && Math.abs(one - other) > MORE_SHARE * Math.min(one, other);
  // What a row of both nights shows: hops are the same where they share an address.
  function compared(old, now) {
    const before = new Map(whole(old).map((hop) => [hop.ttl, hop])), after = new Map(whole(now).map((hop) => [hop.ttl, hop]));
    const had = new Set(old.hops.map((hop) => hop.addr)), has = new Set(now.hops.map((hop) => hop.addr));
    const rows = [];
    for (const ttl of [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a - b)) {
      const one = before.get(ttl), other = after.get(ttl), notes = [];
      if (one && !one.silent && !has.has(one.addr)) notes.push(`${one.addr} went`);
      if (other && !other.silent && !had.has(other.addr)) notes.push(`${other.addr} came`);
      const earlier = other && !other.silent ? old.hops.find((hop) => hop.addr === other.addr) : null;
      if (earlier && earlier.ttl !== ttl) notes.push(`${other.addr} was at TTL ${earlier.ttl}`);
      if (earlier && differs(earlier.rtt, other.rtt)) notes.push(`${other.addr} RTT ${other.rtt > earlier.rtt ? "+" : "\u2212"}${msText(Math.abs(other.rtt - earlier.rtt))} ms`);
      rows.push({ ttl, one, other, notes });
    }
    return rows;
  }
  async function showBoth(asked, mine) {
    const names = [asked.get("before"), (await here.load("index")).snapshot];
    const there = night(`../${encodeURIComponent(names[0])}/`);
    try { await there.load("index"); } catch { throw new Error(`The report of ${names[0]} is not beside this one, or keeps no paths.`); }
    const [vantage, target] = [asked.get("vantage"), asked.get("target")];
    if (!vantage || !target) return listBoth(there, names, mine);
    const [old, now] = [await there.pair(vantage, target), await here.pair(vantage, target)];
    if (mine !== turn) return undefined;
    if (!old || !now) throw new Error(`${vantage} \u2192 ${target} is not kept in ${old ? names[1] : names[0]}.`);
    const rows = compared(old, now);
    const table = element("table", { class: "num hops both" }), head = table.createTHead().insertRow();
    table.append(element("caption", { class: "hidden" }, `Hops of ${names[0]} and of ${names[1]}`));
    ["TTL", names[0], "RTT, ms", names[1], "RTT, ms", "What differs"].forEach((name, i) => head.append(element("th", { scope: "col", class: i % 2 ? "l" : "" }, name)));
    const body = table.createTBody();
    for (const { ttl, one, other, notes } of rows) {
      const row = body.insertRow();
      if (notes.length) row.className = "differs";
      const cells = [ttl, ...[one, other].flatMap((hop) => [hop ? (hop.silent ? "*" : `${hop.addr} ${asText(hop)}`) : "", hop && !hop.silent ? msText(hop.rtt) : ""]), notes.join(", ")];
      cells.forEach((text, i) => { const cell = row.insertCell(); cell.textContent = text; if ([1, 3, 5].includes(i)) cell.className = "l"; });
    }
    hopscope.panel.links(body);
    const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Both nights" });
    scroll.append(table);
    const n = rows.filter((row) => row.notes.length).length;
    said.textContent = `${vantage} \u2192 ${target}: ${n ? `${n} of ${rows.length} hops differ` : "no hop differs"} from ${names[0]} to ${names[1]}.`;
    const about = element("p", { class: "quiet" }, "Marked are hops that came or went, and RTTs that differ by more than 10 ms and by more than 20\u00a0%.");
    shown.replaceChildren(
      card("Both nights side by side", about, scroll), card(`${names[0]}, ${whenText(old.start)}`, drawing([old])), card(`${names[1]}, ${whenText(now.start)}`, drawing([now])),
      card("RTT", delays([old, now], ["old", "now"]), element("p", { class: "quiet" }, `Dashed: ${names[0]}.`)),
    );
    return undefined;
  }
  async function pairsOf(data) {
    const { n_here: n, shard } = await data.load("index"), pairs = new Map();
    for (let i = 0; i < Math.min(SHARDS, Math.ceil(n / shard)); i++) {
      const part = await data.load(i);
      for (const row of part.traces) if (row[0] && !pairs.has(`${row[0]} ${row[1]}`)) pairs.set(`${row[0]} ${row[1]}`, unpacked(part, row, []));
    }
    return pairs;
  }
  async function listBoth(there, names, mine) {
    const [before, after] = [await pairsOf(there), await pairsOf(here)];
    if (mine !== turn) return;
    const common = [...after].filter(([pair]) => before.has(pair)).map(([pair, trace]) => [pair.split(" "), compared(before.get(pair), trace).filter((row) => row.notes.length).length]);
    common.sort((a, b) => b[1] - a[1]);
    const table = element("table", { class: "num" }), head = table.createTHead().insertRow();
    for (const name of ["Vantage point", "Target", "Hops that differ"]) head.append(element("th", { scope: "col", class: name[0] === "H" ? "" : "l" }, name));
    const body = table.createTBody();
    for (const [[vantage, target], n] of common.slice(0, LISTED)) {
      const row = body.insertRow(), cell = row.insertCell();
      cell.className = "l";
      cell.append(element("a", { href: `#before=${encodeURIComponent(names[0])}&vantage=${encodeURIComponent(vantage)}&target=${encodeURIComponent(target)}` }, vantage));
      Object.assign(row.insertCell(), { className: "l", textContent: target });
      row.insertCell().textContent = n;
    }
    said.textContent = common.length
      ? `${integer.format(common.length)} pairs of vantage point and target are kept in both ${names[0]} and ${names[1]}${common.length > LISTED ? `; the ${LISTED} that differ most are listed` : ""}.`
      : `No vantage point and target is kept in both ${names[0]} and ${names[1]}.`;
    const scroll = element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Pairs of both nights" });
    scroll.append(table);
    shown.replaceChildren(...(common.length ? [card("Kept in both nights", scroll)] : []));
  }

  // ---- What the fragment asks for ---------------------------------------------------------
  const here = night("");
  const KINDS = { address: "showing", link: "across the link", ingress: "entering by", target: "to", vantage: "from" };
  async function show(mine) {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.has("before")) return showBoth(asked, mine);
    const by = Object.keys(KINDS).find((one) => asked.has(one));
    const { points, n_kept: n } = await here.load("index");
    if (mine !== turn) return undefined;
    if (!by) {
      said.textContent = "Give an address, or choose a vantage point:";
      const list = element("p", { class: "addrs" });
      points.slice(0, LISTED).forEach((point) => { if (point[0]) list.append(element("a", { href: place("vantage", point[0]) }, point[0]), ` ${integer.format(point[2])} kept \u00a0 `); });
      shown.replaceChildren(list);
      return undefined;
    }
    const text = asked.get(by).trim().toLowerCase().split(/\s*,\s*/).map((one) => hopscope.lookup.parse(one)?.text ?? one).join(",");
    [kind.value, what.value] = [by, text];
    said.textContent = "Loading\u2026";
    const found = await here.ids(by, text);
    if (mine !== turn) return undefined;
    if (!found || !found.ids.length) {
      shown.replaceChildren();
      said.textContent = `No kept trace ${KINDS[by]} ${text}: ${integer.format(n)} are kept.`;
      return undefined;
    }
    const traces = [];
    for (const id of found.ids.slice(0, DRAWN)) traces.push(await here.trace(id));
    if (mine !== turn) return undefined;
    const of = traces.length < found.n ? `${traces.length} of ${integer.format(found.n)}` : `${traces.length}`;
    said.textContent = `${of} kept trace${found.n === 1 ? "" : "s"} ${KINDS[found.by ?? by]} ${text.replace(",", " \u2192 ")}.`;
    shown.replaceChildren(
      card("Paths", drawing(traces)), card("RTT along the paths", delays(traces)), card("Hops", ...traces.map((trace, i) => detailsOf(trace, !i))),
    );
    return undefined;
  }
  // The panel on a router is over what is shown.
  const wanted = () => location.hash.slice(1).split("&").filter((part) => !part.startsWith("router=")).join("&");
  let turn = 0, last = null;
  async function update() {
    if (wanted() === last) return;
    const mine = ++turn;
    last = wanted();
    try { await show(mine); } catch (error) {
      if (mine !== turn) return;
      shown.replaceChildren();
      said.textContent = error.message;
    }
  }
  ask.addEventListener("submit", (event) => {
    event.preventDefault();
    if (what.value.trim()) location.hash = `${kind.value}=${encodeURIComponent(what.value.trim())}`;
  });
  addEventListener("hashchange", update);
  update();
})();
