"""Damage to a report is named by file; whole reports, of whichever version, have none."""

from __future__ import annotations

import itertools
import json
import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.report import checking
from pipeline.report.checking import check_report
from tests.unit.pipeline.report.test_folder import write


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    write(out)
    return out / "night"


@pytest.fixture
def report(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "night")


def overwrite_the_middle(path):
    data = bytearray(path.read_bytes())
    at = pq.read_metadata(path).row_group(0).column(0).data_page_offset
    data[at : at + 40] = bytes(40)
    path.write_bytes(data)


DAMAGES = {
    "report.json": {
        "is not that of a report": lambda path: path.write_bytes(b""),
        "is not that of a report of hopscope": lambda path: path.write_text('{"title": "other"}'),
    },
    "ases.parquet": {
        "cannot be read": lambda path: os.truncate(path, 50),
        "cannot be read (": overwrite_the_middle,
        "is missing": lambda path: path.unlink(),
    },
    "exits.parquet": {"is missing": lambda path: path.unlink()},
    "pages.parquet": {"cannot be read": lambda path: os.truncate(path, 50)},
    "index.html": {"is missing": lambda path: path.unlink()},
    "as/10.html": {
        "is missing": lambda path: path.unlink(),
        "has 50 bytes, ": lambda path: os.truncate(path, 50),
    },
}


@pytest.mark.parametrize(
    ("name", "said"), [(name, said) for name, cases in DAMAGES.items() for said in cases]
)
def test_a_damaged_file_is_named(report, name, said):
    assert check_report(report) == []
    DAMAGES[name][said](report / name)
    (fault,) = check_report(report)
    assert fault.startswith(f"{name}: {said}")


def test_tables_of_single_ases_are_opened_and_counted(report):
    facts = json.loads((report / "report.json").read_bytes())
    facts["totals"]["n_node_files"] = 2
    (report / "report.json").write_text(json.dumps(facts))
    for folder in ("nodes", "distances"):
        (report / folder).mkdir(exist_ok=True)
        pq.write_table(pa.table({"node": [1]}), report / folder / "10.parquet")
    assert check_report(report) == ["nodes: has 1 file of 2"]
    for folder in ("nodes", "distances"):
        os.truncate(report / folder / "10.parquet", 9)
    found = [fault.split(": ")[0] for fault in check_report(report)]
    assert found == ["nodes/10.parquet", "distances/10.parquet", "nodes"]


@pytest.mark.parametrize("totals", [[], "damaged", None, {"n_node_files": "many"}])
def test_totals_of_another_type_hide_no_other_damage(report, totals):
    facts = json.loads((report / "report.json").read_bytes()) | {"totals": totals}
    (report / "report.json").write_text(json.dumps(facts))
    (report / "index.html").unlink()
    assert check_report(report) == ["index.html: is missing"]


def test_a_list_of_pages_without_their_sizes_is_named(report):
    pq.write_table(pa.table({"asn": [10]}), report / "pages.parquet")
    assert check_report(report) == ["pages.parquet: does not have the columns asn and size"]


def test_a_report_without_a_list_of_pages_and_files_of_users_are_no_damage(report):
    (report / "pages.parquet").unlink()
    (report / "as" / "10.html").unlink()
    (report / "as" / "notes.html").write_text("mine")
    (report / "mine.parquet").write_text("not a table")
    assert check_report(report) == []


def test_a_page_to_which_a_comparison_added_is_whole(report):
    page = report / "as" / "10.html"
    n_before = page.stat().st_size
    added = b"<!--changes--><p>a link was removed</p><!--/changes-->"
    page.write_bytes(page.read_bytes().replace(b"<!--changes--><!--/changes-->", added))
    assert page.stat().st_size > n_before
    assert check_report(report) == []
    os.truncate(page, page.stat().st_size - 1)
    assert len(check_report(report)) == 1


def test_a_report_that_is_replaced_or_removed_meanwhile_is_not_called_damaged(
    report, whole, monkeypatch
):
    faults = checking._faults

    def replaced(folder):
        """Another report takes its place while its tables are read."""
        shutil.rmtree(folder)
        shutil.copytree(whole, folder)
        monkeypatch.setattr(checking, "_faults", faults)
        return iter(["as/10.html: is missing"])

    def removed(folder):
        shutil.rmtree(folder)
        return faults(folder)

    identities = itertools.count()
    monkeypatch.setattr(checking, "_identity", lambda folder: next(identities))
    monkeypatch.setattr(checking, "_faults", replaced)
    assert check_report(report) == []
    monkeypatch.undo()
    monkeypatch.setattr(checking, "_faults", removed)
    assert check_report(report) == []


def test_a_report_from_before_there_were_exits_is_whole(report):
    for name in ("exits", "as_links"):
        (report / f"{name}.parquet").unlink()
    assert check_report(report) == []


def test_a_table_is_named_by_an_error_that_says_nothing(report, monkeypatch):
    def refuses(path):
        raise OSError

    monkeypatch.setattr(checking.pq, "ParquetFile", refuses)
    assert "ases.parquet: cannot be read (OSError)" in "\n".join(check_report(report))
