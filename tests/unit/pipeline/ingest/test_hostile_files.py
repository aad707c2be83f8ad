"""Files made to harm: they end early, in little memory, with their reason."""

from __future__ import annotations

import bz2
import contextlib
import functools
import lzma
import struct
import time
import tracemalloc
import zlib

import pytest

from pipeline.errors import FormatError
from pipeline.ingest import FORMATS, open_reader, opening
from pipeline.ingest.opening import CHUNK, MAX_EXPANSION, open_bytes
from pipeline.model.measured.reading import ReadReport
from tests.real_data import REPOSITORY

SAMPLES = REPOSITORY / "data" / "samples"
FREE = 1 << 22  # bytes that a file may swell to here, so that tests are quick
COMPRESS = {"bzip2": bz2.compress, "xz": functools.partial(lzma.compress, preset=0)}
# The first sample of each format that is not compressed.
HEADS = {
    name: min(path for path in (SAMPLES / name).iterdir() if path.suffix not in ("", ".gz"))
    for name in FORMATS
}


@functools.cache
def zeros(compression: str) -> bytes:
    """16 MiB of zeros, compressed."""
    return COMPRESS[compression](bytes(1 << 24))


@pytest.mark.parametrize("compression", COMPRESS)
def test_a_bomb_ends_where_it_expands_too_much(tmp_path, compression, monkeypatch):
    monkeypatch.setattr(opening, "EXPANSION_FREE", FREE)
    path = tmp_path / "bomb"
    path.write_bytes(zeros(compression) * 50)
    sizes: list[int] = []
    with open_bytes(path) as stream:
        tracemalloc.start()
        with pytest.raises(FormatError, match="expands to more than 1,000 times its stored size"):
            sizes.extend(map(len, iter(lambda: stream.read(CHUNK), b"")))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        limit = max(FREE, MAX_EXPANSION * stream.size_bytes)
    assert limit < sum(sizes) <= limit + CHUNK < 50 << 24
    assert peak < 16 * CHUNK


def test_what_measurements_compress_to_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "EXPANSION_FREE", FREE)
    line = b'{"type":"trace","dst":"198.51.100.%d","stop_reason":"NONE","hops":[],"id":%d}\n'
    data = b"".join(line % (i % 256, i) for i in range(100_000))  # more alike than any real ones
    path = tmp_path / "traces"
    path.write_bytes(bz2.compress(data))
    assert len(data) > FREE
    with open_bytes(path) as stream:
        assert b"".join(iter(lambda: stream.read(CHUNK), b"")) == data


@pytest.mark.parametrize("format", HEADS)
def test_a_bomb_behind_good_records_costs_what_comes_after_them(tmp_path, format, monkeypatch):
    monkeypatch.setattr(opening, "EXPANSION_FREE", FREE)
    path = tmp_path / "input"
    path.write_bytes(bz2.compress(HEADS[format].read_bytes()) + zeros("bzip2") * 50)
    report = ReadReport(str(path))
    with pytest.raises(FormatError, match="expands"):
        list(open_reader(path, report, format)[1])
    assert report.format == format
    assert report.status != "ok"
    assert report.n_records > 0 or FORMATS[format].kind == "topology"


def test_a_file_cannot_ask_its_decompressor_for_gigabytes(tmp_path):
    data = bytearray(lzma.compress(b"a few bytes", preset=0))
    header = 12  # of the stream; then the block's: size, flags, filter, its properties, padding
    size = 4 * (data[header] + 1)
    assert data[header + 2 : header + 4] == b"\x21\x01"  # LZMA2, one byte: its dictionary
    data[header + 4] = 40  # 4 GiB
    checked = bytes(data[header : header + size - 4])
    data[header + size - 4 : header + size] = struct.pack("<I", zlib.crc32(checked))
    path = tmp_path / "file.xz"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="emory"), open_bytes(path) as stream:
        stream.read(100)


@pytest.mark.parametrize("format", ["atlas", "scamper_json"])
@pytest.mark.parametrize(
    "text",
    [
        b'{"type":"trace","a":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
        b"[" * 1_000_000,
        b'{"a":' * 300_000,
    ],
    ids=["nested", "arrays", "objects"],
)
def test_json_that_is_nested_beyond_reason_is_refused(tmp_path, format, text):
    path = tmp_path / "file.json"
    path.write_bytes(text)
    report = ReadReport(str(path))
    with pytest.raises(FormatError):
        list(open_reader(path, report, format)[1])
    assert report.n_records == 0


def test_a_number_of_very_many_digits_is_a_number_and_takes_no_time(tmp_path):
    path = tmp_path / "file.json"
    path.write_bytes(b'{"type":"trace","dst":"192.0.2.1","hop_count":' + b"9" * 1_000_000 + b"}\n")
    report = ReadReport(str(path))
    started = time.process_time()
    list(open_reader(path, report, "scamper_json")[1])
    assert time.process_time() - started < 10
    assert report.n_records == 1


def test_a_header_that_promises_a_billion_nodes_reserves_nothing(tmp_path):
    text = (SAMPLES / "brite" / "router_cpp.brite").read_text()
    path = tmp_path / "large.brite"
    text = text.replace("( 4 Nodes", "( 4000000000 Nodes").replace("4 Edges", "9999999999 Edges")
    path.write_text(text)
    report = ReadReport(str(path))
    open_reader(path, ReadReport("warm"))  # imports and compiled code
    tracemalloc.start()
    with contextlib.suppress(FormatError):  # or the rest is reported missing
        list(open_reader(path, report)[1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20
