"""What the soak of nights draws, counts and judges."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import bench_nights_soak as soak
from benchmarks.synthetic.internet import make_internet

INTERNET = make_internet(3, 20, 1)


def rows(**figures):
    nights = zip(*figures.values(), strict=True)
    return [dict(zip(figures, night, strict=True)) for night in nights]


def test_a_cut_takes_both_directions_of_a_link():
    cut = soak.without_links(INTERNET, np.array([0]))
    assert len(cut.head) == len(INTERNET.head) - 2
    assert INTERNET.addr[0] // 4 not in cut.addr // 4
    assert cut.indptr[-1] == len(cut.head) == len(cut.addr) == len(cut.delay_us)
    assert cut.indptr[1] == INTERNET.indptr[1] - 1


def test_nights_differ_some_are_quiet_and_each_is_the_same_again():
    drawn = [soak.of_night(INTERNET, 7, number).addr.tolist() for number in range(12)]
    assert drawn == [soak.of_night(INTERNET, 7, number).addr.tolist() for number in range(12)]
    same = [drawn[i] == drawn[i + 1] for i in range(11)]
    assert same == [i == soak.QUIET - 2 for i in range(11)]
    assert soak.night_name(0) == "2026-01-01"
    assert soak.night_name(199) == "2026-07-19"


def test_what_grows_is_named_and_what_only_fills_at_first_is_not():
    n = 40
    found = soak.judge(
        rows(
            client_mb=[100 + 2 * i for i in range(n)],
            worker_mb=[100 + min(i, 8) * 20 for i in range(n)],
            scheduler_mb=[50 + i % 3 for i in range(n)],
            client_fds=[10 + i // 4 for i in range(n)],
            store_files=[70] * n,
            wall_s=list(range(1, n + 1)),
        ),
        n_warm=8,
    )
    judged = {row["figure"]: row.get("flat") for row in found}
    assert judged == {
        "client_mb": False,
        "worker_mb": True,
        "scheduler_mb": True,
        "client_fds": False,
        "store_files": True,
        "wall_s": None,  # of the machine, too
    }
    first = found[0]
    assert (first["first"], first["last"], first["largest"]) == (121.0, 173.0, 178)
    assert first["growth"] == pytest.approx(173 / 121 - 1, abs=1e-4)


def test_reports_must_agree_but_for_marks_of_runs(tmp_path):
    for name, device, hops in (("one", "cpu", 2), ("same", "gpu", 2), ("other", "cpu", 3)):
        (tmp_path / name / "as").mkdir(parents=True)
        (tmp_path / name / "as" / "7.html").write_text("page")
        table = pa.table({"asn": [7], "max_hops": [hops], "device": [device]})
        pq.write_table(table, tmp_path / name / "ases.parquet")
        pq.write_table(pa.table({"task": [name]}), tmp_path / name / "tasks.parquet")
    assert soak.compare_reports(tmp_path / "one", tmp_path / "same") == 2
    with pytest.raises(AssertionError, match=r"one: ases\.parquet differs"):
        soak.compare_reports(tmp_path / "one", tmp_path / "other")
    (tmp_path / "same" / "as" / "7.html").write_text("pages")
    with pytest.raises(AssertionError, match=r"as/7\.html differs"):
        soak.compare_reports(tmp_path / "one", tmp_path / "same")
    (tmp_path / "same" / "as" / "8.html").touch()
    with pytest.raises(AssertionError, match=r"not the same files: \['as/8\.html'\]"):
        soak.compare_reports(tmp_path / "one", tmp_path / "same")


def test_reports_of_other_devices_may_have_another_longest_path(tmp_path):
    for name, path, hops in (("one", [1, 2], 2), ("same", [3, 4], 2), ("other", [1, 2], 3)):
        (tmp_path / name / "as").mkdir(parents=True)
        (tmp_path / name / "as" / "7.html").write_text(str(path))
        columns = {"asn": [7], "diameter": [hops], "diameter_path": [path]}
        columns |= {"diameter_path_addrs": [[f"10.0.0.{node}" for node in path]]}
        table = pa.table(columns | {"weighted_n_width_searches": path[:1]})
        pq.write_table(table, tmp_path / name / "ases.parquet")
    assert soak.compare_reports(tmp_path / "one", tmp_path / "same", same_device=False) == 1
    differs = r"one: ases\.parquet differs from that of a run by itself: diameter$"
    with pytest.raises(AssertionError, match=differs):
        soak.compare_reports(tmp_path / "one", tmp_path / "other", same_device=False)
    with pytest.raises(AssertionError, match=r"as/7\.html differs"):
        soak.compare_reports(tmp_path / "one", tmp_path / "same")
