"""The first bytes of a stream, which is then read from its beginning."""

from __future__ import annotations

import io
from typing import BinaryIO

from pipeline.errors import FormatError


def peek(stream: BinaryIO, size: int) -> tuple[bytes, BinaryIO]:
    """The first ``size`` bytes, fewer where the stream ends or is damaged before; and all of it.

    What is damaged is raised when the stream that is returned is read to that place.
    """
    head = b""
    fault: FormatError | None = None
    try:
        while len(head) < size and (more := stream.read(size - len(head))):
            head += more
    except FormatError as error:
        fault = error
    return head, _Joined(stream, head, fault)  # type: ignore[return-value]


class _Joined(io.RawIOBase):
    """A stream whose first bytes, or the fault that ended them, were already taken."""

    def __init__(self, stream: BinaryIO, head: bytes, fault: FormatError | None) -> None:
        super().__init__()
        self._stream, self._head, self._fault = stream, memoryview(head), fault

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        if self._head:
            view = memoryview(buffer).cast("B")
            taken = self._head[: len(view)]
            view[: len(taken)] = taken
            self._head = self._head[len(taken) :]
            return len(taken)
        if self._fault is not None:
            raise self._fault
        return self._stream.readinto(buffer)  # type: ignore[attr-defined]
