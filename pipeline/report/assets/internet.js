// The page of all ASes: tables that sort, and the map, drawn from the rows of its table.
"use strict";
(() => {
  for (const table of document.querySelectorAll("table.sorts")) {
    const body = table.tBodies[0];
    const labels = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
    for (const row of body.rows) labels.forEach((label, i) => { row.cells[i].dataset.label = label; });
    hopscope.sortable(table, () => body.rows, (rows) => body.append(...rows));
    table.classList.add("ready");
  }

  const TALL = 11; // a vantage point's triangle, and the line from it to its AS
  const NAMED = 40; // ASes whose numbers stand on the map, if there is room
  const canvas = document.getElementById("map");
  if (!canvas) return;
  const table = document.getElementById("busiest"), pointed = document.getElementById("pointed");
  const context = canvas.getContext("2d");
  const named = table.querySelector("td bdi") ? 1 : 0, said = pointed.dataset.said;
  pointed.textContent = said;
  const nodes = [...table.tBodies[0].rows].map((row) => {
    const cells = [...row.cells].map((cell) => cell.textContent.trim());
    return {
      row, asn: cells[0], name: named ? cells[1] : "", href: row.cells[0].firstElementChild.href,
      size: hopscope.value(row.cells[1 + named]), ingresses: cells[2 + named], linked: cells[3 + named],
      hollow: "hollow" in row.dataset, vantages: +(row.dataset.vantages || 0),
      at: [+row.dataset.x, +row.dataset.y], x: 0, y: 0, r: 0,
    };
  });
  const links = canvas.dataset.links.split(",").map((link) => link.split(" ").map(Number));
  const largest = Math.max(...nodes.map((node) => node.size));
  const heaviest = Math.max(...links.map((link) => link[2]));
  let chosen = null, width = 0, height = 0;

  function place() {
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    const scale = devicePixelRatio || 1, reach = Math.min(width, height) / 26;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    for (const node of nodes) {
      node.r = 2.5 + reach * Math.sqrt(node.size / largest);
      node.x = reach + 6 + node.at[0] * (width - 2 * reach - 12);
      node.y = reach + TALL + 6 + node.at[1] * (height - 2 * reach - TALL - 12);
    }
    draw();
  }

  // A triangle above an AS, and how many vantage points it stands for, if several.
  function vantages(node, colour) {
    const foot = node.y - node.r - 3;
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(node.x, node.y - node.r);
    context.lineTo(node.x, foot);
    context.stroke();
    context.beginPath();
    context.moveTo(node.x - 5, foot);
    context.lineTo(node.x + 5, foot);
    context.lineTo(node.x, foot - 8);
    context.fill();
    if (node.vantages < 2) return;
    context.font = `11.5px ${getComputedStyle(canvas).fontFamily}`;
    context.textAlign = "left";
    context.fillText(node.vantages.toLocaleString("en-US"), node.x + 7, foot);
  }

  function draw() {
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    const [ink, line, bar, mark, card] = ["--ink", "--quiet", "--bar", "--mark", "--card"].map(colour);
    context.clearRect(0, 0, width, height);
    const near = new Set([chosen]);
    const stroke = ([i, j, weight], on) => {
      context.globalAlpha = on ? 0.9 : 0.1 + 0.3 * Math.sqrt(weight / heaviest);
      context.lineWidth = 0.6 + 3 * Math.sqrt(weight / heaviest);
      context.strokeStyle = on ? mark : line;
      context.beginPath();
      context.moveTo(nodes[i].x, nodes[i].y);
      context.lineTo(nodes[j].x, nodes[j].y);
      context.stroke();
    };
    for (const link of links) stroke(link, false);
    for (const link of links) {
      const [a, b] = [nodes[link[0]], nodes[link[1]]];
      if (a !== chosen && b !== chosen) continue;
      near.add(a).add(b);
      stroke(link, true);
    }
    for (const node of nodes) {
      const colour = node === chosen ? mark : bar;
      context.globalAlpha = chosen && !near.has(node) ? 0.35 : 1;
      context.fillStyle = node.hollow ? card : colour;
      context.strokeStyle = node.hollow ? colour : card;
      context.lineWidth = node.hollow ? 2 : 1;
      context.beginPath();
      context.arc(node.x, node.y, node.r, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      if (node.vantages) vantages(node, node === chosen ? mark : ink);
    }
    // Numbers of the largest, as far as they have room.
    context.font = `11.5px ${style.fontFamily}`;
    context.textAlign = "center";
    context.lineWidth = 3;
    context.lineJoin = "round";
    const taken = [];
    const wanted = chosen ? [chosen, ...nodes.filter((node) => node !== chosen && near.has(node))] : nodes.slice(0, NAMED);
    for (const node of wanted) {
      const half = context.measureText(node.asn).width / 2 + 2;
      const x = Math.max(half, Math.min(width - half, node.x));
      const y = node.y + node.r + 12 < height ? node.y + node.r + 12 : node.y - node.r - 4;
      const box = [x - half, y - 11, x + half, y + 3];
      if (taken.some((one) => box[0] < one[2] && one[0] < box[2] && box[1] < one[3] && one[1] < box[3])) continue;
      taken.push(box);
      context.globalAlpha = 1;
      context.strokeStyle = card;
      context.strokeText(node.asn, x, y);
      context.fillStyle = ink;
      context.fillText(node.asn, x, y);
    }
    context.globalAlpha = 1;
  }

  function choose(node) {
    if (node === chosen) return;
    if (chosen) chosen.row.classList.remove("on");
    chosen = node;
    canvas.style.cursor = node ? "pointer" : "";
    if (node) node.row.classList.add("on");
    const count = node && node.size.toLocaleString("en-US");
    pointed.textContent = node
      ? `AS${node.asn}${node.name ? ` ${node.name}` : ""}: ${count} ${canvas.dataset.size}, ingresses: ${node.ingresses}, linked ASes: ${node.linked}${node.vantages ? `, vantage points: ${node.vantages}` : ""}`
      : said;
    draw();
  }
  function under(event) {
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.x, y = event.clientY - box.y;
    let found = null, least = Infinity;
    for (const node of nodes) {
      const away = Math.hypot(node.x - x, node.y - y) - node.r;
      if (away < Math.min(least, 6)) [found, least] = [node, away];
    }
    return found;
  }
  canvas.addEventListener("pointermove", (event) => choose(under(event)));
  canvas.addEventListener("pointerleave", () => choose(null));
  canvas.addEventListener("click", (event) => {
    const node = under(event);
    if (node) location.href = node.href;
  });
  for (const node of nodes) {
    node.row.addEventListener("pointerenter", () => choose(node));
    node.row.addEventListener("pointerleave", () => choose(null));
    node.row.addEventListener("focusin", () => choose(node));
  }
  new ResizeObserver(place).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  // On paper in the colours of paper, whatever those of the screen are.
  addEventListener("beforeprint", () => { canvas.classList.add("paper"); place(); });
  addEventListener("afterprint", () => { canvas.classList.remove("paper"); place(); });
  canvas.dataset.ready = "yes";
})();
