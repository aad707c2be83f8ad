"""Figures of all ASes over the nights, as scripts that pages of ASes load from disk.

Pages of ASes are links to those of the night before as long as they show the same, so what changes
every night is not in them: ``history/index.js`` has the nights, ``history/<number>.js`` the figures
of some ASes, ``hopscope.history(number, {...})``. The columns of each night are read once.

Figures of a shard are one text of numbers (``shards.numbers_text``): for each AS and figure how
many times it changes, then of each change the nights since the last one, less one, and the
difference with its sign in the lowest bit. A figure is a whole number of steps of its decimals,
plus one unless it is below zero; 0 where it is unknown.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.files import replaced_whole
from pipeline.model.words import nouns_of, printable
from pipeline.report.addresses.shards import numbers_text
from pipeline.report.compared import compared_of
from pipeline.report.escaping import script_json
from pipeline.report.names import ASES, HISTORY
from pipeline.report.nights.series import SeriesNight, breaks, series_up_to

SHARD = 256  # ASes
_MOST = 2**30  # steps of a figure


@dataclass(frozen=True)
class Figure:
    """A figure of ASes; {nouns} stands for what nodes are called."""

    key: str
    label: str
    unit: str = ""
    decimals: int = 0


RTT = "delay_ms"  # of ingresses

FIGURES = (
    Figure("n_nodes", "{nouns}"),
    Figure("n_edges", "links"),
    Figure("n_ingresses", "ingresses"),
    Figure("mean_hops", "mean hops", "", 2),
    Figure("diameter", "diameter", "hops"),
    Figure(RTT, "RTT added inside", "ms", 1),
    Figure("n_unmapped", "unmapped {nouns} next to it"),
)


def write_histories(out: Path, night: str, folder: Path) -> int:
    """Write ``history/`` of the report of a night, over what was there.

    Parameters
    ----------
    out : Path
        Folder of reports.
    night : str
    folder : Path
        The report, ``out/night`` or one that is about to take its place.

    Returns
    -------
    int
        Nights that are compared; fewer than two are shown as none.
    """
    (folder / HISTORY).mkdir(exist_ok=True)
    series = series_up_to(out, night, folder)
    nights = series.nights
    own = _columns(folder, ("asn",)).get("asn", np.empty(0, np.int64))
    index: dict[str, Any] = {"nights": []}
    if len(nights) > 1:
        nouns = nouns_of(one.node_kind for one in nights)
        folders = [folder if one.name == night else out / one.name for one in nights]
        events, kinds, compared = _events(folders, nights)
        index = {
            "nights": [one.name for one in nights],
            "days": [round(one.day, 4) for one in nights],
            "apart": [int(apart) for apart in breaks(series.days)],
            "other": [printable(one.made_otherwise) for one in nights],
            "compared": compared,
            "mapped": [None if one.mapped is None else round(one.mapped, 1) for one in nights],
            "left": [[name, printable(why)] for name, why in series.left_out],
            "kinds": kinds,
            "figures": [
                [figure.key, figure.label.format(nouns=nouns), figure.unit, figure.decimals]
                for figure in FIGURES
            ],
            "firsts": own[::SHARD].tolist(),
        }
        steps = _steps(folders, own)
        for number, begin in enumerate(range(0, len(own), SHARD)):
            some = slice(begin, begin + SHARD)
            asns = own[some].tolist()
            ends = np.searchsorted(events[:, 0], [asns[0], asns[-1] + 1])
            marked: dict[int, list[list[int]]] = {}
            for asn, *what in events[slice(*ends)].tolist():
                marked.setdefault(asn, []).append(what)
            shard = {"asns": asns, "text": changes_text(steps[some]), "events": marked}
            _write(folder / HISTORY / f"{number}.js", number, shard)
    _write(folder / HISTORY / "index.js", "index", index)
    return len(nights)


def changes_text(steps: np.ndarray) -> str:
    """Steps of ASes, (n_ases, n_figures, n_nights) int32, 0 for unknown, as text."""
    n_ases, n_figures, n_nights = steps.shape
    rows = steps.reshape(-1, n_nights).astype(np.int64)
    difference = np.diff(rows, axis=1, prepend=0)
    row, at = np.nonzero(difference)
    is_first = np.diff(row, prepend=-1) != 0
    gap = np.where(is_first, at, np.diff(at, prepend=0) - 1)
    by = difference[row, at]
    signed = (np.abs(by) << 1) | (by < 0)
    count = np.bincount(row, minlength=n_ases * n_figures)
    begin = np.append(0, np.cumsum(1 + 2 * count))
    numbers = np.zeros(begin[-1], np.uint64)
    numbers[begin[:-1]] = count
    place = begin[row] + 1 + 2 * (np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count))
    numbers[place], numbers[place + 1] = gap, signed
    return numbers_text(numbers)


def _steps(folders: list[Path], asn: np.ndarray) -> np.ndarray:
    """(n_ases, n_figures, n_nights) int32: figures as whole steps; 0: unknown."""
    steps = np.zeros((len(asn), len(FIGURES), len(folders)), np.int32)
    for i, folder in enumerate(folders):
        columns = _columns(folder, tuple(figure.key for figure in FIGURES))
        if "asn" not in columns:
            continue
        _, here, there = np.intersect1d(asn, columns["asn"], return_indices=True)
        for k, figure in enumerate(FIGURES):
            values = columns.get(figure.key)
            if values is None:
                continue
            scaled = np.rint(values[there] * 10**figure.decimals)
            is_known = np.isfinite(scaled) & (np.abs(scaled) < _MOST)
            scaled += scaled >= 0
            steps[here[is_known], k, i] = scaled[is_known]
    return steps


def _columns(folder: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Columns of ASes of a report and their numbers, NaN for null; empty if it cannot be read."""
    found: dict[str, np.ndarray] = {}
    with (
        contextlib.suppress(OSError, KeyError, ValueError, pa.ArrowException),
        pq.ParquetFile(folder / ASES) as file,
    ):
        known = [name for name in names if name in file.schema_arrow.names and name != "asn"]
        table = file.read(["asn", *known])
        for name in known:
            found[name] = table[name].cast(pa.float64()).to_numpy(zero_copy_only=False)
        asn = table["asn"].cast(pa.int64()).to_numpy(zero_copy_only=False)
        if len(np.unique(asn)) == len(asn):
            found["asn"] = asn
    if "asn" in found and RTT in names:
        found |= _added_rtt(folder, found["asn"])
    return found


def _added_rtt(folder: Path, asn: np.ndarray) -> dict[str, np.ndarray]:
    """RTT that ASes add, ms: the median of their ingresses, each as often as its traces.

    NaN where it is unknown; nothing where the night has none.
    """
    path, n_traces = folder / "ingresses.parquet", "delay_n_traces"
    values = np.full(len(asn), np.nan)
    with contextlib.suppress(OSError, KeyError, ValueError, IndexError, pa.ArrowException):
        if not {RTT, n_traces} <= set(pq.read_schema(path).names):
            return {}
        table = pq.read_table(path, columns=["asn", RTT, n_traces])
        known = pc.and_(pc.is_finite(table[RTT]), pc.greater(table[n_traces], 0))
        table = table.filter(known).sort_by([("asn", "ascending"), (RTT, "ascending")])
        of, n, ms = (table[name].to_numpy() for name in ("asn", n_traces, RTT))
        own, first, row = np.unique(of, return_index=True, return_inverse=True)
        sofar = np.cumsum(n)
        before, total = sofar[first] - n[first], np.add.reduceat(n, first)
        half = np.flatnonzero(2 * (sofar - before[row]) >= total[row])
        middle = half[np.unique(of[half], return_index=True)[1]]
        at = np.searchsorted(asn, own)
        is_own = asn[np.minimum(at, len(asn) - 1)] == own
        values[at[is_own]] = ms[middle[is_own]]
    return {RTT: values}


def _events_of(folder: Path, night: SeriesNight) -> tuple[list[str], np.ndarray] | None:
    """Kinds of the events of a night, and (n, 2) int64: each AS at an end of a change, and event.

    None where it was not compared, or another version of it was.
    """
    with contextlib.suppress(OSError, KeyError, ValueError, pa.ArrowException):
        listed = pq.read_table(folder / "events.parquet", columns=["kind"])
        if not compared_of(listed.schema).is_of(night.version):
            return None
        kinds = listed["kind"].to_pylist()
        parts = pq.read_table(folder / "changes.parquet", columns=["event", "asn", "other_asn"])
        pairs = []
        for name in ("asn", "other_asn"):
            both = parts.select([name, "event"]).drop_null()
            both = both.filter(pc.less(both["event"], len(kinds)))
            pairs.append(np.stack([column.to_numpy().astype(np.int64) for column in both], axis=1))
        return kinds, np.unique(np.concatenate(pairs), axis=0)
    return None


def _events(folders: list[Path], nights: list[SeriesNight]) -> tuple[np.ndarray, list[str], list]:
    """(n, 4) int64: AS, night, event, kind, sorted; the kinds; whether each night was compared."""
    found, names, compared = [np.empty((0, 4), np.int64)], [], []
    for i, (folder, night) in enumerate(zip(folders, nights, strict=True)):
        one = _events_of(folder, night)
        compared.append(int(one is not None))
        if one is None:
            continue
        kinds, pairs = one
        names += [kind for kind in dict.fromkeys(kinds) if kind not in names]
        number = np.array([names.index(kind) for kind in kinds], np.int64)
        event = pairs[:, 1]
        found.append(np.column_stack([pairs[:, 0], np.full(len(event), i), event, number[event]]))
    every = np.concatenate(found)
    return every[np.lexsort(every.T[2::-1])], names, compared


def _write(path: Path, key: object, value: object) -> None:
    text = f"hopscope.history({script_json(key)},{script_json(value)});\n"
    with replaced_whole(path, durable=False, alone=True) as file:
        file.write(text.encode("ascii"))
