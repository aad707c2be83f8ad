"""A run that is cancelled leaves nothing on a GPU; on cores: test_prefect.py."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from benchmarks.lib.footprint import gpu_processes
from pipeline.config import GenerateConfig
from pipeline.stages.generate import generate_topology
from tests.integration.searching_runs import freed_after, searching
from tests.served import STOP_S, serving, wait_until


@pytest.mark.gpu
def test_a_run_that_is_cancelled_frees_its_gpu(tmp_path, capsys):
    topology = tmp_path / "large.brite"
    generate_topology(GenerateConfig(model="ba", routers=100_000, out=topology))
    with serving(tmp_path) as served:
        run, own = searching(served, topology, pack=1, device="gpu")
        pids = {process.pid for process in own}
        assert pids & gpu_processes()
        cancel = [sys.executable, "-m", "prefect", "flow-run", "cancel", run["id"]]
        since = time.monotonic()
        subprocess.run(cancel, env=served.environment, check=True, capture_output=True)
        asked_s = time.monotonic() - since
        wait_until(lambda: not pids & gpu_processes(), STOP_S, every_s=0.1)
        gpu_s = time.monotonic() - since
        freed_after(own, tmp_path / "store")
        all_s = time.monotonic() - since
        wait_until(lambda: served.state(run)["type"] == "CANCELLED")
    with capsys.disabled():
        sys.stdout.write(
            f"after `prefect flow-run cancel`, which took {asked_s:.1f} s: no process of the run "
            f"on a GPU after {gpu_s:.1f} s, everything free after {all_s:.1f} s\n"
        )
