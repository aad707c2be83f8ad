"""The registry of metrics, and what is written from it."""

from __future__ import annotations

import re
from itertools import chain, combinations

import pytest

from kernels.eccentricity.questions import QUESTIONS
from kernels.exact_search import plan_questions
from pipeline.metrics import (
    METRICS,
    WIDTH_METRICS,
    columns_of,
    compiled_work,
    implied_by,
    names_for_all,
    own_kernels,
    tasks_of,
)
from pipeline.metrics.columns import WEIGHTED
from pipeline.report.tables.columns import arrow_type
from tests.real_data import REPOSITORY

TASKS = tuple(dict.fromkeys(metric.task for metric in METRICS.values()))


def test_every_metric_has_columns_of_its_task_and_a_section():
    folder = REPOSITORY / "pipeline" / "report" / "templates"
    for metric in METRICS.values():
        reported = [*chain(*(columns_of(metric.task, t) for t in ("ases", "nodes", "ingresses")))]
        assert metric.columns
        assert set(metric.columns) <= set(reported)
        assert (folder / metric.section).is_file()
        assert metric.question.endswith("?")


def test_no_two_columns_of_a_table_share_a_name():
    for table in ("ases", "nodes", "ingresses"):
        names = [column.name for task in TASKS for column in columns_of(task, table)]
        assert len(names) == len(set(names))


def test_types_are_those_of_arrow():
    for task in TASKS:
        for column in columns_of(task):
            inner = re.sub(r"list<(.*)>", r"\1", column.dtype)
            reported = {"float64": "double"}.get(inner, inner)
            expected = column.dtype.replace(inner, reported)
            assert (
                str(arrow_type(column)).replace("element: ", "").replace("item: ", "") == expected
            )


def test_metrics_become_tasks():
    assert tasks_of(["radius", "weighted_center", "effective_diameter", "unheard of"]) == {
        "widths": ("radius",),
        "weighted": ("center",),
        "effective": ("effective_diameter",),
    }
    assert tasks_of([]) == {}
    assert set(own_kernels()) == {metric.task for metric in METRICS.values() if metric.kernel}
    assert [name for name in METRICS if name not in names_for_all()] == [
        name for name in METRICS if name.startswith(WEIGHTED)
    ]


def test_widths_are_the_questions_of_kernels_in_their_order():
    assert WIDTH_METRICS == QUESTIONS


@pytest.mark.parametrize("n", range(1, len(WIDTH_METRICS) + 1))
def test_planned_questions_imply_all_requested_metrics_and_no_other(n):
    for requested in combinations(WIDTH_METRICS, n):
        planned = plan_questions(requested)
        assert set(planned) <= set(requested)
        assert all(implied_by(name) & set(planned) for name in requested)
        assert all(implied_by(name) & set(planned) == {name} for name in planned)


def test_only_what_metrics_need_is_compiled():
    assert compiled_work(["hops"]) == ("searches",)
    assert compiled_work(["effective_diameter"]) == ("searches", "widths")
    assert compiled_work(["weighted_radius"]) == ("searches", "widths", "weights")


def test_no_column_by_weight_is_said_to_be_in_hops():
    for table in ("ases", "nodes"):
        columns = columns_of("weighted", table)
        assert columns
        assert not [c.name for c in columns if "hops" in c.means or c.unit == "hops"]
