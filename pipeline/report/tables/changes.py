"""Changes and events of a comparison as tables; each event in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.compare.changes import GAINED, LOST, MOST_MOVED, WIDTHS
from pipeline.model.addresses import format_addr
from pipeline.model.words import NodeWords, node_words, number
from pipeline.report.texts import share, short

# Of events.parquet: names of the two nights, the nights that references cover, what a node is.
_OLD, _NEW, _N_USUAL = b"hopscope.old", b"hopscope.new", b"hopscope.n_reference_nights"
_KIND = b"hopscope.node_kind"
_COLUMNS = ("what", "kind", "event", "asn", "other_asn", "old", "new")  # that pages of ASes need
_COUNTS = (
    *("n_traces", "n_pairs", "n_vantages", "n_turned", "n_silent", "n_elsewhere"),
    *("n_no_target", "n_no_vantage"),
)


def changes_table(changes) -> pa.Table:
    """Columns of changes.parquet, of a ``pipeline.compare.Changes``."""
    return pa.table(
        {
            "what": pa.array(changes.what, pa.string()),
            "kind": pa.array(changes.kind, pa.string()),
            "event": pa.array(changes.event, mask=changes.event < 0),
            "asn": _asns(changes.asn),
            "addr": _addrs(changes.addr_high, changes.addr_low),
            "other_asn": _asns(changes.other_asn),
            "other_addr": _addrs(changes.other_high, changes.other_low),
            "old": _or_null(changes.old),
            "new": _or_null(changes.new),
            **{name: pa.array(getattr(changes, name)) for name in _COUNTS},
            "reason": pa.array(changes.reason, pa.string()),
        }
    )


def events_table(events, changes: pa.Table, names: Mapping[int, str], kind: str) -> pa.Table:
    """Columns of events.parquet, of a ``pipeline.compare.Events``.

    Parameters
    ----------
    events : pipeline.compare.Events
    changes : pa.Table
        As from ``changes_table``.
    names : mapping of int to str
        Names of ASes.
    kind : str
        What a node is on both nights, see ``node_words``.
    """
    table = pa.table(
        {
            "event": pa.array(np.arange(len(events))),
            "kind": pa.array(events.kind, pa.string()),
            "asn": _asns(events.asn),
            "other_asn": _asns(events.other_asn),
            **{
                name: pa.array(getattr(events, name))
                for name in ("n_changes", "n_links", "n_traces", "n_pairs", "n_vantages")
            },
            "longer_by": _or_null(events.longer_by),
            "lower": _or_null(events.lower),
            "upper": _or_null(events.upper),
        }
    )
    firsts = changes.take(pa.array(events.first)).to_pylist()
    widths, ases, words = _widths(changes), _ases_of_links(changes), node_words(kind)
    n_of, traffic = _counts(changes), _traffic(changes, names)
    texts = [
        _sentence(event, first, names, ases.get(event["event"], set()), n_of, words)
        + _traffic_text(event, traffic.get(event["event"], ""))
        + widths.get(event["event"], "")
        for event, first in zip(table.to_pylist(), firsts, strict=True)
    ]
    return table.append_column("text", pa.array(texts, pa.string()))


def naming_nights(events: pa.Table, old: str, new: str, n_usual: int, kind: str) -> pa.Table:
    """The table with what is true of both nights in its metadata.

    That is their names, the number of nights that references cover, and what a node is.
    """
    facts = {_OLD: old, _NEW: new, _N_USUAL: str(n_usual), _KIND: kind}
    return events.replace_schema_metadata({name: text.encode() for name, text in facts.items()})


def night_before_of(schema: pa.Schema) -> str:
    """The older night of a comparison, of the schema of its events; older tables do not say."""
    return (schema.metadata or {}).get(_OLD, b"an earlier night").decode("utf-8", "replace")


def words_of(schema: pa.Schema) -> NodeWords:
    """What a node is called in a comparison, of the schema of its events."""
    return node_words((schema.metadata or {}).get(_KIND, b"router").decode("utf-8", "replace"))


def what_in_words(what: str, words: NodeWords) -> str:
    """What changed, as pages call it: ``vantage point``, ``mean hops``, ``interface``."""
    return words.noun if what == "router" else what.replace("_", " ")


def night_compared_with(folder: Path) -> str:
    """The older night of the comparison in a folder of a report; empty: there is none."""
    try:
        metadata = pq.read_schema(folder / "events.parquet").metadata or {}
    except (OSError, pa.ArrowException):
        return ""
    return metadata.get(_OLD, b"").decode("utf-8", "replace")


def read_comparison(folder: Path) -> tuple[pa.Table, pa.Table] | None:
    """Changes and events beside a report; None where there are none that can be read."""
    try:
        changes = pq.read_table(folder / "changes.parquet")
        events = pq.read_table(folder / "events.parquet")
    except (OSError, pa.ArrowException):
        return None
    if not {*_COLUMNS} <= {*changes.column_names} or "text" not in events.column_names:
        return None
    last = pc.max(changes["event"]).as_py()  # of another comparison, if one was cut short
    return (changes, events) if last is None or last < events.num_rows else None


def _sentence(
    event: dict,
    first: dict,
    names: Mapping[int, str],
    ases: set[int],
    n_of: Mapping[tuple[int, str, str], int],
    words: NodeWords,
) -> str:
    """What happened, and what it touches; ``ases``: those of its links, ``n_of``: ``_counts``."""
    n = n_of[event["event"], first["what"], first["kind"]]  # of what happened, not what it explains
    n_others = len(ases - {first["asn"], first["other_asn"]})
    others = f" and {number(n_others, 'other AS')}" if n_others else ""
    own, other = _as_text(first["asn"], names), _as_text(first["other_asn"], names)
    pairs = number(event["n_pairs"], "pair")
    cross, get = ("crosses", "gets") if event["n_pairs"] == 1 else ("cross", "get")
    match event["kind"]:
        case "inputs changed":
            text = f"Other options or tables were given to ingest: {first['reason']}"
            n_moved = n_of.get((event["event"], "router", first["kind"]), 0)
            if n_moved:
                text += f"; {number(n_moved, words.noun)} and {number(event['n_links'], 'link')} "
                text += "have other owners because of that"
            return text
        case "vantage point lost" | "vantage point gained":
            n_links = event["n_links"]
            is_lost = event["kind"].endswith("lost")
            if n > 1:
                verb = "no longer measure" if is_lost else "began to measure"
                text = f"{number(n, 'vantage point')} {verb}, {first['addr']} in {own} first"
            else:
                verb = "no longer measures" if is_lost else "began to measure"
                text = f"Vantage point {first['addr']} in {own} {verb}: {pairs} with a target"
            seen = "nobody sees any more" if is_lost else "nobody saw before"
            return f"{text}, {number(n_links, 'link')} that {seen}" if n_links else text
        case "targets lost" | "targets gained":
            n_old, n_new = int(first["old"]), int(first["new"])
            return f"Targets went from {n_old:,} to {n_new:,}: {pairs} with a vantage point"
        case "router renumbered":
            more = f" and {number(n - 1, 'more address')}" if n > 1 else ""
            text = f"{words.one.capitalize()} of {own} was renumbered: {first['addr']}{more}"
            verb = "are" if n > 1 else "is"
            return f"{text} {verb} now {first['other_addr']}; {pairs} {cross} it"
        case "AS lost" | "AS gained":
            is_lost = event["kind"] == "AS lost"
            text = f"{own} is" if n == 1 else f"{number(n, 'AS')}, {own} first, are"
            text += " no longer seen" if is_lost else " seen, and not before"
            gone = f"that crossed it {'does' if event['n_pairs'] == 1 else 'do'} not any more"
            return (
                f"{text}: {pairs} {gone if is_lost else f'{cross} it'}"
                if event["n_pairs"]
                else text
            )
        case "routers silent" | "routers answer again":
            answer = "answers again" if n == 1 else "answer again"
            verb = "stopped answering" if event["kind"].endswith("silent") else answer
            nodes = number(n, words.noun)
            return f"{nodes} of {own} {verb}, {first['addr']} first; {pairs} {cross} it"
        case "AS split in parts":
            return f"{own} fell into {int(first['new'])} parts: {pairs} no longer {get} through"
        case "parts of an AS joined":
            return f"{int(first['old'])} parts of {own} came together: {pairs} {get} through again"
        case "ingress moved":
            text = f"Traffic from {other} enters {own} at {first['other_addr']}"
            return f"{text} instead of {first['addr']}: {pairs}"
        case "links removed" | "links added":
            where = f"in {own}" if own == other else f"between {own} and {other}"
            text = f"{number(event['n_links'], 'link')} {where}{others} changed, "
            verb = "removed" if event["kind"].endswith("removed") else "added"
            text += f"above all {first['addr']} to {first['other_addr']} was {verb}"
            text += f": {pairs}" if event["n_pairs"] else ""  # topologies have none
            return text + _longer(event)
        case "traffic moved":
            return ""  # ``_traffic_text`` says it
        case "links slower" | "links faster":
            how = event["kind"].removeprefix("links ")
            where = f"in {own}" if own == other else f"between {own} and {other}"
            text = f"{number(event['n_links'], 'link')} {where}{others} became {how}, above all "
            text += f"{first['addr']} to {first['other_addr']}: from {first['old']:.1f} to "
            return f"{text}{first['new']:.1f} ms (medians of {first['n_vantages']} vantage points)"
        case "routers of another owner":
            return f"{number(n, words.noun)} went from {own} to {other}"
        case "paths longer" | "paths shorter":
            change = f"from {_rounded(first['old'])} to {_hops(first['new'])} (medians)"
            return (
                f"Paths to {own} became {event['kind'].removeprefix('paths ')}: {change}, {pairs}"
            )
    return f"{event['kind']}: {own}"


def _counts(changes: pa.Table) -> dict[tuple[int, str, str], int]:
    """Changes by event, what and kind."""
    keys = ["event", "what", "kind"]
    some = changes.select(keys).filter(pc.is_valid(changes["event"]))
    table = some.group_by(keys).aggregate([([], "count_all")])
    return {(row["event"], row["what"], row["kind"]): row["count_all"] for row in table.to_pylist()}


def _ases_of_links(changes: pa.Table) -> dict[int, set[int]]:
    """ASes in which the links of each event lie: links join those of other ASes by an end."""
    links = changes.filter(
        pc.and_(pc.is_valid(changes["event"]), pc.equal(changes["what"], "link"))
    )
    found: dict[int, set[int]] = {}
    for name in ("asn", "other_asn"):
        pairs = links.select(["event", name]).group_by(["event", name]).aggregate([])
        for event, asn in zip(*(column.to_pylist() for column in pairs.columns), strict=True):
            if asn is not None:
                found.setdefault(event, set()).add(asn)
    return found


def _widths(changes: pa.Table) -> dict[int, str]:
    """What became of diameter and radius, of the events that explain it."""
    of_event = pc.and_(pc.is_valid(changes["event"]), pc.is_in(changes["what"], pa.array(WIDTHS)))
    texts: dict[int, str] = {}
    for row in changes.filter(of_event).to_pylist():
        if row["old"] is not None and row["new"] is not None:
            text = f"; its {row['what']} went from {_rounded(row['old'])} to {_hops(row['new'])}"
            texts[row["event"]] = texts.get(row["event"], "") + text
    return texts


def _traffic(changes: pa.Table, names: Mapping[int, str]) -> dict[int, str]:
    """Where traffic enters now, of the events that it is part of: into the AS of most pairs."""
    of_event = pc.and_(pc.is_valid(changes["event"]), pc.equal(changes["what"], "traffic"))
    found: dict[int, dict[int, list[dict]]] = {}
    for row in changes.filter(of_event).to_pylist():
        found.setdefault(row["event"], {}).setdefault(row["asn"], []).append(row)
    return {event: _entries_text(list(rows.values()), names) for event, rows in found.items()}


def _entries_text(ases: list[list[dict]], names: Mapping[int, str]) -> str:
    """Where traffic entered and enters now, of the AS of most pairs; how many others there are."""
    moves = [move for move in map(_Move.of, ases) if move.lost and move.gained]
    if not moves:
        return ""
    most = max(moves, key=lambda move: move.n_pairs)
    text = most.text(names)
    n_others = len(moves) - 1
    return f"{text}; likewise in {number(n_others, 'other AS')}" if n_others else text


@dataclass(frozen=True)
class _Move:
    """Traffic of one AS: the ingresses that lost and gained it, those of most pairs first.

    Others than those most of whose pairs moved count only as where these went to or came from.
    """

    lost: list[dict]
    gained: list[dict]
    is_left: bool  # an ingress lost most of its traffic; else one gained most of it
    n_pairs: int

    @classmethod
    def of(cls, rows: list[dict]) -> _Move:
        by_pairs = sorted(rows, key=lambda row: -row["n_pairs"])
        lost, gained = ([r for r in by_pairs if r["kind"] == kind] for kind in (LOST, GAINED))
        left, came = ([r for r in part if r["reason"] == MOST_MOVED] for part in (lost, gained))
        n_pairs = sum(row["n_pairs"] for row in left or came)
        return cls(left or lost, gained if left else came, bool(left), n_pairs)

    def text(self, names: Mapping[int, str]) -> str:
        """In words, without a capital at the start."""
        into = _as_text((self.lost + self.gained)[0]["asn"], names)
        one = _ingresses(self.lost, names, is_told=self.is_left)
        other = _ingresses(self.gained, names, is_told=not self.is_left)
        of = (self.lost if self.is_left else self.gained)[0]
        shares = " to ".join(share(round(1e6 * of[name]), 10**6) for name in ("old", "new"))
        went, pairs = f"whose share went from {shares}", number(self.n_pairs, "pair")
        if self.is_left:
            return f"traffic enters {into} {other} instead of {one}, {went}: {pairs}"
        return f"a part of the traffic enters {into} {other}, {went}, and no longer {one}: {pairs}"


def _ingresses(rows: list[dict], names: Mapping[int, str], is_told: bool) -> str:
    """Where traffic enters: the ingress of most pairs, and how many others.

    ``is_told``: its share follows, so it comes last.
    """
    text = f"at {rows[0]['addr']} from {_as_text(rows[0]['other_asn'], names)}"
    n_others = len(rows) - 1
    others = f"at {number(n_others, 'other ingress')}"
    both = f"{others} and {text}" if is_told else f"{text} and {others}"
    return both if n_others else text


def _traffic_text(event: dict, text: str) -> str:
    """The same as a sentence, or after that of what explains it."""
    if event["kind"] == "traffic moved":
        return f"{text[:1].upper()}{text[1:]}{_longer(event)}"
    return f"; {text}" if text else ""


def _longer(event: dict) -> str:
    """By how much paths became longer, where that is known and not nothing."""
    if event["longer_by"] is None or not event["longer_by"]:
        return ""
    change = "longer" if event["longer_by"] > 0 else "shorter"
    by, *bounds = (abs(event[name]) for name in ("longer_by", "lower", "upper"))
    low, high = sorted(bounds)
    return (
        f"; their paths became {_hops(by)} {change} (median; {_rounded(low)} to {_rounded(high)})"
    )


def _hops(value: float) -> str:
    """A number of hops, whole or not: ``1 hop``, ``1.5 hops``."""
    text = _rounded(value)
    return f"{text} {'hop' if text == '1' else 'hops'}"


def _rounded(value: float) -> str:
    """Hops: medians over earlier nights are smoothed, and have many digits."""
    return f"{round(value, 2):g}"


def _as_text(asn: int | None, names: Mapping[int, str]) -> str:
    if asn is None:
        return "an unknown AS"
    name = names.get(asn)
    return f"AS{asn} ({short(name)})" if name else f"AS{asn}"


def _asns(column: np.ndarray) -> pa.Array:
    return pa.array(column, mask=column < 0).cast(pa.uint32())


def _or_null(column: np.ndarray) -> pa.Array:
    return pa.array(column, mask=np.isnan(column))


def _addrs(high: np.ndarray, low: np.ndarray) -> pa.Array:
    """Texts; null where there is none."""
    pairs = zip(high.tolist(), low.tolist(), strict=True)
    return pa.array([_addr(h, w) if h or w else None for h, w in pairs], pa.string())


def _addr(high: int, low: int) -> str:
    """An address, or an id of the input, which has its AS before it: no router is in ::/32."""
    return str(low) if 0 < high < 1 << 32 else format_addr(high, low)
