"""Tables of docs/named-networks.md, from benchmarks/results/named_networks.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any

from benchmarks.bench_named_networks import NETWORKS, SUBJECT, WAYS
from benchmarks.lib.record import RESULTS
from tests.oracles.truth.tables import markdown

_DIGITS = 12  # of a digest


def networks_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """A row for each network: what it is hard for, its size, and the digest of its files."""
    first = {row["network"]: row for row in rows}
    cells = [
        [
            f"`{name}`",
            NETWORKS[name],
            *(f"{row[key]:,}" for key in ("n_ases", "n_routers", "n_links", "n_traces")),
            f"`{row['digest'][:_DIGITS]}`",
        ]
        for name, row in first.items()
    ]
    heads = ["name", "hard for inference", "ASes", "routers", "links", "traces", "digest"]
    return markdown(heads, cells)


def figures_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """P / R of each network by each way, then addresses and hops of the first way; the means.

    With standard errors: of a network by the spread between its ASes, of a mean by those of its
    networks.
    """
    ways = list(dict.fromkeys(row["way"] for row in rows))
    found = {(row["network"], row["way"]): row["figures"] for row in rows}
    names = list(dict.fromkeys(row["network"] for row in rows))
    first = next(iter(WAYS))
    of_cells = [(way, ("ingresses", "borders")) for way in ways]
    of_cells += [(first, ("addresses",)), (first, ("hops",))]

    def cell(networks: Sequence[str], way: str, figures: Sequence[str]) -> str:
        if not all((network, way) in found for network in networks):
            return ""
        shares = []
        for figure in figures:
            each = [found[network, way][figure] for network in networks]
            share = sum(one["right"] / one["of"] for one in each) / len(each)
            error = sqrt(sum((one["standard_error"] or 0) ** 2 for one in each)) / len(each)
            shares.append(f"{share:.3f} ± {error:.3f}")
        return " / ".join(shares)

    cells = [[f"`{name}`", *(cell([name], *each) for each in of_cells)] for name in names]
    cells.append(["mean", *(cell(names, *each) for each in of_cells)])
    heads = ["network", *(f"{way}, P / R" for way in ways), "addresses", "hops equal"]
    return markdown(heads, cells)


def recorded_networks() -> str:
    return networks_table(_recorded()["rows"])


def recorded_figures() -> str:
    """The table, below the command and the day of what it measured."""
    run = _recorded()
    head = f"`{run['command']}`, {run['date'][:10]}, `benchmarks/results/{SUBJECT}.json`:"
    return f"{head}\n\n{figures_table(run['rows'])}"


def _recorded() -> dict[str, Any]:
    return json.loads((RESULTS / f"{SUBJECT}.json").read_text())
