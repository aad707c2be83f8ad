"""Exact searches on real worker processes, against NetworkX and SciPy."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from benchmarks.lib.graphs import attachment, cut_grid
from benchmarks.schedule.exact import search_exactly
from benchmarks.schedule.store import make_snapshot_of
from pipeline.metrics import WIDTH_METRICS
from pipeline.model.search.exact import ExactJob
from pipeline.model.words import number
from pipeline.schedule.cluster.open import open_cluster
from tests.integration.exact_search_runs import (
    numbers,
    run_deadly,
    run_failing,
    run_first_held,
    run_held,
    run_slowly,
)
from tests.integration.measured import config_for
from tests.oracles.widths import Truth, check_widths
from tests.shapes import graph_of, path

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

ATTACHMENT, GRID, PIECES, PATH = range(4)  # rows
pieces = [(i, i + 1) for i in range(60) if i not in (20, 45)] + [(50, 60), (3, 11)]
GRAPHS = [attachment(700), cut_grid(18), graph_of(64, pieces), path(202)]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot_of(tmp_path_factory.mktemp("store"), "wide", GRAPHS)


@pytest.fixture(scope="module")
def truth():
    return [Truth(graph) for graph in GRAPHS]


@pytest.fixture
def job(snapshot):
    def job(row, *metrics, device="cpu"):
        sizes = (int(snapshot.n_nodes[row]), int(snapshot.n_arcs[row]))
        return ExactJob(row, int(snapshot.asn[row]), *sizes, str(snapshot.path), metrics, device)

    return job


def kinds(outcomes, kind="candidate"):
    return [outcome for outcome in outcomes if outcome.task.kind == kind]


@pytest.mark.parametrize("pack", [None, 1, 5])
@pytest.mark.parametrize("schedule", ["free", "barrier"])
def test_all_widths_of_several_ases_at_once_agree_with_other_programs(
    own_cluster, job, truth, pack, schedule
):
    jobs = [job(row, *WIDTH_METRICS) for row in range(len(GRAPHS))]
    reported = []
    options = {"pack": pack, "schedule": schedule, "on_outcome": reported.append}
    answers = {a.job.row: a for a in search_exactly(own_cluster, jobs, **options)}
    assert sorted(answers) == list(range(len(GRAPHS)))
    for row, answer in answers.items():
        assert (answer.reason, answer.widths.exact[0]) == ("", True)
        check_widths(answer.widths, truth[row])
    assert len(kinds(reported, "opening")) == len(kinds(reported, "path")) == len(GRAPHS)
    assert all(outcome.error is None for outcome in reported)
    assert len({outcome.run.worker for outcome in reported}) == 2
    assert all(outcome.result.read_s >= 0 for outcome in reported)


def test_questions_one_by_one(own_cluster, job, truth):
    for row in range(len(GRAPHS)):
        for metric in WIDTH_METRICS:
            (answer,) = search_exactly(own_cluster, [job(row, metric)])
            assert answer.widths.exact[0]
            check_widths(answer.widths, truth[row])


def test_a_slow_search_does_not_delay_others(own_cluster, job, truth, tmp_path):
    reported = []
    run = partial(run_slowly, folder=str(tmp_path))
    jobs = [job(ATTACHMENT, "eccentricities")]
    (answer,) = search_exactly(own_cluster, jobs, pack=1, on_outcome=reported.append, run=run)
    assert (tmp_path / "slow").exists()
    assert all(outcome.error is None for outcome in reported)
    check_widths(answer.widths, truth[ATTACHMENT])
    assert answer.widths.exact[0]


def test_an_answer_does_not_wait_for_searches_that_it_no_longer_needs(
    own_cluster, job, truth, tmp_path
):
    """The radius of a path of 202 nodes, once node 1 has been searched, is known by its middle."""
    reported = []

    def note(outcome):
        reported.append(outcome)
        if outcome.task.kind == "candidate":
            (tmp_path / f"seen-{outcome.task.sources[0]}").touch()

    run = partial(run_held, folder=str(tmp_path), quick=101)
    answers = search_exactly(own_cluster, [job(PATH, "radius")], on_outcome=note, run=run)
    answer = next(answers)
    held = numbers(tmp_path, "held-*")
    assert held.isdisjoint(numbers(tmp_path, "seen-*"))  # they run
    assert held
    (tmp_path / "released").touch()
    assert list(answers) == []
    check_widths(answer.widths, truth[PATH])
    assert answer.widths.exact[0]
    sources = [int(outcome.task.sources[0]) for outcome in kinds(reported)]
    assert sorted(sources) == sorted(numbers(tmp_path, "started-*"))  # each once
    assert all(outcome.error is None for outcome in reported)


def test_an_as_that_waits_stops_no_other(own_cluster, job, truth, tmp_path):
    jobs = [job(row, *WIDTH_METRICS) for row in (GRID, ATTACHMENT, PIECES)]
    asn = jobs[0].asn
    run = partial(run_first_held, folder=str(tmp_path), asn=asn)
    rows = []
    for answer in search_exactly(own_cluster, jobs, run=run):
        rows.append(answer.job.row)
        check_widths(answer.widths, truth[answer.job.row])
        if len(rows) == 2:
            assert GRID not in rows or not (tmp_path / "released").exists()
            (tmp_path / "released").touch()
    assert sorted(rows) == [ATTACHMENT, GRID, PIECES]
    assert (tmp_path / "held").exists()


@pytest.mark.parametrize("pack", [1, 8])
def test_a_worker_killed_in_the_middle_costs_nothing_but_time(
    own_cluster, job, truth, tmp_path, pack
):
    reported = []
    run = partial(run_deadly, folder=str(tmp_path))
    jobs = [job(ATTACHMENT, "eccentricities", "diameter"), job(GRID, "center")]
    answers = list(
        search_exactly(own_cluster, jobs, pack=pack, on_outcome=reported.append, run=run)
    )
    assert (tmp_path / "three").exists()
    assert len(answers) == 2
    for answer in answers:
        assert answer.widths.exact[0]
        check_widths(answer.widths, truth[answer.job.row])
    assert any("died" in str(a.error) for outcome in reported for a in outcome.failed)
    assert all(outcome.error is None for outcome in reported)
    own_cluster.client.wait_for_workers(2, timeout=180)


def test_a_run_cut_short_reports_an_interval(own_cluster, job, truth):
    for metrics in (("diameter", "radius"), ("eccentricities",)):
        for limit in (0, 1, 5):
            jobs = [job(ATTACHMENT, *metrics)]
            (answer,) = search_exactly(own_cluster, jobs, max_searches=limit)
            check_widths(answer.widths, truth[ATTACHMENT])
            assert answer.widths.n_searches[0] <= limit
            assert answer.widths.exact[0] == (answer.reason == "")
            if limit < 2:
                assert answer.reason.startswith(
                    f"stopped after {number(limit, 'search')}, the limit"
                )


def test_an_as_that_fails_for_good_is_reported_with_its_reason(own_cluster, job, truth):
    reported = []
    jobs = [job(ATTACHMENT, "eccentricities"), job(GRID, "diameter")]
    for answer in search_exactly(own_cluster, jobs, on_outcome=reported.append, run=run_failing):
        assert not answer.widths.exact[0]
        assert (answer.reason, answer.is_failed) == ("a disk full of holes", True)
        check_widths(answer.widths, truth[answer.job.row])
    # Two failures of each AS are reported before the third, with up to four tasks in flight.
    assert 2 * 2 <= sum(outcome.error is not None for outcome in reported) <= 2 * (2 + 4)


def test_stopping_early_leaves_nothing_behind(own_cluster, job):
    answers = search_exactly(own_cluster, [job(PATH, "radius"), job(GRID, "eccentricities")])
    next(answers)
    answers.close()
    (answer,) = search_exactly(own_cluster, [job(PATH, "radius")])
    assert answer.widths.exact[0]


@pytest.mark.gpu
def test_searches_on_a_gpu_agree_with_other_programs(snapshot, job, truth, tmp_path):
    with open_cluster(config_for(snapshot, tmp_path, device="gpu")) as cluster:
        for pack in (None, 1, 5):
            jobs = [job(row, *WIDTH_METRICS, device="gpu") for row in range(len(GRAPHS))]
            reported = []
            for answer in search_exactly(cluster, jobs, pack=pack, on_outcome=reported.append):
                assert answer.widths.exact[0], answer.reason
                check_widths(answer.widths, truth[answer.job.row])
            assert {outcome.run.device for outcome in kinds(reported)} == {"gpu"}


def test_results_take_two_bytes_per_node(own_cluster, job):
    reported = []
    list(search_exactly(own_cluster, [job(ATTACHMENT, "center")], on_outcome=reported.append))
    (opened,) = kinds(reported, "opening")
    assert opened.result.component is None
    assert opened.result.degree.dtype == np.uint16
    for outcome in kinds(reported):
        found = outcome.result
        assert found.lower.nbytes + found.upper.nbytes == 2 * GRAPHS[ATTACHMENT].n_nodes
