// Figures of an AS over the nights, on its page: small drawings, and the same as a table. Read from
// scripts in history/; as_histories.py says how they are written, history.py has the same rules.
"use strict";
(() => {
  const { element, drawn, download, numbers, NONE } = hopscope;
  const TOP = 6, FLOOR = 54, HEIGHT = 72, EDGE = 1, MIN_SPAN = 0.25, NEAR_ZERO = 10;
  const place = document.getElementById("history");
  const asn = +/(\d+)\.html$/.exec(location.pathname)?.[1];
  if (!place || !asn) return;

  const load = hopscope.shards("history", "../history/", 2);

  // Values of each figure of this AS, null where it is unknown.
  function figuresOf(shard, figures, n) {
    const read = numbers(shard.text), next = () => Number(read.next().value);
    const row = shard.asns.indexOf(asn);
    for (let i = 0; i <= row; i++) {
      const found = figures.map(([, , , decimals]) => {
        const values = new Array(n).fill(null);
        let step = 0, at = 0;
        for (let left = next(); left > 0; left--) {
          const end = at + next();
          for (; at < end; at++) values[at] = step;
          const change = next();
          step += change & 1 ? -(change >> 1) : change >> 1;
          values[at++] = step;
        }
        for (; at < n; at++) values[at] = step;
        return values.map((value) => (value ? (value - (value > 0)) / 10 ** decimals : null));
      });
      if (i === row) return found;
    }
    return null;
  }

  function axisOf(values) {
    const low = Math.min(...values), high = Math.max(...values);
    if (high <= 0) return low < 0 ? [low, 0] : [0, 1];
    return [low <= high / 2 || high <= NEAR_ZERO ? Math.min(low, 0) : Math.min(low, (1 - MIN_SPAN) * high), high];
  }
  const figure = (value, decimals) => (value === null ? NONE
    : value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }));

  function drawing(index, values, decimals, said, marked) {
    const { nights, days, apart, other } = index;
    const [low, high] = axisOf(values.filter((value) => value !== null));
    const whole = days[days.length - 1] - days[0] || 1;
    const x = (i) => EDGE + ((days[i] - days[0]) / whole) * (100 - 2 * EDGE);
    const y = (value) => FLOOR - ((FLOOR - TOP) * (value - low)) / (high - low);
    const svg = drawn("svg", { class: "history", role: "img", "aria-label": said, width: "100%", height: HEIGHT });
    svg.append(drawn("line", { x1: 0, x2: "100%", y1: FLOOR + 3, y2: FLOOR + 3 }));
    for (const i of marked) svg.append(drawn("line", { class: "event", x1: `${x(i)}%`, x2: `${x(i)}%`, y1: 0, y2: FLOOR + 3 }));
    const inner = drawn("svg", { viewBox: `0 0 100 ${HEIGHT}`, preserveAspectRatio: "none", width: "100%", height: HEIGHT });
    let line = "", drawing = false;
    const dots = [];
    values.forEach((value, i) => {
      if (value === null) { drawing = false; return; }
      line += `${drawing && !apart[i] ? "L" : "M"}${x(i).toFixed(3)} ${y(value).toFixed(2)}`;
      drawing = true;
      const dot = drawn("circle", { cx: `${x(i)}%`, cy: y(value), r: 2.5, class: other[i] ? "other" : "" });
      const title = drawn("title", {});
      title.textContent = `${nights[i]}: ${figure(value, decimals)}`;
      dot.append(title);
      dots.push(dot);
    });
    inner.append(drawn("path", { d: line }));
    svg.append(inner, ...dots);
    const text = (at, kind, words) => {
      const made = drawn("text", { x: `${at}%`, y: HEIGHT - 2, class: kind });
      made.textContent = words;
      svg.append(made);
    };
    text(EDGE, "", nights[0].slice(0, 10));
    text(50, "mid", `axis from ${(+low.toPrecision(3)).toLocaleString("en-US")}`);
    text(100 - EDGE, "end", nights[nights.length - 1].slice(0, 10));
    return svg;
  }

  function show(index, shard) {
    const { nights, figures, other, left, kinds, apart, compared } = index;
    const events = shard.events[asn] || [];
    const drawnFigures = figuresOf(shard, figures, nights.length).map((values, k) => ({ values, label: figures[k][1], unit: figures[k][2], decimals: figures[k][3] }));
    // Of the whole night: how much of the addresses has an AS is not known of one.
    drawnFigures.push({ values: index.mapped, label: "mapped addresses, all ASes", unit: "%", decimals: 1 });
    const known = drawnFigures.filter(({ values }) => values.filter((value) => value !== null).length > 1);
    if (known.length < 2) return; // the AS is new
    const marked = [...new Set(events.map(([night]) => night))];
    place.append(element("h2", {}, "Over the nights "));
    const first = nights[0], last = nights[nights.length - 1];
    place.firstChild.append(element("small", {}, `${nights.length} nights, ${first} to ${last}`));
    const grid = element("div", { class: "multiples" });
    for (const { values, label, unit, decimals } of known) {
      const some = values.filter((value) => value !== null);
      const now = values[values.length - 1];
      const text = (value) => `${figure(value, decimals)}${unit && value !== null ? ` ${unit}` : ""}`;
      const said = `${label}, ${some.length} nights: from ${text(Math.min(...some))} to ${text(Math.max(...some))}, now ${text(now)}; the table below has them`;
      const made = element("figure");
      const caption = element("figcaption", {}, `${label} `);
      caption.append(element("b", {}, text(now)));
      made.append(caption, drawing(index, values, decimals, said, marked));
      grid.append(made);
    }
    place.append(grid);

    const notes = [];
    if (marked.length) notes.push("Dotted lines: nights with an event of this AS.");
    if (apart.some(Boolean)) notes.push("A line is broken where nights are missing.");
    const versions = other.filter(Boolean).length;
    if (versions) notes.push(`Hollow: ${versions === 1 ? "a night" : `${versions} nights`} inferred by another version, named in the table.`);
    notes.push("Only nights of the same formats and settings are compared.");
    if (left.length) notes.push(`Left out: ${left.slice(-5).map(([night, why]) => `${night} (${why})`).join("; ")}${left.length > 5 ? ` and ${left.length - 5} before` : ""}.`);
    place.append(element("p", { class: "quiet" }, notes.join(" ")));

    // The same as a table, the newest night first.
    const table = element("table", { class: "num wraps" });
    const head = element("tr");
    const labels = ["night", ...known.map(({ label, unit }) => (unit ? `${label}, ${unit}` : label)), "events"];
    labels.forEach((label, i) => head.append(element("th", { scope: "col", ...(i && i < labels.length - 1 ? {} : { class: "l" }) }, label)));
    table.append(element("thead"), element("tbody"));
    table.tHead.append(head);
    const lines = [labels];
    for (let i = nights.length - 1; i >= 0; i--) {
      const row = element("tr");
      const name = element("th", { scope: "row", class: "l" });
      name.append(element("a", { href: i === nights.length - 1 ? location.pathname.split("/").pop() : `../../${encodeURIComponent(nights[i])}/as/${asn}.html` }, nights[i]));
      if (other[i]) name.append(" ", element("small", {}, other[i]));
      row.append(name);
      const texts = known.map(({ values, decimals }) => figure(values[i], decimals));
      for (const text of texts) row.append(element("td", {}, text));
      const cell = element("td", { class: "l" });
      const own = events.filter(([night]) => night === i);
      own.forEach(([, event, kind], k) => {
        if (k) cell.append(", ");
        cell.append(element("a", { href: `../../${encodeURIComponent(nights[i])}/changes.html#event=${event}` }, kinds[kind]));
      });
      if (!own.length) cell.append(compared[i] ? "" : element("span", { class: "quiet" }, "not compared"));
      row.append(cell);
      table.tBodies[0].append(row);
      lines.push([nights[i], ...texts, own.map(([, , kind]) => kinds[kind]).join("; ")]);
    }
    const fold = element("details"), scroll = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Figures of each night" });
    scroll.append(table);
    const save = element("button", { type: "button", class: "get" }, "Download as CSV");
    save.addEventListener("click", () => download(`AS${asn}-nights.csv`, lines));
    fold.append(element("summary", {}, "As a table"), scroll, save);
    place.append(fold);
    place.dataset.ready = "yes";
  }

  load("index").then((index) => {
    if (index.nights.length < 2) return undefined;
    let number = index.firsts.length - 1;
    while (number > 0 && index.firsts[number] > asn) number -= 1;
    return load(number).then((shard) => { if (shard.asns.includes(asn)) show(index, shard); });
  }).catch(() => {}); // a page that was taken out of its report has no history
})();
