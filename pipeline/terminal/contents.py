"""Output of the commands that only read: lines and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.metrics import METRICS, columns_of, tasks_of
from pipeline.metrics.columns import BY_WEIGHT, WEIGHTED, Column
from pipeline.model.measured.mapped import mapped_of
from pipeline.model.measured.reading import reasons_text, rejects_text
from pipeline.model.progress import counted
from pipeline.model.relations import OF_THE_OTHER, WORDS, relation_text
from pipeline.model.words import (
    AS_CONFIDENCE,
    INGRESS_CONFIDENCE,
    LOW_CONFIDENCE,
    confidence_text,
    delay_basis,
    hiding_text,
    ingresses_text,
    inside_text,
    is_low,
    links_text,
    made_text,
    ms_text,
    node_words,
    nodes_text,
    nouns_of,
    number,
    printable,
    rough_duration,
    sizes,
    spread_text,
    traces_kept_text,
)
from pipeline.places.command_lines import command_line
from pipeline.terminal.lines import print_line, warn
from pipeline.terminal.step_line import cut

N_TABLE = 10  # rows of a table; --json has all
MAX_NAME = 80  # columns of a name in a line


def print_list(snapshots: Sequence[Mapping[str, Any]]) -> None:
    """One row per snapshot; those that cannot be opened on stderr."""
    from pipeline.terminal.table import print_table

    whole = [facts for facts in snapshots if facts["fault"] is None]
    kinds = {facts["node_kind"] for facts in whole}
    nouns = nouns_of(kinds, beside_ases=True)
    between = ("links between",) if any(facts["n_border_links"] for facts in whole) else ()
    unsure = any(facts["n_candidates"] for facts in whole)  # as lines leave out what none has
    names = ("candidates",) * unsure
    header = ("ASes", nouns, "links inside" if between else "links", "ingresses", *names, *between)
    header = ("ingested (UTC)", "snapshot", *header)
    counts = ("n_ases", "n_nodes", "n_edges", "n_ingresses")
    keys = (*counts, *("n_candidates",) * unsure, *("n_border_links",) * bool(between))
    rows = [
        (
            _minute(facts["created"]),
            facts["snapshot"] if len(kinds) == 1 else _named(facts),
            *(facts[key] for key in keys),
        )
        for facts in whole
    ]
    if rows:
        print_table("Snapshots, the newest last", header, rows, whole_text=True)
    for facts in whole:
        for source in facts["synthetic"]:
            print_line(f"{facts['snapshot']}: synthetic, not measured: {_made(source)}")
        if facts.get("replaced"):
            print_line(f"{facts['snapshot']}: {_kept(facts)}")
    for facts in snapshots:
        for fault in (facts["fault"], facts.get("report_fault")):
            if fault is not None:
                warn(fault)


def print_snapshot(facts: Mapping[str, Any]) -> None:
    """A snapshot and its largest ASes."""
    from pipeline.terminal.table import print_table

    _print_head(facts)
    words = node_words(facts["node_kind"])
    unsure = bool(facts["n_candidates"])
    names = ("links", "ingresses", *("candidates",) * unsure, "components")
    header = ("asn", "name", words.nouns, *names)
    keys = ("n_nodes", "n_edges", "n_ingresses", *("n_candidates",) * unsure, "n_components")
    largest = sorted(facts["ases"], key=lambda row: (-row["n_nodes"], row["asn"]))
    rows = [(row["asn"], row["name"], *(row[key] for key in keys)) for row in largest[:N_TABLE]]
    if rows:
        print_table("Largest ASes", header, rows)
    for line in facts["warnings"]:
        warn(line)


def _print_head(facts: Mapping[str, Any]) -> None:
    counts = [number(facts["n_traces"], "trace")] if facts["n_traces"] else []
    counts += [
        *sizes(facts["n_ases"], facts["n_nodes"], facts["node_kind"], facts["n_silent"]),
        links_text(facts["n_edges"], facts["n_border_links"]),
        ingresses_text(facts["n_ingresses"], facts["n_candidates"]),
    ]
    print_line(
        f"Snapshot {facts['snapshot']}, {_minute(facts['created'])} UTC: {', '.join(counts)}"
    )
    if share := mapped_of(facts):
        print_line(share)
    if hiding := hiding_text(facts.get("n_may_hide_links") or 0, facts["n_edges"] or 0):
        print_line(hiding)
    if facts["n_traces"]:
        print_line(traces_kept_text(facts["n_traces_kept"], facts["n_traces"]))
    if facts.get("replaced"):
        print_line(f"It {_kept(facts)}")
    if facts.get("report_fault"):
        warn(facts["report_fault"])
    for source in facts["synthetic"]:
        print_line(f"Synthetic, not measured: {_made(source)}")


def _kept(facts: Mapping[str, Any]) -> str:
    """The version that a snapshot replaced, which can be restored."""
    from pipeline.stages.contents.replaced import holds_text

    kept = facts["replaced"]
    restore = command_line("restore", facts["snapshot"], store=kept["store"])
    clean = command_line("doctor", "--clean", store=kept["store"])
    return (
        f"replaced {holds_text(kept)} of {_minute(kept['created'])} UTC; {restore} brings it back, "
        f"{clean} frees its space"
    )


def _made(source: Mapping[str, Any]) -> str:
    return made_text(source["n_ases"], source["node_kind"], source["made_by"])


def print_as(facts: Mapping[str, Any]) -> None:
    """One AS: what it is, its ingresses, and what the last report measured."""
    one = facts["as"]
    words = node_words(one["node_kind"])
    counts = [
        nodes_text(one["n_nodes"], one["node_kind"], one["n_silent"]),
        number(one["n_edges"], "link"),
        number(one["n_components"], "component"),
        ingresses_text(one["n_ingresses"], one["n_candidates"]),
    ]
    print_line(f"{_as_named(one)}: {', '.join(counts)}")
    if organisation := one.get("organisation"):
        others = [f"AS{asn}" for asn in one["organisation_asns"]]
        left = f" and {len(others) - N_TABLE:,} more" if len(others) > N_TABLE else ""
        also = f"; its other ASes here: {', '.join(others[:N_TABLE])}{left}" if others else ""
        print_line(f"Organisation: {cut(printable(organisation), MAX_NAME)}{also}")
    if one["made_by"]:
        print_line(f"Synthetic, not measured: made by {one['made_by']}")
    if one["n_unmapped"]:
        print_line(f"Linked to {number(one['n_unmapped'], words.noun)} of no known AS")
    if one["n_entered_unseen"]:
        print_line(inside_text(one["n_entered_unseen"]))
    if hiding := hiding_text(one["n_may_hide_links"], one["n_edges"], "of this AS"):
        print_line(hiding)
    entrances, exits = _print_entrances(one), _print_exits(one["exits"])
    _print_hosts([*entrances, *exits])
    _print_places([*entrances, *exits])
    _print_linked(one["asn"], one["as_links"])
    rated = [row["confidence"] for row in one["ingresses"] if not row["candidate"]]
    low = sum(each is not None and is_low(each) for each in rated)
    if low:
        print_line(f"{number(low, 'ingress')} below an {INGRESS_CONFIDENCE} of {LOW_CONFIDENCE}")
    _print_measured(one["measured"], words.noun)
    if facts.get("report_fault"):
        warn(facts["report_fault"])


def _print_entrances(one: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """A table of ingresses; those that it has."""
    from pipeline.terminal.table import print_table

    shown: Sequence[Mapping[str, Any]] = one["ingresses"][:N_TABLE]
    delayed = any(row["delay_ms"] is not None for row in shown)
    header = ["ingress", "from", "direct", "after gap", INGRESS_CONFIDENCE]
    header += ["delay, ms", "quartiles, ms"] * delayed
    rows = [
        (
            row["addr"] or row["ingress"],
            _shares(row) + (" (candidate)" if row["candidate"] else ""),
            *_counted(row, "n_direct", "n_after_gap"),
            _sure(row["confidence"]),
            *_delay(row) * delayed,
        )
        for row in shown
    ]
    if rows:
        print_table("Ingresses", header, rows)
        left = [row["candidate"] for row in one["ingresses"][N_TABLE:]]
        _print_left(((left.count(False), "ingress"), (left.count(True), "candidate")))
    return shown


def _print_exits(doors: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """A table of exits; those that it has."""
    from pipeline.terminal.table import print_table

    most = sorted(doors, key=lambda row: (-row["n_direct"], row["exit"]))
    rows = [
        (row["addr"] or row["exit"], _shares(row), *_counted(row, "n_direct"))
        for row in most[:N_TABLE]
    ]
    if rows:
        print_table("Exits", ("exit", "into", "traces"), rows)
        _print_left(((len(doors) - len(rows), "exit"),))
    return most[:N_TABLE]


def _print_linked(asn: int, links: Sequence[Mapping[str, Any]]) -> None:
    """A table of linked ASes, where files say more of them than their number."""
    from pipeline.terminal.table import print_table

    related, crossed = any(row["relation"] for row in links), any(row["ixps"] for row in links)
    if not (related or crossed or any(row["siblings"] for row in links)):
        return
    most = sorted(links, key=lambda row: (-(row["n_traces"] or 0), -row["n_links"]))[:N_TABLE]
    header = ["AS", "is its", "links", "traces", *["exchange points"] * crossed]
    rows = []
    for row in most:
        kind, is_near = WORDS.index(row["relation"]), row["near_asn"] == asn
        relation = relation_text(OF_THE_OTHER[kind] if is_near else kind, bool(row["siblings"]))
        other = row["far_asn" if is_near else "near_asn"]
        names = [printable(name) for name in row["ixps"] or ()]
        texts = (f"AS{other}", relation, row["n_links"], row["n_traces"])
        rows.append((*texts, *[", ".join(names)] * crossed))
    print_table("Linked ASes", header, rows)
    _print_left(((len(links) - len(rows), "linked AS"),))


def _delay(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Median and quartiles of the RTT added behind an ingress, in ms; None where there are none."""
    if row["delay_ms"] is None:
        return None, None
    return ms_text(row["delay_ms"]), f"{spread_text(row)} ({delay_basis(row)})"


def _counted(row: Mapping[str, Any], *names: str) -> list[int | None]:
    """Numbers of traces; None where all are 0: a topology has none, and some show all others."""
    return [row[name] if any(row[each] for each in names) else None for name in names]


def _print_left(counts: Iterable[tuple[int, str]]) -> None:
    """How many rows a table leaves out, by what they are."""
    left = [number(n, f"more {noun}") for n, noun in counts if n]
    if left:
        print_line(f"and {' and '.join(left)}; --json has all")


def _sure(confidence: float | None) -> str | None:
    """A confidence, for a table."""
    return None if confidence is None else confidence_text(confidence)


def _sure_of(what: str, confidence: float | None) -> str:
    """A confidence with its name, for a line; empty where there is none."""
    return "" if confidence is None else f" ({what} {confidence_text(confidence)})"


def _print_hosts(rows: Sequence[Mapping[str, Any]]) -> None:
    """Host names where any are known, each once: they are too long for a column of a table."""
    named = {row["addr"]: row["host_name"] for row in rows if row["host_name"]}
    for addr, name in named.items():
        print_line(f"{addr} is {name}")


def _print_places(rows: Sequence[Mapping[str, Any]]) -> None:
    """Places where any are known, each address once."""
    from pipeline.report.tables.places import placed_text

    placed = {row["addr"]: row for row in rows if row.get("latitude") is not None}
    for addr, row in placed.items():
        print_line(f"{addr} is in {placed_text(row)}")


def _shares(row: Mapping[str, Any]) -> str:
    """Neighbours with their traces, those with most first."""
    counts = row["neighbor_n_direct"] or [0] * len(row["neighbor_asns"])
    pairs = sorted(zip(row["neighbor_asns"], counts, strict=True), key=lambda p: (-p[1], p[0]))
    return ", ".join(f"AS{asn} ({n:,})" if n else f"AS{asn}" for asn, n in pairs)


def _print_measured(found: Mapping[str, Any] | None, noun: str) -> None:
    """Figures of the last report, those that it has, bounds where they are not exact."""
    if found is None:
        return
    columns = [column for task in tasks_of(METRICS) for column in columns_of(task)]
    texts = [text for column in columns if (text := _figure(column, found, noun))]
    state = "" if found["status"] == "ok" else f" ({found['status']}: {found['reason']})"
    print_line(f"Measured: {', '.join(texts) or 'nothing'}{state}")


def _figure(column: Column, found: Mapping[str, Any], noun: str) -> str:
    """One column of a report's row of an AS in words; empty if it is no figure, or not known."""
    from pipeline.report.tables.width.widths import width_or_bounds
    from pipeline.report.texts import figure

    name = column.name.replace("_", " ")
    is_number = column.unit in ("hops", BY_WEIGHT) and not column.dtype.startswith("list")
    if is_number and not column.name.endswith(("_lower", "_upper", "_error")):
        value = width_or_bounds(found, column.name)
        if value is None or isinstance(value, str):
            return f"{name} {value}" if value else ""
        return f"{name} {figure(value, column.name)}"  # as on pages
    place = name.removeprefix("weighted ").removeprefix("n ")
    if place in ("center", "periphery") and found.get(column.name) is not None:
        weight = " by weight" if column.name.startswith(WEIGHTED) else ""
        return f"{number(found[column.name], noun)} in the {place}{weight}"
    return ""


def print_lookup(facts: Mapping[str, Any]) -> None:
    """Addresses with their AS and node."""
    if facts["n_found"] == 1:
        (row,) = facts["found"]
        sure = _sure_of(AS_CONFIDENCE, row["confidence"])
        role = "" if row["role"] is None else f", {_article(row['role'])}"
        role += _sure_of(INGRESS_CONFIDENCE, row["ingress_confidence"])
        kind = node_words(row["node_kind"]).noun
        print_line(f"{row['addr']}: {kind} {row['node']} of {_as_named(row)}{sure}{role}")
        if row["host_name"]:
            print_line(f"Its host name is {row['host_name']}")
        _print_places([row])
        if others := [addr for addr in row["addrs"] if addr != row["addr"]]:
            print_line(f"It also has {', '.join(others)}")
        return
    from pipeline.stages.contents.lookup import MAX_FOUND
    from pipeline.terminal.table import print_table

    shown = facts["found"][:N_TABLE]
    rows = [
        (
            r["addr"],
            f"AS{r['asn']} {r['name'] or ''}",
            _sure(r["confidence"]),
            str(r["node"]),
            r["role"],
            _sure(r["ingress_confidence"]),
        )
        for r in shown
    ]
    header = ("address", "AS", AS_CONFIDENCE, "node", "role", INGRESS_CONFIDENCE)
    print_table("Addresses", header, rows)
    _print_hosts(shown)
    _print_places(shown)
    if facts["n_found"] > N_TABLE:
        left = facts["n_found"] - N_TABLE
        print_line(f"and {number(left, 'more address')}; --json has the first {MAX_FOUND:,}")


def print_why_of(rows: Sequence[Mapping[str, Any]], snapshot: str, store: Path) -> None:
    """The command that says all that is known of the first router of a list that has an address."""
    if addr := next((row["addr"] for row in rows if _is_address(row["addr"])), None):
        command = command_line("why", addr, "--snapshot", snapshot, store=store)
        print_line(f"Why, links, delays: {command}")


def _is_address(text: str | None) -> bool:
    return text is not None and not text.isdecimal()  # else the id that a topology gives


def print_export(facts: Mapping[str, Any]) -> None:
    """What was written to a file, and in which format."""
    what = facts["snapshot"] if facts["asn"] is None else f"AS{facts['asn']} of {facts['snapshot']}"
    noun = node_words(facts["node_kind"]).noun
    size = f"{number(facts['n_nodes'], noun)}, {number(facts['n_edges'], 'link')}"
    print_line(f"{what}: {size} -> {', '.join(facts['files'])} ({facts['format']})")


def print_converted(facts: Mapping[str, Any]) -> None:
    """What was read and written, and what of it the new format cannot hold."""
    sizes = [
        number(facts[name], noun)
        for name, noun in _OF_CONVERTED.items()
        if facts.get(name) is not None
    ]
    print_line(
        f"{facts['in']} ({facts['from']}): {', '.join(sizes)} -> "
        f"{', '.join(facts['files'])} ({facts['format']})"
    )
    if facts["lost"]:
        held = ", ".join(f"{what} ({n:,})" for what, n in facts["lost"].items())
        is_table = "n_prefixes" in facts  # a table keeps one AS of an address, whatever is written
        why = "one origin is kept" if is_table else f"{facts['format']} cannot hold them"
        print_line(f"left out, since {why}: {held}")
    if facts["rejected"]:
        print_line(rejects_text(sum(facts["rejected"].values()), facts["rejected"]))
    if noted := {what: n for what, n in facts["notes"].items() if n}:
        print_line(f"noted: {reasons_text(noted)}")


_OF_CONVERTED = {
    **{"n_nodes": "node", "n_edges": "link", "n_prefixes": "prefix"},
    **{"n_traces": "trace", "n_replies": "reply"},
}


def _as_named(row: Mapping[str, Any]) -> str:
    """An AS with its name, cut as on pages."""
    return f"AS{row['asn']} {cut(row['name'] or '', MAX_NAME)}".rstrip()


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aei' else 'a'} {noun}"


def _named(facts: Mapping[str, Any]) -> str:
    nouns = node_words(facts["node_kind"]).nouns
    return f"{facts['snapshot']} ({nouns})"


def _minute(created: str | None) -> str:
    return "" if created is None else created[:16].replace("T", " ")


def print_status(runs: Sequence[Mapping[str, Any]]) -> None:
    """Some lines per run in progress."""
    if not runs:
        print_line("No run in progress.")
    for run in runs:
        what = run["command"] + (f" of {run['snapshot']}" if run["snapshot"] else "")
        print_line(f"{what}, process {run['pid']} on {run['host']}")
        if not run["is_alive"]:
            ago = rough_duration(run["told_s_ago"])
            last = ", ".join(text for text in (run["title"], run["detail"]) if text)
            print_line(f"  was killed; its last step, {ago} ago: {last}")
            continue
        counts = counted(run["done"], run["total"], run["unit"])
        parts = [
            run["title"],
            counts,
            f"{int(100 * run['share'])}%" if run["share"] is not None else "",
        ]
        parts.append(f"running for {rough_duration(run['running_s'])}")
        if run["left_s"] is not None:
            parts.append(f"this step: about {rough_duration(run['left_s'])} left")
        print_line(f"  {', '.join(part for part in parts if part)}")
        for text in (run["detail"], run["dashboard"] and f"Dask dashboard: {run['dashboard']}"):
            if text:
                print_line(f"  {text}")
