"""docs/columns.md names every column of every file that a run writes, and what it means."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from tests.columns_page import (
    OPTIONAL,
    PAGE,
    File,
    files_of,
    make_files,
    meanings_of,
    page,
    sections_of,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    make_files(folder)
    return folder


def lacking(files: list[File]) -> list[tuple[str, str]]:
    text = PAGE.read_text()
    return [
        (file.title, field.name)
        for file in files
        for field in file.schema
        if not meanings_of(file, text).get(field.name)
    ]


def test_every_column_is_described(folder):
    files = files_of(folder)
    assert {"changes.parquet", "distances/<asn>.parquet", "paths.parquet"} <= {
        file.title for file in files
    }
    assert lacking(files) == []


def test_a_column_that_is_not_described_is_found(folder):
    first, *_ = files_of(folder)
    more = File(first.part, first.title, pa.schema([("n_unheard_of", pa.int64())]))
    assert lacking([more]) == [(first.title, "n_unheard_of")]


def test_no_type_is_said_twice(folder):
    rows = re.findall(r"^\| `.*` \| (.*) \| (.*) \|$", page(folder), re.MULTILINE)
    assert len(rows) > 100
    assert [row for row in rows if row[1].startswith(f"{row[0]}:")] == []


def test_the_page_is_that_of_the_files(folder):
    assert PAGE.read_text() == page(folder), "make generated"


def test_what_is_written_by_hand_is_kept_and_the_rest_is_not(folder):
    text = PAGE.read_text()
    row = "| `n_links` | int64 | links between nodes of the two |"
    assert text.count(row) == 1
    by_hand = text.replace(row, "| `n_links` | int8 | links, by hand |")
    by_hand = by_hand.replace(
        "### as_links.parquet\n", "### as_links.parquet\n\nOne row per pair.\n"
    )
    by_hand = by_hand.replace("largest eccentricity of an ingress", "not what the metric says")
    by_hand += "| `gone` | bool | a column that no file has |\n"
    made = page(folder, by_hand)
    assert "| `n_links` | int64 | links, by hand |" in made
    assert "### as_links.parquet\n\nOne row per pair.\n\n" in made
    assert "not what the metric says" not in made
    assert "`gone`" not in made


def test_columns_that_only_some_inputs_have_are_described():
    sections = sections_of(PAGE.read_text())
    for key, names in OPTIONAL.items():
        assert set(names) <= sections[key].meanings.keys(), key
