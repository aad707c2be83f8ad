"""docs/columns.md names every column of every file that a run writes, and what it means."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from tests.columns_page import DOCS, File, files_of, make_files, meaning_of, meanings_of, page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    make_files(folder)
    return folder


def lacking(files: list[File]) -> list[tuple[str, str]]:
    return [
        (file.title, field.name)
        for file in files
        for field in file.schema
        if not meaning_of(field.name, meanings_of(file.section))
    ]


def test_every_column_is_described(folder):
    files = files_of(folder)
    assert {"changes.parquet", "distances/<asn>.parquet", "paths.parquet"} <= {
        file.title for file in files
    }
    assert lacking(files) == []


def test_a_column_that_is_not_described_is_found(folder):
    first, *_ = files_of(folder)
    more = File(first.title, first.page, first.section, pa.schema([("n_unheard_of", pa.int64())]))
    assert lacking([more]) == [(first.title, "n_unheard_of")]


def test_no_type_is_said_twice(folder):
    rows = re.findall(r"^\| `.*` \| (.*) \| (.*) \|$", page(folder), re.MULTILINE)
    assert len(rows) > 100
    assert [row for row in rows if row[1].startswith(f"{row[0]}:")] == []


def test_the_page_is_that_of_the_files(folder):
    written = (DOCS / "columns.md").read_text()
    assert written == page(folder), "make generated"
