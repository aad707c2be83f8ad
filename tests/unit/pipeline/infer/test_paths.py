"""Paths of vantage points: steps are shared, gaps are marked, whatever the order of traces."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.infer import infer_topology, paths
from pipeline.model.addresses import format_addr
from pipeline.model.measured.observations import FIRST, Observations
from tests.oracles.truth.sources import drawn
from tests.unit.pipeline.infer.handmade import nodes_of, observe, prefix_table, traces

LINES = (
    "20.1.0.1 20.1.0.2/7 20.2.0.1 > 20.3.0.9",
    "20.1.0.1 20.1.0.2/5 * 20.2.0.2 > 20.3.0.8",
    "20.1.0.1 20.1.0.2 20.2.0.1 > 20.3.0.9",
    "20.1.0.1 20.0.0.1 20.2.0.2 20.3.0.7! > 20.3.0.7",
    "20.1.0.1 20.1.0.1 20.1.0.3 > 20.3.0.6",
    "* * * > 20.3.0.5",
)


def seen_by(scratch, *batches) -> tuple[Observations, list[str]]:
    topology = infer_topology(
        [observe(scratch, *batches)],
        prefixes=prefix_table(scratch),
        borders="prefix",
        routers="interfaces",
    )
    assert topology.observations is not None
    return topology.observations, nodes_of(topology)


def ways(seen: Observations, names: list[str]) -> dict[tuple[str, str], list[tuple]]:
    """Hops and way of each path, a tilde before what is behind a gap, by its two ends."""
    found: dict[tuple[str, str], list[tuple]] = {}
    for i, at in enumerate(seen.paths.step.tolist()):
        way: list[str] = []
        while at != FIRST:
            way.insert(0, "~" * bool(seen.steps.across_gap[at]) + names[seen.steps.far[at]])
            before = int(seen.steps.before[at])
            near = FIRST if before == FIRST else seen.steps.far[before]
            assert seen.steps.near[at] == near
            assert seen.steps.vantage[at] == seen.paths.vantage[i]
            at = before
        target = format_addr(seen.paths.target_high[i], seen.paths.target_low[i])
        row = int(seen.paths.vantage[i])
        vantage = format_addr(seen.vantages.addr_high[row], seen.vantages.addr_low[row])
        facts = (
            int(seen.paths.n_traces[i]),
            int(seen.paths.n_hops[i]),
            bool(seen.paths.reached[i]),
        )
        found.setdefault((vantage, target), []).append((*facts, *way))
    return found


def test_paths_of_traces_written_by_hand(tmp_path):
    other = traces("20.1.0.3 20.2.0.1 > 20.3.0.9", source="20.5.0.1")
    seen, names = seen_by(tmp_path, traces(*LINES), other)
    one = "20.9.9.9"
    assert ways(seen, names) == {
        ("20.5.0.1", "20.3.0.9"): [(1, 2, False, "20.1.0.3", "20.2.0.1")],
        (one, "20.3.0.5"): [(1, 0, False)],
        (one, "20.3.0.6"): [(1, 3, False, "20.1.0.1", "20.1.0.3")],
        (one, "20.3.0.7"): [(1, 4, True, "20.1.0.1", "~20.2.0.2")],
        (one, "20.3.0.8"): [(1, 4, False, "20.1.0.1", "20.1.0.2", "~20.2.0.2")],
        (one, "20.3.0.9"): [(2, 3, False, "20.1.0.1", "20.1.0.2", "20.2.0.1")],
    }
    assert seen.vantages.asn.tolist() == [5, -1]
    shared = np.flatnonzero(seen.steps.far == names.index("20.1.0.2"))
    assert seen.steps.n_traces[shared].tolist() == [3]  # one row for the shared beginning
    assert seen.steps.rtt_ms[shared].tolist() == [5.0]


@pytest.mark.parametrize(
    ("line", "direct"),
    [
        ("20.1.0.1 20.3.0.7! > 20.3.0.7", True),  # right behind the last router
        ("20.1.0.1 * 20.3.0.7! > 20.3.0.7", False),
        ("20.1.0.1 * 20.3.0.1! > 20.3.0.1", True),  # it is the last router
        ("20.1.0.1 20.3.0.7 > 20.3.0.9", False),  # it did not answer
    ],
)
def test_a_target_that_answers_right_behind_the_last_router_or_is_that_is_direct(
    tmp_path, line, direct
):
    others = traces("20.1.0.1 20.3.0.1 20.3.0.2 > 20.3.0.9", source="20.5.0.1")  # a router
    seen, _ = seen_by(tmp_path, traces(line), others)
    of_line = seen.vantages.asn[seen.paths.vantage] == -1
    assert seen.paths.direct[of_line].tolist() == [direct]


@pytest.fixture(scope="module")
def simulated():
    fields = ("n_transit=6", "transit=(4, 12)", "n_vantage_points=5")
    with drawn("brite", 3, *fields).open(together=True) as lab:
        yield lab.observations[0]


def columns(seen: Observations) -> dict[str, list]:
    return {
        f"{type(table).__name__}.{name}": values.tolist()
        for table in (seen.vantages, seen.steps, seen.paths)
        for name, values in vars(table).items()
        if not name.startswith("rtt")
    }


def test_small_buckets_and_threads_give_the_same_paths(simulated, monkeypatch):
    options = {"asn": 1, "borders": "prefix", "routers": "interfaces"}
    whole = infer_topology([simulated], **options).observations
    monkeypatch.setattr(paths, "_BUCKET_HOPS", 500)
    cut = infer_topology([simulated], **options, workers=2).observations
    assert whole is not None
    assert cut is not None
    assert len(cut.vantages) == 5
    assert columns(cut)["Paths.target_low"] == columns(whole)["Paths.target_low"]
    every = infer_topology([simulated], **options)
    assert ways(cut, nodes_of(every)) == ways(whole, nodes_of(every))


def test_a_file_of_one_vantage_point_goes_into_the_bucket_of_that(tmp_path, monkeypatch):
    """Its piece has none of the first bucket."""

    def seen() -> list[tuple[str, str]]:
        files = [
            observe(tmp_path, traces("20.1.0.1 20.2.0.1 > 20.3.0.9", source=source))
            for source in ("20.4.0.1", "20.5.0.1", "20.6.0.1")
        ]
        options = {"asn": 1, "borders": "prefix", "routers": "interfaces"}
        topology = infer_topology(files, **options)
        assert topology.observations is not None
        return list(ways(topology.observations, nodes_of(topology)))

    whole = seen()
    monkeypatch.setattr(paths, "_BUCKET_HOPS", 2)
    assert seen() == whole
    assert len(whole) == 3
