"""The benchmark of schedules, small: the runs of every part exist, agree and are recorded."""

import json

import pytest

from benchmarks import bench_schedule
from benchmarks.schedule import task_breakdown
from benchmarks.schedule.parts import ONE_BY_ONE, PARTS, parts_of, sizes_of

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(task_breakdown, "N_TASKS", 60)


def run(tmp_path, *arguments):
    given = ["--device", "cpu", "--repeats", "1", "--scale", "1e-4", "--folder", str(tmp_path)]
    bench_schedule.main([*given, *arguments])
    (path,) = tmp_path.glob("schedule_*.json")
    return json.loads(path.read_text())["rows"]


def test_rows_of_two_counts_of_workers_with_gains_and_a_breakdown(tmp_path, small, capsys):
    rows = run(tmp_path, "--parts", "tasks,many", "--workers", "1,2", "--breakdown")
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()[:-1]]
    assert [row.get("wall_s") for row in printed] == [row.get("wall_s") for row in rows]
    many = [row for row in rows if row.get("part") == "many" and "n_tasks" in row]
    assert [(row["workers"], row["n_ingresses"]) for row in many] == [
        (workers, n) for workers in (1, 2) for n in (100, 1000, 4000, 100, 1000)
    ]
    for one, two in zip(many[:5], many[5:], strict=True):
        assert two["gain"] == two["gain_of_last"] == one["wall_s"] / two["wall_s"]
        assert "gain" not in one
        assert 0 < one["busy_share"] <= 1
    assert [row["n_tasks"] for row in rows if row.get("what") == "task without work"] == [60, 60]
    shares: dict[str, float] = {}
    for row in rows:
        if "share" in row:
            thread = row["what"].split(": ")[1]
            shares[thread] = shares.get(thread, 0.0) + row["share"]
    assert shares == pytest.approx(dict.fromkeys(shares, 2.0))  # of two clusters
    assert len(shares) == 3
    (pays,) = (row["runs"] for row in rows if "runs" in row)
    assert len(pays) == 5
    assert set(pays.values()) <= {1, 2}


def test_a_slowed_worker_and_what_there_is_no_time_for(tmp_path, monkeypatch):
    bench = {"runs": 0}
    has_time = bench_schedule.Bench.has_time

    def until_disturbed(self, what):
        # The long runs of the part are left out: the disturbed ones come after them.
        if "uneven on" in what and ": " in what:
            self.left_out.append(what)
            return False
        bench["runs"] += 1
        return has_time(self, what)

    monkeypatch.setattr(bench_schedule.Bench, "has_time", until_disturbed)
    rows = run(tmp_path, "--parts", "uneven", "--workers", "2")
    slowed = [row for row in rows if row.get("part") == "uneven, one slowed"]
    assert [row["schedule"] for row in slowed] == [*ONE_BY_ONE, *ONE_BY_ONE]
    assert "left out" in rows[-1]["what"]
    assert len(rows[-1]["runs"]) == 12


def test_what_was_measured_is_kept_when_time_is_up(tmp_path):
    rows = run(tmp_path, "--parts", "tables", "--workers", "1", "--seconds", "0")
    assert rows[-1] == {"what": "left out: no time in 0 s", "runs": ["1 workers"]}
    assert rows[0]["what"] == "costs that plans go by"


def test_the_tables_of_the_field_are_all_there():
    (tables,) = parts_of(["tables"], 1.0, "gpu")
    assert sorted({size.n_nodes for size in sizes_of([tables])}) == [
        4_600_000,
        4_800_000,
        6_700_000,
    ]
    one_by_one = [run for run in tables.runs if run.pack == 1]
    assert {run.schedule for run in one_by_one} == set(ONE_BY_ONE)
    assert {run.n_ingresses for run in tables.runs} == {50, 100}
    assert len(tables.runs) == 3 * 2 * 4
    keys = [
        (part.name, *run.key) for part in parts_of(list(PARTS), 1.0, "gpu") for run in part.runs
    ]
    assert len(keys) == len(set(keys))


def test_an_unknown_part_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        run(tmp_path, "--parts", "nothing")
    assert "no part nothing; there are tasks, tables" in capsys.readouterr().err
