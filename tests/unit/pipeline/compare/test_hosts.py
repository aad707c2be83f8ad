"""Hosts of an AS that fall silent while its routers answer, on traces written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.compare import compare_nights, hosts
from pipeline.compare.changes import QUIET, Changes
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night
from tests.unit.pipeline.infer.handmade import PREFIXES

VANTAGES = (ONE, TWO, THREE)


def lines(*dead: str) -> dict[str, list[str]]:
    """Traces to eight hosts in each of AS2 and AS3; ``dead``: those that do not answer."""
    targets = [f"20.{asn}.1.{i}" for asn in (2, 3) for i in range(1, 9)]
    way = "20.1.0.1 20.{}.0.1"
    return {
        v: [
            f"{way.format(host.split('.')[1])} {'' if host in dead else host + '!'} > {host}"
            for host in targets
        ]
        for v in VANTAGES
    }


OF_TWO = [f"20.2.1.{i}" for i in range(1, 9)]


@pytest.mark.parametrize(
    ("dead", "left", "prefix"),
    [(OF_TWO, 0, ""), (OF_TWO[3:6], 5, "20.2.1.4/30"), (OF_TWO[:1], None, "")],
    ids=["all", "neighbouring ones", "a single one"],
)
def test_more_silent_hosts_of_an_as_than_chance_explains(tmp_path, dead, left, prefix):
    old, new = night(tmp_path / "old", lines()), night(tmp_path / "new", lines(*dead))
    changes, events = compare_nights(old, new)
    kinds = [] if left is None else ["hosts silent"]
    assert events.kind.tolist() == kinds
    if left is not None:
        row = events.first[0]
        assert (changes.asn[row], changes.old[row], changes.new[row]) == (2, 8, left)
        assert (changes.n_pairs[row], changes.reason[row]) == (3 * len(dead), prefix)
        assert compare_nights(new, old)[1].kind.tolist() == ["hosts answer again"]


def test_hosts_that_fall_silent_everywhere_say_nothing_of_an_as(tmp_path):
    some = [f"20.{asn}.1.{i}" for asn in (2, 3) for i in (1, 4, 7)]
    old, new = night(tmp_path / "old", lines()), night(tmp_path / "new", lines(*some))
    assert compare_nights(old, new)[1].kind.tolist() == []


def test_silent_hosts_of_ipv4_and_ipv6_are_named_by_a_prefix_of_each(tmp_path):
    in_six = [f"2001:db8:2::{i}" for i in range(1, 9)]
    table = f"{PREFIXES}2001:db8:2::\t48\t2\n"
    nights = []
    for name, dead in (("old", ()), ("new", (*OF_TWO[5:], *in_six[:2]))):
        ways = lines(*dead)
        for own in ways.values():
            own += [f"20.1.0.1 20.2.0.1 {'' if h in dead else h + '!'} > {h}" for h in in_six]
        nights.append(night(tmp_path / name, ways, table))
    changes, events = compare_nights(*nights)
    assert events.kind.tolist() == ["hosts silent"]
    assert changes.reason[events.first[0]] == "20.2.1.0/28 and 2001:db8:2::/126"


@pytest.mark.parametrize(("n_ases", "n_hosts", "share"), [(20, 30, 0.03), (5, 200, 0.1)])
def test_hosts_that_fall_silent_at_random_say_something_on_few_nights(n_ases, n_hosts, share):
    n_nights = 100
    rng = np.random.default_rng(7)
    dead = rng.random((n_nights, n_ases * n_hosts)) < share
    told = [len(of_hosts(each, n_hosts)) > 0 for each in dead]
    assert (
        sum(told) <= 0.05 * n_nights
    )  # half of the first sort, if the part were the only one asked


def test_neighbouring_hosts_among_many_are_still_told():
    rng = np.random.default_rng(7)
    dead = rng.random(5 * 200) < 0.01
    dead[230:236] = True
    assert of_hosts(dead, 200).asn.tolist() == [2]


def test_few_of_many_hosts_are_as_likely_as_the_binomial_distribution_says():
    for k, n, share, chance in ((2, 3, 0.5, 0.5), (3, 3, 0.01, 1e-6), (8, 40, 0.05, 7.115e-4)):
        assert hosts._at_least(k, n, share) == pytest.approx(chance, rel=1e-2)
    assert 0 < hosts._at_least(60, 1000, 0.01) < 1e-26


def of_hosts(is_dead: np.ndarray, n_hosts: int) -> Changes:
    """What is reported of hosts of ASes of equal size, each seen from three vantage points."""
    n = len(is_dead)
    target, vantage = np.tile(np.arange(n), 3), np.repeat(np.arange(3), n)
    addr = np.stack([np.zeros(n, np.uint64), np.arange(n).astype(np.uint64)], axis=1)
    answers, n_traces = np.tile(~is_dead, 3), np.ones(3 * n, np.int64)
    asn = target // n_hosts + 1
    return hosts._of_ases(QUIET, target, asn, answers, vantage, n_traces, addr[target])
