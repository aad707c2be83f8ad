"""RTT added behind ingresses, of hand-made traces and against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.infer import infer_topology, samples
from pipeline.model.topology import Topology
from tests.unit.pipeline.infer.handmade import (
    classic,
    infer,
    nodes_of,
    observe,
    prefix_table,
    traces,
)

A, B = "20.1.0.10", "20.1.0.20"
X, Y, W, V = (f"20.2.0.{i}" for i in (10, 20, 30, 40))
Z = "20.3.0.10"


def delays_of(topology: Topology) -> dict[str, dict]:
    """Figures of each ingress that has any."""
    names, table, found = nodes_of(topology), topology.ingresses, {}
    delays = table.delays
    assert delays is not None
    assert len(delays) == len(table)
    for i, node in enumerate(table.node.tolist()):
        some = slice(*delays.ttl_ptr[i : i + 2])
        if delays.n_traces[i] or some.start < some.stop:
            found[names[node]] = {
                "ms": [float(c[i]) for c in (delays.p25_ms, delays.ms, delays.p75_ms)],
                "n": (int(delays.n_traces[i]), int(delays.n_vantages[i])),
                "below": int(delays.n_negative[i]),
                "by_ttl": delays.by_ttl_ms[some].tolist(),
                "n_by_ttl": delays.by_ttl_n_traces[some].tolist(),
            }
        else:
            assert np.isnan(delays.ms[i])
    return found


def test_a_delay_is_that_of_the_last_router_of_the_as_minus_that_of_the_ingress(tmp_path):
    lines = [f"{A}/1 {X}/2 {Y}/7 {Z}/9", f"{A}/1 {X}/4 {Y}/3", f"{B}/1 {X}/4 * {Y}/14.5"]
    assert delays_of(infer(tmp_path, *lines)) == {
        X: {
            "ms": [2.0, 5.0, 7.75],
            "n": (3, 1),
            "below": 1,  # counted as it is, not left out
            "by_ttl": [2.0, 10.5],
            "n_by_ttl": [2, 1],
        }
    }


@pytest.mark.parametrize(
    "line",
    [
        f"{A}/1 {X}/2 {Z}/9",  # one router only
        f"{A}/1 * {X}/2 {Y}/5",  # no ingress: entered after a gap
        f"{X}/1 {Y}/5",  # how it was entered is not seen
        f"{A}/1 {X}/nan {Y}/5",
        f"{A}/1 {X}/2 {Y}/nan",
        f"{A}/1 {X}/2 {Y}/5! > {Y}",  # the destination's own answer: a host
        f"{A}/1 {X}/2 {X}/5",  # the same router again
        f"{A}/1 {X}/2 {Z}/3 {Y}/5",  # Y is behind another AS: another visit
    ],
)
def test_what_shows_no_second_router_of_the_visit_shows_no_delay(tmp_path, line):
    # Elsewhere Y answers as a router.
    assert X not in delays_of(infer(tmp_path, line, f"{Y}/1 {A}/2"))


def test_a_trace_that_comes_back_is_another_visit(tmp_path):
    found = delays_of(infer(tmp_path, f"{A}/1 {X}/2 {Y}/5 {Z}/6 {W}/8 {V}/9.5"))
    assert {at: one["ms"][1] for at, one in found.items()} == {X: 3.0, W: 1.5}


def test_what_lies_between_routers_of_no_as_is_passed_over(tmp_path):
    found = delays_of(infer(tmp_path, f"{A}/1 {X}/2 20.0.0.10/3 {Y}/6"))
    assert found[X]["by_ttl"][1] == found[X]["ms"][1] == 4.0
    assert np.isnan(found[X]["by_ttl"][0])


def test_vantage_points_are_counted(tmp_path):
    seen = [
        observe(tmp_path, traces(f"{A}/1 {X}/2 {Y}/{rtt}", source=source))
        for rtt, source in ((3, "20.9.9.9"), (4, "20.9.9.8"), (5, "20.9.9.9"))
    ]
    found = delays_of(infer_topology(seen, prefixes=prefix_table(tmp_path), workers=2))
    assert found[X]["n"] == (3, 2)


@pytest.mark.parametrize(("n_classic", "n"), [(0, 2), (1, 1), (4, 0)])
def test_a_classic_trace_that_seems_to_skip_the_ingress_shows_no_delay(tmp_path, n_classic, n):
    """Most traces come to Y by X, so only a Paris trace shows that Y is entered from outside."""
    lines = [*[f"{A}/1 {X}/2 {Y}/4 {W}/5"] * 2, *[f"{A}/1 {Y}/4 {W}/5"] * 2]
    topology = infer_topology(
        [observe(tmp_path, classic(traces(*lines), n_classic))],
        prefixes=prefix_table(tmp_path),
        borders="prefix",
        routers="interfaces",
    )
    found = delays_of(topology)
    assert found.get(Y, {"n": (0, 0)})["n"][0] == n


@pytest.mark.parametrize("bucket", [1 << 22, 64, 7])
@pytest.mark.parametrize("workers", [1, 3])
def test_quartiles_are_exact_however_samples_are_cut(tmp_path, monkeypatch, bucket, workers):
    monkeypatch.setattr(samples, "BUCKET_SAMPLES", bucket)
    rng = np.random.default_rng(5)
    entries, inside = [f"20.2.0.{i}" for i in (1, 2, 3)], [f"20.2.1.{i}" for i in range(9)]
    last: dict[str, list[float]] = {}
    by_ttl: dict[tuple[str, int], list[float]] = {}
    lines = []
    for _ in range(400):
        at, n = entries[rng.integers(3)], int(rng.integers(1, 5))
        first, *more = np.round(rng.random(n + 1) * 20, 3).tolist()
        routers = rng.choice(inside, n, replace=False).tolist()
        hops = [f"{router}/{rtt}" for router, rtt in zip(routers, more, strict=True)]
        lines.append(" ".join([f"{A}/1", f"{at}/{first}", *hops]))
        last.setdefault(at, []).append(more[-1] - first)
        for ttl, rtt in enumerate(more, start=1):
            by_ttl.setdefault((at, ttl), []).append(rtt - first)
    seen = [observe(tmp_path, traces(*lines[i::2])) for i in (0, 1)]
    topology = infer_topology(
        seen,
        prefixes=prefix_table(tmp_path),
        routers="interfaces",
        borders="prefix",
        workers=workers,
    )
    found = delays_of(topology)
    for at, values in last.items():
        assert found[at]["ms"] == pytest.approx(np.percentile(values, [25, 50, 75]), abs=1e-3)
        assert found[at]["n"] == (len(values), 1)
        assert found[at]["below"] == sum(value < 0 for value in values)
        for ttl, median in enumerate(found[at]["by_ttl"], start=1):
            assert median == pytest.approx(np.median(by_ttl[at, ttl]), abs=1e-3)
            assert found[at]["n_by_ttl"][ttl - 1] == len(by_ttl[at, ttl])
