"""What an operator knows: tables of routers and of their links, a part of a network.

A file of ``address,asn,router`` (``pipeline.judge.tables``), or a folder with it as
``addresses.csv`` and perhaps ``links.csv`` beside it: two ends in a line, each a router, one of its
addresses, or ``AS64496``, a neighbour of which no router is known. A file of links has all links of
the routers that are known; without one nothing is said of borders and neighbours. An address
without a router is one by itself. What the tables do not name is not judged.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from pipeline.errors import FormatError
from pipeline.judge.ground_truth import plain_text
from pipeline.judge.tables import Row, as_number, lines_of, read_rows
from pipeline.judge.truth import Truth, neighbors_by_links
from pipeline.model.measured.reading import ReadReport, printable_path
from pipeline.model.topology import NO_ASN

ADDRESSES, LINKS = "addresses.csv", "links.csv"


def read_known(path: Path, links: Path | None) -> tuple[Truth, list[ReadReport]]:
    """Read what is known of a part of a network.

    Parameters
    ----------
    path : Path
        Table of addresses.
    links : Path or None
        Table of links.

    Raises
    ------
    FormatError
        If a file cannot be read or has no usable line, or a router is said to be in two ASes.
    """
    rows, report = read_rows(path)
    asn_of, router_of = _routers(rows, path)
    if not router_of:
        raise FormatError(path, "", "no address has an AS, so nothing is known to be true")
    if links is None:
        return Truth(asn_of, router_of, frozenset(), {}, is_whole=False, has_links=False), [report]
    joined, neighbors, of_links = _links(links, asn_of, router_of)
    return Truth(asn_of, router_of, joined, neighbors, is_whole=False), [report, of_links]


def _routers(rows: list[Row], path: Path) -> tuple[dict[str, int], dict[str, str]]:
    asn_of: dict[str, int] = {}
    router_of: dict[str, str] = {}
    for row in rows:
        if row.asn == NO_ASN:
            continue
        router = row.router or row.address
        if asn_of.setdefault(router, row.asn) != row.asn:
            reason = (
                f"router {router} is in AS{asn_of[router]} and, by the line of {row.address}, in "
                f"AS{row.asn}: a router is in one AS, so correct one of its lines"
            )
            raise FormatError(path, "", reason)
        if router_of.setdefault(row.address, router) != router:
            reason = (
                f"{row.address} is of router {router_of[row.address]} and of {router}: an address "
                "is of one router, so take one of its lines out"
            )
            raise FormatError(path, "", reason)
    return asn_of, router_of


def _links(
    path: Path, asn_of: Mapping[str, int], router_of: Mapping[str, str]
) -> tuple[frozenset[frozenset[str]], dict[str, set[int]], ReadReport]:
    """Links between known routers, and ASes next to them."""
    report = ReadReport(printable_path(path), "links")
    links: set[frozenset[str]] = set()
    outside: dict[str, set[int]] = defaultdict(set)
    for place, cells in lines_of(path, report):
        routers = [router for cell in cells[:2] if (router := _router(cell, asn_of, router_of))]
        ases = [asn for cell in cells[:2] if (asn := _as(cell)) is not None]
        if len(routers) == 2:
            links |= {frozenset(routers)} if routers[0] != routers[1] else set()
        elif len(routers) == 1 and ases:
            outside[routers[0]].add(ases[0])
        else:
            report.reject(place, "not two known routers, nor one and an AS", ",".join(cells))
            continue
        report.n_records += 1
    if not report.n_records:
        found = report.error.removeprefix(f"{report.path}: ")
        first = f"; {report.first_reject}" if report.samples else ""
        raise FormatError(path, "", found or f"no line of two routers, `r1,r2`, in it{first}")
    neighbors = neighbors_by_links(links, asn_of)
    for router, asns in outside.items():
        if others := asns - {asn_of[router]}:
            neighbors.setdefault(router, set()).update(others)
    return frozenset(links), neighbors, report


def _router(text: str, asn_of: Mapping[str, int], router_of: Mapping[str, str]) -> str | None:
    """The router of that name, or of that address."""
    if text in asn_of:
        return text
    with contextlib.suppress(ValueError):
        return router_of.get(plain_text(text))
    return None


def _as(text: str) -> int | None:
    """The AS of ``AS64496``; a number alone would be the name of a router."""
    if text[:2].upper() != "AS":
        return None
    with contextlib.suppress(ValueError):
        asn = as_number(text)
        return None if asn == NO_ASN else asn
    return None
