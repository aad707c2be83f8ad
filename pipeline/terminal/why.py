"""Output of ``hopscope why``: what is known of a router, and what decided that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.model.words import (
    AS_CONFIDENCE,
    INGRESS_CONFIDENCE,
    amount,
    confidence_text,
    node_words,
    number,
)
from pipeline.places.command_lines import command_line
from pipeline.terminal.lines import print_line
from pipeline.terminal.step_line import cut

N_LINKS = 10  # that are listed; --json has all
MAX_NAME = 80  # columns of a name in a line


def print_why(facts: Mapping[str, Any], store: Path) -> None:
    """A router in lines, the reasons in sentences, and its neighbours as a table."""
    print_line(_title(facts))
    for label, text in router_lines(facts):
        print_line(f"{label}: {text}")
    for sentence in facts["sentences"]:
        print_line(sentence)
    if facts["owners"] or facts["joins"]:
        rules = command_line("ingest", "--list-rules")
        print_line(f"Rules by name: {rules}. 2.3 nats: ten times less likely by their weights")
    _print_links(facts.get("links") or ())
    if facts.get("n_traces"):
        words = ("traces", facts["snapshot"], "--address", facts["addr"])
        print_line(f"Kept traces across it: {command_line(*words, store=store)}")


def _title(facts: Mapping[str, Any]) -> str:
    if facts["asn"] is None:
        return f"{facts['addr']}: in no AS"
    name = cut(facts["name"] or "", MAX_NAME)
    noun = node_words(facts["node_kind"]).noun
    return f"{facts['addr']}: {noun} {facts['node']} of AS{facts['asn']} {name}".rstrip()


def router_lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is known of a router beside reasons and links, each with a label; as pages show it."""
    from pipeline.report.tables.places import placed_text

    lines = []
    if facts["confidence"] is not None:
        lines.append((AS_CONFIDENCE, rated_text(facts["confidence"], facts["confidence_class"])))
    if others := [addr for addr in facts["addrs"] if addr != facts["addr"]]:
        lines.append(("Its router also has", ", ".join(others)))
    for addr, name in facts["host_names"].items():
        lines.append((f"Host name of {addr}", name))
    if facts.get("latitude") is not None:
        lines.append(("Place", placed_text(facts)))
    if facts.get("n_traces") is not None:
        lines.append(("Traces", _traces(facts)))
    if facts.get("rtt_ms") is not None:
        rtt = f"{amount(facts['rtt_ms'], 2)} ms at least, from {facts['nearest_vantage']}"
        lines.append(("RTT from vantage points", rtt))
    if (entry := facts.get("ingress")) is not None:
        lines.append(("Candidate ingress" if entry["candidate"] else "Ingress", _entered(entry)))
        if entry["confidence"] is not None:
            rated = rated_text(entry["confidence"], entry["confidence_class"])
            lines.append((INGRESS_CONFIDENCE.capitalize(), rated))
    if (left := facts.get("exit")) is not None:
        traces = number(left["n_direct"], "trace")
        lines.append(("Exit", f"{traces} into {_shares(left['neighbors'])} right behind it"))
    if (nights := facts.get("nights")) is not None:
        lines.append(("Nights", _nights(nights)))
    return lines


def rated_text(confidence: float, name: str | None) -> str:
    """A confidence, its class, and what it means."""
    text = confidence_text(confidence)
    named = f"{text}, {name}" if name else text
    return f"{named}: of such, {int(text[2:])} in 100 were right in simulated networks"


def _traces(facts: Mapping[str, Any]) -> str:
    n, vantages = facts["n_traces"], number(facts["n_vantages"], "vantage point")
    return f"{number(n, 'trace')} from {vantages} {'crosses' if n == 1 else 'cross'} it"


def _entered(entry: Mapping[str, Any]) -> str:
    parts = []
    if entry["n_direct"]:
        shares = _shares(entry["neighbors"])
        parts.append(f"{number(entry['n_direct'], 'trace')} right behind {shares}")
    elif entry["neighbors"]:
        parts.append(f"from {_shares(entry['neighbors'])}")
    if entry["n_after_gap"]:
        parts.append(f"{number(entry['n_after_gap'], 'trace')} after unanswered hops")
    return ", ".join(parts) or "drawn"


def _shares(neighbors: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(
        f"AS{one['asn']}"
        + (f" ({one['n_direct']:,})" if one["n_direct"] else "")
        + (f" by {one['ixp']}" if one.get("ixp") else "")
        for one in neighbors
    )


def _nights(nights: Mapping[str, Any]) -> str:
    return (
        f"seen on {nights['n_seen']} of the last {number(nights['n_nights'], 'night')} kept of "
        f"these vantage points: first {nights['first']}, last {nights['last']}"
    )


def _print_links(links: Sequence[Mapping[str, Any]]) -> None:
    from pipeline.terminal.table import print_table

    delays = any("delay_ms" in one for one in links)
    header = ("neighbour", "AS", "traces", "delay ms" if delays else "weight", "seen")
    rows = [
        (
            one["addr"] or f"node {one['node']}",
            f"AS{one['asn']}",
            one["n_traces"],
            None if (w := one.get("delay_ms", one.get("weight"))) is None else amount(w, 2),
            seen_text(one),
        )
        for one in links[:N_LINKS]
    ]
    if rows:
        print_table(number(len(links), "neighbour").capitalize(), header, rows)
    if delays:
        print_line("delay: half of what the RTT grows by across the link, the median of traces")
    if len(links) > N_LINKS:
        print_line(f"and {number(len(links) - N_LINKS, 'more neighbour')}; --json has all")


def seen_text(link: Mapping[str, Any]) -> str:
    """How a link was seen, where that is not plainly by two answers in turn."""
    said = {
        "bridged": "across unanswered hops",
        "mpls": "under MPLS labels",
        "via_ixp": "by an exchange point",
        "may_hide": "may hide routers",
    }
    return ", ".join(text for name, text in said.items() if link.get(name))
