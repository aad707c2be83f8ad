"""Compiled code that came along: an archive for each Python and numba, unpacked once.

The archives are in ``archives/``; each is used only if its SHA-256 is the one that stands in
``hashes.py``. A folder in an archive bears the digest of its sources in its name: what
changed since is not found, and compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import os
import re
import tarfile
import tempfile
from pathlib import Path
from typing import IO

from kernels.compiled.hashes import SHA256

log = logging.getLogger(__name__)

ARCHIVES = Path(__file__).with_name("archives")
SUFFIX = ".tar.xz"
_MEMBER = re.compile(r"[\w-][\w.-]*/[\w-][\w.<>-]*")  # a module and its state, a file


def unpack(name: str, folder: Path) -> bool:
    """Unpack the archive of this name into a folder, unless that was done before.

    Parameters
    ----------
    name : str
        As ``target.target`` says.
    folder : Path
        In which only this user can write. A folder that is there already is kept.

    Returns
    -------
    bool
        Whether there is such an archive, and it is there now.
    """
    expected = SHA256.get(f"{name}{SUFFIX}")
    if expected is None:
        return False
    done = folder / f".unpacked-{expected[:16]}"
    if done.exists():
        return True
    archive = ARCHIVES / f"{name}{SUFFIX}"
    try:
        content = archive.read_bytes()
        if hashlib.sha256(content).hexdigest() != expected:
            log.warning("%s is not the archive of these sources: it is not used", archive)
            return False
        with tempfile.TemporaryDirectory(dir=folder, prefix=".unpacking-") as temporary:
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:xz") as tar:
                for member in tar:  # Python 3.11.2 has no extractall() that checks names
                    _write(Path(temporary), member, tar.extractfile(member))
            for one in Path(temporary).iterdir():
                # Another process may have been first, or a compiler.
                with contextlib.suppress(OSError):
                    os.rename(one, folder / one.name)
        done.touch()
    except FileNotFoundError:  # a source distribution has none
        return False
    except (OSError, tarfile.TarError, EOFError) as error:
        log.warning("%s cannot be unpacked: %s", archive, error)
        return False
    return True


def _write(folder: Path, member: tarfile.TarInfo, stream: IO[bytes] | None) -> None:
    """A file in a folder of an archive, and nothing else."""
    if not _MEMBER.fullmatch(member.name) or stream is None:
        raise tarfile.TarError(f"{member.name!r} is not a file of a module")
    path = folder / member.name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(stream.read())


def pack(folder: Path, archive: Path) -> str:
    """Write the folders of modules in a folder as one archive; its SHA-256."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:xz", preset=9, format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(folder.glob("[!.]*/*")):
            tar.add(path, str(path.relative_to(folder)), filter=_plain)
    archive.write_bytes(stream.getvalue())
    return hashlib.sha256(stream.getvalue()).hexdigest()


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nothing of the machine that packs."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member
