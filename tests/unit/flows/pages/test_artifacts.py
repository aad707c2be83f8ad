"""The link to a report leads there; the table of ASes shows what it says."""

from __future__ import annotations

import pytest

from flows.pages import artifacts
from flows.pages.artifacts import report_link
from flows.pages.server import REPORTS_FOLDER, REPORTS_URL
from pipeline.places import folder_of


@pytest.fixture
def served(tmp_path, monkeypatch):
    folder = tmp_path / "served"
    folder.mkdir()
    monkeypatch.setenv(REPORTS_URL, "http://127.0.0.1:8080/reports")
    monkeypatch.setenv(REPORTS_FOLDER, str(folder))
    return folder


def test_report_in_the_served_folder_is_linked_where_it_is_served(served, tmp_path):
    other_name = tmp_path / "link"
    other_name.symlink_to(served)
    for out in (served, other_name):
        link = report_link(out / "a #1?%" / "index.html", out)
        assert link == "http://127.0.0.1:8080/reports/a%20%231%3F%25/index.html"


def test_report_of_a_run_with_its_own_folder_is_a_file(served, tmp_path):
    for out in (tmp_path / "own", served / "below"):
        link = report_link(out / "a b" / "index.html", out)
        assert link == f"file://{out}/a%20b/index.html"


def test_report_is_a_file_when_nothing_is_served(tmp_path, monkeypatch):
    monkeypatch.delenv(REPORTS_URL, raising=False)
    assert report_link(tmp_path / "s" / "index.html", tmp_path) == f"file://{tmp_path}/s/index.html"


def test_a_report_at_a_url_is_linked_there(served, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MIRRORS", str(tmp_path))
    out = folder_of("s3://lab-bucket/reports")
    assert report_link(out / "a" / "index.html", out) == "s3://lab-bucket/reports/a/index.html"


def test_the_table_of_ases_shows_what_it_says_with_all_decimals(monkeypatch):
    told = {}
    monkeypatch.setattr(
        artifacts, "create_table_artifact", lambda table, **more: told.update(more, rows=table)
    )
    artifacts.show_ases(("asn", "mean", "diameter"), [(7, 2.0, 5), (8, None, None)], 12)
    assert told["description"] == "The 2 largest of 12 ASes; mean: hops from an ingress."
    assert told["rows"] == [
        {"asn": 7, "mean": "2.00", "diameter": 5},
        {"asn": 8, "mean": "", "diameter": ""},
    ]
    artifacts.show_ases(("asn", "mean", "max"), [(7, 2.0, 5)], 1)
    assert told["description"] == "The 1 largest of 1 AS; mean and max: hops from an ingress."
