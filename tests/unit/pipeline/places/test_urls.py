"""URLs and their mirrors: one follows from the other, and nothing secret is shown."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.errors import UsageError, WrongPartError
from pipeline.options import Option, options_of
from pipeline.places import folder_of, in_one_line, shown, url_of, with_urls
from pipeline.places.urls import mirrors, redacted

SECRET = "wJalrXUtnFEMI"


@pytest.fixture(autouse=True)
def own_mirrors(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MIRRORS", str(tmp_path / "mirrors"))
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "FSSPEC_S3_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)


def option(config: type, name: str) -> Option:
    return next(each for each in options_of(config) if each.name == name)


@pytest.mark.parametrize(
    "url", ["s3://bucket/store", "gs://bucket/a/b.c/d_e", "abfs://container/2026=1+x"]
)
def test_a_url_and_its_mirror_follow_from_each_other(url):
    folder = folder_of(url)
    assert folder.is_relative_to(mirrors())
    assert url_of(folder) == shown(folder) == url
    assert url_of(folder / "versions" / "x") == f"{url}/versions/x"
    assert folder_of(str(folder)) == folder_of(f"{url}/") == folder
    assert with_urls(f"{folder}: is broken, not {folder}/x") == f"{url}: is broken, not {url}/x"


@pytest.mark.parametrize("path", ["store", "/data/store", ".", "s3/store", Path("here")])
def test_a_folder_is_left_alone(path):
    assert folder_of(path) == Path(path)
    assert url_of(Path(path)) is None
    assert shown(Path(path)) == str(path)
    assert with_urls(str(path)) == str(path)


def test_another_server_has_another_mirror(monkeypatch):
    usual = folder_of("s3://bucket/store")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    local = folder_of("s3://bucket/store")
    assert local != usual
    assert url_of(local) == url_of(usual) == "s3://bucket/store"


@pytest.mark.parametrize(
    "url",
    [
        f"s3://AKIA:{SECRET}@bucket/store",
        f"s3://AKIA:{SECRET[:5]}/{SECRET}@bucket/store",
        f"s3://bucket/store?secret={SECRET}",
        f"s3://bucket/store#{SECRET}",
        f"ftp://user:{SECRET}@host/store",
    ],
)
def test_a_url_with_keys_is_refused_and_not_shown(url):
    assert SECRET not in redacted(url)
    for config, name in ((AnalyzeConfig, "store"), (AnalyzeConfig, "out"), (IngestConfig, "ip2as")):
        given = [url] if name == "ip2as" else url
        with pytest.raises(UsageError) as caught:
            option(config, name).parse(given, f"--{name}")
        assert SECRET not in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["s3://", "s3://bucket", "s3://bucket/", "s3:///x", "s3://b/../x", "s3://b/x y", "s3://b/%2e"],
)
def test_a_url_that_names_no_place_in_a_bucket_is_refused(url):
    with pytest.raises(WrongPartError, match="s3://BUCKET/NAME"):
        folder_of(url)


@pytest.mark.parametrize("url", ["http://host/store", "file:///tmp/store", "memory://x/y"])
def test_a_url_of_another_kind_is_refused(url):
    with pytest.raises(WrongPartError, match="s3://, gs://, abfs://"):
        folder_of(url)


def test_files_are_on_this_machine():
    with pytest.raises(UsageError, match="--tls-ca takes a file or folder on this machine's disks"):
        option(AnalyzeConfig, "tls_ca").parse("s3://bucket/table", "--tls-ca")
    tables = option(IngestConfig, "ip2as").parse(["s3://bucket/table"], "--ip2as")
    assert len(tables) == 1


def test_an_error_names_urls_and_not_their_mirrors():
    folder = folder_of("s3://bucket/store")
    full = OSError(errno.ENOSPC, "words of a library", f"{folder}/x")
    assert in_one_line(full) == "s3://bucket/store/x: No space left on device"
    assert in_one_line(UsageError(f"{folder}: no snapshot")) == "s3://bucket/store: no snapshot"
