"""Objects at a URL: listed, read, written and removed, with one line for each way it can fail."""

from __future__ import annotations

import contextlib
import datetime
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineError, StoreError, UnreachableError, first_line
from pipeline.places.urls import EXTRAS, PACKAGES, endpoint_of

CONNECT_S = 10  # seconds for a server to take a connection
READ_S = 60  # seconds without a byte of an answer
ATTEMPTS = 4  # at each request


def entries(url: str) -> dict[str, float | None]:
    """What is directly below a URL: name -> when it was written (seconds since 1970 UTC).

    None for what is only the beginning of names of objects, as a folder does. Empty if there is
    nothing.

    Raises
    ------
    UnreachableError
        If the bucket is missing, nothing answers, or there is no permission, as in every function
        here.
    """
    with _reaching(url) as (files, path):
        try:
            found = files.ls(path, detail=True)
        except FileNotFoundError as error:
            if _is_of_bucket(error):
                raise
            return {}
    return {
        Path(entry["name"]).name: _written_s(entry) if entry["type"] == "file" else None
        for entry in found
        if entry["name"].startswith(f"{path}/")
    }


def below(url: str) -> list[str]:
    """URLs of all objects below a URL."""
    with _reaching(url) as (files, path):
        found = files.find(path)
    return [f"{url}/{name[len(path) + 1 :]}" for name in found if name.startswith(f"{path}/")]


def read(url: str) -> bytes | None:
    """One object; None where there is none."""
    with _reaching(url) as (files, path):
        try:
            data: bytes = files.cat_file(path)
        except FileNotFoundError as error:
            if _is_of_bucket(error):
                raise
            return None
        return data


def read_all(urls: Sequence[str]) -> list[bytes | None]:
    """Some objects of one store, at once; None for those that are gone."""
    if not urls:
        return []
    with _reaching(urls[0]) as (files, _):
        paths = [_path(url) for url in urls]
        found = files.cat(paths, on_error="return")
        for error in found.values():
            if isinstance(error, Exception) and not isinstance(error, FileNotFoundError):
                raise error
        return [data if isinstance(data, bytes) else None for data in map(found.get, paths)]


def write(url: str, data: bytes) -> None:
    """Write one object by one PUT: readers see the former one or this one."""
    with _reaching(url) as (files, path):
        files.pipe_file(path, data)


def send(paths: Mapping[str, Path]) -> None:
    """Write files as objects, URL -> file, several at once."""
    if not paths:
        return
    with _reaching(next(iter(paths))) as (files, _):
        files.put([str(path) for path in paths.values()], list(map(_path, paths)))


def copy(urls: Mapping[str, str]) -> None:
    """Copy objects within a store, new URL -> old URL, without their bytes passing through here."""
    if not urls:
        return
    with _reaching(next(iter(urls))) as (files, _):
        old, new = (list(map(_path, each)) for each in (urls.values(), urls))
        files.copy(old, new)


def fetch(url: str, path: Path) -> None:
    """Read one object into a file."""
    with _reaching(url) as (files, remote):
        files.get_file(remote, str(path))


def remove(urls: Sequence[str]) -> None:
    """Remove objects; those that are gone already do not count."""
    if not urls:
        return
    with _reaching(urls[0]) as (files, _), contextlib.suppress(FileNotFoundError):
        files.rm([_path(url) for url in urls])


def blocks(url: str) -> Iterator[bytes]:
    """The bytes of one object, in blocks, without a copy on disk."""
    with _reaching(url) as (files, path), files.open(path, "rb") as stream:
        while block := stream.read(8 << 20):
            yield block


@contextlib.contextmanager
def _reaching(url: str) -> Iterator[tuple[Any, str]]:
    """A file system and the path in it; every error becomes a StoreError that names the URL.

    It is an UnreachableError unless an object is missing: others may be read.
    """
    protocol = url.partition("://")[0]
    package = PACKAGES[protocol]
    if importlib.util.find_spec(package) is None:
        wanted = EXTRAS.get(protocol, package)
        raise UnreachableError(f"{url}: needs {package}: pip install {wanted}")
    import fsspec

    options: dict[str, Any] = {"use_listings_cache": False}
    if protocol == "s3":
        retries = {"max_attempts": ATTEMPTS, "mode": "standard"}
        options["endpoint_url"] = endpoint_of(protocol) or None
        options["config_kwargs"] = {
            "connect_timeout": CONNECT_S,
            "read_timeout": READ_S,
            "retries": retries,
        }
    try:
        files = fsspec.filesystem(protocol, **options)
        yield files, _path(url)
    except PipelineError:
        raise
    except FileNotFoundError as error:
        if _is_of_bucket(error):
            raise UnreachableError(f"{url}: no such bucket; create it first") from None
        raise StoreError(f"{url}: no such object") from None
    except Exception as error:  # each protocol has errors of its own
        raise UnreachableError(f"{url}: {_said(error)}") from None


def _is_of_bucket(error: FileNotFoundError) -> bool:
    return "bucket does not exist" in str(error)


def _written_s(entry: Mapping[str, Any]) -> float:
    """When an object was written; 0 if its store does not say."""
    at = entry.get("LastModified") or entry.get("updated") or entry.get("last_modified")
    if isinstance(at, str):
        at = datetime.datetime.fromisoformat(at)
    return at.timestamp() if isinstance(at, datetime.datetime) else 0.0


def _path(url: str) -> str:
    """Bucket and name."""
    return url.partition("://")[2]


def _said(error: Exception) -> str:
    kind, text = type(error).__name__, first_line(error)
    if kind in ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"):
        return (
            f"no credentials ({text}); give them in the environment (AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY), a profile, or the role of the machine"
        )
    if isinstance(error, PermissionError):
        return f"no permission ({text})"
    if kind in ("EndpointConnectionError", "ConnectTimeoutError", "ConnectionClosedError"):
        return "the object store does not answer; check the network and AWS_ENDPOINT_URL"
    return f"cannot be reached ({text})"
