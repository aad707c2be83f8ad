"""Snapshots as nights that can be compared."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kernels import Shard, components
from pipeline.compare import Night
from pipeline.compare.night import FORBIDDEN, NO_CITY
from pipeline.errors import StoreError, UsageError, first_line
from pipeline.ingest.tables.prefixes.forms import NAMES as PREFIX_FORMS
from pipeline.model.addresses import HIGH_OF_AS_0
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.measured.origins import held_by, origins_of
from pipeline.model.measured.reading import newest_record
from pipeline.model.topology import SILENT
from pipeline.model.words import number, printable
from pipeline.places.command_lines import command_line
from pipeline.report.names import ASES
from pipeline.report.nights.series import SETTINGS, VERSION
from pipeline.stages.contents.snapshots import report_folder
from pipeline.stages.nights.broken import check_report, is_reported, is_there
from pipeline.store import Snapshot, open_snapshot, snapshot_names
from pipeline.store.pointers.nights import age_of, is_night

# What decides what is inferred from the same traces, as users know it: tables by their formats,
# those of aliases left out, and options.
_OF_PLACES = ("itdk-geo", "places", "rules of places")
_ONLY_NAMES = ("as-names", "host-names", *_OF_PLACES)  # tables that decide nothing
_TABLES = {
    **dict.fromkeys(PREFIX_FORMS, "--ip2as"),
    "as-rel": "--as-rel",
    "as2org": "--as2org",
    "delegated": "--delegated",
    "exchange points": "--ixp",
}
_ALIASES = "--aliases"
_DECIDING = SETTINGS | VERSION  # a snapshot without the number of its rules is of older ones
_ALWAYS = {"asn": "--asn"}  # decides where nothing is inferred, too

_NIGHTS_OF_A_WEEK = 7

# Figures of reports that are compared.
_FIGURES = ("mean_hops", "p90_hops", "max_hops", "diameter", "radius")


@dataclass(frozen=True)
class Before:
    """What is before a night: one to compare it with, if any, and broken ones since that.

    ``broken``: why each cannot be compared with, and what to do, by name.
    """

    night: str | None
    broken: dict[str, str]


def open_night(snapshot: Snapshot, out: Path | None = None) -> Night:
    """Read what comparing needs; figures from the report in ``out``, if it is of this version.

    Silent routers are left out: whether one is the same on two nights is unknown.

    Raises
    ------
    StoreError
        If a file is missing, cut short or altered.
    """
    node_ptr = np.zeros(snapshot.n_ases + 1, np.int64)
    np.cumsum(snapshot.n_nodes, out=node_ptr[1:])
    whole = snapshot.shard(np.arange(snapshot.n_ases))
    component = np.asarray(components(whole).component, np.int64)
    low, high = _links(snapshot, whole, node_ptr)
    addr, addr_node, name_addr = _addresses(snapshot, node_ptr)
    ingresses = snapshot.ingresses()
    direct = np.flatnonzero(~ingresses.candidate)
    lengths = np.diff(ingresses.neighbor_ptr)
    neighbor_ptr = np.zeros(len(direct) + 1, np.int64)
    np.cumsum(lengths[direct], out=neighbor_ptr[1:])
    kept = np.repeat(~ingresses.candidate, lengths)
    city, city_names = _cities(snapshot, addr, addr_node, name_addr)
    night = Night(
        snapshot.name,
        snapshot.asn,
        node_ptr,
        addr,
        addr_node,
        low,
        high,
        node_ptr[ingresses.row[direct]] + ingresses.node[direct],
        neighbor_ptr,
        ingresses.neighbor_asn[kept],
        component,
        name_addr,
        snapshot.observations(),
        _inputs(snapshot.manifest),
        _figures(snapshot, out),
        names={a: n for a, n in zip(snapshot.asn.tolist(), snapshot.as_name, strict=True) if n},
        unmapped=snapshot.unmapped(),
        is_inferred=_is_inferred(snapshot.manifest),
        neighbor_ixp=ingresses.neighbor_ixp[kept],
        confidence=_confidence(snapshot, addr_node, night_nodes=int(node_ptr[-1])),
        city=city,
        city_names=city_names,
    )
    place = np.arange(night.n_nodes) - np.repeat(node_ptr[:-1], snapshot.n_nodes)
    return night.restrict(place < np.repeat(snapshot.n_nodes - snapshot.n_silent, snapshot.n_nodes))


def night_before(store: Path, out: Path, name: str) -> str | None:
    """The night to compare a snapshot with, as ``before`` finds it."""
    return before(store, out, name).night


def before(store: Path, out: Path, name: str) -> Before:
    """The newest night of traces before a snapshot that has a report in ``out``, if any has.

    Nights are in the order of their newest records, and where these are the same in that of their
    ingest. Only reports of the version that the store has count. Snapshots whose names are dates
    are a series: before one of them comes another one, if there is any; a run with a name of its
    own, between two nights, is the night before of none.

    When a broken night was measured is unknown: in the series its name says it, and elsewhere it is
    taken to be in the order of ingest.

    Raises
    ------
    StoreError
        If a pointer of the store is broken.
    """
    names = snapshot_names(store)
    newest_s, broken = _ordered(store, out, name, names)
    ordered = list(newest_s)
    older = ordered[: ordered.index(name)] if name in ordered else []
    series = [known for known in older if is_night(known)] if is_night(name) else []
    candidates = series or older
    night = candidates[-1] if candidates else None
    since = names
    if is_night(name):
        by_age = {known: age_of(known, newest_s.get(known, 0)) for known in filter(is_night, names)}
        since = sorted(by_age, key=by_age.__getitem__)
    since = since[: since.index(name)] if name in since else []
    since = since[since.index(night) + 1 :] if night in since else since
    return Before(night, {known: broken[known] for known in since if known in broken})


def night_after(store: Path, out: Path, name: str) -> str | None:
    """The night whose night before is this one; None: there is none, or it is in no series."""
    if not is_night(name):
        return None
    series = [*filter(is_night, _ordered(store, out, name, snapshot_names(store))[0])]
    later = series[series.index(name) + 1 :] if name in series else []
    return later[0] if later else None


def gap_warning(store: Path, out: Path, old: str, new: str) -> str:
    """What to say if nights are missing between two of a series; empty: none are.

    A gap is more than twice as long as usual between the last nights up to the older one.
    """
    if not (is_night(old) and is_night(new)):
        return ""
    ordered = filter(is_night, _ordered(store, out, new, snapshot_names(store))[0])
    gap = _day(new) - _day(old)
    days = sorted({day for day in map(_day, ordered) if day <= _day(old)})
    steps = np.diff(days)[-_NIGHTS_OF_A_WEEK:]
    usual = float(np.median(steps)) if len(steps) else 1.0
    if gap <= 2 * usual:
        return ""
    return (
        f"{old} is the last night before {new}: what is reported as changed has changed within "
        f"{number(gap, 'day')}"
    )


def rules_warning(old: Night, new: Night) -> str:
    """What to say of inferred nights whose difference is not of the network alone; empty: nothing.

    Other rules made one of them, or it is from before what traces show was kept.
    """
    if not (old.is_inferred and new.is_inferred):
        return ""
    said = []
    rules = VERSION["inference_rules"]
    if rules in old.other_inputs(new):
        by = (night.inputs.get(rules, "none") for night in (old, new))
        said.append(f"{rules} differ ({' and '.join(by)}), and with them what is inferred")
    lacking = [night.name for night in (old, new) if night.observations is None]
    if lacking:
        keep = "keeps" if len(lacking) == 1 else "keep"
        said.append(
            f"{' and '.join(lacking)} {keep} no traces as compared today, so links and routers "
            "are compared by plain difference"
        )
    if not said:
        return ""
    return f"{old.name} and {new.name}: {'; '.join(said)}; ingest what was measured again"


def _day(night: str) -> int:
    return datetime.date.fromisoformat(age_of(night)[0]).toordinal()


def _ordered(
    store: Path, out: Path, name: str, names: list[str]
) -> tuple[dict[str, float], dict[str, str]]:
    """A snapshot and the nights that can be before one, in their order; and broken ones.

    With the times of their newest records, and why each broken one cannot be compared with.
    """
    nights = []
    broken: dict[str, str] = {}
    for place, known in enumerate(names):
        try:
            if known != name and not is_reported(out / known):
                continue
            with open_snapshot(store, known) as snapshot:
                if known == name or _can_be_old(snapshot, store, out):
                    nights.append((newest_record(snapshot.manifest["inputs"]), place, known))
        except StoreError as error:
            if is_there(store, known):
                broken[known] = str(error)
    return {known: newest_s for newest_s, _, known in sorted(nights)}, broken


def synthetic_warning(night: Snapshot) -> str:
    """What to say if a night, or a part of it, was not measured; empty: all of it was."""
    origins = origins_of(night.manifest, night.asn)
    if not origins.synthetic:
        return ""
    share = "" if origins.all_synthetic else "partly "
    return f"{night.name} is {share}synthetic, not measured: {'; '.join(origins.made())}"


def order_warning(old: Snapshot, new: Snapshot, out: Path) -> str:
    """What to say if the night given as the older one is the newer one; empty: it is not.

    Their newest records decide; if these are equal or unknown, names that are dates do.
    """
    times = [newest_record(night.manifest["inputs"]) for night in (old, new)]
    if all(times) and times[0] != times[1]:
        is_reversed = times[0] > times[1]
    else:
        dated = [night.name for night in (old, new) if is_night(night.name)]
        is_reversed = len(dated) == 2 and age_of(dated[0]) > age_of(dated[1])
    if not is_reversed:
        return ""
    command = command_line("compare", new.name, old.name, store=new.path.parents[1], out=out)
    return (
        f"{old.name} is newer than {new.name}, so this comparison goes back in time: what it calls "
        f"removed is new in {old.name}, what it calls added is gone there; the other way round: "
        f"{command}"
    )


def _can_be_old(snapshot: Snapshot, store: Path, out: Path) -> bool:
    if not snapshot.has_observations:
        return False
    check_report(store, out, snapshot.name)
    return report_folder(snapshot, out) is not None


def figures_warning(night: Snapshot, out: Path) -> str:
    """What to say if a night has a report whose figures cannot be read; empty otherwise."""
    try:
        _table_of_figures(night, out)
    except UsageError:
        fault = f"{out / night.name}: is not a whole report of this snapshot"
    except (OSError, KeyError, pa.ArrowException) as error:
        fault = f"{out / night.name / ASES}: cannot be read ({first_line(error)})"
    else:
        return ""
    return f"{fault}, so hops, diameter and radius of {night.name} are not compared"


def _links(snapshot: Snapshot, whole: Shard, node_ptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of every link, within ASes and between them; low < high."""
    tail, head = row_of_value(whole.indptr), np.asarray(whole.indices, np.int64)
    once = tail < head
    borders = snapshot.borders()
    one, other = (
        node_ptr[np.searchsorted(snapshot.asn, borders.column(f"{end}_asn").to_numpy())]
        + borders.column(end).to_numpy()
        for end in ("near", "far")
    )
    low = np.concatenate([tail[once], np.minimum(one, other)])
    return low, np.concatenate([head[once], np.maximum(one, other)])


def _addresses(
    snapshot: Snapshot, node_ptr: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every address and its node, and the one that names each node.

    Where the input has no addresses, its ids, with the AS before them. AS 0 has a high word of its
    own, or its ids would look like addresses of ``::/64``.
    """
    table = snapshot.addresses()
    if table is not None:
        addr = np.stack([table.column(f"addr_{w}").to_numpy() for w in ("high", "low")], axis=1)
        row = np.searchsorted(snapshot.asn, table.column("asn").to_numpy())
        rows = row_of_value(node_ptr)
        named = snapshot.lookup(rows, np.arange(len(rows)) - node_ptr[rows]).addr
        assert named is not None
        return addr, node_ptr[row] + table.column("node").to_numpy(), named
    found = []
    for row in range(snapshot.n_ases):
        nodes = snapshot.nodes(row)
        if nodes.addr is not None:
            found.append(nodes.addr)
            continue
        number = np.arange(snapshot.n_nodes[row]) if nodes.id is None else nodes.id
        asn = np.full(len(number), snapshot.asn[row] or HIGH_OF_AS_0)
        found.append(np.stack([asn, number], axis=1).astype(np.uint64))
    every = np.concatenate([np.empty((0, 2), np.uint64), *found])
    return every, np.arange(len(every)), every


def _cities(
    snapshot: Snapshot, addr: np.ndarray, addr_node: np.ndarray, name_addr: np.ndarray
) -> tuple[np.ndarray | None, list[str]]:
    """City of each node as reports show it, by its name or else its smallest address; ``Night``."""
    known = snapshot.locations()
    if known is None:
        inputs = snapshot.manifest.get("inputs") or ()
        is_given = any(entry.get("format") in _OF_PLACES for entry in inputs)
        return (np.full(len(name_addr), NO_CITY) if is_given else None), []
    at = known.rows_of(name_addr)
    other = known.rows_of(addr)
    some = np.flatnonzero(other >= 0)
    some = some[np.argsort(other[some], kind="stable")]  # rows ascend by address
    nodes, first = np.unique(addr_node[some], return_index=True)
    at[nodes] = np.where(at[nodes] >= 0, at[nodes], other[some[first]])
    texts = pc.binary_join_element_wise(
        pa.array(known.city, pa.string()),
        pa.array(known.country, pa.string()),
        ", ",
        null_handling="skip",
    )
    named = np.array([bool(city) for city in known.city], bool)
    coded = texts.dictionary_encode()
    code = np.where(named, coded.indices.to_numpy(), NO_CITY).astype(np.int64)
    code[known.is_impossible] = FORBIDDEN
    code = np.append(code, NO_CITY)  # of nodes without a place
    return code[at], [printable(text) for text in coded.dictionary.to_pylist()]


def _confidence(snapshot: Snapshot, addr_node: np.ndarray, night_nodes: int) -> np.ndarray | None:
    """(n_nodes,) float64: that the AS of each node is right; None where nothing was elected."""
    table = snapshot.addresses()
    if table is None or "confidence" not in table.column_names:
        return None
    given = table.column("confidence").cast(pa.float64()).fill_null(1.0).to_numpy()
    sure = np.zeros(night_nodes)
    np.maximum.at(sure, addr_node, np.nan_to_num(given, nan=1.0))
    return sure


def _inputs(manifest: dict[str, Any]) -> dict[str, str]:
    """What inference was given besides measurements: digests of tables, and options."""
    tables: dict[str, list[str]] = {}
    inputs = manifest.get("inputs") or ()
    for entry in inputs:
        if held_by(entry) == "table" and entry.get("format") not in _ONLY_NAMES:
            name = _TABLES.get(str(entry.get("format")), _ALIASES)
            tables.setdefault(name, []).append(str(entry.get("sha256") or ""))
    options = manifest.get("options") or {}
    deciding = _ALWAYS | (_DECIDING if _is_inferred(manifest) else {})
    silent = {"silent routers": "inferred"} if SILENT in manifest["node_columns"] else {}
    return (
        silent
        | {name: ",".join(sorted(digests)) for name, digests in tables.items()}
        | {called: str(options[name]) for name, called in deciding.items() if name in options}
        | _left_out(options)
    )


def _left_out(options: dict[str, Any]) -> dict[str, str]:
    names = options.get("without_rule")
    return {"--without-rule": ", ".join(sorted(names))} if names else {}


def _is_inferred(manifest: dict[str, Any]) -> bool:
    """Whether traces decide what it holds; a topology is as its file or its generator says."""
    return "traces" in map(held_by, manifest.get("inputs") or ())


def _table_of_figures(snapshot: Snapshot, out: Path | None) -> pa.Table | None:
    """Numbers of ASes and their figures in the report of this version; None: there is none."""
    folder = report_folder(snapshot, out)
    if folder is None:
        return None
    with pq.ParquetFile(folder / ASES) as file:
        known = [name for name in _FIGURES if name in file.schema_arrow.names]
        return file.read(["asn", *known]).select(["asn", *known])


def _figures(snapshot: Snapshot, out: Path | None) -> dict[str, np.ndarray]:
    """Columns of the report, NaN for ASes that it has not."""
    try:
        table = _table_of_figures(snapshot, out)
    except (UsageError, OSError, KeyError, pa.ArrowException):  # see ``figures_warning``
        return {}
    if table is None:
        return {}
    row = np.searchsorted(snapshot.asn, table.column("asn").to_numpy())
    figures = {}
    for name in _FIGURES:
        if name in table.column_names:
            figures[name] = np.full(snapshot.n_ases, np.nan)
            figures[name][row] = table.column(name).cast(pa.float64()).to_numpy()
    return figures
