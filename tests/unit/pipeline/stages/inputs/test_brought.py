"""Standard input and URLs as inputs: files for as long as they are read."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from pipeline.errors import UsageError
from pipeline.places import folder_of, objects
from pipeline.stages.inputs.brought import STDIN, brought


def test_standard_input_is_a_file_until_the_end():
    with brought([STDIN, Path("a.txt")], io.BytesIO(b"traces")) as instead:
        assert set(instead) == {STDIN}
        held = instead[STDIN]
        assert held.read_bytes() == b"traces"
    assert not held.parent.exists()


def test_a_terminal_is_no_input():
    class Terminal(io.BytesIO):
        def isatty(self):
            return True

    with pytest.raises(UsageError, match="is standard input"), brought([STDIN], Terminal()):
        pass


def test_objects_are_at_their_mirrors_until_the_end(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MIRRORS", str(tmp_path))
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    held = {"s3://b/day/a.jsonl": b"1", "s3://b/day/x/b.txt": b"2", "s3://b/day/../../c": b"3"}
    monkeypatch.setattr(
        objects, "below", lambda url: [each for each in held if each.startswith(f"{url}/")]
    )
    monkeypatch.setattr(objects, "fetch", lambda url, path: path.write_bytes(held[url]))
    day, one = folder_of("s3://b/day"), folder_of("s3://b/day/a.jsonl")
    with brought([day]):
        found = {path.relative_to(day): path.read_bytes() for path in day.rglob("*.*")}
        assert found == {Path("a.jsonl"): b"1", Path("x/b.txt"): b"2"}
    assert not [*day.rglob("*.*")]
    one.write_bytes(b"there before")
    with brought([one]):
        assert one.read_bytes() == b"1"
    assert one.exists()
    assert {path.name for path in tmp_path.iterdir()} == {"s3"}
