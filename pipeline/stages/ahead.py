"""What a report says whatever is measured, made by a thread while workers search."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from pipeline.config import AnalyzeConfig
from pipeline.report.tables.summarise import OfSnapshot, of_snapshot
from pipeline.store import Snapshot


class Ahead:
    """Makes ``of_snapshot`` of a whole snapshot, once it is begun; a context that waits for it.

    A run of some ASes may be added to a report of others, so nothing is made for it.
    """

    def __init__(self, snapshot: Snapshot, config: AnalyzeConfig):
        self._snapshot, self._is_whole = snapshot, not config.asns
        self._pool = ThreadPoolExecutor(1)
        self._made: Future[OfSnapshot] | None = None

    def begin(self) -> None:
        """Begin to make it; do not wait."""
        if self._is_whole:
            self._made = self._pool.submit(_make, self._snapshot)

    def known(self) -> OfSnapshot | None:
        """What was made, once it is; None if it was never begun.

        Raises
        ------
        StoreError
            If the snapshot is broken.
        """
        return None if self._made is None else self._made.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._pool.shutdown(wait=True)  # it reads a snapshot that is closed next


def _make(snapshot: Snapshot) -> OfSnapshot:
    with contextlib.suppress(ImportError):
        import prometheus_client.parser  # noqa: F401  # of metrics, which are written next
    return of_snapshot(snapshot, snapshot.rows_of(()))
