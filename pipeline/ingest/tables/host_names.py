"""Host names of addresses: lines of ``address name`` or ``time address name``; plain or compressed.

These are the forms of the DNS names of CAIDA's Ark and ITDK (TABs; the time in seconds since 1970),
of lists made by hand, and of hosts files, of which the first name of a line counts. Words are
separated by blanks or TABs. Empty lines and those that begin with # are left out. Names are
third-party text, kept as they are except that control characters become U+FFFD and the dot of the
root is removed; code that shows them must escape them. The last of several names of one address
counts.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from pipeline.errors import FormatError
from pipeline.ingest.opening import open_bytes
from pipeline.ingest.text.lines import Lines
from pipeline.ingest.text.names import clean_name
from pipeline.model.addresses import parse_addr, positions_of
from pipeline.model.measured.reading import ReadReport

MAX_NAME = 255  # characters; longer ones are cut (DNS allows 253)
NO_NAME = b"FAIL."  # how CAIDA's names begin where a query had no answer
_AT_ONCE = 1 << 19  # lines that wait before they are compared with the addresses


def read_host_names(path: Path, addrs: np.ndarray, report: ReadReport) -> dict[int, str]:
    """Read the names of some addresses; a file may have those of many others.

    Parameters
    ----------
    path : Path
        Plain, gzip, bzip2 or xz.
    addrs : (n, 2) uint64
        Whose names are kept; distinct.
    report : ReadReport
        Filled; its records are all lines with a name. Lines of a compressed file that is cut short
        are used up to the cut: ``status`` is ``partial`` then.

    Returns
    -------
    dict of int to str
        Position in ``addrs`` -> name.

    Raises
    ------
    FormatError
        If the file cannot be opened, is empty, or has no line of these forms.
    """
    names: dict[int, str] = {}
    waiting = _Waiting()
    with open_bytes(path) as stream:
        stream.refuse_unread()
        lines = Lines(cast(BinaryIO, stream))
        while (line := lines.next_line()) is not None:
            _read_line(line, lines.number, waiting, report)
            if len(waiting.names) >= _AT_ONCE:
                waiting.move(addrs, names, report)
        waiting.move(addrs, names, report)
        stream.finish()
        report.sha256, report.size_bytes = stream.sha256, stream.size_bytes
    if not report.n_records and not report.skipped:
        if lines.error is not None:
            raise lines.error
        raise FormatError(path, "", "no host name in it; give lines of `address name`")
    if lines.error is not None:
        report.refuse(lines.error, partly=True)
    return names


class _Waiting:
    """Addresses and names of lines read."""

    def __init__(self) -> None:
        self.words, self.names = array("Q"), list[bytes]()

    def add(self, addr: tuple[int, int], name: bytes) -> None:
        self.words.extend(addr)
        self.names.append(name)

    def move(self, addrs: np.ndarray, names: dict[int, str], report: ReadReport) -> None:
        """Keep the names of some addresses, and forget all."""
        read = np.array(self.words, np.uint64).reshape(-1, 2)
        for at, name in zip(positions_of(addrs, read).tolist(), self.names, strict=True):
            if at >= 0:
                if at in names:
                    report.notes["addresses named again"] += 1
                text = name.decode("utf-8", "replace").removesuffix(".")
                names[at] = clean_name(text, MAX_NAME, report)
        report.n_records += len(self.names)
        del self.words[:]
        self.names.clear()


def _read_line(line: bytes, number: int, waiting: _Waiting, report: ReadReport) -> None:
    words = line.split(None, 3)
    if not words or words[0].startswith(b"#"):
        return
    addr = _addr(words[0])
    if addr is None and len(words) > 1 and words[0].replace(b".", b"", 1).isdigit():  # a time
        del words[0]
        addr = _addr(words[0])
    if addr is None:
        report.reject(f"line {number}", "not an address", line[:60].decode("utf-8", "replace"))
    elif len(words) < 2 or words[1].upper().startswith(NO_NAME):
        report.skip("addresses without a name")
    elif not _is_name(words[1]):
        report.reject(f"line {number}", "not a name", words[1][:60].decode("utf-8", "replace"))
    else:
        waiting.add(addr, words[1])


def _addr(word: bytes) -> tuple[int, int] | None:
    try:
        return parse_addr(word.decode("ascii"))
    except ValueError:
        return None


def _is_name(word: bytes) -> bool:
    """Tables of prefixes and of aliases have numbers and addresses there."""
    letters = word.replace(b".", b"")
    if not letters or letters.isdigit():
        return False
    return b":" not in word or _addr(word) is None
