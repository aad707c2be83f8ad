"""A stream cut into blocks of whole lines, for compiled scanners of text that has no quotes.

And what files that hopscope made say of themselves in a line of their header.
"""

from __future__ import annotations

import re
from typing import BinaryIO

import numpy as np

from pipeline.errors import FormatError
from pipeline.files import BOM

BLOCK_BYTES = 8 << 20  # read at once
MAX_LINE_BYTES = 1 << 20
MAX_HEADER_LINES = 1000  # that readers look at
_COMMAND = re.compile(rb"hopscope generate(?: [\w.:-]{1,40}){1,40}")


class Lines:
    """A stream cut into blocks of whole lines, with a count of lines.

    ``error`` keeps what the stream itself raised (a cut-short .gz); lines before it are returned
    first. ``section`` is the title line of the section that comes next. A byte order mark at the
    beginning is no part of the first line.
    """

    def __init__(self, stream: BinaryIO):
        self.number = 0  # lines returned
        self.section = b""
        self.error: FormatError | None = None
        self.buffer = np.empty(0, np.uint8)
        self.start = 0  # of what is not returned yet
        self.stop = 0  # end of whole lines in the buffer
        self.unterminated = False  # the last line of the file has no newline
        self._stream = stream
        self._whole = b""  # the bytes under ``buffer``
        self._rest = b""
        self._at_end = False
        self._is_begun = False

    def fill(self) -> bool:
        """Make sure that there is a whole line; False at the end of the file."""
        pieces = [self._rest]
        size = len(self._rest)
        while self.start == self.stop:
            if self._at_end:
                return False
            try:
                block = self._stream.read(BLOCK_BYTES)
            except FormatError as error:
                self.error, block = error, b""
            cut = block.rfind(b"\n") + 1
            if not block:
                self._at_end = True
                # The rest of the last line of a broken stream is not trusted.
                whole, self._rest = (b"".join(pieces) if self.error is None else b""), b""
            elif cut:
                whole, self._rest = b"".join([*pieces, block[:cut]]), block[cut:]
            else:
                # One line longer than a block: keep its head, so that it is rejected as a line.
                if size < MAX_LINE_BYTES:
                    pieces.append(block)
                    size += len(block)
                continue
            if not self._is_begun:
                whole, self._is_begun = whole.removeprefix(BOM), True
            self.unterminated = self._at_end and bool(whole)
            self._whole = whole
            self.buffer = np.frombuffer(whole, np.uint8)
            self.start, self.stop = 0, len(whole)
        return True

    def next_line(self) -> bytes | None:
        """One line without its newline; None at the end of the file."""
        if not self.fill():
            return None
        stop = self._whole.find(b"\n", self.start)
        stop = self.stop if stop < 0 else stop
        line = self._whole[self.start : stop]
        self.start = min(stop + 1, self.stop)
        self.number += 1
        return line


def command_in(line: bytes) -> str:
    """The command by which hopscope generated a file, in a line of its header; empty: none."""
    found = _COMMAND.search(line)
    return found.group().decode() if found else ""
