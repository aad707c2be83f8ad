// The explorer: forms to the server beside it, its answers to the page. No library.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const POLL_MS = 250;
  const MAX_NAME = 40; // characters of a name in the picture
  const integer = new Intl.NumberFormat("en-US");
  const listed = { filter: "", sort: "", first: 0 }; // which rows of the result are shown
  let choices = null, graph = null, picture = null, shown = -1, busy = false;

  function element(name, attributes = {}, text) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function drawn(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  // Names of files, and of searches such as shortest_path, stay as they are.
  const isSearch = (word) => choices !== null && choices.algorithms.some(({ name }) => name === word);
  const capital = (text) => /^[a-z]+([ ,]|$)/.test(text) && !isSearch(text.split(" ")[0]) ? text[0].toUpperCase() + text.slice(1) : text;
  const duration = (s) => s >= 1 ? `${s.toFixed(2)} s` : s >= 0.01 ? `${(1e3 * s).toFixed(1)} ms` : `${(1e3 * s).toFixed(3)} ms`;

  async function ask(name, given) {
    const options = given === undefined ? {} : {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given),
    };
    let answer;
    try {
      answer = await fetch(`api/${name}`, options);
    } catch {
      throw new Error("The explorer has been stopped: start hopscope explore again.");
    }
    const value = await answer.json().catch(() => ({})); // a refusal has no words
    if (!answer.ok) throw new Error(value.error ? capital(value.error) : `The explorer answered ${answer.status}.`);
    return value;
  }
  function complain(message) {
    // What was pasted may be long: how it begins, and what is wrong with it.
    const text = message.length > 600 ? `${message.slice(0, 300)} \u2026 ${message.slice(-200)}` : message;
    at("error").textContent = text;
    at("error").hidden = !message;
  }
  async function attempt(action) {
    complain("");
    try {
      await action();
    } catch (error) {
      complain(error.message);
    }
  }

  // ---- Forms ------------------------------------------------------------------------------
  function fill(select, rows) {
    select.replaceChildren(...rows.map(([value, text]) => element("option", { value }, text)));
  }
  function showModel() {
    const model = choices.models.find((each) => each.name === at("model").value);
    at("model-help").textContent = model.help;
    at("model-fields").replaceChildren(...model.fields.map((field) => {
      const label = element("label", { class: field.is_switch ? "switch" : "field", title: field.help });
      const input = element("input", { name: field.name });
      if (field.is_switch) {
        input.type = "checkbox";
        label.append(input, capital(field.label));
      } else {
        input.value = field.default;
        if (!field.default) input.placeholder = field.example;
        label.append(capital(field.label), input);
      }
      return label;
    }));
  }
  function showOrigin() {
    const origin = at("graph").elements.from.value;
    for (const part of document.querySelectorAll("[data-from]")) part.hidden = part.dataset.from !== origin;
  }
  function showAlgorithm() {
    const row = choices.algorithms.find((each) => each.name === at("algorithm").value);
    const lacks = row.needs.includes("weights") && graph && !graph.weighted;
    at("algorithm-help").textContent = row.help + (lacks ? ". This graph has no weights on every link." : "");
    for (const field of document.querySelectorAll("[data-end]")) {
      const end = field.dataset.end;
      const needed = row.needs.includes(end);
      field.classList.toggle("off", !needed && !row.takes.includes(end));
      field.firstChild.textContent = `${end === "source" ? "Source" : "Target"}${needed ? "" : " (optional)"} `;
    }
  }
  async function showAses() {
    if (!at("snapshot").value) return;
    await attempt(async () => {
      const { ases } = await ask("ases", { snapshot: at("snapshot").value });
      at("ases").replaceChildren(...ases.map(([asn, name, size]) =>
        element("option", { value: asn }, `${name ? name + ", " : ""}${size}`)));
      if (ases.length && !at("asn").value) at("asn").value = ases[0][0];
    });
  }
  function load(event) {
    event.preventDefault();
    const origin = at("graph").elements.from.value;
    const options = {};
    for (const input of at("model-fields").querySelectorAll("input")) {
      options[input.name] = input.type === "checkbox" ? input.checked : input.value.trim();
    }
    const given = {
      model: { from: origin, model: at("model").value, options },
      file: { from: origin, path: at("path").value },
      as: { from: origin, snapshot: at("snapshot").value, asn: at("asn").value },
    }[origin];
    begin("graph", given);
  }
  function search(event) {
    event.preventDefault();
    const end = (name) => at(name).closest(".off") ? "" : at(name).value; // not what is hidden
    const given = {
      algorithm: at("algorithm").value, source: end("source"), target: end("target"),
      device: at("device").value, compare: at("compare").checked,
    };
    begin("search", given);
  }
  function begin(name, given) {
    setBusy(true); // at once: a second click would only be refused
    keepLink();
    attempt(async () => {
      try {
        await ask(name, given);
      } catch (error) {
        show(await ask("state"));
        showResult(null); // of the search before
        throw error;
      }
      await follow();
    });
  }

  // ---- What comes of it -------------------------------------------------------------------
  function showGraph() {
    if (!graph) return;
    const weights = graph.weighted ? "with weights" : "without weights";
    const notes = graph.warnings.length ? ` ${graph.warnings.join("; ")}.` : "";
    at("about").textContent = `${graph.name}: ${graph.size}, ${weights}; from ${graph.first} to ${graph.last}.${notes}`;
    at("source").placeholder = graph.first;
    at("target").placeholder = graph.last;
    showAlgorithm();
  }
  function bar(share) {
    const svg = drawn("svg", { class: "share", viewBox: "0 0 100 1", preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.append(drawn("rect", { width: Math.max(0.3, 100 * share), height: 1 }));
    return svg;
  }
  function row(cells) {
    const made = element("tr");
    for (const cell of cells) {
      const td = element("td");
      td.append(cell);
      made.append(td);
    }
    return made;
  }
  function showBars(table, rows, text) {
    const most = Math.max(...rows.map(([, value]) => value), 1e-12);
    table.tBodies[0].replaceChildren(...rows.map(([name, value]) =>
      row([name, text(value), bar(value / most)])));
  }
  function showPicture(picture) { // in the size of its letters, which is another on small screens
    const [width, height, edge] = [720, 460, 26];
    const x = (node) => edge + node.x * (width - 2 * edge);
    const y = (node) => edge + node.y * (height - 2 * edge);
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Picture. ${picture.note}` });
    const links = [...picture.links].sort((a, b) => a[2] - b[2]);
    for (const [i, j, on] of links) {
      const [u, v] = [picture.nodes[i], picture.nodes[j]];
      svg.append(drawn("line", { x1: x(u), y1: y(u), x2: x(v), y2: y(v), ...(on ? { class: "on" } : {}) }));
    }
    const marked = picture.nodes.filter((node) => node.role);
    const named = picture.nodes.length <= 30 ? picture.nodes : marked.length <= 14 ? marked : marked.filter((node) => node.role === "end");
    for (const node of picture.nodes) {
      const circle = drawn("circle", { cx: x(node), cy: y(node), r: node.role === "end" ? 7 : node.role ? 5 : 3.5, class: node.role });
      circle.append(drawn("title", {}, node.name));
      svg.append(circle);
    }
    at("picture").replaceChildren(svg);
    const places = named.map((node) => ({ x: x(node), y: y(node), name: node.name, end: node.role === "end" }));
    label(svg, places.sort((a, b) => b.end - a.end), [width, height]);
    at("picture-note").textContent = picture.note;
  }
  // Names within the picture, none over another, those of ends first; all are titles of their nodes.
  function label(svg, places, [width, height]) {
    const taken = [];
    for (const place of places) {
      const name = place.name.length > MAX_NAME ? `${place.name.slice(0, MAX_NAME - 1)}\u2026` : place.name;
      const text = drawn("text", {}, name);
      svg.append(text);
      const box = text.getBBox();
      const [half, tall, away] = [box.width / 2, box.height, 9 + box.height / 2];
      const middle = Math.min(Math.max(place.x, half + 1), width - half - 1);
      const spots = [-1, 1, -2, 2].map((step) => [middle, place.y + step * away])
        .concat([[place.x + half + 11, place.y], [place.x - half - 11, place.y]]);
      const free = spots.find(([x, y]) => x >= half && x <= width - half && y >= tall / 2 && y <= height - tall / 2 &&
        taken.every((other) => Math.abs(x - other.x) > half + other.half || Math.abs(y - other.y) > (tall + other.tall) / 2));
      if (!free) {
        text.remove();
        continue;
      }
      text.setAttribute("x", free[0]);
      text.setAttribute("y", free[1] - (box.y + tall / 2)); // from the middle of its box to its line
      taken.push({ x: free[0], y: free[1], half, tall });
    }
  }
  function showResult(result) {
    at("result").hidden = !result;
    if (!result) return;
    const ends = `${result.source ? ` from ${result.source}` : ""}${result.target ? ` to ${result.target}` : ""}`;
    at("result-head").textContent = `${result.algorithm} of ${result.graph}${ends}`;
    at("text").textContent = result.text;
    at("certificate").textContent = result.checking ? "This result is still being checked." : result.certificate
      ? `Certificate: ${result.certificate} (${duration(result.certificate_s)}).` : "Not checked.";
    const path = result.path.length <= 24 ? result.path : [...result.path.slice(0, 12), "\u2026", ...result.path.slice(-12)];
    at("path-nodes").replaceChildren(...path.map((name) => element("li", {}, name)));
    at("path-nodes").hidden = !path.length || result.text.includes(result.path.join(" - "));
    at("levels-head").textContent = `${capital(result.nouns)} by hops`;
    showBars(at("times"), Object.entries(result.seconds), duration);
    showBars(at("levels"), result.levels, (n) => integer.format(n));
    at("levels-card").hidden = !result.levels.length;
    at("command").textContent = result.command;
    at("rows-card").hidden = result.checking;
    if (!result.checking) list({ filter: at("filter").value = "", sort: "", first: 0 });
    picture = result.picture;
    showPicture(picture);
  }
  // ---- Rows of the result -----------------------------------------------------------------
  const cell = (value) => value === null ? "" : typeof value === "number" && !Number.isInteger(value) ? value.toPrecision(6) : String(value);
  async function showRows() {
    await attempt(async () => {
      const { columns, rows, first, n_rows, n_matching } = await ask("rows", listed);
      at("rows").tHead.replaceChildren(element("tr"));
      for (const name of columns) {
        const sorted = listed.sort.replace("-", "") === name;
        const th = element("th", sorted ? { "aria-sort": listed.sort[0] === "-" ? "descending" : "ascending" } : {});
        const button = element("button", { type: "button" }, `${name}${sorted ? (listed.sort[0] === "-" ? " \u2193" : " \u2191") : ""}`);
        button.addEventListener("click", () => list({ sort: listed.sort === name ? `-${name}` : name, first: 0 }));
        th.append(button);
        at("rows").tHead.rows[0].append(th);
      }
      at("rows").tBodies[0].replaceChildren(...rows.map((values) => row(values.map(cell))));
      const shown = rows.length ? `${integer.format(first + 1)} to ${integer.format(first + rows.length)} of ${integer.format(n_matching)}` : "none";
      at("rows-note").textContent = `Rows ${shown}${n_matching < n_rows ? `, from ${integer.format(n_rows)} in all` : ""}`;
      at("earlier").disabled = first === 0;
      at("later").disabled = first + rows.length >= n_matching;
      const query = new URLSearchParams({ filter: listed.filter, sort: listed.sort });
      for (const kind of ["csv", "parquet"]) at(`as-${kind}`).href = `api/rows.${kind}?${query}`;
    });
  }
  function list(changed) {
    Object.assign(listed, changed);
    if (!busy) showRows();
  }
  // ---- Permalink: what is in the forms, in the address of the page ------------------------
  const KEPT = ["model", "path", "snapshot", "asn", "algorithm", "source", "target", "device"];
  function keepLink() {
    const words = new URLSearchParams({ from: at("graph").elements.from.value });
    for (const id of KEPT) if (at(id).value) words.set(id, at(id).value);
    for (const input of at("model-fields").querySelectorAll("input")) {
      const value = input.type === "checkbox" ? (input.checked ? "1" : "") : input.value;
      if (value) words.set(`model.${input.name}`, value);
    }
    history.replaceState(null, "", `#${words}`);
  }
  function takeLink() {
    const words = new URLSearchParams(location.hash.slice(1));
    const from = [...at("graph").elements.from].find((input) => input.value === words.get("from"));
    if (from) from.checked = true;
    for (const id of KEPT) if (words.has(id)) at(id).value = words.get(id);
    for (const id of ["model", "algorithm", "device"]) if (at(id).selectedIndex < 0) at(id).selectedIndex = 0; // a link of another version
    showModel();
    for (const input of at("model-fields").querySelectorAll("input")) {
      const value = words.get(`model.${input.name}`);
      if (input.type === "checkbox" && words.has("from")) input.checked = Boolean(value);
      else if (value) input.value = value;
    }
  }
  function showHistory(history) {
    at("past").hidden = !history.length;
    at("history").tBodies[0].replaceChildren(...history.map((each) => row([
      `${each.algorithm}${each.source ? ` from ${each.source}` : ""}${each.target ? ` to ${each.target}` : ""}`,
      `${each.graph}, ${each.size}`, each.text,
      Object.entries(each.seconds).map(([name, s]) => `${duration(s)} ${name}`).join(", "),
    ])));
  }
  function setBusy(now) {
    busy = now;
    for (const button of document.querySelectorAll("button.do")) button.disabled = busy;
  }
  function show(state) {
    setBusy(state.job !== null);
    at("job").hidden = !busy;
    const step = busy ? `${state.job.text}\u2026 ${Math.floor(state.job.seconds)} s` : "";
    if (at("step").textContent !== step) at("step").textContent = step;
    if (state.number === shown) return;
    shown = state.number;
    graph = state.graph;
    showGraph();
    showResult(state.error ? null : state.result);
    showHistory(state.history);
    if (state.error) complain(capital(state.error));
  }
  async function follow() {
    const before = shown;
    let focused = false;
    for (;;) {
      const state = await ask("state");
      show(state);
      if (!focused && shown !== before && !at("result").hidden) {
        at("result-head").focus({ preventScroll: true });
        focused = true; // with its certificate it is the same result
      }
      if (!busy) break;
      await new Promise((done) => setTimeout(done, POLL_MS));
    }
  }

  // Another page of this explorer may have loaded another graph meanwhile.
  async function catchUp() {
    if (busy) return;
    try {
      const state = await ask("state");
      if (busy || (state.number === shown && state.job === null)) return;
      complain("");
      show(state);
      if (busy) await follow();
    } catch (error) {
      complain(error.message);
    }
  }

  attempt(async () => {
    choices = await ask("choices");
    fill(at("model"), choices.models.map(({ name, title }) => [name, title]));
    fill(at("algorithm"), choices.algorithms.map(({ name }) => [name, name]));
    fill(at("snapshot"), choices.snapshots.map((name) => [name, name]));
    at("no-store").hidden = choices.has_store;
    if (!choices.has_gpu) at("device").querySelector("[value=gpu]").disabled = true;
    at("graph").addEventListener("submit", load);
    at("search").addEventListener("submit", search);
    at("model").addEventListener("change", showModel);
    at("algorithm").addEventListener("change", showAlgorithm);
    at("snapshot").addEventListener("change", () => { at("asn").value = ""; showAses(); });
    at("cancel").addEventListener("click", () => attempt(() => ask("cancel", {})));
    for (const input of at("graph").elements.from) input.addEventListener("change", () => { showOrigin(); if (input.value === "as") showAses(); });
    addEventListener("focus", catchUp);
    matchMedia("(max-width: 640px)").addEventListener("change", () => { if (picture) showPicture(picture); });
    let typing = 0;
    at("filter").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => list({ filter: at("filter").value, first: 0 }), 250); });
    at("earlier").addEventListener("click", () => list({ first: Math.max(0, listed.first - 100) }));
    at("later").addEventListener("click", () => list({ first: listed.first + 100 }));
    takeLink();
    showOrigin();
    showAlgorithm();
    show(await ask("state"));
    document.documentElement.dataset.ready = "";
    if (busy) await follow();
  });
})();
