"""Reports at a URL: each as a whole under a name of its own, which a pointer gives."""

from __future__ import annotations

import orjson
import pytest

from pipeline.errors import StoreError
from pipeline.places import folder_of, mirror, objects
from pipeline.report.folder import report_turn
from pipeline.report.published import bring_reports
from tests.s3 import BUCKET, keys
from tests.unit.pipeline.report.test_folder import write

URL = f"s3://{BUCKET}/reports"


def publish(night="night"):
    out = folder_of(URL)
    with report_turn(out, night):
        write(out)
    return out


def current():
    return orjson.loads(objects.read(f"{URL}/night/current.json"))


def test_what_is_published_is_what_was_written_and_pages_lead_to_it(s3, machine):
    out = publish()
    content = current()
    files = {p.relative_to(out / "night").as_posix(): p for p in (out / "night").rglob("*.*")}
    files = {name: path for name, path in files.items() if path.is_file()}
    assert content["files"].keys() == files.keys() >= {"report.json", "as/10.html", "ases.parquet"}
    for name, path in files.items():
        assert objects.read(f"{URL}/{content['version']}/{name}") == path.read_bytes()
    page = objects.read(f"{URL}/night/index.html").decode()
    assert f'url=../{content["version"]}/index.html"' in page
    described = s3.head_object(Bucket=BUCKET, Key=f"reports/{content['version']}/index.html")
    assert described["ContentType"] == "text/html"


def test_another_machine_has_the_tables_and_all_of_the_night_that_it_adds_to(machine):
    publish()
    machine("second")
    out = folder_of(URL)
    bring_reports(out)
    assert (out / "night" / "ases.parquet").is_file()
    assert not (out / "night" / "as").exists()
    with report_turn(out, "night"):
        assert (out / "night" / "as" / "10.html").is_file()
        (out / "night" / "notes.txt").write_text("mine")
    machine("first")
    bring_reports(folder_of(URL), "night")
    assert (folder_of(URL) / "night" / "notes.txt").read_text() == "mine"
    assert (folder_of(URL) / "night" / "as" / "10.html").is_file()


def test_a_page_that_a_report_has_no_more_leads_nowhere(s3, machine):
    out = publish()
    with report_turn(out, "night"):
        (out / "night" / "changes.html").write_text("what changed")
    assert "reports/night/changes.html" in keys(s3)
    with report_turn(out, "night"):
        (out / "night" / "changes.html").unlink()
    assert "reports/night/changes.html" not in keys(s3)
    assert "reports/night/index.html" in keys(s3)


def test_an_unchanged_report_is_not_published_again(s3, machine):
    publish()
    before = keys(s3)
    with report_turn(folder_of(URL), "night"):
        pass
    assert keys(s3) == before


def test_unchanged_files_are_copied_at_the_url_and_replaced_reports_go_a_day_later(
    s3, machine, monkeypatch
):
    publish()
    first, sent = current()["version"], []
    send = objects.send
    monkeypatch.setattr(objects, "send", lambda paths: (sent.extend(paths), send(paths)))
    with report_turn(folder_of(URL), "night"):
        (folder_of(URL) / "night" / "notes.txt").write_text("mine")
    second = current()["version"]
    assert [url for url in sent if "@" in url] == [f"{URL}/{second}/notes.txt"]
    assert f"reports/{first}/report.json" in keys(s3)  # someone may be reading it
    monkeypatch.setattr(mirror, "KEEP_S", -1.0)
    with report_turn(folder_of(URL)):
        pass
    assert not keys(s3, f"reports/{first}")
    assert f"reports/{second}/as/10.html" in keys(s3)


def test_a_publication_that_fails_leaves_the_former_report(machine, monkeypatch):
    publish()
    for step in ("send", "write", "copy"):
        publication_fails(monkeypatch, step)


def publication_fails(monkeypatch, step):
    before = current()
    write_one = getattr(objects, step)

    def fail(paths, *rest):
        if step == "write" and not paths.endswith("current.json"):
            return write_one(paths, *rest)
        raise StoreError("no way")

    with monkeypatch.context() as patch:
        patch.setattr(objects, step, fail)
        with (
            pytest.raises(StoreError, match="no way"),
            report_turn(folder_of(URL), "night"),
        ):
            (folder_of(URL) / "night" / "notes.txt").write_text("mine")
    assert current() == before
    # The mirror goes back to what is published.
    bring_reports(folder_of(URL), "night")
    assert not (folder_of(URL) / "night" / "notes.txt").exists()


def test_an_error_while_writing_publishes_nothing(s3, machine):
    def broken_off():
        with report_turn(folder_of(URL), "night"):
            write(folder_of(URL))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken_off()
    assert keys(s3) == []
    bring_reports(folder_of(URL))
    assert not (folder_of(URL) / "night").exists()


def test_a_report_that_was_removed_is_gone_at_the_url(s3, machine, monkeypatch):
    out = publish()
    monkeypatch.setattr(mirror, "KEEP_S", -1.0)
    with report_turn(out):
        (out / "night").rename(out / ".left")
    assert not keys(s3, "reports/night/")
    with report_turn(out):
        pass
    assert not keys(s3, "reports/night")


NOT_OURS = [
    {"schema": "other"},
    {"version": "other@0123456789ab"},
    {"version": "../night@0123456789ab"},
    {"files": {"../x": [1, "0"]}},
    {"files": {"/x": [1, "0"]}},
    {"files": {".hidden": [1, "0"]}},
    {"files": ["x"]},
]


def test_a_pointer_that_is_not_ours_or_leads_outside_is_refused(machine):
    publish()
    ours = current()
    machine("second")
    for change in NOT_OURS:
        objects.write(f"{URL}/night/current.json", orjson.dumps(ours | change))
        with pytest.raises(StoreError, match="is not a pointer to a report"):
            bring_reports(folder_of(URL))
    objects.write(f"{URL}/night/current.json", orjson.dumps(ours))
    bring_reports(folder_of(URL))
