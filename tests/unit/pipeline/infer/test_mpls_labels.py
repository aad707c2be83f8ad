"""Links that traces crossed under MPLS labels."""

import numpy as np
import pytest

from pipeline.infer import infer_topology
from tests.unit.pipeline.infer.handmade import (
    alias_sets,
    infer,
    nodes_of,
    observe,
    prefix_table,
    traces,
)

A, B, C, D = (f"20.1.0.{i}" for i in (10, 20, 30, 40))


def under_labels(topology):
    names = nodes_of(topology)
    at = np.flatnonzero(topology.link_columns["mpls"])
    return {(names[topology.near[i]], names[topology.far[i]]) for i in at.tolist()}


@pytest.mark.parametrize(
    ("lines", "marked"),
    [
        ([f"{A} {B} {C} {D}"], set()),
        # The packet came to the labelled hop under labels: over the link before, not the one after.
        ([f"{A} {B}# {C} {D}"], {(A, B)}),
        ([f"{A} {B}# {C}# {D}"], {(A, B), (B, C)}),
        ([f"{A} {B} {C}", f"{A} {B}# {C}"], {(A, B)}),  # in one trace of two
        ([f"{A} {B} {C}", f"{C} {B}# {A}"], {(B, C)}),  # in either direction
        ([f"{A} * {B}# {C}"], set()),  # the link to it is not seen
        ([f"{A}# {B} {C}"], set()),  # nor is that to the first answer
        ([f"{A} {B}# {C}!# > {C}", f"{A} {C} {D}"], {(A, B), (B, C)}),
    ],
)
def test_a_link_is_marked_where_its_far_end_answered_with_labels(tmp_path, lines, marked):
    topology = infer(tmp_path, *lines)
    assert under_labels(topology) == marked
    assert topology.counts["mpls_links"] == len(marked)


def test_a_bridged_link_is_never_marked(tmp_path):
    assert under_labels(infer(tmp_path, f"{A} * {B}# {C}", bridge_gaps=True)) == set()


def test_labels_of_any_interface_mark_the_link_of_a_router(tmp_path):
    topology = infer(tmp_path, f"{A} {B} {D}", f"{A} {C}# {D}", aliases=alias_sets([B, C]))
    assert under_labels(topology) == {(A, B)}


def test_files_and_workers_do_not_change_what_is_marked(tmp_path):
    lines = [f"{A} {B}# {C}", f"{B} {C} {D}#", f"{D} {A} {B}"]
    observations = [observe(tmp_path, traces(line)) for line in lines]
    for workers in (1, 2):
        topology = infer_topology(
            observations, prefixes=prefix_table(tmp_path), borders="prefix", workers=workers
        )
        assert under_labels(topology) == {(A, B), (C, D)}
