"""Files inside an archive, one after another: tar (also compressed) and zip.

Members are recognised by content, as files are. Their names are a stranger's text: they are shown,
never used as a path, and nothing is unpacked to disk. Folders, links, hidden files and what macOS
adds are left out. What members expand to counts for the archive (``opening``), however often
they are compressed; memory for names is bounded.
"""

from __future__ import annotations

import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol, Self, TypeVar, cast

from pipeline.errors import FormatError

TAR_BLOCK = 512
MAX_HEADER_BYTES = 1 << 20  # of a tar member's name and attributes
MAX_DIRECTORY_BYTES = 1 << 26  # of a zip archive's names: more than half a million
MAX_NAME = 200
IN_ANOTHER = "an archive in an archive or another compression, which is not read: unpack it"
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_OF_NAMES = (
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
)  # fmt: skip
# zipfile decompresses the others without a limit.
_ZIP_TYPES = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_END_OF_ZIP = b"PK\x05\x06"
_FAULTS = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError,
    NotImplementedError, RuntimeError, ValueError, KeyError, IndexError,
)  # fmt: skip


class Readable(Protocol):
    """What a member is read from."""

    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


class Stream(Protocol):
    """A file that may be an archive, or is in one: ``opening.InputStream``."""

    path: Path
    compression: str

    @property
    def is_member(self) -> bool: ...

    @property
    def is_empty(self) -> bool: ...

    def peek(self, size: int) -> bytes: ...

    def read(self, size: int, /) -> bytes | None: ...

    def member(self, name: str, file: Any) -> Self: ...

    def refuse_bomb(self) -> None: ...

    def finish(self) -> None: ...


S = TypeVar("S", bound=Stream)


def is_tar(head: bytes) -> bool:
    """Whether a tar archive begins so: by its mark, or by the sum of its first header."""
    if len(head) < TAR_BLOCK:
        return False
    if head[257:262] == b"ustar":
        return True
    found = re.fullmatch(rb" *([0-7]{1,7})[ \0]*", head[148:156])
    total = sum(head[:148]) + 8 * ord(" ") + sum(head[156:TAR_BLOCK])
    return found is not None and total == int(found[1], 8)


def is_zip(head: bytes) -> bool:
    """Whether a zip archive begins so."""
    return head.startswith((b"PK\x03\x04", _END_OF_ZIP))


def members(stream: S) -> Iterator[tuple[str, S]]:
    """The files in an archive, each with its name; of any other file itself, without a name.

    Each must be read before the next is requested.

    Raises
    ------
    FormatError
        The archive is damaged, cut short or encrypted, after what comes before; it lies in
        another one; or it has no file.
    """
    head = stream.peek(TAR_BLOCK)
    is_whole = not stream.is_member and not stream.compression
    if is_zip(head):
        if not is_whole:
            raise FormatError(stream.path, "", IN_ANOTHER)
        found = _of_zip(stream)
    elif is_tar(head):
        if stream.is_member:
            raise FormatError(stream.path, "", IN_ANOTHER)
        found = _of_tar(stream)
    else:
        yield "", stream
        return
    n_files = 0
    for name, file in found:
        shown = _UNSHOWN.sub("\ufffd", name)[-MAX_NAME:]
        member = stream.member(shown, _Guarded(file, f"{stream.path}!{shown}"))
        if not member.is_empty:
            n_files += 1
            yield shown, member
        stream.refuse_bomb()
    if not n_files:
        raise FormatError(stream.path, "", "an archive without a file that can be read")


def only_member(stream: S) -> Iterator[S]:
    """The one file in an archive, or the file itself.

    Raises
    ------
    FormatError
        As ``members``; after the first file, if there are several.
    """
    for i, (name, member) in enumerate(members(stream)):
        if i:
            several = f"holds several files ({name} is the second): unpack it, and give one"
            raise FormatError(stream.path, "", several)
        yield member


class _Guarded:
    """A member whose errors are faults of its archive."""

    def __init__(self, file: Readable, shown: str) -> None:
        self._file, self._shown = file, shown

    def read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except FormatError:
            raise
        except _FAULTS as error:
            raise _fault(self._shown, error) from None

    def close(self) -> None:
        self._file.close()


def _fault(path: object, error: Exception) -> FormatError:
    if isinstance(error, RuntimeError) and "encrypted" in str(error):
        return FormatError(path, "", "is encrypted: unpack it")
    if isinstance(error, NotImplementedError):
        return FormatError(path, "", "packed in a way that is not read: unpack it")
    return FormatError(path, "", f"damaged archive: {error or type(error).__name__}")


def _is_left_out(name: str) -> bool:
    parts = name.replace("\\", "/").rstrip("/").split("/")
    return parts[-1].startswith(".") or "__MACOSX" in parts or not parts[-1]


class _Header(tarfile.TarInfo):
    """A header of tar whose attributes fit into memory."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> _Header:
        header = super().frombuf(buf, encoding, errors)
        is_extra = header.type in _OF_NAMES
        if header.type == tarfile.GNUTYPE_SPARSE or (is_extra and header.size > MAX_HEADER_BYTES):
            raise FormatError("", "", "a member that is sparse, or has a name of a megabyte")
        return header


def _of_tar(stream: Stream) -> Iterator[tuple[str, Readable]]:
    try:
        with tarfile.open(
            fileobj=cast("IO[bytes]", stream),
            mode="r|",
            bufsize=1 << 18,
            tarinfo=_Header,
            errors="replace",
        ) as archive:
            while (header := archive.next()) is not None:
                archive.members = []  # type: ignore[attr-defined]  # they would be kept
                if header.isfile() and not header.issparse() and not _is_left_out(header.name):
                    file = archive.extractfile(header)
                    if file is not None:
                        yield header.name, file
    except FormatError as error:
        if error.path:
            raise
        raise FormatError(stream.path, "", error.reason) from None
    except _FAULTS as error:
        raise _fault(stream.path, error) from None


def _of_zip(stream: Stream) -> Iterator[tuple[str, Readable]]:
    stream.finish()  # its size bounds what members may expand to
    try:
        with stream.path.open("rb") as file:
            _refuse_large(stream, file)
            with zipfile.ZipFile(file) as archive:
                for entry in archive.infolist():
                    if entry.is_dir() or _is_left_out(entry.filename):
                        continue
                    try:
                        if entry.compress_type not in _ZIP_TYPES:
                            raise NotImplementedError(entry.compress_type)
                        member = archive.open(entry)
                    except _FAULTS as error:
                        yield entry.filename, _Broken(error)
                        continue
                    with member:
                        yield entry.filename, member
    except _FAULTS as error:
        if isinstance(error, FormatError):
            raise
        raise _fault(stream.path, error) from None


class _Broken:
    """A member that cannot be opened."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def read(self, size: int) -> bytes:
        raise self._error

    def close(self) -> None:
        pass


def _refuse_large(stream: Stream, file: IO[bytes]) -> None:
    """Refuse a directory that takes more memory than any archive of measurements."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(0, size - (1 << 16) - 100))
    tail = file.read()
    at = tail.rfind(_END_OF_ZIP)
    n_bytes = struct.unpack_from("<I", tail, at + 12)[0] if 0 <= at <= len(tail) - 22 else 0
    at = tail.rfind(b"PK\x06\x06")  # of an archive with 64-bit sizes
    if 0 <= at <= len(tail) - 56:
        n_bytes = max(n_bytes % 0xFFFFFFFF, struct.unpack_from("<Q", tail, at + 40)[0])
    file.seek(0)
    if n_bytes > MAX_DIRECTORY_BYTES:
        raise FormatError(stream.path, "", "more files than any archive of measurements")
