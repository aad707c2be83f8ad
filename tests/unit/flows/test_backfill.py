"""Which nights a backfill makes, of which files."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from flows.backfill import backfill, days_between, of_day
from pipeline.config import IngestConfig
from pipeline.errors import UsageError

DAY = datetime.date(2026, 11, 20)


def test_a_range_has_both_ends_and_no_negative_length():
    found = days_between(DAY, datetime.date(2026, 12, 2))
    assert (found[0], found[-1], len(found)) == (DAY, datetime.date(2026, 12, 2), 13)
    assert days_between(DAY, DAY) == [DAY]
    with pytest.raises(UsageError, match="2026-11-19, is before the first one, 2026-11-20"):
        days_between(DAY, datetime.date(2026, 11, 19))


def test_files_of_a_night_are_those_that_hold_its_date(tmp_path):
    for name in ("b.20261120.gz", "a.20261120.gz", "a.20261121.gz", "[x].20261120"):
        (tmp_path / name).touch()
    (tmp_path / "2026" / "11").mkdir(parents=True)
    given = ("%Y/%m", "*.%Y%m%d.gz", "[x].%Y%m%d", "none.%d")
    config = IngestConfig(
        tuple(tmp_path / each for each in given),
        tmp_path / "100%store",
        ip2as=(tmp_path / "routes.%Y-%m-%d", tmp_path / "plain"),
    )
    found = of_day(config, DAY)
    names = [str(path.relative_to(tmp_path)) for path in found.inputs]
    assert names == ["2026/11", "a.20261120.gz", "b.20261120.gz", "[x].20261120"]
    assert [path.name for path in found.ip2as] == ["routes.2026-11-20", "plain"]
    assert found.store == config.store
    assert found.snapshot == "2026-11-20"


def test_inputs_without_a_date_are_refused():
    said = backfill.fn(
        first=DAY, last=DAY, inputs=["/data/traces"], store="store", out="out"
    ).message
    assert said.startswith("/data/traces: is the same for every night")
    assert Path("/data/traces") == IngestConfig((Path("/data/traces"),), Path("s")).inputs[0]
