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
from collections.abc import Sequence

import numpy as np

from pipeline.ingest.tables.lines import Blocks, read_chunks
from pipeline.ingest.text.names import clean_name
from pipeline.model.addresses import parse_addr, positions_of
from pipeline.model.measured.reading import ReadReport

MAX_NAME = 255  # characters; longer ones are cut (DNS allows 253)
NO_NAME = b"FAIL."  # how CAIDA's names begin where a query had no answer
_AT_ONCE = 1 << 19  # lines that wait before they are compared with the addresses


def read_host_names(
    files: Sequence[Blocks], reports: Sequence[ReadReport], addrs: np.ndarray
) -> dict[int, str]:
    """Read the names of some addresses; files may have those of many others.

    Parameters
    ----------
    files : sequence of iterables of bytes
        The blocks of each opened file.
    reports : sequence of ReadReport
        One for each file, filled: all lines with a name as ``n_records``, broken ones by reason. A
        file that cannot be read, is cut short or has no line of these forms has status
        ``rejected`` or ``partial`` and says why in ``error``; nothing is raised for it.
    addrs : (n, 2) uint64
        Whose names are kept; distinct.

    Returns
    -------
    dict of int to str
        Position in ``addrs`` -> name, the last one of several.
    """
    names: dict[int, str] = {}
    for blocks, report in zip(files, reports, strict=True):
        of_file: dict[int, str] = {}
        waiting = _Waiting()
        for first_line, text in read_chunks(blocks, report):
            for number, line in enumerate(text.split(b"\n"), first_line):
                _read_line(line, number, waiting, report)
                if len(waiting.names) >= _AT_ONCE:
                    waiting.move(addrs, of_file, report)
        waiting.move(addrs, of_file, report)
        if not report.n_records and not report.skipped:
            report.refuse_empty("no host name in it; give lines of `address name`")
        names |= of_file
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
