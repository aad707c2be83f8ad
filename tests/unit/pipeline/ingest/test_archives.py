"""Files in archives: told by content, named, bounded; what is hostile in tar and zip."""

from __future__ import annotations

import bz2
import gzip
import io
import struct
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from pipeline.errors import FormatError
from pipeline.ingest import archives, detect_format, open_reader, opening
from pipeline.ingest.archives import is_tar, members
from pipeline.ingest.opening import open_bytes
from pipeline.model.measured.reading import ReadReport
from tests.contracts.trace_reader import SAMPLES, mutations, unpack
from tests.soak import examples

SCAMPER = (SAMPLES / "scamper_json" / "sample.json").read_bytes()
ATLAS = (SAMPLES / "atlas" / "results.jsonl").read_bytes()
TEXT = (SAMPLES / "traceroute_text" / "sample.txt").read_bytes()
SNAP = b"# Nodes: 3\n0 1\n1 2\n2 0\n"
FILES = {
    "2021/a.jsonl": SCAMPER,
    "README": b"about these files\n",
    ".hidden.jsonl": SCAMPER,
    "__MACOSX/a.jsonl": SCAMPER,
    "2021/b.json.gz": gzip.compress(ATLAS),
    "c": TEXT,
    "empty.jsonl": b"",
}


def tarred(files: dict[str, bytes], mode: str = "w", **options) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode, **options) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        link = tarfile.TarInfo("link.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return packed.getvalue()


def zipped(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        archive.mkdir("folder") if hasattr(archive, "mkdir") else None
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


PACK = {
    "tar": tarred,
    "tgz": lambda files: tarred(files, "w:gz"),
    "tar.xz": lambda files: tarred(files, "w:xz"),
    "v7": lambda files: tarred(files, format=tarfile.USTAR_FORMAT).replace(
        b"ustar\x0000", bytes(8)
    ),
    "pax": lambda files: tarred(files, format=tarfile.PAX_FORMAT),
    "zip": zipped,
    "stored": lambda files: zipped(files, zipfile.ZIP_STORED),
}


def write(folder: Path, content: bytes) -> Path:
    path = folder / "archive"
    path.write_bytes(content)
    return path


def read(path: Path) -> tuple[list, ReadReport, str]:
    report = ReadReport(str(path))
    found: list = []
    try:
        for batch in open_reader(path, report)[1]:
            found += unpack(batch)  # type: ignore[arg-type]
    except FormatError as error:
        return found, report, error.reason
    return found, report, ""


def alone(folder: Path, *contents: bytes) -> list:
    return [trace for content in contents for trace in read(write(folder, content))[0]]


def fix_v7(data: bytes) -> bytes:
    """Headers without the mark of ustar have another sum."""
    blocks = bytearray(data)
    at = 0
    while at < len(blocks) and blocks[at]:
        size = int(blocks[at + 124 : at + 135].strip(b"\0 ") or b"0", 8)
        blocks[at + 148 : at + 156] = b" " * 8
        blocks[at + 148 : at + 156] = b"%06o\0 " % sum(blocks[at : at + 512])
        at += 512 + (size + 511) // 512 * 512
    return bytes(blocks)


@pytest.mark.parametrize("how", PACK)
def test_traces_of_all_formats_are_read_and_the_rest_is_counted(tmp_path, how):
    content = PACK[how](FILES)
    content = fix_v7(content) if how == "v7" else content
    path = write(tmp_path, content)
    assert detect_format(path) == "scamper_json"
    traces, report, error = read(path)
    assert not error
    assert report.size_bytes == len(content)
    assert report.n_records == len(traces)
    assert traces == alone(tmp_path, SCAMPER, ATLAS, TEXT)
    assert report.skipped["file of no known format"] == 1
    assert report.status == "ok"


def test_a_file_that_fails_is_named_and_costs_no_other(tmp_path):
    files = {"a.jsonl": SCAMPER, "cut.jsonl.gz": gzip.compress(ATLAS)[:-20], "x.warts": b"?" * 99}
    for how in ("tgz", "zip"):
        path = write(tmp_path, PACK[how]({**files, "b.jsonl": SCAMPER}))
        traces, report, error = read(path)
        assert len(traces) >= 2 * len(alone(tmp_path, SCAMPER))
        write(tmp_path, PACK[how]({**files, "b.jsonl": SCAMPER}))
        assert error.startswith("2 of its files cannot be used, or not to the end; the first: ")
        assert "archive!cut.jsonl.gz" in error
        assert report.status == "partial"
        named = {sample.place for sample in report.samples if "file" in sample.reason}
        assert named == {"archive!cut.jsonl.gz", "archive!x.warts"}


def test_broken_records_have_the_name_of_their_file(tmp_path):
    path = write(tmp_path, zipped({"a.jsonl": SCAMPER + b'{"type":"trace"}\n'}))
    _, report, error = read(path)
    assert not error
    assert report.samples[0].place.startswith("a.jsonl: line ")


def test_an_archive_may_hold_one_topology(tmp_path):
    path = write(tmp_path, zipped({"README": b"text\n", "a.txt": SNAP}))
    report = ReadReport(str(path))
    format, items = open_reader(path, report)
    assert (format.kind, report.format) == ("topology", "snap")
    (topology,) = items
    assert topology.n_nodes == 3  # type: ignore[union-attr]


def test_without_a_known_format_some_names_and_a_reason_are_told(tmp_path):
    path = write(tmp_path, zipped({f"{i}.txt": b"text\n" for i in range(5)}))
    with pytest.raises(
        FormatError, match=r"5 files, none of a known format: 0.txt, 1.txt, 2.txt and 2"
    ):
        detect_format(path)
    path = write(tmp_path, tarred({"one.pcap": b"\xd4\xc3\xb2\xa1" + bytes(99)}))
    with pytest.raises(FormatError, match=r"archive!one.pcap: a packet capture"):
        detect_format(path)
    path = write(tmp_path, tarred({}))
    with pytest.raises(FormatError, match="without a file that can be read"):
        detect_format(path)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a\n\x1b[31mb", "\u202egpj.exe", "n" * 3000, "a\\b"]
)
@pytest.mark.parametrize("how", ["tar", "pax", "zip"])
def test_names_are_shown_and_never_used(tmp_path, how, name):
    path = write(tmp_path, PACK[how]({name: b"text\n", "b": b"more\n"}))
    with pytest.raises(FormatError) as caught:
        detect_format(path)
    assert all(each.isprintable() for each in str(caught.value))
    assert len(str(caught.value)) < 1500
    assert {each.name for each in tmp_path.iterdir()} == {"archive"}


def test_an_archive_in_an_archive_is_told_to_be_unpacked(tmp_path):
    inner = zipped({"a.jsonl": SCAMPER})
    for content in (
        zipped({"inner": inner}),
        zipped({"inner": tarred({"a.jsonl": SCAMPER})}),
        tarred({"inner": gzip.compress(tarred({"a.jsonl": SCAMPER}))}),
        gzip.compress(inner),
    ):
        with pytest.raises(FormatError, match=r"unknown format|an archive in an archive"):
            detect_format(write(tmp_path, content))


@pytest.mark.parametrize(
    "content",
    [
        lambda zeros: zipped({"a.jsonl": zeros}),
        lambda zeros: zipped({f"{i}.jsonl": zeros[: 1 << 20] for i in range(40)}),
        lambda zeros: tarred({"a.jsonl": bz2.compress(zeros)}),
        lambda zeros: tarred({f"{i}.gz": gzip.compress(zeros) for i in range(3)}, "w:gz"),
        lambda zeros: tarred({"a.jsonl": zeros}, "w:bz2"),
    ],
)
def test_bombs_end_where_they_expand_too_much(tmp_path, content, monkeypatch):
    monkeypatch.setattr(opening, "EXPANSION_FREE", 1 << 16)
    monkeypatch.setattr(opening, "MAX_EXPANSION", 20)
    path = write(tmp_path, content(b"\n" * (1 << 24)))
    tracemalloc.start()
    with open_bytes(path) as stream:
        n_bytes, fault = 0, ""
        try:
            for _, member in members(stream):
                try:
                    while piece := member.read(1 << 18):
                        n_bytes += len(piece)
                except FormatError as error:
                    fault = error.reason
        except FormatError as error:
            fault = error.reason
        limit = max(1 << 16, 20 * stream.size_bytes) + (8 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "expands to more than" in fault
    assert n_bytes < limit
    assert peak < 40 << 20


def test_a_name_of_a_megabyte_and_a_sparse_file_are_refused(tmp_path):
    entry = tarfile.TarInfo("././@LongLink")
    entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, 1 << 33
    sparse = tarfile.TarInfo("a")
    sparse.type, sparse.size = tarfile.GNUTYPE_SPARSE, 1 << 40
    for header in (entry, sparse):
        content = header.tobuf(tarfile.GNU_FORMAT) + b"n" * 4096
        assert is_tar(content)
        with pytest.raises(FormatError, match="sparse, or has a name of a megabyte"):
            detect_format(write(tmp_path, content))


def test_more_files_than_fit_into_memory_are_refused(tmp_path, monkeypatch):
    content = zipped({f"{i}.txt": b"" for i in range(50)})
    at = content.rfind(b"PK\x05\x06")
    claimed = content[: at + 12] + struct.pack("<I", 1 << 31) + content[at + 16 :]
    with pytest.raises(FormatError, match="more files than any archive"):
        detect_format(write(tmp_path, claimed))
    monkeypatch.setattr(archives, "MAX_DIRECTORY_BYTES", 100)
    with pytest.raises(FormatError, match="more files than any archive"):
        detect_format(write(tmp_path, content))


def test_an_encrypted_file_is_told_to_be_unpacked(tmp_path):
    content = bytearray(zipped({"a.jsonl": SCAMPER, "b.jsonl": SCAMPER}))
    content[content.find(b"a.jsonl") - 30 + 6] |= 1  # of its own header
    content[content.rfind(b"a.jsonl") - 46 + 8] |= 1  # of the directory
    traces, report, error = read(write(tmp_path, bytes(content)))
    assert traces == alone(tmp_path, SCAMPER)
    assert "archive!a.jsonl: is encrypted: unpack it" in error
    assert report.status == "partial"
    assert [sample.place for sample in report.samples] == ["archive!a.jsonl"]


def test_a_compression_without_a_limit_is_told_to_be_unpacked(tmp_path):
    path = write(tmp_path, zipped({"a.jsonl": SCAMPER}, zipfile.ZIP_LZMA))
    with pytest.raises(FormatError, match="packed in a way that is not read"):
        detect_format(path)


@settings(max_examples=examples(100), deadline=None)
@given(mutations(PACK["tgz"]({"a.jsonl": SCAMPER, "c": TEXT})))
def test_a_damaged_tar_gives_traces_or_a_fault(tmp_path_factory, data):
    _damaged(tmp_path_factory, data)


@settings(max_examples=examples(100), deadline=None)
@given(mutations(tarred({"a.jsonl": SCAMPER, "c": TEXT})))
def test_a_damaged_plain_tar_gives_traces_or_a_fault(tmp_path_factory, data):
    _damaged(tmp_path_factory, data)


@settings(max_examples=examples(200), deadline=None)
@given(mutations(zipped({"a.jsonl": SCAMPER, "c": TEXT})))
def test_a_damaged_zip_gives_traces_or_a_fault(tmp_path_factory, data):
    _damaged(tmp_path_factory, data)


def _damaged(tmp_path_factory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(data)
    traces, report, error = read(path)
    if report.format and not error:
        assert report.n_records >= 1
        assert len(traces) >= report.n_records
