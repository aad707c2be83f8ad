"""The table of formats: every reader in it has a module, samples, a contract and documentation."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from pipeline.errors import FormatError, UsageError
from pipeline.ingest import FORMATS, detect_format, open_reader, warm_up
from pipeline.model.measured.reading import ReadReport

ROOT = Path(__file__).parents[4]
SAMPLES = ROOT / "data" / "samples"


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_module_samples_tests_and_documentation(name):
    module = FORMATS[name].load()
    assert module.__doc__
    assert callable(module.sniff)
    assert callable(module.read)
    samples = [path for path in (SAMPLES / name).iterdir() if path.is_file()]
    assert samples
    tests = "\n".join(each.read_text() for each in Path(__file__).parent.rglob(f"test_{name}.py"))
    assert f'format = "{name}"' in tests, f"no test_{name}.py, of a contract of tests/contracts"
    assert (SAMPLES / name / "bad").is_dir() or "    bad = {" in tests, "no broken files"
    page = (ROOT / "docs" / "formats.md").read_text()
    assert f"\n## {name}: " in page, "no section in docs/formats.md: make generated"
    assert FORMATS[name].least


@pytest.mark.parametrize("name", FORMATS)
def test_each_sample_is_taken_for_its_format_alone(name):
    for path in (SAMPLES / name).iterdir():
        if path.is_file():
            assert detect_format(path) == name


def test_an_unknown_file_is_named_with_what_there_is(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear all,\n")
    report = ReadReport(str(path))
    with pytest.raises(FormatError, match=r"letter\.txt.*unknown format.*warts.*brite"):
        open_reader(path, report)
    assert report.status == "rejected"
    assert "unknown format" in report.error
    assert report.size_bytes == 10
    assert report.sha256 == hashlib.sha256(b"Dear all,\n").hexdigest()


def test_small_neighbour_lists_are_told_how_to_be_recognised(tmp_path):
    path = tmp_path / "pair.adj"
    path.write_text("1\n0\n\n")
    with pytest.raises(FormatError, match=r"begin with the line '#.*'$") as caught:
        detect_format(path)
    line = str(caught.value).rpartition(" line ")[2].strip("'")
    path.write_text(f"{line}\n1\n0\n\n")
    assert detect_format(path) == "adjacency"


def test_an_ambiguous_file_asks_for_the_format(tmp_path, monkeypatch):
    path = tmp_path / "both"
    path.write_bytes((SAMPLES / "warts" / "sample.warts").read_bytes())
    monkeypatch.setattr(FORMATS["atlas"].load(), "sniff", lambda head: True)
    with pytest.raises(FormatError, match="could be warts or atlas: select one with --format"):
        detect_format(path)


def test_an_unknown_format_name_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(UsageError, match=r"unknown format 'pcap'.*warts"):
        open_reader(tmp_path / "missing", ReadReport("missing"), "pcap")


def test_empty_missing_and_damaged_files_are_named_at_once(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    packed = gzip.compress(b"x" * 100)
    (tmp_path / "damaged").write_bytes(packed[:10] + b"\xff" * 20)
    for name, reason in (
        ("empty", "empty"),
        ("missing", "cannot be opened"),
        ("damaged", "damaged gzip data"),
    ):
        report = ReadReport(name)
        with pytest.raises(FormatError, match=f"{name}.*{reason}"):
            open_reader(tmp_path / name, report)
        assert report.status == "rejected"


def test_a_file_that_is_not_of_the_given_format_is_rejected():
    path = SAMPLES / "warts" / "sample.warts"
    for name, format in FORMATS.items():
        if name == "warts" or format.kind != "traces":
            continue
        report = ReadReport(str(path))
        with pytest.raises(FormatError, match=r"sample\.warts"):
            list(open_reader(path, report, name)[1])
        assert report.status == "rejected"
        assert report.n_records == 0


def test_the_report_has_size_and_hash_of_the_stored_file(tmp_path):
    packed = tmp_path / "sample.gz"
    packed.write_bytes(gzip.compress((SAMPLES / "warts" / "sample.warts").read_bytes()))
    report = ReadReport(str(packed))
    format, batches = open_reader(packed, report)
    assert format is FORMATS["warts"]
    assert sum(batch.n_traces for batch in batches) == report.n_records == 4
    assert report.format == "warts"
    assert report.size_bytes == packed.stat().st_size
    assert report.sha256 == hashlib.sha256(packed.read_bytes()).hexdigest()


def test_warming_up_compiles_every_reader_of_traces():
    warm_up()
    assert FORMATS["warts"].load().wire.decode.signatures
    assert FORMATS["scamper_json"].load().fast.decode.signatures
