"""Open a file of others: plain, gzip, bzip2 or xz by its first bytes, never by its name.

Measurements, topologies and tables are opened here and nowhere else. Decompression streams: however
large a file claims to become, at most ``CHUNK`` decompressed bytes are held here, and a file that
expands more than any measurement does ends there, as damaged ones do: a megabyte of bzip2 may hold
a terabyte of zeros. Members of one kind may follow one another (``cat a.gz b.gz``); zero bytes
after the last are padding. Cut-short or damaged data are returned up to the fault, then
``FormatError`` is raised.

Readers of tables take the blocks of ``table_blocks`` instead of a path. Limits: ``MAX_EXPANSION``
of every file, ``MAX_TABLE_BYTES`` of a table; readers limit lines and whole documents.
"""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import stat
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pipeline.errors import FormatError, UnreadableError, said_by_system
from pipeline.files import BOM
from pipeline.model.measured.reading import ReadReport

EMPTY = "empty"
COPY_AGAIN = "copy the file again"
NO_FILE = "is a socket, pipe or device, not a file; give a regular file"
A_FOLDER = "is a folder; give a file"
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")  # of names; the content decides the format
# Of compressions and archives that are not read.
UNREAD_SUFFIXES = (".7z", ".lz4", ".lzma", ".tar", ".tgz", ".z", ".zip", ".zst", ".zstd")
# First bytes of what is not read, and how to make it readable.
UNREAD = {
    b"\x28\xb5\x2f\xfd": "compressed by zstd, which is not read: decompress it",
    b"\x04\x22\x4d\x18": "compressed by lz4, which is not read: decompress it",
    b"\x5d\x00\x00": "compressed by lzma, which is not read: decompress it, or use xz",
    b"\x1f\x9d": "compressed by compress (.Z), which is not read: decompress it",
    b"PK\x03\x04": "a zip archive, which is not read: unpack it",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive, which is not read: unpack it",
    b"\xff\xfe": "text in UTF-16, which is not read: convert it to UTF-8",
    b"\xfe\xff": "text in UTF-16, which is not read: convert it to UTF-8",
}
# A tar archive says so behind the name of its first member.
TAR_AT, TAR_MAGIC = 257, b"ustar"
TAR = "a tar archive, which is not read: unpack it"
RAW_CHUNK = 1 << 18  # compressed bytes read at once
CHUNK = 1 << 20  # decompressed bytes produced at once
# No measurement expands to more than this many times its stored size; the first bytes are free.
MAX_EXPANSION, EXPANSION_FREE = 1000, 1 << 26
MAX_TABLE_BYTES = 1 << 35  # decompressed; ITDK's largest files have some 10 GB
TABLE_BLOCK = 1 << 22
XZ_MEMORY = 1 << 28  # bytes that a file may ask of its decompressor; xz -9 asks for 65 MiB

# name, first bytes, a new decompressor, the error it raises
Compression = tuple[str, bytes, Callable[[], Any], type[Exception]]
COMPRESSIONS: tuple[Compression, ...] = (
    ("gzip", b"\x1f\x8b", lambda: zlib.decompressobj(wbits=31), zlib.error),
    ("bzip2", b"BZh", bz2.BZ2Decompressor, OSError),
    (
        "xz",
        b"\xfd7zXZ\x00",
        lambda: lzma.LZMADecompressor(memlimit=XZ_MEMORY),
        lzma.LZMAError,
    ),
)


def name_inside(name: str) -> str:
    """Name of a file in lower case, without endings of compressions and archives."""
    name = name.lower()
    while inside := next(
        (
            name.removesuffix(suffix)
            for suffix in (*COMPRESSED_SUFFIXES, *UNREAD_SUFFIXES)
            if name.endswith(suffix)
        ),
        "",
    ):
        name = inside
    return name


def unread(head: bytes) -> str:
    """What a file is that begins so, if it is nothing that is read, and the remedy; else empty."""
    if head[TAR_AT:].startswith(TAR_MAGIC):
        return TAR
    return next((hint for magic, hint in UNREAD.items() if head.startswith(magic)), "")


def open_bytes(path: Path) -> InputStream:
    """Open ``path`` for reading its decompressed bytes.

    Returns
    -------
    InputStream
        A context manager with ``read(n)`` and ``readinto(buffer)``.

    Raises
    ------
    UnreadableError
        If the file cannot be opened or read, or is not a regular file (a folder, pipe, socket,
        device).
    FormatError
        If it is empty.
    """
    try:
        # Checked before opening: opening a pipe waits for its writer; its bytes are read only once.
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise UnreadableError(path, "", NO_FILE if not stat.S_ISDIR(mode) else A_FOLDER)
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise UnreadableError(path, "", f"cannot be opened: {said_by_system(error)}") from None
    try:
        return InputStream(path, file)
    except BaseException:
        file.close()
        raise


def table_blocks(path: Path, report: ReadReport) -> Generator[bytes, None, None]:
    """Decompressed bytes of a table, some megabytes at a time, without a byte order mark.

    An empty file has none: what was to be in it is for its reader to say.

    Parameters
    ----------
    path : Path
    report : ReadReport
        Its ``sha256`` and ``size_bytes`` are filled at the end, even if that is an error.

    Raises
    ------
    FormatError
        After all readable bytes: the file cannot be opened or read, is cut short, damaged, too
        large, or of a kind that is not read.
    """
    try:
        with open_bytes(path) as stream:
            try:
                yield from _checked_blocks(stream)
            finally:
                stream.finish()
                report.sha256, report.size_bytes = stream.sha256, stream.size_bytes
    except FormatError as error:
        if error.reason != EMPTY:
            raise


def _checked_blocks(stream: InputStream) -> Iterator[bytes]:
    stream.refuse_unread()
    n_bytes = 0
    for block in stream.blocks(TABLE_BLOCK):
        yield block if n_bytes else block.removeprefix(BOM)
        n_bytes += len(block)
        if n_bytes > MAX_TABLE_BYTES:
            raise FormatError(stream.path, "", f"more than {MAX_TABLE_BYTES >> 30} GiB of a table")


def hash_file(path: Path, report: ReadReport) -> None:
    """Fill ``report.sha256`` and ``report.size_bytes`` from the bytes of a file as stored.

    For a file that was refused before it was read to its end. Both stay as they are if it is not a
    regular file or cannot be read.
    """
    sha256, size_bytes = hashlib.sha256(), 0
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return
        with path.open("rb", buffering=0) as file:
            while raw := file.read(CHUNK):
                sha256.update(raw)
                size_bytes += len(raw)
    except OSError:
        return
    report.sha256, report.size_bytes = sha256.hexdigest(), size_bytes


class InputStream(io.RawIOBase):
    """Decompressed bytes of a file, with sha256 and size of the file as it is stored.

    Attributes
    ----------
    compression : str
        ``gzip``, ``bzip2``, ``xz`` or ``""``.
    size_bytes : int
        Stored bytes read so far; all of them after ``finish()``.
    """

    def __init__(self, path: Path, file: BinaryIO | io.RawIOBase) -> None:
        super().__init__()
        self.path = path
        self.compression = ""
        self.size_bytes = 0
        self._file = file
        self._sha256 = hashlib.sha256()
        self._n_out = 0
        self._fault: FormatError | None = None
        self._ended = False
        self._pending = memoryview(b"")  # decompressed, not yet returned
        self._raw = self._next_raw()
        if not self._raw:
            raise self._fault or FormatError(path, "", EMPTY)
        self._make: Callable[[], Any] | None = None
        self._errors: type[Exception] = OSError
        self._magic = b""
        for name, magic, make, errors in COMPRESSIONS:
            if self._raw.startswith(magic):
                self.compression, self._magic = name, magic
                self._make, self._errors = make, errors
        self._decoder = self._make() if self._make else None

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    @property
    def sha256(self) -> str:
        """sha256 of the stored bytes read so far, hex; of the whole file after ``finish()``."""
        return self._sha256.hexdigest()

    def finish(self) -> None:
        """Read the stored file to its end, so that ``sha256`` and ``size_bytes`` are the file's."""
        while self._next_raw():
            pass

    def refuse_unread(self) -> None:
        """Refuse a compression, archive or encoding that is not read, before anything is read.

        Raises
        ------
        FormatError
            With the remedy.
        """
        assert not self._n_out, "to be asked first"
        try:
            self._pending = memoryview(self._next_chunk())
        except FormatError:  # it comes again when the bytes are read
            return
        if reason := unread(bytes(self._pending[: 2 * TAR_AT])):
            raise FormatError(self.path, "", reason)

    def blocks(self, size: int) -> Generator[bytes, None, None]:
        """All bytes, ``size`` at a time.

        Raises
        ------
        FormatError
            As ``readinto``, after all readable bytes.
        """
        block = bytearray()
        fault: FormatError | None = None
        while fault is None:
            try:
                more = self.read(CHUNK)
            except FormatError as error:
                fault, more = error, b""
            block += more
            if block and (len(block) >= size or not more):
                yield bytes(block)
                block.clear()
            if not more:
                break
        if fault is not None:
            raise fault

    def readinto(self, buffer) -> int:
        """Fill ``buffer`` as far as one chunk goes; 0 at the end.

        Raises
        ------
        FormatError
            If the file is cut short, damaged, or holds nothing; after all readable bytes.
        """
        view = memoryview(buffer).cast("B")
        if not len(view):
            return 0
        if not self._pending:
            self._pending = memoryview(self._next_chunk())
        taken = self._pending[: len(view)]
        self._pending = self._pending[len(taken) :]
        view[: len(taken)] = taken
        return len(taken)

    def _next_raw(self) -> bytes:
        """The next stored bytes, hashed; empty at the end or after an error of the disk."""
        try:
            raw = self._file.read(RAW_CHUNK) or b""
        except OSError as error:
            self._fault = UnreadableError(
                self.path, f"byte {self.size_bytes}", f"cannot be read: {said_by_system(error)}"
            )
            return b""
        self._sha256.update(raw)
        self.size_bytes += len(raw)
        return raw

    def _next_chunk(self) -> bytes:
        while not self._ended:
            chunk = self._decode()
            if chunk:
                self._n_out += len(chunk)
                if (
                    self._n_out > max(EXPANSION_FREE, MAX_EXPANSION * self.size_bytes)
                    and self._decoder
                ):
                    self._end(f"expands to more than {MAX_EXPANSION:,} times its stored size")
                return chunk
        if self._fault is None and self._n_out == 0:
            self._fault = FormatError(self.path, "", EMPTY)
        if self._fault is not None:
            raise self._fault
        return b""

    def _end(self, reason: str = "") -> bytes:
        self._ended = True
        if reason and self._fault is None:
            where = f"stored byte {self.size_bytes - len(self._raw)}"
            self._fault = FormatError(self.path, where, reason)
        return b""

    def _decode(self) -> bytes:
        """One step: returns some decompressed bytes, or none after progress towards the end."""
        if self._decoder is None:
            raw, self._raw = self._raw, b""
            if not raw:
                raw = self._next_raw()
            return raw or self._end()
        if self._decoder.eof:
            return self._next_member()
        if not self._raw and getattr(self._decoder, "needs_input", True):
            self._raw = self._next_raw()
            if not self._raw:
                return self._end(
                    f"cut short: the {self.compression} data stop before their end; {COPY_AGAIN}"
                )
        try:
            chunk = self._decoder.decompress(self._raw, CHUNK)
        except (self._errors, EOFError, ValueError) as error:
            return self._end(f"damaged {self.compression} data: {error}; {COPY_AGAIN}")
        # zlib returns what it did not take; bzip2 and xz keep it inside.
        self._raw = getattr(self._decoder, "unconsumed_tail", b"")
        if self._decoder.eof:
            self._raw = self._decoder.unused_data
        return chunk

    def _next_member(self) -> bytes:
        self._raw = self._raw.lstrip(b"\0") if self._raw[:1] == b"\0" else self._raw
        while len(self._raw) < len(self._magic):
            more = self._next_raw()
            if not more:
                break
            self._raw = (self._raw + more).lstrip(b"\0")
        if not self._raw:
            return self._end()
        if not self._raw.startswith(self._magic):
            return self._end(f"bytes follow the end of the {self.compression} data")
        assert self._make is not None
        self._decoder = self._make()
        return b""
