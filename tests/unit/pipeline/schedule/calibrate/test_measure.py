"""Fits recover what was planted; probes measure what tasks run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.schedule.calibrate import measure as calibrate
from pipeline.schedule.calibrate.measure import Probe, Sample, fit, fit_line, run_probe
from pipeline.schedule.plan.costs import DEFAULTS, LEAST_EACH_S, LEAST_S, Cost, Costs
from tests.soak import examples

ARCS = np.array([4_000, 40_000, 400_000, 4_000_000])


@settings(max_examples=examples(100), deadline=None)
@given(fixed_s=st.floats(1e-6, 1e-2), arc_s=st.floats(1e-11, 1e-7))
def test_a_fit_recovers_a_line(fixed_s, arc_s):
    found = fit_line(ARCS, fixed_s + arc_s * ARCS)
    assert found == pytest.approx((fixed_s, arc_s), rel=1e-3)


@settings(max_examples=examples(100), deadline=None)
@given(
    fixed_s=st.floats(1e-5, 1e-3),
    arc_s=st.floats(1e-10, 1e-8),
    noise=st.lists(st.floats(-0.1, 0.1), min_size=4, max_size=4),
)
def test_noise_of_a_tenth_moves_no_estimate_by_more_than_a_quarter(fixed_s, arc_s, noise):
    wanted = fixed_s + arc_s * ARCS
    a, b = fit_line(ARCS, wanted * (1 + np.array(noise)))
    assert a + b * ARCS == pytest.approx(wanted, rel=0.25)


@pytest.mark.parametrize(
    ("arcs", "seconds"),
    [
        (ARCS, 1e-12 * ARCS.astype(float) ** 2),  # the line of least squares starts below zero
        (ARCS, 1 / ARCS),  # ... or falls
        ([1000], [1e-3]),
        ([0, 0], [1e-3, 2e-3]),
        (ARCS, [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_no_cost_is_negative_or_zero(arcs, seconds):
    found = fit_line(arcs, seconds)
    assert (np.array(found) >= (LEAST_S, LEAST_EACH_S)).all()  # else its file would not be read
    assert np.isfinite(found).all()


PLANTED = Costs(
    cpu=Cost(2e-5, 7e-9, 5e-5, 4e-8),
    gpu=Cost(1e-4, 1e-10, 2e-4, 7e-10),
    transfer_byte_s=1e-10,
    task_s=2e-3,
    source="planted",
)


def samples_of(costs, devices):
    made = [Sample("cpu", "task", 0, 0, costs.task_s)]
    for n_arcs in ARCS.tolist():
        n_nodes = n_arcs // 4
        for device in devices:
            cost = costs.of(device)
            made.append(Sample(device, "search", n_nodes, n_arcs, float(cost.search(n_arcs))))
            made.append(Sample(device, "sweep", n_nodes, n_arcs, float(cost.sweep(n_arcs))))
        if "gpu" in devices:
            seconds = costs.transfer_byte_s * (8 * (n_nodes + 1) + 4 * n_arcs)
            made.append(Sample("gpu", "transfer", n_nodes, n_arcs, seconds))
    return made


def test_planted_costs_and_their_crossing_are_recovered():
    found = fit(samples_of(PLANTED, ("cpu", "gpu")), source="here")
    for device in ("cpu", "gpu"):
        assert vars(found.of(device)) == pytest.approx(vars(PLANTED.of(device)), rel=1e-6)
    assert found.transfer_byte_s == pytest.approx(PLANTED.transfer_byte_s)
    assert found.task_s == PLANTED.task_s
    assert found.source == "here"
    for n_sources in (1, 100):
        n_nodes = found.crossing(n_sources)
        assert n_nodes == pytest.approx(PLANTED.crossing(n_sources))
        pack = 1 if n_sources == 1 else None
        for factor, wins in ((0.99, False), (1.01, True)):
            n_arcs = 4 * factor * n_nodes
            assert PLANTED.gpu_wins(factor * n_nodes, n_arcs, n_sources, pack) == wins


def test_without_a_gpu_its_costs_are_the_defaults_and_called_so():
    found = fit(samples_of(PLANTED, ("cpu",)), source="here")
    assert vars(found.cpu) == pytest.approx(vars(PLANTED.cpu), rel=1e-6)
    assert found.gpu == DEFAULTS.gpu
    assert found.transfer_byte_s == DEFAULTS.transfer_byte_s
    assert found.source == f"here; gpu: {DEFAULTS.source}"


@pytest.mark.parametrize(
    ("gpu", "crossing"),
    [
        (Cost(1.0, 1.0, 1.0, 1.0), float("inf")),
        (Cost(1e-9, 1e-12, 1e-9, 1e-12), 0.0),
        (Cost(1e-9, 1.0, 1e-9, 1.0), float("inf")),  # sooner for a while, then never
    ],
)
def test_a_gpu_may_win_always_or_never(gpu, crossing):
    costs = Costs(PLANTED.cpu, gpu, 1e-12, 1e-3, "planted")
    assert costs.crossing(1) == crossing
    assert costs.crossing(100) == crossing


def probe(devices, monkeypatch):
    monkeypatch.setattr(calibrate, "SAMPLE_S", 0.0)
    return run_probe(Probe(300, devices))


def test_a_probe_measures_what_tasks_run(monkeypatch):
    found = probe(("cpu",), monkeypatch)
    assert [(s.device, s.what, s.n_nodes) for s in found] == [
        ("cpu", "search", 300),
        ("cpu", "sweep", 300),
    ]
    assert all(0 < s.seconds < 10 and s.n_arcs > 600 for s in found)


@pytest.mark.gpu
def test_a_probe_measures_the_gpu_and_the_way_there(monkeypatch):
    found = probe(("cpu", "gpu"), monkeypatch)
    assert [(s.device, s.what) for s in found[2:]] == [
        ("gpu", "transfer"),
        ("gpu", "search"),
        ("gpu", "sweep"),
    ]
    assert all(0 < s.seconds < 10 for s in found)
