"""Which work is worth a second GPU."""

from __future__ import annotations

import pytest

from pipeline.schedule.plan.costs import GPU_START_S, gpus_worth


@pytest.mark.parametrize(
    ("starts", "n_there", "n_gpus"),
    [
        (0.0, 2, 1),
        (1.9, 2, 1),  # half of it is less than a start
        (2.1, 2, 2),
        (2.1, 1, 1),
        (7.0, 8, 3),
        (1000.0, 8, 8),
    ],
)
def test_a_gpu_is_used_where_its_start_is_shorter_than_what_it_saves(starts, n_there, n_gpus):
    assert gpus_worth(starts * GPU_START_S, n_there) == n_gpus
