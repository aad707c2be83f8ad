"""Objects in mirrors: whole and as written, or an error; what nobody names goes a day later."""

from __future__ import annotations

import hashlib
import os
import tomllib
from pathlib import Path

import pytest

from pipeline.errors import StoreError
from pipeline.places import folder_of, mirror, objects
from pipeline.places.mirror import brought, remove_unnamed
from tests.s3 import BUCKET, keys

ROOT = Path(__file__).parents[4]
DATA = b"0123456789" * 1000
URL = f"s3://{BUCKET}/place"


pytestmark = pytest.mark.usefixtures("machine")


def known(data: bytes = DATA) -> tuple[int, str]:
    return len(data), hashlib.sha256(data).hexdigest()


def test_an_object_is_fetched_once():
    objects.write(f"{URL}/x", DATA)
    path = folder_of(f"{URL}/x")
    assert brought(path, *known()).read_bytes() == DATA
    objects.remove([f"{URL}/x"])
    assert brought(path, *known()).read_bytes() == DATA


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (DATA[:-1], "has 9999 bytes, 10000 were written"),
        (DATA[:-1] + b"x", "has been altered"),
        (None, "no such object"),
    ],
)
def test_what_is_not_as_written_is_never_in_the_mirror(there, said):
    if there is not None:
        objects.write(f"{URL}/x", there)
    path = folder_of(f"{URL}/x")
    with pytest.raises(StoreError, match=said) as caught:
        brought(path, *known())
    assert f"{URL}/x" in str(caught.value)
    assert [name for name in os.listdir(path.parent) if not name.endswith(".lock")] == []


def test_objects_are_listed_read_copied_and_removed():
    objects.write(f"{URL}/a/x", b"1")
    objects.write(f"{URL}/b", b"2")
    objects.write(f"{URL}-beside/c", b"3")
    assert objects.entries(URL).keys() == {"a", "b"}
    assert objects.entries(URL)["a"] is None
    assert objects.entries(f"{URL}/none") == {}
    assert objects.below(URL) == [f"{URL}/a/x", f"{URL}/b"]
    assert objects.read(f"{URL}/c") is None
    assert objects.read_all([f"{URL}/b", f"{URL}/c", f"{URL}/a/x"]) == [b"2", None, b"1"]
    objects.copy({f"{URL}/d": f"{URL}/b"})
    assert objects.read(f"{URL}/d") == b"2"
    objects.remove([f"{URL}/d", f"{URL}/gone"])
    assert b"".join(objects.blocks(f"{URL}/b")) == b"2"


def test_a_missing_bucket_is_said_in_one_line():
    for call in (
        lambda: objects.entries("s3://no-bucket/x"),
        lambda: objects.read("s3://no-bucket/x"),
        lambda: objects.write("s3://no-bucket/x", b""),
    ):
        with pytest.raises(
            StoreError, match=r"^s3://no-bucket/x: no such bucket; create it first$"
        ):
            call()


def test_a_server_that_does_not_answer_is_said_in_one_line(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(objects, "ATTEMPTS", 1)
    with pytest.raises(StoreError, match="does not answer; check the network and AWS_ENDPOINT_URL"):
        objects.entries(URL)


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(objects.PACKAGES, "gs", "no_such_package")
    with pytest.raises(StoreError, match=r"needs no_such_package: pip install no_such_package$"):
        objects.entries("gs://bucket/x")
    monkeypatch.setitem(objects.PACKAGES, "s3", "no_such_package")
    with pytest.raises(StoreError, match=r"needs no_such_package: pip install 'hopscope\[s3\]'$"):
        objects.entries("s3://bucket/x")


def test_every_extra_that_is_named_exists():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = declared["project"]["optional-dependencies"]
    assert {f"'hopscope[{name}]'" for name in extras} >= set(objects.EXTRAS.values())


def test_what_no_pointer_names_is_marked_first_and_removed_a_day_later(s3, monkeypatch):
    for name in ("old/x", "old/y", "new/x"):
        objects.write(f"{URL}/versions/{name}", b"")
    assert remove_unnamed(URL, ["versions/old"]) == []
    assert remove_unnamed(URL, ["versions/old"]) == []
    monkeypatch.setattr(mirror, "KEEP_S", -1.0)
    assert remove_unnamed(URL, ["versions/old", "versions/new"]) == ["versions/old"]
    assert keys(s3) == ["place/.unnamed/versions~new", "place/versions/new/x"]
    assert remove_unnamed(URL, []) == []  # it is named again
    assert keys(s3) == ["place/versions/new/x"]
