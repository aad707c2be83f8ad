"""Nights on which only chance differs, of a network of ties: nothing is reported."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from pipeline.compare import compare_nights
from tests.unit.pipeline.compare.by_hand import night

N_NIGHTS = 30
LOSS = 0.03  # of all answers, of targets too
VANTAGES = ("20.7.0.1", "20.8.0.1", "20.6.0.1")
TABLE = "".join(f"20.{asn}.0.0\t16\t{asn}\n" for asn in range(1, 100))

Path = tuple[list[str], str]  # routers, and a target behind them


def islands(asn: int, *sizes: int) -> Iterator[Path]:
    """Parts of an AS that no link joins, each behind a router of AS1; targets behind all of it."""
    for island, size in enumerate(sizes):
        routers = [f"20.{asn}.{island}.{i + 1}" for i in range(size)]
        for i in range(size):
            for target in range(3):
                way = [f"20.1.{asn}.{island + 1}", *routers[: i + 1]]
                yield way, f"20.{asn + 1}.{island}.{10 * i + target}"


def diamond(asn: int, one: str, other: str) -> Iterator[Path]:
    """Two traces to each target, one over each branch: no route has more.

    ``one``, ``other``: routers of a branch, each as the AS after ``asn`` that it is in.
    """
    for target in range(20):
        for row, branch in enumerate((one, other)):
            inside = [f"20.{asn + int(of)}.{row + 1}.{i}" for i, of in enumerate(branch.split())]
            yield (
                [f"20.1.{asn}.1", f"20.{asn}.0.1", *inside, f"20.{asn + 5}.0.1"],
                f"20.{asn + 6}.0.{target + 1}",
            )


NETWORK = [
    *islands(2, 10, 10),  # two largest components
    *islands(4, 10, 9),  # two or one, by chance
    *islands(6, 5, 5, 5, 5),
    *diamond(10, "0 0", "0 0"),  # two routes in an AS
    *diamond(20, "1 1", "1 1"),  # two ingresses
    *diamond(30, "0 1", "0 1"),  # two routers on each side of a border
    *diamond(40, "1", "2"),  # two ASes
]


def lossy(draw: random.Random, hops: list[str], target: str) -> str:
    said = ["*" if draw.random() < LOSS else hop for hop in hops]
    return " ".join([*said, "*" if draw.random() < LOSS else f"{target}!", ">", target])


def measured(draw: random.Random, paths: list[Path]) -> dict[str, list[str]]:
    """The traces of one night, in any order."""
    return {
        vantage: [
            lossy(draw, [f"20.1.1.{at + 1}", *hops], target)
            for hops, target in draw.sample(paths, len(paths))
        ]
        for at, vantage in enumerate(VANTAGES)
    }


def test_ties_and_lost_answers_make_no_event(tmp_path):
    draw = random.Random(7)
    nights = (
        night(tmp_path / f"{at}", measured(draw, NETWORK), TABLE) for at in range(N_NIGHTS + 1)
    )
    said = {}
    for at, pair in enumerate(itertools.pairwise(nights)):
        _, events = compare_nights(*pair)
        if len(events):
            said[at] = list(zip(events.kind.tolist(), events.asn.tolist(), strict=True))
    assert not said


@pytest.mark.parametrize("island", [0, 1])
def test_one_of_two_largest_components_that_falls_apart_is_told(tmp_path, island):
    """Its sixth router is gone; what is behind is reached from another side."""
    side = [
        (["20.1.2.9", *(f"20.2.{island}.{i + 1}" for i in range(6, at))], f"20.5.{island}.{at}")
        for at in range(7, 11)
    ]
    network = [*islands(2, 10, 10), *side]
    gone = f"20.2.{island}.6"
    cut = [
        (hops[: hops.index(gone)], "") if gone in hops else (hops, target)
        for hops, target in network
    ]
    lines = [
        {
            vantage: [
                " ".join([f"20.1.1.{at + 1}", *hops, f"{end}!" if end else "*", ">", target])
                for (hops, end), (_, target) in zip(paths, network, strict=True)
            ]
            for at, vantage in enumerate(VANTAGES)
        }
        for paths in (network, cut)
    ]
    old, new = (night(tmp_path / f"{at}", own, TABLE) for at, own in enumerate(lines))
    changes, events = compare_nights(old, new)
    (row,) = (changes.kind == "split in parts").nonzero()[0]
    assert (changes.asn[row], changes.new[row]) == (2, 2)
    assert "AS split in parts" in events.kind
