"""The program that finds the widths of a whole Internet, on a small one."""

from __future__ import annotations

import dataclasses
import json

import pytest

from benchmarks import bench_shard, bench_shard_widths
from kernels.eccentricity.shard import widths
from pipeline.generate.internet import generate_internet


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_widths_of_a_small_internet_are_found_and_recorded(tmp_path, monkeypatch, device):
    sizes = ["--ases", "40", "--routers", "20000", "--device", device, "--folder", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["bench_shard_widths.py", *sizes])
    bench_shard_widths.main()
    (row,) = json.loads((tmp_path / f"shard_widths_{device}.json").read_text())["rows"]
    assert row["n_ases"] == 40
    assert row["n_nodes"] == 20_000
    assert row["n_searches"] >= 80
    assert row["largest_diameter"] > 4
    assert 0 < row["min_ms"] <= row["median_ms"]


def test_a_wrong_width_is_refused():
    shard = bench_shard.shard_of(generate_internet(10, 3000, m=2, seed=3))
    found = widths(shard, ("diameter", "radius"))
    bench_shard_widths.check(shard, found)
    for name in ("diameter_upper", "radius_lower"):
        wrong = dataclasses.replace(found, **{name: getattr(found, name) + 1})
        with pytest.raises(AssertionError, match=name.split("_")[0]):
            bench_shard_widths.check(shard, wrong)
