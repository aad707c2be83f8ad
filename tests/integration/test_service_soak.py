"""Nights of ``hopscope serve`` that new data start, one of them killed: none is lost.

``make soak`` runs 200 nights with 30 kills, which takes hours.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from benchmarks import bench_service_soak as soak
from tests.soak import WHOLE

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

NIGHTS, KILLS = (200, 30) if WHOLE else (3, 1)


def test_nights_of_a_service_that_is_killed_now_and_then(tmp_path):
    given = ["--nights", str(NIGHTS), "--kills", str(KILLS)]
    given += [] if WHOLE else ["--keep", "2", "--ases", "6", "--traces", "1500"]
    results = tmp_path / "results"
    with tempfile.TemporaryDirectory(prefix="hs-") as folder:  # sockets lie below it
        words = ["--folder", folder, "--results", str(results), "--name", "s"]
        status = soak.main([*given, *words])
        left = list(Path(folder, "out").glob(".measured*"))
    found = json.loads((results / "s.json").read_text())
    assert found["faults"] == left == []
    assert found["grown"] == []
    assert status == 0
    assert (found["n_nights"], found["n_kills"]) == (NIGHTS, KILLS)
    figures = {row["figure"]: row for row in found["rows"]}
    for name in ("serve", "server", "worker"):
        assert figures[f"{name}_mb"]["first"] > 10
