// Reports of hopscope: the list of all ASes, and what all pages share. Pages of ASes: as_page.js.
// No library, no request: data comes from ases.js or stands in the page.
"use strict";
const hopscope = (() => {
  const NONE = "\u2013";
  const integer = new Intl.NumberFormat("en-US");
  const SMALL = 0.01, WHOLE = 1e5, WRITTEN_OUT = [1e-4, 1e9]; // of weights
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

  // Files of data beside a page: scripts KEY.js of a folder that call hopscope.NAME(KEY, data). What
  // is returned promises the data of a key; of more than `most` the oldest go, but for the index.
  const arrived = new Map(); // by address of the script
  function shards(name, folder, most, unpacked = (data) => data) {
    hopscope[name] = (key, data) => arrived.set(document.currentScript.src, data);
    const loaded = new Map();
    return (key) => {
      if (!loaded.has(key)) {
        loaded.set(key, new Promise((resolve, reject) => {
          const script = element("script", { src: `${folder}${key}.js` });
          script.onload = () => { script.remove(); resolve(unpacked(arrived.get(script.src), key)); arrived.delete(script.src); };
          script.onerror = () => { script.remove(); loaded.delete(key); reject(new Error(`${script.src} cannot be read: it is part of this report.`)); };
          document.head.append(script);
        }));
      }
      const found = loaded.get(key);
      if (loaded.size > most) loaded.delete([...loaded.keys()].find((one) => one !== "index"));
      return found;
    };
  }

  function amount(value, places) { // as in pipeline/model/words.py
    const size = Math.abs(value);
    if (size && (size < WRITTEN_OUT[0] || size >= WRITTEN_OUT[1])) return value.toExponential(2).replace(/\.?0+e/, "e");
    if (size && size < SMALL) return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
    const shown = size < WHOLE ? places : 0;
    return value.toLocaleString("en-US", { minimumFractionDigits: shown, maximumFractionDigits: shown });
  }

  // What the address says of the panel on one router (panel.js), which a view leaves as it is.
  const ofPanel = () => location.hash.slice(1).split("&").filter((part) => /^router=/.test(part));

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
    const noun = labels[keys.indexOf("n_nodes")].replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()); // ASes stay
    const n = columns.asn.length;
    const lower = columns.name.map((name) => name.toLowerCase());
    const organisations = columns.organisation ?? null;
    const searched = organisations ? lower.map((name, i) => `${name}\n${organisations[i].toLowerCase()}`) : lower;
    const digits = columns.asn.map(String);
    const state = { key: "n_nodes", down: true, query: "" };
    let rows = new Uint32Array(0);
    let active = -1;
    const filters = hopscope.filters?.(columns, noun, () => update());
    const tools = document.querySelector("#ases .tools");
    let columnsShown = keys; // the number of the AS, which leads to its page, always
    const chooser = element("details", { class: "chooser" });
    if (filters) {
      chooser.append(element("summary", { class: "chip" }, "Columns"), element("div", { role: "group", "aria-label": "Columns of the list" }));
      keys.forEach((key, i) => {
        if (key === "asn") return;
        const label = element("label"), box = element("input", { type: "checkbox", value: key });
        box.addEventListener("change", () => showColumns([...chooser.querySelectorAll("input:checked")].map((one) => one.value), true));
        label.append(box, labels[i]);
        chooser.lastElementChild.append(label);
      });
      const save = element("button", { type: "button", class: "get", title: "All rows that are found, with all columns" }, "Download as CSV");
      save.addEventListener("click", saveView);
      filters.chips.append(chooser, save);
      tools.after(filters.chips, filters.charts);
    }

    // The list scrolls in a box of its own, so that the page is no taller for more rows. Rows stand
    // between two spacers.
    const box = table.closest(".window");
    for (const body of [...table.tBodies]) body.remove();
    const space = () => {
      const body = element("tbody", { class: "space", "aria-hidden": "true" });
      body.append(element("tr"));
      body.rows[0].append(element("td"));
      return body;
    };
    const above = space(), body = element("tbody", { class: "rows" }), below = space();
    table.append(above, body, below);
    const nothing = element("p", { class: "none", hidden: "" }, organisations ? "No AS has this number, name or organisation." : "No AS has this number or name.");
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

    function showColumns(chosen, fresh) {
      columnsShown = keys.filter((key) => key === "asn" || chosen.includes(key));
      heads.forEach((head, i) => { head.hidden = !columnsShown.includes(keys[i]); });
      for (const box of chooser.querySelectorAll("input")) box.checked = columnsShown.includes(box.value);
      chooser.classList.toggle("on", columnsShown.length < keys.length);
      if (!fresh) return;
      paint(true);
      remember();
    }
    document.addEventListener("click", (event) => { if (!chooser.contains(event.target)) chooser.open = false; });
    chooser.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      chooser.open = false;
      chooser.firstElementChild.focus();
    });

    function sortBy(key, down) {
      if (down === undefined) {
        const first = !(TEXTS.has(key) || key === "asn"); // numbers: largest first
        down = key === state.key ? !state.down : first;
      }
      Object.assign(state, { key, down });
      update();
    }

    function named() {
      if (answer) {
        const kept = [];
        for (let i = 0; i < n; i++) if (answer.ases.has(columns.asn[i])) kept.push(i);
        return Uint32Array.from(kept);
      }
      const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) return Uint32Array.from({ length: n }, (_, i) => i);
      const numbers = words.map((word) => (/^(as)?\d+$/.test(word) ? word.replace("as", "") : null));
      const kept = [];
      for (let i = 0; i < n; i++) {
        if (words.every((word, w) => searched[i].includes(word) ||
            (numbers[w] !== null && digits[i].startsWith(numbers[w])))) kept.push(i);
      }
      return Uint32Array.from(kept);
    }

    const filtered = () => (filters ? filters.kept(named()) : named());

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

    // All rows of the view, in its order, as texts that csv() makes plain.
    function saveView() {
      const more = [...(organisations ? ["Organisation"] : []), ...(columns.n_entering ? ["Entering traces"] : [])];
      const lines = [[...labels, ...more]];
      for (const i of rows) {
        const line = keys.map((key) => (key === "name" ? columns.name[i] : text(key, i)));
        if (organisations) line.push(organisations[i]);
        if (columns.n_entering) line.push(`${columns.n_entering[i]}`);
        lines.push(line);
      }
      download("ases.csv", lines);
    }

    function text(key, i) {
      if (key === "asn") return digits[i];
      const value = columns[key][i];
      if (value !== null) return figure(key, value);
      const least = (columns[`${key}_lower`] || [])[i] ?? null;
      if (least === null) return NONE;
      const most = columns[`${key}_upper`][i];
      // Rounded outwards, so that bounds stay bounds.
      const end = (bound, isUpper) => {
        if (!(key in decimals)) return integer.format(bound);
        const places = bound < 100 ? decimals[key] : 0;
        return amount(outward(bound, places, isUpper), places);
      };
      const from = end(least, false);
      return most === null ? `at least ${from}` : `${from}\u2013${end(most, true)}`;
    }
    function figure(key, value) {
      if (key.startsWith("weighted_") && key in decimals) return amount(value, decimals[key]);
      if (key in decimals) return value.toLocaleString("en-US", { minimumFractionDigits: decimals[key], maximumFractionDigits: decimals[key] });
      return typeof value === "number" ? integer.format(value) : value;
    }

    function outward(value, places, isUpper) { // as outward_amount in pipeline/model/words.py
      const isShort = value < SMALL || value >= WRITTEN_OUT[1]; // three significant digits
      const fixed = value < WHOLE ? places : 0;
      const rounded = (number) => +(isShort ? number.toPrecision(3) : number.toFixed(fixed));
      const near = rounded(value);
      if (near === value || (near > value) === isUpper) return near;
      const step = 10 ** (isShort ? value.toExponential().split("e")[1] - 2 : -fixed);
      return rounded(isUpper ? near + step : near - step);
    }

    function make(place) {
      const i = rows[place];
      const row = element("tr", { "aria-rowindex": place + 2 });
      row.dataset.place = place;
      for (const key of columnsShown) {
        const cell = element("td", { class: key });
        if (key === "asn") {
          cell.append(element("a", { href: `as/${columns.asn[i]}.html` }, digits[i]));
        } else if (key === "name") {
          cell.append(element("bdi", {}, columns.name[i]));
          cell.title = columns.name[i];
          const organisation = organisations?.[i] ?? "";
          if (organisation && organisation.toLowerCase() !== lower[i]) {
            cell.append(" ", element("bdi", { class: "of" }, organisation));
            cell.title = `${columns.name[i]} (${organisation})`.trim();
          }
        } else {
          cell.textContent = text(key, i);
          if (key === "n_nodes") cell.dataset.noun = noun;
          if (key.startsWith("weighted_")) cell.dataset.label = labels[keys.indexOf(key)]; // with the unit
          if (key === "status" && columns.status[i] !== "ok") cell.classList.add("bad");
        }
        row.append(cell);
      }
      return row;
    }

    let height = 30, sight = 0, from = 0, to = 0; // of a row, and what is seen at once, in pixels
    function measure() {
      height = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 30;
      sight = parseFloat(getComputedStyle(box).maxHeight) || innerHeight;
    }
    const scale = () => Math.max(1, (rows.length * height) / TALLEST);

    let printing = false;
    const paper = element("p", { class: "paper" });
    table.after(paper);
    function print(on) {
      printing = on;
      // What is folded is read on paper, too.
      for (const fold of document.querySelectorAll(on ? ".folds details:not([open])" : ".folds .opened")) {
        fold.open = on;
        fold.classList.toggle("opened", on);
      }
      const n = Math.min(rows.length, PRINTED);
      paper.textContent = n < rows.length ? `The first ${integer.format(n)} of ${integer.format(rows.length)} ASes; all figures are in ases.parquet.` : "";
      paint(true);
    }

    function paint(fresh) {
      const seen = Math.ceil(sight / height) + 1;
      const first = Math.floor((Math.max(0, box.scrollTop) * scale()) / height);
      const last = Math.max(0, rows.length - seen);
      const newFrom = printing ? 0 : Math.max(0, Math.min(first, last) - EXTRA);
      const newTo = Math.min(rows.length, printing ? PRINTED : Math.min(first, last) + seen + EXTRA);
      if (!fresh && newFrom === from && newTo === to) return;
      const keep = new Map();
      if (!fresh) for (const row of body.rows) keep.set(+row.dataset.place, row);
      const wanted = [];
      for (let place = newFrom; place < newTo; place++) wanted.push(keep.get(place) || make(place));
      // Rows that stay are not touched, so that what has the focus keeps it. A row that goes loses it
      // first: browsers may lay out the page when what has the focus is removed, without the rows to
      // come, and then it is too short to be scrolled to its end.
      const wantedSet = new Set(wanted);
      const focused = document.activeElement && document.activeElement.closest("tr[data-place]");
      const left = focused && !wantedSet.has(focused);
      if (left) document.activeElement.blur();
      for (const row of [...body.rows]) if (!wantedSet.has(row)) row.remove();
      wanted.forEach((row, at) => {
        if (body.rows[at] !== row) body.insertBefore(row, body.rows[at] || null);
      });
      if (left) {
        active = +focused.dataset.place;
        const link = wanted[active - newFrom]?.querySelector("a"); // made again for another width
        if (link?.href === focused.querySelector("a").href) link.focus({ preventScroll: true });
      }
      from = newFrom;
      to = newTo;
      const all = (rows.length * height) / scale();
      const shown = (to - from) * height;
      const before = Math.min(Math.max(0, all - shown), (from * height) / scale());
      above.rows[0].cells[0].style.height = above.rows[0].style.height = `${before}px`;
      const after = Math.max(0, all - before - shown);
      below.rows[0].cells[0].style.height = below.rows[0].style.height = `${after}px`;
    }

    // ---- Addresses and prefixes -----------------------------------------------------------
    const hits = element("div", { class: "note hits", hidden: "", "aria-live": "polite" });
    tools.after(hits);
    let answer = null; // what lookup.js knows of the address or prefix that was typed
    const unfound = nothing.textContent;
    let unlike = ""; // why what was typed finds nothing, if it looks like an address

    // Whether the list has to wait for shards of addresses; it is updated again when they are read.
    function lookup() {
      const asked = hopscope.lookup?.parse(state.query) ?? null;
      if (!asked || asked.text !== answer?.asked.text) answer = null;
      hits.hidden = !asked;
      const like = /^\s*[0-9a-f.:]*[.:][0-9a-f.:]*(\/\d*)?\s*$/i.test(state.query);
      const none = hopscope.lookup
        ? "This is not an IP address or prefix, such as 192.0.2.1 or 192.0.2.0/24, and no AS has this name."
        : "This report has no index of addresses; hopscope lookup finds them in the store.";
      unlike = like && !asked ? none : "";
      nothing.textContent = unfound;
      if (!asked || answer) return false;
      hits.textContent = `Looking for ${asked.text}`;
      const query = state.query;
      hopscope.lookup.lookup(asked).then((found) => {
        if (state.query !== query) return;
        answer = { ...found, asked };
        tell();
        update();
      }, (error) => {
        if (state.query === query) hits.textContent = error.message;
      });
      return true;
    }
    function tell() {
      const { asked, n: many, ingresses: entries, listed, ases, whole } = answer;
      const count = (value, noun, ending = "s") => `${integer.format(value)} ${noun}${value === 1 ? "" : ending}`;
      const linked = ({ addr, asn, ingress }) => {
        const link = element("a", { href: `as/${asn}.html${ingress ? `#ingress=${encodeURIComponent(addr)}` : ""}` }, `AS${asn}`);
        return ingress ? [link, " ", element("i", { class: "tag way" }, "ingress")] : [link];
      };
      const named = (addr) => hopscope.panel?.link(addr) ?? element("b", {}, addr);
      hits.replaceChildren();
      if (asked.single && many) {
        const at = columns.asn.indexOf(listed[0].asn);
        hits.append(named(asked.text), " is in ", ...linked(listed[0]), " ", element("bdi", {}, at < 0 ? "" : columns.name[at]));
        return;
      }
      if (!many) {
        hits.append(`No AS of this report has ${asked.single ? "the address" : "an address in"} ${asked.text}.`);
        const around = asked.text.includes(":") ? 64 : 24;
        if (asked.single) hits.append(" ", element("a", { href: `#q=${encodeURIComponent(`${asked.text}/${around}`)}` }, `Show what is around it (/${around})`));
        return;
      }
      hits.append(element("b", {}, asked.text), `: ${count(many, "address", "es")} of ${count(ases.size, "AS", "es")}${atIngresses(entries, many)}.`);
      if (!whole) hits.append(" The prefix is too wide to look at all of its addresses; these are the first.");
      if (many > listed.length) hits.append(` The first ${listed.length} are listed.`);
      const list = element("ul");
      for (const one of listed) {
        const entry = element("li");
        entry.append(named(one.addr), " ", ...linked(one));
        list.append(entry);
      }
      hits.append(list);
    }

    function atIngresses(entries, many) {
      if (many === 1) return entries ? ", at an ingress" : "";
      if (entries > 1) return `, ${integer.format(entries)} of them at ingresses`;
      return `, ${entries ? "one" : "none"} of them at an ingress`;
    }

    function update() {
      if (lookup()) {
        remember();
        return;
      }
      rows = sorted(filtered());
      heads.forEach((head, i) => {
        if (keys[i] === state.key) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      order.value = (state.down ? "-" : "") + state.key;
      table.setAttribute("aria-rowcount", rows.length + 1);
      if (unlike && !rows.length) { // said where addresses are answered
        hits.textContent = unlike;
        hits.hidden = false;
      }
      nothing.hidden = rows.length > 0 || answer?.n === 0 || !!unlike; // that an address was not found is said above
      if (!rows.length && (answer || !state.query.trim())) nothing.textContent = "No AS matches these filters.";
      else if (filters?.parts().length && nothing.textContent === unfound) nothing.textContent = "No AS with this number or name matches these filters.";
      found.textContent = `${rows.length === n ? "" : `${integer.format(rows.length)} of `}${integer.format(n)} AS${n === 1 ? "" : "es"}`;
      active = -1;
      measure();
      box.scrollTop = 0;
      paint(true);
      remember();
    }

    // The address names what is shown, so that a link leads there.
    function remember() {
      const parts = [];
      if (state.query) parts.push(`q=${encodeURIComponent(state.query)}`);
      if (state.key !== "n_nodes" || !state.down) parts.push(`sort=${state.down ? "-" : ""}${state.key}`);
      if (filters) parts.push(...filters.parts());
      if (columnsShown.length < keys.length) parts.push(`columns=${columnsShown.slice(1).join(",")}`);
      parts.push(...ofPanel());
      const hash = parts.length ? `#${parts.join("&")}` : "";
      if (location.hash === hash || (!hash && !/[#&](q|sort|columns|only|traces|size|entries|mean|diameter)=/.test(location.hash))) return;
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
      filters?.recall(given);
      const fold = hash && document.getElementById(hash);
      if (fold && fold.matches(".folds details")) fold.open = true; // pages of ASes lead to what is folded
      showColumns(given.has("columns") ? given.get("columns").split(",") : keys);
    }

    function go(place) {
      place = Math.max(0, Math.min(rows.length - 1, place));
      active = place;
      const above = (place * height) / scale(), under = box.clientHeight - table.tHead.offsetHeight - height; // the head sticks
      if (above < box.scrollTop) box.scrollTop = above;
      else if (above > box.scrollTop + under) box.scrollTop = above - under;
      box.scrollIntoView({ block: "nearest" });
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
      if (event.key === "Enter" && answer?.asked.single && answer.n && hopscope.panel) hopscope.panel.open(answer.asked.text);
      else if (event.key === "Enter" && rows.length) location.href = `as/${columns.asn[rows[0]]}.html`;
    });
    order.addEventListener("change", () => sortBy(order.value.replace(/^-/, ""), order.value.startsWith("-")));
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
      if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
      if (event.key === "/") { event.preventDefault(); find.focus(); find.select(); return; }
      const focused = document.activeElement.closest("tr[data-place]");
      const place = focused ? +focused.dataset.place : active;
      if (place < 0) return;
      const page = Math.max(1, Math.floor(box.clientHeight / height) - 2);
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
    box.addEventListener("scroll", () => repaint(false), { passive: true });
    addEventListener("resize", () => {
      measure();
      repaint(true);
    });
    addEventListener("hashchange", () => { recall(); update(); });
    recall();
    update();
    table.dataset.ready = "yes";
  }

  // ---- Numbers of shards, as shards.py writes them -----------------------------------------
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const VALUES = new Map([...DIGITS].map((digit, i) => [digit, i]));
  function* numbers(text) {
    let value = 0, shift = 0, large = 0n;
    for (const character of text) {
      const digit = VALUES.get(character), five = digit & 31;
      if (shift < 30) value += five * 2 ** shift;
      else large |= BigInt(five) << BigInt(shift);
      shift += 5;
      if (digit < 32) {
        yield BigInt(value) | large;
        [value, shift, large] = [0, 0, 0n];
      }
    }
  }

  // ---- Tables as files ------------------------------------------------------------------------
  // Spreadsheets take a text that begins with one of these for a formula, quoted or not; some also
  // with one of full width, as in East Asian texts.
  const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/;

  // Rows of texts as CSV (RFC 4180): figures without commas, and no text that a spreadsheet runs.
  function csv(rows) {
    const plain = (text) => {
      const shown = text.trim();
      if (shown === NONE) return "";
      if (/^\d[\d,]*(\.\d+)?$/.test(shown)) return shown.replace(/,/g, "");
      const safe = FORMULA.test(shown) ? `'${shown}` : shown;
      return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
    };
    return rows.map((row) => `${row.map(plain).join(",")}\r\n`).join("");
  }
  function download(name, rows) {
    const href = URL.createObjectURL(new Blob([csv(rows)], { type: "text/csv;charset=utf-8" }));
    element("a", { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  }

  // Heads of a table become buttons that sort its rows: words and addresses as people order them,
  // numbers with the largest first, cells without a number last.
  const natural = new Intl.Collator("en", { numeric: true });
  function value(cell) {
    const found = parseFloat(cell.textContent.replace(/,/g, ""));
    return isNaN(found) ? null : found;
  }
  function sortable(table, rows, show) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, i) => {
      if ("plain" in head.dataset) return;
      const words = "words" in head.dataset;
      const button = element("button", { type: "button" }, head.textContent.trim());
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const down = now ? now === "ascending" : !words;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sign = down ? -1 : 1;
        show([...rows()].sort((a, b) => {
          const [one, other] = [a.cells[i], b.cells[i]];
          if (words) return sign * natural.compare(one.textContent, other.textContent);
          const [x, y] = [value(one), value(other)];
          if (x === null || y === null) return (x === null) - (y === null);
          return sign * (x - y);
        }));
      });
    });
  }

  // Names of options stay whole where a command or a warning is broken into lines.
  function unbroken(place) {
    const parts = place.textContent.split(/(--[a-z][a-z0-9-]*)/);
    place.replaceChildren(...parts.map((part, i) => (i % 2 ? element("span", { class: "option" }, part) : part)));
  }
  for (const place of document.querySelectorAll("main code, .warn li bdi")) unbroken(place);

  // Pages of ASes, which as_page.js completes, outlive their night where nothing that they show has changed.
  function night(facts) {
    for (const place of document.querySelectorAll("[data-night]")) {
      if (facts[place.dataset.night]) place.textContent = facts[place.dataset.night];
      place.classList.toggle("warn", place.dataset.night === "mapped" && facts.is_mapped_low);
    }
    // Commands can be run as they are where the folders are known.
    for (const code of document.querySelectorAll("#provenance code")) {
      code.textContent = code.textContent.replace(/\b(STORE|OUT|SNAPSHOT)\b/g, (word) => facts[word.toLowerCase()] || word);
      unbroken(code);
    }
    if (facts.has_paths) document.querySelectorAll("#ingresses tbody tr, #exits tr").forEach(linkPaths);
    document.title += ` \u00b7 ${facts.snapshot}`;
  }

  // Its text is in the style sheet, so that neither files nor filters take it for a part of the cell.
  function linkPaths(row) {
    const cell = row.querySelector("td"), addr = /^[0-9a-f.:]+/i.exec(cell?.textContent.trim() || "")?.[0];
    if (!addr || !/[.:]/.test(addr)) return;
    const by = row.closest("#exits") ? "address" : "ingress";
    cell.append(" ", element("a", { class: "paths", href: `../paths.html#${by}=${encodeURIComponent(addr)}`, "aria-label": `Paths of ${addr}`, title: "Kept traces" }));
  }

  // What a tile means goes away at will.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.activeElement.matches(".explained button")) document.activeElement.blur();
  });

  return { load, night, shards, csv, download, sortable, value, element, drawn, integer, numbers, amount, ofPanel, NONE };
})();
