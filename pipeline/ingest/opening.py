"""Open a file of others: plain or compressed, by its first bytes, never by its name.

Measurements, topologies and tables are opened here and nowhere else. Decompression streams: however
large a file claims to become, at most ``CHUNK`` decompressed bytes are held here, and a file that
expands more than any measurement does ends there, as damaged ones do: a megabyte of bzip2 may hold
a terabyte of zeros. Members of one kind may follow one another (``cat a.gz b.gz``); zero bytes
after the last are padding. Cut-short or damaged data are returned up to the fault, then
``FormatError`` is raised. Text in UTF-16, as Windows writes it, is returned in UTF-8.

Readers of tables take the blocks of ``table_blocks`` instead of a path. Limits: ``MAX_EXPANSION``
of every file, ``MAX_TABLE_BYTES`` of a table; readers limit lines and whole documents. Files in
archives are in ``archives``; ``signatures`` says what a file is that is not read.
"""

from __future__ import annotations

import bz2
import codecs
import hashlib
import io
import lzma
import stat
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self

from pipeline.errors import FormatError, UnreadableError, said_by_system
from pipeline.files import BOM
from pipeline.ingest.archives import only_member
from pipeline.ingest.signatures import SIGNATURE_BYTES, recognise
from pipeline.model.measured.reading import ReadReport

EMPTY = "empty"
TOO_LARGE = "expands to more than {:,} times its stored size"
COPY_AGAIN = "copy the file again"
NO_FILE = "is a socket, pipe or device, not a file; give a regular file"
A_FOLDER = "is a folder; give a file"
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd", ".lzma")  # the content decides
# Of archives, and of compressions that are not read.
OTHER_SUFFIXES = (".tar", ".tgz", ".zip", ".7z", ".lz4", ".z")
RAW_CHUNK = 1 << 18  # compressed bytes read at once
CHUNK = 1 << 20  # decompressed bytes produced at once
# No measurement expands to more than this many times its stored size; the first bytes are free.
MAX_EXPANSION, EXPANSION_FREE = 1000, 1 << 26
MAX_TABLE_BYTES = 1 << 35  # decompressed; ITDK's largest files have some 10 GB
TABLE_BLOCK = 1 << 22
XZ_MEMORY = 1 << 28  # bytes that a file may ask of its decompressor; xz -9 asks for 65 MiB


def _zstd() -> Any:
    """A decompressor of zstd, of Python 3.14 or of the package that gives it to earlier ones."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        hint = "compressed by zstd: install backports.zstd, or decompress it"
        raise FormatError("", "", hint) from None
    return zstd.ZstdDecompressor()


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
    (
        "lzma",
        b"\x5d\x00\x00",
        lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=XZ_MEMORY),
        lzma.LZMAError,
    ),
    ("zstd", b"\x28\xb5\x2f\xfd", _zstd, Exception),
)
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def name_inside(name: str) -> str:
    """Name of a file in lower case, without endings of compressions and archives."""
    name = name.lower()
    while inside := next(
        (
            name.removesuffix(suffix)
            for suffix in (*COMPRESSED_SUFFIXES, *OTHER_SUFFIXES)
            if name.endswith(suffix)
        ),
        "",
    ):
        name = inside
    return name


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
    n_bytes = 0
    for file in only_member(stream):
        if reason := recognise(file.peek(SIGNATURE_BYTES), is_table=True):
            raise FormatError(stream.path, "", reason)
        for block in file.blocks(TABLE_BLOCK):
            yield block if n_bytes else block.removeprefix(BOM)
            n_bytes += len(block)
            if n_bytes > MAX_TABLE_BYTES:
                too_large = f"more than {MAX_TABLE_BYTES >> 30} GiB of a table"
                raise FormatError(stream.path, "", too_large)


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
        A name of ``COMPRESSIONS``, or ``""``.
    is_member : bool
        Whether it is a file in an archive: then what it expands to counts for the archive.
    size_bytes : int
        Stored bytes read so far; all of them after ``finish()``.
    """

    def __init__(
        self, path: Path, file: BinaryIO | io.RawIOBase, within: InputStream | None = None
    ) -> None:
        super().__init__()
        self.path = path
        self._within = within
        self.compression = ""
        self.size_bytes = 0
        self._file = file
        self._sha256 = hashlib.sha256()
        self._n_out = 0
        self._fault: FormatError | None = None
        self._ended = False
        self._pending = memoryview(b"")  # decompressed, not yet returned
        self._raw = self._next_raw()
        if not self._raw and within is None:
            raise self._fault or FormatError(path, "", EMPTY)
        self._make: Callable[[], Any] | None = None
        self._errors: type[Exception] = OSError
        self._magic = b""
        self._utf_16: codecs.IncrementalDecoder | None = None
        for name, magic, make, errors in COMPRESSIONS:
            if self._raw.startswith(magic):
                self.compression, self._magic = name, magic
                self._make, self._errors = make, errors
        try:
            self._decoder = self._make() if self._make else None
        except FormatError as error:
            raise FormatError(path, "", error.reason) from None

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

    @property
    def is_member(self) -> bool:
        return self._within is not None

    def member(self, name: str, file: Any) -> Self:
        """A file in this archive, which ``file`` reads."""
        return type(self)(Path(f"{self.path}!{name}"), file, self)

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing, and that is no fault of its archive."""
        return not self.size_bytes and self._fault is None

    def refuse_bomb(self) -> None:
        """Go no further in an archive whose files expand to too much.

        Raises
        ------
        FormatError
            If they do.
        """
        if self._n_out > max(EXPANSION_FREE, MAX_EXPANSION * self.size_bytes):
            raise FormatError(self.path, "", TOO_LARGE.format(MAX_EXPANSION))

    def peek(self, size: int) -> bytes:
        """The next ``size`` bytes, fewer at the end or before a fault; they are read again."""
        try:
            while len(self._pending) < size and (more := self._next_chunk()):
                self._pending = memoryview(bytes(self._pending) + more)
        except FormatError:  # it comes again when the bytes are read
            pass
        return bytes(self._pending[:size])

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
        except FormatError as error:  # of the archive that it is in
            self._fault = error
            return b""
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
            is_first = not self._n_out
            chunk = self._decode()
            if chunk:
                self._expand(len(chunk))
                if is_first and chunk.startswith(UTF_16):
                    self._utf_16 = codecs.getincrementaldecoder("utf-16")("replace")
                if self._utf_16 is not None:
                    chunk = self._utf_16.decode(chunk).encode("utf-8", "replace")
                if chunk:
                    return chunk
        if self._fault is None and self._n_out == 0:
            self._fault = FormatError(self.path, "", EMPTY)
        if self._fault is not None:
            raise self._fault
        return b""

    def _expand(self, n_bytes: int) -> None:
        """Count decompressed bytes, and end here if there are too many of them."""
        self._n_out += n_bytes
        whole = self
        if self._within is not None:
            whole = self._within
            whole._n_out += n_bytes
        can_expand = self._decoder is not None or whole is not self
        if can_expand and whole._n_out > max(EXPANSION_FREE, MAX_EXPANSION * whole.size_bytes):
            self._end(TOO_LARGE.format(MAX_EXPANSION))

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
