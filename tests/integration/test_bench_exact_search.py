"""The benchmark of exact searches, small: its runs exist, agree and are recorded."""

import json

import pytest

from benchmarks import bench_exact_search

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def run(tmp_path, *arguments):
    given = ["--device", "cpu", "--repeats", "1", "--workers", "2", "--folder", str(tmp_path)]
    bench_exact_search.main([*given, *arguments])
    (path,) = tmp_path.glob("exact_search_*.json")
    return json.loads(path.read_text())["rows"]


def test_schedules_packs_and_the_whole_agree(tmp_path, capsys):
    rows = run(tmp_path, "--graph", "grid", "--nodes", "400", "--packs", "auto,5")
    runs = [(row["schedule"], row.get("pack")) for row in rows if "schedule" in row]
    assert runs == [
        ("free", "auto"),
        ("barrier", "auto"),
        ("free", 5),
        ("barrier", 5),
        ("whole", None),
    ]
    by_search = [row for row in rows if "pack" in row]
    assert len({tuple(row["diameter"]) for row in by_search}) == 1
    assert all(row["exact"] and 0 < row["busy_share"] for row in by_search)
    assert all(row["mb_a_result"] == pytest.approx(800e-6) for row in by_search)
    printed = capsys.readouterr().out.splitlines()[:-1]
    assert [json.loads(line) for line in printed] == rows


def test_a_limit_makes_rates_comparable(tmp_path):
    given = ("--nodes", "3000", "--metrics", "eccentricities", "--most", "9", "--packs", "1")
    rows = [row for row in run(tmp_path, *given) if "pack" in row]
    assert [row["n_searches"] for row in rows] == [9, 9]
    assert not any(row["exact"] for row in rows)


def test_runs_that_contradict_are_refused():
    with pytest.raises(AssertionError, match="contradict"):
        bench_exact_search.check([(4, 5, 2, 3), (6, 7, 3, 4)], ("diameter",), False)
    with pytest.raises(AssertionError, match="a diameter of"):
        bench_exact_search.check([(4, 6, 2, 3), (5, 6, 3, 3)], ("diameter",), True)
