"""Samples of one value each, sorted on disk: medians of them, in bounded memory.

A median does not exist before its last trace, and memory must not grow with traces. So samples go
to disk as one 64-bit number each, what it is of in the high bits, its value in the low ones, cut
into runs of near ``BUCKET_SAMPLES`` samples; each run is then sorted by itself. A run that is still
larger (a vantage's first link) is sorted piece by piece, and equal samples are added up: only the
distinct values of it stay in memory.
"""

from __future__ import annotations

import contextlib
import itertools
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline.infer.traces.spool import scratch_faults
from pipeline.model.columns.ragged import run_starts

BUCKET_SAMPLES = 1 << 22  # 32 MB sorted at a time


def bucket_starts(expected: np.ndarray, most: int) -> np.ndarray:
    """Things with which the buckets but the first begin, so that they are of similar size.

    Parameters
    ----------
    expected : (n,) int64
        Samples of each thing, about.
    most : int
        Buckets, which are open files.
    """
    total = np.cumsum(expected)
    n_expected = int(total[-1]) if len(total) else 0
    n_buckets = min(most, n_expected // BUCKET_SAMPLES + 1)
    goals = n_expected * np.arange(1, n_buckets) // n_buckets
    return np.unique(np.searchsorted(total, goals)).astype(np.uint64)


class Samples:
    """Samples on disk; a context manager that closes its files.

    Parameters
    ----------
    folder : Path
    bounds : (n_buckets - 1,) uint64
        First sample of each bucket but the first.
    """

    def __init__(self, folder: Path, bounds: np.ndarray) -> None:
        self._bounds = bounds
        n_buckets = len(bounds) + 1
        self._locks = [threading.Lock() for _ in range(n_buckets)]
        with contextlib.ExitStack() as stack:  # closes those that are open if one cannot be opened
            self._files = [
                stack.enter_context((folder / f"{i}.samples").open("w+b")) for i in range(n_buckets)
            ]
            self._open = stack.pop_all()

    def __enter__(self) -> Samples:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, samples: np.ndarray) -> None:
        """Keep some, (n,) uint64; from any thread."""
        samples = np.sort(samples)
        cuts = [0, *np.searchsorted(samples, self._bounds).tolist(), len(samples)]
        for i, (start, end) in enumerate(itertools.pairwise(cuts)):
            if end > start:
                with self._locks[i]:
                    self._files[i].write(samples[start:end].data)

    def sorted(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Distinct samples of each bucket, uint64 and ascending, and how often each occurs."""
        for file in self._files:
            file.seek(0)
            distinct, counts = np.empty(0, np.uint64), np.empty(0, np.int64)
            while piece := file.read(8 * BUCKET_SAMPLES):
                more, n_more = _runs(np.sort(np.frombuffer(piece, np.uint64)))
                distinct, counts = _merge(distinct, counts, more, n_more)
            yield distinct, counts


@contextlib.contextmanager
def samples_on_disk(scratch: Path | None, bounds: np.ndarray) -> Iterator[Samples]:
    """``Samples`` in a folder of scratch files, of which nothing is left.

    Raises
    ------
    StoreError
        If they cannot be written.
    """
    with (
        scratch_faults(scratch or Path(tempfile.gettempdir())),
        tempfile.TemporaryDirectory(prefix="samples-", dir=scratch) as folder,
        Samples(Path(folder), bounds) as samples,
    ):
        yield samples


def _runs(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct samples of a sorted column and how often each occurs."""
    starts = run_starts(samples)
    return samples[starts], np.diff(starts, append=len(samples))


def _merge(
    one: np.ndarray, n_one: np.ndarray, other: np.ndarray, n_other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Add up two runs of distinct samples."""
    if not len(one):
        return other, n_other
    samples = np.concatenate([one, other])
    order = np.argsort(samples, kind="stable")
    samples, counts = samples[order], np.concatenate([n_one, n_other])[order]
    starts = run_starts(samples)
    return samples[starts], np.add.reduceat(counts, starts)
