"""Two states of the sources: what must be the same, and what may differ."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracles import same_answers
from tests.oracles.same_answers import Job, tree_differences

TABLE = {"asn": [64496, 64497], "mean_hops": [1.5, float("nan")], "wall_s": [0.1, 0.2]}
REPORT = {"times": {"started": 1.0}, "counts": {"links": 3}, "made": "2026-11-28 22:29 UTC, 1.2 s"}


def write(folder: Path, table: dict[str, list[object]], report: object, version: str) -> Path:
    (folder / "versions" / f"lab-{version}").mkdir(parents=True)
    pq.write_table(pa.table(table), folder / "versions" / f"lab-{version}" / "ases.parquet")
    (folder / "report.json").write_text(json.dumps(report))
    (folder / "index.html").write_text("<p>3 links, report of 2026-11-28 22:29 UTC</p>\n")
    return folder


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return write(tmp_path / "before", TABLE, REPORT, "0123456789ab")


def test_times_versions_and_durations_may_differ(before: Path, tmp_path: Path) -> None:
    report = REPORT | {"times": {"started": 2.0}, "made": "2026-11-29 01:00 UTC, 1.4 s"}
    now = write(tmp_path / "now", TABLE | {"wall_s": [0.3, 0.4]}, report, "ba9876543210")
    (now / "index.html").write_text("<p>3 links, report of 2026-11-29 01:00 UTC</p>\n")
    assert list(tree_differences(before, now)) == []


def test_where_and_with_which_version_they_ran_may_differ(before: Path, tmp_path: Path) -> None:
    facts = {"options": {"ran_in": "/home/a", "hopscope": "0.1.0"}}
    now = write(tmp_path / "now", TABLE, REPORT, "ba9876543210")
    for folder, version in ((before, "0.1.0"), (now, "0.2.0.dev0")):
        facts["options"] |= {"ran_in": str(folder), "hopscope": version}
        (folder / "manifest.json").write_text(json.dumps(facts))
        (folder / "about.html").write_text(f"<p>Made by hopscope {version}</p>\n")
    assert list(tree_differences(before, now)) == []


def test_documented_addresses_of_samples_are_of_an_as(tmp_path: Path) -> None:
    (job,) = (job for job in same_answers._sample_jobs() if job.name == "atlas")
    words = tuple(word for word in job.words if word not in ("--metrics", "all"))
    assert Job("atlas", words).run(same_answers.ROOT, tmp_path).startswith("exit status 0")


def test_each_other_difference_is_named(before: Path, tmp_path: Path) -> None:
    table = TABLE | {"mean_hops": [1.5, 2.0]}
    now = write(tmp_path / "now", table, REPORT | {"counts": {"links": 4}}, "ba9876543210")
    (now / "index.html").write_text("<p>4 links, report of 2026-11-28 22:29 UTC</p>\n")
    (now / "night.js").write_text("")
    assert list(tree_differences(before, now)) == [
        "night.js (1): only now",
        "index.html (1): line 1",
        "report.json (1): /counts/links: 3, 4",
        "versions/lab/ases.parquet (1): column mean_hops: 2 and 2 rows, row 1: nan, 2.0",
    ]


def test_a_column_of_another_type_or_name_is_a_difference(before: Path, tmp_path: Path) -> None:
    table = TABLE | {"asn": ["64496", "64497"]}
    now = write(tmp_path / "now", table, REPORT, "ba9876543210")
    assert list(tree_differences(before, now)) == [
        "versions/lab/ases.parquet (1): column asn: int64, string"
    ]
    named = write(tmp_path / "named", {"as": [1, 2]}, REPORT, "ba9876543210")
    (found,) = tree_differences(before, named)
    assert found.startswith("versions/lab/ases.parquet (1): columns ['asn', 'mean_hops']")
