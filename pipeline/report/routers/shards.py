"""What is known of routers as scripts that a page loads from disk one at a time.

A page opened from disk may fetch nothing but scripts, so each shard is a call with its columns:
``hopscope.routers(number, {...})``. All columns of a shard are 32-bit values (integers, floats and
AS numbers by their bits), end to end as four planes of bytes, the lowest first, which compress
well; compressed by zlib and in base 64. ``columns`` has their names and lengths, ``texts`` what
columns of places in it mean. A router's values of a list follow those of the router before, as many
as its column of numbers says. ``routers/index.js`` says where each shard begins, and what is the
same for all: texts of rules, names of nights. panel.js reads them.

Routers are numbered as in ``addresses/`` (``AddressList.router``). What is said of them is what
``hopscope why`` says.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kernels.host import n_cores
from pipeline.model.addresses import is_private, positions_of
from pipeline.model.columns.keys import distinct_keys, ordered_keys, split_key
from pipeline.model.columns.ragged import (
    offset_in_row,
    offsets,
    positions_of_rows,
    row_of_value,
    run_starts,
)
from pipeline.model.graphs import Exits
from pipeline.model.measured.origins import origins_of
from pipeline.model.measured.reasons import Joins, OwnerReasons
from pipeline.model.words import node_words, printable
from pipeline.report.addresses.table import AddressList
from pipeline.report.escaping import script_json
from pipeline.report.names import ROUTERS
from pipeline.report.routers.crossings import router_crossings
from pipeline.report.routers.links import FLAGS, RouterLinks, hundredths, links_of_rows
from pipeline.report.routers.nights import Nights
from pipeline.report.tables.node_names import addr_texts
from pipeline.report.tables.places import place_columns, placed_text
from pipeline.store import Ingresses

SHARD = 1 << 12  # routers
MAX_LINKS = 40  # of a router that are listed, the most traversed; all are counted
_ARCS = 1 << 21  # read at a time
_LEVEL = 6  # of zlib
_NONE = -1

Shard = dict[str, np.ndarray]
Lists = tuple[np.ndarray, np.ndarray]  # offsets, and values of each row


def write_routers(
    snapshot, addresses: AddressList, nights: Nights, out: Path, has_paths: bool = False
) -> int:
    """Write ``routers/*.js`` into a folder that exists.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    addresses : AddressList
        Of the ASes of the report.
    nights : Nights
        Which kept nights have the routers.
    out : Path
    has_paths : bool
        Whether the report draws kept traces.

    Returns
    -------
    int
        Number of shards.

    Raises
    ------
    StoreError
        If a file of the snapshot is missing, cut short or altered.
    """
    from pipeline.infer.owners.terms import host_names  # these import numba
    from pipeline.infer.routers.joins import GIVEN
    from pipeline.infer.rules import RULES

    folder = out / ROUTERS
    folder.mkdir()
    kind = origins_of(snapshot.manifest, snapshot.asn).kind_of(None)
    table = _Routers(snapshot, addresses, nights)
    firsts: list[int] = []

    def write(number: int, shard: Shard, texts: list[str], names: dict[int, str]) -> None:
        call = f"hopscope.routers({number},{script_json(_packed(shard, texts, names))});\n"
        (folder / f"{number}.js").write_text(call, encoding="ascii")

    with ThreadPoolExecutor(n_cores()) as pool:  # zlib lets other threads run
        tasks = []
        for number, (first, made) in enumerate(table.shards()):
            firsts.append(first)
            tasks.append(pool.submit(write, number, *made))
        for task in tasks:
            task.result()
    index = {
        "firsts": firsts,
        "rules": {rule.name: [rule.says, *rule.piece] for rule in RULES},
        "nights": nights.names,
        "unit": snapshot.weight_unit,
        "listed": MAX_LINKS,
        "given": GIVEN,
        "host_names": host_names.TERM.name,
        "noun": node_words(kind).noun,
        "snapshot": snapshot.name,
        "reasons": table.has_reasons,
        "paths": has_paths,
    }
    text = f'hopscope.routers("index",{script_json(index)});\n'
    (folder / "index.js").write_text(text, encoding="ascii")
    return len(firsts)


def _packed(shard: Shard, texts: list[str], names: dict[int, str]) -> dict[str, Any]:
    planes = []
    for column in shard.values():
        column = np.ascontiguousarray(column)
        if column.dtype.kind != "f":
            column = np.clip(column, -(2**31), 2**32 - 1).astype(np.int64) & 0xFFFF_FFFF
            column = column.astype("<u4")
        planes.append(column.astype(column.dtype.newbyteorder("<"), copy=False).view("<u4"))
    values = np.concatenate([np.empty(0, "<u4"), *planes])
    data = np.ascontiguousarray(values.view(np.uint8).reshape(-1, 4).T).tobytes()
    return {
        "columns": [[name, len(column)] for name, column in shard.items()],
        "texts": texts,
        "names": names,
        "data": base64.b64encode(zlib.compress(data, _LEVEL)).decode(),
    }


class _Texts:
    """Texts of one shard, each once, by their places."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def of(self, texts) -> np.ndarray:
        """(n,) int64: place of each text; -1 for None and for an empty one."""
        places = self.places
        return np.array(
            [places.setdefault(printable(t), len(places)) if t else _NONE for t in texts], np.int64
        )


def _words(name: str, addr: np.ndarray) -> Shard:
    """An address column as four columns of 32 bits, the highest first."""
    high, low = addr[:, 0], addr[:, 1]
    shift, mask = np.uint64(32), np.uint64(0xFFFF_FFFF)
    parts = (high >> shift, high & mask, low >> shift, low & mask)
    return {f"{name}{i}": part.astype(np.int64) for i, part in enumerate(parts)}


class _Routers:
    """All columns of the routers of a report, from which shards are cut."""

    def __init__(self, snapshot, addresses: AddressList, nights: Nights) -> None:
        self.snapshot, self.addresses, self.nights = snapshot, addresses, nights
        router = addresses.router
        n = int(router.max(initial=-1)) + 1
        self.by_router = np.argsort(router, kind="stable")  # addresses ascend within a router
        self.addr_ptr = offsets(np.bincount(router, minlength=n))
        first = self.by_router[self.addr_ptr[:-1]]
        self.asn, self.node = addresses.asn[first], addresses.node[first]
        self.row = np.searchsorted(np.asarray(snapshot.asn), self.asn)
        self.node_ptr = offsets(np.asarray(snapshot.n_nodes))
        self.borders = snapshot.borders()
        self.is_ms = snapshot.weight_unit == "ms"
        steps, found = snapshot.steps(), snapshot.vantages()
        self.crossings = None
        if steps is not None and found is not None:
            self.crossings = router_crossings(steps, int(self.node_ptr[-1]))
            self.vantages = addr_texts(np.stack([found.addr_high, found.addr_low], axis=1))
        reasons = snapshot.reasons()
        self.has_reasons = reasons is not None
        self.owners = reasons.owners if reasons is not None else OwnerReasons.none()
        self.joins = reasons.joins if reasons is not None else Joins.none()
        self.owner_of, self.join_of = self._reasons()
        self.hosts = self._hosts()
        rows = row_of_value(self.node_ptr)
        named = snapshot.lookup(rows, np.arange(len(rows)) - self.node_ptr[rows]).addr
        self.named = np.zeros((len(rows), 2), np.uint64) if named is None else named
        self.ingresses, self.exits = snapshot.ingresses(), snapshot.exits()
        self.places = None
        if snapshot.locations() is not None:
            self.places = pa.table(place_columns(snapshot, self.row, self.node))

    def shards(self) -> Iterator[tuple[int, tuple[Shard, list[str], dict[int, str]]]]:
        """Number of the first router of each shard, and its columns, texts and names of ASes."""
        rows = np.unique(self.row)
        batch = np.cumsum(np.asarray(self.snapshot.n_arcs)[rows]) // _ARCS
        for at in np.split(np.arange(len(rows)), run_starts(batch)[1:]):
            links = links_of_rows(self.snapshot, rows[at], self.borders)
            begin = offsets(np.asarray(self.snapshot.n_nodes)[rows[at]])
            first, last = np.searchsorted(self.row, [rows[at[0]], rows[at[-1]] + 1])
            for start in range(int(first), int(last), SHARD):
                own = slice(start, min(start + SHARD, int(last)))
                place = begin[np.searchsorted(rows[at], self.row[own])] + self.node[own]
                yield start, self._shard(own, links, place)

    def _shard(
        self, own: slice, links: RouterLinks, place: np.ndarray
    ) -> tuple[Shard, list[str], dict[int, str]]:
        texts = _Texts()
        node = self.node_ptr[self.row[own]] + self.node[own]  # of the snapshot
        entries = self.by_router[self.addr_ptr[own.start] : self.addr_ptr[own.stop]]
        shard = {
            "asn": self.asn[own],
            "node": self.node[own],
            "n_addrs": np.diff(self.addr_ptr[own.start : own.stop + 1]),
            **_words("addr", self.addresses.addr[entries]),
            "host": texts.of(self.hosts[entries]),
            "confidence": self.addresses.confidence[self.by_router[self.addr_ptr[:-1][own]]],
            **self._placed(own, texts),
            **self._crossed(node, texts),
            **self._links(links, place),
            **self._entered(node, texts),
            **self._left(node),
            **self._owned(own, texts),
            **self._joined(own, texts),
            **{name: getattr(self.nights, name)[own] for name in ("first", "last", "n_seen")},
        }
        rows = np.unique(self.row[own]).tolist()
        as_name, asn = self.snapshot.as_name, self.snapshot.asn
        names = {int(asn[row]): printable(as_name[row]) for row in rows if as_name[row]}
        return shard, list(texts.places), names

    def _placed(self, own: slice, texts: _Texts) -> Shard:
        if self.places is None:
            return {}
        places = self.places.slice(own.start, own.stop - own.start)
        known = np.flatnonzero(places["latitude"].is_valid().to_numpy())
        text = np.full(len(places), None, object)
        text[known] = [placed_text(one) for one in places.take(known).to_pylist()]
        return {"place": texts.of(text.tolist())}

    def _crossed(self, node: np.ndarray, texts: _Texts) -> Shard:
        seen = self.crossings
        if seen is None:
            return {}
        nearest = seen.nearest[node]
        some = nearest >= 0  # of traces without a source there may be no vantage point at all
        named = np.full(len(nearest), None, object)
        named[some] = self.vantages.take(nearest[some]).to_pylist()
        return {
            "n_traces": seen.n_traces[node],
            "n_vantages": seen.n_vantages[node],
            "rtt": hundredths(seen.rtt_ms[node]),
            "nearest": texts.of(named.tolist()),
        }

    def _links(self, links: RouterLinks, place: np.ndarray) -> Shard:
        ptr, at = positions_of_rows(links.ptr, place)
        listed = at[offset_in_row(ptr) < MAX_LINKS]
        row, node = links.row[listed], links.node[listed]
        flags = np.zeros(len(listed), np.int64)
        for bit, name in enumerate(FLAGS):
            if name in links.flags:
                flags |= links.flags[name][listed].astype(np.int64) << bit
        addr, weight = self.named[self.node_ptr[row] + node], links.weight[listed]
        return {
            "n_links": np.diff(ptr),
            **_words("link_addr", addr),
            "link_asn": np.asarray(self.snapshot.asn)[row],
            "link_node": np.where(addr.any(axis=1), _NONE, node),  # of silent ones
            "link_traces": links.n_traces[listed],
            **({"link_delay": hundredths(weight)} if self.is_ms else {"link_weight": weight}),
            "link_flags": flags,
        }

    def _entered(self, node: np.ndarray, texts: _Texts) -> Shard:
        table = self.ingresses
        at, place = self._places(table, node)
        ptr, of = positions_of_rows(np.asarray(table.neighbor_ptr), at)
        return {
            "entry_at": place,
            "entry_direct": table.n_direct[at],
            "entry_gap": table.n_after_gap[at],
            "entry_candidate": table.candidate[at],
            "entry_confidence": table.confidence[at],
            "entry_n": np.diff(ptr),
            "entry_asn": table.neighbor_asn[of],
            "entry_traces": table.neighbor_n_direct[of],
            "entry_ixp": texts.of(table.neighbor_ixp[of]),
        }

    def _left(self, node: np.ndarray) -> Shard:
        table = self.exits
        at, place = self._places(table, node)
        return {
            "exit_at": place,
            "exit_asn": table.neighbor_asn[at],
            "exit_traces": table.n_traces[at],
        }

    def _owned(self, own: slice, texts: _Texts) -> Shard:
        owners, (ptr, rows) = self.owners, self.owner_of
        at = rows[ptr[own.start] : ptr[own.stop]]
        term_ptr, terms = positions_of_rows(owners.ptr, at)
        return {
            "n_owners": np.diff(ptr[own.start : own.stop + 1]),
            **_words("owner_addr", owners.addr[at]),
            "owner_asn": owners.asn[at],
            "owner_second": owners.second[at],
            "owner_rule": texts.of(owners.decided_by[at]),
            "owner_terms": np.diff(term_ptr),
            "term": texts.of(owners.term[terms]),
            **{
                f"term_{name}": getattr(owners, name)[terms]
                for name in ("here", "there", "n_here", "n_there")
            },
        }

    def _joined(self, own: slice, texts: _Texts) -> Shard:
        joins, (ptr, rows) = self.joins, self.join_of
        at = rows[ptr[own.start] : ptr[own.stop]]
        return {
            "n_joins": np.diff(ptr[own.start : own.stop + 1]),
            **_words("join_addr", joins.addr[at]),
            **_words("join_to", joins.to[at]),
            "join_rule": texts.of(joins.rule[at]),
            "join_common": joins.n_common[at],
        }

    def _places(self, table: Ingresses | Exits, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of a table about some nodes of the snapshot (ascending), and places of the nodes."""
        keys = self.node_ptr[np.asarray(table.row)] + table.node
        first, last = np.searchsorted(keys, [node[0], node[-1] + 1])
        place = np.searchsorted(node, keys[first:last])
        own = np.flatnonzero(node[place] == keys[first:last])
        return first + own, place[own]

    def _hosts(self) -> np.ndarray:
        known = self.snapshot.host_names()
        if known is None:
            return np.full(len(self.addresses), None, object)
        return known.of(self.addresses.addr)

    def _reasons(self) -> tuple[Lists, Lists]:
        """Rows of ``owners`` and of ``joins`` that are about each router, as ``why`` finds them."""
        addr = self.addresses.addr[self.by_router]
        router = self.addresses.router[self.by_router]
        asn = self.addresses.asn[self.by_router]
        entry, owner = _same_address(self.owners.addr, addr)
        private = is_private(self.owners.addr[owner])
        kept = ~private | (self.owners.asn[owner] == asn[entry])
        owners = _lists(router[entry[kept]], owner[kept], len(self.asn))
        entry, join = _same_address(self.joins.addr, addr)
        kept = ~is_private(self.joins.addr[join])
        at = np.flatnonzero(~kept)
        # A private address may be on several routers: it was joined to an address of this one.
        to, there = _same_address(addr, self.joins.to[join[at]])
        found = at[to]
        on_router = router[entry[found]] == router[there]
        kept[found[on_router]] = True
        return owners, _lists(router[entry[kept]], join[kept], len(self.asn))


def _same_address(table: np.ndarray, addrs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of rows of ``addrs`` and of ``table`` with one address, by the first, then the second.

    Parameters
    ----------
    table, addrs : (n, 2) uint64
        In any order, repeated ones too.
    """
    order = np.lexsort((table[:, 1], table[:, 0]))
    starts = run_starts(table[order, 0], table[order, 1])
    at = positions_of(table[order[starts]], addrs)
    known = np.flatnonzero(at >= 0)
    ptr, places = positions_of_rows(np.append(starts, len(table)), at[known])
    return known[row_of_value(ptr)], order[places]


def _lists(row: np.ndarray, values: np.ndarray, n: int) -> Lists:
    """Values of each row, ascending and each once: offsets and values."""
    keys = distinct_keys(ordered_keys(row, values))
    row, values = split_key(keys)
    return offsets(np.bincount(row, minlength=n)), values
