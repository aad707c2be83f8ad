"""URLs of object stores, and the folder on this disk that mirrors each.

Every command imports this first: nothing heavy is imported here.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
from pathlib import Path

from pipeline.errors import WrongPartError, said_by_system

# Object stores whose PUT shows an object whole or not at all, and the package for each.
PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "abfs": "adlfs"}
EXTRAS = {"s3": "'hopscope[s3]'"}  # protocols whose package is an extra of ours
VARIABLE = "HOPSCOPE_MIRRORS"
TAKES = "a folder, or a URL like s3://bucket/name"

_MARK = "://"
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._=+-]*")
# Variables that send requests of a protocol elsewhere: another server has another mirror.
_ENDPOINTS = {"s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "FSSPEC_S3_ENDPOINT_URL")}


def is_url(text: str) -> bool:
    """Whether a text is meant as a URL."""
    return _MARK in text


def folder_of(place: object) -> Path:
    """The folder to work on for what a user gave: itself, or the mirror of a URL.

    Raises
    ------
    WrongPartError
        If it is empty, or a URL of another kind. The message has no part of a URL that may be a
        secret.
    """
    text = os.fspath(place) if isinstance(place, os.PathLike) else place
    if not isinstance(text, str) or not text.strip():
        raise WrongPartError(f"{TAKES} (. is the current folder)", place)
    if not is_url(text):
        return Path(text)
    protocol, _, rest = text.partition(_MARK)
    if protocol not in PACKAGES:
        known = ", ".join(f"{each}{_MARK}" for each in PACKAGES)
        raise WrongPartError(f"a folder, or a URL of {known}", redacted(text))
    if "@" in rest or "?" in rest or "#" in rest:
        raise WrongPartError(
            "a URL without keys, which are given in the environment (AWS_ACCESS_KEY_ID, a profile)",
            redacted(text),
        )
    segments = rest.removesuffix("/").split("/")
    if len(segments) < 2 or not all(map(_SEGMENT.fullmatch, segments)):
        raise WrongPartError(
            f"{protocol}{_MARK}BUCKET/NAME, of letters, digits and ._=+-",
            redacted(text),
        )
    with contextlib.suppress(OSError):  # whoever writes there says why it cannot be
        # Keys are needed to read the object store: a copy is not for other users of the machine.
        _mirrors().mkdir(mode=0o700, parents=True, exist_ok=True)
    return _mirrors().joinpath(protocol + _endpoint_tag(protocol), *segments)


def url_of(path: Path | str) -> str | None:
    """The URL that a path mirrors; None for any path that is not a mirror."""
    text, root = os.fspath(path), f"{_mirrors()}{os.sep}"
    if not text.startswith(root):
        return None
    protocol, _, rest = text[len(root) :].partition(os.sep)
    protocol = protocol.partition("-")[0]
    return f"{protocol}{_MARK}{rest}" if protocol in PACKAGES and rest else None


def shown(path: Path | str) -> str:
    """What users know a path by: the URL that it mirrors, or the path."""
    return url_of(path) or str(path)


def with_urls(text: str) -> str:
    """A text for users, in which paths of mirrors are replaced by their URLs."""
    root = f"{_mirrors()}{os.sep}"
    if root not in text:
        return text
    protocols = "|".join(PACKAGES)
    return re.sub(rf"{re.escape(root)}({protocols})(?:-[0-9a-f]{{8}})?/", rf"\1{_MARK}", text)


def in_one_line(error: BaseException) -> str:
    """An error for people; one of the system as the file that it is about, and why."""
    if isinstance(error, OSError):
        return with_urls(f"{error.filename or 'system'}: {said_by_system(error)}")
    return with_urls(str(error))


def redacted(text: str) -> str:
    """A URL without what may be a secret: keys before a host, and what follows ``?`` or ``#``."""
    protocol, mark, rest = text.partition(_MARK)
    if not mark:
        return text
    rest = re.split(r"[?#]", rest)[0] + ("?..." if re.search(r"[?#]", rest) else "")
    before, at, after = rest.rpartition("@")
    return f"{protocol}{_MARK}" + (f"...@{after}" if at else before + after)


def _mirrors() -> Path:
    return _resolved(os.environ.get(VARIABLE, ""), os.environ.get("XDG_CACHE_HOME", ""))


@functools.cache
def _resolved(given: str, cache: str) -> Path:
    home = Path(cache) if cache else Path.home() / ".cache"
    return Path(os.path.realpath(given or home / "hopscope" / "mirrors"))


def mirrors() -> Path:
    """The folder of all mirrors: ``$HOPSCOPE_MIRRORS``, or ``~/.cache/hopscope/mirrors``."""
    return _mirrors()


def endpoint_of(protocol: str) -> str:
    """Where requests go, if the environment says; else empty."""
    return next(filter(None, map(os.environ.get, _ENDPOINTS.get(protocol, ()))), "")


def _endpoint_tag(protocol: str) -> str:
    url = endpoint_of(protocol)
    return f"-{hashlib.sha256(url.encode()).hexdigest()[:8]}" if url else ""
