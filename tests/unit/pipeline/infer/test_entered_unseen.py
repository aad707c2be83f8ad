"""Traces that begin inside an AS: how they came in is not shown."""

from dataclasses import replace

import numpy as np
import pytest

from pipeline.infer import infer_topology
from pipeline.model.measured.traces import PART_FURTHER
from tests.unit.pipeline.infer.handmade import observe, prefix_table, traces

A, B, C = "20.1.0.10", "20.2.0.10", "20.3.0.10"
A2, B2, C2 = "20.1.0.20", "20.2.0.20", "20.3.0.20"
LAN, PRIVATE = "10.0.0.1", "192.168.1.7"
ELSEWHERE, NOWHERE, WITHOUT_ROUTERS = "20.1.7.7", "20.0.7.7", "20.8.7.7"


def begun(tmp_path, *batches, **options):
    observations = [observe(tmp_path, batch) for batch in batches]
    topology = infer_topology(
        observations, prefixes=prefix_table(tmp_path), borders="prefix", **options
    )
    assert topology.counts["entered_unseen"] == sum(topology.entered_unseen.values())
    return topology.entered_unseen


@pytest.mark.parametrize(
    ("source", "line", "expected"),
    [
        (ELSEWHERE, f"{B} {B2} {C}", {2: 1}),  # from AS 1 straight into AS 2
        (ELSEWHERE, f"* * {B} {C}", {2: 1}),
        (ELSEWHERE, f"{A} {B} {C}", {}),  # it begins where it starts
        (ELSEWHERE, f"* {A} {B}", {}),
        (WITHOUT_ROUTERS, f"{B} {C}", {2: 1}),  # elsewhere all the same
        (PRIVATE, f"{B} {C}", {}),  # the vantage point may be in AS 2
        (PRIVATE, f"* {B} {C}", {2: 1}),
        (NOWHERE, f"* {B} {C}", {2: 1}),
        (PRIVATE, f"{LAN} {B} {C}", {}),
        (PRIVATE, f"{LAN} * {B} {C}", {2: 1}),
        (PRIVATE, f"* {LAN} {B} {C}", {2: 1}),
        (ELSEWHERE, f"{LAN} {B} {C}", {2: 1}),
        (ELSEWHERE, f"{B} {C} {A} {B2}", {2: 1}),  # once a trace
        (ELSEWHERE, f"* {B}! > {B}", {}),  # the target's own reply shows no border
        (ELSEWHERE, "* * *", {}),
        (ELSEWHERE, LAN, {}),
    ],
)
def test_a_trace_begins_inside_the_as_of_its_first_mapped_answer(tmp_path, source, line, expected):
    others = traces(f"{A} {A2} {B} {B2} {C} {C2}", source=A)  # every AS has routers
    assert begun(tmp_path, others, traces(line, source=source)) == expected


def test_a_further_path_of_a_measurement_is_no_beginning(tmp_path):
    batch = traces(f"{A} {B} {C}", f"* * {B} {B2}", source=ELSEWHERE)
    assert begun(tmp_path, batch) == {2: 1}
    assert begun(tmp_path, replace(batch, part=np.array([0, PART_FURTHER], np.uint8))) == {}


def test_one_as_alone_can_be_begun_inside_and_vantages_may_differ_by_file(tmp_path):
    batches = [traces(f"{B} {B2}", source=source) for source in (ELSEWHERE, B, PRIVATE, ELSEWHERE)]
    for workers in (1, 2):
        assert begun(tmp_path, *batches, workers=workers) == {2: 2}
