"""Mates of addresses, joined with what is before these: what supports it, and what forbids it."""

import numpy as np
import pytest

from pipeline.infer.routers import inferred
from pipeline.model.topology import NO_ASN
from tests.unit.pipeline.infer.handmade import alias_sets, infer, nodes_of

# X and Y are one router of AS 1, entered by two links. Y is the mate of Z, seen right behind X. The
# router of Z answers another observer with W right behind X, so it vouches for nothing by itself.
X, Y, Z, W = "20.1.1.1", "20.1.2.1", "20.1.2.2", "20.1.3.1"
BASE = [
    f"20.1.91.1 20.1.5.1 {X} {Z} 20.1.9.1! > 20.1.9.1",
    f"20.1.93.1 20.1.7.1 {X} {W} 20.1.9.1! > 20.1.9.1",
]


def by_y(on="", before="20.1.92.1 20.1.6.1", aim="20.1.9.9"):
    return f"{before} {Y} {on} > {aim}"


COMMON = by_y(W)
SAME_AIM = [f"20.1.91.1 20.1.5.1 {X} > 20.1.9.8", by_y(aim="20.1.9.8")]


def nodes(scratch, *lines, **options):
    return nodes_of(infer(scratch, *lines, borders="elected", routers="inferred", **options))


def without(monkeypatch, *names):
    for name in names:
        monkeypatch.setattr(inferred, name, lambda spools, links, root, *_: root)


@pytest.mark.parametrize("lines", [[*BASE, COMMON], [*BASE, *SAME_AIM]], ids=["router", "aim"])
def test_a_mate_is_on_the_router_before_where_something_supports_it(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(inferred, "join_last_routers", lambda _, links, root, *__: (root, False))
    found = nodes(tmp_path, *lines)
    assert X in found
    assert Y not in found
    without(monkeypatch, "join_supported_mates")
    assert {X, Y} <= set(nodes(tmp_path, *lines))


@pytest.mark.parametrize(
    "lines",
    [
        [*BASE, by_y()],
        [*BASE, by_y(W, before="20.1.91.1 20.1.6.1")],
        [*BASE, COMMON, f"20.1.94.1 {X} 20.1.8.1 {Y} 20.1.8.5"],
        [line.replace(Z, "20.1.4.2") for line in (*BASE, COMMON)],
    ],
    ids=["unsupported", "one-observer", "one-trace", "no-mate"],
)
def test_other_addresses_stay_apart(tmp_path, lines):
    assert {X, Y} <= set(nodes(tmp_path, *lines))


@pytest.mark.parametrize(
    "owners",
    [lambda owner: np.arange(len(owner)), lambda owner: np.full_like(owner, NO_ASN)],
    ids=["two-ases", "unmapped"],
)
def test_both_must_be_in_one_as(tmp_path, monkeypatch, owners):
    join = inferred.join_supported_mates
    monkeypatch.setattr(
        inferred,
        "join_supported_mates",
        lambda spools, links, root, owner, *more: join(spools, links, root, owners(owner), *more),
    )
    assert {X, Y} <= set(nodes(tmp_path, *BASE, COMMON))


def test_an_alias_set_takes_precedence(tmp_path):
    assert Y in nodes(tmp_path, *BASE, COMMON, aliases=alias_sets((X, "20.1.5.1")))
