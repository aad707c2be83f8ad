// What is known of one router, in a panel over any page: #router=192.0.2.1. Read from scripts in
// routers/, as they are needed; shards.py says how they are written. It says what `hopscope why` says.
"use strict";
(() => {
  const { element, integer } = hopscope;
  const ROOT = document.currentScript.src.replace(/[^/]*$/, "");
  const { addr: textOf } = hopscope.lookup;

  // ---- Shards ---------------------------------------------------------------------------------
  const load = hopscope.shards("routers", `${ROOT}routers/`, 16, (data, key) => (key === "index" ? data : unpacked(data)));
  const FLOATS = new Set(["confidence", "link_weight", "entry_confidence"]);
  const SIGNED = /^(node|host|place|rtt|nearest|link_node|link_traces|link_delay|entry_(traces|ixp)|owner_(asn|second|rule)|term|join_rule|first|last)$/;
  async function unpacked({ columns, texts, names, data }) {
    const packed = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const planes = new Uint8Array(await new Response(stream).arrayBuffer());
    const n = planes.length / 4, bytes = new Uint8Array(planes.length);
    for (let at = 0; at < n; at++) for (let i = 0; i < 4; i++) bytes[4 * at + i] = planes[i * n + at];
    const shard = { texts, names };
    let at = 0;
    for (const [name, length] of columns) {
      const kind = FLOATS.has(name) ? Float32Array : SIGNED.test(name) ? Int32Array : Uint32Array;
      shard[name] = new kind(bytes.buffer, 4 * at, length);
      at += length;
    }
    return shard;
  }

  // ---- One router of a shard, with the names that `hopscope why --json` has ------------------------
  const sum = (column, until) => { let total = 0; for (let i = 0; i < until; i++) total += column[i]; return total; };
  const range = (from, n) => Array.from({ length: n }, (_, i) => from + i);
  function addressIn(shard, name, i) {
    const [a, b, c, d] = [0, 1, 2, 3].map((part) => BigInt(shard[`${name}${part}`][i]));
    const value = (a << 96n) | (b << 64n) | (c << 32n) | d;
    if (!value) return null;
    return value >> 32n === 0xffffn ? textOf("v4", value & 0xffffffffn) : textOf("v6", value);
  }
  function facts(shard, index, i, address) {
    const text = (at) => (at < 0 ? null : shard.texts[at]);
    const known = (value) => (isNaN(value) ? null : value);
    const asn = (value) => (value < 0 ? null : value >>> 0);
    const addrs = range(sum(shard.n_addrs, i), shard.n_addrs[i]);
    const found = {
      addr: address, asn: shard.asn[i], node: shard.node[i], name: shard.names[shard.asn[i]] ?? null,
      addrs: addrs.map((at) => addressIn(shard, "addr", at)),
      host_names: addrs.filter((at) => shard.host[at] >= 0).map((at) => [addressIn(shard, "addr", at), text(shard.host[at])]),
      confidence: known(shard.confidence[i]), place: shard.place ? text(shard.place[i]) : null,
    };
    if (shard.n_traces) {
      Object.assign(found, { n_traces: shard.n_traces[i], n_vantages: shard.n_vantages[i], rtt_ms: shard.rtt[i] < 0 ? null : shard.rtt[i] / 100, nearest_vantage: text(shard.nearest[i]) });
    }
    const before = [...shard.n_links.subarray(0, i)].reduce((total, n) => total + Math.min(n, index.listed), 0);
    found.n_links = shard.n_links[i];
    const weight = (at) => (!shard.link_delay ? known(shard.link_weight[at]) : shard.link_delay[at] < 0 ? null : shard.link_delay[at] / 100);
    found.links = range(before, Math.min(found.n_links, index.listed)).map((at) => ({
      addr: addressIn(shard, "link_addr", at), asn: shard.link_asn[at], node: shard.link_node[at],
      n_traces: shard.link_traces[at] < 0 ? null : shard.link_traces[at], weight: weight(at), flags: shard.link_flags[at],
    }));
    const most = (one, other) => other.n_direct - one.n_direct || one.asn - other.asn;
    const entry = shard.entry_at.indexOf(i);
    if (entry >= 0) {
      found.ingress = {
        candidate: !!shard.entry_candidate[entry], n_direct: shard.entry_direct[entry], n_after_gap: shard.entry_gap[entry], confidence: known(shard.entry_confidence[entry]),
        neighbors: range(sum(shard.entry_n, entry), shard.entry_n[entry])
          .map((at) => ({ asn: shard.entry_asn[at], n_direct: shard.entry_traces[at], ixp: text(shard.entry_ixp[at]) })).sort(most),
      };
    }
    const exits = range(0, shard.exit_at.length).filter((at) => shard.exit_at[at] === i).map((at) => ({ asn: shard.exit_asn[at], n_direct: shard.exit_traces[at] }));
    if (exits.length) found.exit = { n_direct: exits.reduce((total, one) => total + one.n_direct, 0), neighbors: exits.sort(most) };
    const terms = (at) => range(sum(shard.owner_terms, at), shard.owner_terms[at])
      .map((t) => ({ name: text(shard.term[t]), here: shard.term_here[t], there: shard.term_there[t], n_here: shard.term_n_here[t], n_there: shard.term_n_there[t] }));
    found.owners = range(sum(shard.n_owners, i), shard.n_owners[i]).map((at) => ({
      addr: addressIn(shard, "owner_addr", at), asn: asn(shard.owner_asn[at]), second: asn(shard.owner_second[at]), rule: text(shard.owner_rule[at]), terms: terms(at),
    }));
    found.joins = range(sum(shard.n_joins, i), shard.n_joins[i]).map((at) => ({
      addr: addressIn(shard, "join_addr", at), to: addressIn(shard, "join_to", at), rule: text(shard.join_rule[at]), n_common: shard.join_common[at],
    }));
    if (shard.first[i] >= 0) found.nights = { first: index.nights[shard.first[i]], last: index.nights[shard.last[i]], n_seen: shard.n_seen[i], n_nights: index.nights.length };
    return found;
  }

  // ---- In words: as pipeline/terminal/why.py and pipeline/stages/contents/why.py ------------------
  const SMALL = 0.05; // nats that are shown as 0.0
  const CLASSES = ["doubtful", "weak", "fair", "strong"], FROM = [0.7, 0.9, 0.975], STORED = 1e-6;
  function counted(n, noun) {
    if (n === 1) return `1 ${noun}`;
    const plural = /[^aeiou]?ly$/.test(noun) ? `${noun.slice(0, -1)}ie` : noun;
    return `${integer.format(n)} ${plural}${/[sSx]$|ch$/.test(plural) ? "es" : "s"}`;
  }
  function rated(confidence, classed) {
    const hundredths = Math.min(Math.floor(100 * (confidence + STORED)), 99);
    const text = `0.${String(hundredths).padStart(2, "0")}${classed ? `, ${CLASSES[FROM.filter((least) => confidence >= least - STORED).length]}` : ""}`;
    return `${text}: of such, ${hundredths} in 100 were right in simulated networks`;
  }
  const shares = (neighbors) => neighbors.map(({ asn, n_direct: n, ixp }) => `AS${asn}${n > 0 ? ` (${integer.format(n)})` : ""}${ixp ? ` by ${ixp}` : ""}`).join(", ");
  function lines(found) {
    const told = [];
    if (found.confidence !== null) told.push(["AS confidence", rated(found.confidence, true)]);
    const others = found.addrs.filter((one) => one !== found.addr);
    if (others.length) told.push(["Its router also has", others.join(", ")]);
    for (const [address, name] of found.host_names) told.push([`Host name of ${address}`, name]);
    if (found.place) told.push(["Place", found.place]);
    if (found.n_traces !== undefined) told.push(["Traces", `${counted(found.n_traces, "trace")} from ${counted(found.n_vantages, "vantage point")} ${found.n_traces === 1 ? "crosses" : "cross"} it`]);
    if (found.rtt_ms !== undefined && found.rtt_ms !== null) told.push(["RTT from vantage points", `${hopscope.amount(found.rtt_ms, 2)} ms at least, from ${found.nearest_vantage}`]);
    const entry = found.ingress;
    if (entry) {
      const parts = [];
      if (entry.n_direct) parts.push(`${counted(entry.n_direct, "trace")} right behind ${shares(entry.neighbors)}`);
      else if (entry.neighbors.length) parts.push(`from ${shares(entry.neighbors)}`);
      if (entry.n_after_gap) parts.push(`${counted(entry.n_after_gap, "trace")} after unanswered hops`);
      told.push([entry.candidate ? "Candidate ingress" : "Ingress", parts.join(", ") || "drawn"]);
      if (entry.confidence !== null) told.push(["Ingress confidence", rated(entry.confidence, !entry.candidate)]);
    }
    if (found.exit) told.push(["Exit", `${counted(found.exit.n_direct, "trace")} into ${shares(found.exit.neighbors)} right behind it`]);
    const nights = found.nights;
    if (nights) told.push(["Nights", `seen on ${nights.n_seen} of the last ${counted(nights.n_nights, "night")} kept of these vantage points: first ${nights.first}, last ${nights.last}`]);
    return told;
  }
  function sentences(found, index) {
    if (!index.reasons) return [`Snapshot ${index.snapshot} keeps no reasons: none are kept without an election of ASes (--borders prefix, topology files), and none were before; ingest its traces again.`];
    const says = (rule) => (rule === index.given ? "the alias file says so" : index.rules[rule]?.[0] ?? "a rule of an earlier version");
    const nats = (tenths) => (tenths / 10).toFixed(1);
    const listed = (costs) => costs.filter(([, , cost]) => cost / 10 >= SMALL).sort((a, b) => b[2] - a[2] || (a[0] < b[0] ? -1 : 1))
      .map(([name, n, cost]) => {
        const [, noun, more] = index.rules[name] ?? ["", "piece", "of other evidence"];
        return `${counted(n, noun)} ${more} (${name} ${nats(cost)})`;
      }).join(", ");
    const owner = (one) => {
      const here = one.asn === null ? "no AS" : `AS${one.asn}`, part = found.owners.length === 1 ? "" : `${one.addr}: `;
      const other = one.second === null ? "any other AS" : `AS${one.second}`;
      if (!one.terms.length) return `${part}${here}${one.rule ? `: ${says(one.rule)} (${one.rule})` : ""}.`;
      const total = one.terms.reduce((all, term) => all + term.there - term.here, 0);
      const against = listed(one.terms.filter((term) => term.here > 0).map((term) => [term.name, term.n_here, term.here]));
      const favour = listed(one.terms.filter((term) => term.there > 0).map((term) => [term.name, term.n_there, term.there]));
      let said = `${part}${here}, not ${other} (${nats(total)} nats)`;
      if (favour) said += `: in ${other} it would have ${favour}`;
      if (against) said += `; against that, in ${here} it has ${against}`;
      const names = one.terms.find((term) => term.name === index.host_names);
      if (names && names.n_there && !names.n_here) said += `; its host ${names.n_there === 1 ? "name says" : "names say"} ${here}`;
      if (!one.rule && total < 0) said += `. By itself it would be in ${other}: routers beside it got another AS after it`;
      if (one.rule) said += `. What decided was ${one.rule}: ${says(one.rule)}`;
      return `${said}.`;
    };
    const told = found.owners.map(owner);
    if (!found.owners.length) told.unshift(`${found.addr} is in AS${found.asn}: no other AS came close.`);
    else if (found.owners.some((one) => one.asn !== found.asn)) told.unshift(`${found.addr} is in AS${found.asn}, as most addresses of its router are.`);
    if (found.n_routers > 1) told.unshift(`${found.addr} is on ${found.n_routers} routers; this is about the first of them.`);
    return told.concat(found.joins.map((one) => {
      const more = one.n_common ? `; ${counted(one.n_common, "address")} right behind it also follow${one.n_common === 1 ? "s" : ""} another address of the router` : "";
      return `${one.addr} is on the router of ${one.to}: ${says(one.rule)} (${one.rule})${more}.`;
    }));
  }
  const SEEN = ["across unanswered hops", "under MPLS labels", "by an exchange point", "may hide routers"];
  const seen = (flags) => SEEN.filter((_, bit) => flags & (1 << bit)).join(", ");

  // ---- The panel ------------------------------------------------------------------------------
  const panel = element("dialog", { class: "panel", "aria-labelledby": "panel-title" });
  document.body.append(panel);
  const page = () => +(/\/as\/(\d+)\.html$/.exec(location.pathname)?.[1] ?? NaN);

  function given() {
    const asked = new URLSearchParams(location.hash.slice(1)).get("router");
    return asked && hopscope.lookup.parse(asked)?.single ? hopscope.lookup.parse(asked).text : null;
  }
  // The part of the address of this page that is about what is below the panel stays as it is.
  function hash(address) {
    const rest = location.hash.slice(1).split("&").filter((part) => part && !part.startsWith("router="));
    return [...rest, ...(address ? [`router=${address}`] : [])].join("&");
  }
  function link(address) {
    const made = element("a", { href: `#router=${address}`, class: "addr" }, address);
    made.dataset.router = address;
    return made;
  }
  // A text with its addresses as links; those are made where the text is.
  const ADDRESS = /(?<![\w.:/-])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:\d{1,3}(?:\.\d{1,3}){3})?)(?![\w/-]|[.:][\w.:])/gi;
  function linked(text, own) {
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(ADDRESS)) {
      const asked = hopscope.lookup.parse(found[0]);
      if (!asked?.single || asked.text !== found[0] || asked.text === own) continue;
      parts.push(text.slice(at, found.index), link(found[0]));
      at = found.index + found[0].length;
    }
    return at ? [...parts, text.slice(at)].filter((part) => part !== "") : null;
  }
  const LEFT = "a, button, script, style, pre, code, h1, title, svg, option, textarea, .panel";
  function links(place) {
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT, (node) =>
      (/[.:]/.test(node.data) && !node.parentElement.closest(LEFT) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT));
    const all = [];
    while (texts.nextNode()) all.push(texts.currentNode);
    for (const text of all) {
      const parts = linked(text.data);
      if (parts) text.replaceWith(...parts);
    }
  }

  // What is drawn opens the panel, too; without a mouse as well.
  function mark(place, address) {
    if (!hopscope.lookup.parse(address)?.single) return;
    place.dataset.router = address;
    place.setAttribute("tabindex", "0");
    place.setAttribute("role", "link");
    place.setAttribute("aria-label", address);
    place.addEventListener("keydown", (event) => { if (event.key === "Enter") open(address); });
  }
  function open(address) {
    location.hash = hash(address);
  }

  let asked = 0;
  async function show(address) {
    const turn = ++asked;
    const title = element("h2", { id: "panel-title" }, address);
    const close = element("button", { type: "button", class: "close", "aria-label": "Close" }, "\u00d7");
    close.addEventListener("click", () => panel.close());
    const body = element("div", { class: "about", "aria-live": "polite" }, "Reading");
    const head = element("header");
    head.append(title, close);
    panel.replaceChildren(head, body);
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
    try {
      const parts = await told(address);
      if (turn === asked) body.replaceChildren(...parts);
    } catch (error) {
      if (turn === asked) body.textContent = error.message;
    }
  }
  async function told(address) {
    const found = await hopscope.lookup.lookup(hopscope.lookup.parse(address));
    if (!found.n) {
      const part = address.includes(":") ? 64 : 24;
      const near = element("p", {}, `No AS of this report has ${address}: no router answered from it, or its AS is unknown. `);
      near.append(element("a", { href: `${ROOT}index.html#q=${encodeURIComponent(`${address}/${part}`)}` }, `What is around it (/${part})`));
      return [near];
    }
    const index = await load("index");
    const routers = found.listed.filter((one) => one.asn === page()).concat(found.listed.filter((one) => one.asn !== page()));
    const { router } = routers[0];
    let at = index.firsts.length - 1;
    while (at > 0 && index.firsts[at] > router) at -= 1;
    const shard = await load(at);
    const one = facts(shard, index, router - index.firsts[at], address);
    one.n_routers = new Set(routers.map((each) => each.router)).size;
    const command = element("pre");
    command.append(element("code", {}, `hopscope why ${address} --store STORE --snapshot ${index.snapshot}\nhopscope traces ${index.snapshot} --address ${address} --store STORE`));
    return [about(one, index), known(one), why(one, index), ...neighbours(one, index), command];
  }
  function asLink(asn, name) {
    return element("a", { href: `${ROOT}as/${asn}.html` }, `AS${asn}${name ? ` ${name}` : ""}`);
  }
  function about(one, index) {
    const line = element("p", { class: "of" }, `${index.noun} ${one.node} of `);
    line.append(asLink(one.asn, one.name));
    if (index.paths) line.append(" \u00b7 ", element("a", { href: `${ROOT}paths.html#address=${one.addr}` }, "Paths through it"));
    return line;
  }
  function known(one) {
    const list = element("dl");
    for (const [label, text] of lines(one)) {
      const value = element("dd");
      value.append(...(linked(text, one.addr) ?? [text]));
      list.append(element("dt", {}, label), value);
    }
    return list;
  }
  function why(one, index) {
    const section = element("section", { class: "why" }), list = element("ul");
    section.append(element("h3", {}, "Why"), list);
    for (const sentence of sentences(one, index)) {
      const item = element("li");
      item.append(...(linked(sentence, one.addr) ?? [sentence]));
      list.append(item);
    }
    if (one.owners.length || one.joins.length) section.append(element("p", { class: "quiet" }, "2.3 nats: ten times less likely by the weights of the rules. hopscope ingest --list-rules has all of them."));
    return section;
  }
  function neighbours(one, index) {
    if (!one.links.length) return [];
    const isMs = index.unit === "ms";
    const table = element("table", { class: "num links" }), head = element("tr");
    for (const name of ["neighbour", "AS", "traces", isMs ? "delay ms" : index.unit ? `weight (${index.unit})` : "weight", "seen"]) head.append(element("th", name === "seen" ? { class: "l" } : {}, name));
    table.append(element("thead"), element("tbody"));
    table.tHead.append(head);
    for (const other of one.links) {
      const row = element("tr"), address = element("td"), as = element("td");
      address.append(other.addr ? link(other.addr) : `node ${other.node}`);
      as.append(asLink(other.asn));
      row.append(address, as, element("td", {}, other.n_traces === null ? hopscope.NONE : integer.format(other.n_traces)),
        element("td", {}, other.weight === null ? hopscope.NONE : hopscope.amount(other.weight, 2)), element("td", { class: "l" }, seen(other.flags)));
      table.tBodies[0].append(row);
    }
    const scroll = element("div", { class: "scroll", tabindex: "0" }), title = element("h3", {}, counted(one.n_links, "neighbour"));
    scroll.append(table);
    const notes = [];
    if (isMs) notes.push("Delay: half of what the RTT grows by across the link, the median of traces.");
    if (one.links.length < one.n_links) notes.push(`The ${one.links.length} most traversed are shown.`);
    return [title, scroll, ...(notes.length ? [element("p", { class: "quiet" }, notes.join(" "))] : [])];
  }

  function follow() {
    const address = given();
    if (address) show(address);
    else if (panel.open) panel.close();
  }
  panel.addEventListener("close", () => {
    asked += 1;
    if (!given()) return;
    try {
      history.replaceState(null, "", hash(null) ? `#${hash(null)}` : location.pathname + location.search);
    } catch { /* a browser that lets no page from disk do this: the link stays, nothing else */ }
  });
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); }); // beside it
  document.addEventListener("click", (event) => {
    const from = event.target.closest("[data-router]");
    if (!from || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(from.dataset.router);
  });
  addEventListener("hashchange", follow);
  hopscope.panel = { link, links, mark, open };
  links(document.querySelector("main"));
  follow();
})();
