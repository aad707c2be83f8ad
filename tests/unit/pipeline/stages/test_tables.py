"""Tables beside the inputs: what of them reaches the inference, and what refuses a run."""

from __future__ import annotations

import json

import pytest

from pipeline.config import IngestConfig
from pipeline.errors import UsageError
from pipeline.stages.tables import read_tables

GOOD = {
    "as_rel": "1|2|-1\n",
    "as2org": "1 a\n2 a\n",
    "ixp": "195.42.144.0/23 France-IX 51706\n",
    "delegated": "lab|ZZ|asn|1|1|2020|allocated|a\n",
}


def config(tmp_path, **texts) -> IngestConfig:
    given = {}
    for name, text in texts.items():
        path = tmp_path / f"{name}.txt"
        path.write_text(text)
        given[name] = (path,) if name in ("delegated", "ixp") else path
    return IngestConfig(inputs=(tmp_path,), store=tmp_path / "store", **given)


def test_every_table_is_read_and_told(tmp_path):
    given = config(tmp_path, **GOOD)
    tables = read_tables(given, needed=True)
    registries = tables.registries
    assert registries.relationships is not None
    assert registries.organisations is not None
    assert registries.delegations is not None
    assert registries.exchanges is not None
    assert [(r.format, r.status, r.n_records) for r in tables.reports] == [
        ("as-rel", "ok", 1),
        ("as2org", "ok", 2),
        ("delegated", "ok", 1),
        ("exchange points", "ok", 1),
    ]
    assert all(len(report.sha256) == 64 for report in tables.reports)
    assert {path.name for path in given.tables} == {f"{name}.txt" for name in GOOD}


@pytest.mark.parametrize("option", GOOD)
def test_a_table_that_says_nothing_is_refused(tmp_path, option):
    given = config(tmp_path, **{option: json.dumps([1, 2])})
    with pytest.raises(UsageError, match=rf"{option}\.txt: no .*; give "):
        read_tables(given, needed=True)
    assert read_tables(given, needed=False).reports[0].status == "rejected"
