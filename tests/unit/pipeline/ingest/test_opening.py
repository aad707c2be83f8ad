from __future__ import annotations

import bz2
import functools
import gzip
import hashlib
import lzma
import os
import pickle
import sys
import tracemalloc
import zlib

import pytest

from pipeline.errors import FormatError
from pipeline.ingest import detect_format, hash_file, open_reader
from pipeline.ingest.opening import CHUNK, open_bytes
from pipeline.model.measured.reading import ReadReport

DATA = b"".join(b"line %d of some text\n" % i for i in range(200_000))
XZ = functools.partial(lzma.compress, preset=0)  # by default it takes a second


def zstd_compress(data: bytes) -> bytes:
    """With a checksum, as the program zstd writes it."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


COMPRESS = {  # each once
    name: functools.cache(compress)
    for name, compress in (
        ("gzip", gzip.compress),
        ("bzip2", bz2.compress),
        ("xz", XZ),
        ("zstd", zstd_compress),
    )
}


def write(tmp_path, content: bytes):
    path = tmp_path / "file"
    path.write_bytes(content)
    return path


def read_all(stream) -> tuple[bytes, FormatError | None]:
    """What can be read, and the error that ended it."""
    out = bytearray()
    try:
        while piece := stream.read(100_000):
            out += piece
    except FormatError as error:
        return bytes(out), error
    return bytes(out), None


@pytest.mark.parametrize("compression", ["", *COMPRESS])
def test_the_compression_is_detected_by_the_first_bytes(tmp_path, compression):
    path = write(tmp_path, COMPRESS.get(compression, bytes)(DATA))
    with open_bytes(path) as stream:
        assert stream.compression == compression
        assert read_all(stream) == (DATA, None)
        stream.finish()
        assert stream.size_bytes == path.stat().st_size
        assert stream.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("compression", COMPRESS)
def test_members_follow_one_another_and_zero_padding_ends_them(tmp_path, compression):
    compress = COMPRESS[compression]
    content = compress(DATA) + compress(b"") + compress(b"more") + b"\0" * 1000
    with open_bytes(write(tmp_path, content)) as stream:
        assert read_all(stream) == (DATA + b"more", None)


@pytest.mark.parametrize("compression", COMPRESS)
def test_a_cut_file_gives_what_is_there_and_then_says_so(tmp_path, compression):
    content = COMPRESS[compression](DATA)
    for keep in (3, len(content) // 2, len(content) - 1):
        if keep < 6 and compression in ("xz", "zstd"):
            continue  # too short to differ from plain bytes
        with open_bytes(write(tmp_path, content[:keep])) as stream:
            out, error = read_all(stream)
        assert DATA.startswith(out)
        assert error is not None
        assert "cut short" in error.reason
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert len(out) > len(DATA) * 0.9


@pytest.mark.parametrize("compression", COMPRESS)
def test_damage_is_named_after_what_could_be_read(tmp_path, compression):
    content = bytearray(COMPRESS[compression](DATA))
    content[len(content) // 2] ^= 0xFF
    with open_bytes(write(tmp_path, bytes(content))) as stream:
        out, error = read_all(stream)
        stream.finish()
        assert stream.sha256 == hashlib.sha256(content).hexdigest()
    assert len(out) <= len(DATA) + CHUNK
    assert error is not None
    assert "damaged" in error.reason or "cut short" in error.reason


@pytest.mark.parametrize("compression", COMPRESS)
def test_bytes_behind_the_last_member_are_an_error(tmp_path, compression):
    with open_bytes(write(tmp_path, COMPRESS[compression](DATA) + b"rubbish")) as stream:
        out, error = read_all(stream)
    assert out == DATA
    assert error is not None
    assert "bytes follow the end" in error.reason


def test_a_wrong_checksum_is_damage(tmp_path):
    content = bytearray(gzip.compress(DATA))
    content[-6] ^= 1
    with open_bytes(write(tmp_path, bytes(content))) as stream:
        _, error = read_all(stream)
    assert error is not None
    assert "damaged gzip data" in error.reason


@pytest.mark.parametrize("compress", [bytes, *COMPRESS.values()], ids=["plain", *COMPRESS])
def test_nothing_at_all_is_an_error(tmp_path, compress):
    content = compress(b"")
    path = write(tmp_path, content)
    with pytest.raises(FormatError, match="file: empty"), open_bytes(path) as stream:
        stream.read(10)


def test_what_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(FormatError, match=r"missing: cannot be opened: No such file"):
        open_bytes(tmp_path / "missing")
    with pytest.raises(FormatError, match="is a folder; give a file"):
        open_bytes(tmp_path)


def test_a_file_that_expands_a_thousandfold_is_streamed(tmp_path):
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(1 << 20)
    content = b"".join(packer.compress(zeros) for _ in range(64)) + packer.flush()
    assert len(content) < 75_000
    with open_bytes(write(tmp_path, content)) as stream:
        buffer = bytearray(1 << 16)
        tracemalloc.start()
        total = 0
        while n_read := stream.readinto(buffer):
            total += n_read
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert total == 64 << 20
    assert peak < 8 * CHUNK


def test_a_pipe_or_device_is_refused_before_it_is_opened(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, type(pipe)(os.devnull)):
        report = ReadReport(str(path))
        for read in (
            lambda path=path: open_bytes(path),
            lambda path=path: detect_format(path),
            lambda path=path, report=report: open_reader(path, report),
            lambda path=path, report=report: list(open_reader(path, report, "atlas")[1]),
        ):
            with pytest.raises(FormatError) as raised:
                read()
            reason = "is a socket, pipe or device, not a file; give a regular file"
            assert str(raised.value) == f"{path}: {reason}"
        assert report.status == "rejected"


def test_a_refused_file_is_hashed_as_stored(tmp_path):
    path = write(tmp_path, gzip.compress(DATA))
    report = ReadReport(str(path))
    hash_file(path, report)
    assert report.size_bytes == path.stat().st_size
    assert report.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_hashing_a_file_holds_little_of_it(tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(50 * CHUNK)
    report = ReadReport(str(path))
    tracemalloc.start()
    hash_file(path, report)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.size_bytes == 50 * CHUNK
    assert peak < 4 * CHUNK


def test_only_regular_files_are_hashed(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (tmp_path / "absent", tmp_path, pipe):
        report = ReadReport(str(path))
        hash_file(path, report)
        assert (report.sha256, report.size_bytes) == ("", 0)
