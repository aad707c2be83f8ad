"""Workers that a run lost, and those that end with it."""

from __future__ import annotations

import pytest

from pipeline.schedule.cluster import losses
from pipeline.schedule.cluster.losses import Losses

GONE = {"action": "remove-worker", "worker": "tls://127.0.0.1:1", "processing-tasks": {"a": 1}}


@pytest.mark.parametrize(
    ("message", "is_stopping", "n_lost"),
    [
        (GONE, False, 1),
        (GONE | {"expected": True}, False, 0),
        (GONE | {"action": "add-worker"}, False, 0),
        (GONE, True, 0),  # the signal went to the whole process group
    ],
)
def test_a_worker_that_leaves_unasked_is_lost(message, is_stopping, n_lost, monkeypatch):
    monkeypatch.setattr(losses, "is_stopping", lambda: is_stopping)
    heard = Losses()
    heard.hear((5.0, message))
    assert len(heard.reported()) == n_lost
