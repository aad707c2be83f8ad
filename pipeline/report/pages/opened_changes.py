"""Changes of a comparison as scripts that its page opens: those of one sort, or of one event.

A page opened from disk may fetch nothing but scripts. ``changes/<number>.js`` has ``SHARD`` rows,
``hopscope.changes(number, {column: [...]})``, in an order in which the rows of one sort follow each
other, and within these those of one event; ``changes/index.js`` says where each begins.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.files import replaced_whole
from pipeline.model.words import NodeWords
from pipeline.report.escaping import printables, script_json
from pipeline.report.names import CHANGES
from pipeline.report.tables.changes import what_in_words

SHARD = 2000  # changes; some 200 kB
_COLUMNS = ("event", "asn", "addr", "other_asn", "other_addr", "old", "new")
_COUNTS = ("n_traces", "n_pairs", "n_vantages")
_NAME = re.compile(r"(index|\d+)\.js")


def write_changes(
    folder: Path, changes: pa.Table, events: pa.Table, words: NodeWords, paged: Collection[int]
) -> None:
    """Write ``changes/`` of a comparison, over what was there.

    Parameters
    ----------
    folder : Path
        Of the comparison; must exist.
    changes, events : pa.Table
        As in their files.
    words : NodeWords
        What a node is called.
    paged : collection of int
        ASes with a page beside it.
    """
    out = folder / CHANGES
    out.mkdir(exist_ok=True)
    ordered = changes.take(_order(changes))
    what, kind, event = (ordered[name].to_pylist() for name in ("what", "kind", "event"))
    sorts = [
        [what_in_words(what[begin], words), kind[begin], begin, end - begin]
        for begin, end in _runs(list(zip(what, kind, strict=True)))
    ]
    of_events: dict[int, list[list[int]]] = {}
    for begin, end in _runs(list(zip(what, kind, event, strict=True))):
        if event[begin] is not None:
            of_events.setdefault(event[begin], []).append([begin, end - begin])
    n_shards = 0
    for n_shards, begin in enumerate(range(0, ordered.num_rows, SHARD), 1):
        _write(out / f"{n_shards - 1}.js", n_shards - 1, _shard(ordered.slice(begin, SHARD), paged))
    index = {
        "shard": SHARD,
        "n": ordered.num_rows,
        "sorts": sorts,
        "events": of_events,
        "kinds": events["kind"].to_pylist(),
    }
    _write(out / "index.js", "index", index)
    for path in out.iterdir():  # of an earlier comparison with more changes
        number = path.stem
        if _NAME.fullmatch(path.name) and number != "index" and int(number) >= n_shards:
            path.unlink(missing_ok=True)


def _order(changes: pa.Table) -> pa.Array:
    """Rows by sort, and within each by event, those of none last; most traces first."""
    keyed = changes.select(["what", "kind", "n_traces", "asn"]).append_column(
        "rank", pc.fill_null(changes["event"], np.iinfo(np.int64).max)
    )
    order = [("what", "ascending"), ("kind", "ascending"), ("rank", "ascending")]
    return pc.sort_indices(keyed, [*order, ("n_traces", "descending"), ("asn", "ascending")])


def _runs(keys: list) -> list[tuple[int, int]]:
    """Begin and end of each run of equal keys."""
    begins = [i for i, key in enumerate(keys) if not i or key != keys[i - 1]]
    return list(pairwise([*begins, len(keys)]))


def _shard(rows: pa.Table, paged: Collection[int]) -> dict:
    columns: dict = {name: rows[name].to_pylist() for name in (*_COLUMNS, *_COUNTS)}
    for name in ("old", "new"):
        columns[name] = [None if v is None else round(v, 4) for v in columns[name]]
    for name in ("addr", "other_addr"):
        columns[name] = printables(columns[name])
    reasons = printables(rows["reason"].to_pylist())
    known = {reason: i for i, reason in enumerate(dict.fromkeys(reasons))}
    ases = {asn for name in ("asn", "other_asn") for asn in columns[name] if asn in paged}
    return columns | {
        "reason": [known[reason] for reason in reasons],
        "reasons": list(known),
        "paged": sorted(ases),
    }


def _write(path: Path, key: object, value: object) -> None:
    text = f"hopscope.changes({script_json(key)},{script_json(value)});\n"
    with replaced_whole(path, durable=False, alone=True) as file:
        file.write(text.encode("ascii"))
