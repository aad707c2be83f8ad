"""What a report may replace."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import UsageError
from pipeline.report import write_reports
from pipeline.report.folder import earlier_report
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

OURS = {"schema_version": 1, "snapshot": "night", "versions": {"hopscope": "0.1"}}


def snapshot() -> MemorySnapshot:
    return MemorySnapshot({10: [(0, 1)]}, {10: 2}, [(10, 0, [20], 3, 0, False)], name="night")


def write(out):
    found = snapshot()
    return write_reports(found, measured(found), out, options={}, warnings=[], started=0.0)


def test_nothing_an_empty_folder_and_our_own_report_are_replaced(tmp_path):
    final = tmp_path / "night"
    assert earlier_report(final) is None
    final.mkdir()
    assert earlier_report(final) is None
    write(tmp_path)
    assert earlier_report(final)["snapshot"] == "night"
    write(tmp_path)


def test_files_that_users_added_are_kept(tmp_path, monkeypatch):
    final = tmp_path / "night"
    write(tmp_path)
    ours = {path.relative_to(final) for path in final.rglob("*")}
    added = {
        "notes.txt": "a",
        "as/notes.txt": "b",
        "mine/deep/10.html": "c",
        "nodes/x": "d",
        "as/98.html": "e",
    }
    for name, text in added.items():
        (final / name).parent.mkdir(parents=True, exist_ok=True)
        (final / name).write_text(text)
    (final / "empty").mkdir(mode=0o700)
    (final / "link").symlink_to("mine")
    for can_link in (True, False):
        (final / "as" / "99.html").touch()  # ours, of an AS that no longer exists
        ases = pq.read_table(final / "ases.parquet", columns=["asn"])["asn"].to_pylist()
        pq.write_table(pa.table({"asn": [*ases, 99]}), final / "ases.parquet")
        if not can_link:
            monkeypatch.setattr("os.link", _refuse)
        write(tmp_path)
        assert {name: (final / name).read_text() for name in added} == added
        assert (final / "empty").stat().st_mode & 0o777 == 0o700
        assert (final / "link").is_symlink()
        assert (final / "link" / "deep").is_dir()
        found = {path.relative_to(final) for path in final.rglob("*")}
        assert ours <= found
        assert not (final / "as" / "99.html").exists()


def _refuse(*_, **__):
    raise OSError


@pytest.mark.parametrize(("name", "needed"), [("index.html", "file"), ("nodes", "folder")])
def test_what_a_new_report_has_no_room_for_is_refused_by_name(tmp_path, name, needed):
    write(tmp_path)
    path = tmp_path / "night" / name
    path.unlink(missing_ok=True)
    path.mkdir() if needed == "file" else path.write_text("mine")
    with pytest.raises(UsageError, match=rf"{name} should be a {needed}; "):
        write(tmp_path)
    assert path.exists()


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "no json",
        "[]",
        "[" * 100_000,
        "{}",
        json.dumps({"snapshot": "night", "schema_version": 1}),
        json.dumps(OURS | {"snapshot": "other"}),
        json.dumps(OURS | {"schema_version": "1"}),
        json.dumps(OURS | {"versions": ["hopscope"]}),
    ],
)
def test_everything_else_stays_as_it_is(tmp_path, text):
    final = tmp_path / "night"
    final.mkdir()
    (final / "traces.warts").write_bytes(b"a year of work")
    if text is not None:
        (final / "report.json").write_text(text)
    before = {path.name: path.read_bytes() for path in final.iterdir()}
    with pytest.raises(UsageError, match=r"night: .*--out"):
        write(tmp_path)
    assert {path.name: path.read_bytes() for path in final.iterdir()} == before
    assert {path.name for path in tmp_path.iterdir()} <= {"night", ".lock"}


@pytest.mark.parametrize("kind", ["addresses", "routers"])
def test_shards_of_the_earlier_report_go_and_what_users_put_there_stays(tmp_path, kind):
    snapshot = MemorySnapshot(
        {10: [(0, 1)]},
        {10: 2},
        [],
        name="night",
        addrs={10: ["192.0.2.1", "192.0.2.2"]},
        manifest={"inputs": [{"path": "a.warts", "format": "warts", "status": "ok"}]},
    )

    def written():
        return write_reports(
            snapshot, measured(snapshot), tmp_path, options={}, warnings=[], started=0.0
        ).path

    folder = written() / kind
    assert sorted(path.name for path in folder.iterdir()) == ["0.js", "index.js"]
    (folder / "1.js").touch()  # of more addresses
    (folder / "notes.txt").write_text("mine")
    written()
    assert sorted(path.name for path in folder.iterdir()) == ["0.js", "index.js", "notes.txt"]
    (folder / "notes.txt").unlink()
    write(tmp_path)  # without addresses
    assert not folder.exists()


def test_files_that_came_while_the_report_was_written_are_kept(tmp_path, monkeypatch):
    from pipeline.report import write as module

    final = tmp_path / "night"

    def write_all(*arguments):
        found = real(*arguments)
        final.mkdir()
        (final / "notes.txt").write_text("mine")
        return found

    real = module._write_all
    monkeypatch.setattr(module, "_write_all", write_all)
    with pytest.raises(UsageError, match=r"notes\.txt"):
        write(tmp_path)
    assert (final / "notes.txt").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} <= {"night", ".lock"}


def test_a_file_and_a_link_are_no_folder_to_replace(tmp_path):
    (tmp_path / "night").write_text("a file")
    with pytest.raises(UsageError, match="not a folder"):
        write(tmp_path)
    (tmp_path / "night").unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "night").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="link"):
        write(tmp_path)
