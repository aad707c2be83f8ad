"""Changes and events of a comparison as tables; each event in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.compare.changes import ALL_AGREE, MOVED, NOT_BEFORE, UNSEEN, WIDTHS
from pipeline.compare.flapping import FLAPS, MIN_TURNS, N_NIGHTS
from pipeline.model.addresses import HIGH_OF_AS_0, format_addr
from pipeline.model.words import NodeWords, node_words, number
from pipeline.report.compared import Compared, compared_of
from pipeline.report.tables.moved_traffic import traffic_texts
from pipeline.report.texts import as_text

# Of events.parquet, besides ``Compared``: the nights that references cover, what a node is.
_N_USUAL, _KIND = b"hopscope.n_reference_nights", b"hopscope.node_kind"
_COLUMNS = ("what", "kind", "event", "asn", "other_asn", "old", "new")  # that pages of ASes need
_OF_AS = ("link", "ingress", "neighbour")  # that are not known while it is silent
_COUNTS = (
    *("n_traces", "n_pairs", "n_vantages", "n_turned", "n_silent", "n_elsewhere"),
    *("n_no_target", "n_no_vantage", "n_as_target"),
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
    n_of, n_from, traffic = _counts(changes), _counts_from(changes), traffic_texts(changes, names)
    texts = [
        _sentence(event, first, names, ases.get(event["event"], set()), n_of, n_from, words)
        + _traffic_text(event, traffic.get(event["event"], ""))
        + _widths_text(event, widths.get(event["event"], []), ases, names)
        for event, first in zip(table.to_pylist(), firsts, strict=True)
    ]
    return table.append_column("text", pa.array(texts, pa.string()))


def with_turns(events: pa.Table, turns: Sequence[int]) -> pa.Table:
    """The table with how many turns each event is of; what comes and goes is ``flapping``."""
    rows = events.select(["kind", "text"]).to_pylist()
    turns = list(turns) or [1] * len(rows)
    flaps = [n >= MIN_TURNS for n in turns]
    kinds = [FLAPS if flap else row["kind"] for row, flap in zip(rows, flaps, strict=True)]
    texts = [
        f"Turn {n} within {N_NIGHTS} nights: {row['text']}" if flap else row["text"]
        for row, flap, n in zip(rows, flaps, turns, strict=True)
    ]
    for name, values in (("kind", kinds), ("text", texts)):
        at = events.column_names.index(name)
        events = events.set_column(at, name, pa.array(values, pa.string()))
    events = events.append_column("turn", pa.array([row["kind"] for row in rows], pa.string()))
    return events.append_column("n_turns", pa.array(turns, pa.int64()))


def naming_nights(events: pa.Table, compared: Compared, n_usual: int, kind: str) -> pa.Table:
    """The table with what is true of both nights in its metadata.

    That is their names and versions, the number of nights that references cover, and what a node
    is.
    """
    facts = {_N_USUAL: str(n_usual).encode(), _KIND: kind.encode()}
    return events.replace_schema_metadata(compared.metadata() | facts)


def night_before_of(schema: pa.Schema) -> str:
    """The older night of a comparison, of the schema of its events; older tables do not say."""
    return compared_of(schema).old or "an earlier night"


def words_of(schema: pa.Schema) -> NodeWords:
    """What a node is called in a comparison, of the schema of its events."""
    return node_words((schema.metadata or {}).get(_KIND, b"router").decode("utf-8", "replace"))


def what_in_words(what: str, words: NodeWords) -> str:
    """What changed, as pages call it: ``vantage point``, ``mean hops``, ``interface``."""
    called = {"router": words.noun, "routers": words.nouns}  # one, and a count of an AS
    return called.get(what, what.replace("_", " "))


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
    n_from: Mapping[tuple[int, int], int],
    words: NodeWords,
) -> str:
    """What happened, and what its first change touches, which the sentence names.

    ``ases``: those of its links, ``n_of``: ``_counts``, ``n_from``: ``_counts_from``.
    """
    n = n_of[event["event"], first["what"], first["kind"]]  # of what happened, not what it explains
    n_others = len(ases - {first["asn"], first["other_asn"]})
    others = f" and {number(n_others, 'other AS')}" if n_others else ""
    own, other = as_text(first["asn"], names), as_text(first["other_asn"], names)
    pairs = number(first["n_pairs"], "pair")
    cross, get = ("crosses", "gets") if first["n_pairs"] == 1 else ("cross", "get")
    match event["kind"]:
        case "inputs changed":
            text = f"Ingest had other options, tables or rules: {first['reason']}"
            n_moved = n_of.get((event["event"], "router", first["kind"]), 0)
            if n_moved:
                n_links = n_of.get((event["event"], "link", first["kind"]), 0)
                text += f"; {number(n_moved, words.noun)} and {number(n_links, 'link')} "
                text += "have other owners because of that"
            n_unmapped = sum(
                n_of.get((event["event"], "router", kind), 0) for kind in (UNSEEN, NOT_BEFORE)
            )
            if n_unmapped:
                text += f"; {number(n_unmapped, words.noun)} of one night "
                text += f"{'is' if n_unmapped == 1 else 'are'} in no AS on the other, or may be"
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
            now, then = ("is", "was") if n_links == 1 else ("are", "were")
            seen = f"{now} no longer seen" if is_lost else f"{then} not seen before"
            return f"{text}, {number(n_links, 'link')} that {seen}" if n_links else text
        case "targets lost" | "targets gained":
            n_old, n_new = int(first["old"]), int(first["new"])
            return f"Targets went from {n_old:,} to {n_new:,}: {pairs} with a vantage point"
        case "router renumbered":
            if n > 1:
                text = f"{number(n, words.noun)} of {own} were renumbered, most notably "
                return f"{text}{first['addr']}, which is now {first['other_addr']}: {pairs}"
            text = f"{words.one.capitalize()} of {own} was renumbered: {first['addr']}"
            return f"{text} is now {first['other_addr']}; {pairs} {cross} it"
        case "AS lost" | "AS gained":
            is_lost = event["kind"] == "AS lost"
            text = f"{own} is" if n == 1 else f"{number(n, 'AS')}, {own} first, are"
            text += " no longer seen" if is_lost else " newly seen"
            gone = f"that crossed it no longer {'does' if first['n_pairs'] == 1 else 'do'}"
            if not first["n_pairs"]:
                return text
            text = f"{text}: {pairs} {gone if is_lost else f'{cross} it'}"
            return text + _ways_text(first, names, is_lost=is_lost)
        case "exchange lost" | "exchange gained" | "adjacency lost" | "adjacency gained":
            is_lost = event["kind"].endswith("lost")
            where = f"Links between {own} and {other}"
            if event["kind"].startswith("exchange"):
                where = f"Exchange point {first['reason']}"
            verb = "no longer crossed" if is_lost else "newly crossed"
            are = "are" if where.startswith("Links") else "is"
            gone = f"{pairs} crossed {'them' if are == 'are' else 'it'}"
            now = f"{pairs} {cross} {'them' if are == 'are' else 'it'}"
            text = f"{where} {are} {verb}: {gone if is_lost else now}"
            return text + _ways_text(first, names, is_lost=is_lost)
        case "city lost" | "city gained":
            is_lost = event["kind"].endswith("lost")
            n_all, n_left = (
                int(first[name]) for name in (("old", "new") if is_lost else ("new", "old"))
            )
            routers = number(n_all, words.noun)
            if n_left:
                text = f"{n_all - n_left:,} of {routers} in {first['reason']} are "
                there = "them"
            else:
                text, there = f"{first['reason']} is ", f"{routers} there"
            text += "no longer crossed" if is_lost else "newly crossed"
            text += f": {pairs} {'crossed' if is_lost else cross} {there}"
            return text + _ways_text(first, names, is_lost=is_lost)
        case "routers lost" | "routers gained":
            is_lost = event["kind"].endswith("lost")
            text = f"{number(int(first['old'] or 1), words.noun)} of {own}, {first['addr']} first, "
            text += "no longer seen" if is_lost else "newly seen"
            text += f": {pairs} {'crossed' if is_lost else cross} them"
            return text + _ways_text(first, names, is_lost=is_lost)
        case "routers hidden" | "routers shown":
            is_hidden = event["kind"].endswith("hidden")
            text = f"{number(int(first['old'] or 0), words.noun)} inside {own} "
            text += "no longer show" if is_hidden else "now show"
            text += f" between the same routers, as where MPLS {'hides' if is_hidden else 'hid'}"
            return f"{text} them: {pairs}"
        case "load balancing gained" | "load balancing lost":
            is_lost = event["kind"].endswith("lost")
            text = f"Flows behind {first['addr']} of {own} are "
            text += "no longer" if is_lost else "now"
            return f"{text} balanced over {first['other_addr']}, too: {pairs}"
        case "hosts silent" | "hosts answer again":
            is_silent = event["kind"].endswith("silent")
            n_left, n_all = sorted((int(first["old"]), int(first["new"])))
            verb = "stopped answering" if is_silent else "answer again"
            where = f" in {first['reason']}" if first["reason"] else ""
            text = f"{n_all - n_left:,} of {number(n_all, 'target')} of {own}{where} {verb}"
            return f"{text}, and its {words.nouns} answer as before: {pairs}"
        case "figures drift":
            what = what_in_words(first["what"], words)
            old, new = (f"{first[name]:,.4g}" for name in ("old", "new"))
            n_more = event["n_changes"] - 1
            more = f", and {number(n_more, 'other figure')} likewise" if n_more else ""
            return (
                f"{what.capitalize()} of {own} went from {old}, the median of the last seven "
                f"nights, to {new}, a little each night{more}"
            )
        case "AS silent" | "AS answers again":
            return _whole_ases_text(event, first, n, own, n_of, words)
        case "routers silent" | "routers answer again":
            answer = "answers again" if n == 1 else "answer again"
            verb = "stopped answering" if event["kind"].endswith("silent") else answer
            which = f": {first['addr']}" if n == 1 else f", {first['addr']} first"
            return f"{number(n, words.noun)} of {own} {verb}{which}; {pairs} {cross} it"
        case "AS split in parts":
            text = f"{own} fell into {int(first['new'])} parts"
            return f"{text}: {pairs} no longer {get} through" if first["n_pairs"] else text
        case "parts of an AS joined":
            text = f"{int(first['old'])} parts of {own} came together"
            return f"{text}: {pairs} {get} through again" if first["n_pairs"] else text
        case "ingress moved":
            text = f"Traffic from {other} enters {own} at {first['other_addr']}"
            return f"{text} instead of {first['addr']}: {pairs}"
        case "links removed" | "links added":
            where = f"in {own}" if own == other else f"between {own} and {other}"
            text = f"{number(event['n_links'], 'link')} {where}{others} changed, "
            verb = "removed" if event["kind"].endswith("removed") else "added"
            text += f"most notably {first['addr']} to {first['other_addr']}, which was {verb}"
            text += f": {pairs}" if first["n_pairs"] else ""  # topologies have none
            return text + _longer(event)
        case "traffic moved":
            return ""  # ``_traffic_text`` says it
        case "links slower" | "links faster":
            how = event["kind"].removeprefix("links ")
            where = f"in {own}" if own == other else f"between {own} and {other}"
            text = f"{number(event['n_links'], 'link')} {where}{others} became {how}, most notably "
            text += f"{first['addr']} to {first['other_addr']}: from {first['old']:.1f} to "
            few = ", fewer than usual" if first["reason"] == ALL_AGREE else ""
            text += f"{first['new']:.1f} ms (medians of {first['n_vantages']} vantage points{few}"
            return f"{text})"
        case "routers of another owner":
            n_there = n_from[event["event"], first["asn"]]
            back = f", and {n - n_there:,} back" if n > n_there else ""
            if n == 1:
                text = f"{words.one.capitalize()} {first['addr']} counts in {other} now, not {own}"
                return f"{text}; same tables; {number(first['n_traces'], 'trace')}"
            return f"{number(n_there, words.noun)} went from {own} to {other}{back}"
        case "paths longer" | "paths shorter":
            change = f"from {_rounded(first['old'])} to {_hops(first['new'])} (medians)"
            return (
                f"Paths to {own} became {event['kind'].removeprefix('paths ')}: {change}, {pairs}"
            )
    return f"{event['kind']}: {own}"


def _ways_text(first: dict, names: Mapping[int, str], *, is_lost: bool) -> str:
    """Where the pairs go that crossed what was lost, or came from that cross what was gained."""
    n_away, n_ended, n_short = first["n_elsewhere"], first["n_no_target"], first["n_silent"]
    parts = []
    if n_away and (is_lost or first["what"] in ("AS", "city")):
        by = ""
        if first["what"] == "city" and first["other_addr"]:
            by = f", most often by {first['other_addr']} of {as_text(first['other_asn'], names)}"
        if first["what"] == "AS" and first["other_asn"] is not None:
            by = f", most often by {as_text(first['other_asn'], names)}"
        verb = "go another way now" if is_lost else "went another way before"
        parts.append(f"{n_away:,} {verb}{by}")
    if n_ended:
        verb = "no longer reach their targets" if is_lost else "reach their targets again"
        parts.append(f"{n_ended:,} {verb}")
    if n_short and (is_lost or first["what"] == "AS"):
        parts.append(f"{n_short:,} {'end sooner now' if is_lost else 'ended sooner before'}")
    return f"; {', '.join(parts)}" if parts else ""


def _whole_ases_text(
    event: dict,
    first: dict,
    n: int,
    own: str,
    n_of: Mapping[tuple[int, str, str], int],
    words: NodeWords,
) -> str:
    """ASes that are silent as a whole, or answer again: which, who passes, what is not known."""
    is_silent = event["kind"] == "AS silent"
    answer = "stopped answering" if is_silent else "answers again" if n == 1 else "answer again"
    n_all, n_left = int(max(first["old"], first["new"])), int(min(first["old"], first["new"]))
    nodes = number(n_all, words.noun)
    if n > 1:
        text = f"{number(n, 'AS')}, {own} first, {answer} as a whole"
    else:
        text = f"{own} {answer} as a whole: {f'{n_all - n_left:,} of ' if n_left else ''}{nodes}"
    pairs, n_passing = number(first["n_pairs"], "pair"), first["n_silent"]
    if is_silent:
        text += (
            f"; {pairs} crossed it, and {n_passing:,} still {'goes' if n_passing == 1 else 'go'}"
        )
        text += " through to what is behind"
    else:
        text += f"; {pairs} {'crosses' if first['n_pairs'] == 1 else 'cross'} it, and "
        text += f"{n_passing:,} went through to what is behind before, too"
    kind = UNSEEN if is_silent else NOT_BEFORE
    counts = {what: n_of.get((event["event"], what, kind), 0) for what in _OF_AS}
    *parts, last = [number(count, what) for what, count in counts.items() if count] or [""]
    if not last:
        return text
    listed = f"{', '.join(parts)} and {last}" if parts else last
    return f"{text}; {'no longer known' if is_silent else 'not known before'}: {listed}"


def _counts(changes: pa.Table) -> dict[tuple[int, str, str], int]:
    """Changes by event, what and kind."""
    keys = ["event", "what", "kind"]
    some = changes.select(keys).filter(pc.is_valid(changes["event"]))
    table = some.group_by(keys).aggregate([([], "count_all")])
    return {(row["event"], row["what"], row["kind"]): row["count_all"] for row in table.to_pylist()}


def _counts_from(changes: pa.Table) -> dict[tuple[int, int], int]:
    """Routers of another owner by event and old owner: those between two ASes are one event."""
    is_moved = pc.and_(pc.equal(changes["what"], "router"), pc.equal(changes["kind"], MOVED))
    table = changes.filter(pc.and_(is_moved, pc.is_valid(changes["event"])))
    counts = table.group_by(["event", "asn"]).aggregate([([], "count_all")]).to_pylist()
    return {(row["event"], row["asn"]): row["count_all"] for row in counts}


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


def _widths(changes: pa.Table) -> dict[int, list[dict]]:
    """Diameters and radii that both nights know, by the event that explains them."""
    of_event = pc.and_(pc.is_valid(changes["event"]), pc.is_in(changes["what"], pa.array(WIDTHS)))
    found: dict[int, list[dict]] = {}
    for row in changes.filter(of_event).to_pylist():
        if row["old"] is not None and row["new"] is not None:
            found.setdefault(row["event"], []).append(row)
    return found


def _widths_text(
    event: dict, rows: list[dict], ases: Mapping[int, set[int]], names: Mapping[int, str]
) -> str:
    """What became of diameter and radius of the AS of an event, or of each of its ASes."""
    about = {event["asn"], event["other_asn"], *ases.get(event["event"], ())} - {None}
    text = ""
    for row in rows:
        whose = f"its {row['what']}"
        if about != {row["asn"]}:
            whose = f"the {row['what']} of {as_text(row['asn'], names)}"
        text += f"; {whose} went from {_rounded(row['old'])} to {_hops(row['new'])}"
    return text


def _traffic_text(event: dict, text: str) -> str:
    """The same as a sentence, or after that of what explains it."""
    if event["kind"] == "traffic moved":
        return f"{text[:1].upper()}{text[1:]}{_longer(event)}"
    return f"; {text}" if text else ""


def _longer(event: dict) -> str:
    """By how much paths over any of its links became longer, where that is known and not zero."""
    if event["longer_by"] is None or not event["longer_by"]:
        return ""
    change = "longer" if event["longer_by"] > 0 else "shorter"
    by, *bounds = (abs(event[name]) for name in ("longer_by", "lower", "upper"))
    low, high = sorted(bounds)
    interval = f"median; {_rounded(low)} to {_rounded(high)}"
    return f"; paths over links of this event became {_hops(by)} {change} ({interval})"


def _hops(value: float) -> str:
    """A number of hops, whole or not: ``1 hop``, ``1.5 hops``."""
    text = _rounded(value)
    return f"{text} {'hop' if text == '1' else 'hops'}"


def _rounded(value: float) -> str:
    """Hops: medians over earlier nights are smoothed, and have many digits."""
    return f"{round(value, 2):g}"


def _asns(column: np.ndarray) -> pa.Array:
    return pa.array(column, mask=column < 0).cast(pa.uint32())


def _or_null(column: np.ndarray) -> pa.Array:
    return pa.array(column, mask=np.isnan(column))


def _addrs(high: np.ndarray, low: np.ndarray) -> pa.Array:
    """Texts; null where there is none."""
    is_v4 = (high == 0) & (low >> np.uint64(32) == np.uint64(0xFFFF))
    bytes_of = low.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 4:]
    octets = [_OCTETS.take(pa.array(np.ascontiguousarray(each))) for each in bytes_of.T]
    others = np.full(len(low), None)
    for row in np.flatnonzero(~is_v4 & ((high != 0) | (low != 0))).tolist():
        others[row] = _addr(int(high[row]), int(low[row]))
    texts = pc.binary_join_element_wise(*octets, ".")
    return pc.if_else(pa.array(is_v4), texts, pa.array(others, pa.string()))


_OCTETS = pa.array([str(octet) for octet in range(256)])


def _addr(high: int, low: int) -> str:
    """An address, or an id of the input, which has its AS before it: no router is in ::/31."""
    return str(low) if 0 < high <= HIGH_OF_AS_0 else format_addr(high, low)
