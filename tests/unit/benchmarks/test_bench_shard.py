"""The program that sweeps a whole Internet at once, on a small one."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import bench_shard
from kernels import msbfs_shard
from pipeline.generate.internet import generate_internet


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_a_small_internet_is_swept_and_recorded(tmp_path, monkeypatch, device):
    sizes = ["--ases", "40", "--routers", "20000", "--device", device, "--folder", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["bench_shard.py", *sizes])
    bench_shard.main()
    (row,) = json.loads((tmp_path / f"shard_{device}.json").read_text())["rows"]
    assert row["n_ases"] == 40
    assert row["n_nodes"] == 20_000
    assert row["n_searches"] >= 40
    assert 0 < row["min_ms"] <= row["median_ms"]
    assert ("kernels_ms" in row) == (device == "gpu")


def test_sources_are_the_first_ingresses_and_wrong_counts_are_refused():
    graphs = generate_internet(30, 9000, m=2, seed=3)
    shard = bench_shard.shard_of(graphs)
    sources, source_ptr = bench_shard.first_ingresses(graphs, 2)
    for i in range(30):
        own = graphs.ingress_node[graphs.ingress_ptr[i] : graphs.ingress_ptr[i + 1]][:2]
        assert sources[source_ptr[i] : source_ptr[i + 1]].tolist() == own.tolist()
    found = msbfs_shard(shard, sources, source_ptr)
    bench_shard.check(shard, sources, source_ptr, found)
    found.hop_counts[:] = np.roll(found.hop_counts, 1)
    with pytest.raises(AssertionError, match="hop counts of source"):
        bench_shard.check(shard, sources, source_ptr, found)
