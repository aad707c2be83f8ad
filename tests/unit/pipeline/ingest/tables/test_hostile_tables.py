"""Tables are opened as measurements are: bombs end, what is not read names its remedy."""

from __future__ import annotations

import bz2
import io
import lzma
import os
import re
import tarfile
import tracemalloc
import zipfile

import pytest

from pipeline.ingest import opening
from pipeline.ingest.opening import hash_file
from pipeline.ingest.tables import TABLES
from pipeline.model.measured.reading import ReadReport
from tests.unit.pipeline.ingest.tables.test_byte_order_marks import TEXTS, read

FIRST = dict(reversed(TEXTS))
OPTIONS = {table.option: FIRST[table.option] for table in TABLES}  # a text of each


def zipped(text: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("table.txt", text)
    return packed.getvalue()


def tarred(text: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        entry = tarfile.TarInfo("table.txt")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return packed.getvalue()


UNREAD = {
    "compressed by lz4": lambda text: b"\x04\x22\x4d\x18" + text,
    "a 7z archive": lambda text: b"7z\xbc\xaf\x27\x1c" + text,
    "a packet capture": lambda text: b"\xd4\xc3\xb2\xa1" + text,
    "an HTML page": lambda text: b"<!DOCTYPE html><html>" + text,
}
PACKED = {
    "zip": zipped,
    "tar": tarred,
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "lzma": lambda text: lzma.compress(text, lzma.FORMAT_ALONE),
}


@pytest.mark.parametrize("what", UNREAD)
@pytest.mark.parametrize("option", OPTIONS)
def test_what_is_not_read_is_named_with_its_remedy(tmp_path, option, what):
    path = tmp_path / "table"
    path.write_bytes(UNREAD[what](OPTIONS[option].encode()))
    report = read(option, path)
    assert report.status == "rejected"
    assert re.search(f"table: {what}.*, which is not read: .", report.error)


@pytest.mark.parametrize("how", PACKED)
@pytest.mark.parametrize("option", OPTIONS)
def test_a_table_that_is_packed_is_read_as_it_is(tmp_path, option, how):
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    text = OPTIONS[option].encode()
    plain.write_bytes(text)
    packed.write_bytes(PACKED[how](text))
    was, report = read(option, plain), read(option, packed)
    assert (report.status, report.n_records) == (was.status, was.n_records)
    assert report.n_records
    assert report.size_bytes == packed.stat().st_size


@pytest.mark.parametrize("option", OPTIONS)
def test_an_archive_of_several_tables_is_refused(tmp_path, option):
    path = tmp_path / "both.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a", "b"):
            archive.writestr(name, OPTIONS[option])
    assert (
        "holds several files (b is the second): unpack it, and give one" in read(option, path).error
    )


@pytest.mark.parametrize("option", OPTIONS)
def test_a_bomb_of_good_lines_ends_where_it_expands_too_much(tmp_path, option, monkeypatch):
    """What comes before is used where a table is of lines, as of any damaged file."""
    monkeypatch.setattr(opening, "EXPANSION_FREE", 1 << 16)
    path = tmp_path / "bomb"
    text = OPTIONS[option].encode()
    path.write_bytes(bz2.compress(text) + bz2.compress(b"\n" * (1 << 24)) * 20)
    tracemalloc.start()
    try:
        report = read(option, path)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert report.status == "partial"
    assert "expands to more than 1,000 times its stored size" in report.error
    assert report.n_records == 2
    assert peak < 24 * opening.TABLE_BLOCK  # of the 320 MiB that are there
    same = ReadReport("")
    hash_file(path, same)
    assert (report.sha256, report.size_bytes) == (same.sha256, same.size_bytes)


@pytest.mark.parametrize("option", [one for one in OPTIONS if one not in ("as_names", "ixp")])
def test_a_line_without_an_end_is_refused_before_memory_is(tmp_path, option):
    path = tmp_path / "line"
    with path.open("wb") as file:
        file.truncate(1 << 28)
    report = read(option, path)
    assert report.status == "rejected"
    assert "line: line 1: longer than 16 MiB" in report.error


def test_nested_names_of_ases_are_refused(tmp_path):
    path = tmp_path / "names.json"
    path.write_bytes(b'{"1":' * 100_000)
    report = read("as_names", path)
    assert report.status == "rejected"
    assert "names.json: line 1, column " in report.error


@pytest.mark.parametrize("option", OPTIONS)
def test_a_pipe_or_device_is_refused_before_it_is_opened(tmp_path, option):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, type(pipe)(os.devnull)):
        report = read(option, path)
        assert report.status == "rejected"
        reason = "is a socket, pipe or device, not a file; give a regular file"
        assert report.error == f"{path}: {reason}"
