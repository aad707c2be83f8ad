"""The pages of many ASes, by several processes.

A report is cut into parts of some ASes. Other processes get parts, and this one takes what is
left meanwhile. Which process writes a page makes no difference to it. If one dies, for lack of
memory say, this one writes what the others had.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from kernels.host import n_cores
from pipeline.processes.children import children_end_on_error, no_interrupt_in_children
from pipeline.processes.stopping import end_with_parent
from pipeline.report.pages.ases.as_page import WidthParts, width_parts
from pipeline.report.pages.ases.writing import PageWriter
from pipeline.report.pages.reuse import Written
from pipeline.report.tables.summarise import Summary
from pipeline.report.tables.width.widths import WidthReport

ASES_OF_PART = 500
# Another process takes as long to start as some 1,000 pages to write, and has a copy of its parts.
ASES_OF_PROCESS = 4000
MAX_PROCESSES = 8
_AHEAD = 2  # parts that a process has, so that it need not wait for the next one

_log = logging.getLogger(__name__)


class _Part(NamedTuple):
    begin: int
    end: int


def n_processes(n_ases: int, at_most: int | None = None) -> int:
    """Processes that write the pages of some ASes, this one included."""
    if multiprocessing.current_process().daemon:  # it may not start any
        return 1
    return max(1, min(at_most or n_cores(), n_ases // ASES_OF_PROCESS, MAX_PROCESSES))


def write_side_by_side(
    writer: PageWriter, summary: Summary, n: int, on_progress: Callable[[int], None]
) -> None:
    """Write all pages of a report; ``writer.pages`` then knows them.

    Parameters
    ----------
    writer : PageWriter
    summary : Summary
    n : int
        Processes, this one included.
    on_progress : callable
        Called with the number of pages written.

    Raises
    ------
    OSError
        If a page cannot be written, in whichever process.
    """
    n_ases = summary.ases.num_rows
    cuts = [*range(0, n_ases, ASES_OF_PART), n_ases]
    left = deque(_Part(*ends) for ends in pairwise(cuts))
    if n == 1:
        for part in left:
            writer.write(summary.part(*part))
            on_progress(writer.pages.n_pages)
        return
    # Not fork: this process has threads (Arrow's, a flow engine's, a Dask client's).
    pool = ProcessPoolExecutor(
        n - 1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_process,
        initargs=(os.getpid(),),  # if these were long, a process that dies early would block us
    )
    with pool, children_end_on_error():
        others = _Others(pool, writer, summary, n - 1)
        while left or others.pending:
            while left and others.wants_more:
                left.extendleft(others.give(left.popleft()))
            if left:
                writer.write(summary.part(*left.popleft()))
            left.extendleft(others.collect(must_wait=not left))
            on_progress(writer.pages.n_pages)


class _Others:
    """The other processes, and the parts that they have."""

    def __init__(self, pool: ProcessPoolExecutor, writer: PageWriter, summary: Summary, n: int):
        self._pool, self._writer, self._summary, self._n = pool, writer, summary, n
        self._work = True
        self.pending: dict[Future[list[Written]], _Part] = {}

    @property
    def wants_more(self) -> bool:
        return self._work and len(self.pending) < _AHEAD * self._n

    def give(self, part: _Part) -> Iterator[_Part]:
        """Have one of them write a part; it is given back if none can."""
        summary = self._summary.part(*part)
        writer, widths = self._writer.of_part(summary), width_parts(summary)
        # Without what is the same for all parts, and large.
        cut = replace(summary, widths=WidthReport(), as_links=summary.as_links.schema.empty_table())
        try:
            with no_interrupt_in_children():  # they are started here
                self.pending[self._pool.submit(_write, writer, cut, widths)] = part
        except BrokenProcessPool as error:
            yield from self._given_up(part, error)

    def collect(self, must_wait: bool) -> Iterator[_Part]:
        """Take over what they have written; parts that they could not write are given back."""
        done = wait(self.pending, None if must_wait else 0, FIRST_COMPLETED).done
        for future in done:
            part = self.pending.pop(future)
            try:
                self._writer.pages.add(future.result())
            except (BrokenProcessPool, MemoryError) as error:
                yield from self._given_up(part, error)

    def _given_up(self, part: _Part, error: BaseException) -> Iterator[_Part]:
        if self._work:
            _log.warning(
                "A process that wrote pages of ASes ended (%s); is there enough memory? "
                "This one writes the rest.",
                str(error) or type(error).__name__,
            )
        self._work = False
        # A page may be there already, as a link to that of an earlier report.
        self._writer.pages.remove(self._summary.ases["asn"].to_numpy()[slice(*part)])
        yield part


def _start_process(parent: int) -> None:
    end_with_parent(parent, signal.SIGKILL)


def _write(writer: PageWriter, cut: Summary, widths: list[WidthParts]) -> list[Written]:
    """Write a part, in another process."""
    writer.write(cut, widths)
    return writer.pages.written
