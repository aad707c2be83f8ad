// Addresses of a report: which AS has one, which ASes have some of a prefix. Read from scripts in
// addresses/, as they are needed; shards.py says how they are written.
"use strict";
(() => {
  const ROOT = document.currentScript.src.replace(/[^/]*$/, "");
  const SHARDS = 64; // that one prefix may take, over a million addresses
  const LISTED = 100; // addresses of a prefix that are listed
  const BITS = { v4: 32, v6: 128 };
  const load = hopscope.shards("addresses", `${ROOT}addresses/`, 2 * SHARDS);

  // ---- Texts and numbers ------------------------------------------------------------------
  function v4(text) {
    const parts = text.split(".");
    if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && +part < 256)) return null;
    return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  }
  function v6(text) {
    const tail = text.slice(text.lastIndexOf(":") + 1);
    if (tail.includes(".")) { // its last 32 bits as IPv4
      const low = v4(tail);
      if (low === null) return null;
      text = `${text.slice(0, -tail.length)}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
    }
    const sides = text.split("::");
    if (sides.length > 2) return null;
    const groups = sides.map((side) => (side ? side.split(":") : []));
    const n = groups.reduce((sum, side) => sum + side.length, 0);
    if (sides.length === 2 ? n > 7 : n !== 8) return null;
    const all = sides.length === 2 ? [...groups[0], ...Array(8 - n).fill("0"), ...groups[1]] : groups[0];
    if (!all.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
    return all.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
  }
  function number(text) {
    const short = v4(text);
    if (short !== null) return ["v4", short];
    const long = text.includes(":") ? v6(text) : null;
    if (long === null) return null;
    return long >> 32n === 0xffffn ? ["v4", long & 0xffffffffn] : ["v6", long];
  }
  function addr(family, value) {
    if (family === "v4") return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
    const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
    // The first of the longest runs of zeros is left out, as RFC 5952 wants it.
    let best = [0, 0];
    for (let i = 0, run = 0; i < 8; i++) {
      run = groups[i] === "0" ? run + 1 : 0;
      if (run > Math.max(1, best[1])) best = [i - run + 1, run];
    }
    if (!best[1]) return groups.join(":");
    return `${groups.slice(0, best[0]).join(":")}::${groups.slice(best[0] + best[1]).join(":")}`;
  }

  // An address or a prefix as a range; null: it is none.
  function parse(text) {
    const [, base, length] = /^\s*([0-9a-f.:]+)(?:\/(\d{1,3}))?\s*$/i.exec(text) || [];
    const found = base ? number(base) : null;
    if (!found) return null;
    const [family, value] = found;
    const bits = BITS[family];
    const mapped = family === "v4" && base.includes(":") ? 96 : 0;
    const kept = length === undefined ? bits : +length - mapped;
    if (kept < 0 || kept > bits) return null;
    const rest = BigInt(bits - kept);
    const first = (value >> rest) << rest;
    return { family, first, last: first + (1n << rest) - 1n, text: kept === bits ? addr(family, value) : `${addr(family, first)}/${kept}`, single: kept === bits };
  }

  // ---- Shards -----------------------------------------------------------------------------
  const { numbers } = hopscope;
  // Calls back with each address of a shard in a range, its AS, whether it is an ingress, its router.
  function scan(family, shard, asked, take) {
    const runs = numbers(shard.owners), gaps = numbers(shard.gaps), entries = numbers(shard.ingresses), routers = numbers(shard.routers);
    const next = (from) => { const one = from.next(); return one.done ? null : one.value; };
    const mask = (1n << 64n) - 1n;
    let left = 0, asn = 0, value = 0n, router = 0;
    let entry = next(entries);
    for (let i = 0; ; i++) {
      const gap = next(gaps);
      if (gap === null) return;
      if (family === "v4") {
        value += gap;
      } else {
        const low = next(gaps);
        value = gap ? (((value >> 64n) + gap) << 64n) | low : value + low;
        value &= (mask << 64n) | mask;
      }
      const step = Number(next(routers));
      router += step % 2 ? -(step + 1) / 2 : step / 2;
      if (!left) { left = Number(next(runs)); asn = shard.asns[Number(next(runs))]; }
      left -= 1;
      const ingress = entry !== null && Number(entry) === i;
      if (ingress) { const further = next(entries); entry = further === null ? null : entry + further; }
      if (value > asked.last) return;
      if (value >= asked.first) take(value, asn, ingress, router);
    }
  }

  // What a report knows of an address or a prefix: addresses, the first ones as texts, and ASes.
  async function lookup(asked) {
    const index = await load("index");
    const firsts = index[asked.family].map((text) => number(text)[1]);
    const offset = asked.family === "v4" ? 0 : index.v4.length;
    const shards = [];
    for (let i = 0; i < firsts.length; i++) {
      const end = i + 1 < firsts.length ? firsts[i + 1] : null;
      if (firsts[i] <= asked.last && (end === null || end >= asked.first)) shards.push(i + offset);
    }
    const found = { n: 0, ingresses: 0, listed: [], ases: new Map(), whole: shards.length <= SHARDS };
    for (const key of shards.slice(0, SHARDS)) {
      scan(asked.family, await load(key), asked, (value, asn, ingress, router) => {
        found.n += 1;
        found.ingresses += ingress;
        found.ases.set(asn, (found.ases.get(asn) || 0) + 1);
        if (found.listed.length < LISTED) found.listed.push({ addr: addr(asked.family, value), asn, ingress, router });
      });
    }
    return found;
  }
  hopscope.lookup = { parse, lookup, addr, n: () => load("index").then((index) => index.n) };
})();
