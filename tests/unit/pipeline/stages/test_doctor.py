"""What the doctor says of leftovers, and of ASes that one GPU cannot hold."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.errors import StoreError
from pipeline.model.words import size_text
from pipeline.places import folder_of, objects
from pipeline.stages import doctor
from pipeline.stages.doctor import Finding, _gpu_bytes, _what_is_left, examine
from tests.s3 import BUCKET, keys
from tests.unit.pipeline.report.test_folder import write
from tests.unit.pipeline.store.results.test_table import add, searches, table_of


@pytest.mark.parametrize(
    ("path", "is_replaced"),
    [
        ("store/versions/night-0123456789ab", True),
        ("store/versions/.writing-0123456789ab", False),
        ("tmp/hopscope-0/workers-0123456789ab", False),
        ("out/.writing-0123456789ab", False),
    ],
)
def test_only_versions_of_snapshots_may_have_been_replaced(path, is_replaced):
    assert ("replaced" in _what_is_left(Path(path))) == is_replaced


def test_memory_of_each_gpu_is_read_from_the_driver():
    lines = "NVIDIA H200, 143771 MiB, 580.159.04\nNVIDIA H200, 143770 MiB, 580.159.04\n"
    assert _gpu_bytes(lines) == [143771 << 20, 143770 << 20]
    assert _gpu_bytes("NVIDIA H200, [N/A], 580.159.04\n") == []


@pytest.mark.parametrize("made", [False, True])
def test_of_a_store_that_is_not_there_only_that_is_said(tmp_path, monkeypatch, made):
    monkeypatch.setattr(doctor, "_kernels", lambda: Finding("cpu kernels", True, ""))
    if made:
        (tmp_path / "store").mkdir()
    findings = list(examine(tmp_path / "store", None))
    (told,) = (each for each in findings if "store" in each.subject)
    assert not told.ok
    assert "no store here" in told.text
    assert "results" not in {each.subject for each in findings}


def test_what_is_known_is_told_before_kernels_are_compiled(monkeypatch):
    monkeypatch.setattr(doctor, "_kernels", lambda: pytest.fail("it compiles"))
    findings = examine(None)
    assert [next(findings).subject for _ in range(3)][:2] == ["machine", "packages"]
    with pytest.raises(pytest.fail.Exception, match="it compiles"):
        list(findings)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (1023, "1,023 bytes"), (1024, "1.0 KiB"), (3 << 20, "3.0 MiB")],
)
def test_small_things_have_a_size_too(n_bytes, text):
    assert size_text(n_bytes) == text


def test_what_runs_remove_while_the_doctor_looks_is_no_finding(tmp_path, monkeypatch):
    there, gone = tmp_path / ".reading-0123456789ab", tmp_path / ".reading-fedcba987654"
    (there / "files").mkdir(parents=True)
    (there / "lock").write_bytes(bytes(3 << 20))
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / doctor.REPORT).write_text("{}")
    monkeypatch.setattr(doctor, "leftovers", lambda store, out: [there, gone])
    walk = os.walk

    def later(folder):
        for here, folders, names in walk(folder):
            yield here, folders, [*names, "vanished"]

    monkeypatch.setattr(doctor.os, "walk", later)
    (finding,) = doctor._leftovers(None, tmp_path, clean=False)
    assert finding.text.startswith(f"{there}: left by a killed run, 3.0 MiB")
    assert [each.subject for each in doctor._reports(None, tmp_path)] == ["report report"]


@pytest.mark.parametrize("made", [False, True])
def test_a_folder_without_reports_is_said_to_have_none_yet(tmp_path, made):
    out = tmp_path / "out"
    if made:
        (out / "no report").mkdir(parents=True)
    assert list(doctor._reports(None, out)) == [Finding("reports", True, f"none in {out} yet")]


def test_damaged_files_of_a_report_are_named(tmp_path):
    write(tmp_path)
    (whole,) = doctor._reports(None, tmp_path)
    assert whole.ok
    assert whole.subject == "report night"
    assert "KiB" in whole.text
    shutil.rmtree(tmp_path / "night" / "as")
    os.truncate(tmp_path / "night" / "ases.parquet", 50)
    (tmp_path / "night" / "report.json").write_bytes(b"")
    (damaged,) = doctor._reports(None, tmp_path)
    assert not damaged.ok
    assert damaged.text.startswith(f"{tmp_path / 'night'}: report.json: is not")
    assert "; ases.parquet: cannot be read" in damaged.text
    assert "; as/10.html: is missing; " in damaged.text
    for store, named in ((None, "DIR"), (tmp_path / "my store", f"'{tmp_path / 'my store'}'")):
        (damaged,) = doctor._reports(store, tmp_path)
        command = f"hopscope analyze --snapshot night --store {named} --out {tmp_path}"
        assert damaged.text.endswith(f"`{command}` writes it again")


@pytest.fixture
def with_broken_results(s3, machine):
    """A store at a URL, one of whose two segments has been altered there."""
    store = folder_of(f"s3://{BUCKET}/store")
    for asn in (3, 4):
        add(table_of(store), searches((asn, 7, [1, 2])))
    broken, whole = keys(s3, "store/results/")
    s3.put_object(Bucket=BUCKET, Key=broken, Body=b"not Parquet")
    machine("second")
    return folder_of(f"s3://{BUCKET}/store"), broken, whole


def test_broken_results_are_removed_at_a_url_too(s3, with_broken_results):
    store, broken, whole = with_broken_results
    _, finding = doctor._results(store, clean=False)
    assert not finding.ok
    assert finding.text.endswith("--clean removes it")
    assert keys(s3, "store/results/") == [broken, whole]
    _, finding = doctor._results(store, clean=True)
    assert finding.ok
    assert finding.text.endswith("; removed")
    assert keys(s3, "store/results/") == [whole]
    (text,) = (each.text for each in doctor._results(store, clean=False))
    assert text.startswith("1 file, ")


def test_broken_results_that_cannot_be_removed_are_said_to_be_there(
    with_broken_results, monkeypatch
):
    def fail(urls):
        raise StoreError("no permission")

    monkeypatch.setattr(objects, "remove", fail)
    _, finding = doctor._results(with_broken_results[0], clean=True)
    assert not finding.ok
    assert finding.text.endswith("; cannot be removed: no permission")
    assert len(list(doctor._results(with_broken_results[0], clean=False))) == 2


@pytest.fixture
def at_urls(monkeypatch, tmp_path):
    """As a machine whose nightly runs write to URLs; what the doctor was asked to examine."""
    seen = []
    monkeypatch.setenv("HOPSCOPE_MIRRORS", str(tmp_path / "mirrors"))
    monkeypatch.setenv("HOPSCOPE_STORE", f"s3://{BUCKET}/store")
    monkeypatch.setenv("HOPSCOPE_OUT", f"s3://{BUCKET}/reports")
    monkeypatch.setattr(doctor, "examine", lambda *places, clean: seen.append(places) or [])
    return seen


def test_reports_at_a_url_that_a_variable_names_are_said_to_be_unchecked(at_urls):
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    assert ended.value.code == 0
    ((_, out),) = at_urls
    (finding,) = doctor._reports(None, out)
    assert finding.ok
    assert finding.subject == f"reports s3://{BUCKET}/reports"
    assert finding.text.startswith("not checked")


def test_reports_at_a_url_that_were_asked_for_are_refused(at_urls, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--out", f"s3://{BUCKET}/reports"])
    assert ended.value.code == 2
    said = f"--out takes a folder on this machine's disks, not 's3://{BUCKET}/reports'"
    assert said in capsys.readouterr().err
    assert not at_urls
