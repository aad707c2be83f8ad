"""Reports at a URL: each is published as a whole, under a name of its own that a pointer gives.

The report of a night is below ``OUT/<night>@<12 hex digits>/``, as deep as in a folder, so its
links hold; it never changes. ``OUT/<night>/current.json`` names it, with size and sha256 of each
file, and is replaced by one PUT, after everything else is there. Beside it are pages that lead a
browser to the current ones. The mirror is a folder of reports as any other; for nights that are
only read it has the files that are not in folders (the tables, not the pages of ASes).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson

from pipeline.errors import StoreError, said_by_system
from pipeline.files import replaced_whole
from pipeline.model.choices import is_name
from pipeline.places import objects, url_of
from pipeline.places.mirror import fetch, remove_unnamed
from pipeline.report.names import NIGHTS_PAGE
from pipeline.store.versions.held import set_aside
from pipeline.store.versions.manifest import file_sha256

CURRENT = "current.json"  # in the folder of a night, at the URL
SCHEMA = "hopscope-published-report"
SCHEMA_VERSION = 1
PUBLISHED = ".published"  # folder of a mirror: what of each night is here
AT_ONCE = 1000  # objects that are sent or copied by one call
FETCHED_AT_ONCE = 16  # objects
_LEADS = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>hopscope</title>
<meta http-equiv="refresh" content="0; url=../{page}"></head>
<body><a href="../{page}">The current report</a></body></html>
"""


def bring_reports(out: Path, night: str | None = None) -> None:
    """Make a mirror show the published reports: their tables, and all of one night.

    What a killed run left in it unpublished is removed. Does nothing for reports in a folder.

    Raises
    ------
    StoreError
        If the URL cannot be read, or holds something that is not a report of ours.
    """
    url = url_of(out)
    if url is None:
        return
    there = _current(url)
    (out / PUBLISHED).mkdir(parents=True, exist_ok=True)
    for path in [p for p in out.iterdir() if is_name(p.name) and p.is_dir()]:
        if path.name not in there:
            set_aside(path)
            _note(out, path.name).unlink(missing_ok=True)
    for name, content in there.items():
        _bring(url, out, name, content, whole=name == night)


def published(out: Path, file: str) -> list[bytes] | None:
    """One file of each report that is published, as it is at the URL; None for a folder.

    Nothing is read from the mirror, which may be new, and nothing written to it.

    Raises
    ------
    StoreError
        As ``bring_reports``.
    """
    url = url_of(out)
    if url is None:
        return None
    versions = [content["version"] for content in _current(url).values()]
    found = objects.read_all([f"{url}/{version}/{file}" for version in versions])
    return [data for data in found if data is not None]


def published_of(out: Path, night: str, file: str) -> bytes | None:
    """One file of the published report of a night, as it is at the URL; None: it has none.

    Raises
    ------
    StoreError
        As ``bring_reports``.
    """
    pointer = f"{url_of(out)}/{night}/{CURRENT}"
    data = objects.read(pointer)
    if data is None:
        return None
    return objects.read(f"{url_of(out)}/{_content(pointer, data)['version']}/{file}")


def publish_reports(
    out: Path, night: str | None = None, check: Callable[[], None] = lambda: None
) -> None:
    """Publish every report of a mirror that changed, and the page over all of them.

    Does nothing for reports in a folder.

    Parameters
    ----------
    out : Path
    night, check
        Called right before the pointer of this night is replaced, which an error of it prevents.

    Raises
    ------
    StoreError
        If the URL cannot be written; readers then still find what was published before.
    """
    url = url_of(out)
    if url is None:
        return
    here = sorted(p.name for p in out.iterdir() if is_name(p.name) and p.is_dir())
    for name in here:
        known = _read_note(out, name)
        is_changed = known is None or known["looks"] != _looks(out / name)
        if is_changed and (known is None or known["whole"]):
            _publish(url, out, name, known, check if name == night else lambda: None)
    for note in (out / PUBLISHED).glob("*.json"):
        if note.stem not in here:  # removed from the mirror: an old night
            objects.remove([f"{url}/{note.stem}/{CURRENT}"])
            objects.remove(objects.below(f"{url}/{note.stem}"))
            note.unlink(missing_ok=True)
    if (page := out / NIGHTS_PAGE).is_file():  # no other file: metrics are those of this machine
        objects.send({f"{url}/{NIGHTS_PAGE}": page})
    named = {known["version"] for name in here if (known := _read_note(out, name))}
    groups = [name for name in objects.entries(url) if "@" in name and name not in named]
    remove_unnamed(url, groups)


def _current(url: str) -> dict[str, dict[str, Any]]:
    """What each pointer says, by night."""
    names = [name for name in objects.entries(url) if is_name(name)]
    found = objects.read_all([f"{url}/{name}/{CURRENT}" for name in names])
    return {
        name: _content(f"{url}/{name}/{CURRENT}", data)
        for name, data in zip(names, found, strict=True)
        if data is not None
    }


def _publish(
    url: str, out: Path, name: str, known: Mapping[str, Any] | None, check: Callable[[], None]
) -> None:
    folder, version = out / name, f"{name}@{uuid.uuid4().hex[:12]}"
    before: Mapping[str, Any] = known["content"] if known else {"files": {}, "version": ""}
    files: dict[str, list] = {}
    new: dict[str, Path] = {}
    same: dict[str, str] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()):
        rest = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in rest.split("/")):
            continue
        files[rest] = [path.stat().st_size, file_sha256(path)]
        if before["files"].get(rest) == files[rest]:
            same[f"{url}/{version}/{rest}"] = f"{url}/{before['version']}/{rest}"
        else:
            new[f"{url}/{version}/{rest}"] = path
    for part in _parts(new):
        objects.send(dict(part))
    for part in _parts(same):
        objects.copy(dict(part))
    content = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "snapshot": name,
        "version": version,
        "files": files,
    }
    check()
    objects.write(f"{url}/{name}/{CURRENT}", orjson.dumps(content))
    for rest in _first_pages(files):
        page = _LEADS.format(page=f"{version}/{rest}")
        objects.write(f"{url}/{name}/{rest}", page.encode())
    gone = _first_pages(before["files"]) - _first_pages(files)  # such as a comparison's
    objects.remove([f"{url}/{name}/{rest}" for rest in sorted(gone)])
    _write_note(out, name, content, whole=True)


def _first_pages(files: Iterable[str]) -> set[str]:
    """Pages of a report that a browser is led to."""
    return {rest for rest in files if rest.endswith(".html") and "/" not in rest}


def _bring(url: str, out: Path, name: str, content: Mapping[str, Any], whole: bool) -> None:
    """Fetch a night into the mirror, unless it is there as it was published."""
    folder, known = out / name, _read_note(out, name)
    is_same = known is not None and known["version"] == content["version"]
    if known is not None and is_same and known["looks"] == _looks(folder):
        if known["whole"] or not whole:
            return
    else:
        _note(out, name).unlink(missing_ok=True)
        if folder.exists():
            set_aside(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        wanted = []
        for rest, (size, sha256) in content["files"].items():
            if (whole or "/" not in rest) and not (folder / rest).exists():
                (folder / rest).parent.mkdir(parents=True, exist_ok=True)
                there = f"{url}/{content['version']}/{rest}"
                wanted.append((there, folder / rest, size, sha256))
        with ThreadPoolExecutor(FETCHED_AT_ONCE) as pool:
            list(pool.map(lambda each: fetch(*each), wanted))
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {said_by_system(error)}") from None
    _write_note(out, name, content, whole=whole)


def _content(url: str, data: bytes) -> dict[str, Any]:
    """What a pointer says, checked: paths must stay in the folder of the night."""
    try:
        content = orjson.loads(data)
        is_ours = (
            content["schema"] == SCHEMA
            and content["schema_version"] == SCHEMA_VERSION
            and "/" not in content["version"]
            and content["version"].rpartition("@")[0] == url.split("/")[-2]
            and all(
                isinstance(size, int) and isinstance(sha256, str) and _stays_inside(rest)
                for rest, (size, sha256) in content["files"].items()
            )
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        is_ours = False
    if not is_ours:
        raise StoreError(f"{url}: is not a pointer to a report of this hopscope; remove it")
    return dict(content)


def _stays_inside(rest: str) -> bool:
    return "\0" not in rest and all(part and part[0] != "." for part in rest.split("/"))


def _looks(folder: Path) -> list[list]:
    """What of a report in a mirror changes with it: entries of its folder, each file by itself.

    Reports are replaced as a whole, and comparisons put their files beside the tables, so folders
    within need not be read.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    found = []
    for entry in entries:
        stat = entry.stat(follow_symlinks=False)
        is_file = entry.is_file(follow_symlinks=False)
        times = [stat.st_size, stat.st_mtime_ns] if is_file else [0, 0]
        found.append([entry.name, stat.st_ino, *times])
    return found


def _note(out: Path, name: str) -> Path:
    return out / PUBLISHED / f"{name}.json"


def _read_note(out: Path, name: str) -> dict[str, Any] | None:
    try:
        note: dict[str, Any] = orjson.loads(_note(out, name).read_bytes())
    except (OSError, ValueError):
        return None
    return note


def _write_note(out: Path, name: str, content: Mapping[str, Any], whole: bool) -> None:
    note = {
        "version": content["version"],
        "whole": whole,
        "looks": _looks(out / name),
        "content": content,
    }
    with replaced_whole(_note(out, name), durable=False) as file:
        file.write(orjson.dumps(note))


def _parts(mapping: Mapping[str, Any]) -> list[list[tuple[str, Any]]]:
    items = list(mapping.items())
    return [items[at : at + AT_ONCE] for at in range(0, len(items), AT_ONCE)]
