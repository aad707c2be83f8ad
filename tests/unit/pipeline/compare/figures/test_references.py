"""References smoothed over nights: what they find, and what they do not report again."""

from __future__ import annotations

import itertools
import os
import random

import numpy as np
import pytest

from pipeline.compare import Events, Night, References, compare_nights, follow
from pipeline.compare.figures.references import ALPHA
from tests.oracles.nights.delays import BAD_NIGHT, DRIFT, N_NIGHTS, STEP, Reported, judge_delays
from tests.soak import WHOLE
from tests.unit.pipeline.compare.by_hand import night
from tests.unit.pipeline.infer.handmade import alias_sets

VANTAGES = range(1, 9)
TO = "20.3.0.9! > 20.3.0.9"


def links(added_ms: float, far: str = "20.1.0.2") -> dict[str, list[str]]:
    """One link seen from eight vantage points."""
    return {
        f"20.7.0.{i}": [f"20.1.0.1/{i} {far}/{i + 10 + added_ms + i / 8} > 20.3.0.9"]
        for i in VANTAGES
    }


def ways(n_more: int, n_changed: int = 8) -> dict[str, list[str]]:
    """Ways to one host; some vantage points have more hops on theirs."""
    hops = ["20.1.0.1", *(f"20.1.0.{10 + i}" for i in range(n_more)), "20.1.0.2"]
    return {
        f"20.7.0.{i}": [f"{' '.join(hops if i <= n_changed else [hops[0], hops[-1]])} {TO}"]
        for i in VANTAGES
    }


def compared(nights: list[Night]) -> list[tuple[list[str], Events]]:
    """Kinds of delays and lengths that each night but the first reports, with references."""
    usual, reported = References.none(), []
    for old, new in itertools.pairwise(nights):
        usual = follow(usual, old)
        changes, events = compare_nights(old, new, usual)
        of_figures = np.isin(changes.what, ("link", "paths"))
        kinds = np.isin(changes.kind, ("slower", "faster", "longer", "shorter"))
        reported.append((changes.kind[of_figures & kinds].tolist(), events))
    return reported


def kinds_of(tmp_path, values, make=links) -> list[list[str]]:
    nights = [night(tmp_path / str(i), make(value)) for i, value in enumerate(values)]
    return [kinds for kinds, _ in compared(nights)]


@pytest.mark.parametrize(
    ("values", "reported"),
    [
        # A drift of less than a millisecond a night adds up.
        ([0, 0, 0, 0.4, 0.8, 1.2, 1.3], [[], [], [], [], ["slower"], []]),
        # A bad night is reported, its end is not.
        ([0, 0, 0, 5, 0, 0], [[], [], ["slower"], [], []]),
        # A level that lasts is reported once; after three nights it is usual, and its end is news.
        ([0, 0, 0, 5, 5, 5, 5, 0], [[], [], ["slower"], [], [], [], ["faster"]]),
        # What continues to change is news.
        ([0, 0, 0, 5, 10], [[], [], ["slower"], ["slower"]]),
        # On the way back it is no slower than it was.
        ([0, 0, 0, 10, 5], [[], [], ["slower"], []]),
        # However bad a night is, the next ones are no faster than usual.
        ([0, 0, 0, 90, 0, 0, 0], [[], [], ["slower"], [], [], []]),
        # With fewer than three nights only the night before counts.
        ([0, 5, 0], [["slower"], ["faster"]]),
    ],
)
def test_a_link_is_compared_with_what_was_usual(tmp_path, values, reported):
    assert kinds_of(tmp_path, values) == reported


@pytest.mark.parametrize(
    ("values", "reported"),
    [
        # Fewer than half of the pairs a night take a longer way.
        ([0, 0, 0, 3, 6, 8], [[], [], [], [], ["longer"]]),
        ([0, 0, 0, 8, 0], [[], [], ["longer"], []]),
        ([0, 0, 0, 8, 8, 8, 0], [[], [], ["longer"], [], [], ["shorter"]]),
    ],
)
def test_hops_are_compared_with_what_was_usual(tmp_path, values, reported):
    assert kinds_of(tmp_path, values, lambda n: ways(1, n)) == reported


def test_the_older_values_of_changes_are_references(tmp_path):
    nights = [night(tmp_path / str(i), links(added)) for i, added in enumerate((0, 0.2, 0.4))]
    usual = References.none()
    for each in nights:
        usual = follow(usual, each)
    assert (usual.n_nights, usual.since) == (3, "night")
    changes, events = compare_nights(nights[-1], night(tmp_path / "new", links(6)), usual)
    assert changes.kind.tolist() == ["slower"]
    assert changes.old[0] == pytest.approx(10 + 0.2 + 4.5 / 8)  # the median of three nights
    assert changes.new[0] == pytest.approx(10 + 6 + 4.5 / 8)
    assert events.kind.tolist() == ["links slower"]


def test_with_fewer_nights_the_night_before_is_the_reference(tmp_path):
    old, new = night(tmp_path / "old", links(0)), night(tmp_path / "new", links(5))
    alone = compare_nights(old, new)
    for usual in (References.none(), follow(References.none(), old)):
        changes, events = compare_nights(old, new, usual)
        assert changes.old.tolist() == alone[0].old.tolist()
        assert events.kind.tolist() == alone[1].kind.tolist() == ["links slower"]


def test_what_was_told_is_not_told_again_as_baselines_of_more_links_get_old_enough(tmp_path):
    """Two of six vantage points cross the link since one night: they moved by less than noise.

    On the next night they were taken to have stayed where they were, and the older night was no
    longer off; so what had been told was news again.
    """

    def made(number: int, young_ms: float, old_ms: float) -> Night:
        added = [young_ms, young_ms, *[old_ms] * 4]
        lines = {
            f"20.7.0.{i}": [f"20.1.0.1/{i} 20.1.0.2/{i + 60 + ms} > 20.3.0.9"]
            for i, ms in enumerate(added, start=1)
            if number > 1 or i > 2
        }
        return night(tmp_path / str(number), lines)

    nights = [made(i, 0, 0) for i in range(3)] + [made(3, -0.1, -50), made(4, -0.2, -50)]
    assert [kinds for kinds, _ in compared(nights)][2:] == [["faster"], []]


def test_values_are_smoothed_by_alpha(tmp_path):
    usual = References.none()
    for i, added in enumerate((0, 0.3, 0.6, 0.9)):
        usual = follow(usual, night(tmp_path / str(i), links(added)))
    own = usual.usual[~usual.is_pair]
    one = own[usual.vantage[~usual.is_pair].argmin()]
    assert one == pytest.approx(10 + 0.3 + ALPHA * 0.6 + 1 / 8, abs=1e-4)


def test_a_router_under_another_of_its_addresses_is_the_same(tmp_path):
    sets = alias_sets(("20.1.0.2", "20.1.0.9"))
    nights = [night(tmp_path / str(i), links(0), aliases=sets) for i in range(3)]
    nights.append(night(tmp_path / "other", links(0, "20.1.0.9"), aliases=sets))
    nights.append(night(tmp_path / "slow", links(5, "20.1.0.9"), aliases=sets))
    assert [kinds for kinds, _ in compared(nights)] == [[], [], [], ["slower"]]


def test_what_is_not_seen_for_a_week_is_forgotten(tmp_path):
    seen, other = night(tmp_path / "a", links(0)), night(tmp_path / "b", links(0, "20.2.0.7"))
    usual = follow(References.none(), seen)
    n_seen = len(usual)
    for _ in range(7):
        usual = follow(usual, other)
    assert len(usual) > n_seen
    usual = follow(usual, other)
    assert len(usual) == len(follow(References.none(), other))


def test_a_night_without_traces_changes_no_reference(tmp_path):
    usual = follow(References.none(), night(tmp_path / "a", links(0)))
    assert follow(usual, night(tmp_path / "b", links(0), observations=False)) is usual


@pytest.mark.soak
def test_drifts_are_found_and_bad_nights_told_once():
    seeds, n_nights = [301], 18
    if WHOLE:
        n_nights = N_NIGHTS
        draw = random.Random(os.environ.get("SEED"))
        seeds = [draw.randrange(10_000, 1_000_000) for _ in range(6)]
    alone, smooth = Reported(), Reported()
    for seed in seeds:
        reported = judge_delays(seed, (None, ALPHA), n_nights)
        alone.add(reported[None])
        smooth.add(reported[ALPHA])
    said = f"seeds {seeds}: {smooth}, without references {alone}"
    assert smooth.found.total() >= 0.95 * smooth.planted.total(), said
    assert alone.found[DRIFT] < smooth.found[DRIFT], said
    assert min(smooth.found[STEP], smooth.found[BAD_NIGHT]) > 0, said
    assert smooth.again.total() <= smooth.planted.total() / 10, said
    assert smooth.n_false <= max(smooth.n_nights / 10, alone.n_false), said
