"""The name that a snapshot has by default: the date of its newest trace."""

from __future__ import annotations

import datetime
from dataclasses import replace

import orjson
import pytest

from pipeline.stages.ingest import ingest
from pipeline.store import snapshot_names
from tests.unit.pipeline.stages.test_mapped_share import MAPPED, config


@pytest.mark.parametrize(
    ("timestamps", "name"),
    [
        ([1_700_000_000], "2023-11-14"),
        ([1_700_000_000, 1_600_000_000, "x"], "2023-11-14"),
        (["2023"], None),
        ([0, None], None),
        ([4_000_000_000], None),  # in the future
    ],
)
def test_traces_without_a_usable_time_are_named_by_the_run_and_say_so(tmp_path, timestamps, name):
    dated = replace(config(tmp_path, *[MAPPED] * len(timestamps)), snapshot=None)
    (path,) = dated.inputs
    rows = zip(map(orjson.loads, path.read_bytes().splitlines()), timestamps, strict=True)
    path.write_bytes(b"\n".join(orjson.dumps(row | {"timestamp": at}) for row, at in rows))
    begun = datetime.datetime.now(datetime.UTC)
    summary = ingest(dated)
    ended = datetime.datetime.now(datetime.UTC)
    (found,) = snapshot_names(dated.store)
    lines = [line for line in summary.warnings if "usable time" in line]
    if name is not None:
        assert (found, lines) == (name, [])
        return
    assert found in {at.strftime("%Y-%m-%d") for at in (begun, ended)}
    assert lines == [
        "no trace has a usable time, so the snapshot is named by the time of this run; give "
        "--snapshot NAME"
    ]
    assert not any("usable time" in line for line in ingest(config(tmp_path, MAPPED)).warnings)


@pytest.mark.parametrize(("days", "is_long"), [(2, False), (2.1, True), (300, True)])
def test_traces_of_many_dates_are_not_named_after_the_last_one_without_a_word(
    tmp_path, days, is_long
):
    newest = 1_700_000_000
    dated = replace(config(tmp_path, MAPPED, MAPPED, MAPPED), snapshot=None)
    (path,) = dated.inputs
    times = [newest - int(days * 86_400), newest, 0]  # one has no time
    rows = zip(map(orjson.loads, path.read_bytes().splitlines()), times, strict=True)
    path.write_bytes(b"\n".join(orjson.dumps(row | {"timestamp": at}) for row, at in rows))
    first = datetime.datetime.fromtimestamp(times[0], datetime.UTC).strftime("%Y-%m-%d")
    line = (
        f"the traces are from {first} to 2023-11-14, and the snapshot has the last date as its "
        "name; give --snapshot NAME for another one, or only the traces of one night"
    )
    assert (line in ingest(dated).warnings) == is_long
    named = replace(dated, snapshot="all")
    assert not any("last date" in text for text in ingest(named).warnings)
