"""Numba's cache folder: one for each state of the compiled sources.

numba's cache looks only at the file of a function. A compiled function that calls one of another
module keeps the old callee when only that module changes: after an update it would silently
use old code. The same is true of a constant of another module, which is compiled in. So the name of
the cache folder has a digest of every source that compiles anything, and of those whose constants
they import; a state that was compiled once is found again. Numba files what it compiles by the path
of each source, so each checkout compiles for itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from pathlib import Path

FIRST_RUN = "compiling once, about a minute"

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("kernels", "pipeline")
_IMPORT = re.compile(rb"\nfrom ((?:kernels|pipeline)[.\w]*) import (?:\(([^)]*)\)|(.*))")
_CONSTANT = re.compile(rb"\b[A-Z][A-Z0-9_]+\b")
_KEEP_S = 14 * 86400  # folders of other states are removed when unused for two weeks


def use_compile_cache() -> Path | None:
    """Point numba at the folder of these sources; to be called before numba is imported.

    Returns
    -------
    Path or None
        None where NUMBA_CACHE_DIR is set already, or no folder can be made: numba then keeps its
        default.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return None
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "hopscope" / f"numba-{_digest()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:  # no home directory, or not writable
        return None
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    _forget_old(folder)
    return folder


def has_compiled(package: str = "") -> bool:
    """Whether anything was compiled from these files before, as far as numba's folder shows.

    Another copy of the same sources shares the folder, not what is compiled.

    Parameters
    ----------
    package : str
        Anything of this package or module, ``pipeline.ingest.atlas``; empty: of any.
    """
    folder = os.environ.get("NUMBA_CACHE_DIR")
    if folder is None:
        return False
    source, files = _ROOT / package.replace(".", "/"), "*.nbi"
    if not package:
        rooms = [path for each in _PACKAGES for path in (_ROOT / each).glob("**/")]
    elif source.is_dir():
        rooms = [source]
    else:
        rooms, files = [source.parent], f"{source.name}.*.nbi"
    found = (path for room in rooms for path in (Path(folder) / _cached(room)).glob(files))
    return next(found, None) is not None


def _cached(room: Path) -> str:
    """The name of the folder in which numba keeps what it compiles of the files in another."""
    return f"{room.name}_{hashlib.sha1(str(room).encode()).hexdigest()}"


def _digest() -> str:
    """Sixteen hex digits over all our sources that decide what is compiled."""
    sha = hashlib.sha256()
    for path, source in sorted(_sources().items()):
        sha.update(str(path.relative_to(_ROOT)).encode() + b"\0" + source + b"\0")
    return sha.hexdigest()[:16]


def _sources() -> dict[Path, bytes]:
    """Sources with compiled functions, and those from which they import a name in capitals."""
    paths = [path for package in _PACKAGES for path in (_ROOT / package).rglob("*.py")]
    texts = {path: path.read_bytes() for path in paths}
    found = {path: text for path, text in texts.items() if b"numba" in text}
    left = [text for text in found.values() if b"njit" in text]
    while left:
        for module, listed, rest in _IMPORT.findall(b"\n" + left.pop()):
            if not _CONSTANT.search(listed or rest):
                continue
            path = _file_of(module.decode())
            if path in texts and path not in found:
                found[path] = texts[path]
                left.append(texts[path])
    return found


def _file_of(module: str) -> Path:
    """The source of a module, or of a package."""
    place = _ROOT / module.replace(".", "/")
    return place / "__init__.py" if place.is_dir() else place.with_name(f"{place.name}.py")


def _forget_old(current: Path) -> None:
    for other in current.parent.glob("numba-*"):
        with contextlib.suppress(OSError):
            if other != current and time.time() - other.stat().st_mtime > _KEEP_S:
                shutil.rmtree(other, ignore_errors=True)
